"""A turn's text in a log: what has the wrong type is refused by its place, what is no text is counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from evh.acts.turn_text import turn_text
from tests.conftest import CommandLine
from tests.schema import check


def read(turn: dict[str, Any]) -> tuple[str, dict[str, int], list[str]]:
    """Return a turn's text, what is counted and what is wrong."""
    dropped: Counter[str] = Counter()
    problems: list[str] = []
    text = turn_text(turn, dropped, problems)
    return text, dict(dropped), problems


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ({"role": "user", "content": " hi "}, "user: hi"),
        ({"from": "human", "value": "hi"}, "human: hi"),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}, "user: a\nb"),
        ({"role": "user", "content": {"text": {"value": "a"}}}, "user: a"),
        ({"role": "tool", "name": "find", "content": "[]"}, "tool find: []"),
        ({"role": "tool", "content": [{"type": "tool_result", "content": [{"text": "7"}]}]}, "tool: 7"),
        ({"role": "tool", "parts": [{"type": "tool_call_response", "response": {"n": 7}}]}, 'tool: {"n":7}'),
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}],
            },
            "assistant calls f({})",
        ),
        (
            {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
            "assistant calls f({})",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {"a": 1}}]},
            'assistant: calls f({"a":1})',
        ),
    ],
)
def test_what_a_turn_says(turn: dict[str, Any], text: str) -> None:
    """Nothing of it is counted or wrong."""
    assert read(turn) == (text, {}, [])


@pytest.mark.parametrize(
    ("turn", "text", "dropped"),
    [
        ({"role": "user", "content": None}, "", {"turn in which nothing is said": 1}),
        ({"role": "user", "content": " "}, "", {"turn in which nothing is said": 1}),
        (
            {"role": "user", "content": ["a", {"type": "image_url", "image_url": {"url": "data:…"}}]},
            "user: a",
            {"part of a message that is no text": 1},
        ),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"text": "a"}]},
            "assistant: a",
            {"reasoning part": 1},
        ),
    ],
)
def test_what_is_no_text_is_counted(turn: dict[str, Any], text: str, dropped: dict[str, int]) -> None:
    """By its kind."""
    assert read(turn) == (text, dropped, [])


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"content": 3}, "content: it is a number, not a text or a list of parts"),
        ({"content": True}, "content: it is true or false, not a text or a list of parts"),
        ({"content": {"a": 1}}, "content: no text in it: it has 'a'"),
        ({"content": {}}, "content: no text in it: it has nothing"),
        ({"content": [7]}, "content[0]: it is a number, not a part"),
        ({"content": ["a", None]}, "content[1]: it is null, not a part"),
        ({"content": [["a"]]}, "content[0]: it is a list, not a part"),
        ({"content": [{"text": 5}]}, "content[0].text: it is a number, not a text or a list of parts"),
        ({"content": [{"type": "text", "text": None}]}, "content[0]: no text in it: it has 'type', 'text'"),
        ({"content": [{"type": 5, "text": "a"}]}, "content[0].type: it is a number, not a text"),
        ({"content": "a", "tool_calls": "x"}, "tool_calls: it is a text, not a list of calls"),
        ({"content": "a", "tool_calls": [None]}, "tool_calls[0]: it is null, not a call of a tool"),
        (
            {"content": "a", "tool_calls": [{"function": 5}]},
            "tool_calls[0].function: it is a number, not an object",
        ),
        (
            {"content": "a", "tool_calls": [{"function": {}}]},
            "tool_calls[0]: a call of a tool without a name",
        ),
        ({"content": "a", "function_call": "f"}, "function_call: it is a text, not a call of a tool"),
        ({"content": "a", "role": 5}, "role: it is a number, not a text"),
    ],
)
def test_a_wrong_type_refuses_the_import_with_its_place(
    evh: CommandLine, more: dict[str, Any], problem: str
) -> None:
    """By file, row, turn and key; the turns beside it do not make up for it, and nothing is written."""
    turns = [{"role": "user", "content": "hello"}, {"role": "user", **more}]
    path = evh.root / "a.jsonl"
    path.write_text(json.dumps({"messages": turns[:1]}) + "\n" + json.dumps({"messages": turns}) + "\n")
    refused = evh.refused("bad-transcripts", "log-import", path, "--project", "p").json["refused"]
    assert refused["why"] == [f"a.jsonl: row 2: turn 1: {problem}"]
    assert not (evh.root / "data" / "logs").exists()


def test_what_is_not_taken_is_told_by_its_kind(evh: CommandLine) -> None:
    """On the terminal and in the JSON."""
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "url": "b"}]},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": ""},
    ]
    path = evh.root / "a.jsonl"
    path.write_text(json.dumps({"messages": turns}) + "\n")
    told = evh.ok("log-import", path, "--project", "p", "--dry-run").err
    counts = "1 part of a message that is no text, 2 turn in which nothing is said"
    assert f"a.jsonl: not taken: {counts}" in told
    made = check(evh.ok("log-import", path, "--project", "p", "--json").json, "log-import")
    assert made["logs"][0]["files"][0]["dropped"] == {
        "part of a message that is no text": 1,
        "turn in which nothing is said": 2,
    }
