"""A trace becomes a conversation in which each message stands once; what is not taken is counted and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.project import logs
from evh.project.find import Project
from tests.acts.spans import attributes, request
from tests.conftest import CommandLine
from tests.schema import check


def span(start: int, given: dict[str, Any], *, trace: str = "t1") -> dict[str, Any]:
    """A span of a trace; it has no id of its own."""
    return {"traceId": trace, "startTimeUnixNano": str(start), "attributes": attributes(given)}


def put(evh: CommandLine, *spans: dict[str, Any], name: str = "a.json") -> Path:
    """Write one request of OTLP/JSON."""
    path = evh.root / name
    path.write_text(json.dumps(request(*spans)), encoding="utf-8")
    return path


def imported(evh: CommandLine, path: Path) -> Any:
    """Import into ``p`` and return all of the JSON."""
    return check(evh.ok("log-import", "--project", "p", path, "--json").json, "log-import")


def texts(project: Project) -> list[str]:
    """Return the texts of the log ``p``."""
    return [one.text for one in logs.chunks(project, "p")]


ASK, SAY, MORE = (
    {"role": role, "content": said} for role, said in [("user", "a"), ("assistant", "b"), ("user", "c")]
)
FIRST = span(
    1,
    {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "a",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "b",
    },
)
SECOND = span(
    2,
    {
        "gen_ai.input.messages": json.dumps([ASK, SAY, MORE]),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "d"}], "finish_reason": "stop"}]
        ),
    },
)
WEB = span(3, {"http.url": "x"})


def test_otlp_takes_each_message_once(project: Project, evh: CommandLine) -> None:
    """Each call sends the history again: what is there already is not taken twice. All three conventions."""
    other = span(
        9,
        {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "z"},
        trace="t2",
    )
    made = imported(evh, put(evh, SECOND, FIRST, WEB, other))
    assert texts(project) == ["user: a\nassistant: b\nuser: c\nassistant: d", "user: z"]
    assert [one.source for one in logs.chunks(project, "p")] == ["a.json#t1", "a.json#t2"]
    assert made["logs"][0]["files"][0]["dropped"] == {"span that is no GenAI call": 1}
    assert made["warnings"] == ["a.json: not taken: 1 span that is no GenAI call"]


def test_a_trace_in_which_nothing_is_said_is_refused(evh: CommandLine) -> None:
    """With what it holds instead: here a web request and a call recorded without its contents."""
    path = put(evh, WEB, span(4, {"gen_ai.operation.name": "chat"}))
    told = evh.refused("bad-transcripts", "log-import", path, "--project", "r")
    (why,) = told.json["refused"]["why"]
    assert why.endswith(": 1 model call without what was said, 1 span that is no GenAI call")


def test_history_in_another_form_is_the_same_history(project: Project, evh: CommandLine) -> None:
    """The answer of one call comes back in the next without its finish reason and thoughts."""
    answer = {
        "role": "assistant",
        "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "b"}],
        "finish_reason": "stop",
    }
    first = span(
        1, {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([answer])}
    )
    imported(evh, put(evh, first, SECOND))
    assert texts(project) == ["user: a\nassistant: hm\nb\nuser: c\nassistant: d"]


def test_an_agent_repeats_what_its_calls_say(project: Project, evh: CommandLine) -> None:
    """Its span is counted; it is taken where the calls say nothing."""
    told = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": json.dumps([ASK]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": "d"}]),
    }
    silent = span(1, {"gen_ai.operation.name": "chat"}, trace="t2")
    made = imported(evh, put(evh, span(0, told), FIRST, SECOND, span(0, told, trace="t2"), silent))
    assert texts(project) == ["user: a\nassistant: b\nuser: c\nassistant: d", "user: a\nassistant: d"]
    assert made["logs"][0]["files"][0]["dropped"] == {
        "model call without what was said": 1,
        "span of the operation invoke_agent": 1,
    }


def test_pictures_are_left_out_and_counted(project: Project, evh: CommandLine) -> None:
    """A blob's bytes in base64 are no words of a transcript."""
    parts = [
        {"type": "text", "content": "See."},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "iVBORw0KGgo="},
    ]
    given = {"gen_ai.input.messages": json.dumps([{"role": "user", "parts": parts}])}
    made = imported(evh, put(evh, span(1, given)))
    assert texts(project) == ["user: See."]
    assert made["warnings"] == ["a.json: not taken: 1 part of a message that is no text"]


def test_messages_may_lie_in_the_logs(project: Project, evh: CommandLine) -> None:
    """As events of the conventions 1.28 to 1.36, a request of logs beside the one of spans."""
    known = {"traceId": "t1", "spanId": "s1", "attributes": []}
    records = [
        {**known, "timeUnixNano": str(at), "eventName": name, "body": {"stringValue": text}}
        for at, name, text in [(2, "gen_ai.choice", "b"), (1, "gen_ai.user.message", "a")]
    ]
    path = evh.root / "a.jsonl"
    call = {**span(1, {"gen_ai.operation.name": "chat"}), "spanId": "s1"}
    rows = [request(call), {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert imported(evh, path)["warnings"] == []
    assert texts(project) == ["user: a\nassistant: b"]


def test_a_time_that_cannot_be_read_is_refused(evh: CommandLine) -> None:
    """As `capture` refuses it, and nothing is written: a guessed order would be another transcript."""
    path = put(evh, {**FIRST, "startTimeUnixNano": "soon"})
    evh.refused("bad-otlp", "log-import", path, "--project", "p")
    assert not (evh.root / "data" / "logs").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"traceId": 5}, "span 's9': traceId: 5 is no text"),
        ({"spanId": ["a"]}, "a span: spanId: ['a'] is no text"),
        (
            {"attributes": attributes({"gen_ai.input.messages": "[{"})},
            "'s9': gen_ai.input.messages is not whole",
        ),
        (
            {"attributes": attributes({"gen_ai.output.messages": json.dumps([SAY])[:-3]})},
            "'s9': gen_ai.output.messages is not whole JSON",
        ),
        (
            {"events": [{"name": "x", "attributes": attributes({"gen_ai.system_instructions": "[1,"})}]},
            "'s9': gen_ai.system_instructions is not whole JSON",
        ),
    ],
)
def test_what_is_broken_is_refused_with_its_span(
    project: Project, evh: CommandLine, change: dict[str, Any], said: str
) -> None:
    """Ids that are no text, messages that an exporter cut: `log-import` and `capture` guess neither."""
    path = put(evh, FIRST, {**SECOND, "spanId": "s9", **change})
    why = evh.refused("bad-otlp", "log-import", path, "--project", "p").json["refused"]["why"]
    assert [one for one in why if said in one], why
    capture = ("capture", "--as", "c", "--from-file", path, "--format", "otlp")
    assert evh.refused("bad-otlp", *capture).json["refused"]["why"] == why
    assert not (project.data / "logs").exists()
