"""Krippendorff's alpha for nominal answers, from exact counts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
