"""How far apart two labels are: what alpha weighs a disagreement by, from 0 for the same."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from evh.records.answers import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SCALES = ("nominal", "ordinal", "interval", "ratio", "masi", "jaccard")
"""The distances that alpha can be taken with; the last two are of labels that accept several answers."""
NEEDS_POINTS = ("ordinal", "interval", "ratio")
_SUBSET, _MEET = 2 / 3, 1 / 3


def jaccard_distance(one: str, other: str) -> float:
    """Return 1 - the answers that both labels accept / the answers that either accepts.

    Source: Jaccard (1912), "The distribution of the flora in the alpine zone".
    """
    a, b = set(answers(one)), set(answers(other))
    return 1 - len(a & b) / len(a | b)


def masi_distance(one: str, other: str) -> float:
    """Return 1 - Jaccard × monotonicity: 1 for the same answers, 2/3 where one holds the other, else 1/3.

    Labels without an answer in common have the distance 1.
    Source: Passonneau (2006), "Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic
    Annotation".
    """
    a, b = set(answers(one)), set(answers(other))
    common = len(a & b)
    if a == b:
        return 0.0
    return 1 - common / len(a | b) * (_SUBSET if a <= b or b <= a else _MEET)


def differences(
    scale: str, labels: Sequence[str], points: Mapping[str, float], totals: Sequence[int]
) -> list[list[float]]:
    """Return the difference of every two labels, as alpha weighs it (Krippendorff's squared metric).

    Args:
        scale: one of `SCALES`.
        labels: the labels.
        points: each label's point, where the scale needs one (`NEEDS_POINTS`).
        totals: how often each label was given: of an ordinal scale it makes the distances.

    Returns:
        labels × labels. nominal: 1 where they differ. interval: (x - y)². ratio: ((x - y) / (x + y))².
        ordinal: the squared difference of mid-ranks, which is Krippendorff's sum of the ratings from x to y
        without half of those at both ends. masi and jaccard: those distances, unsquared.

    Source: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section E; for sets Passonneau
    (2006).
    """
    if scale == "ordinal":
        at = mid_ranks([points[label] for label in labels], totals)
        return [[(one - other) ** 2 for other in at] for one in at]
    if scale in NEEDS_POINTS:
        numbers = [points[label] for label in labels]
        measure = _interval if scale == "interval" else _ratio
        return [[measure(one, other) for other in numbers] for one in numbers]
    between: Callable[[str, str], float] = {"masi": masi_distance, "jaccard": jaccard_distance}.get(
        scale, _nominal
    )
    return [[between(one, other) for other in labels] for one in labels]


def mid_ranks(points: Sequence[float], totals: Sequence[int]) -> list[float]:
    """Return each label's mid-rank: the ratings below it and half of its own; equal points share one."""
    given: dict[float, int] = {}
    for point, total in zip(points, totals, strict=True):
        given[point] = given.get(point, 0) + total
    ordered = sorted(given)
    upto = dict(zip(ordered, accumulate(given[point] for point in ordered), strict=True))
    return [upto[point] - given[point] / 2 for point in points]


def _nominal(one: str, other: str) -> float:
    return float(one != other)


def _interval(one: float, other: float) -> float:
    return (one - other) ** 2


def _ratio(one: float, other: float) -> float:
    return ((one - other) / (one + other)) ** 2 if one != other else 0.0
