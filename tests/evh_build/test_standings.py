"""The groups of a goal's and a dataset's page: all pairs, trials, the reason of a word, a judge, repeats."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.project.find import Project
from tests.acts import deciding
from tests.acts.deciding import AGAINST, ITEMS, LABELS, put, write, wrong_on
from tests.acts.judging import PICK, arms, judge_file, picks
from tests.conftest import CommandLine
from tests.evh_build.pages_of import build, commands, words
from tests.evh_build.projects import decided
from tests.helpers import Builder, correct


@pytest.fixture
def labelled(project: Project) -> Builder:
    """A dataset of 40 items that a person labelled, and a goal on it."""
    made = deciding.labelled(project)
    write(project, "metric: correct\n")
    return made


def both(out: Path, goal: str = "g") -> tuple[str, str]:
    """Return the words of the goal's page and of the dataset's."""
    return words(out / f"goals/{goal}/index.html"), words(out / "datasets/d/index.html")


def test_all_pairs_are_folded_under_the_forest(project: Project) -> None:
    """Six pairs of four arms: far lost to each, by 10, 9 and 9 items: Holm makes 0.0117, 0.0195 twice."""
    out = build(decided(project))
    for text in both(out, "answers"):
        assert "All 6 pairs, 3 told apart" in text
        assert "correction: Holm over 6 pairs" in text
        assert "best far 0.833" in text
        assert "0.0117 alone 0.0020 12" in text
        assert text.count("0.0195 alone 0.0039") == 2
        assert "near production 0.000" in text
    line = "evh leaderboard --dataset-id d --metric correct --against gold/ann --goal answers --all-pairs"
    for page in ("goals/answers/index.html", "datasets/d/index.html"):
        assert line in (out / page).read_text()
    assert 'href="../../compare/d/best/far/index.html"' in (out / "datasets/d/index.html").read_text()
    assert "All 6 pairs" not in words(out / "index.html")  # the home page has the groups without them


def test_two_arms_and_thirteen_have_no_table_of_pairs(labelled: Builder, project: Project) -> None:
    """One pair is in the ranking already; of many arms the terminal tells."""
    put(labelled, "a00", wrong_on())
    put(labelled, "a01", wrong_on(0))
    assert all("told apart Arm" not in text and "All 1 pair" not in text for text in both(build(project)))
    for at in range(2, 13):
        put(labelled, f"a{at:02}", wrong_on(*range(at)))
    assert all(" pairs, " not in text for text in both(build(project)))


def test_a_trial_is_marked_and_stands_last(labelled: Builder, project: Project) -> None:
    """Right on the first 20 of 40 by a run with a limit: no verdict, and the pages say so."""
    said = {item: LABELS[item] for item in ITEMS[:20]}
    scores = correct(said, LABELS)
    labelled.run("trial", "d", said, scores=scores, against=AGAINST, extra={"limit": 20})
    put(labelled, "a", wrong_on(0))
    put(labelled, "b", wrong_on(*range(10)))
    for text in both(build(project)):
        assert "trial trial, 20 of 40 1.000" in text
        assert text.index("trial, 20 of 40") > text.index("behind")
        assert "none: there are two arms" in text


def test_why_an_arm_is_a_contender_stands_beside_the_word(labelled: Builder, project: Project) -> None:
    """0.150 behind with p 0.031, where the goal asks for 0.9: on both pages, and no "would show"."""
    put(labelled, "a", wrong_on())
    put(labelled, "b", wrong_on(*range(6)))
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\nmetric: correct\nmin_effect: 0.9\n")
    for text in both(build(project)):
        assert "contender 0.150 behind, p 0.031, less than the 0.9 that the goal asks for" in text
        assert "would show" not in text


def test_repeats_have_the_leaderboards_figure(labelled: Builder, project: Project, evh: CommandLine) -> None:
    """Two runs of 38 and 34 of 40: 0.900 on the dataset's page, as on the terminal and the goal's."""
    for at, wrong in (("20261001T000000Z", 2), ("20261001T000001Z", 6)):
        put(labelled, "twice", wrong_on(*range(wrong)), at=at, repeat_group="twice_1")
    put(labelled, "once", wrong_on(*range(10)))
    ranked = {
        one["arm"]: one["value"] for one in evh.ok("leaderboard", "--dataset-id", "d", "--json").json["arms"]
    }
    assert ranked["twice"] == pytest.approx(0.9)
    for text in both(build(project)):
        assert "twice 0.900" in text.replace("finalist ", "")
        assert "0.850 " not in text.replace("0.850 to", "")


def test_a_judges_ranking_is_shown_where_nothing_else_scored(project: Project, evh: CommandLine) -> None:
    """x has 14 of 20 rows, y 4, z 2: the dataset's page and the goal's rank them and name the judge."""
    names = [f"i{number:02}" for number in range(20)]
    arms(project, {name: dict.fromkeys(names, name) for name in ("x", "y", "z")})
    judge_file(project, PICK, "best")
    picks(evh, project, list(zip(names, ["x"] * 14 + ["y"] * 4 + ["z"] * 2, strict=True)))
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\nmetric: best/judge_won\n")
    out = build(project)
    for text in both(out):
        assert "By the judge best unvalidated" in text
        assert "x 0.700" in text.replace("finalist ", "")
        assert "All 3 pairs" in text
    goal = out / "goals/g/index.html"
    assert "Suggested finalist: x" in words(goal)
    assert "evh promote --run runs/x_20261001T000000Z --goal g --reason REASON" in commands(goal)
    assert 'href="../../judges/best/index.html"' in goal.read_text()
