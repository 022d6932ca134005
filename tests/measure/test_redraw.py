"""Rows of counts are exactly multinomial, on either way of making them, and the same for one seed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from evh.measure.redraw import redraw

ROWS = 40_000
UNLIKELY = 1e-5
FEW = (500, 30, 20, 100, 80, 60, 5, 3, 900, 40, 1, 2)
SHORT = (2, 1, 3)
MANY = (*(1 + at % 11 for at in range(600)), 700, 300)
ALL_RARE = tuple(1 + at % 7 for at in range(200))
EVEN = (40,) * 30


def drawn(given: tuple[int, ...], rows: int = ROWS, seed: int = 1) -> np.ndarray:
    """Return all the rows."""
    return np.concatenate(list(redraw(np.array(given, np.int64), rows, seed)))


def unlike(counts: np.ndarray, chances: np.ndarray) -> float:
    """Return the p of a chi-square test of counts against chances; cells of fewer than 5 are put together."""
    expected = chances * counts.sum()
    often = expected >= 5
    seen = np.append(counts[often], counts[~often].sum())
    hoped = np.append(expected[often], counts.sum() - expected[often].sum())
    held = hoped > 0
    return float(stats.chisquare(seen[held], hoped[held] * seen.sum() / hoped[held].sum()).pvalue)


@pytest.mark.parametrize("given", [FEW, SHORT, MANY, ALL_RARE, EVEN, (7,), (1, 1)])
def test_each_row_holds_as_many_items_as_there_are(given: tuple[int, ...]) -> None:
    """No count is below 0, and a row adds up to n."""
    rows = drawn(given, 3_000)
    assert rows.shape == (3_000, len(given))
    assert rows.min() >= 0
    assert set(rows.sum(1)) == {sum(given)}


def test_a_small_table_has_every_outcome_as_often_as_the_multinomial_says() -> None:
    """Six items of three kinds: all 28 outcomes against scipy's exact chances."""
    outcomes = [one for one in product(range(7), repeat=3) if sum(one) == 6]
    assert len(outcomes) == 28
    chances = stats.multinomial.pmf(outcomes, 6, np.array(SHORT) / 6)
    places = {one: at for at, one in enumerate(outcomes)}
    counts = np.bincount([places[tuple(row)] for row in drawn(SHORT).tolist()], minlength=28)
    assert unlike(counts, chances) > UNLIKELY


@pytest.mark.parametrize("given", [FEW, MANY, ALL_RARE, EVEN])
def test_each_kinds_count_is_binomial(given: tuple[int, ...]) -> None:
    """The first, a middle and the two last kinds against scipy's binomial."""
    n = sum(given)
    rows = drawn(given)
    for at in (0, len(given) // 2, len(given) - 2, len(given) - 1):
        counts = np.bincount(rows[:, at])
        chances = stats.binom.pmf(np.arange(len(counts)), n, given[at] / n)
        assert unlike(counts, chances) > UNLIKELY, at


@pytest.mark.parametrize("given", [FEW, MANY, EVEN])
def test_kinds_hang_together_as_a_multinomials_do(given: tuple[int, ...]) -> None:
    """Correlations are -sqrt(p q / (1-p)(1-q)); what sampling leaves is 1 in the square root of the rows."""
    share = np.array(given[-12:]) / sum(given)
    found = np.corrcoef(drawn(given)[:, -12:].T)
    expected = -np.sqrt(np.outer(share, share) / np.outer(1 - share, 1 - share))
    apart = (found - expected)[~np.eye(12, dtype=bool)]
    assert np.abs(apart).max() < 5 / np.sqrt(ROWS)


def test_one_seed_gives_the_same_rows_and_another_seed_others() -> None:
    """Whatever was drawn before in the process."""
    first = drawn(MANY, 50, seed=3)
    drawn(FEW, 50)
    assert (drawn(MANY, 50, seed=3) == first).all()
    assert (drawn(MANY, 50, seed=4) != first).any()
