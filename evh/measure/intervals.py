"""Intervals: of a share, and of the difference of two shares."""

from __future__ import annotations

import math
from dataclasses import dataclass

# The 0.975 quantile of the normal distribution. Written out because ``statistics`` costs more to import than
# every other line of a small command.
_Z_95 = 1.959963984540054
_CONFIDENCE_95 = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A range for a figure."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = _CONFIDENCE_95) -> Interval | None:
    """Return Wilson's score interval of a share; None when n is 0.

    With p = successes / n and z the normal quantile of the confidence, the ends are
    (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), without continuity correction.
    Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference";
    method 3 of Newcombe (1998), "Two-sided confidence intervals for the single proportion".

    Args:
        successes: how many of the n, 0..n.
        n: how many in all, 0 or more.
        confidence: the two-sided confidence, above 0 and below 1.

    Raises:
        ValueError: the counts are not 0 <= successes <= n, or the confidence is not between 0 and 1.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"a share needs 0 <= successes <= n, not {successes} of {n}")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not {confidence}")
    if n == 0:
        return None
    z = _quantile(confidence)
    failures = n - successes
    middle = successes + z * z / 2
    half = z * math.sqrt(successes * failures / n + z * z / 4)
    whole = n + z * z
    # The formula is exactly 0 and 1 at the ends, but its rounded form is not.
    low = 0.0 if successes == 0 else max(0.0, (middle - half) / whole)
    high = 1.0 if failures == 0 else min(1.0, (middle + half) / whole)
    return Interval(low, high)


def difference(a: int, n_a: int, b: int, n_b: int) -> Interval | None:
    """Return the 95 % interval of the share a / n_a minus the share b / n_b; None when either n is 0.

    The ends of the two Wilson intervals are combined: lower = d - √((p_a - l_a)² + (u_b - p_b)²), upper
    likewise.
    Source: method 10 of Newcombe (1998), "Interval estimation for the difference between independent
    proportions: comparison of eleven methods".

    Raises:
        ValueError: the counts are not 0 <= successes <= n.
    """
    one, other = wilson(a, n_a), wilson(b, n_b)
    if one is None or other is None:
        return None
    p, q = a / n_a, b / n_b
    return Interval(
        p - q - math.hypot(p - one.low, other.high - q), p - q + math.hypot(one.high - p, q - other.low)
    )


def _quantile(confidence: float) -> float:
    if confidence == _CONFIDENCE_95:
        return _Z_95
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + confidence) / 2)
