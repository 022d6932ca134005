"""Krippendorff's alpha and Fleiss' kappa, from exact counts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from evh.measure.distance import NEEDS_POINTS, differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# An item counts when at least this many sets rate it: one rating agrees or disagrees with nothing.
PAIRABLE = 2


@dataclass(frozen=True, slots=True)
class AlphaCounts:
    """All that nominal alpha needs to know of the ratings, over the items with two or more of them.

    Attributes:
        items: how many items have two or more ratings.
        unlike: for each number of ratings m, the ordered pairs of unlike ratings within an item, summed over
            the items with m ratings (m² minus the sum of squared answer counts).
        totals: how often each answer was given, one number an answer.
    """

    items: int
    unlike: Mapping[int, int]
    totals: tuple[int, ...]


def alpha_counts(items: Iterable[Sequence[str]]) -> AlphaCounts:
    """Count the ratings of items for alpha; each item is the list of the answers it was given.

    Cost: one pass over the ratings.
    """
    pairable = 0
    unlike: Counter[int] = Counter()
    totals: Counter[str] = Counter()
    for ratings in items:
        m = len(ratings)
        if m < PAIRABLE:
            continue
        given = Counter(ratings)
        pairable += 1
        totals.update(given)
        unlike[m] += m * m - sum(count * count for count in given.values())
    return AlphaCounts(pairable, dict(unlike), tuple(totals[answer] for answer in sorted(totals)))


def alpha_from_counts(counts: AlphaCounts) -> float | None:
    """Return nominal alpha = 1 - observed / expected disagreement; None when it is undefined.

    Observed is the sum over m of unlike[m] / (m - 1); expected is (N² - the sum of squared totals) / (N - 1)
    with N the sum of the totals. Undefined when no item has two ratings or all ratings are one answer.
    The fraction is formed in integers and divided once, so every way to the same counts gives the same bytes.
    Source: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C.
    """
    n = sum(counts.totals)
    expected = n * n - sum(total * total for total in counts.totals)
    if expected == 0:
        return None
    scale = math.lcm(*(m - 1 for m in counts.unlike))
    observed = sum(unlike * (scale // (m - 1)) for m, unlike in counts.unlike.items())
    return (scale * expected - observed * (n - 1)) / (scale * expected)


def rating_patterns(items: Iterable[Sequence[str]]) -> dict[tuple[str, ...], int]:
    """Count the items by what was said of them: the sorted labels of an item → how many items have those.

    Items with one rating or none are left out. All that alpha and Fleiss' kappa are made of is in it.

    Cost: a short sort an item.
    """
    found = Counter(tuple(sorted(ratings)) for ratings in items if len(ratings) >= PAIRABLE)
    return dict(sorted(found.items()))


def alpha_of_patterns(
    patterns: Mapping[tuple[str, ...], int], scale: str = "nominal", points: Mapping[str, float] | None = None
) -> float | None:
    """Return Krippendorff's alpha of a scale; None when it is undefined, or a label is not on the scale.

    1 - (N - 1) × Σ o d / Σ e d over every two different labels x and y, where d is their difference
    (`distance.differences`), o sums over the items (ratings x × ratings y) / (m - 1) with m the item's
    ratings, e is the product of the two labels' totals, and N sums those totals.
    Source: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section D.

    Args:
        patterns: from `rating_patterns`.
        scale: one of ``distance.SCALES``.
        points: where each label lies, for ordinal, interval and ratio.

    Cost: labels² / 2 and, a pattern, the square of its different labels.
    """
    totals: Counter[str] = Counter()
    for ratings, items in patterns.items():
        for label in ratings:
            totals[label] += items
    labels = sorted(totals)
    if not labels or (scale in NEEDS_POINTS and not set(labels) <= set(points or ())):
        return None
    weigh = differences(scale, labels, points or {}, [totals[label] for label in labels])
    at = {label: place for place, label in enumerate(labels)}
    expected = math.fsum(
        totals[one] * totals[other] * weigh[at[one]][at[other]] for one, other in combinations(labels, 2)
    )
    if expected == 0:
        return None
    observed = math.fsum(
        items * one_count * other_count * weigh[at[one]][at[other]] / (len(ratings) - 1)
        for ratings, items in patterns.items()
        for (one, one_count), (other, other_count) in combinations(Counter(ratings).items(), 2)
    )
    return 1 - (totals.total() - 1) * observed / expected


def fleiss_kappa(patterns: Mapping[tuple[str, ...], int]) -> float | None:
    """Return Fleiss' kappa, (po - pe) / (1 - pe); None when the items have unequal numbers of ratings.

    po is the mean share of an item's pairs of ratings that agree; pe sums the squared shares of the answers.
    Undefined too without items, or where all ratings are one answer. Formed in integers and divided once.
    Source: Fleiss (1971), "Measuring nominal scale agreement among many raters".

    Args:
        patterns: from `rating_patterns`; the caller knows whether an item was rated once.
    """
    sizes = {len(ratings) for ratings in patterns}
    if len(sizes) != 1:
        return None
    m = sizes.pop()
    n = sum(patterns.values())
    totals: Counter[str] = Counter()
    agreeing = 0
    for ratings, items in patterns.items():
        for label, count in Counter(ratings).items():
            totals[label] += count * items
            agreeing += count * (count - 1) * items
    ratings_in_all = n * m
    chance = sum(total * total for total in totals.values())
    if chance == ratings_in_all**2:
        return None
    # po = agreeing / (n m (m-1)) and pe = chance / (n m)², over one denominator.
    whole = ratings_in_all**2 * (m - 1)
    return (agreeing * ratings_in_all - chance * (m - 1)) / (whole - chance * (m - 1))
