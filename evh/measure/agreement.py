"""Agreement of label sets: how often they say the same, beyond chance, and where they part.

A category is a canonical label text. A label that accepts several answers is a category of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.alpha import PAIRABLE, alpha_counts, alpha_from_counts
from evh.measure.codes import MOST_ANSWERS, count_for_alpha, encode
from evh.measure.intervals import Interval, wilson
from evh.measure.numbers import mean
from evh.records.answers import share_answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.measure.alpha import AlphaCounts

# Below this many ratings the import of NumPy costs more than the counting.
LARGE = 20_000

# Two items are the fewest that can agree better or worse than chance.
FEWEST = 2

# Agreement this high with kappa this low is the sign that one answer dominates (Feinstein & Cicchetti 1990).
_HIGH_AGREEMENT = 0.8
_LOW_KAPPA = 0.4


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each label of one set met each label of another, over the items that both label.

    Attributes:
        categories: the labels of both sets, most frequent over both first, then by text.
        counts: categories × categories; rows are the first set's labels, columns the second's.
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """How many items both sets label."""
        return sum(map(sum, self.counts))

    @property
    def same(self) -> int:
        """On how many items both sets give one label: the sum of the diagonal."""
        return sum(row[place] for place, row in enumerate(self.counts))

    @property
    def rows(self) -> tuple[int, ...]:
        """How often the first set gives each category."""
        return tuple(map(sum, self.counts))

    @property
    def columns(self) -> tuple[int, ...]:
        """How often the second set gives each category."""
        return tuple(map(sum, zip(*self.counts, strict=True)))


@dataclass(frozen=True, slots=True)
class Cell:
    """A way in which two sets disagree: what each says, how often, and on which items (keys, sorted)."""

    a: str
    b: str
    count: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of two label sets on the items that both label. Figures are None when n is below 2.

    Attributes:
        n: items that both sets label.
        same: items on which the accepted answers are the same set.
        same_share: same / n.
        same_interval: Wilson's 95 % interval of that share.
        sharing: items whose accepted answers differ but meet; never counted as agreement.
        sharing_share: sharing / n.
        kappa: Cohen's kappa, see ``cohen_kappa``.
        ac1: Gwet's AC1, see ``gwet_ac1``.
        prevalence: see ``prevalence_index``.
        bias: see ``bias_index``.
        confusion: the table that the figures come from.
        cells: the disagreements by what each set says, largest first, then by text.
        too_few: n is below 2 or below the least overlap asked for.
        paradox: agreement is high (0.8 or more) and kappa low (below 0.4): one answer dominates.
    """

    n: int
    same: int
    same_share: float | None
    same_interval: Interval | None
    sharing: int
    sharing_share: float | None
    kappa: float | None
    ac1: float | None
    prevalence: float | None
    bias: float | None
    confusion: Confusion
    cells: tuple[Cell, ...]
    too_few: bool
    paradox: bool


def confusion(a: Sequence[str], b: Sequence[str]) -> Confusion:
    """Count the labels of two sets over the same items.

    Args:
        a: the first set's labels, one an item.
        b: the second set's labels, for the same items in the same order.

    Raises:
        ValueError: the two are not equally long.

    Cost: one pass over the items.
    """
    return confusion_of(Counter(zip(a, b, strict=True)))


def confusion_of(pairs: Mapping[tuple[str, str], int]) -> Confusion:
    """Arrange counts of (first set's label, second set's label) as a confusion matrix.

    Labels that never occur are left out, so counts from a larger table (``codes.all_pairs``) give the same
    matrix as the labels themselves.
    """
    frequency: Counter[str] = Counter()
    for (first, second), count in pairs.items():
        if count:
            frequency[first] += count
            frequency[second] += count
    categories = tuple(sorted(frequency, key=lambda label: (-frequency[label], label)))
    counts = tuple(tuple(pairs.get((row, column), 0) for column in categories) for row in categories)
    return Confusion(categories, counts)


def confusion_of_table(labels: Sequence[str], counts: Sequence[Sequence[int]]) -> Confusion:
    """Arrange a square table of counts as a confusion matrix.

    Args:
        labels: what each row and each column stands for, in the table's order.
        counts: labels × labels; rows are the first set's. One pair of ``codes.all_pairs`` is
            ``counts[a, b].tolist()``.

    Raises:
        ValueError: the table is not square, or not as wide as there are labels.
    """
    pairs: dict[tuple[str, str], int] = {}
    for row, line in zip(labels, counts, strict=True):
        for column, count in zip(labels, line, strict=True):
            pairs[row, column] = count
    return confusion_of(pairs)


def cohen_kappa(table: Confusion) -> float | None:
    """Return Cohen's unweighted kappa, (po - pe) / (1 - pe); None when n is 0 or pe is 1.

    po is the share on the diagonal; pe, the agreement by chance, is the sum over categories of row share ×
    column share. Formed in integers and divided once.
    Source: Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    n = table.n
    chance = sum(row * column for row, column in zip(table.rows, table.columns, strict=True))
    if n * n == chance:
        return None
    return (n * table.same - chance) / (n * n - chance)


def gwet_ac1(table: Confusion) -> float | None:
    """Return Gwet's AC1, (po - pe) / (1 - pe); None when n is 0 or only one category occurs.

    po is the share on the diagonal; pe = Σ π(1 - π) / (k - 1) over the k categories that occur, π being a
    category's mean share in the two sets. It does not collapse, as kappa does, when one label dominates.
    Formed in integers and divided once.
    Source: Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
    agreement".
    """
    n = table.n
    k = len(table.categories)
    if n == 0 or k == 1:
        return None
    both = [row + column for row, column in zip(table.rows, table.columns, strict=True)]
    chance = sum(count * (2 * n - count) for count in both)
    whole = 4 * n * n * (k - 1)
    return (4 * n * (k - 1) * table.same - chance) / (whole - chance)


def gwet_ac1_of_ratings(ratings: Sequence[Sequence[str | None]]) -> float | None:
    """Return Gwet's AC1 of two or more sets with missing labels; None when it is undefined.

    po is the mean, over the items with two or more labels, of the share of a label's other labels that equal
    it; π, a category's share, is its mean share of an item's labels over all labelled items; pe and AC1 as in
    ``gwet_ac1``, which this equals for two sets without missing labels. Undefined when no item has two labels
    or only one category occurs.
    Source: Gwet (2014), "Handbook of Inter-Rater Reliability", 4th edition, section 2.3 with missing ratings.

    Args:
        ratings: sets × items; None where a set does not label the item.

    Raises:
        ValueError: the sets are not equally long.
    """
    columns = zip(*ratings, strict=True)
    items = [Counter(label for label in column if label is not None) for column in columns]
    shares: dict[str, list[float]] = {}
    agreeing = []
    for given in items:
        m = given.total()
        for label, count in given.items():
            shares.setdefault(label, []).append(count / m)
        if m >= PAIRABLE:
            agreeing.append(sum(count * (count - 1) for count in given.values()) / (m * (m - 1)))
    k = len(shares)
    observed = mean(agreeing)
    if observed is None or k == 1:
        return None
    labelled = sum(map(bool, items))
    means = [math.fsum(parts) / labelled for parts in shares.values()]
    chance = math.fsum(share * (1 - share) for share in means) / (k - 1)
    return (observed - chance) / (1 - chance)


def prevalence_index(table: Confusion) -> float | None:
    """Return how unequally the most frequent category and the rest occur, 0..1; None when n is 0.

    |a - d| / n, where on a items both sets give the most frequent category and on d items neither does; for
    two categories the index of Byrt, Bishop and Carlin (1993), "Bias, prevalence and kappa".
    """
    if table.n == 0:
        return None
    both = table.counts[0][0]
    neither = table.n - table.rows[0] - table.columns[0] + both
    return abs(both - neither) / table.n


def bias_index(table: Confusion) -> float | None:
    """Return how differently often the sets give the most frequent category, 0..1; None when n is 0.

    |b - c| / n, where on b items only the first set gives it and on c items only the second; for two
    categories the index of Byrt, Bishop and Carlin (1993), "Bias, prevalence and kappa".
    """
    if table.n == 0:
        return None
    return abs(table.rows[0] - table.columns[0]) / table.n


def alpha_nominal(ratings: Sequence[Sequence[str | None]]) -> float | None:
    """Return Krippendorff's nominal alpha; None when no item has two ratings or all are one answer.

    Args:
        ratings: sets × items; None where a set does not label the item.

    Raises:
        ValueError: the sets are not equally long.

    Cost: one pass over the ratings. For the formula and its source see ``alpha.alpha_from_counts``.
    """
    columns = zip(*ratings, strict=True)
    counts = alpha_counts([label for label in column if label is not None] for column in columns)
    return alpha_from_counts(counts)


def alpha_of_sets(sets: Sequence[Mapping[str, str]]) -> float | None:
    """Return Krippendorff's nominal alpha over label sets (item sha256 → canonical label text).

    None when fewer than two items are labelled by two sets or more, or all their labels are one answer.
    Large inputs are counted with NumPy; the figure is the same to the bit.

    Cost: a look-up a rating.
    """
    counts = _count_large(sets) if sum(map(len, sets)) >= LARGE else _count_small(sets)
    if counts.items < FEWEST:
        return None
    return alpha_from_counts(counts)


def compare_sets(a: Mapping[str, str], b: Mapping[str, str], *, min_overlap: int = 10) -> PairAgreement:
    """Compare two label sets on the items that both label.

    Args:
        a: the first set, item sha256 → canonical label text.
        b: the second set, likewise.
        min_overlap: with fewer items in common the result is marked as too few to say anything.

    Cost: one pass over the smaller set, and a sort of the items that disagree.
    """
    cells: dict[tuple[str, str], list[str]] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for key in a.keys() & b.keys():
        pair = (a[key], b[key])
        pairs[pair] += 1
        if pair[0] != pair[1]:
            cells.setdefault(pair, []).append(key)
    table = confusion_of(pairs)
    n, same = table.n, table.same
    sharing = sum(len(keys) for (first, second), keys in cells.items() if share_answer(first, second))
    enough = n >= FEWEST
    same_share = same / n if enough else None
    kappa = cohen_kappa(table) if enough else None
    parted = (Cell(first, second, len(keys), tuple(sorted(keys))) for (first, second), keys in cells.items())
    return PairAgreement(
        n=n,
        same=same,
        same_share=same_share,
        same_interval=wilson(same, n) if enough else None,
        sharing=sharing,
        sharing_share=sharing / n if enough else None,
        kappa=kappa,
        ac1=gwet_ac1(table) if enough else None,
        prevalence=prevalence_index(table) if enough else None,
        bias=bias_index(table) if enough else None,
        confusion=table,
        cells=tuple(sorted(parted, key=lambda cell: (-cell.count, cell.a, cell.b))),
        too_few=n < max(FEWEST, min_overlap),
        paradox=(
            same_share is not None
            and kappa is not None
            and same_share >= _HIGH_AGREEMENT
            and kappa < _LOW_KAPPA
        ),
    )


def _count_small(sets: Sequence[Mapping[str, str]]) -> AlphaCounts:
    given: dict[str, list[str]] = {}
    for labels in sets:
        for key, label in labels.items():
            given.setdefault(key, []).append(label)
    return alpha_counts(given.values())


def _count_large(sets: Sequence[Mapping[str, str]]) -> AlphaCounts:
    different = {label for labels in sets for label in labels.values()}
    if len(different) > MOST_ANSWERS:  # free text: too many answers for one-byte codes
        return _count_small(sets)
    table = encode(sets)
    return count_for_alpha(table.codes, len(table.answers))
