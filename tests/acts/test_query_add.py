"""Adding a question: once added it never changes."""

from __future__ import annotations

import json

from tests.conftest import CommandLine
from tests.helpers import tree_bytes
from tests.schema import check


def test_a_question_is_added_once_and_never_changed(evh: CommandLine) -> None:
    """The same words again are fine and change no byte; other words under the id are refused."""
    path = evh.root / "in.jsonl"
    path.write_text(json.dumps({"text": "a"}) + "\n")
    evh.ok("log-import", path, "--project", "p")
    words = ("query-add", "--project", "p", "--query", "q", "--question")
    made = check(evh.ok(*words, "Where  is\nit?", "--json").json, "query-add")["queries"]
    assert (made[0]["question"], made[0]["written"]) == ("Where is it?", True)
    before = tree_bytes(evh.root / "data")
    assert evh.ok(*words, "Where is it?", "--json").json["queries"][0]["written"] is False
    evh.refused("other-question", *words, "When was it?")
    evh.refused("bad-question", "query-add", "--project", "p", "--query", "r", "--question", " ")
    evh.refused("bad-id", "query-add", "--project", "p", "--query", "Q", "--question", "x")
    evh.refused("no-such-log", "query-add", "--project", "z", "--query", "r", "--question", "x")
    assert tree_bytes(evh.root / "data") == before
