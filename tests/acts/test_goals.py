"""Goals: their groups, the finalist by each strategy, the baseline, production and the replay pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evh.acts.goals import goals
from evh.project import runs
from evh.project.find import Project
from tests.acts import deciding
from tests.acts.deciding import AGAINST, ITEMS, LABELS, put, write, wrong_on
from tests.conftest import CommandLine
from tests.helpers import Builder, correct
from tests.schema import check

build = deciding.build


def arm(
    build: Builder, name: str, wrong: int, *, cost: float | None = None, ms: float | None = None, **more: Any
) -> None:
    """Write an arm that is wrong on so many items, each of which costs and takes so much."""
    decisions = wrong_on(*range(wrong))
    run = build.run(name, "d", decisions, scores=correct(decisions, LABELS), against=AGAINST, **more)
    rows = [replace(row, cost_usd=cost, latency_ms=ms) for row in runs.predictions(build.project, run)]
    runs.write_scored(build.project, run, rows)


def suggested(project: Project, text: str) -> tuple[str | None, str]:
    """Return the finalist of the one group, and why."""
    write(project, text)
    (view,) = goals(project, "g")
    return view.groups[0].finalist.arm, view.groups[0].finalist.reason


def test_the_finalist_by_each_strategy(build: Builder, project: Project) -> None:
    """Best, cheapest and fastest of the leader and contenders; one that is behind is never suggested."""
    arm(build, "best", 0, cost=0.03, ms=900)
    arm(build, "near", 1, cost=0.01, ms=400)
    arm(build, "quick", 2, cost=0.02, ms=100)
    arm(build, "free", 30, cost=0.0, ms=1)
    assert suggested(project, "strategy: best\n") == (
        "best",
        "it leads by correct; not told apart from near, quick",
    )
    assert suggested(project, "strategy: cheapest-contender\n") == (
        "near",
        "the cheapest at 0.01 USD an item; not told apart from the leader best by correct",
    )
    assert suggested(project, "strategy: fastest-contender\n")[0] == "quick"
    assert suggested(project, "strategy: frontier\n") == (
        None,
        "best, near, quick are on the frontier of figure, cost and time: you choose",
    )


def test_a_frontier_names_what_was_measured(build: Builder, project: Project) -> None:
    """Nothing but figures, then a time of two, then a cost of one alone, which is weighed against none."""
    arm(build, "a", 0)
    arm(build, "b", 1)
    alone = "the figure alone, for no two arms have a cost or time on record"
    assert suggested(project, "strategy: frontier\n") == ("a", f"it alone is on the frontier of {alone}")
    arm(build, "a", 0, ms=900, cost=0.5, at="20261002T000000Z")
    arm(build, "b", 1, ms=100, at="20261002T000000Z")
    assert suggested(project, "strategy: frontier\n") == (
        None,
        "a, b are on the frontier of figure and time: you choose",
    )


def test_limits_leave_arms_out_and_say_why(build: Builder, project: Project) -> None:
    """The leader over a limit gives way to the best contender within it; an unknown cost is no low cost."""
    arm(build, "best", 0, cost=0.03, ms=900)
    arm(build, "near", 1, cost=0.01, ms=400)
    arm(build, "silent", 2)
    assert suggested(project, "limits: {cost_usd_per_item: 0.02}\n") == (
        "near",
        "the best contender by correct; best leads and takes 0.03 USD an item, over the limit of 0.02",
    )
    out = [
        f"{name} takes {ms} ms an item, over the limit of 100" for name, ms in (("best", 900), ("near", 400))
    ]
    out.append("silent has no time on record, and the goal limits it")
    assert suggested(project, "limits: {latency_ms: 100}\n") == (
        None,
        "no leader or contender can be it: " + "; ".join(out),
    )
    write(project, "strategy: cheapest-contender\n")
    (view,) = goals(project)
    assert [(one.arm, one.why) for one in view.groups[0].finalist.left_out] == [
        ("silent", "has no cost on record")
    ]


def test_nothing_is_suggested_on_a_tie(build: Builder, project: Project) -> None:
    """Two leaders tie; nor where two are cheapest alike."""
    arm(build, "a", 0, cost=0.01)
    put(build, "b", wrong_on())
    assert suggested(project, "") == (None, "a, b tie for the lead: you choose")


def test_nothing_is_suggested_where_two_are_cheapest(build: Builder, project: Project) -> None:
    """A tie on cost is a tie."""
    arm(build, "a", 0, cost=0.02)
    arm(build, "b", 1, cost=0.01)
    arm(build, "c", 2, cost=0.01)
    found = suggested(project, "strategy: cheapest-contender\n")
    assert found == (None, "b, c tie for the cheapest at 0.01 USD an item: you choose")


def test_nothing_is_suggested_from_labels_of_one_answer(project: Project) -> None:
    """No leader may be drawn, so no finalist."""
    made = Builder(project)
    made.dataset("d", {item: item for item in ITEMS})
    labels: Mapping[str, str] = dict.fromkeys(ITEMS, "yes")
    made.labels("d", "ann", labels)
    for name in ("a", "b"):
        decisions: dict[str, str | None] = dict.fromkeys(ITEMS, "yes" if name == "a" else "no")
        made.run(name, "d", decisions, scores=correct(decisions, labels), against=AGAINST)
    assert suggested(project, "") == (
        None,
        "the labels tell fewer than two answers apart: no finalist is drawn from them",
    )


def test_a_recorded_arm_is_no_finalist(build: Builder, project: Project) -> None:
    """Production's own record may lead; there is nothing of it to deploy."""
    arm(build, "production", 0, params={"provider": "recorded", "capture": "c"})
    arm(build, "model", 1)
    why = "replays what was recorded: there is nothing of it to deploy"
    assert suggested(project, "") == (
        "model",
        f"the best contender by correct; production leads and {why}",
    )


def test_a_goal_shows_each_group_by_its_source(build: Builder, project: Project, evh: CommandLine) -> None:
    """The set that the goal names comes first, then references, then label sets, named by source."""
    second = build.labels("d", "bot", LABELS, source={"kind": "model", "by": "bot"})
    build.reference("silver/d", second)
    decisions = wrong_on(0)
    run = build.run("a", "d", decisions)
    for against in (AGAINST, "labels/d/bot", "silver/d"):
        build.rescored(run, decisions, correct(decisions, LABELS), against=against)
    put(build, "b", wrong_on(1, 2))
    write(project, "question: Which?\nagainst: labels/d/bot\nmetric: correct\n")
    found = evh.ok("goals", "--goal", "g", "--json").json
    check(found, "goals")
    groups = found["goals"][0]["groups"]
    assert [one["against"] for one in groups] == ["labels/d/bot", "silver/d", AGAINST]
    assert [one["source"]["tier"] for one in groups] == [None, "silver", None]
    assert [one["source"]["source"] for one in groups] == ["model", "model", "person"]
    told = evh.ok("goals").out
    assert "against labels/d/bot (model labels of bot)" in told
    assert "baseline: none was promoted yet" in told
    assert "evh promote --run" in told


def test_what_a_goal_names_and_is_not_here_is_said(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """A dataset, a set; and without goals it says how to write one."""
    assert "no goals yet" in evh.ok("goals").out
    put(build, "a", wrong_on())
    place = project.data / "goals"
    place.mkdir()
    (place / "g.yaml").write_text("datasets: [d, gone]\nagainst: gold/d\n")
    (place / "broken.yaml").write_text("datasets: []\n")
    notes = evh.ok("goals", "--json").json["warnings"]
    assert "the goal names gone, and there is no such dataset here" in notes
    assert "no arm was scored against gold/d, which the goal names" in notes
    assert any("broken.yaml" in note for note in notes)
    evh.refused("no-such-goal", "goals", "--goal", "x")


def test_production_and_the_replay_stand_beside_the_baseline(project: Project, evh: CommandLine) -> None:
    """Of three records the promoted model made two; its arm decided two of three as production did."""
    made = Builder(project)
    ran = {"model": "m1", "prompt_sha256": None}
    records = [
        {"record_id": f"r{n}", "ts": f"2026-10-0{n}T00:00:00Z", "item": f"t{n}", "output": "yes",
         "production": {**ran, "model": "m1" if n < 3 else "m0"}}
        for n in (1, 2, 3)
    ]  # fmt: skip
    made.capture("c", records, time_range=("2026-10-01T00:00:00Z", "2026-10-03T00:00:00Z"))
    made.dataset(
        "d", {f"i{n}": f"t{n}" for n in (1, 2, 3)}, lineage={f"i{n}": {"capture": "c"} for n in (1, 2, 3)}
    )
    made.labels("d", "ann", {"i1": "yes", "i2": "no", "i3": "yes"})
    labels = {"i1": "yes", "i2": "no", "i3": "yes"}
    said: dict[str, str | None] = {"i1": "yes", "i2": "no", "i3": "yes"}
    live: dict[str, str | None] = dict.fromkeys(labels, "yes")
    made.run(
        "production", "d", live, scores=correct(live, labels), against=AGAINST,
        params={"provider": "recorded", "capture": "c"},
    )  # fmt: skip
    made.run(
        "model", "d", said, scores=correct(said, labels), against=AGAINST,
        params={"provider": "openai", "model": "m1"},
    )  # fmt: skip
    write(project, "")
    evh.ok("promote", "--run", "model_20261001T000000Z", "--goal", "g", "--reason", "it is right more often")
    found = evh.ok("goals", "--goal", "g", "--json").json["goals"][0]
    assert found["baseline"]["run"] == "runs/model_20261001T000000Z"
    assert found["production"]["says"] == "differ"
    assert [found["production"]["check"][key] for key in ("match", "differ", "not_recorded")] == [2, 1, 0]
    (replay,) = found["replays"]
    assert (replay["recorded"], replay["config_id"], replay["n"], replay["n_same"]) == (
        "production",
        "model",
        3,
        2,
    )
    told = evh.ok("goals").out
    assert "production differs: of 3 records of c 2 match, 1 differ, 0 not recorded" in told
    assert "replay on d: model decided as production did on 2 of 3 items (66.7%)" in told
