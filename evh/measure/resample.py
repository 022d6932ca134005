"""Intervals of agreement: the items drawn anew, with replacement, by their counts.

To draw n items anew is to draw how often each kind of item occurs from a multinomial of those kinds' shares.
For a pair of sets the kinds are the cells of their table, for alpha the patterns of ratings; so no resample
looks at an item, and the intervals are those of a bootstrap over the items.

The draws of `redraw` are the same on any machine, and all sums are of integers: so are the intervals.
Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapters 6 and 13 (percentile).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.measure.alpha import PAIRABLE
from evh.measure.distance import NEEDS_POINTS, differences
from evh.measure.intervals import Interval
from evh.measure.redraw import redraw

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evh.measure.confusion import Confusion

VERSION = 3
"""Raised when an interval changes for the same counts: what keeps intervals must then forget them."""
RESAMPLES = 2_000
_CONFIDENCE = 0.95
# An interval needs a figure in nearly every resample: in one of a single answer there is none.
_DEFINED = 0.95
# Whole numbers below this, and their sums, are exact as floats of 64 bits, whose products are faster.
_EXACT = 1 << 53
# A product of so many steps is done by one thread: two callers' threads would be in each other's way.
_ALONE = 1 << 18
MOST_LABELS = 200
"""With more different labels no interval is given: the table of every resample would not fit."""
MOST_RANKED = 40
"""The same for ordinal alpha, whose distances are made anew in every resample."""


@dataclass(frozen=True, slots=True)
class PairIntervals:
    """The 95 % intervals of two sets' figures; None where there is none to give."""

    kappa: Interval | None
    ac1: Interval | None
    alpha: Interval | None


def pair_intervals(table: Confusion, *, resamples: int = RESAMPLES, seed: int = 0) -> PairIntervals:
    """Return the intervals of kappa, AC1 and the pair's nominal alpha, all from the same resamples.

    There is none where all items agree or the table holds one category (every resample says the same), where
    a twentieth of the resamples leaves the figure undefined, and with more than 200 categories. The number of
    categories that AC1 divides by stays that of the table. Swapping the two sets changes no byte.

    Cost: about 15 ns a cell that is not empty, a resample.
    """
    import numpy as np

    k, n = len(table.categories), table.n
    if n == 0 or k > MOST_LABELS or table.same == n:
        return PairIntervals(None, None, None)
    counts = min(table.counts, tuple(zip(*table.counts, strict=True)))
    cells = [(i, j) for i in range(k) for j in range(k) if counts[i][j]]
    adds = np.zeros((len(cells), 2 * k + 1), np.int64)
    for at, (i, j) in enumerate(cells):
        adds[at, i] = 1
        adds[at, k + j] = 1
        adds[at, 2 * k] = i == j
    given = np.array([counts[i][j] for i, j in cells], np.int64)
    sums = _sums(given, adds, resamples, seed)
    rows, columns, same = sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k]
    both = rows + columns
    by_chance = (rows * columns).sum(1)
    unlike = (both * (2 * n - both)).sum(1)
    whole = 4 * n * n * (k - 1)
    expected = 4 * n * n - (both * both).sum(1)
    return PairIntervals(
        kappa=_ends(n * same - by_chance, n * n - by_chance),
        ac1=_ends(4 * n * (k - 1) * same - unlike, whole - unlike),
        alpha=_ends(expected - (2 * n - 1) * 2 * (n - same), expected),
    )


def alpha_interval(
    patterns: Mapping[tuple[str, ...], int],
    scale: str = "nominal",
    points: Mapping[str, float] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Return the interval of ``alpha.alpha_of_patterns``.

    Given and left out as in `pair_intervals`; ordinal alpha has none with more than 40 different labels. A
    difference that is no whole number is rounded to a grid as fine as 64-bit sums allow (2^-20 of the largest
    difference at the coarsest), so that the sums are exact.

    Args:
        patterns: from ``alpha.rating_patterns``.
        scale: one of ``distance.SCALES``.
        points: where each label lies, for ordinal, interval and ratio.
        resamples: how many times the items are drawn.
        seed: of the draw.

    Cost: about 15 ns a pattern, a resample.
    """
    import numpy as np

    ordered = sorted(patterns)
    labels = sorted({label for ratings in ordered for label in ratings})
    most = MOST_RANKED if scale == "ordinal" else MOST_LABELS
    if not PAIRABLE <= len(labels) <= most or all(len(set(ratings)) == 1 for ratings in ordered):
        return None
    if scale in NEEDS_POINTS and not set(labels) <= set(points or ()):
        return None
    place = points or {}
    given = np.array([patterns[ratings] for ratings in ordered], np.int64)
    fine = _grid(int(given.sum()), max(map(len, ordered)))
    if scale == "ordinal":
        return _ordinal(ordered, labels, place, given, fine, resamples=resamples, seed=seed)
    weigh = np.array(differences(scale, labels, place, [0] * len(labels)))
    steps = np.rint(weigh / weigh.max() * fine).astype(np.int64)
    adds = np.zeros((len(ordered), len(labels) + 1), np.int64)
    for row, (_, m, counted) in enumerate(_counted(ordered, labels)):
        for i, count in counted:
            adds[row, i] = count
        apart = sum(a * b * int(steps[i, j]) for i, a in counted for j, b in counted)
        adds[row, -1] = round(apart / (m - 1))
    sums = _sums(given, adds, resamples, seed)
    totals, apart_in_all = sums[:, :-1], sums[:, -1]
    n = totals.sum(1)
    expected = np.zeros(len(n))
    for i in range(
        len(labels)
    ):  # one label after another: the order of these float sums is the same anywhere
        expected += totals[:, i].astype(np.float64) * (totals @ steps[:, i]).astype(np.float64)
    return _alpha_ends(n, apart_in_all.astype(np.float64), expected)


def _ordinal(
    ordered: Sequence[tuple[str, ...]],
    labels: list[str],
    points: Mapping[str, float],
    given: NDArray[np.int64],
    fine: int,
    *,
    resamples: int,
    seed: int,
) -> Interval | None:
    """Return the interval of ordinal alpha: a resample's totals make its mid-ranks, so its distances."""
    import numpy as np

    k = len(labels)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    column = {pair: k + at for at, pair in enumerate(pairs)}
    adds = np.zeros((len(ordered), k + len(pairs)), np.int64)
    for row, (_, m, counted) in enumerate(_counted(ordered, labels)):
        for at, (i, a) in enumerate(counted):
            adds[row, i] = a
            for j, b in counted[at + 1 :]:
                adds[row, column[i, j]] = round(a * b * fine / (m - 1))
    sums = _sums(given, adds, resamples, seed)
    totals = sums[:, :k]
    at_most = np.array([[points[other] <= points[one] for one in labels] for other in labels], np.int64)
    level = np.array([[points[other] == points[one] for one in labels] for other in labels], np.int64)
    ranks = (2 * (totals @ at_most) - totals @ level).astype(np.float64)  # twice the mid-rank
    apart = np.zeros(len(totals))
    expected = np.zeros(len(totals))
    for i, j in pairs:
        weigh = (ranks[:, i] - ranks[:, j]) ** 2
        apart += weigh * sums[:, column[i, j]]
        expected += weigh * totals[:, i] * totals[:, j]
    return _alpha_ends(totals.sum(1), apart, expected * fine)


def _alpha_ends(
    n: NDArray[np.int64], apart: NDArray[np.float64], expected: NDArray[np.float64]
) -> Interval | None:
    return _ends(expected - (n - 1) * apart, expected)


def _counted(
    ordered: Sequence[tuple[str, ...]], labels: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], int, list[tuple[int, int]]]]:
    """Give each pattern, its number of ratings, and (place of a label, its count) in the labels' order."""
    at = {label: place for place, label in enumerate(labels)}
    for ratings in ordered:
        counted = sorted((at[label], count) for label, count in Counter(ratings).items())
        yield ratings, len(ratings), counted


def _grid(items: int, most_ratings: int) -> int:
    """Return how many steps the largest difference has: no sum over the items passes 2^62."""
    return 1 << max(20, min(30, 62 - (items * most_ratings**2).bit_length()))


def _sums(given: NDArray[np.int64], adds: NDArray[np.int64], resamples: int, seed: int) -> NDArray[np.int64]:
    """Return resamples × columns: what each resample's items add up to.

    Args:
        given: how many items there are of each kind.
        adds: kinds × columns: what an item of the kind adds.
        resamples: how many times the items are drawn.
        seed: of the draw.
    """
    import numpy as np

    if int(given.sum()) * int(adds.max(initial=0)) >= _EXACT:
        return np.concatenate([block @ adds for block in redraw(given, resamples, seed)])
    floats = adds.astype(np.float64)
    step = max(1, _ALONE // adds.size)
    made = [
        block[start : start + step].astype(np.float64) @ floats
        for block in redraw(given, resamples, seed)
        for start in range(0, len(block), step)
    ]
    return np.concatenate(made).astype(np.int64)


def _ends(above: NDArray[Any], below: NDArray[Any]) -> Interval | None:
    """Return the percentile interval of above / below; where ``below`` is 0 a resample has no figure.

    The ends are the k-th smallest and the k-th largest, k = the whole part of (resamples + 1) × 0.025.
    """
    import numpy as np

    defined = below != 0
    if not len(below) or defined.mean() < _DEFINED:
        return None
    values = np.sort(above[defined] / below[defined])
    k = max(1, int((len(values) + 1) * (1 - _CONFIDENCE) / 2))
    low, high = float(values[k - 1]), float(values[-k])
    return Interval(low, high) if values[0] < values[-1] else None
