"""The shelf of evidence journals: names, rows that only grow, and what a foreign one may look like."""

from __future__ import annotations

import json

import pytest

from evh.errors import Refusal
from evh.project import evidence
from evh.project.find import Project

SHA = "ab" * 32
SEED = {"chunk_sha": SHA, "t": 7, "label": True, "why": "It says so.", "model": "reasoning", "ts": "x"}
"""A row as the harness of the brief writes it."""


def put(project: Project, name: str, *rows: dict[str, object]) -> None:
    """Write a file of the log ``p``."""
    path = project.data / "label" / "p" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_journal_of_another_harness_is_read(project: Project) -> None:
    """Only the keys of the brief, no companions: it is listed and its labels are read."""
    put(project, "q.jsonl", SEED)
    (at,) = evidence.places(project, "p")
    assert (at.query_id, at.name, at.ref) == ("q", "", "label/p/q.jsonl")
    (one,) = evidence.labels(project, at)
    assert (one.label, one.why, one.suspect) == (True, "It says so.", False)
    assert evidence.settings(project, at) is None


def test_names_of_journals_and_companions(project: Project) -> None:
    """``q~cold.jsonl`` is a journal, ``q~failed.jsonl`` and ``q~cold~readings.jsonl`` are not."""
    for name in ("q.jsonl", "q~cold.jsonl", "q~failed.jsonl", "q~readings.jsonl", "q~cold~readings.jsonl"):
        put(project, name)
    assert [(at.query_id, at.name) for at in evidence.places(project)] == [("q", ""), ("q", "cold")]
    assert evidence.place(project, "p", "q", "cold").failed.name == "q~cold~failed.jsonl"
    for name in ("failed", "probes", "readings", "settings", "Failed", "a~b", ".."):
        with pytest.raises(Refusal):
            evidence.place(project, "p", "q", name)


@pytest.mark.parametrize(
    "row",
    [
        {**SEED, "label": "yes"},
        {**SEED, "why": " "},
        {**SEED, "chunk_sha": "abc"},
        {key: value for key, value in SEED.items() if key != "label"},
    ],
)
def test_a_row_that_is_no_label_is_refused(project: Project, row: dict[str, object]) -> None:
    """With its line."""
    put(project, "q.jsonl", row)
    with pytest.raises(Refusal) as told:
        list(evidence.labels(project, evidence.place(project, "p", "q")))
    assert "line 1" in told.value.why[0]


def test_two_labels_of_one_content_are_refused(project: Project) -> None:
    """A journal holds one a content: which one counts is never guessed."""
    put(project, "q.jsonl", SEED, SEED)
    with pytest.raises(Refusal) as told:
        list(evidence.labels(project, evidence.place(project, "p", "q")))
    assert "a second label" in told.value.why[0]


def test_a_label_ends_a_failure(project: Project) -> None:
    """Of a content the latest failure stands, and none once it has a label."""
    rows: list[dict[str, object]] = [
        {"chunk_sha": SHA, "t": 0, "kind": kind, "says": ""} for kind in ("empty", "unparsed")
    ]
    put(project, "q~failed.jsonl", *rows)
    at = evidence.place(project, "p", "q")
    assert {key: one.kind for key, one in evidence.standing_failures(project, at).items()} == {
        SHA: "unparsed"
    }
    assert evidence.standing_failures(project, at, {SHA}) == {}
