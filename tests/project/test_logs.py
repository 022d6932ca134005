"""The shelf of transcript logs: chunks streamed and checked, questions, a controller's decisions."""

from __future__ import annotations

import json

import pytest

from evh.errors import Refusal
from evh.project import logs
from evh.project.find import Project
from evh.records import chunk as record
from evh.records.chunk import Query
from evh.store.hashing import sha256_text


def write(project: Project, texts: list[str]) -> None:
    """Write a log ``p``."""
    logs.write_chunks(project, "p", (record.made(t, text, "s") for t, text in enumerate(texts)), len(texts))


@pytest.mark.parametrize("n", [3, 5_001])
def test_chunks_come_back_as_they_were(project: Project, n: int) -> None:
    """From both forms, in order."""
    write(project, [f"text {number}" for number in range(n)])
    found = list(logs.chunks(project, "p"))
    assert [one.t for one in found] == list(range(n))
    assert found[-1] == record.made(n - 1, f"text {n - 1}", "s")
    assert logs.names(project) == ["p"]


def test_a_changed_text_a_doubled_place_and_a_bad_row_are_told_together(project: Project) -> None:
    """All reasons at once, with the row."""
    path = logs.path_of(project, "p") / "chunks.jsonl"
    path.parent.mkdir(parents=True)
    rows = [
        {"t": 0, "text": "a", "chunk_sha": sha256_text("b")},
        {"t": 0, "text": "c", "chunk_sha": sha256_text("c")},
        {"t": -1, "text": "d", "chunk_sha": "x"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(Refusal) as told:
        list(logs.chunks(project, "p"))
    assert told.value.code == "bad-chunks"
    assert [reason.split(": ")[1] for reason in told.value.why] == ["row 1", "row 2", "row 3", "row 3"]


def test_both_forms_at_once_are_refused(project: Project) -> None:
    """Neither is guessed to be the one."""
    write(project, ["a"])
    (logs.path_of(project, "p") / "chunks.parquet").write_bytes(b"")
    with pytest.raises(Refusal) as told:
        list(logs.chunks(project, "p"))
    assert told.value.code == "two-forms"


def test_questions(project: Project) -> None:
    """Appended, read in order; an unknown one is refused with the command that adds it."""
    write(project, ["a"])
    logs.add_queries(project, "p", [Query("q", "Where?"), Query("r", "When?")])
    assert [one.query_id for one in logs.queries(project, "p")] == ["q", "r"]
    with pytest.raises(Refusal) as told:
        logs.query(project, "p", "s")
    assert "evh query-add" in (told.value.next or "")


def test_the_last_decision_of_a_place_counts(project: Project) -> None:
    """A controller that was run again has decided again; a row without a decision is refused."""
    write(project, ["a"])
    path = logs.updates_path(project, "p", "q")
    path.parent.mkdir()
    sha = sha256_text("a")
    rows = [{"chunk_sha": sha, "t": 0, "update": update} for update in (True, False)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"chunk_sha": "to')
    found = logs.updates(project, "p", "q")
    assert ([one.update for one in found.last], found.n_again, found.torn) == ([False], 1, 17)
    path.write_text(json.dumps({"chunk_sha": sha, "t": 0, "update": "yes"}) + "\n")
    with pytest.raises(Refusal, match="no decisions"):
        logs.updates(project, "p", "q")
