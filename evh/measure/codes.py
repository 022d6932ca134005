"""Agreement of many answers at once: NumPy counting over one small integer a rating.

The functions count exactly what the plain ones in ``agreement`` and ``alpha`` count. They pay for the import
of NumPy, so small inputs never come here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from evh.measure.alpha import PAIRABLE, AlphaCounts, alpha_from_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

# An int8 code has room for this many answers beside -1.
MOST_ANSWERS = 127

# A histogram over two groups of sets must stay in the processor's cache, or counting waits for memory.
_MOST_BINS = 50_000
_MOST_SETS_A_GROUP = 3
# Items a block: the block's codes stay in the cache while every pair of groups is counted.
_PAIR_BLOCK = 1 << 17
_ALPHA_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Label sets as one table of small integers.

    Attributes:
        items: the keys of the items, sorted; one a column.
        answers: the canonical label texts, sorted; code c stands for answers[c].
        codes: int8, sets × items; -1 where a set does not label the item.
    """

    items: tuple[str, ...]
    answers: tuple[str, ...]
    codes: NDArray[np.int8]


def encode(sets: Sequence[Mapping[str, str]]) -> Codes:
    """Code label sets (item key → canonical label text) over the union of their items.

    Cost: a look-up a rating, and one sort of the item keys.

    Raises:
        ValueError: the sets hold more than 127 different labels.
    """
    import numpy as np

    items = tuple(sorted(set().union(*sets)))
    answers = tuple(sorted({label for labels in sets for label in labels.values()}))
    if len(answers) > MOST_ANSWERS:
        raise ValueError(f"int8 codes hold at most {MOST_ANSWERS} different labels, not {len(answers)}")
    code: dict[str | None, int] = {answer: number for number, answer in enumerate(answers)}
    code[None] = -1
    table = np.empty((len(sets), len(items)), np.int8)
    for row, labels in enumerate(sets):
        table[row] = np.fromiter(map(code.__getitem__, map(labels.get, items)), np.int8, len(items))
    return Codes(items, answers, table)


def all_pairs(codes: NDArray[np.int8], k: int) -> NDArray[np.int64]:
    """Count the confusion matrix of every two sets.

    Sets are taken in groups of up to three, and one histogram over the joint codes of two groups holds every
    pair of sets inside and across them: fewer passes over the items than one a pair.

    Args:
        codes: integers, sets × items, each -1 (missing) or 0..k-1.
        k: how many answers there are.

    Returns:
        int64, sets × sets × k × k: [a, b, i, j] is how many items set a gives answer i and set b answer j.
        [a, a] is diagonal: how often set a gives each answer.

    Raises:
        ValueError: the table is not of that shape, or holds a code out of range.

    Cost: about groups²/2 passes over the items; memory for one block of items.
    """
    import numpy as np

    _check(codes, k)
    sets, items = codes.shape
    counts = np.zeros((sets, sets, k, k), np.int64)
    if sets == 0:
        return counts
    base = k + 1  # a missing rating is one more answer while counting, and is cut off at the end
    groups = _groups(sets, base)
    paired = list(combinations(groups, 2)) or [(groups[0], range(0))]
    histograms = {pair: np.zeros(base ** sum(map(len, pair)), np.int64) for pair in paired}
    for start in range(0, items, _PAIR_BLOCK):
        block = codes[:, start : start + _PAIR_BLOCK]
        joint = {group: _joint_codes(block, group, base) for group in groups}
        for first, second in paired:
            both = joint[first]
            if second:
                both = both * base ** len(second)
                both += joint[second]
            histograms[first, second] += np.bincount(both, minlength=base ** (len(first) + len(second)))
    for (first, second), histogram in histograms.items():
        _share_out(histogram.reshape((base,) * (len(first) + len(second))), [*first, *second], counts)
    return counts


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
    totals = [0] * k
    # Histograms over the items by m, their number of ratings: how many there are, and the sum of squares.
    have = np.zeros(sets + 1, np.int64)
    alike = np.zeros(sets + 1, np.int64)
    narrow = _type_for(sets * sets)
    for start in range(0, items, _ALPHA_BLOCK):
        block = codes[:, start : start + _ALPHA_BLOCK]
        width = block.shape[1]
        rated = np.zeros(width, narrow)
        squares = np.zeros(width, narrow)
        chosen = np.empty(width, np.bool_)
        by_answer = []
        for answer in range(k):
            count = np.zeros(width, narrow)
            for row in block:
                np.equal(row, answer, out=chosen)
                count += chosen.view(np.uint8)
            rated += count
            squares += count * count
            by_answer.append(count)
        keep = (rated >= PAIRABLE).astype(narrow)
        for answer, count in enumerate(by_answer):
            totals[answer] += int(np.add.reduce(count * keep, dtype=np.int64))
        by_rated = rated.astype(np.intp)
        have += np.bincount(by_rated, minlength=sets + 1)
        # Weights are floats, but whole ones: a block's sum stays far below 2**53 and is exact.
        alike += np.bincount(by_rated, weights=squares, minlength=sets + 1).astype(np.int64)
    unlike = {m: m * m * int(have[m]) - int(alike[m]) for m in range(PAIRABLE, sets + 1) if have[m]}
    return AlphaCounts(int(have[PAIRABLE:].sum()), unlike, tuple(totals))


def _check(codes: NDArray[np.int8], k: int) -> None:
    if codes.ndim != 2 or codes.dtype.kind != "i":
        raise ValueError(f"codes are signed integers, sets × items, not {codes.dtype} with {codes.ndim} axes")
    if not 0 <= k <= MOST_ANSWERS:
        raise ValueError(f"at most {MOST_ANSWERS} different answers can be counted, not {k}")
    if codes.size and not (codes.min() >= -1 and codes.max() < k):
        raise ValueError(f"codes lie in -1..{k - 1}, not {codes.min()}..{codes.max()}")


def _groups(sets: int, base: int) -> list[range]:
    size = _MOST_SETS_A_GROUP
    while size > 1 and base ** (2 * size) > _MOST_BINS:
        size -= 1
    count = -(-sets // size)
    # Groups of nearly equal size: 10 sets are 3 + 3 + 2 + 2, not 3 + 3 + 3 + 1.
    edges = [-(-sets * number // count) for number in range(count + 1)]
    return [range(low, high) for low, high in pairwise(edges)]


def _joint_codes(block: NDArray[np.int8], group: range, base: int) -> NDArray[np.intp]:
    """Number the combination of answers that the group's sets give each item of the block."""
    import numpy as np

    joint = np.zeros(block.shape[1], np.intp)
    for row in group:
        joint *= base
        joint += block[row]
        joint += 1
    return joint


def _share_out(histogram: NDArray[np.int64], sets: list[int], counts: NDArray[Any]) -> None:
    """Write each pair's confusion, summed out of a joint histogram with one axis a set, into the counts."""
    import numpy as np

    axes = range(len(sets))
    for i in axes:
        alone = histogram.sum(axis=tuple(axis for axis in axes if axis != i))[1:]
        counts[sets[i], sets[i]] = np.diag(alone)
        for j in range(i + 1, len(sets)):
            pair = histogram.sum(axis=tuple(axis for axis in axes if axis not in (i, j)))[1:, 1:]
            counts[sets[i], sets[j]] = pair
            counts[sets[j], sets[i]] = pair.T


def _type_for(largest: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest unsigned type that holds the number: narrow columns are what makes this fast."""
    import numpy as np

    for narrow in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(narrow).max:
            return narrow
    return np.uint64
