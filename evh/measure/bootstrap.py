"""Intervals of means and of their differences: items drawn anew, with replacement.

Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13 (percentile interval);
Davison & Hinkley (1997), section 3.8, for items in clusters (whole clusters are drawn).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.measure.flips import grouped
from evh.measure.grid import to_grid

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 2_000
CONFIDENCE = 0.95
_AT_ONCE = 256
_EXACT_32 = 2.0**24


@dataclass(frozen=True, slots=True)
class MeanIntervals:
    """Percentile intervals; NaN where there are fewer than two items (or clusters) to draw from.

    Attributes:
        low, high: an end for each arm's mean.
        pair_low, pair_high: an end for each pair's difference, first minus second, over the items that both
            were scored on, in the order of ``numpy.triu_indices(arms, 1)``.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    pair_low: NDArray[np.float64]
    pair_high: NDArray[np.float64]


def mean_intervals(
    scores: NDArray[np.float64],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = CONFIDENCE,
    groups: NDArray[np.intp] | None = None,
    pairs: bool = True,
) -> MeanIntervals:
    """Return the intervals of every arm's mean and of every pair's difference, from the same resamples.

    Args:
        scores: items × arms; NaN where an arm was not scored on an item.
        resamples: how many times the items are drawn.
        seed: of the draw.
        confidence: two-sided, above 0 and below 1.
        groups: each item's cluster, from 0: whole clusters are drawn.
        pairs: whether pairs are wanted too.

    Raises:
        ValueError: the scores are not a table or hold an infinity.

    Cost: resamples × items random numbers and one product of resamples × items × arms; for pairs of arms that
    were not scored on the same items one more, of resamples × items × pairs. Sums are exact: the ends are the
    same on any number of threads.
    """
    import numpy as np

    grid = to_grid(scores)
    first, second = np.triu_indices(grid.arms, 1)
    present = grid.present.astype(np.float64)
    complete = bool(grid.present.all())
    apart, both = [], []
    uneven = np.zeros(len(first), np.bool_)
    if pairs and not complete:
        for place, (a, b) in enumerate(zip(first, second, strict=True)):
            if (grid.present[:, a] != grid.present[:, b]).any():
                uneven[place] = np.True_
                shared = grid.present[:, a] & grid.present[:, b]
                apart.append(np.where(shared, grid.whole[:, a] - grid.whole[:, b], 0.0))
                both.append(shared.astype(np.float64))
    columns = np.column_stack([grid.whole, present, *apart, *both])
    if groups is not None:
        columns = grouped(columns, groups)
    tops, counts = _resampled(columns, resamples, seed, arms=grid.arms, uneven=len(apart))
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = tops / counts * grid.step
    means, lone = drawn[:, : grid.arms], drawn[:, grid.arms :]
    enough = (columns[:, grid.arms : 2 * grid.arms] > 0).sum(0) > 1
    low, high = _ends(means, confidence, enough)
    if not pairs:
        return MeanIntervals(low, high, np.empty(0), np.empty(0))
    differences = means[:, first] - means[:, second]
    differences[:, uneven] = lone
    held = enough[first] & enough[second]
    if both:
        held[uneven] = (columns[:, 2 * grid.arms + len(apart) :] > 0).sum(0) > 1
    pair_low, pair_high = _ends(differences, confidence, held)
    return MeanIntervals(low, high, pair_low, pair_high)


def percentile_ends(drawn: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Return the ends of the percentile interval of what was drawn; NaN twice where nothing was.

    The ends are the k-th and the k-th last value, k being the tail's share rounded down. A resample without a
    figure (NaN) is passed over.
    """
    import numpy as np

    values = drawn[~np.isnan(drawn)]
    if not len(values):
        return float("nan"), float("nan")
    tail = int((1 - confidence) / 2 * len(values))
    ordered = np.partition(values, (tail, len(values) - 1 - tail))
    return float(ordered[tail]), float(ordered[len(values) - 1 - tail])


def _resampled(
    columns: NDArray[np.float64], resamples: int, seed: int, *, arms: int, uneven: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums and counts of each resample: of every arm, then of every uneven pair."""
    import numpy as np

    n = len(columns)
    # A resample may draw one item n times over: the largest sum there is.
    small = n * float(np.abs(columns).max(initial=0.0)) < _EXACT_32
    kind: Any = np.float32 if small else np.float64
    table = np.ascontiguousarray(columns, kind)
    made = np.empty((resamples, table.shape[1]))
    start = 0
    for weights in _weights(n, resamples, seed):
        made[start : start + len(weights)] = weights.astype(kind) @ table
        start += len(weights)
    tops = np.concatenate([made[:, :arms], made[:, 2 * arms : 2 * arms + uneven]], axis=1)
    counts = np.concatenate([made[:, arms : 2 * arms], made[:, 2 * arms + uneven :]], axis=1)
    return tops, counts


def _weights(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Give blocks of resamples: how often each item was drawn, resamples × items."""
    import numpy as np

    draw = np.random.default_rng(seed)
    for start in range(0, resamples, _AT_ONCE):
        rows = min(_AT_ONCE, resamples - start)
        places = draw.integers(0, n, (rows, n)) if n else np.empty((rows, 0), np.int64)
        places += (np.arange(rows) * n)[:, None]
        yield np.bincount(places.ravel(), minlength=rows * n).reshape(rows, n)


def _ends(
    drawn: NDArray[np.float64], confidence: float, enough: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the percentile ends of each column that has enough to draw from; NaN elsewhere."""
    import numpy as np

    low, high = np.full(drawn.shape[1], np.nan), np.full(drawn.shape[1], np.nan)
    for place in np.flatnonzero(enough):
        low[place], high[place] = percentile_ends(drawn[:, place], confidence)
    return low, high
