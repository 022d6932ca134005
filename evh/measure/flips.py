"""Paired tests of arms on the same items: sign flips of the differences, for all pairs of arms at once.

The null hypothesis of a pair is that each item's difference is as likely to have the other sign. Its
two-sided p is the share of all sign patterns whose sum is at least as far from 0 as the one that was seen.
Source: Fisher (1935), "The Design of Experiments", section 21; with the add-one rule of Phipson & Smyth
(2010), "Permutation p-values should never be zero".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.measure.grid import to_grid

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from evh.measure.grid import Grid

FLIPS = 10_000
"""How many sign patterns are drawn where they are too many to count."""
COUNTED = 20
"""The most non-zero differences for which all sign patterns are counted."""
BLOCKS = 10_000
"""How many blocks of items are flipped as one where items are many more."""
_AT_ONCE = 256  # sign patterns in one product: 10 MB of float32 at 10,000 items
_EXACT_32 = 2.0**24


@dataclass(frozen=True, slots=True)
class PairTests:
    """Every pair of arms, the first before the second, in the order of ``numpy.triu_indices(arms, 1)``.

    Attributes:
        first, second: the arms' places.
        n: items that both were scored on.
        difference: the mean of first minus second over them; NaN where there is none.
        nonzero: of those items (or blocks, or clusters), how many differ.
        p: the two-sided p; 1 where nothing differs, NaN where no item was scored by both.
        counted: all sign patterns were counted; else ``flips`` of them were drawn.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    n: NDArray[np.int64]
    difference: NDArray[np.float64]
    nonzero: NDArray[np.int64]
    p: NDArray[np.float64]
    counted: NDArray[np.bool_]


def sign_flip_tests(
    scores: NDArray[np.float64],
    *,
    flips: int = FLIPS,
    seed: int = 0,
    groups: NDArray[np.intp] | None = None,
) -> PairTests:
    """Test every pair of arms.

    Args:
        scores: items × arms, higher or lower better alike; NaN where an arm was not scored on an item.
        flips: how many sign patterns are drawn for a pair with more than ``COUNTED`` non-zero differences.
            The same ones serve every pair.
        seed: of the draw.
        groups: each item's cluster or block, from 0: its items get one sign together. Clusters, because
            their items are no independent evidence; blocks (see `hashed_blocks`), because flips of whole
            blocks are a subgroup of all flips and keep the level exact at a fraction of the work.

    Raises:
        ValueError: the scores are not a table or hold an infinity.

    Cost: one product of flips × items × arms for the arms that were scored on the same items, and of flips ×
    items × pairs for other pairs. Sums are exact, so p is the same on any number of threads.
    """
    import numpy as np

    grid = to_grid(scores)
    first, second = np.triu_indices(grid.arms, 1)
    n, total = _shared(grid, first, second)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        difference = total * grid.step / n
        difference = np.where(np.isinf(difference), total / n * grid.step, difference)
    alike = _alike(grid)
    sums = _grouped(grid.whole, groups)
    test = _Test(first, second, grid.slack, flips=flips, seed=seed)
    for place, (a, b) in enumerate(zip(first, second, strict=True)):
        if alike[a] == alike[b]:
            apart = sums[:, a] - sums[:, b]
        else:
            both = grid.present[:, a] & grid.present[:, b]
            apart = _grouped(np.where(both, grid.whole[:, a] - grid.whole[:, b], 0.0)[:, None], groups)[:, 0]
            test.apart[place] = apart
        test.count(place, apart)
    test.draw(sums)
    test.p[n == 0] = np.nan
    return PairTests(first, second, n, difference, test.nonzero, test.p, test.counted)


def hashed_blocks(ids: list[str], blocks: int = BLOCKS) -> NDArray[np.intp]:
    """Return a block for each item, by a hash of its id: the same whatever the order of the items."""
    import zlib

    import numpy as np

    return np.fromiter((zlib.crc32(one.encode()) % blocks for one in ids), np.intp, len(ids))


class _Test:
    """The tests of all pairs while they are made."""

    def __init__(
        self, first: NDArray[np.intp], second: NDArray[np.intp], slack: float, *, flips: int, seed: int
    ) -> None:
        import numpy as np

        pairs = len(first)
        self._first, self._second, self._slack = first, second, slack
        self._flips, self._seed = flips, seed
        self.p = np.ones(pairs)
        self.nonzero = np.zeros(pairs, np.int64)
        self.counted = np.ones(pairs, np.bool_)
        self.apart: dict[int, NDArray[np.float64]] = {}
        self._seen = np.zeros(pairs)

    def count(self, place: int, apart: NDArray[np.float64]) -> None:
        """Test one pair by counting all its sign patterns, where they are few enough."""
        import numpy as np

        left = apart[apart != 0]
        self.nonzero[place] = len(left)
        self._seen[place] = abs(float(left.sum()))
        if len(left) <= COUNTED:
            self.p[place] = _counted(left, self._seen[place] - self._slack)
        else:
            self.counted[place] = np.False_

    def draw(self, sums: NDArray[np.float64]) -> None:
        """Test the other pairs by drawn sign patterns: r·(a − b) = r·a − r·b serves every pair at once."""
        import numpy as np

        drawn = np.flatnonzero(~self.counted)
        if not len(drawn):
            return
        shared = np.array([one for one in drawn if one not in self.apart], np.intp)
        single = np.array([one for one in drawn if one in self.apart], np.intp)
        columns = np.column_stack([sums, *(self.apart[int(one)] for one in single)])
        # Whole numbers below 2**24 add up exactly in float32, which takes half the time.
        small = np.abs(columns).sum(0).max() * 2 < _EXACT_32
        columns = np.ascontiguousarray(columns, np.float32 if small else np.float64)
        whole = columns.sum(0, dtype=np.float64)
        a, b, arms = self._first[shared], self._second[shared], sums.shape[1]
        hits = np.zeros(len(self.p), np.int64)
        limits = self._seen - self._slack
        for signs in _patterns(len(columns), self._flips, self._seed, columns.dtype):
            flipped = 2 * (signs @ columns) - whole.astype(columns.dtype)
            hits[shared] += (np.abs(flipped[:, a] - flipped[:, b]) >= limits[shared]).sum(0)
            hits[single] += (np.abs(flipped[:, arms:]) >= limits[single]).sum(0)
        self.p[drawn] = (hits[drawn] + 1) / (self._flips + 1)


def _patterns(n: int, flips: int, seed: int, kind: np.dtype[Any]) -> Iterator[NDArray[np.floating[Any]]]:
    """Give blocks of sign patterns as 0 and 1: patterns × items. How they are cut changes none."""
    import numpy as np

    draw = np.random.default_rng(seed)
    width = -(-n // 64) * 8  # whole words, so that a block's end throws no drawn bytes away
    for start in range(0, flips, _AT_ONCE):
        rows = min(_AT_ONCE, flips - start)
        raw = np.frombuffer(draw.bytes(rows * width), np.uint8).reshape(rows, width)
        yield np.unpackbits(raw, axis=1, count=n).astype(kind)


def _counted(left: NDArray[np.float64], limit: float) -> float:
    """Return the share of all sign patterns whose sum is at least ``limit`` from 0.

    The differences are cut in two halves; the sums of one are sorted and those of the other looked up.
    """
    import numpy as np

    if limit <= 0:
        return 1.0
    half = len(left) // 2
    low, high = _all_sums(left[:half]), np.sort(_all_sums(left[half:]))
    above = len(high) - np.searchsorted(high, limit - low, side="left")
    below = np.searchsorted(high, -limit - low, side="right")
    return float(int(above.sum()) + int(below.sum())) / 2.0 ** len(left)


def _all_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _alike(grid: Grid) -> list[int]:
    """Return a number for each arm: equal for arms that were scored on the same items."""
    known: dict[bytes, int] = {}
    return [known.setdefault(grid.present[:, arm].tobytes(), len(known)) for arm in range(grid.arms)]


def _shared(
    grid: Grid, first: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return, for each pair, how many items both were scored on, and the sum of their differences."""
    import numpy as np

    present = grid.present.astype(np.float64)
    n = (present.T @ present)[first, second].astype(np.int64)
    # whole is 0 where an arm has no score: its sum over the other's items needs that mask alone.
    within = grid.whole.T @ present
    return n, within[first, second] - within[second, first]


def _grouped(columns: NDArray[np.float64], groups: NDArray[np.intp] | None) -> NDArray[np.float64]:
    return columns if groups is None else grouped(columns, groups)


def grouped(columns: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the columns summed by group: groups × columns.

    Args:
        columns: items × columns.
        groups: each item's group, from 0.
    """
    import numpy as np

    size = int(groups.max(initial=-1)) + 1
    return np.column_stack([np.bincount(groups, weights=column, minlength=size) for column in columns.T])
