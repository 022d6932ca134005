"""How many items a paired comparison needs: power of the two-sided sign-flip test of a mean difference.

What is known is a sample of paired differences, most of them 0. Write π for the share that is not 0, d for
one difference, μ = E d and m₂ = E d². Under the null hypothesis every sign is a coin, so a sum over n items
has the variance n m₂; under what was seen it has the mean nμ and the variance n(m₂ − μ²). The test with the
level α therefore has the power 1 − β at about

    n = (z₁₋α/₂ √m₂ + z₁₋β √(m₂ − μ²))² / μ².

For differences of −1, 0 and 1 (a 0/1 metric: McNemar's test) m₂ is π, and this is the formula of Miettinen
(1968), "The matched pairs design in the case of all-or-none responses"; see Connett, Smith & McHugh (1987),
"Sample size and power for pair-matched case-control studies". There the test is exact and its power a sum
over binomials, which is used while n is small: the formula promises too much there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ALPHA = 0.05
POWER = 0.8
MOST_EXACT = 2_000
"""Up to this many items the power for differences of one size is summed exactly."""
MOST = 10_000_000
"""More items than this are not worth a number."""
_SAME = 1e-12
_TAIL = 1e-12


@dataclass(frozen=True, slots=True)
class Differences:
    """What a sample of paired differences says about the next ones.

    Attributes:
        n: how many items both arms were scored on.
        nonzero: on how many of them the scores differ.
        positive: on how many the first arm's is better.
        mean: the mean difference over all n.
        mean_nonzero: the mean over those that differ; None where none does.
        square: the mean squared difference over all n.
        one_size: every non-zero difference is plus or minus one number, as of a 0/1 metric.
    """

    n: int
    nonzero: int
    positive: int
    mean: float
    mean_nonzero: float | None
    square: float
    one_size: bool

    @property
    def share(self) -> float:
        """The share of the items on which the scores differ; 0 where there is no item."""
        return self.nonzero / self.n if self.n else 0.0


def describe(differences: Sequence[float]) -> Differences:
    """Return what a sample of paired differences says: first arm minus second, turned so that more is better.

    Cost: one pass.
    """
    kept = [one for one in differences if one != 0]
    sizes = [abs(one) for one in kept]
    n = len(differences)
    return Differences(
        n=n,
        nonzero=len(kept),
        positive=sum(one > 0 for one in kept),
        mean=math.fsum(kept) / n if n else 0.0,
        mean_nonzero=math.fsum(kept) / len(kept) if kept else None,
        square=math.fsum(one * one for one in kept) / n if n else 0.0,
        one_size=bool(sizes) and max(sizes) - min(sizes) <= _SAME * max(sizes),
    )


def items_needed(seen: Differences, *, alpha: float = ALPHA, power: float = POWER) -> int | None:
    """Return how many items the sign-flip test needs to tell the arms apart, if the next are like those seen.

    Args:
        seen: the differences so far, from `describe`.
        alpha: the test's two-sided level, above 0 and below 1.
        power: the chance to find the difference, above ``alpha`` and below 1.

    Returns:
        The number of items in all, at least 1. None where the mean difference is 0, or more than `MOST` are
        needed: no number of labels would tell the arms apart, as far as one can see.

    Raises:
        ValueError: a level or a power that is none.

    Cost: constant; with one size of difference and a small answer, some ten exact sums (0.1 s at most).
    """
    _check(alpha, power)
    if not seen.nonzero or abs(seen.mean) <= _SAME * math.sqrt(seen.square):
        return None
    spread = math.sqrt(max(seen.square - seen.mean**2, 0.0))
    reach = _z(1 - alpha / 2) * math.sqrt(seen.square) + _z(power) * spread
    about = (reach / seen.mean) ** 2
    if about > MOST:
        return None
    # Fewer differences than this cannot be significant whatever their signs: 2 / 2^k is the smallest p.
    least = math.ceil(math.log2(2 / alpha) / seen.share - _SAME)
    n = max(math.ceil(about - _SAME), least, 1)
    if not seen.one_size or n > MOST_EXACT:
        return n
    return _exact_needed(seen, n, alpha, power)


def power_of(seen: Differences, n: int, *, alpha: float = ALPHA) -> float:
    """Return the power that the sign-flip test has with n items like those seen, 0..1.

    Exact for differences of one size and n up to `MOST_EXACT`, else by the normal approximation.

    Args:
        seen: the differences so far.
        n: items in all, 0 or more.
        alpha: the test's two-sided level.

    Cost: for an exact sum, about 16 √n terms, each with a sum over two tails.
    """
    _check(alpha, (1 + alpha) / 2)
    if n <= 0 or not seen.nonzero:
        return 0.0
    if seen.one_size and n <= MOST_EXACT:
        return _SignTest(seen.positive / seen.nonzero, alpha).power(n, seen.share)
    spread = math.sqrt(max(seen.square - seen.mean**2, 0.0))
    bar = _z(1 - alpha / 2) * math.sqrt(seen.square) / math.sqrt(n)
    if spread == 0:
        return float(abs(seen.mean) > bar)
    scale = spread / math.sqrt(n)
    return _phi((seen.mean - bar) / scale) + _phi((-seen.mean - bar) / scale)


def smallest_difference(
    seen: Differences, n: int, *, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Return the smallest mean difference that n items show at this power, with m₂ as it was seen.

    It solves n = (z₁₋α/₂ √m₂ + z₁₋β √(m₂ − μ²))² / μ² for μ:
    with a = z₁₋α/₂ and b = z₁₋β, √n μ = √m₂ (a + b √(1 − x²)), x = μ / √m₂, which gives
    x = (a √n + b √(n + b² − a²)) / (n + b²) where that is at most 1.

    Returns:
        The difference, above 0; None where n items show none, or nothing differs.
    """
    _check(alpha, power)
    if n <= 0 or not seen.nonzero:
        return None
    a, b = _z(1 - alpha / 2), _z(power)
    inside = n + b * b - a * a
    if inside < 0:
        return None
    x = (a * math.sqrt(n) + b * math.sqrt(inside)) / (n + b * b)
    if x > 1:
        return None
    found = x * math.sqrt(seen.square)
    # With one size of difference the mean is largest where all point one way.
    return found if not seen.one_size or found <= math.sqrt(seen.square * seen.share) else None


def smallest_shift(error: float, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """Return the smallest difference of two figures that is found at this power, from its standard error.

    (z₁₋α/₂ + z₁₋β) × error: the normal approximation, for figures that are no mean over items.
    Source: Cohen (1988), "Statistical Power Analysis", chapter 2; Miller (2024), "Adding Error Bars to
    Evals", section 5.

    Args:
        error: the standard error of the difference; None comes back where it is 0 or not finite.
        alpha: the test's two-sided level.
        power: the chance to find the difference.
    """
    _check(alpha, power)
    if error <= 0 or not math.isfinite(error):
        return None
    return (_z(1 - alpha / 2) + _z(power)) * error


def _exact_needed(seen: Differences, n: int, alpha: float, power: float) -> int:
    """Return the first n, upwards from the formula's, at which the exact power is enough.

    The formula errs to the low side by the test's discreteness, a few differences at most. It is searched in
    steps of a tenth of one more difference, then back item by item.
    """
    test = _SignTest(seen.positive / seen.nonzero, alpha)
    step = max(1, round(0.1 / seen.share))
    at = n
    while at <= MOST_EXACT and test.power(at, seen.share) < power:
        at += step
    while at > n and test.power(at - 1, seen.share) >= power:
        at -= 1
    return at


class _SignTest:
    """The exact two-sided sign test, where each non-zero difference favours the first arm with one chance."""

    def __init__(self, first: float, alpha: float) -> None:
        self._first = first
        self._alpha = alpha
        self._given: dict[int, float] = {}  # k → P(reject) with k non-zero differences

    def power(self, n: int, share: float) -> float:
        """Return P(reject) with n items, each of which differs with the chance ``share``."""
        middle, width = n * share, 8 * math.sqrt(n * share * (1 - share)) + 8
        total = []
        for k in range(max(0, math.floor(middle - width)), min(n, math.ceil(middle + width)) + 1):
            weight = _binomial(k, n, share)
            if weight >= _TAIL:
                total.append(weight * self._rejects(k))
        return min(1.0, math.fsum(total))

    def _rejects(self, k: int) -> float:
        if k not in self._given:
            most = _rejected(k, self._alpha)  # x <= most or x >= k - most rejects
            self._given[k] = math.fsum(
                _binomial(x, k, self._first) + _binomial(k - x, k, self._first) for x in range(most + 1)
            )
        return self._given[k]


def _rejected(k: int, alpha: float) -> int:
    """Return the largest x below k / 2 for which 2 P(X <= x) <= alpha, X ~ Binomial(k, 1/2); -1 for none."""
    bar = alpha / 2 * (1 + _SAME)
    below, x = 0.0, -1
    while x + 1 < k / 2:
        below += _binomial(x + 1, k, 0.5)
        if below > bar:
            break
        x += 1
    return x


def _binomial(k: int, n: int, p: float) -> float:
    if p in (0.0, 1.0):
        return float(k == n * p)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(p) + (n - k) * math.log1p(-p))


def _phi(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def _z(quantile: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(quantile)


def _check(alpha: float, power: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"a level lies between 0 and 1, not {alpha}")
    if not alpha < power < 1:
        raise ValueError(f"a power lies between the level and 1, not {power}")
