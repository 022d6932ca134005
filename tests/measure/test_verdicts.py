"""Verdicts: who leads, who may be as good, who is behind; and how often chance alone makes a leader."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evh.measure.verdicts import BEHIND, BETTER, CONTENDER, LEADER, SMALL, Paired, Standing, decide
from tests.measure.leading import share_of_sole_leaders


def _table(values: dict[tuple[int, int], float], apart: float = 1.0) -> Callable[[int, int], Paired]:
    """Give the p of each pair, in either order, and the same difference, first minus second."""
    return lambda a, b: Paired(values.get((a, b), values.get((b, a))), apart)


def test_a_leader_a_contender_and_one_behind() -> None:
    """Against a leader that was picked, p counts twice among three: 0.02 is behind, 0.03 is not."""
    found = decide([0.9, 0.8, 0.7], _table({(0, 1): 0.03, (0, 2): 0.02}))
    assert [one.verdict for one in found.standings] == [LEADER, CONTENDER, BEHIND]
    assert found.standings[1] == Standing(CONTENDER, 0.03, 0.06, 0)
    assert found.standings[2] == Standing(BEHIND, 0.02, 0.04, 0)
    assert (found.leaders, found.arms, found.alone) == ((0,), 3, False)


def test_lower_is_better_when_it_is() -> None:
    """The smallest mean leads."""
    found = decide([0.9, 0.8], _table({(0, 1): 0.01}, -0.1), higher=False)
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
    """A difference that is sure but below what matters leaves a contender, and says that this is why."""
    found = decide([0.9, 0.89], _table({(0, 1): 0.0001}, 0.01), min_effect=0.02)
    assert (found.standings[1].verdict, found.standings[1].why) == (CONTENDER, SMALL)
    unsure = decide([0.9, 0.89], _table({(0, 1): 0.5}, 0.01), min_effect=0.02)
    assert (unsure.standings[1].verdict, unsure.standings[1].why) == (CONTENDER, None)


def test_the_least_effect_is_of_the_paired_difference() -> None:
    """On the items of both they lie 0.3 apart and their own means 0.1, or the other way round."""
    test = {(0, 1): 0.001}
    assert decide([0.9, 0.8], _table(test, 0.3), min_effect=0.2).standings[1].verdict == BEHIND
    assert decide([0.9, 0.6], _table(test, 0.1), min_effect=0.2).standings[1].why == SMALL
    assert decide([0.9, 0.7], _table(test, 0.3 - 0.1), min_effect=0.2).standings[1].verdict == BEHIND


def test_an_arm_that_the_test_puts_before_the_leader_is_never_behind() -> None:
    """Scored on other items: the leader's mean is better, and on the items of both it is worse."""
    for means, apart, higher in (([0.8, 0.5], -0.2, True), ([0.2, 0.5], 0.2, False)):
        found = decide(means, _table({(0, 1): 0.002}, apart), higher=higher)
        assert found.leaders == (0,)
        assert found.standings[1] == Standing(CONTENDER, 0.002, 0.002, 0, BETTER)
        assert not found.alone
    unsure = decide([0.8, 0.5], _table({(0, 1): 0.2}, -0.2))
    assert (unsure.standings[1].verdict, unsure.standings[1].why) == (CONTENDER, None)


def test_against_leaders_that_tie_the_weakest_case_is_told() -> None:
    """Better than one of them, then not told apart, then too little: an arm is behind only if behind each."""
    told = {(0, 2): Paired(0.001, 0.3), (1, 2): Paired(0.002, -0.1)}
    found = decide([0.9, 0.9, 0.5], lambda a, b: told[a, b])
    assert found.standings[2] == Standing(CONTENDER, 0.002, 0.004, 1, BETTER)
    told = {(0, 2): Paired(0.001, 0.3), (1, 2): Paired(None, None)}
    assert decide([0.9, 0.9, 0.5], lambda a, b: told[a, b]).standings[2] == Standing(
        CONTENDER, None, None, 1, None
    )
    told = {(0, 2): Paired(0.001, 0.3), (1, 2): Paired(0.002, 0.2)}
    assert decide([0.9, 0.9, 0.5], lambda a, b: told[a, b]).standings[2] == Standing(
        BEHIND, 0.002, 0.004, 1, None
    )


def test_one_arm_leads_nobody() -> None:
    """An arm alone beats nobody, whatever else stands beside it: no verdict, no leader."""
    for means, competes in (([0.4], [True]), ([0.4, 0.9, None], [True, False, True])):
        found = decide(means, _table({}), competes=competes)
        assert {one.verdict for one in found.standings} == {None}
        assert (found.leaders, found.arms, found.alone) == ((), 1, False)


@pytest.mark.parametrize("arms", [3, 10])
@pytest.mark.parametrize("kind", ["binary", "continuous", "ties"])
def test_chance_alone_makes_a_sole_leader_in_at_most_alpha(arms: int, kind: str) -> None:
    """With no true difference "leader alone" comes in at most 5 % of 300 fields, and their noise."""
    assert share_of_sole_leaders(arms, kind, fields=300) <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5
