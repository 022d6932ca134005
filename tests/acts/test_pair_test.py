"""A named pair: its p, its interval, McNemar beside it, the items that moved, and its power."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar

from evh.acts.leaderboard import leaderboard
from evh.acts.pair_test import pair_test
from evh.project.find import Project
from tests.acts import deciding
from tests.acts.deciding import ITEMS, put, wrong_on
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

build = deciding.build
TASKS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases/airline-agent/tasks.jsonl").read_text().splitlines()
]


@pytest.fixture
def airline(project: Project) -> Builder:
    """The 50 tasks of the airline agent; each trial's reward is the score that was recorded."""
    made = Builder(project)
    made.dataset("airline", {str(one["task_id"]): one["instruction"] for one in TASKS})
    return made


def trial(build: Builder, name: str, number: int, **more: str) -> None:
    """Write one trial of the agent as a run."""
    build.run(
        name,
        "airline",
        {str(one["task_id"]): one["said"][number] or "(nothing)" for one in TASKS},
        scores={str(one["task_id"]): {"reward": one["rewards"][number]} for one in TASKS},
        at=f"20261001T00000{number}Z",
        **more,
    )


def test_a_pair_is_tested_as_it_was_named(build: Builder, evh: CommandLine) -> None:
    """9 items against 1: 11/512 by scipy and by statsmodels' McNemar; the items are named each way."""
    put(build, "a", wrong_on(39))
    put(build, "b", wrong_on(*range(9)))
    put(build, "c", wrong_on())
    found = evh.ok("pair-test", "a", "b", "--dataset-id", "d", "--json").json
    check(found, "pair-test")
    (made,) = found["tests"]
    p = binomtest(1, 10).pvalue
    assert made["p"] == pytest.approx(p, rel=1e-12)
    assert made["mcnemar_p"] == pytest.approx(mcnemar([[30, 9], [1, 0]], exact=True).pvalue, rel=1e-9)
    assert (made["difference"], made["n"], made["counted"], made["significant"]) == (0.2, 40, True, True)
    assert made["better"] == [ITEMS[:9], ["i39"]]
    assert made["difference_low"] < 0.2 < made["difference_high"]
    turned = evh.ok("pair-test", "b", "a", "--dataset-id", "d", "--json").json["tests"][0]
    assert (turned["difference"], turned["p"]) == (-0.2, made["p"])
    assert turned["difference_low"] == -made["difference_high"]
    told = evh.ok("pair-test", "a", "b", "--dataset-id", "d", "--limit", "2").out
    assert "not corrected: the pair was named; significant at 0.05" in told
    assert "better by a: 9 items: i00, i01 and 7 more" in told


def test_what_is_not_significant_says_what_could_have_been_seen(build: Builder, evh: CommandLine) -> None:
    """Two items of 40: no p, and the smallest difference that 40 such items would show."""
    put(build, "a", wrong_on())
    put(build, "b", wrong_on(0, 1))
    made = evh.ok("pair-test", "a", "b", "--dataset-id", "d", "--json").json["tests"][0]
    assert (made["p"], made["significant"]) == (0.5, False)
    assert made["smallest_difference"] is None  # five items that differ could show nothing, whatever they say
    told = evh.ok("pair-test", "a", "b", "--dataset-id", "d").out
    assert "not significant at 0.05: so many items would show no difference (80% power)" in told
    assert "evh label-plan --dataset-id d --runs a,b" in told


def test_a_pair_that_cannot_be_tested_is_refused(build: Builder, evh: CommandLine) -> None:
    """One arm twice, an arm without a score, a level that is none."""
    put(build, "a", wrong_on())
    build.run("b", "d", wrong_on())
    evh.refused("two-arms", "pair-test", "a", "a", "--dataset-id", "d")
    refused = evh.refused("not-scored", "pair-test", "a", "b", "--dataset-id", "d").json["refused"]
    assert refused["why"] == ["b: has no correct against labels/d/ann"]
    assert refused["next"] == "evh rescore --dataset-id d --labels d/ann"
    put(build, "c", wrong_on(1))
    evh.refused("bad-options", "pair-test", "a", "c", "--dataset-id", "d", "--alpha", "1")
    evh.refused("unknown-arm", "pair-test", "a", "x", "--dataset-id", "d")


def test_a_level_of_ones_own(build: Builder, project: Project) -> None:
    """p = 2/2^6 is significant at 0.05 and not at 0.01; the goal's level holds where none is given."""
    put(build, "a", wrong_on())
    put(build, "b", wrong_on(*range(6)))
    assert pair_test(project, "a", "b", "d").significant
    assert not pair_test(project, "a", "b", "d", alpha=0.01).significant
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\nalpha: 0.01\n")
    assert not pair_test(project, "a", "b", "d").significant


def test_two_trials_of_the_airline_agent_as_two_arms(airline: Builder, project: Project) -> None:
    """21 and 22 of 50 rewards, 9 and 10 the one way and the other: p by scipy's binomial test is 1."""
    trial(airline, "first", 0)
    trial(airline, "second", 1)
    made = pair_test(project, "first", "second", "airline")
    assert [one.value for one in made.arms] == [0.42, 0.44]
    assert [len(items) for items in made.better] == [9, 10]
    assert made.p == pytest.approx(binomtest(9, 19).pvalue)
    assert made.mcnemar == made.p
    assert (made.against, made.metric) == (None, "reward")


def test_two_trials_of_the_airline_agent_as_repeats_of_one_arm(airline: Builder, project: Project) -> None:
    """The mean is 0.43, the spread 0.42 to 0.44, and one run of it can be compared alone."""
    trial(airline, "agent", 0, repeat_group="agent_1")
    trial(airline, "agent", 1, repeat_group="agent_1")
    rewards = {str(one["task_id"]): {"reward": one["rewards"][0]} for one in TASKS}
    lost = next(item for item, score in rewards.items() if score["reward"])
    rewards[lost] = {"reward": 0.0}
    airline.run("other", "airline", dict.fromkeys(rewards, "done"), scores=rewards)
    agent = leaderboard(project, "airline").arm("agent")
    assert agent is not None
    assert agent.value == pytest.approx(0.43)
    assert agent.spread is not None
    assert (agent.spread.low, agent.spread.high) == (0.42, 0.44)
    made = pair_test(project, "agent", "other", "airline")
    assert made.difference == pytest.approx(0.03)
    assert not made.inside_spread
    made = pair_test(project, "agent_20261001T000000Z", "other", "airline")
    assert made.difference == pytest.approx(0.02)
