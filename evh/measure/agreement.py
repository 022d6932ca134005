"""Agreement of label sets: how often they say the same, beyond chance, and where they part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from evh.measure.alpha import alpha_counts, alpha_from_counts, alpha_of_patterns, rating_patterns
from evh.measure.codes import MOST_ANSWERS, Codes, all_pairs, count_for_alpha, encode, parted, patterns_of
from evh.measure.confusion import (
    Confusion,
    alpha_of_table,
    bias_index,
    cohen_kappa,
    confusion_of,
    confusion_of_table,
    gwet_ac1,
    prevalence_index,
    weighted_kappa,
)
from evh.measure.intervals import Interval, wilson
from evh.records.answers import answers, share_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from evh.measure.alpha import AlphaCounts

# Below this many ratings the import of NumPy costs more than the counting.
LARGE = 20_000

# Two items are the fewest that can agree better or worse than chance.
FEWEST = 2

# Agreement this high with kappa this low is the sign that one answer dominates (Feinstein & Cicchetti 1990).
_HIGH_AGREEMENT = 0.8
_LOW_KAPPA = 0.4


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
        kappa: Cohen's kappa, see ``confusion.cohen_kappa``.
        ac1: Gwet's AC1, see ``confusion.gwet_ac1``.
        prevalence: see ``confusion.prevalence_index``.
        bias: see ``confusion.bias_index``.
        confusion: the table that the figures come from.
        cells: the open disagreements by what each set says, largest first, then by text. Settled items are
            not among them, though every figure counts them.
        too_few: n is below 2 or below the least overlap asked for.
        paradox: agreement is high (0.8 or more) and kappa low (below 0.4): one answer dominates.
        alpha: Krippendorff's nominal alpha of these two sets alone.
        kappa_linear: Cohen's weighted kappa with linear weights; None where a label has no point.
        kappa_quadratic: the same with quadratic weights.
        masi: Krippendorff's alpha with the MASI distance; None where no label accepts several answers.
        settled: items on which the two differ and a later set has settled it.
        several: how many of the labels compared accept several answers, of the first set and of the second.
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
    alpha: float | None = None
    kappa_linear: float | None = None
    kappa_quadratic: float | None = None
    masi: float | None = None
    settled: int = 0
    several: tuple[int, int] = (0, 0)


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
    coded = _coded(sets)
    counts = _count(sets) if coded is None else count_for_alpha(coded.codes, len(coded.answers))
    return None if counts.items < FEWEST else alpha_from_counts(counts)


def patterns_of_sets(sets: Sequence[Mapping[str, str]]) -> dict[tuple[str, ...], int]:
    """Count the items that two or more sets label by their sorted labels; see ``alpha.rating_patterns``.

    Alpha of any scale, its interval and Fleiss' kappa are made of it. Large inputs are counted with NumPy.

    Cost: a look-up a rating, and a sort of the items.
    """
    coded = _coded(sets)
    return rating_patterns(_ratings(sets)) if coded is None else patterns_of(coded)


def compare_sets(
    a: Mapping[str, str],
    b: Mapping[str, str],
    *,
    min_overlap: int = 10,
    settled: Collection[str] = (),
    points: Mapping[str, float] | None = None,
) -> PairAgreement:
    """Compare two label sets on the items that both label.

    Args:
        a: the first set, item sha256 → canonical label text.
        b: the second set, likewise.
        min_overlap: with fewer items in common the result is marked as too few to say anything.
        settled: items whose disagreement a later set has settled: they are in the figures, not in ``cells``.
        points: where labels lie on a line, from ``scale.points``; weighted kappa is given where all that the
            two sets say have a point.

    Cost: one pass over the smaller set, and a sort of the items that disagree.
    """
    apart: dict[tuple[str, str], list[str]] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for key in a.keys() & b.keys():
        pair = (a[key], b[key])
        pairs[pair] += 1
        if pair[0] != pair[1]:
            apart.setdefault(pair, []).append(key)
    return _agreement(confusion_of(pairs), apart, min_overlap, settled, points or {})


def compare_all(
    sets: Sequence[Mapping[str, str]],
    *,
    min_overlap: int = 10,
    settled: Callable[[int, int], Collection[str]] | None = None,
    points: Mapping[str, float] | None = None,
) -> list[PairAgreement]:
    """Compare every two of the sets, in the order of ``itertools.combinations``; see `compare_sets`.

    Large inputs are coded once and counted together with NumPy; the result is the same.

    Args:
        sets: each item sha256 → canonical label text.
        min_overlap: as in `compare_sets`.
        settled: the items settled between two sets, by their places.
        points: as in `compare_sets`.
    """
    place = points or {}
    done = settled or (lambda _one, _other: ())
    numbered = list(combinations(range(len(sets)), 2))
    coded = _coded(sets)
    if coded is None:
        return [
            compare_sets(
                sets[one], sets[other], min_overlap=min_overlap, settled=done(one, other), points=place
            )
            for one, other in numbered
        ]
    counts = all_pairs(coded.codes, len(coded.answers))
    names, items = coded.answers, coded.items
    made = []
    for one, other in numbered:
        apart = {
            (names[i], names[j]): [items[at] for at in places.tolist()]
            for (i, j), places in parted(coded.codes, one, other).items()
        }
        table = confusion_of_table(names, counts[one, other].tolist())
        made.append(_agreement(table, apart, min_overlap, done(one, other), place))
    return made


def _agreement(
    table: Confusion,
    apart: Mapping[tuple[str, str], list[str]],
    min_overlap: int,
    settled: Collection[str],
    points: Mapping[str, float],
) -> PairAgreement:
    n, same = table.n, table.same
    sharing = sum(len(keys) for (first, second), keys in apart.items() if share_answer(first, second))
    enough = n >= FEWEST
    same_share = same / n if enough else None
    kappa = cohen_kappa(table) if enough else None
    closed = frozenset(settled)
    cells, n_settled = [], 0
    for (first, second), keys in apart.items():
        left = sorted(key for key in keys if key not in closed) if closed else sorted(keys)
        n_settled += len(keys) - len(left)
        if left:
            cells.append(Cell(first, second, len(left), tuple(left)))
    wide = [len(answers(category)) > 1 for category in table.categories]
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
        cells=tuple(sorted(cells, key=lambda cell: (-cell.count, cell.a, cell.b))),
        too_few=n < max(FEWEST, min_overlap),
        paradox=(
            same_share is not None
            and kappa is not None
            and same_share >= _HIGH_AGREEMENT
            and kappa < _LOW_KAPPA
        ),
        alpha=alpha_of_table(table) if enough else None,
        kappa_linear=weighted_kappa(table, points, 1) if enough else None,
        kappa_quadratic=weighted_kappa(table, points, 2) if enough else None,
        masi=alpha_of_patterns(_patterns(table), "masi") if enough and any(wide) else None,
        settled=n_settled,
        several=(
            sum(count for count, is_wide in zip(table.rows, wide, strict=True) if is_wide),
            sum(count for count, is_wide in zip(table.columns, wide, strict=True) if is_wide),
        ),
    )


def _patterns(table: Confusion) -> dict[tuple[str, ...], int]:
    found: Counter[tuple[str, ...]] = Counter()
    for one, counts in zip(table.categories, table.counts, strict=True):
        for other, count in zip(table.categories, counts, strict=True):
            if count:
                found[(one, other) if one <= other else (other, one)] += count
    return dict(found)


def _ratings(sets: Sequence[Mapping[str, str]]) -> Collection[list[str]]:
    given: dict[str, list[str]] = {}
    for labels in sets:
        for key, label in labels.items():
            given.setdefault(key, []).append(label)
    return given.values()


def _count(sets: Sequence[Mapping[str, str]]) -> AlphaCounts:
    return alpha_counts(_ratings(sets))


def _coded(sets: Sequence[Mapping[str, str]]) -> Codes | None:
    """Return the sets as codes where that pays: many ratings, and not too many answers for one byte."""
    if sum(map(len, sets)) < LARGE:
        return None
    different: set[str] = set()
    for labels in sets:
        different.update(labels.values())
        if len(different) > MOST_ANSWERS:  # free text
            return None
    return encode(sets)
