"""Scores as whole numbers of one small step: their sums are exact, so no order of adding changes a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The largest whole number below which float64 holds every whole number, with one bit to spare.
_ROOM = 2.0**52
_MOST_DECIMALS = 9
# How far a score may lie from a whole number of steps and still be read as one: float noise, nothing more.
_NOISE = 1e-12
# Scores whose largest lies outside of this are brought to 1..2 first.
_SMALL, _LARGE = 2.0**-30, 2.0**100


@dataclass(frozen=True, slots=True)
class Grid:
    """Scores of arms on items, as whole numbers of ``step``.

    Attributes:
        whole: items × arms, float64 holding whole numbers; 0 where an arm has no score.
        present: items × arms, whether the arm has a score there.
        step: what one unit is worth.
        exact: every score is a whole number of steps (as 0/1, percentages and rounded decimals are). Where
            not, each is off by half a step at most, and sums that differ by less than a step an item count as
            equal.
    """

    whole: NDArray[np.float64]
    present: NDArray[np.bool_]
    step: float
    exact: bool

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return int(self.whole.shape[1])

    @property
    def slack(self) -> float:
        """How far two equal sums of differences may lie apart, in steps."""
        return 0.0 if self.exact else float(len(self.whole))


def to_grid(scores: NDArray[np.float64]) -> Grid:
    """Put scores on the coarsest decimal grid that holds them, or else on the finest that sums exactly.

    Args:
        scores: items × arms; NaN where an arm was not scored on an item.

    Raises:
        ValueError: the scores are not a table, or one is infinite.
    """
    import numpy as np

    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores are items × arms, not {table.ndim} dimensions")
    present = ~np.isnan(table)
    filled = np.where(present, table, 0.0)
    if not np.isfinite(filled).all():
        raise ValueError("a score is infinite")
    largest = float(np.abs(filled).max(initial=0.0))
    n = max(len(filled), 1)
    if largest and not _SMALL < largest < _LARGE:
        # Their sums would be infinite, or all would count as 0: a power of two takes no digit away.
        _, power = np.frexp(largest)
        turned = to_grid(np.where(present, np.ldexp(table, 1 - int(power)), np.nan))
        return Grid(turned.whole, present, float(np.ldexp(turned.step, int(power) - 1)), turned.exact)
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10.0**decimals
        if largest * scale * n > _ROOM:
            break
        scaled = filled * scale
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= _NOISE * np.maximum(1.0, np.abs(scaled))).all():
            return Grid(whole, present, 1 / scale, exact=True)
    _, power = np.frexp(_ROOM / (largest * n) if largest else 1.0)
    scale = float(np.ldexp(1.0, int(power) - 1))
    return Grid(np.rint(filled * scale), present, 1 / scale, exact=False)
