"""The exact McNemar test, and corrections for many comparisons."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Below this share of the sum a further term changes no digit of it.
_NEGLIGIBLE = 1e-17


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided McNemar p of two arms that are right or wrong.

    With n = the items on which exactly one of them is right, p = min(1, 2 P(X <= the smaller count)) for X
    binomial with n draws at one half; 1 where there is none.
    Source: McNemar (1947), in the exact form of ``statsmodels.stats.contingency_tables.mcnemar``.

    Args:
        only_first: items that only the first arm has right.
        only_second: items that only the second has right.

    Raises:
        ValueError: a count is negative.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"counts are 0 or more, not {only_first} and {only_second}")
    n, few = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return 1.0
    # The largest term first; each one before it is k / (n - k + 1) of it.
    top = math.lgamma(n + 1) - math.lgamma(few + 1) - math.lgamma(n - few + 1) - n * math.log(2)
    terms, term, k = [1.0], 1.0, few
    while k and term > _NEGLIGIBLE:
        term *= k / (n - k + 1)
        terms.append(term)
        k -= 1
    return min(1.0, 2 * math.exp(top) * math.fsum(terms))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values corrected for all of them being looked at.

    In order of size the i-th of m is multiplied by m - i (i from 0), no one smaller than the one before it,
    none above 1. Source: Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    made, least = [0.0] * len(ps), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, ps[place] * (len(ps) - rank)))
        made[place] = least
    return made


def bonferroni(p: float, times: int) -> float:
    """Return a p value corrected for being one of so many; at most 1."""
    return min(1.0, p * max(times, 1))
