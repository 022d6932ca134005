"""Agreement of many answers at once: NumPy counting over one small integer a rating.

The functions count exactly what the plain ones in ``agreement`` and ``alpha`` count. They pay for the import
of NumPy, so small inputs never come here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any

from evh.measure.alpha import PAIRABLE, AlphaCounts, alpha_from_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

# An int8 code has room for this many answers beside -1.
MOST_ANSWERS = 127

# A histogram must stay in the processor's cache, or counting waits for memory; 16 bits must hold its index.
_MOST_BINS = 50_000
# Items a slice: their codes stay in the cache while they are counted.
_PAIR_SLICE = 1 << 18
_ALPHA_SLICE = 1 << 17
_MOST_IN_64_BITS = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Label sets as one table of small integers.

    Attributes:
        items: the keys of the items, in the order in which the sets first name them; one a column.
        answers: the canonical label texts, sorted; code c stands for answers[c].
        codes: int8, sets × items; -1 where a set does not label the item.
    """

    items: tuple[str, ...]
    answers: tuple[str, ...]
    codes: NDArray[np.int8]


def encode(sets: Sequence[Mapping[str, str]]) -> Codes:
    """Code label sets (item key → canonical label text) over the union of their items.

    Items stand in the order in which the sets first name them, so that sets over the same items in the same
    order, which is what a sheet gives, are coded without a look-up an item.

    Cost: a look-up a rating at most.

    Raises:
        ValueError: the sets hold more than 127 different labels.
    """
    import numpy as np

    items = list(dict.fromkeys(chain.from_iterable(sets)))
    answers = tuple(sorted({label for labels in sets for label in labels.values()}))
    if len(answers) > MOST_ANSWERS:
        raise ValueError(f"int8 codes hold at most {MOST_ANSWERS} different labels, not {len(answers)}")
    code: dict[str | None, int] = {answer: number for number, answer in enumerate(answers)}
    code[None] = -1
    table = np.empty((len(sets), len(items)), np.int8)
    for row, labels in enumerate(sets):
        ordered = list(labels) == items
        given = labels.values() if ordered else map(labels.get, items)
        table[row] = np.fromiter(map(code.__getitem__, given), np.int8, len(items))
    return Codes(tuple(items), answers, table)


def all_pairs(codes: NDArray[np.int8], k: int) -> NDArray[np.int64]:
    """Count the confusion matrix of every two sets.

    One histogram over the joint codes of several sets holds the table of every two of them. The sets are
    taken in few such blocks, chosen so that every two sets meet in one: 10 sets of 5 answers are 4 passes
    over the items, not 45.

    Args:
        codes: integers, sets × items, each -1 (missing) or 0..k-1.
        k: how many answers there are.

    Returns:
        int64, sets × sets × k × k: [a, b, i, j] is how many items set a gives answer i and set b answer j.
        [a, a] is diagonal: how often set a gives each answer.

    Raises:
        ValueError: the table is not of that shape, or holds a code out of range.

    Cost: a pass over the items a block; memory for one slice of items.
    """
    import numpy as np

    _check(codes, k)
    sets, items = codes.shape
    counts = np.zeros((sets, sets, k, k), np.int64)
    base = k + 1  # a missing rating is one more answer while counting, and is cut off at the end
    groups, blocks = _cover(sets, base)
    histograms = [np.zeros(base ** sum(len(groups[at]) for at in block), np.int64) for block in blocks]
    for start in range(0, items, _PAIR_SLICE):
        joint = _joint_codes(codes[:, start : start + _PAIR_SLICE], groups, base)
        for block, counted in zip(blocks, histograms, strict=True):
            both = joint[block[0]]
            for at in block[1:]:
                both = both * np.uint16(base ** len(groups[at]))
                both += joint[at]
            np.add(counted, np.bincount(both, minlength=len(counted)), out=counted)
    for block, histogram in zip(blocks, histograms, strict=True):
        together = [one for at in block for one in groups[at]]
        _share_out(histogram.reshape((base,) * len(together)), together, counts)
    return counts


def kappas(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Cohen's kappa of every two sets from the tables of `all_pairs`; NaN where it is undefined.

    See ``confusion.cohen_kappa``.

    Returns:
        sets × sets.
    """
    import numpy as np

    rows, columns = counts.sum(3), counts.sum(2)
    n = rows.sum(2)
    same = np.trace(counts, axis1=2, axis2=3)
    chance = (rows * columns).sum(2)
    with np.errstate(invalid="ignore"):
        made: NDArray[np.float64] = (n * same - chance) / (n * n - chance)
    return made


def alpha_from_codes(codes: NDArray[np.int8], k: int) -> float | None:
    """Return Krippendorff's nominal alpha of the coded sets; None when it is undefined.

    Equal, bit for bit, to the plain path over the same ratings (see ``alpha.alpha_from_counts``).

    Args:
        codes: integers, sets × items, each -1 (missing) or 0..k-1.
        k: how many answers there are.

    Raises:
        ValueError: the table is not of that shape, or holds a code out of range.

    Cost: k comparisons a rating, one byte wide for up to 15 sets; memory for one block of items.
    """
    return alpha_from_counts(count_for_alpha(codes, k))


def count_for_alpha(codes: NDArray[np.int8], k: int) -> AlphaCounts:
    """Count coded ratings (sets × items, -1 missing) for alpha; see ``alpha_from_codes``."""
    import numpy as np

    _check(codes, k)
    sets, items = codes.shape
    narrow = _type_for(sets * sets)
    # Over the items: how many have m ratings and s as the sum of their squared answer counts.
    wide = sets * sets + 1
    have = np.zeros((sets + 1) * wide, np.int64)
    totals = np.zeros(k, np.int64)
    step = min(_ALPHA_SLICE, max(items, 1))
    chosen = np.empty(step, np.bool_)
    count = np.empty(step, narrow)
    joint = np.empty(step, _type_for(len(have)))
    for start in range(0, items, step):
        part = codes[:, start : start + step]
        width = part.shape[1]
        rated = np.zeros(width, narrow)
        squares = np.zeros(width, narrow)
        is_it, of_it, both = chosen[:width], count[:width], joint[:width]
        for answer in range(k):
            of_it[:] = 0
            for row in part:
                np.equal(row, answer, out=is_it)
                np.add(of_it, is_it.view(np.uint8), out=of_it)
            totals[answer] += int(of_it.sum(dtype=np.uint32))
            rated += of_it
            np.multiply(of_it, of_it, out=of_it)
            squares += of_it
        both[:] = rated
        both *= both.dtype.type(wide)
        both += squares
        have += np.bincount(both, minlength=len(have))
        once = np.flatnonzero(rated == 1)
        if len(once):  # one rating agrees or disagrees with nothing: it is in no total
            totals -= np.bincount(part[:, once].max(axis=0), minlength=k)
    by_size = have.reshape(sets + 1, wide)
    sums = by_size @ np.arange(wide)
    sizes = [m for m in range(PAIRABLE, sets + 1) if by_size[m].any()]
    unlike = {m: m * m * int(by_size[m].sum()) - int(sums[m]) for m in sizes}
    return AlphaCounts(int(by_size[PAIRABLE:].sum()), unlike, tuple(totals.tolist()))


def patterns_of(table: Codes) -> dict[tuple[str, ...], int]:
    """Count the items by their sorted labels, as ``alpha.rating_patterns`` does.

    Cost: one sort of a number an item; where the counts of all answers do not fit in one number, one a set.
    """
    import numpy as np

    codes, k = table.codes, len(table.answers)
    sets = len(codes)
    keep = codes[:, (codes >= 0).sum(0, dtype=np.int32) >= PAIRABLE]
    if (sets + 1) ** k < _MOST_IN_64_BITS:
        weight = np.array([*((sets + 1) ** answer for answer in range(k)), 0], np.int64)  # the last is -1's
        packed = np.zeros(keep.shape[1], np.int64)
        for row in keep:
            packed += weight[row]
    else:
        packed = np.zeros(keep.shape[1], np.int64)
        for row in np.sort(keep, axis=0):
            _, packed = np.unique(packed * (k + 1) + row + 1, return_inverse=True)
    _, first, times = np.unique(packed, return_index=True, return_counts=True)
    found: dict[tuple[str, ...], int] = {}
    for column, count in zip(keep[:, first].T.tolist(), times.tolist(), strict=True):
        found[tuple(sorted(table.answers[code] for code in column if code >= 0))] = count
    return dict(sorted(found.items()))


def parted(codes: NDArray[np.int8], one: int, other: int) -> dict[tuple[int, int], NDArray[np.intp]]:
    """Return the items on which two sets differ, by what each says: (code, code) → columns, ascending."""
    import numpy as np

    a, b = codes[one], codes[other]
    differ = np.flatnonzero((a != b) & (a >= 0) & (b >= 0))
    pair = a[differ].astype(np.int32) * (MOST_ANSWERS + 1) + b[differ]
    order = np.argsort(pair, kind="stable")
    values, starts = np.unique(pair[order], return_index=True)
    parts = np.split(differ[order], starts[1:])
    return {divmod(value, MOST_ANSWERS + 1): part for value, part in zip(values.tolist(), parts, strict=True)}


def _check(codes: NDArray[np.int8], k: int) -> None:
    if codes.ndim != 2 or codes.dtype.kind != "i":
        raise ValueError(f"codes are signed integers, sets × items, not {codes.dtype} with {codes.ndim} axes")
    if not 0 <= k <= MOST_ANSWERS:
        raise ValueError(f"at most {MOST_ANSWERS} different answers can be counted, not {k}")
    if codes.size and not (codes.min() >= -1 and codes.max() < k):
        raise ValueError(f"codes lie in -1..{k - 1}, not {codes.min()}..{codes.max()}")


def _cover(sets: int, base: int) -> tuple[list[range], list[tuple[int, ...]]]:
    """Return groups of sets, and blocks of groups such that every two sets meet in a block.

    A block is as large as its histogram allows. Blocks of two groups and blocks of three (a pair of groups
    that has not met yet, with the group that meets the most others there) are tried, and the fewer taken.
    """
    size = 1
    while base ** (size + 1) <= _MOST_BINS and size < sets:
        size += 1
    tried = []
    for parts in (1, 2, 3):
        wide = max(1, size // parts)
        if size >= sets or (wide * parts <= size and parts > 1):
            groups = _groups(sets, sets if size >= sets else wide)
            tried.append((groups, _blocks(len(groups), parts)))
    if not tried:  # two sets do not fit one histogram of few bins: every pair by itself
        groups = _groups(sets, 1)
        tried.append((groups, _blocks(len(groups), 2)))
    return min(tried, key=lambda one: len(one[1]))


def _groups(sets: int, size: int) -> list[range]:
    """Return groups of nearly equal size: 10 sets by three are 3 + 3 + 2 + 2, not 3 + 3 + 3 + 1."""
    count = -(-sets // max(size, 1))
    edges = [-(-sets * number // count) for number in range(count + 1)] if count else []
    return [range(low, high) for low, high in pairwise(edges)]


def _blocks(groups: int, parts: int) -> list[tuple[int, ...]]:
    if groups <= parts:
        return [tuple(range(groups))] if groups else []
    blocks = []
    waiting = dict.fromkeys(combinations(range(groups), 2))
    while waiting:
        one, other = next(iter(waiting))
        block = [one, other]
        if parts > 2:
            new = [(sum((min(at, x), max(at, x)) in waiting for x in block), -at) for at in range(groups)]
            block.append(-max(gain for gain in new if -gain[1] not in block)[1])
        for pair in combinations(sorted(block), 2):
            waiting.pop(pair, None)
        blocks.append(tuple(sorted(block)))
    return blocks


def _joint_codes(part: NDArray[np.int8], groups: list[range], base: int) -> list[NDArray[np.uint16]]:
    """Number the combination of answers that each group's sets give each item: a histogram's index.

    16 bits hold every index of a histogram; a step on the way may pass them and comes back.
    """
    import numpy as np

    joint = []
    for group in groups:
        code = np.zeros(part.shape[1], np.uint16)
        for row in group:
            code *= np.uint16(base)
            code += part[row].astype(np.uint16)  # -1 is 65535, which the 1 below brings to 0
            code += np.uint16(1)
        joint.append(code)
    return joint


def _share_out(histogram: NDArray[np.int64], sets: list[int], counts: NDArray[np.int64]) -> None:
    """Write each pair's table, summed out of a joint histogram with one axis a set, into the counts."""
    import numpy as np

    if len(sets) == 1:
        counts[sets[0], sets[0]] = np.diag(histogram[1:])
        return
    middle = len(sets) // 2
    left, right = sets[:middle], sets[middle:]
    _share_out(histogram.sum(axis=tuple(range(middle, len(sets)))), left, counts)
    _share_out(histogram.sum(axis=tuple(range(middle))), right, counts)
    for at, one in enumerate(left):
        rest = histogram.sum(axis=tuple(axis for axis in range(middle) if axis != at))
        for beside, other in enumerate(right):
            axes = tuple(axis for axis in range(1, len(right) + 1) if axis != beside + 1)
            table = rest.sum(axis=axes)[1:, 1:]
            counts[one, other] = table
            counts[other, one] = table.T


def _type_for(largest: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest unsigned type that holds the number: narrow columns are what makes this fast."""
    import numpy as np

    for narrow in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(narrow).max:
            return narrow
    return np.uint64
