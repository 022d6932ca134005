"""Judges that vote, pick, grade and are asked again: what their verdicts come to."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from evh.project import runs
from evh.project.find import Project
from tests.acts.judging import (
    PAIRWISE,
    answers_of,
    arms,
    good,
    judge,
    judge_file,
    judged_run,
    model,
    prefers,
    prompt_of,
    says,
    scores,
    two_arms,
)
from tests.conftest import CommandLine
from tests.servers import replies
from tests.servers.scripted import Play, Request, Scripted


def test_several_judges_vote_and_their_disagreement_is_shown(project: Project, evh: CommandLine) -> None:
    """Two judges prefer good, one bad: good wins 2 to 1; they part on all 12; each judge's say is kept."""
    builder = two_arms(project)
    judge_file(project, "kind: pairwise\njudges: [m, n, o]\n")
    bad = prefers(lambda text: text.startswith("bad"))
    with Scripted(lambda request: bad(request) if request.body["model"] == "o" else good(request)) as server:
        for name in ("m", "n", "o"):
            model(builder, server.base_url, name)
        told = judge(evh)
        assert len(server.requests) == 72
    assert scores(project)["arm_a"]["i00"] == {"judge_won_unvalidated": 1.0}
    apart = told["measured"]["disagreement"]
    assert (apart["questions"], apart["split"], apart["share"]) == (12, 12, 1.0)
    assert [(one["one"], one["other"], one["same"]) for one in apart["pairs"]] == [
        ("m", "n", 12),
        ("m", "o", 0),
        ("n", "o", 0),
    ]
    row = runs.predictions(project, judged_run(project))[0]
    assert row.hidden["_judges"] == {"m": 1.0, "n": 1.0, "o": 0.0}


def test_the_mean_of_judges_keeps_how_much(project: Project, evh: CommandLine) -> None:
    """``combine: mean``: the same votes give two thirds and one third."""
    builder = two_arms(project, ("i00",))
    judge_file(project, "kind: pairwise\njudges: [m, n, o]\ncombine: mean\n")
    bad = prefers(lambda text: text.startswith("bad"))
    with Scripted(lambda request: bad(request) if request.body["model"] == "o" else good(request)) as server:
        for name in ("m", "n", "o"):
            model(builder, server.base_url, name)
        judge(evh)
    assert scores(project)["arm_a"]["i00"]["judge_won_unvalidated"] == pytest.approx(2 / 3)
    assert scores(project)["arm_b"]["i00"]["judge_won_unvalidated"] == pytest.approx(1 / 3)


def test_three_arms_are_paired_each_with_each(project: Project, evh: CommandLine) -> None:
    """Shares of a row sum to 1: who wins 2 of 3 pairs has two thirds, who wins 1 a third, who wins none 0."""
    builder = arms(project, {"best": {"i": "3"}, "mid": {"i": "2"}, "worst": {"i": "1"}})
    judge_file(project, PAIRWISE)

    def play(request: Request) -> Play:
        shown = [int(text) for text in answers_of(request)]
        return says("A" if shown[0] > shown[1] else "B")

    with Scripted(play) as server:
        model(builder, server.base_url)
        judge(evh)
        assert len(server.requests) == 6
    won = {arm: rows["i"]["judge_won_unvalidated"] for arm, rows in scores(project).items()}
    assert won == pytest.approx({"best": 2 / 3, "mid": 1 / 3, "worst": 0})


def test_a_pick_is_shown_under_shuffled_letters(project: Project, evh: CommandLine) -> None:
    """Over 40 items each of three arms stands first sometimes; the pick goes to the arm, not the letter."""
    items = [f"i{number:02}" for number in range(40)]
    builder = arms(
        project,
        {
            name: {item: f"{word} {item}" for item in items}
            for name, word in (("x", "good"), ("y", "bad"), ("z", "ugly"))
        },
    )
    judge_file(project, "kind: pick\njudges: [m]\n")
    with Scripted(good) as server:
        model(builder, server.base_url)
        told = judge(evh)
        firsts = Counter(answers_of(one)[0].split()[0] for one in server.requests)
        assert len(server.requests) == 40
    # Under a fair shuffle an arm stands first on fewer than 3 of 40 once in 15,000 draws.
    assert set(firsts) == {"good", "bad", "ugly"}
    assert min(firsts.values()) >= 3
    assert {row["judge_won_unvalidated"] for row in scores(project)["x"].values()} == {1.0}
    assert {row["judge_won_unvalidated"] for row in scores(project)["z"].values()} == {0.0}
    places = told["measured"]["judges"]["m"]["places"]
    assert sum(one["picked"] for one in places) == 40
    assert [one["expected"] for one in places] == pytest.approx([1 / 3] * 3)


def test_a_pick_of_several_is_shared(project: Project, evh: CommandLine) -> None:
    """Two of three are equally the best: half a win each; arms with equal outputs share a letter's win."""
    builder = arms(
        project,
        {"x": {"i": "good 1", "j": "good"}, "y": {"i": "good 2", "j": "good"}, "z": {"i": "bad", "j": "bad"}},
    )
    judge_file(project, "kind: pick\njudges: [m]\n")
    with Scripted(good) as server:
        model(builder, server.base_url)
        judge(evh)
        assert sorted(len(answers_of(one)) for one in server.requests) == [2, 3]
    won = {
        arm: {item: row["judge_won_unvalidated"] for item, row in rows.items()}
        for arm, rows in scores(project).items()
    }
    assert won == {"x": {"i": 0.5, "j": 0.5}, "y": {"i": 0.5, "j": 0.5}, "z": {"i": 0.0, "j": 0.0}}


def test_grades_are_given_each_output_alone(project: Project, evh: CommandLine) -> None:
    """A grade on each dimension; ``judge_score`` is their mean; equal outputs are graded once."""
    builder = arms(project, {"x": {"i": "long text", "j": "same"}, "y": {"i": "short", "j": "same"}})
    judge_file(project, "kind: grade\nscale: 1..10\ndimensions: [clear, right]\njudges: [m]\n")

    def play(request: Request) -> Play:
        (shown,) = answers_of(request)
        grades = {"clear": len(shown), "right": 10}
        return replies.fine(json.dumps({"why": "x", "scores": grades}))

    with Scripted(play) as server:
        model(builder, server.base_url)
        told = judge(evh)
        assert len(server.requests) == 3
    assert scores(project)["x"]["i"] == {
        "judge_score_unvalidated": 9.5,
        "judge_score_clear_unvalidated": 9,
        "judge_score_right_unvalidated": 10,
    }
    assert scores(project)["y"]["j"]["judge_score_unvalidated"] == 7
    assert {run["config_id"]: run["value"] for run in told["runs"]} == {"x": 8.25, "y": 7.25}


def test_a_grade_of_an_arm_that_failed_is_none(project: Project, evh: CommandLine) -> None:
    """The other arm's output is graded all the same."""
    builder = arms(project, {"x": {"i": "text"}, "y": {"i": None}})
    judge_file(project, "kind: grade\njudges: [m]\n")
    with Scripted([replies.fine('{"score": 4}')]) as server:
        model(builder, server.base_url)
        judge(evh)
    assert scores(project)["x"]["i"] == {"judge_score_unvalidated": 4}
    row = runs.predictions(project, judged_run(project, "y"))[0]
    assert row.error == "not judged: the arm has no output here"


def test_repeats_measure_the_judges_own_noise(project: Project, evh: CommandLine) -> None:
    """Asked twice with seeds 7 and 8, the judge changes 2 of 4 verdicts on one pair in one order."""
    builder = two_arms(project, ("i00", "i01"))
    judge_file(project, "kind: pairwise\njudges: [m]\nrepeats: 2\n")

    def play(request: Request) -> Play:
        flips = request.body["seed"] == 8 and "i01" in prompt_of(request)
        return prefers(lambda text: text.startswith("bad" if flips else "good"))(request)

    with Scripted(play) as server:
        model(builder, server.base_url, seed=7)
        told = judge(evh)
        assert len(server.requests) == 8
    noise = told["measured"]["judges"]["m"]["noise"]
    assert (noise["questions"], noise["changed"], noise["share"]) == (4, 2, 0.5)
    won = {item: row["judge_won_unvalidated"] for item, row in scores(project)["arm_a"].items()}
    assert won == {"i00": 1.0, "i01": 0.5}
