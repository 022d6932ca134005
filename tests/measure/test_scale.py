"""Scales: which labels are numbers, and where a label lies."""

from __future__ import annotations

import pytest

from evh.measure.scale import Scale, number, points


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3.0), ("-2.5", -2.5), ("+.5", 0.5), ("1e3", 1000.0), ("2.", 2.0), ("007", 7.0)],
)
def test_decimal_digits_are_a_number(text: str, value: float) -> None:
    """Signs, a point and an exponent are read."""
    assert number(text) == value


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "1e999", "1_000", "1,5", " 3", "3\n", "0x1", "٣", "1/2", "three", "1e99999"]
)
def test_other_texts_are_no_number(text: str) -> None:
    """What only some readers take for a number, or what is not finite, is a text."""
    assert number(text) is None


def test_points_of_each_scale() -> None:
    """Nominal and interval: the number; ordinal: the place among the numbers, or in the order; ratio: ≥ 0."""
    labels = ["10", "2", "-1", "x"]
    assert points(Scale(), labels) == {"10": 10.0, "2": 2.0, "-1": -1.0}
    assert points(Scale("interval"), labels) == {"10": 10.0, "2": 2.0, "-1": -1.0}
    assert points(Scale("ratio"), labels) == {"10": 10.0, "2": 2.0}
    assert points(Scale("ordinal"), labels) == {"-1": 0.0, "2": 1.0, "10": 2.0}
    assert points(Scale("ordinal", ("low", "mid", "high")), ["high", "low", "x"]) == {"low": 0.0, "high": 2.0}


def test_equal_numbers_share_a_place() -> None:
    """1 and 1.0 are two labels and one number."""
    assert points(Scale("ordinal"), ["1", "1.0", "2"]) == {"1": 0.0, "1.0": 0.0, "2": 1.0}
