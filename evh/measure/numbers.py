"""Means that do not depend on the order of their values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def mean(values: Iterable[float]) -> float | None:
    """Return the arithmetic mean; None when there are no values.

    The sum is exact before its one rounding (``math.fsum``), so any order of the same values gives the same
    bytes. Cost: one pass.
    """
    kept = list(values)
    if not kept:
        return None
    return math.fsum(kept) / len(kept)
