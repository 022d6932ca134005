"""What a crash cut or an editor changed in a log or a journal is told by every command that reads it."""

from __future__ import annotations

import json

import pytest

from evh.project.find import Project
from tests.acts.evidence_logs import (
    CHUNKS,
    JOURNAL,
    OVERLAP,
    PROBES,
    QUERIES,
    READINGS,
    SETTINGS,
    TEXTS,
    UPDATES,
    change,
    decide,
    import_texts,
    labelled,
)
from tests.conftest import CommandLine
from tests.schema import check

FREEZE = ("evidence-freeze", "--project", "p", "--query", "q", "--set", "s")
REPORT = ("evidence-report", "--project", "p")


def cut(data: bytes) -> bytes:
    """Leave out the last 20 bytes."""
    return data[:-20]


@pytest.mark.parametrize("how", [cut, lambda _: b""], ids=["cut", "empty"])
def test_a_log_that_was_cut_is_refused_with_the_way_out(
    project: Project, evh: CommandLine, how: object
) -> None:
    """chunks.jsonl is written whole: cut off it is not read as a shorter log, and importing mends it."""
    labelled(evh)
    whole = (project.data / CHUNKS).read_bytes()
    change(project.data / CHUNKS, how)  # type: ignore[arg-type]
    for words in (("label-evidence", *OVERLAP), REPORT, FREEZE):
        told = evh.refused("cut-log", *words).json["refused"]
        assert told["why"][0].startswith("data/logs/p/chunks.jsonl: ")
        assert "evh log-import FILE --project p --replace" in told["next"]
    refused = evh("log-import", evh.root / "in.jsonl", "--project", "p", "--json")
    assert refused.json["refused"]["code"] == "cut-log"
    done = evh.ok("log-import", evh.root / "in.jsonl", "--project", "p", "--replace", "--json").json
    assert any("what is imported takes its place" in line for line in done["warnings"])
    assert (project.data / CHUNKS).read_bytes() == whole
    evh.ok("validate")


@pytest.mark.parametrize(
    ("name", "then"),
    [
        (JOURNAL, "its chunk is asked again"),
        (READINGS, "its chunk is asked again, where it has no label"),
        (PROBES, "its probe is asked again"),
    ],
)
def test_a_journals_torn_last_line_is_named_and_dropped_by_the_next_run(
    project: Project, evh: CommandLine, name: str, then: str
) -> None:
    """The report names it; the next run does, drops it, and makes good what it said."""
    labelled(evh, TEXTS, "--probes", "4")
    change(project.data / name, cut)
    told = f"data/{name}: a torn last line is left out: {then}"
    assert told in evh.ok(*REPORT, "--json").json["warnings"][0]
    assert f"note: q: {told}" in evh.ok(*REPORT).err
    dry = evh.ok("label-evidence", *OVERLAP, "--probes", "4", "--dry-run", "--json").json
    assert told in dry["warnings"]
    assert not (project.data / name).read_bytes().endswith(b"\n")
    done = check(evh.ok("label-evidence", *OVERLAP, "--probes", "4", "--json").json, "label-evidence")
    assert told in done["warnings"]
    assert done["journals"][0]["n_left"] == 0
    assert (project.data / name).read_bytes().endswith(b"\n")
    rows = [json.loads(line) for line in (project.data / JOURNAL).read_bytes().splitlines()]
    assert len({one["chunk_sha"] for one in rows}) == len(rows) == 10
    evh.ok("validate")
    again = evh.ok("label-evidence", *OVERLAP, "--probes", "4", "--json").json
    assert again["warnings"] == []


def test_a_torn_question_and_a_torn_decision_are_named(project: Project, evh: CommandLine) -> None:
    """A question that is not there may have been lost; a decision that was cut counts for nothing."""
    labelled(evh)
    decide(project, (0, 0, True), (1, 1, True))
    change(project.data / UPDATES, cut)
    made = evh.ok(*REPORT, "--json").json
    assert made["journals"][0]["update_rate"]["n"] == 1
    assert "data/logs/p/updates/q.jsonl: a torn last line is left out" in made["warnings"][0]
    change(project.data / QUERIES, cut)
    why = evh.refused("no-such-query", "label-evidence", *OVERLAP).json["refused"]["why"]
    assert "data/logs/p/queries.jsonl: a torn last line is left out" in why[-1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"repeat": 1', b'"repeat": 3'),
        (b'"provider": "overlap"', b'"provider": "openai"'),
        (b"yes where at least", b"yes where"),
        (b"red harbour", b"blue harbour"),
    ],
    ids=["repeat", "provider", "prompt", "question"],
)
def test_settings_that_were_edited_are_refused_with_both_hashes(
    project: Project, evh: CommandLine, old: bytes, new: bytes
) -> None:
    """By every command that reads the journal: it would be another one."""
    labelled(evh)
    change(project.data / SETTINGS, lambda data: data.replace(old, new, 1))
    for words in (("label-evidence", *OVERLAP), REPORT, FREEZE):
        (reason,) = evh.refused("edited-settings", *words).json["refused"]["why"]
        hashes = [word for word in reason.split() if len(word) == 64]
        assert len(set(hashes)) == 2


@pytest.mark.parametrize("key", ["model", "prompt_sha", "question_sha"])
def test_a_label_of_another_model_prompt_or_question_is_refused(
    project: Project, evh: CommandLine, key: str
) -> None:
    """A journal is one labeler asked one thing: a row that says otherwise was put there."""
    labelled(evh)
    path = project.data / JOURNAL
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3][key] = "other"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for words in (("label-evidence", *OVERLAP), REPORT, FREEZE):
        (reason,) = evh.refused("bad-journal", *words).json["refused"]["why"]
        assert f"line 4: {key} 'other', and the journal's settings say" in reason


def test_decisions_outside_the_log_and_second_ones_do_not_count(project: Project, evh: CommandLine) -> None:
    """Of five one is about place 10 of ten, one about place 1 that was decided again: three are left."""
    labelled(evh)
    decide(project, (0, 0, True), (1, 1, True), (1, 1, False), (2, 10, True), (5, 5, False))
    made = check(evh.ok(*REPORT, "--json").json, "evidence-report")
    row = made["journals"][0]
    assert (row["n_outside"], row["n_again"], row["n_lost"]) == (1, 1, 0)
    assert (row["update_rate"]["count"], row["update_rate"]["n"]) == (1, 3)
    # Labels are yes at 0 and 5: right at 0 and 1, wrong at 5.
    assert row["r_update"]["mean"] == pytest.approx(1 / 3)
    outside, again = made["warnings"]
    assert outside.endswith("about places that the log does not have (t from 10 on): not counted")
    assert again.endswith("that it decided again: not counted, the last one of a place is")
    done = evh.ok("label-evidence", *OVERLAP, "--json").json
    assert [line.partition(" ")[0] for line in done["warnings"]] == ["1", "1"]


def test_a_log_that_is_cut_anew_keeps_its_journal(project: Project, evh: CommandLine) -> None:
    """The counterpart: with a whole log of other places nothing is told of."""
    labelled(evh)
    import_texts(evh, TEXTS[::-1], "--replace")
    assert evh.ok("label-evidence", *OVERLAP, "--json").json["warnings"] == []
