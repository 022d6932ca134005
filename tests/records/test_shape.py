"""What counts as a number: what a float can hold."""

from __future__ import annotations

import pytest

from evh.records.shape import is_number


@pytest.mark.parametrize("value", [0, -1, 1.5, 10**308, 5e-324])
def test_finite_numbers_are_numbers(value: object) -> None:
    """Whole ones and others, the largest and the smallest."""
    assert is_number(value)


@pytest.mark.parametrize("value", [10**400, -(10**400), float("nan"), float("inf"), True, "1", None])
def test_what_no_float_holds_is_no_number(value: object) -> None:
    """A whole number of 400 digits too, without an error."""
    assert not is_number(value)
