"""`evh runs`: every run with what it was scored against, the unfinished, the foreign and the broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import validate

import evh as package
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, correct

SCHEMA = json.loads((Path(package.__file__).parent / "schemas" / "runs.json").read_text("utf-8"))
LABELS = {"a": "yes", "b": "no"}


@pytest.fixture
def build(project: Project) -> Builder:
    """Two items with a person's labels, promoted to gold."""
    made = Builder(project)
    made.dataset("d", {"a": "aa", "b": "bb"})
    made.reference("gold/g", made.labels("d", "s", LABELS))
    return made


def test_an_empty_project_says_what_to_do(evh: CommandLine) -> None:
    """No runs and no config: how to write one, and an empty document of the schema."""
    assert "evh help configs" in evh.ok("runs").out
    validate(evh.ok("runs", "--json").json, SCHEMA)


def test_each_run_with_what_it_was_scored_against(build: Builder, evh: CommandLine) -> None:
    """A reference shows its tier, labels their source; the value is the primary metric's."""
    decisions = {"a": "yes", "b": "yes"}
    run = build.run("c", "d", decisions)
    build.rescored(run, decisions, correct(decisions, LABELS), against="labels/d/s")
    build.rescored(run, decisions, correct(decisions, LABELS), against="gold/g")
    document = evh.ok("runs", "--json").json
    validate(document, SCHEMA)
    told = [
        (row["folder"], row["against"], row["tier"], row["source"], row["value"]) for row in document["runs"]
    ]
    assert sorted(told, key=str) == [
        ("runs", None, None, None, None),
        ("runs-labels-d-s", "labels/d/s", None, "person", 0.5),
        ("runs-rescored", "gold/g", "gold", None, 0.5),
    ]
    out = evh.ok("runs").out
    assert [word for word in out.split() if word in ("d/s", "person", "gold/g", "gold")] == [
        "d/s", "person", "gold/g", "gold",
    ]  # fmt: skip


def test_older_runs_are_counted_and_shown_on_demand(build: Builder, evh: CommandLine) -> None:
    """The latest run of an arm stands for it; --all lists every one; the filters choose."""
    build.run("c", "d", LABELS, at="20261001T000000Z")
    build.run("c", "d", LABELS, at="20261002T000000Z")
    build.run("other", "d", LABELS)
    short = evh.ok("runs", "--json").json
    assert [row["run_id"] for row in short["runs"]] == ["other_20261001T000000Z", "c_20261002T000000Z"]
    assert short["n_older"] == 1
    assert "1 that a later run stands for: evh runs --all" in evh.ok("runs").out
    assert len(evh.ok("runs", "--all", "--json").json["runs"]) == 3
    assert [row["config_id"] for row in evh.ok("runs", "--config", "other", "--json").json["runs"]] == [
        "other"
    ]


def test_what_is_not_here_is_refused_with_what_is(build: Builder, evh: CommandLine) -> None:
    """A dataset or an arm that neither is here nor has a run; a dataset without runs is an empty list."""
    build.run("c", "d", LABELS)
    assert evh.refused("no-such-dataset", "runs", "--dataset-id", "x").json["refused"]["why"] == [
        "there is d"
    ]
    assert evh.refused("no-such-config", "runs", "--config", "x").json["refused"]["why"] == ["there is c"]
    build.dataset("empty", {"z": "zz"})
    assert evh.ok("runs", "--dataset-id", "empty", "--json").json["runs"] == []
    evh.refused("no-such-dataset", "references", "--dataset-id", "x")
    assert evh.ok("references", "--dataset-id", "empty", "--json").json["references"] == []


def test_a_fitted_arm_is_flagged_on_equal_bytes(build: Builder, evh: CommandLine) -> None:
    """Fitted on another dataset that shares an item's bytes: flagged where it is scored here."""
    build.dataset("train", {"x": "aa"})
    build.dataset("apart", {"x": "zz"})
    for name, fitted in (("seen", "train"), ("unseen", "apart")):
        build.run(name, "d", LABELS, extra={"fitted_on": [fitted]})
    flags = {row["config_id"]: row["fitted_here"] for row in evh.ok("runs", "--json").json["runs"]}
    assert flags == {"seen": True, "unseen": False}
    assert "fitted here" in evh.ok("runs").out


def test_unfinished_runs_are_listed(build: Builder, evh: CommandLine) -> None:
    """One that evh began says how to go on; one from elsewhere is shown and left alone."""
    folder = build.project.data / "runs" / "theirs_1"
    folder.mkdir(parents=True)
    (folder / "predictions.jsonl").write_bytes(b'{"item_id":"a"}\n')
    document = evh.ok("runs", "--json").json
    validate(document, SCHEMA)
    assert [(one["path"], one["config_id"]) for one in document["unfinished"]] == [
        ("data/runs/theirs_1", None)
    ]
    assert "theirs_1: begun elsewhere" in evh.ok("runs").out


def test_foreign_and_broken_runs(build: Builder, evh: CommandLine) -> None:
    """A run of four keys alone is shown; one that cannot be read is told of and stops nothing."""
    runs = build.project.data / "runs"
    for name, text in (
        (
            "theirs",
            '{"run_id":"theirs","config_id":"k","dataset_id":"d","scores":{"f1":0.5},"fingerprint":{"hash":null}}',
        ),
        ("broken", '{"run_id":'),
    ):
        (runs / name).mkdir(parents=True)
        (runs / name / "metrics.json").write_text(text, "utf-8")
    document = evh.ok("runs", "--json").json
    validate(document, SCHEMA)
    assert [(row["run_id"], row["fingerprint"], row["n_scored"]) for row in document["runs"]] == [
        ("theirs", None, None)
    ]
    assert "broken" in document["warnings"][0]


def test_hostile_names_do_not_reach_the_terminal(build: Builder, evh: CommandLine) -> None:
    """An escape sequence in a metric's name is stripped from the table."""
    build.run("c", "d", LABELS, primary_metric="\x1b[31mred", scores=None)
    assert "\x1b" not in evh.ok("runs").out


def test_a_later_trial_never_stands_for_a_whole_run(build: Builder, evh: CommandLine) -> None:
    """The whole run is listed as everywhere else; so is a trial after it, which says so: --limit 1 of 2."""
    build.run("c", "d", {"a": "yes"}, at="20261001T000000Z", extra={"limit": 1})
    build.run("c", "d", LABELS, at="20261002T000000Z")
    build.run("c", "d", {"a": "yes"}, at="20261003T000000Z", extra={"limit": 1})
    build.run("c", "d", {"a": "yes"}, at="20261004T000000Z", extra={"limit": 1})
    found = evh.ok("runs", "--json").json
    validate(found, SCHEMA)
    assert [(row["run_id"], row["trial"]) for row in found["runs"]] == [
        ("c_20261002T000000Z", None),
        ("c_20261004T000000Z", 1),
    ]
    assert found["n_older"] == 2
    assert "trial over 1 item" in evh.ok("runs").out
    assert len(evh.ok("runs", "--all", "--json").json["runs"]) == 4


def test_a_limit_over_all_items_is_no_trial(build: Builder, evh: CommandLine) -> None:
    """A run with --limit 9 over two items is whole: as the latest it stands for the arm."""
    build.run("c", "d", LABELS, at="20261001T000000Z")
    build.run("c", "d", LABELS, at="20261002T000000Z", extra={"limit": 9})
    found = evh.ok("runs", "--json").json
    assert [(row["run_id"], row["trial"]) for row in found["runs"]] == [("c_20261002T000000Z", None)]


def test_a_trial_scored_again_is_a_trial_too(build: Builder, evh: CommandLine) -> None:
    """Its limit is in the fingerprint alone; against the set the whole run's scores stand."""
    whole = build.run("c", "d", LABELS, at="20261001T000000Z")
    trial = build.run(
        "c", "d", {"a": "yes"}, at="20261002T000000Z", fingerprint={"data": {"limit": 1}}, extra={"limit": 1}
    )
    build.rescored(whole, LABELS, correct(LABELS, LABELS), against="labels/d/s")
    build.rescored(trial, {"a": "yes"}, correct({"a": "yes"}, LABELS), against="labels/d/s", extra={})
    found = evh.ok("runs", "--json").json["runs"]
    assert sorted((row["folder"], row["run_id"], row["trial"]) for row in found) == [
        ("runs", "c_20261001T000000Z", None),
        ("runs", "c_20261002T000000Z", 1),
        ("runs-labels-d-s", "c_20261001T000000Z", None),
        ("runs-labels-d-s", "c_20261002T000000Z", 1),
    ]


def test_all_repeats_of_a_run_that_is_listed_are_listed(build: Builder, evh: CommandLine) -> None:
    """Two repeats of the latest group, each with its place in it; the group before is counted."""
    for at in (1, 2):
        build.run("c", "d", LABELS, at=f"2026100{at}T000000Z", repeat_group="old")
    for at in (3, 4):
        build.run("c", "d", LABELS, at=f"2026100{at}T000000Z", repeat_group="new")
    found = evh.ok("runs", "--json").json
    assert [row["run_id"] for row in found["runs"]] == ["c_20261003T000000Z", "c_20261004T000000Z"]
    assert found["n_older"] == 2
    told = evh.ok("runs").out
    assert "repeat 1 of 2" in told
    assert "repeat 2 of 2" in told
