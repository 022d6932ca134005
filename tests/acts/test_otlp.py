"""Spans of OTLP/JSON are read as they were meant, in each writing; what cannot be read is told whole."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evh.acts import otlp
from evh.acts.otlp import Span
from evh.errors import Refusal
from tests.acts.spans import attributes, log_record, logs, request, span


def read(path: Path, *documents: Any, dropped: Counter[str] | None = None) -> list[Span]:
    """Read a file of one request, or of one on each line."""
    path.write_text("\n".join(json.dumps(one) for one in documents), encoding="utf-8")
    return otlp.read_spans(path, Counter() if dropped is None else dropped)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"stringValue": "x"}, "x"),
        ({"boolValue": False}, False),
        ({"intValue": "9007199254740993"}, 9007199254740993),
        ({"intValue": 7}, 7),
        ({"intValue": "--5"}, None),
        ({"intValue": "²"}, None),
        ({"intValue": "9" * 5000}, None),
        ({"doubleValue": 0.5}, 0.5),
        ({"bytesValue": "AA=="}, "AA=="),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "a"}]}}, [1, "a"]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"string_value": "v"}}]}}, {"k": "v"}),
        ({"array_value": {"values": [{"int_value": "2"}]}}, [2]),
        ({}, None),
        ("plain", "plain"),
    ],
)
def test_any_value(given: object, plain: object) -> None:
    """AnyValue of common.proto in proto3's JSON: an int64 is text; a printer may keep the fields' names."""
    assert otlp.value_of(given) == plain


def test_names_as_protobuf_has_them(tmp_path: Path) -> None:
    """``MessageToDict(preserving_proto_field_name=True)`` writes ``resource_spans`` and the like."""
    given = {
        "resource_spans": [
            {
                "resource": {"attributes": attributes({"service.name": "s"})},
                "scope_spans": [
                    {
                        "spans": [
                            {
                                "trace_id": "t",
                                "span_id": "s1",
                                "name": "n",
                                "start_time_unix_nano": "5",
                                "end_time_unix_nano": 9,
                                "attributes": {"a": 1},
                                "events": [{"name": "e", "time_unix_nano": "6"}],
                                "status": {"code": "STATUS_CODE_ERROR"},
                            }
                        ]
                    }
                ],
            }
        ]
    }
    (found,) = read(tmp_path / "t.json", given)
    assert (found.trace_id, found.span_id, found.start, found.end) == ("t", "s1", 5, 9)
    assert (found.attributes, found.resource, found.failed) == ({"a": 1}, {"service.name": "s"}, True)
    assert [(one.name, one.time) for one in found.events] == [("e", 6)]


@pytest.mark.parametrize(
    "document",
    [
        {"scopeSpans": [{"spans": [span({})]}]},
        {"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": [span({})]}]}]},
        [request(span({}))],
    ],
)
def test_older_and_smaller_wholes(document: Any, tmp_path: Path) -> None:
    """Scopes without a resource, their name before 2022, an array of requests."""
    assert [one.span_id for one in read(tmp_path / "t.json", document)] == ["eee19b7ec3c1b171"]


def test_a_span_twice_is_one_and_spans_without_ids_are_several(tmp_path: Path) -> None:
    """The last stands, in the first one's place."""
    nameless = span({"a": 1}, spanId="")
    found = read(tmp_path / "t.json", request(span({"v": 1}), nameless, span({"v": 2}), nameless))
    assert [one.attributes for one in found] == [{"v": 2}, {"a": 1}, {"a": 1}]


def test_what_is_no_span_is_counted(tmp_path: Path) -> None:
    """Log records of other things, and requests of another signal among those that are read."""
    dropped: Counter[str] = Counter()
    found = read(
        tmp_path / "t.jsonl",
        request(span({})),
        {"resourceMetrics": []},
        logs(log_record("gen_ai.user.message", "x", at=1), log_record("exception", "y", at=1)),
        dropped=dropped,
    )
    assert [one.name for one in found[0].events] == ["gen_ai.user.message"]
    assert dropped == {"log record of no GenAI call": 1, "request that holds neither spans nor logs": 1}


def test_every_time_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """In one refusal, each by its span: a word, a fraction, a negative number."""
    times: list[dict[str, Any]] = [
        {"startTimeUnixNano": "soon"},
        {"endTimeUnixNano": 1.5},
        {"startTimeUnixNano": -1},
    ]
    bad = [span({}, number=at, **given) for at, given in enumerate(times)]
    with pytest.raises(Refusal) as refusal:
        read(tmp_path / "t.json", request(*bad))
    assert refusal.value.code == "bad-otlp"
    assert [*refusal.value.why] == [
        "t.json: span 'eee19b7ec3c1b170': startTimeUnixNano: 'soon'",
        "t.json: span 'eee19b7ec3c1b171': endTimeUnixNano: 1.5",
        "t.json: span 'eee19b7ec3c1b172': startTimeUnixNano: -1",
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"gen_ai.operation.name": "chat"}, None),
        ({"gen_ai.operation.name": "embeddings"}, "span of the operation embeddings"),
        ({"gen_ai.operation.name": "rank", "openinference.span.kind": "LLM"}, "span of the operation rank"),
        ({"llm.request.type": "completion"}, None),
        ({"openinference.span.kind": "LLM"}, None),
        ({"openinference.span.kind": "RETRIEVER"}, "span of the kind RETRIEVER"),
        ({"gen_ai.input.messages": "[]"}, None),
        ({"llm.input_messages.0.message.role": "user"}, None),
        ({"http.request.method": "GET"}, "span that is no GenAI call"),
        ({}, "span that is no GenAI call"),
    ],
)
def test_which_spans_are_answers(given: dict[str, Any], why: str | None) -> None:
    """By the operation, else OpenInference's kind, else what attributes it has."""
    assert Span("t", "s", "", 0, 0, given, {}, failed=False).no_answer == why
