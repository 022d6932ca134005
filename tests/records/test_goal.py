"""A goal: what its keys mean, and every way in which a file can be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from evh.errors import Refusal
from evh.records import goal
from evh.records.goal import Limits


def test_a_goal_says_what_its_keys_say() -> None:
    """Every key is read; an unknown one is kept."""
    made = goal.parse(
        {
            "goal_id": "keep_up",
            "question": "Which model?",
            "datasets": ["d", "e", "d"],
            "metric": "cost",
            "direction": "lower",
            "strategy": "cheapest-contender",
            "limits": {"cost_usd_per_item": 0.01, "latency_ms": 800},
            "against": "labels/d/ann",
            "alpha": 0.01,
            "min_effect": 0.02,
            "owner": "ann",
        },
        "g.yaml",
    )
    assert made.datasets == ("d", "e")
    assert made.limits == Limits(0.01, 800)
    assert (made.higher, made.alpha, made.min_effect, made.against) == (False, 0.01, 0.02, "labels/d/ann")
    assert made.extra == {"owner": "ann"}


def test_what_a_goal_leaves_out_is_the_usual() -> None:
    """One dataset may stand alone; the best arm is sought, without limits, by what the adapter says."""
    made = goal.parse({"goal_id": "g", "datasets": "d"}, "g.yaml")
    assert made.datasets == ("d",)
    assert (made.metric, made.higher, made.strategy, made.limits) == (None, None, "best", Limits())
    assert (made.alpha, made.min_effect, made.against) == (None, 0.0, None)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"datasets": []}, "datasets: names none"),
        ({"datasets": ["../x"]}, "datasets: '../x'"),
        ({"datasets": 3}, "datasets: is the number 3"),
        ({"direction": "up"}, "direction: is 'up'"),
        ({"strategy": "luckiest"}, "strategy: is 'luckiest'"),
        ({"limits": {"latency": 3}}, "limits.latency: is not known"),
        ({"limits": {"latency_ms": -1}}, "limits.latency_ms: is -1"),
        ({"limits": {"latency_ms": True}}, "limits.latency_ms: is True"),
        ({"alpha": 0.5}, "alpha: is 0.5"),
        ({"alpha": 0}, "alpha: is 0"),
        ({"alpha": True}, "alpha: is true or false"),
        ({"min_effect": -0.1}, "min_effect: is -0.1"),
        ({"against": "labels/d"}, "against: is 'labels/d'"),
        ({"against": "d"}, "against: is 'd'"),
        ({"metric": " "}, "metric: is empty"),
        ({"stratgy": "best"}, "stratgy: is not known; strategy is"),
        ({"goal_id": "a b"}, "goal_id"),
    ],
)
def test_a_goal_that_is_wrong_says_where(more: dict[str, Any], reason: str) -> None:
    """The reason names the file and the key."""
    with pytest.raises(Refusal) as refused:
        goal.parse({"goal_id": "g", "datasets": ["d"], **more}, "g.yaml")
    assert any(one.startswith(f"g.yaml: {reason}") for one in refused.value.why), refused.value.why


def test_all_that_is_wrong_is_told_at_once() -> None:
    """Three wrong keys are three reasons."""
    with pytest.raises(Refusal) as refused:
        goal.parse({"goal_id": "g", "datasets": ["d"], "alpha": 2, "strategy": "x", "min_effect": -1}, "g")
    assert len(refused.value.why) == 3
