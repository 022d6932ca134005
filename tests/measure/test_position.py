"""Position: what the order of answers does to a judge, against hand counts."""

from __future__ import annotations

import math

from evh.measure.position import FIRST, SECOND, TIE, BothOrders, pair_position, pick_places

PAIRS = [
    BothOrders(FIRST, SECOND),  # a in both
    BothOrders(FIRST, SECOND),  # a in both
    BothOrders(SECOND, FIRST),  # b in both
    BothOrders(TIE, TIE),
    BothOrders(FIRST, FIRST),  # whichever stands first
    BothOrders(SECOND, SECOND),  # whichever stands second
    BothOrders(FIRST, TIE),
    BothOrders(FIRST, None),
    BothOrders(None, None),
]


def test_a_pair_is_won_only_in_both_orders() -> None:
    """What wins wherever it stands wins; every inconsistent pair is a tie; a lacking order is none."""
    assert [one.share for one in PAIRS] == [1, 1, 0, 0.5, 0.5, 0.5, 0.5, None, None]


def test_position_is_counted() -> None:
    """Nine pairs by hand: seven read in both orders, four alike; verdicts 6 first, 5 second, 3 ties."""
    found = pair_position(PAIRS)
    assert (found.pairs, found.consistent, found.unread) == (7, 4, 2)
    assert found.agreement == 4 / 7
    assert (found.always_first, found.always_second, found.half_tied) == (1, 1, 1)
    assert (found.firsts, found.seconds, found.ties) == (6, 5, 3)
    assert found.first_share == 6 / 11


def test_a_judge_that_always_says_first_is_all_position() -> None:
    """Ten pairs, always the first: no pair is alike, the first won 100 %, Wilson's low end is 83.9 %.

    Wilson's interval of 20 of 20 (z = 1.959964): low = 20 / (20 + z²) = 0.83887.
    """
    found = pair_position([BothOrders(FIRST, FIRST)] * 10)
    assert (found.agreement, found.first_share, found.always_first) == (0, 1, 10)
    assert found.first_interval is not None
    assert math.isclose(found.first_interval.low, 0.83887, abs_tol=5e-6)


def test_nothing_read_has_no_share() -> None:
    """Without a pair read there is no figure, not 0."""
    found = pair_position([BothOrders(None, FIRST)])
    assert (found.agreement, found.first_share, found.first_interval) == (None, None, None)


def test_places_of_picks_are_counted() -> None:
    """Four picks of three answers and one of two: A wins 2.5, B 1.5, C 1; 1/3 expected of C."""
    found = pick_places([((0,), 3), ((0, 1), 3), ((2,), 3), ((0,), 3), ((1,), 2)])
    assert [(one.place, one.shown, one.picked) for one in found] == [(1, 5, 2.5), (2, 5, 1.5), (3, 4, 1.0)]
    assert math.isclose(found[0].expected, (4 / 3 + 1 / 2) / 5)
    assert math.isclose(found[2].expected, 1 / 3)
    assert pick_places([]) == ()
