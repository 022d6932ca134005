"""Means that do not depend on the order of their values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def mean(values: Iterable[float]) -> float | None:
    """Return the arithmetic mean; None when there are no values.

    The sum is exact before its one rounding (``math.fsum``), so any order of the same values gives the same
    bytes. The mean of finite values is finite: where their sum is too large for a float, it is divided
    before it is rounded. Cost: one pass.
    """
    kept = list(values)
    if not kept:
        return None
    try:
        return math.fsum(kept) / len(kept)
    except OverflowError:
        return _mean_of_huge(kept)


def _mean_of_huge(values: list[float]) -> float:
    from fractions import Fraction

    total = sum(Fraction(float(value)) for value in values)
    try:  # only a partial sum was too large: rounded as `math.fsum` rounds, or the order would matter
        return float(total) / len(values)
    except OverflowError:
        return float(total / len(values))
