"""Transcripts become chunks: whole turns in order, the same input the same chunks, every format."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.acts import chunking
from evh.acts.chunking import Turn
from evh.project import logs
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import tree_bytes
from tests.schema import check

CHAT = [
    {"role": "user", "content": "I want to fly."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "find", "arguments": '{"to":"X"}'}}],
    },
    {"role": "tool", "name": "find", "content": "[]"},
    {"role": "assistant", "content": [{"type": "text", "text": "There is none."}]},
]


def put(evh: CommandLine, name: str, *rows: object) -> Path:
    """Write rows as JSONL."""
    path = evh.root / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def texts(project: Project) -> list[str]:
    """Return the texts of the log ``p``."""
    return [one.text for one in logs.chunks(project, "p")]


def imported(evh: CommandLine, *words: str | Path) -> Any:
    """Import into ``p`` and return the JSON row."""
    return check(evh.ok("log-import", "--project", "p", *words, "--json").json, "log-import")["logs"][0]


def test_messages_with_tools(project: Project, evh: CommandLine) -> None:
    """A turn is who spoke and what was said; calls of tools stand with their arguments."""
    made = imported(evh, put(evh, "a.jsonl", {"id": "c1", "messages": CHAT}))
    assert texts(project) == [
        'user: I want to fly.\nassistant calls find({"to":"X"})\ntool find: []\nassistant: There is none.'
    ]
    assert (made["n_turns"], made["files"][0]["format"]) == (4, "messages")
    assert next(logs.chunks(project, "p")).source == "a.jsonl#c1"


def test_rows_that_are_turns_are_one_conversation(project: Project, evh: CommandLine) -> None:
    """A line a message, as many exports have it."""
    imported(evh, put(evh, "a.jsonl", *CHAT[:1], {"speaker": "Ann", "text": "Hello."}))
    assert texts(project) == ["user: I want to fly.\nAnn: Hello."]


def test_two_conversations_never_share_a_chunk(project: Project, evh: CommandLine) -> None:
    """However small they are."""
    imported(evh, put(evh, "a.jsonl", *({"messages": [{"role": "user", "content": "hi"}]} for _ in range(3))))
    assert texts(project) == ["user: hi"] * 3


def test_by_turn(project: Project, evh: CommandLine) -> None:
    """A chunk a turn, with n_tokens = ceil(bytes / 4)."""
    imported(evh, put(evh, "a.jsonl", {"messages": CHAT}), "--by", "turn")
    made = list(logs.chunks(project, "p"))
    assert [one.t for one in made] == [0, 1, 2, 3]
    assert (made[0].text, made[0].n_tokens) == ("user: I want to fly.", 5)


def test_ready_chunks_are_taken_as_they_are(project: Project, evh: CommandLine) -> None:
    """Not a byte is trimmed; a chunk_sha that is not the text's is refused."""
    path = put(evh, "a.jsonl", {"text": " a\n"}, {"text": "b", "source": "s"})
    imported(evh, path)
    assert texts(project) == [" a\n", "b"]
    bad = put(evh, "b.jsonl", {"text": "a", "chunk_sha": "00" * 32})
    evh.refused("bad-transcripts", "log-import", bad, "--project", "r")


def test_plain_text_splits_at_blank_lines(project: Project, evh: CommandLine) -> None:
    """Paragraphs are the turns of a text."""
    path = evh.root / "a.txt"
    path.write_text("one two\n\nthree\n\n\n\nfour\n")
    imported(evh, path, "--chunk-tokens", "4")
    assert texts(project) == ["one two\nthree", "four"]


def test_the_same_input_changes_no_byte_and_other_chunks_are_refused(
    project: Project, evh: CommandLine
) -> None:
    """Imported again it says so; cut otherwise it is refused unless asked for."""
    path = put(evh, "a.jsonl", {"messages": CHAT})
    imported(evh, path)
    before = tree_bytes(project.data)
    assert imported(evh, path)["unchanged"] is True
    evh.refused("existing-log", "log-import", path, "--project", "p", "--by", "turn")
    assert tree_bytes(project.data) == before
    assert imported(evh, path, "--by", "turn", "--replace")["replaced"] == 1


def test_over_5000_chunks_are_parquet(project: Project, evh: CommandLine) -> None:
    """The same chunks come back, and the other form is gone when the log shrinks again."""
    imported(evh, put(evh, "a.jsonl", *({"text": f"chunk {n}"} for n in range(5_001))))
    folder = project.data / "logs" / "p"
    assert [path.name for path in folder.iterdir()] == ["chunks.parquet"]
    assert texts(project)[:2] == ["chunk 0", "chunk 1"]
    assert len(texts(project)) == 5_001
    imported(evh, put(evh, "b.jsonl", {"text": "one"}), "--replace")
    assert [path.name for path in folder.iterdir()] == ["chunks.jsonl"]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.jsonl", b'{"a": 1}\n', "unknown-format"),
        ("a.jsonl", b'{"messages": [1]}\n', "bad-transcripts"),
        ("a.jsonl", b'{"messages": [{"role": "user"}]}\n', "bad-transcripts"),
        ("a.jsonl", b'{"text": "x"}\n{"text": }\n', "bad-json"),
        ("a.txt", b"\xff\xfe", "bad-encoding"),
        ("a.txt", b"\n\n", "nothing-said"),
        ("a.jsonl", b"", "nothing-said"),
        ("a.jsonl", b'{"text": ""}\n', "bad-transcripts"),
    ],
)
def test_bad_transcripts_are_refused(evh: CommandLine, name: str, data: bytes, code: str) -> None:
    """With the file and the row, and nothing is written."""
    (evh.root / name).write_bytes(data)
    evh.refused(code, "log-import", evh.root / name, "--project", "p")
    assert not (evh.root / "data" / "logs").exists()


@given(st.lists(st.text(max_size=200), max_size=12), st.integers(1, 30))
def test_chunks_keep_the_size_and_every_word(said: list[str], limit: int) -> None:
    """No chunk passes the size (but for one sign larger than it), and the words stay, in order."""
    turns = [Turn(text, "s") for text in said if text.strip()]
    made = list(chunking.pack(turns, limit))
    assert all(len(one.text.encode()) <= limit * 4 or len(one.text) == 1 for one in made)
    assert [one.t for one in made] == list(range(len(made)))
    there, here = (
        "".join("".join(texts).split()) for texts in ([t.text for t in turns], [c.text for c in made])
    )
    assert there == here
    assert made == list(chunking.pack(turns, limit))


def test_a_long_turn_is_split_at_the_coarsest_place() -> None:
    """Paragraphs first, then sentences, then hard."""
    assert chunking.split("aaaa\n\nbbbb", 6) == ["aaaa", "bbbb"]
    assert chunking.split("One two. Three four.", 10) == ["One two.", "Three four", "."]
    assert chunking.split("One two. Three four.", 12) == ["One two.", "Three four."]
    assert chunking.split("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert chunking.split("éééé", 4) == ["éé", "éé"]


def test_the_airline_transcripts(project: Project, evh: CommandLine) -> None:
    """100 conversations of real agents: each is read, and chunks never cross two of them."""
    data = os.environ.get("EVH_TEST_DATA")
    if not data:
        pytest.skip("EVH_TEST_DATA names no folder of real data")
    files = [Path(data) / "airline-agent" / f"trial_{n}.jsonl" for n in (0, 1)]
    made = imported(evh, *files)
    assert made["n_turns"] == 2_510
    sources = [one.source for one in logs.chunks(project, "p")]
    assert len(set(sources)) == 100
