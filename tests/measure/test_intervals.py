"""Wilson's and Newcombe's intervals equal published values and scipy."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from evh.measure.intervals import Interval, difference, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_limits(successes: int, n: int, low: float, high: float) -> None:
    """Newcombe (1998), table I, method 3 (score, no continuity correction), to 4 digits."""
    interval = wilson(successes, n)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (1, 1), (1, 2), (3, 7), (7, 7), (40, 1000), (999, 1000)]
)
def test_wilson_equals_scipy(successes: int, n: int, confidence: float) -> None:
    """The Wilson interval of scipy's ``binomtest`` has the same limits."""
    interval = wilson(successes, n, confidence)
    theirs = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_of_nothing_is_none() -> None:
    """A share of no items has no interval."""
    assert wilson(0, 0) is None


@pytest.mark.parametrize("n", [1, 2, 10, 12345])
def test_wilson_touches_the_ends_exactly(n: int) -> None:
    """None of n starts at 0 and all of n end at 1, with no rounding error."""
    none, every = wilson(0, n), wilson(n, n)
    assert isinstance(none, Interval)
    assert isinstance(every, Interval)
    assert none.low == 0.0
    assert every.high == 1.0


@pytest.mark.parametrize(
    ("successes", "n", "confidence"), [(2, 1, 0.95), (-1, 1, 0.95), (1, 2, 1.0), (1, 2, 0.0)]
)
def test_wilson_refuses_what_is_no_share(successes: int, n: int, confidence: float) -> None:
    """More successes than tries, negative counts and a confidence of 0 or 1 are errors of the caller."""
    with pytest.raises(ValueError, match=r"needs|lies"):
        wilson(successes, n, confidence)


@pytest.mark.parametrize(
    ("one", "other", "limits"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
    ],
)
def test_the_difference_of_shares_has_the_published_limits(
    one: tuple[int, int], other: tuple[int, int], limits: tuple[float, float]
) -> None:
    """Newcombe (1998, independent proportions), table II, method 10, to 4 digits."""
    interval = difference(*one, *other)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == limits


def test_a_difference_needs_both_shares() -> None:
    """With no item on one side there is nothing to compare."""
    assert difference(1, 2, 0, 0) is None
    assert difference(0, 0, 1, 2) is None
