"""Verdicts: who leads, who may be as good, who is behind; and how often chance alone makes a leader."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evh.measure.flips import sign_flip_tests
from evh.measure.verdicts import BEHIND, CONTENDER, LEADER, Standing, decide


def _table(values: dict[tuple[int, int], float]) -> Callable[[int, int], float | None]:
    return lambda a, b: values.get((a, b), values.get((b, a)))


def test_a_leader_a_contender_and_one_behind() -> None:
    """Against a leader that was picked, p counts twice among three: 0.02 is behind, 0.03 is not."""
    found = decide([0.9, 0.8, 0.7], _table({(0, 1): 0.03, (0, 2): 0.02}))
    assert [one.verdict for one in found.standings] == [LEADER, CONTENDER, BEHIND]
    assert found.standings[1] == Standing(CONTENDER, 0.03, 0.06)
    assert found.standings[2] == Standing(BEHIND, 0.02, 0.04)
    assert (found.leaders, found.arms, found.alone) == ((0,), 3, False)


def test_lower_is_better_when_it_is() -> None:
    """The smallest mean leads."""
    found = decide([0.9, 0.8], _table({(0, 1): 0.01}), higher=False)
    assert [one.verdict for one in found.standings] == [BEHIND, LEADER]
    assert found.alone


def test_ties_are_ties() -> None:
    """Two best means lead together, and a third is behind only if it is behind both."""
    found = decide([0.9, 0.9, 0.5], _table({(0, 1): 1.0, (0, 2): 0.001, (1, 2): 0.2}))
    assert [one.verdict for one in found.standings] == [LEADER, LEADER, CONTENDER]
    assert found.leaders == (0, 1)
    assert not found.alone


def test_an_arm_that_does_not_compete_never_leads() -> None:
    """An arm on its own labels gets no verdict and counts in no correction; so does one without a mean."""
    found = decide([1.0, 0.9, 0.5, None], _table({(1, 2): 0.04}), competes=[False, True, True, True])
    assert [one.verdict for one in found.standings] == [None, LEADER, BEHIND, None]
    assert found.standings[2].corrected == 0.04
    assert decide([None], _table({})).leaders == ()


def test_a_small_difference_does_not_put_an_arm_behind() -> None:
    """A difference that is sure but below what matters leaves a contender."""
    found = decide([0.9, 0.89], _table({(0, 1): 0.0001}), min_effect=0.02)
    assert found.standings[1].verdict == CONTENDER


def test_one_arm_leads_nobody() -> None:
    """An arm alone is the best there is, and alone is not "ahead of all others"."""
    found = decide([0.4], _table({}))
    assert found.standings[0].verdict == LEADER
    assert not found.alone


@pytest.mark.parametrize("arms", [3, 10])
@pytest.mark.parametrize("kind", ["binary", "continuous", "ties"])
def test_chance_alone_makes_a_sole_leader_in_at_most_alpha(arms: int, kind: str) -> None:
    """With no true difference "leader alone" comes in at most 5 % of 300 fields, and their noise."""
    assert share_of_sole_leaders(arms, kind, fields=300) <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5


def share_of_sole_leaders(arms: int, kind: str, *, fields: int, items: int = 60, flips: int = 1_000) -> float:
    """Return how often one arm of equals is said to lead alone."""
    draw = np.random.default_rng(arms)
    alone = 0
    for field in range(fields):
        hard = draw.random((items, 1))
        if kind == "binary":
            scores = (draw.random((items, arms)) < hard).astype(float)
        elif kind == "ties":  # most items are alike for all arms, so that many tie at the top
            scores = np.where(draw.random((items, 1)) < 0.9, 1.0, (draw.random((items, arms)) < 0.5) / 2)
        else:
            scores = (hard + draw.normal(0, 0.3, (items, arms))).round(3)
        found = sign_flip_tests(scores, flips=flips, seed=field)
        p = {(a, b): q for a, b, q in zip(found.first, found.second, found.p, strict=True)}
        alone += decide(scores.mean(0).tolist(), _table(p)).alone
    return alone / fields
