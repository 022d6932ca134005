"""Means are exact sums and do not depend on order."""

from __future__ import annotations

from itertools import permutations

import pytest

from evh.measure.numbers import mean


def test_mean_of_nothing_is_none() -> None:
    """No values have no mean: None, not 0."""
    assert mean([]) is None


def test_mean_takes_any_iterable() -> None:
    """A generator is a fine source of values; (1 + 2 + 6) / 3 = 3."""
    assert mean(value for value in (1, 2, 6)) == 3.0


@pytest.mark.parametrize("values", [[1e16, 1.0, -1e16], [-1e16, 1.0, 1e16], [1.0, 1e16, -1e16]])
def test_mean_loses_no_small_value_in_any_order(values: list[float]) -> None:
    """A plain sum of these is 0 in two orders; the exact mean is 1/3 in each."""
    assert mean(values) == 1 / 3


def test_mean_of_the_largest_numbers_is_finite_in_any_order() -> None:
    """No float holds the sum of two of 1.7e308; their mean is 1.7e308. Mixed signs too, in every order."""
    assert mean([1.7e308, 1.7e308]) == 1.7e308
    assert mean([1.7e308, 1.7e308, -1.7e308, -1.7e308]) == 0.0
    assert len({mean(order) for order in permutations([1.7e308, 1.7e308, -1.7e308, 3.0])}) == 1
