"""Verdicts over a project's arms: floors, trials, arms scored on different items, and the least effect."""

from __future__ import annotations

from typing import Any

import pytest

from evh.acts.leaderboard import leaderboard
from evh.project.find import Project
from tests.acts import deciding
from tests.acts.deciding import AGAINST, ITEMS, LABELS, put, write, wrong_on
from tests.conftest import CommandLine
from tests.helpers import Builder, correct
from tests.schema import check

build = deciding.build
FIRST_20 = ITEMS[:20]


def part(build: Builder, arm: str, places: tuple[int, ...], **more: Any) -> None:
    """Write an arm that answered the first 20 items alone, wrong on these."""
    said = {item: wrong_on(*places)[item] for item in FIRST_20}
    build.run(arm, "d", said, scores=correct(said, LABELS), against=AGAINST, **more)


def group_of(evh: CommandLine) -> Any:
    """Return the one group of the goal, as JSON."""
    return check(evh.ok("goals", "--goal", "g", "--json").json, "goals")["goals"][0]["groups"][0]


# ------------------------------------------------------------------------------------------------ floors


def test_a_floor_never_leads_and_is_in_no_correction(build: Builder, evh: CommandLine) -> None:
    """The best figure of four is a floor's: the next leads, and p counts for two arms beside it."""
    put(build, "floor", wrong_on())
    put(build, "best", wrong_on(0))
    put(build, "far", wrong_on(*range(15)))
    put(build, "near", wrong_on(0, 1))
    build.config("floor", floor=True)
    found = check(evh.ok("leaderboard", "--dataset-id", "d", "--json").json, "leaderboard")
    assert [(one["arm"], one["verdict"], one["floor"]) for one in found["arms"]] == [
        ("floor", None, True),
        ("best", "leader", False),
        ("near", "contender", False),
        ("far", "behind", False),
    ]
    assert (found["leaders"], found["competing"]) == (["best"], 3)
    assert found["correction"] == "Bonferroni × 2: the leader was picked among 3 arms"
    assert found["arms"][3]["p_corrected"] == pytest.approx(2 * found["arms"][3]["p"])
    assert "floor is a floor: it shows what is easy, and never leads" in found["warnings"]
    (line,) = [one for one in evh.ok("leaderboard", "--dataset-id", "d").out.splitlines() if "1.000 " in one]
    assert line.split()[0] == "floor"
    assert line.rstrip().endswith("floor")


def test_a_floor_is_never_the_finalist(build: Builder, evh: CommandLine, project: Project) -> None:
    """By any strategy: best, cheapest and frontier name no floor, however good and free it is."""
    put(build, "floor", wrong_on())
    put(build, "a", wrong_on(0))
    put(build, "b", wrong_on(0, 1))
    build.config("floor", floor=True)
    for strategy in ("best", "cheapest-contender", "frontier"):
        write(project, f"metric: correct\nstrategy: {strategy}\n")
        finalist = group_of(evh)["finalist"]
        assert finalist["arm"] in ("a", None)
        assert "floor" not in [*finalist["frontier"], *(one["arm"] for one in finalist["left_out"])]
    assert "evh promote --run runs/floor_" not in evh.ok("goals").out


def test_floors_alone_lead_nobody(build: Builder, project: Project, evh: CommandLine) -> None:
    """Two floors: no leader, no finalist, and the reason names what they are."""
    for name in ("one", "two"):
        put(build, name, wrong_on(0))
        build.config(name, floor=True)
    write(project, "metric: correct\n")
    group = group_of(evh)
    assert (group["leaders"], group["competing"]) == ([], 0)
    assert (group["finalist"]["arm"], group["finalist"]["reason"]) == (None, "every arm is a floor")


# ------------------------------------------------------------------------------------------------ trials


def test_a_trial_never_leads_and_is_marked(build: Builder, project: Project, evh: CommandLine) -> None:
    """Right on the first 20 of 40 by a run with a limit: it stands last, and the two whole runs compete."""
    part(build, "trial", (), extra={"limit": 20})
    put(build, "a", wrong_on(0))
    put(build, "b", wrong_on(*range(10)))
    write(project, "metric: correct\n")
    found = evh.ok("leaderboard", "--dataset-id", "d", "--json").json
    assert [(one["arm"], one["verdict"], one["trial"]) for one in found["arms"]] == [
        ("a", "leader", None),
        ("b", "behind", None),
        ("trial", None, 20),
    ]
    assert (found["competing"], found["correction"]) == (2, "none: there are two arms")
    assert "trial is a trial over the first 20 of 40 items: it never leads" in found["warnings"]
    assert "trial, 20 of 40" in evh.ok("leaderboard", "--dataset-id", "d").out
    assert group_of(evh)["finalist"]["arm"] == "a"
    sheet = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    assert {one["arm"]: one["verdict"] for one in sheet["footer"]} == {
        "a": "leader",
        "b": "behind",
        "trial": None,
    }
    (line,) = check(evh.ok("overview", "--json").json, "overview")["datasets"]
    assert [(one["arm"], one["trial"]) for one in line["arms"]] == [("a", None), ("b", None), ("trial", 20)]
    assert "trial, 20 of 40" in evh.ok("overview").out
    pair = check(evh.ok("pair-test", "a", "trial", "--dataset-id", "d", "--json").json, "pair-test")
    assert [one["trial"] for one in pair["tests"][0]["arms"]] == [None, 20]
    assert "trial is a trial over the first 20 of 40 items" in pair["warnings"]


def test_a_trial_that_was_scored_again_is_one_still(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """`rescore` keeps the limit in the fingerprint: the arm leads nobody, and cannot be promoted."""
    said = {item: wrong_on()[item] for item in FIRST_20}
    limits: dict[str, Any] = {"extra": {"limit": 20}, "fingerprint": {"data": {"limit": 20}}}
    run = build.run("trial", "d", said, **limits)
    twin = build.rescored(run, said, correct(said, LABELS), against=AGAINST, extra={})
    put(build, "a", wrong_on(0))
    put(build, "b", wrong_on(1, 2))
    found = leaderboard(project, "d")
    assert [(one.name, one.trial) for one in found.arms] == [("a", None), ("b", None), ("trial", 20)]
    write(project, "metric: correct\n")
    words = ("promote", "--run", twin.key, "--goal", "g", "--reason", "x")
    (why,) = evh.refused("unfinished-run", *words).json["refused"]["why"]
    assert why == f"{twin.key}: a trial over the first 20 items, not a whole run"


def test_a_limit_that_leaves_nothing_out_is_no_trial(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """``--limit 500`` over 40 items ran over all of them: the arm competes and can be promoted."""
    put(build, "a", wrong_on(), extra={"limit": 500})
    put(build, "b", wrong_on(*range(10)))
    write(project, "metric: correct\n")
    found = leaderboard(project, "d")
    assert (found.leaders, found.arms[0].trial) == (("a",), None)
    evh.ok("promote", "--run", found.arms[0].run.run_id, "--goal", "g", "--reason", "x")


# ------------------------------------------------------------------------ scored on different items


def test_an_arm_that_beats_the_leader_on_common_items_is_not_behind(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """narrow: 14 of its 20. wide: all of these and none of the others, 0.5. On both, 6 to 0: p = 2 / 2^6."""
    part(build, "narrow", tuple(range(6)))
    put(build, "wide", wrong_on(*range(20, 40)))
    found = check(evh.ok("leaderboard", "--dataset-id", "d", "--json").json, "leaderboard")
    narrow, wide = found["arms"]
    assert (narrow["arm"], narrow["verdict"], narrow["value"]) == ("narrow", "leader", 0.7)
    assert (wide["arm"], wide["verdict"], wide["leader"], wide["n_both"]) == (
        "wide",
        "contender",
        "narrow",
        20,
    )
    assert (wide["difference"], wide["p"]) == (pytest.approx(-0.3), 2 / 2**6)
    assert wide["why"] == "0.300 better than narrow on the 20 items that both have, p 0.031"
    assert wide["smallest_difference"] is None
    assert not found["leads_alone"]
    note = f"narrow has the best figure, but wide is {wide['why']}: compare them on common items"
    assert note in found["warnings"]
    line = next(one for one in evh.ok("leaderboard", "--dataset-id", "d").out.splitlines() if "wide" in one)
    assert wide["why"] in line
    assert " none " not in line  # nothing stands under "could show"
    write(project, "metric: correct\n")
    finalist = group_of(evh)["finalist"]  # narrow covers half of what wide does, and is left out
    assert finalist["arm"] == "wide"
    assert finalist["reason"].startswith("the best contender by correct; narrow leads and ")
    promoted = evh.ok("promote", "--run", wide["run"], "--goal", "g", "--reason", "x", "--json").json
    assert promoted["warnings"] == [f"wide: {wide['why']}"]


def test_nothing_is_suggested_where_the_lead_is_in_doubt(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """first has 0.60 on 36 items; second 0.61 on each of these and 0 on the last four: 0.549 of its own."""
    for arm, value, last in (("first", 0.6, None), ("second", 0.61, 0.0)):
        given = {item: value if at < 36 else last for at, item in enumerate(ITEMS)}
        scores = {item: {"points": one} for item, one in given.items() if one is not None}
        build.run(arm, "d", dict.fromkeys(scores, "x"), scores=scores, against=AGAINST)
    write(project, "metric: points\n")
    first, second = group_of(evh)["arms"]
    assert (first["arm"], first["verdict"], second["value"]) == ("first", "leader", pytest.approx(0.549))
    why = "0.010 better than first on the 36 items that both have, p 0.0001"
    assert (second["verdict"], second["why"]) == ("contender", why)
    finalist = group_of(evh)["finalist"]
    assert (finalist["arm"], finalist["reason"]) == (
        None,
        f"second is {why}: compare them on common items, and you choose",
    )


def test_a_significant_difference_below_the_least_effect_says_so(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """6 of 40 to none: p = 0.031, 0.150 behind, and the goal asks for 0.9; the other is not told apart."""
    put(build, "a", wrong_on())
    put(build, "b", wrong_on(*range(6)))
    write(project, "metric: correct\nmin_effect: 0.9\n")
    told = "0.150 behind, p 0.031, less than the 0.9 that the goal asks for"
    group = group_of(evh)
    (_, b) = group["arms"]
    assert (b["verdict"], b["why"], b["smallest_difference"]) == ("contender", told, None)
    assert f"b: {told}" in group["notes"]
    assert group["finalist"]["reason"] == f"it leads by correct; b is {told}"
    line = next(one for one in evh.ok("goals").out.splitlines() if one.startswith("b "))
    assert told in line
    assert " none " not in line
    put(build, "c", wrong_on(0))
    group = group_of(evh)
    assert [(one["arm"], one["why"] is None) for one in group["arms"]] == [
        ("a", True),
        ("c", True),
        ("b", True),  # p times two is 0.0625
    ]
    write(project, "metric: correct\nmin_effect: 0.9\nalpha: 0.1\n")
    group = group_of(evh)
    told = "0.150 behind, p 0.062, less than the 0.9 that the goal asks for"
    assert [one["why"] for one in group["arms"]] == [None, None, told]
    assert group["finalist"]["reason"] == f"it leads by correct; not told apart from c; b is {told}"
    evh.ok("promote", "--run", group["arms"][2]["run"], "--goal", "g", "--reason", "cheap")
    warned = evh.ok(
        "promote", "--run", group["arms"][2]["run"], "--goal", "g", "--reason", "y", "--json"
    ).json
    assert f"b: {told}" in warned["warnings"]


def test_the_least_effect_is_of_the_difference_on_common_items(build: Builder, project: Project) -> None:
    """Own means lie 0.45 apart, the items of both 0.3: a least effect of 0.4 leaves a contender."""
    part(build, "a", ())
    put(build, "b", wrong_on(*range(6), *range(20, 36)))
    write(project, "metric: correct\nmin_effect: 0.4\n")
    a, b = leaderboard(project, "d").arms
    assert (a.value, b.value) == (1.0, 0.45)
    assert b.difference == pytest.approx(0.3)
    assert (b.verdict, b.why) == (
        "contender",
        "0.300 behind, p 0.031, less than the 0.4 that the goal asks for",
    )
    write(project, "metric: correct\nmin_effect: 0.3\n")
    assert leaderboard(project, "d").arms[1].verdict == "behind"
