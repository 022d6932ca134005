"""Drawing n items anew, by counts: how often each kind of item occurs, exactly multinomial.

Poisson counts of independent kinds are a multinomial once their sum is given (Devroye 1986, "Non-Uniform
Random Variate Generation", chapter XI). So nearly every number here is a Poisson draw of one fixed rate,
looked up in a table, which is several times cheaper than the binomials, each of its own n, that a multinomial
is usually drawn from. What makes the sum n is either of:

- few kinds: the largest one is what the others leave of n, and the row stands with the chance that its own
  Poisson gives that number (`_by_rejection`);
- many rare kinds: they are drawn at a rate a little too low, and the items that are missing are drawn one by
  one (`_by_filling`).

The uniform numbers come from NumPy's `RandomState` over `MT19937`, whose streams are frozen: the same counts
and seed give the same rows.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

# A kind of item rarer than this is drawn with the other rare ones, where there are so many of them.
_RARE = 32
# With a smaller largest share, too many rows would be thrown away.
_LARGEST = 1 / 16
# With more items a table is long, and takes longer to make than it saves.
_MOST = 1 << 24
# A block of rows holds at most so many counts.
_AT_ONCE = 1 << 21
# Cells of a table's guide: where in it the search for a uniform number begins.
_GUIDE = 1024
# A table ends this many standard deviations from the mean: beyond lies less than 1e-16.
_REACH = 9
# How many standard deviations too few the rare items are drawn, before they are filled up: with fewer, more
# rows are over their sum and drawn again; with more, more items are drawn one by one.
_SHORT = 2.0


def redraw(given: NDArray[np.int64], resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Give how often each kind occurs when all items are drawn anew, a block of resamples after the other.

    Args:
        given: how many items there are of each kind; none is 0.
        resamples: how many times all are drawn.
        seed: of the draws.

    Cost: about 15 ns a kind and resample.
    """
    import numpy as np

    draw = np.random.RandomState(np.random.MT19937(seed))
    n, kinds = int(given.sum()), len(given)
    rare = np.flatnonzero(given < _RARE)
    if len(rare) < _RARE:
        rare = rare[:0]
    common = np.setdiff1d(np.arange(kinds), rare)
    pooled = int(given[rare].sum())
    counts = np.append(given[common], pooled) if pooled else given
    at_once = max(1, _AT_ONCE // kinds)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        drawn = _few(counts, n, rows, draw)
        block = np.empty((rows, kinds), np.int64)
        block[:, common] = drawn[:, : len(common)]
        if pooled:
            block[:, rare] = _by_filling(given[rare], drawn[:, -1], draw)
        yield block


def _few(counts: NDArray[np.int64], n: int, rows: int, draw: np.random.RandomState) -> NDArray[np.int64]:
    if len(counts) > 1 and n < _MOST and counts.max() >= n * _LARGEST:
        return _by_rejection(counts, n, rows, draw)
    return draw.multinomial(n, counts / n, size=rows)


def _by_rejection(
    counts: NDArray[np.int64], n: int, rows: int, draw: np.random.RandomState
) -> NDArray[np.int64]:
    """Return rows of a multinomial: Poisson counts, the largest kind what is left, by its own chance."""
    import numpy as np

    largest = int(np.argmax(counts))
    others = np.delete(np.arange(len(counts)), largest)
    tables = _joined(tuple(float(one) for one in counts[others]))
    least, chance = _chances(float(counts[largest]))
    made: list[NDArray[np.int64]] = []
    wanted = rows
    while wanted > 0:
        tried = int(wanted / np.sqrt(counts[largest] / n) * 1.05) + 16
        drawn = tables.draw(tried, draw)
        left = n - drawn.sum(1)
        at = left - least
        inside = (left >= 0) & (at >= 0) & (at < len(chance))
        stands = inside & (draw.random_sample(tried) < chance[np.where(inside, at, 0)])
        taken = np.flatnonzero(stands)[:wanted]
        block = np.empty((len(taken), len(counts)), np.int64)
        block[:, others] = drawn[taken]
        block[:, largest] = left[taken]
        made.append(block)
        wanted -= len(taken)
    return np.concatenate(made)


def _by_filling(
    counts: NDArray[np.int64], sums: NDArray[np.int64], draw: np.random.RandomState
) -> NDArray[np.int64]:
    """Return a multinomial of each sum: Poisson counts that fall short of it, then the missing items singly.

    A row that is over its sum is drawn again: given its sum a row is multinomial, whatever that sum is, so
    that leaving such rows out favours no kind.
    """
    import numpy as np

    n = int(counts.sum())
    kinds = len(counts)
    rates = tuple(sorted({int(one) for one in counts}))
    made = np.zeros((len(sums), kinds), np.int64)
    waiting = np.arange(len(sums))
    low = max(0.0, float(sums.mean()) - _SHORT * float(np.sqrt(n))) / n
    tables = _joined(tuple(one * low for one in rates))
    place = np.searchsorted(rates, counts)
    while len(waiting):
        drawn = tables.draw(len(waiting), draw, place)
        stands = drawn.sum(1) <= sums[waiting]
        made[waiting[stands]] = drawn[stands]
        waiting = waiting[~stands]
    missing = sums - made.sum(1)
    kind = np.repeat(np.arange(kinds), counts)
    chosen = kind[draw.randint(0, n, int(missing.sum()))]
    row = np.repeat(np.arange(len(sums)) * kinds, missing)
    made += np.bincount(row + chosen, minlength=made.size).reshape(made.shape)
    return made


class _Table(NamedTuple):
    """A Poisson's cumulative chances from its least number on, and where the search for each begins."""

    least: int
    upto: NDArray[np.float64]
    guide: NDArray[np.int64]


class _Tables(NamedTuple):
    """Several tables end to end: ``shift`` turns a place in ``upto`` into the number that it stands for.

    ``keyed`` is ``upto`` with each table's number added: sorted as a whole.
    """

    upto: NDArray[np.float64]
    keyed: NDArray[np.float64]
    guide: NDArray[np.int64]
    shift: NDArray[np.int64]

    def draw(
        self, rows: int, draw: np.random.RandomState, columns: NDArray[np.intp] | None = None
    ) -> NDArray[np.int64]:
        """Return rows × columns of draws; column c from table ``columns[c]``, by default from the c-th."""
        import numpy as np

        tables = np.arange(len(self.shift)) if columns is None else columns
        uniform = draw.random_sample((rows, len(tables)))
        cell = (uniform * _GUIDE).astype(np.int64)
        cell += tables * _GUIDE
        place = self.guide.take(cell)
        behind = self.upto.take(place) <= uniform
        place += behind
        flat, sought = place.reshape(-1), uniform.reshape(-1)
        left = np.flatnonzero(behind)
        left = left[self.upto.take(flat[left]) <= sought[left]]
        if len(left):  # in the tails many numbers share a cell of the guide
            table = tables[left % len(tables)]
            flat[left] = np.searchsorted(self.keyed, table + sought[left], side="right")
        place += self.shift[tables]
        return place


def _joined(rates: Sequence[float]) -> _Tables:
    import numpy as np

    held = [_table(rate) for rate in rates]
    sizes = [len(one.upto) for one in held]
    starts = np.cumsum([0, *sizes[:-1]])
    upto = np.concatenate([one.upto for one in held])
    return _Tables(
        upto,
        upto + np.repeat(np.arange(len(held)), sizes),
        np.concatenate([one.guide + start for one, start in zip(held, starts, strict=True)]),
        np.array([one.least for one in held]) - starts,
    )


@functools.lru_cache(maxsize=2_000)
def _table(rate: float) -> _Table:
    """Return the table of a Poisson."""
    import numpy as np

    least, chance = _pmf(rate)
    upto = np.cumsum(chance)
    upto /= upto[-1]
    guide = np.searchsorted(upto, np.arange(_GUIDE) / _GUIDE, side="right")
    return _Table(least, upto, guide)


def _chances(rate: float) -> tuple[int, NDArray[np.float64]]:
    """Return a Poisson's chances, from its least number on, as shares of the largest."""
    least, chance = _pmf(rate)
    return least, chance / chance.max()


def _pmf(rate: float) -> tuple[int, NDArray[np.float64]]:
    """Return the least number that is told and the chances from it on, but for a factor."""
    import numpy as np

    reach = _REACH * np.sqrt(rate) + 20
    least = max(0, int(rate - reach))
    numbers = np.arange(least + 1, int(rate + reach) + 2)
    # From one number to the next the chance grows by rate / number.
    logs = np.concatenate([[0.0], np.cumsum(np.log(rate) - np.log(numbers))]) if rate > 0 else np.array([0.0])
    return least, np.exp(logs - logs.max())
