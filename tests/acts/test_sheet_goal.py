"""The sheet goes by a goal: its metric, its set and its rules; and by a folder of runs that is named."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from evh.acts.sheet import build_sheet
from evh.errors import Refusal
from evh.project.find import Project
from tests.acts.sheets import DECISIONS, fill, hand_counted
from tests.conftest import CommandLine
from tests.helpers import Builder, correct

WORDS = ("inspect", "--sheet", "--dataset-id", "d")


@pytest.fixture
def built(project: Project) -> Builder:
    """The project of the hand count, and a second set that a and b were scored against too."""
    made = hand_counted(project)
    made.labels("d", "other", {"one": "no", "four": "no"})
    other = {"one": "no", "four": "no"}
    for name in ("arm_a", "arm_b"):
        run = next(arm.run for arm in build_sheet(project, "d").arms if arm.name == name)
        made.rescored(run, DECISIONS[name], correct(DECISIONS[name], other), against="labels/d/other")
    return made


def goal(project: Project, name: str, text: str = "", *, datasets: str = "[d]") -> None:
    """Write a goal's YAML."""
    path = project.data / "goals" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"question: Which?\ndatasets: {datasets}\n{text}", encoding="utf-8")


def test_the_only_goal_that_names_the_dataset_chooses_metric_and_set(built: Builder) -> None:
    """Without it truth is taken, which three arms have; the goal goes by the other set."""
    before = build_sheet(built.project, "d")
    assert (before.goal, before.against and before.against.ref) == (None, "labels/d/truth")
    goal(built.project, "g", "metric: correct\nagainst: labels/d/other\n")
    sheet = build_sheet(built.project, "d")
    assert (sheet.goal, sheet.metric) == ("g", "correct")
    assert sheet.against is not None
    assert sheet.against.ref == "labels/d/other"
    named = build_sheet(built.project, "d", against="truth")
    assert named.against is not None
    assert named.against.ref == "labels/d/truth"


def test_of_several_goals_none_is_taken_until_one_is_named(built: Builder, evh: CommandLine) -> None:
    """--goal chooses; its level is that of the verdicts."""
    goal(built.project, "g", "metric: correct\nalpha: 0.2\n")
    goal(built.project, "h", "metric: correct\nalpha: 0.1\n")
    assert build_sheet(built.project, "d").goal is None
    document = evh.ok(*WORDS, "--goal", "g", "--json").json
    assert document["goal"] == "g"
    assert "at level 0.2 (goal g)" in document["judged_by"]


def test_what_a_goal_wants_and_no_arm_has_is_told_or_refused(built: Builder) -> None:
    """An unnamed goal's metric is passed over with a note; a named goal's is refused, as --metric is."""
    goal(built.project, "g", "metric: f7\nagainst: gold/x\n")
    sheet = build_sheet(built.project, "d")
    assert sheet.metric == "correct"
    assert "the goal g goes by f7, which no arm here has" in sheet.notes
    assert "the goal g goes by gold/x, which no arm here was scored against" in sheet.notes
    with pytest.raises(Refusal) as refused:
        build_sheet(built.project, "d", goal="g")
    assert refused.value.code == "no-such-metric"


def test_a_goal_of_other_datasets_is_refused(built: Builder, evh: CommandLine) -> None:
    """And so is one that is not there."""
    goal(built.project, "g", datasets="[elsewhere]")
    evh.refused("other-dataset", *WORDS, "--goal", "g")
    evh.refused("no-such-goal", *WORDS, "--goal", "nothing")


def test_from_shows_the_scores_of_one_folder_alone(built: Builder, evh: CommandLine) -> None:
    """By name, or by path: the runs scored against the other set; outputs stay those of the runs."""
    for place in ("runs-labels-d-other", str(built.project.data / "runs-labels-d-other")):
        document = evh.ok(*WORDS, "--from", place, "--json").json
        assert [one["name"] for one in document["arms"]] == ["arm_a", "arm_b"]
        assert {score["against"] for one in document["arms"] for score in one["scores"]} == {"labels/d/other"}
        assert document["rows"][0]["arms"][0]["output"] is not None


def test_from_reads_runs_that_lie_elsewhere(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """A folder outside stands for data/runs; one without runs is refused, and none is judged in a sheet."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (built.project.data / "runs").rename(elsewhere / "runs")
    document = evh.ok(*WORDS, "--from", elsewhere, "--json").json
    assert [one["name"] for one in document["arms"]] == ["production", "arm_a", "arm_b"]
    evh.refused("no-runs", *WORDS, "--from", tmp_path / "nothing")
    evh.refused("bad-options", *WORDS, "--from", elsewhere, "--csv", tmp_path / "s.csv", "--fill", "pick")


def test_where_only_a_judge_has_scored_the_judge_draws_the_winner(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """No set, no metric: one column winner, and it is the judge's."""
    made = Builder(project)
    made.dataset("d", {"i": "1", "j": "2"})
    made.run("arm_a", "d", {"i": "x", "j": "x"})
    made.run("arm_b", "d", {"i": "y", "j": "y"})
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--csv", out, "--fill", "scores", "--fill", "pick")
    text = out.read_text(encoding="utf-8-sig").replace("i,1,x,y,,,", "i,1,x,y,A,,")
    text = text.replace("i,1,y,x,,,", "i,1,y,x,B,,")
    out.write_text(text, encoding="utf-8-sig")
    evh.ok("sheet-import", out, "--dataset-id", "d", "--by", "ann", "--scorer", "ann")
    shown = evh.ok(*WORDS)
    assert "winner by ann/judge_won_unvalidated" in shown.out
    document = evh.ok(*WORDS, "--json").json
    assert [row["winners"] for row in document["rows"]] == [["arm_a"], []]
    assert [line["win_rate"] for line in document["footer"]] == [1.0, 0.0]


def test_a_goal_s_set_does_not_stand_in_the_way_of_a_judge_s_metric(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A judge's metric goes by no set: the command that the import prints as next works, with a goal too."""
    goal(built.project, "g", "metric: correct\nagainst: labels/d/other\n")
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--runs", "arm_a,arm_b", "--csv", out, "--fill", "pick")
    fill(out, {"one": {"pick": "A"}, "two": {"pick": "B"}})
    told = evh.ok("sheet-import", out, "--dataset-id", "d", "--by", "ann", "--scorer", "gr").out
    step = next(line.strip() for line in told.splitlines() if line.strip().startswith("evh inspect --sheet"))
    assert "--metric gr/judge_won_unvalidated" in step
    document = evh.ok(*shlex.split(step)[1:], "--json").json
    assert (document["row_metric"], document["against"]) == ("gr/judge_won_unvalidated", None)
    assert sum(bool(row["winners"]) for row in document["rows"]) == 2
    assert not any("goes by labels/d/other" in note for note in document["warnings"])
    evh.ok(*WORDS, "--metric", "gr/judge_won", "--goal", "g")
