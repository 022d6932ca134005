"""``label-plan``: how many more labels separate two arms, counted by hand, and which items come first."""

from __future__ import annotations

from typing import Any

import pytest

from evh.acts import label_plan
from evh.project import goals
from evh.project.find import Project
from tests.acts import judging
from tests.conftest import CommandLine
from tests.helpers import Builder, correct, tree_bytes
from tests.schema import check

ITEMS = [f"i{n:02}" for n in range(1, 41)]
LABELLED = ITEMS[:20]
FIRST = dict.fromkeys(ITEMS, "yes")
SECOND = {**FIRST, **dict.fromkeys([*ITEMS[:5], *ITEMS[20:30]], "no")}
LABELS = {**dict.fromkeys(LABELLED, "yes"), "i05": "no"}


@pytest.fixture
def builder(project: Project) -> Builder:
    """40 items, 20 labelled, two arms that differ on 5 of those and on 10 others.

    Of the 5, the first arm (always yes) is right on i01 to i04 and the second on i05.
    """
    made = Builder(project)
    made.dataset("d", {key: f"text {key}" for key in ITEMS}, task="triage")
    made.labels("d", "ann", LABELS)
    for name, decisions in (("one", FIRST), ("two", SECOND)):
        run = made.run(name, "d", decisions)
        made.rescored(run, decisions, correct(decisions, LABELS), against="labels/d/ann")
    return made


def planned(evh: CommandLine, *words: str) -> Any:
    """Return the plan's row of the document."""
    outcome = evh.ok("label-plan", "--dataset-id", "d", "--runs", "one,two", "--json", *words)
    return check(outcome.json, "label-plan")["plans"][0]


def test_the_numbers_are_those_counted_by_hand(project: Project, builder: Builder, evh: CommandLine) -> None:
    """20 scored for both, 5 differ, 4 better by the first: share 1/4, mean 3/20, mean of the non-zero 3/5.

    With those the least number that has 80 % power by exact sums is 92 (tests/measure/test_power.py), so 72
    more; of items that differ 92 / 4 = 23 are needed, 18 more, as every such label so far told the two apart.
    """
    row = planned(evh)
    assert row["seen"] == {
        "n": 20,
        "nonzero": 5,
        "positive": 4,
        "share": 0.25,
        "mean": 0.15,
        "mean_nonzero": 0.6,
    }
    assert [row[key] for key in ("needed", "more", "more_differ", "n_differ", "n_open")] == [
        92,
        72,
        18,
        15,
        10,
    ]
    assert (row["metric"], row["against"], row["alpha"], row["power"]) == (
        "correct",
        "labels/d/ann",
        0.05,
        0.8,
    )
    assert row["task"] == "triage"
    assert 0.3 < row["power_if_all"] < 0.8  # 15 of the 23 differences that it takes


def test_the_items_on_which_the_arms_differ_come_first(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """The 10 open ones that differ, then the other 10, each in the dataset's order; labelled ones are out."""
    items = planned(evh)["items"]
    assert [one["item_id"] for one in items] == ITEMS[20:]
    assert [one["differ"] for one in items] == [True] * 10 + [False] * 10
    assert items[0]["decisions"] == ["yes", "no"]


def test_unlabelled_items_come_before_labelled_ones_and_new_ones_first(project: Project) -> None:
    """Among those that differ: no set of the task labels it, then a value that the governed dataset lacks."""
    builder = Builder(project)
    fields = {"a": {"kind": "old"}, "b": {"kind": "old"}, "c": {"kind": "new"}, "e": {"kind": "new"}}
    builder.dataset("gold", {"x": "x"}, fields={"x": {"kind": "old"}}, governed=True)
    builder.dataset("d", {key: f"text {key}" for key in "abcef"}, fields=fields)
    builder.labels("d", "other", {"a": "yes"})
    builder.labels("d", "grave", {"b": "high"}, task="severity")
    builder.labels("d", "ann", {"f": "yes"})
    run = builder.run("one", "d", dict.fromkeys("abcef", "yes"))
    builder.rescored(run, dict.fromkeys("abcef", "yes"), {"f": {"correct": 1.0}}, against="labels/d/ann")
    two = {**dict.fromkeys("abc", "no"), "e": "yes", "f": "no"}
    run = builder.run("two", "d", two)
    builder.rescored(run, two, {"f": {"correct": 0.0}}, against="labels/d/ann")
    found = label_plan.plan(project, "d", ["one", "two"])
    assert [(one.item_id, one.differ, one.unlabelled, one.new) for one in found.first] == [
        ("c", True, True, ("kind",)),
        ("b", True, True, ()),
        ("a", True, False, ()),
        ("e", False, True, ("kind",)),
    ]


def test_the_plan_ends_with_the_sheet_of_those_items(builder: Builder, evh: CommandLine) -> None:
    """18 of the 20 that can be labelled, as --item words with the task; the numbers stand above."""
    out = evh.ok("label-plan", "--dataset-id", "d", "--runs", "one,two").out
    assert "they differ on 5 (25.0%): 4 better by one, 1 by two; mean difference +0.1500" in out
    assert "92 items in all, 72 more drawn as these were" in out
    assert "about 18 more; 10 of 15 such items are not scored yet" in out
    command = out.rstrip().rpartition("\n")[2].strip()
    assert command.startswith("evh label-sheet --dataset-id d --out d.csv --item i21 --item i22")
    assert command.count("--item ") == 18
    assert command.endswith("--task triage")


def test_many_items_go_through_a_file(project: Project, evh: CommandLine) -> None:
    """Over 20 items the next step writes their ids to a file, and ``--ids`` prints them, one a line."""
    builder = Builder(project)
    items = [f"i{n}" for n in range(80)]
    builder.dataset("d", {key: f"text {key}" for key in items})
    labels = dict.fromkeys(items[:10], "yes")
    builder.labels("d", "ann", labels)
    for name, odd in (("one", items[:1]), ("two", items[1:4])):
        decisions = {**dict.fromkeys(items, "yes"), **dict.fromkeys(odd, "no")}
        run = builder.run(name, "d", decisions)
        builder.rescored(run, decisions, correct(decisions, labels), against="labels/d/ann")
    out = evh.ok("label-plan", "--dataset-id", "d", "--runs", "one,two").out
    assert "--ids --limit" in out
    assert "--items-from first.txt" in out
    ids = evh.ok("label-plan", "--dataset-id", "d", "--runs", "one,two", "--ids", "--limit", "3").out
    assert ids.splitlines() == ["i10", "i11", "i12"]


def test_the_goals_level_is_taken(project: Project, builder: Builder, evh: CommandLine) -> None:
    """A goal on this dataset says 0.01, ``--alpha`` stands over it; of two goals the stricter counts."""
    place = project.data / "goals"
    place.mkdir()
    (place / "g.yaml").write_text("goal_id: keep\ndatasets: [d]\nalpha: 0.01\n")
    (place / "h.yaml").write_text("goal_id: other\ndatasets: [elsewhere]\nalpha: 0.001\n")
    strict = planned(evh)
    assert (strict["alpha"], strict["goal"]) == (0.01, "keep")
    assert strict["needed"] > 92
    named = planned(evh, "--alpha", "0.05")
    assert (named["alpha"], named["goal"], named["needed"]) == (0.05, None, 92)
    (place / "i.yml").write_text("goal_id: looser\ndatasets: d\nalpha: 0.1\n")
    assert goals.levels(project, "d") == {"keep": 0.01, "looser": 0.1}
    found = label_plan.plan(project, "d", ["one", "two"])
    assert (found.alpha, found.goal) == (0.01, "keep")
    assert any("several levels (keep 0.01, looser 0.1)" in note for note in found.notes)


def test_arms_that_were_never_scored_get_an_order_and_no_number(project: Project, evh: CommandLine) -> None:
    """Nothing to go by: the items on which they differ come first all the same."""
    builder = Builder(project)
    builder.dataset("d", {"a": "a", "b": "b"})
    builder.run("one", "d", {"a": "yes", "b": "yes"})
    builder.run("two", "d", {"a": "yes", "b": "no"})
    row = planned(evh)
    assert (row["needed"], row["more_differ"], row["seen"]["n"], row["seen"]["mean"]) == (None, None, 0, None)
    assert [one["item_id"] for one in row["items"]] == ["b", "a"]
    outcome = evh.ok("label-plan", "--dataset-id", "d", "--runs", "one,two")
    assert "no item was scored for both arms yet" in outcome.err
    assert "--item b --item a" in outcome.out


def test_what_cannot_be_planned_is_said(project: Project, evh: CommandLine) -> None:
    """Alike on all; cancelling out; own labels; each with no number and the reason."""
    builder = Builder(project)
    builder.dataset("d", {"a": "a", "b": "b", "c": "c"})
    labels = {"a": "yes", "b": "yes"}
    builder.labels("d", "ann", labels)
    source = {"kind": "model", "config_id": "two", "run_id": "two_20261001T000000Z"}
    builder.labels("d", "own", labels, source=source)
    for name, decisions in (("one", {"a": "yes", "b": "no"}), ("two", {"a": "no", "b": "yes"})):
        run = builder.run(name, "d", decisions)
        for ref in ("ann", "own"):
            builder.rescored(run, decisions, correct(decisions, labels), against=f"labels/d/{ref}")
    found = label_plan.plan(project, "d", ["one", "two"], against="ann")
    assert (found.seen.nonzero, found.needed) == (2, None)
    assert any("cancel out" in note for note in found.notes)
    own = label_plan.plan(project, "d", ["one", "two"], against="own")
    assert (own.seen.n, own.needed) == (0, None)
    assert any("labels of its own making" in note for note in own.notes)


def test_a_task_of_its_own_is_handed_on(project: Project, evh: CommandLine) -> None:
    """Scores against labels of another task plan labels of that task: only its sets count as labelled."""
    builder = Builder(project)
    builder.dataset("d", {"a": "a", "b": "b"}, task="triage")
    builder.labels("d", "grave", {"a": "high"}, task="severity")
    builder.labels("d", "ann", {"b": "file"})
    for name, said in (("one", "high"), ("two", "low")):
        run = builder.run(name, "d", {"a": said, "b": said})
        builder.rescored(
            run, {"a": said, "b": said}, {"a": {"correct": float(said == "high")}}, against="labels/d/grave"
        )
    row = planned(evh)
    assert row["task"] == "severity"
    assert [(one["item_id"], one["unlabelled"]) for one in row["items"]] == [("b", True)]


def test_it_writes_nothing_and_refuses_what_is_no_pair(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """One arm, three arms, an arm that did not run, a level that is none."""
    before = tree_bytes(project.root)
    for runs in ("one", "one,one", "one,two,three"):
        evh.refused("two-arms", "label-plan", "--dataset-id", "d", "--runs", runs)
    evh.refused("unknown-arm", "label-plan", "--dataset-id", "d", "--runs", "one,nobody")
    evh.refused("no-such-dataset", "label-plan", "--dataset-id", "x", "--runs", "one,two")
    evh.refused("bad-options", "label-plan", "--dataset-id", "d", "--runs", "one,two", "--alpha", "0.9")
    evh.ok("label-plan", "--dataset-id", "d", "--runs", "one,two")
    assert tree_bytes(project.root) == before


def test_a_judges_metric_is_refused(project: Project, evh: CommandLine) -> None:
    """No label moves it, by default or named; the way out is a first batch, then what labels decide."""
    arms = judging.arms(project, {name: dict.fromkeys(ITEMS[:20], name) for name in ("x", "y")})
    judging.judge_file(project, judging.PICK, "best")
    judging.picks(evh, project, list(zip(ITEMS[:20], ["x"] * 14 + ["y"] * 6, strict=True)))
    words = ["label-plan", "--dataset-id", "d", "--runs", "x,y"]
    refused = evh.refused("judges-metric", *words).json["refused"]
    assert refused["why"] == [
        "best/judge_won_unvalidated: the arms here are compared by it, and a judge gave it",
        "x and y: they share no score that labels decide",
    ]
    assert refused["next"] == (
        "evh label-sheet --dataset-id d --out d.csv --items disagree --runs x,y; what the judge's items "
        "could show: evh pair-test x y --dataset-id d --metric best/judge_won_unvalidated"
    )
    evh.ok(*refused["next"].partition("; ")[0].split()[1:], "--dry-run")
    labels = dict.fromkeys(ITEMS[:10], "x")
    arms.labels("d", "ann", labels)
    evh.ok("rescore", "--dataset-id", "d", "--labels", "d/ann")
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\nmetric: best/judge_won\n")
    refused = evh.refused("judges-metric", *words, "--metric", "best/judge_won").json["refused"]
    assert refused["why"][1].startswith("x and y: both were scored by correct")
    again = refused["next"].partition("; ")[0]
    assert again == "evh label-plan --dataset-id d --runs x,y --metric correct"
    assert evh.ok(*again.split()[1:], "--json").json["plans"][0]["seen"]["n"] == 10
