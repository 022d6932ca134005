"""Ranking by a judge's metric, who is named: the leaderboard, a pair, a goal and its promotion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import binomtest

from evh.project import baselines, runs
from evh.project.find import Project
from tests.acts.judging import PICK, arms, judge_file, picks
from tests.conftest import CommandLine
from tests.helpers import Builder, correct
from tests.schema import check

ITEMS = tuple(f"i{number:02}" for number in range(20))
LABELS = dict.fromkeys(ITEMS[:19], "1") | {ITEMS[19]: "2"}
WON = "best/judge_won_unvalidated"


@pytest.fixture
def three(project: Project, evh: CommandLine) -> Project:
    """x, y and z on 20 items; a judge that picks x on 14, y on 4 and z on 2."""
    arms(project, {name: dict.fromkeys(ITEMS, name) for name in ("x", "y", "z")})
    judge_file(project, PICK, "best")
    won = ["x"] * 14 + ["y"] * 4 + ["z"] * 2
    picks(evh, project, list(zip(ITEMS, won, strict=True)))
    return project


def board(evh: CommandLine, *more: str) -> Any:
    """Return the leaderboard of ``d``."""
    return check(evh.ok("leaderboard", "--dataset-id", "d", *more, "--json").json, "leaderboard")


def test_arms_are_ranked_by_what_a_judge_gave(three: Project, evh: CommandLine) -> None:
    """0.7, 0.2 and 0.1: x wins 14 to 4 against y and 14 to 2 against z; twice its p, for three arms."""
    for more in ((), ("--metric", "best/judge_won"), ("--metric", WON)):
        found = board(evh, *more)
        assert (found["metric"], found["against"], found["leaders"]) == (WON, None, ["x"])
        assert [(one["arm"], one["value"], one["verdict"]) for one in found["arms"]] == [
            ("x", 0.7, "leader"),
            ("y", 0.2, "contender"),
            ("z", 0.1, "behind"),
        ]
        y, z = found["arms"][1:]
        assert y["p"] == pytest.approx(binomtest(4, 18).pvalue)
        assert z["p"] == pytest.approx(binomtest(2, 16).pvalue)
        assert z["p_corrected"] == pytest.approx(2 * binomtest(2, 16).pvalue)
        assert found["judge"] == {"scorer": "best", "by": "m", "by_kind": "model", "validated": False}
        assert {one["run"].rpartition("/")[0] for one in found["arms"]} == {"runs-judged/best"}
        assert "best (m) was not measured against people: unvalidated" in found["warnings"]
    told = evh.ok("leaderboard", "--dataset-id", "d").out
    assert f"d: {WON}, by the judge best (m), unvalidated" in told
    assert f"evh pair-test x y --dataset-id d --metric {WON}" in told
    evh.refused("no-such-metric", "leaderboard", "--dataset-id", "d", "--metric", "worst/judge_won")
    assert [one["a"] for one in board(evh, "--all-pairs")["pairs"]] == ["x", "x", "y"]


def test_the_sheet_says_the_same(three: Project, evh: CommandLine) -> None:
    """Verdict and p of its footer are the leaderboard's."""
    sheet = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    ranked = {one["arm"]: (one["verdict"], one["p_corrected"]) for one in board(evh)["arms"]}
    assert {one["arm"]: (one["verdict"], one["p_corrected"]) for one in sheet["footer"]} == ranked


def test_a_pair_is_tested_by_a_judge(three: Project, evh: CommandLine) -> None:
    """14 to 4 of 20, uncorrected; where an arm was not judged the command that judges both is named."""
    found = check(evh.ok("pair-test", "x", "y", "--dataset-id", "d", "--json").json, "pair-test")
    (test,) = found["tests"]
    assert (test["metric"], test["n"], test["n_better"]) == (WON, 20, [14, 4])
    assert test["p"] == pytest.approx(binomtest(4, 18).pvalue)
    assert test["judge"]["scorer"] == "best"
    Builder(three).run("w", "d", dict.fromkeys(ITEMS, "w"))
    refused = evh.refused(
        "not-scored", "pair-test", "x", "w", "--dataset-id", "d", "--metric", "best/judge_won"
    ).json["refused"]
    assert refused["why"] == [f"w: has no {WON}"]
    assert refused["next"] == "evh judge --scorer best --dataset-id d --runs x,w"
    assert any(note == f"w: no {WON}, so not ranked" for note in board(evh)["warnings"])


def test_a_runs_own_metric_goes_before_a_judges(project: Project, evh: CommandLine) -> None:
    """Where labels scored the arms the judge is taken only where it is named; a set it goes by is none."""
    outputs = {"x": dict.fromkeys(ITEMS, "1"), "y": dict.fromkeys(ITEMS, "2")}
    made = arms(project, outputs)
    made.labels("d", "owner", LABELS)
    for run in runs.read_all(project):
        said = outputs[run.config_id]
        made.rescored(run, said, correct(said, LABELS), against="labels/d/owner")
    judge_file(project, PICK, "best")
    picks(evh, project, [(item, "y") for item in ITEMS])
    assert (board(evh)["metric"], board(evh)["judge"]) == ("correct", None)
    judged = board(evh, "--metric", "best/judge_won")
    assert (judged["metric"], judged["against"], judged["leaders"]) == (WON, None, ["y"])
    (project.data / "goals").mkdir()
    goal = "datasets: [d]\nmetric: best/judge_won\nagainst: labels/d/owner\nmin_effect: 0.1\n"
    (project.data / "goals" / "g.yaml").write_text(goal)
    found = board(evh, "--goal", "g")
    assert (found["metric"], found["leaders"], found["rules"]["goal"]) == (WON, ["y"], "g")
    assert board(evh)["metric"] == WON  # the one goal on the dataset says so


def test_grades_are_ranked_where_they_are_named(project: Project, evh: CommandLine) -> None:
    """A grading judge compares no arms: nothing is ranked by default, and the refusal names its metric."""
    arms(project, {"x": dict.fromkeys(ITEMS, "1"), "y": dict.fromkeys(ITEMS, "2")})
    judge_file(project, "kind: grade\njudges: [m]\n", "g")
    path = project.root / "grades.csv"
    rows = [f"{item},{arm},{grade}" for item in ITEMS for arm, grade in (("x", 2), ("y", 5))]
    path.write_text("item_id,arm,verdict\n" + "\n".join(rows) + "\n")
    evh.ok("judge", "--scorer", "g", "--dataset-id", "d", "--from-file", path)
    refused = evh.refused("not-scored", "leaderboard", "--dataset-id", "d").json["refused"]
    name = "g/judge_score_unvalidated"
    assert refused["why"] == [
        f"{arm}: has no score but a judge's, which are taken where one is named: {name}" for arm in ("x", "y")
    ]
    assert refused["next"].startswith(f"evh leaderboard --dataset-id d --metric {name}; or evh rescore")
    found = board(evh, "--metric", "g/judge_score")
    assert [(one["arm"], one["value"], one["verdict"]) for one in found["arms"]] == [
        ("y", 5.0, "leader"),
        ("x", 2.0, "behind"),
    ]


def test_a_goal_goes_by_a_judge_and_its_run_is_promoted(three: Project, evh: CommandLine) -> None:
    """The group, its finalist, and the measured run with the judge's figure as the baseline."""
    key = "runs/x_20261001T000000Z"
    (three.data / "goals").mkdir()
    path = three.data / "goals" / "g.yaml"
    for text in ("datasets: [d]\nmetric: best/judge_won\n", "datasets: [d]\n"):
        path.write_text(text)
        (goal,) = check(evh.ok("goals", "--goal", "g", "--json").json, "goals")["goals"]
        (group,) = goal["groups"]
        assert (group["metric"], group["judge"]["scorer"], group["leaders"]) == (WON, "best", ["x"])
        assert (group["finalist"]["arm"], group["finalist"]["reason"]) == (
            "x",
            f"it leads by {WON}; not told apart from y",
        )
        assert f"evh promote --run {key} --goal g --reason REASON" in evh.ok("goals").out
    for text in ("datasets: [d]\n", "datasets: [d]\nmetric: best/judge_won\n"):
        path.write_text(text)
        evh.ok("promote", "--run", "x_20261001T000000Z", "--goal", "g", "--reason", "the judge prefers it")
        made = baselines.of_goal(three, "g")
        assert made is not None
        assert (made.promoted_from, made.scores, made.reference_id) == (key, {WON: 0.7}, None)
    judged = ("promote", "--run", "runs-judged/best/x_20261001T000000Z", "--goal", "g", "--reason", "x")
    evh.refused("judged-run", *judged)
    path.write_text("datasets: [d]\nmetric: other/judge_won\n")
    words = ("promote", "--run", "x_20261001T000000Z", "--goal", "g", "--reason", "x")
    (why,) = evh.refused("other-metric", *words).json["refused"]["why"]
    assert why == f"{key}: the goal goes by other/judge_won, and no judged run of it has that"
    assert evh.ok("validate").out.count("0 findings") == 1


def test_what_judging_took_is_no_cost_of_the_arm(three: Project, evh: CommandLine) -> None:
    """A judged run's rows carry no cost; the arm's own does: the cheapest is found by it."""
    for run in runs.read_all(three):
        if run.judged is None:
            cost = {"x": 0.03, "y": 0.01, "z": 0.02}[run.config_id]
            rows = [replace(row, cost_usd=cost) for row in runs.predictions(three, run)]
            runs.write_scored(three, run, rows)
    (three.data / "goals").mkdir()
    text = "datasets: [d]\nmetric: best/judge_won\nstrategy: cheapest-contender\n"
    (three.data / "goals" / "g.yaml").write_text(text)
    (group,) = evh.ok("goals", "--goal", "g", "--json").json["goals"][0]["groups"]
    assert {one["arm"]: one["cost_usd_per_item"] for one in group["arms"]} == {
        "x": pytest.approx(0.03),
        "y": pytest.approx(0.01),
        "z": pytest.approx(0.02),
    }
    assert group["finalist"]["arm"] == "y"
