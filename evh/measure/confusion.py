"""The table of two label sets, and the figures of agreement that it gives.

A category is a canonical label text. A label that accepts several answers is a category of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.alpha import PAIRABLE, AlphaCounts, alpha_from_counts
from evh.measure.numbers import mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def alpha_of_table(table: Confusion) -> float | None:
    """Return Krippendorff's nominal alpha of the two sets alone; None when n is 0 or all is one answer.

    Every item has two ratings, so that the formula of ``alpha.alpha_from_counts`` needs the table only.
    """
    totals = tuple(row + column for row, column in zip(table.rows, table.columns, strict=True))
    return alpha_from_counts(AlphaCounts(table.n, {PAIRABLE: 2 * (table.n - table.same)}, totals))


def weighted_kappa(table: Confusion, points: Mapping[str, float], power: int) -> float | None:
    """Return Cohen's weighted kappa; None when n is 0, a category has no point, or chance cannot differ.

    With w the distance of two categories' points to the power, o a cell's count and e what chance gives it
    (row sum × column sum / n): 1 - Σ w o / Σ w e. Quadratic weights on numbers make it, for large n, the
    intraclass correlation.
    Source: Cohen (1968), "Weighted kappa: nominal scale agreement with provision for scaled disagreement or
    partial credit".

    Args:
        table: the two sets' table.
        points: where each category lies: its place in the declared order, or its number.
        power: 1 for linear weights, 2 for quadratic ones.
    """
    if any(category not in points for category in table.categories):
        return None
    at = [points[category] for category in table.categories]
    weights = [[abs(one - other) ** power for other in at] for one in at]
    chance = math.fsum(
        weight * row * column
        for line, row in zip(weights, table.rows, strict=True)
        for weight, column in zip(line, table.columns, strict=True)
    )
    if chance == 0:
        return None
    observed = math.fsum(
        weight * count
        for line, counts in zip(weights, table.counts, strict=True)
        for weight, count in zip(line, counts, strict=True)
    )
    return 1 - table.n * observed / chance
