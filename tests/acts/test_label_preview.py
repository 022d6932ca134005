"""``label-preview``: what another set in a set's place would move, counted by hand; nothing is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

ONE = {"i1": "file", "i2": "file", "i3": "file", "i4": "close"}
TWO = {"i1": "file", "i2": "close", "i3": "close", "i4": "close"}
OLD = {"i1": "file", "i2": "file", "i3": "file"}
NEW = {"i1": "file", "i2": "close", "i3": '{"accept": ["close", "file"]}', "i4": "close"}


@pytest.fixture
def builder(project: Project, evh: CommandLine) -> Builder:
    """Two arms scored by evh against ``old``; ``new`` says otherwise on i2 and i3 and labels i4 too."""
    made = Builder(project)
    made.dataset("d", {f"i{n}": f"report {n}" for n in range(1, 5)})
    made.labels("d", "old", {**OLD, "i1": "file"})
    made.labels("d", "new", NEW, source={"kind": "person", "by": "bo"})
    for name, decisions in (("one", ONE), ("two", TWO)):
        made.run(name, "d", decisions, adapter="default")
    evh.ok("rescore", "--dataset-id", "d", "--labels", "d/old")
    return made


def preview(evh: CommandLine, *words: str, replace: str = "old", by: str = "new") -> Any:
    """Return the preview's row of the document."""
    outcome = evh.ok(
        "label-preview", "--dataset-id", "d", "--replace", replace, "--with", by, "--json", *words
    )
    return check(outcome.json, "label-preview")["previews"][0]


def test_means_ranks_and_labels_are_those_counted_by_hand(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Before, one is right on 3 of 3 and two on 1 of 3; after, one on 3 of 4 and two on 4 of 4."""
    builder.labels("d", "third", {"i1": "file", "i2": "close", "i4": "ignore"})
    row = preview(evh)
    assert [row[key] for key in ("n_items", "n_same", "n_changed", "n_gained", "n_lost")] == [4, 1, 2, 1, 0]
    one, two = row["arms"]
    correct = [next(m for m in arm["metrics"] if m["metric"] == "correct") for arm in (one, two)]
    assert [(m["before"], m["n_before"], m["after"], m["n_after"]) for m in correct] == [
        (1.0, 3, 0.75, 4),
        (1 / 3, 3, 1.0, 4),
    ]
    assert [(m["n_both"], m["before_both"], m["after_both"]) for m in correct] == [
        (3, 1.0, 2 / 3),
        (3, 1 / 3, 1.0),
    ]
    assert [(arm["better"], arm["worse"]) for arm in (one, two)] == [(0, 1), (2, 0)]
    assert row["verdicts"] is None


def test_one_answer_alone_leads_nowhere(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The old set holds one answer: nobody leads by it, and that is said; by the new one two leads."""
    row = preview(evh)
    assert (row["leaders_before"], row["leaders_after"]) == ([], ["two"])
    assert [arm["rank_before"] for arm in row["arms"]] == [None, None]
    assert [arm["rank_after"] for arm in row["arms"]] == [2, 1]
    outcome = evh.ok("label-preview", "--dataset-id", "d", "--replace", "old", "--with", "new")
    assert "labels/d/old holds fewer than two distinct answers" in outcome.err


def test_winners_change_row_by_row(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Back from new to a third set: the rows whose winner, label or score moves, and no others."""
    builder.labels("d", "third", {"i1": "file", "i2": "file", "i4": "close"})
    evh.ok("rescore", "--dataset-id", "d", "--labels", "d/new")
    row = preview(evh, replace="new", by="third")
    assert (row["leaders_before"], row["leaders_after"]) == (["two"], ["one"])
    moved = {one["item_id"]: one for one in row["items"]}
    assert sorted(moved) == ["i2", "i3"]
    assert (moved["i2"]["winners_before"], moved["i2"]["winners_after"]) == (["two"], ["one"])
    assert (moved["i3"]["label_before"], moved["i3"]["label_after"]) == (NEW["i3"], None)
    assert (moved["i3"]["winners_before"], moved["i3"]["winners_after"]) == (["one", "two"], [])
    assert [(one["before"], one["after"]) for one in moved["i2"]["arms"]] == [(0.0, 1.0), (1.0, 0.0)]
    assert row["n_winners"] == 2


def test_people_see_the_move_and_how_to_make_it(builder: Builder, evh: CommandLine) -> None:
    """The counts of labels, each arm's mean before and after, the items, the command."""
    out = evh.ok("label-preview", "--dataset-id", "d", "--replace", "old", "--with", "new").out
    assert "4 items: 1 labelled alike, 2 otherwise, 1 only by the new set, 0 only by the replaced one" in out
    assert "best by correct: nobody before, two after" in out
    assert "close or file" in out
    assert "evh rescore --dataset-id d --labels d/new" in out


def test_a_baseline_by_the_replaced_set_is_told(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Promoted on ``old`` at 1.0, by ``new`` it has 0.75 and the other arm is ahead of it."""
    place = project.data / "baselines"
    place.mkdir()
    made = {
        "baseline_id": "b",
        "dataset_id": "d",
        "promoted_from": "one_20261001T000000Z",
        "goal": "keep",
        "reference_id": "labels/d/old",
    }
    (place / "b.json").write_text(json.dumps(made))
    (place / "c.json").write_text(json.dumps({**made, "baseline_id": "c", "reference_id": "labels/d/x"}))
    assert preview(evh)["baselines"] == [
        {
            "baseline_id": "b",
            "goal": "keep",
            "arm": "one",
            "before": 1.0,
            "after": 0.75,
            "ahead_before": [],
            "ahead_after": ["two"],
        }
    ]


def test_own_labels_never_lead(project: Project, builder: Builder, evh: CommandLine) -> None:
    """A set made of an arm's own run puts it at 1.0, flagged and without a place."""
    source = {"kind": "model", "config_id": "one", "run_id": "one_20261001T000000Z"}
    builder.labels("d", "own", ONE, source=source)
    one, two = preview(evh, by="own")["arms"]
    assert (one["own_before"], one["own_after"], one["rank_after"]) == (False, True, None)
    assert (two["own_after"], two["rank_after"]) == (False, 1)


def test_a_reference_can_be_replaced(project: Project, builder: Builder, evh: CommandLine) -> None:
    """``tier/name`` stands where a set does; replacing a set that was promoted says what keeps its labels."""
    from evh.project import labels

    builder.reference("gold/d", labels.read(project, "d", "old"))
    evh.ok("rescore", "--dataset-id", "d", "--reference", "gold/d")
    row = preview(evh, replace="gold/d")
    assert (row["replace"], row["with"]) == ("gold/d", "labels/d/new")
    outcome = evh.ok("label-preview", "--dataset-id", "d", "--replace", "labels/d/old", "--with", "d/new")
    assert "gold/d was promoted from labels/d/old and keeps its labels" in outcome.err


def test_a_changed_scorer_is_told_and_moves_nothing(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """The stored mean is another than today's scorer gives: both sides are scored by today's."""
    path = project.data / "runs-labels-d-old/one_20261001T000000Z/metrics.json"
    path.write_text(path.read_text().replace('"correct": 1.0', '"correct": 0.5'))
    outcome = evh.ok("label-preview", "--dataset-id", "d", "--replace", "old", "--with", "new")
    assert (
        "one: correct against labels/d/old is stored as 0.5000 and is 1.0000 by the scorer now" in outcome.err
    )


def test_it_writes_nothing_and_refuses_what_cannot_be(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """One set twice, two tasks, no such set, another dataset's, one that no arm is scored against."""
    builder.labels("d", "grave", {"i1": "high"}, task="severity")
    builder.dataset("d0", {"x": "report 1"})
    builder.labels("d0", "far", {"x": "file"})
    before = tree_bytes(project.root)
    preview(evh)
    for code, replace, by in [
        ("same-set", "old", "d/old"),
        ("two-tasks", "old", "grave"),
        ("no-such-label-set", "old", "nowhere"),
        ("other-dataset", "old", "d0/far"),
        ("not-scored", "new", "old"),
    ]:
        evh.refused(code, "label-preview", "--dataset-id", "d", "--replace", replace, "--with", by)
    assert tree_bytes(project.root) == before
