"""Spans in each form that the GenAI conventions have had become the same record; the rest is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.acts import capture_otlp
from evh.acts.import_tools.captured import Captured
from evh.errors import Refusal
from evh.project import captures, datasets
from evh.project.find import Project
from tests.acts.spans import event, log_record, logs, request, span, value
from tests.conftest import CommandLine
from tests.schema import check

SYSTEM, ASKED, SAID = "Decide.", "My card is lost.", "escalate"
# sha256 of "Decide.", by sha256sum
SYSTEM_SHA = "55f749c89b4597ba5fcf532d1985f09acd0991511704eb48cb8a93a094312ff2"


BASE = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
    "gen_ai.response.id": "chatcmpl-1",
    "gen_ai.request.temperature": 0.2,
    "gen_ai.request.max_tokens": 300,
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 21,
    "gen_ai.usage.output_tokens": 2,
}


def read(path: Path, *documents: dict[str, Any]) -> Captured:
    """Read a file of one request, or of one on each line."""
    path.write_text("\n".join(json.dumps(one) for one in documents), encoding="utf-8")
    return capture_otlp.read(path)


TEXT_PARTS = {
    "gen_ai.system_instructions": [{"type": "text", "content": SYSTEM}],
    "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}],
    "gen_ai.output.messages": [
        {"role": "assistant", "parts": [{"type": "text", "content": SAID}], "finish_reason": "stop"}
    ],
}
FORMS: dict[str, list[dict[str, Any]]] = {
    # docs/gen-ai/gen-ai-spans.md of 1.37: structured, or JSON where the SDK has no structures
    "1.37, structured": [request(span({**BASE, **TEXT_PARTS}))],
    "1.37, JSON": [request(span({**BASE, **{key: json.dumps(one) for key, one in TEXT_PARTS.items()}}))],
    # gen-ai-events.md of 1.37: the details on an event
    "1.37, event": [
        request(span(BASE)),
        logs(log_record("gen_ai.client.inference.operation.details", "", at=1, **TEXT_PARTS)),
    ],
    # gen-ai-events.md of 1.28 to 1.36: an event a message, in the logs or on the span
    "1.36, logs": [
        request(span(BASE)),
        logs(
            log_record(
                "gen_ai.choice",
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": SAID}},
                at=3,
            ),
            log_record("gen_ai.system.message", {"content": SYSTEM}, at=1),
            log_record("gen_ai.user.message", {"content": ASKED}, at=2),
        ),
    ],
    "1.28, span events": [
        request(
            span(
                BASE,
                events=[
                    event("gen_ai.system.message", {"content": SYSTEM}, at=1),
                    event("gen_ai.user.message", {"content": ASKED, "role": "user"}, at=2),
                    event("gen_ai.choice", {"message": json.dumps({"content": SAID}), "index": 0}, at=3),
                ],
            )
        )
    ],
    # docs/gen-ai of 1.26 and 1.27: the whole prompt and completion
    "1.27, events": [
        request(
            span(
                BASE,
                events=[
                    event(
                        "gen_ai.content.prompt",
                        {
                            "gen_ai.prompt": json.dumps(
                                [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]
                            )
                        },
                    ),
                    event(
                        "gen_ai.content.completion",
                        {"gen_ai.completion": json.dumps([{"role": "assistant", "content": SAID}])},
                    ),
                ],
            )
        )
    ],
    # OpenLLMetry (traceloop/openllmetry): one attribute for each part of a message
    "OpenLLMetry": [
        request(
            span(
                {
                    **BASE,
                    "gen_ai.prompt.0.role": "system",
                    "gen_ai.prompt.0.content": SYSTEM,
                    "gen_ai.prompt.1.role": "user",
                    "gen_ai.prompt.1.content": ASKED,
                    "gen_ai.completion.0.role": "assistant",
                    "gen_ai.completion.0.content": SAID,
                }
            )
        )
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_conventions_gives_one_record(form: str, tmp_path: Path) -> None:
    """The item, the output, what production ran and the time are the same, whoever instrumented."""
    made = read(tmp_path / "t.json", *FORMS[form])
    assert made.dropped == {}
    (record,) = made.records
    assert (record["item"], record["output"]) == (ASKED, SAID)
    assert record["record_id"] == "chatcmpl-1"
    assert record["ts"] == "2026-07-01T09:00:01.5Z"
    assert record["production"] == {
        "model": "gpt-4o-mini",
        "prompt_sha256": SYSTEM_SHA,
        "response_model": "gpt-4o-mini-2024-07-18",
        "settings": {"temperature": 0.2, "max_tokens": 300},
    }
    assert record["fields"] == {
        "operation": "chat",
        "provider": "openai",
        "service": "triage",
        "finish_reason": "stop",
        "tokens_in": 21,
        "tokens_out": 2,
        "latency_ms": 1500.0,
    }


# Attributes of the example "A span for a tool call with OpenAI" of Arize-ai/openinference, spec/llm_spans.md,
# flattened as spec/semantic_conventions.md says, with the attributes of the latter's table that it lacks.
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": SYSTEM,
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.content": "what is 23 times 87",
    "llm.model_name": "gpt-3.5-turbo-0613",
    "llm.provider": "azure",
    "llm.system": "openai",
    "llm.invocation_parameters": '{"model": "gpt-3.5-turbo-0613", "temperature": 0.1, "max_tokens": null}',
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "multiply",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{\n  "a": 23,\n  "b": 87\n}',
    "llm.prompt_template.version": "v1.0",
    "llm.token_count.prompt": 229,
    "llm.token_count.completion": 21,
    "llm.cost.total": 0.0066,
    "llm.finish_reason": "tool_calls",
    "session.id": "26bcd3d2",
    "input.value": "not read: there are messages",
}


def test_openinference_gives_the_same_record(tmp_path: Path) -> None:
    """Its names stand for the model, the settings, the tokens; spans of other kinds are counted."""
    made = read(
        tmp_path / "t.json",
        request(
            span(OPENINFERENCE),
            span({"openinference.span.kind": "CHAIN", "input.value": "x"}, number=2),
            span({"openinference.span.kind": "TOOL", "tool.name": "multiply"}, number=3),
        ),
    )
    assert made.dropped == {"span of the kind CHAIN": 1, "span of the kind TOOL": 1}
    (record,) = made.records
    assert record["item"] == "what is 23 times 87"
    assert record["output"] == '{"tool_calls":[{"arguments":{"a":23,"b":87},"name":"multiply"}]}'
    assert record["production"] == {
        "model": "gpt-3.5-turbo-0613",
        "prompt_version": "v1.0",
        "prompt_sha256": SYSTEM_SHA,
        "settings": {"temperature": 0.1},
    }
    assert record["fields"] == {
        "provider": "azure",
        "service": "triage",
        "conversation": "26bcd3d2",
        "finish_reason": "tool_calls",
        "tokens_in": 229,
        "tokens_out": 21,
        "cost_usd": 0.0066,
        "latency_ms": 1500.0,
    }


def test_openinference_tells_the_model_asked_from_the_one_that_answered(tmp_path: Path) -> None:
    """``llm.request.model_name`` and ``llm.response.model_name``: a provider may route a call elsewhere."""
    given = {
        **OPENINFERENCE,
        "llm.model_name": "claude-opus-4-8",
        "llm.request.model_name": "claude-opus-5",
        "llm.response.model_name": "claude-opus-4-8",
    }
    (record,) = read(tmp_path / "t.json", request(span(given))).records
    assert record["production"]["model"] == "claude-opus-5"
    assert record["production"]["response_model"] == "claude-opus-4-8"


def test_a_conversation_is_an_item_of_several_messages(tmp_path: Path) -> None:
    """Each under its role, the calls of tools as JSON, what is no text counted; the messages are kept."""
    given = {
        "gen_ai.input.messages": json.dumps(
            [
                {
                    "role": "user",
                    "parts": [{"type": "text", "content": "Weather?"}, {"type": "blob", "data": "x"}],
                },
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "tool_call", "id": "1", "name": "get", "arguments": {"city": "Paris"}}
                    ],
                },
                {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "rain"}]},
            ]
        ),
        "gen_ai.output.messages": json.dumps(
            [
                {
                    "role": "assistant",
                    "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Rain."}],
                },
                {"role": "assistant", "parts": [{"type": "text", "content": "It rains."}]},
            ]
        ),
    }
    made = read(tmp_path / "t.json", request(span({**BASE, **given})))
    (record,) = made.records
    assert record["item"] == (
        "user: Weather?\n\n"
        'assistant: {"tool_calls":[{"arguments":{"city":"Paris"},"name":"get"}]}\n\n'
        "tool: rain"
    )
    assert record["output"] == "Rain."
    assert [one["role"] for one in record["messages"]] == ["user", "assistant", "tool"]
    assert made.dropped == {
        "further choice of one answer": 1,
        "part of a message that is no text": 1,
        "reasoning part": 1,
    }


def test_other_spans_are_counted(tmp_path: Path) -> None:
    """A tool's call, an agent's, an embedding and a web request are no answers of a model."""
    made = read(
        tmp_path / "t.json",
        request(
            span({**BASE, **TEXT_PARTS}),
            span({"gen_ai.operation.name": "execute_tool"}, number=2),
            span({"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e"}, number=3),
            span({"http.request.method": "GET"}, number=4),
        ),
        logs(log_record("gen_ai.user.message", "x", at=1), {"body": value("a line"), "attributes": []}),
    )
    assert len(made.records) == 1
    assert made.dropped == {
        "log record of no GenAI call": 1,
        "span of the operation embeddings": 1,
        "span of the operation execute_tool": 1,
        "span that is no GenAI call": 1,
    }


def test_one_answer_that_two_layers_record_is_one_record(tmp_path: Path) -> None:
    """A framework and the client below it share a response id; where they differ a span names each."""
    same = span({**BASE, **TEXT_PARTS}), span({**BASE, **TEXT_PARTS}, number=2)
    made = read(tmp_path / "t.json", request(*same))
    assert (len(made.records), made.dropped) == (1, {"span that records an answer again": 1})
    other = {**TEXT_PARTS, "gen_ai.output.messages": [{"role": "assistant", "content": "close"}]}
    made = read(tmp_path / "t.json", request(same[0], span({**BASE, **other}, number=2)))
    assert [one["record_id"][-17:] for one in made.records] == ["-eee19b7ec3c1b171", "-eee19b7ec3c1b172"]


def test_evaluations_are_outcomes(tmp_path: Path) -> None:
    """The event gen_ai.evaluation.result of gen-ai-events.md."""
    judged = event(
        "gen_ai.evaluation.result",
        {"gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.value": 0.5},
        at=1_000_000_000,
    )
    (record,) = read(tmp_path / "t.json", request(span({**BASE, **TEXT_PARTS}, events=[judged]))).records
    assert record["outcomes"] == [
        {"kind": "Relevance", "value": 0.5, "ts": "2026-07-01T09:00:01Z", "by": "evaluation"}
    ]


def test_a_span_without_contents_is_a_record_without_an_item(tmp_path: Path) -> None:
    """Instrumentations leave contents out by default: what ran is still on record."""
    (record,) = read(tmp_path / "t.json", request(span(BASE, status={"code": 2, "message": "boom"}))).records
    assert (record["item"], record["output"], record["fields"]["error"]) == (None, None, "error")
    assert record["production"]["model"] == "gpt-4o-mini"


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"a": 1}, "bad-otlp"),
        ([], "bad-otlp"),
        (request(), "nothing-to-take"),
        (request(span({"http.method": "GET"})), "nothing-to-take"),
        (request(span(BASE, startTimeUnixNano="soon")), "bad-otlp"),
        ({"resourceSpans": [5, {"scopeSpans": [{"spans": [7]}]}]}, "nothing-to-take"),
    ],
)
def test_what_is_no_trace_is_refused(document: Any, code: str, tmp_path: Path) -> None:
    """With what was found in its place."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(Refusal) as refusal:
        capture_otlp.read(path)
    assert refusal.value.code == code


def test_traces_become_a_capture_and_a_dataset(project: Project, evh: CommandLine) -> None:
    """The command takes them, says what it left out, and the project's own adapter is not asked."""
    (project.data / "adapters").mkdir()
    (project.data / "adapters" / "own.py").write_text("def item(record):\n    return record['subject']\n")
    (project.root / "evh.toml").write_text('[project]\nname = "t"\nadapter = "data/adapters/own.py"\n')
    path = project.root / "t.json"
    path.write_text(json.dumps(request(span({**BASE, **TEXT_PARTS}), span({}, number=2))), encoding="utf-8")
    made = evh.ok("capture", "--as", "c", "--from-file", path, "--format", "otlp", "--json").json
    check(made, "capture")
    assert made["captures"][0]["source"]["dropped"] == {"span that is no GenAI call": 1}
    assert made["warnings"] == ["t.json: not taken: 1 span that is no GenAI call"]
    evh.ok("dataset-from-capture", "--capture", "c", "--dataset-id", "d")
    assert datasets.texts(project, datasets.read(project, "d")) == {"chatcmpl-1": ASKED.encode()}
    assert captures.read(project, "c").time_range == ("2026-07-01T09:00:01.5Z", "2026-07-01T09:00:01.5Z")
    evh.ok("validate")


def test_a_secret_in_a_trace_is_refused(project: Project, evh: CommandLine) -> None:
    """As in any capture: the places are told."""
    key = "sk-proj-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3dE5fG7hJ9k"
    told = {**TEXT_PARTS, "gen_ai.input.messages": [{"role": "user", "content": f"my key is {key}"}]}
    path = project.root / "t.json"
    path.write_text(json.dumps(request(span({**BASE, **told}))), encoding="utf-8")
    evh.refused("secrets", "capture", "--as", "c", "--from-file", path, "--format", "otlp")
