"""A trace with one value changed to anything else: records, or a Refusal; never a traceback."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from evh.acts import capture, log_otlp
from evh.errors import Refusal
from evh.project.find import Project
from evh.store import strict
from tests.acts.mutating import changed, places


def text(key: str, value: str) -> dict[str, Any]:
    """An attribute that is a text."""
    return {"key": key, "value": {"stringValue": value}}


# One chat span as OTLP/JSON encodes it, by the names of the GenAI conventions, with an evaluation.
OTLP: Any = {
    "resourceSpans": [
        {
            "resource": {"attributes": [text("service.name", "s")]},
            "scopeSpans": [
                {
                    "scope": {"name": "x"},
                    "spans": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "eee19b7ec3c1b174",
                            "name": "chat",
                            "startTimeUnixNano": "1782896400000000000",
                            "endTimeUnixNano": "1782896401500000000",
                            "status": {"code": 1},
                            "events": [
                                {
                                    "timeUnixNano": "1",
                                    "name": "gen_ai.evaluation.result",
                                    "attributes": [
                                        text("gen_ai.evaluation.name", "h"),
                                        {
                                            "key": "gen_ai.evaluation.score.value",
                                            "value": {"doubleValue": 0.5},
                                        },
                                    ],
                                }
                            ],
                            "attributes": [
                                text("gen_ai.operation.name", "chat"),
                                text("gen_ai.request.model", "g"),
                                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "5"}},
                                {
                                    "key": "gen_ai.request.stop_sequences",
                                    "value": {"arrayValue": {"values": [{"stringValue": "a"}]}},
                                },
                                text(
                                    "gen_ai.input.messages",
                                    '[{"role":"user","parts":[{"type":"text","content":"I am"}]}]',
                                ),
                                text(
                                    "gen_ai.output.messages",
                                    '[{"role":"assistant","parts":[{"type":"text","content":"answer"}]}]',
                                ),
                            ],
                        }
                    ],
                }
            ],
        }
    ]
}
LANGFUSE: Any = [
    {
        "id": "o1",
        "traceId": "t",
        "type": "GENERATION",
        "startTime": "2026-07-02T09:00:00Z",
        "endTime": "2026-07-02T09:00:02Z",
        "model": "g",
        "modelParameters": {"temperature": 0.2},
        "input": [{"role": "user", "content": "x"}],
        "output": {"role": "assistant", "content": "a"},
        "promptVersion": 7,
        "usage": {"input": 1, "output": 2},
        "costDetails": {"total": 0.1},
        "metadata": {"a": 1},
        "scores": [{"name": "s", "value": 1, "timestamp": "2026-07-02T09:00:00Z"}],
    }
]
VALUES: list[Any] = [
    10**400, -1, 1e308, None, "x", [], {}, [1], {"a": 1}, True, [["chat"]], "9" * 5000, "1" + "0" * 400,
    "[[[[", '{"role":5}', '[{"role":"user","parts":5}]', "[" * 5000, "2026-13-45T99:99:99Z",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["otlp", "langfuse"])
@pytest.mark.parametrize("value", VALUES, ids=[f"{str(one)[:9]!a}" for one in VALUES])
def test_any_one_value_changed_is_taken_or_refused(project: Project, kind: str, value: Any) -> None:
    """Each value in turn becomes a number of 400 digits, another type, broken JSON; what is taken is JSON."""
    given = OTLP if kind == "otlp" else LANGFUSE
    path = project.root / "trace.json"
    for at in places(given):
        path.write_text(json.dumps(changed(given, at, value)), encoding="utf-8")
        try:
            made = capture.plan(project, "c", path, capture.Options(format=kind))
        except Refusal:
            continue
        strict.compact(made.records)


@pytest.mark.parametrize("value", VALUES, ids=[f"{str(one)[:9]!a}" for one in VALUES])
def test_a_log_of_such_a_trace_is_taken_or_refused(project: Project, value: Any) -> None:
    """The same traces as a transcript."""
    path = project.root / "trace.json"
    for at in places(OTLP):
        path.write_text(json.dumps(changed(OTLP, at, value)), encoding="utf-8")
        try:
            found = list(log_otlp.conversations(path, Counter(), []))
        except Refusal:
            continue
        strict.compact([dict(one) for conversation in found for one in conversation.messages])
