"""Power of the paired sign-flip test: against exact sums by scipy, by hand, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evh.measure.power import describe, items_needed, power_of, smallest_difference, smallest_shift


def outcomes(better: int, worse: int, n: int) -> list[float]:
    """Return the differences of a 0/1 metric: ``better`` of +1, ``worse`` of −1, the rest of ``n`` 0."""
    return [1.0] * better + [-1.0] * worse + [0.0] * (n - better - worse)


def exact_power(n: int, share: float, first: float, alpha: float) -> float:
    """Return the power of McNemar's exact test by scipy: over every count that differs and every split."""
    total = 0.0
    for k in range(n + 1):
        splits = np.arange(k + 1)
        p = np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(splits, k - splits), k, 0.5))
        rejects = stats.binom.pmf(splits, k, first)[p <= alpha * (1 + 1e-9)].sum()
        total += stats.binom.pmf(k, n, share) * rejects
    return float(total)


def test_a_sample_is_described_as_counted_by_hand() -> None:
    """Four items: +1, −1, +1 and 0; share 3/4, mean 1/4, mean of the non-zero 1/3, mean square 3/4."""
    seen = describe([1.0, -1.0, 1.0, 0.0])
    assert (seen.n, seen.nonzero, seen.positive, seen.one_size) == (4, 3, 2, True)
    assert (seen.share, seen.mean, seen.square) == (0.75, 0.25, 0.75)
    assert seen.mean_nonzero == pytest.approx(1 / 3)
    assert not describe([1.0, -0.5]).one_size
    assert describe([]).share == 0.0
    assert describe([0.0]).mean_nonzero is None


@pytest.mark.parametrize(
    ("better", "worse", "n", "items"),
    [(20, 5, 100, 40), (20, 5, 100, 92), (12, 8, 50, 120), (3, 1, 40, 60), (9, 1, 30, 25)],
)
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_power_is_that_of_the_exact_test(
    better: int, worse: int, n: int, items: int, alpha: float
) -> None:
    """scipy's binomials, summed over every outcome, give the same power to nine digits."""
    seen = describe(outcomes(better, worse, n))
    expected = exact_power(items, (better + worse) / n, better / (better + worse), alpha)
    assert power_of(seen, items, alpha=alpha) == pytest.approx(expected, abs=1e-9)


def test_the_number_is_the_least_that_has_the_power() -> None:
    """20 better and 5 worse of 100: 92 items have 80 % power by scipy's sums, 91 have not."""
    needed = items_needed(describe(outcomes(20, 5, 100)))
    assert needed == 92
    assert exact_power(92, 0.25, 0.8, 0.05) >= 0.8 > exact_power(91, 0.25, 0.8, 0.05)


def test_a_large_number_is_miettinens_formula() -> None:
    """By hand, π = 0.05, μ = 0.01: (1.959964 √0.05 + 0.841621 √(0.05 − 0.0001))² / 0.0001 = 3922.1."""
    by_hand = (1.959964 * math.sqrt(0.05) + 0.841621 * math.sqrt(0.0499)) ** 2 / 0.0001
    assert by_hand == pytest.approx(3922.1, abs=0.1)
    assert items_needed(describe(outcomes(30, 20, 1000))) == 3923


def test_a_stricter_test_or_more_power_needs_more() -> None:
    """Alpha 0.01, and power 0.9, each need more items than the plain 92."""
    seen = describe(outcomes(20, 5, 100))
    stricter, surer = items_needed(seen, alpha=0.01), items_needed(seen, power=0.9)
    assert stricter is not None
    assert surer is not None
    assert min(stricter, surer) > 92


@pytest.mark.parametrize("differences", [[], [0.0, 0.0], [1.0, -1.0], [0.5, 0.25, -0.75]])
def test_no_difference_has_no_number(differences: list[float]) -> None:
    """Nothing scored, nothing that differs, and differences that cancel out."""
    assert items_needed(describe(differences)) is None


def test_fewer_differences_than_any_test_sees_are_never_enough() -> None:
    """All six differences one way: the smallest p of k signs is 2 / 2^k, so below 6 none is 0.05 or less."""
    needed = items_needed(describe([1.0] * 6))
    assert needed == 6
    assert power_of(describe([1.0] * 6), 5) == 0.0
    assert power_of(describe([1.0] * 6), 6) == pytest.approx(1.0)


def test_the_smallest_difference_needs_that_many_items() -> None:
    """Put back into the formula, the smallest difference of 200 items gives 200 items."""
    seen = describe(outcomes(60, 40, 400))
    found = smallest_difference(seen, 200)
    assert found is not None
    reach = 1.959964 * math.sqrt(seen.square) + 0.841621 * math.sqrt(seen.square - found**2)
    assert (reach / found) ** 2 == pytest.approx(200, rel=1e-5)
    assert smallest_difference(seen, 0) is None
    assert smallest_difference(describe([0.0]), 100) is None
    assert smallest_difference(seen, 5) is None  # however they point, five items show nothing


def test_levels_that_are_none_are_refused() -> None:
    """A level lies between 0 and 1, a power above it."""
    seen = describe([1.0, 0.0])
    for alpha, power in [(0.0, 0.8), (1.0, 0.8), (0.05, 0.05), (0.05, 1.0)]:
        with pytest.raises(ValueError, match="lies between"):
            items_needed(seen, alpha=alpha, power=power)


def sign_flip_p(apart: np.ndarray, signs: np.ndarray) -> float:
    """Return the two-sided p of a sign-flip test by random signs, with the add-one rule."""
    seen = abs(apart.sum())
    return float((1 + (np.abs(signs @ apart) >= seen - 1e-9).sum()) / (1 + len(signs)))


@pytest.mark.parametrize(
    ("values", "chances"),
    [
        ([1.0, -1.0, 0.0], [0.25, 0.1, 0.65]),
        ([0.8, 0.3, -0.4, 0.0], [0.1, 0.2, 0.15, 0.55]),
        ([0.05, -0.9, 0.4, 0.0], [0.3, 0.05, 0.3, 0.35]),
    ],
)
def test_the_promised_power_is_had(values: list[float], chances: list[float]) -> None:
    """Of 500 samples of the size that is named, the test finds about 80 %: 0.8 ± 4 standard errors."""
    counts = [round(1000 * chance) for chance in chances]
    needed = items_needed(
        describe([value for value, n in zip(values, counts, strict=True) for _ in range(n)])
    )
    assert needed is not None
    draw = np.random.default_rng(7)
    signs = draw.choice([-1.0, 1.0], (999, needed))
    found = 0
    for _ in range(500):
        apart = draw.choice(values, needed, p=chances)
        found += sign_flip_p(apart, signs) <= 0.05
    assert found / 500 == pytest.approx(0.8, abs=4 * math.sqrt(0.8 * 0.2 / 500))


def test_the_smallest_shift_is_found_in_four_of_five_studies() -> None:
    """With a true difference of that size, the paired t test finds it in about 80 % of 2,000 studies."""
    n, variance = 50, 4.0
    least = smallest_shift(math.sqrt(variance / n))
    assert least is not None
    assert least == pytest.approx(0.7924, abs=1e-4)  # (1.959964 + 0.841621) × √(4 / 50)
    studies = np.random.default_rng(2).normal(least, variance**0.5, (2_000, n))
    t = studies.mean(1) / (studies.std(1, ddof=1) / n**0.5)
    assert 0.77 <= (np.abs(t) > 1.96).mean() <= 0.83
    assert smallest_shift(0.0) is None


def test_the_smallest_difference_is_found_in_four_of_five_studies() -> None:
    """200 items of which 40 % differ: with that mean difference the sign-flip test finds it in about 80 %."""
    seen = describe(outcomes(80, 80, 400))
    least = smallest_difference(seen, 200)
    assert least is not None
    draw = np.random.default_rng(5)
    signs = draw.choice([-1.0, 1.0], (999, 200))
    chances = [0.2 + least / 2, 0.2 - least / 2, 0.6]
    found = sum(sign_flip_p(draw.choice([1.0, -1.0, 0.0], 200, p=chances), signs) <= 0.05 for _ in range(500))
    assert found / 500 == pytest.approx(0.8, abs=4 * math.sqrt(0.8 * 0.2 / 500))
