"""Where figures and their intervals lie on one axis: what the small charts of a table's rows share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_TICKS = 5
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from ``low`` to ``high`` with its ticks, its ends among them; ``places`` decimals tell them."""

    low: float
    high: float
    ticks: tuple[float, ...]
    places: int


def axis_of(values: Iterable[float | None]) -> Axis:
    """Return the axis that holds all values: its ends are round numbers, with at most five steps between.

    Values from 0 to 1 stay within 0 and 1. Without a value it is 0 to 1.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return Axis(0.0, 1.0, (0.0, 0.5, 1.0), 1)
    low, high = min(known), max(known)
    if low == high:
        apart = abs(low) * 0.05 or 0.5
        unit = 0 <= low <= 1
        low, high = (max(low - apart, 0.0), min(high + apart, 1.0)) if unit else (low - apart, high + apart)
    rough = (high - low) / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in _STEPS if one * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(at * step, 12) for at in range(first, last + 1))
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if round(step, places) != round(step, places + 1):  # 0.25 takes one place more than its power says
        places += 1
    return Axis(ticks[0], ticks[-1], ticks, places)


def p_text(value: float | None) -> str:
    """Return a p as text: four places, "< 0.0001" below them; empty for none."""
    if value is None:
        return ""
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
