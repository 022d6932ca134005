"""Intervals from counts are those of drawing items, the same anywhere, and cover as they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evh.measure.alpha import alpha_of_patterns, rating_patterns
from evh.measure.confusion import (
    alpha_of_table,
    cohen_kappa,
    confusion,
    confusion_of_table,
    gwet_ac1,
)
from evh.measure.intervals import Interval
from evh.measure.redraw import redraw
from evh.measure.resample import PairIntervals, alpha_interval, pair_intervals
from evh.records.answers import canonical

COHEN = confusion_of_table("abc", [[88, 14, 18], [10, 40, 10], [2, 6, 12]])


def drawn(items: int, seed: int, k: int = 3, agree: float = 0.6) -> tuple[list[str], list[str]]:
    """Draw two raters who both see the truth with a chance, and else guess."""
    source = np.random.default_rng(seed)
    truth = source.choice(k, items, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    raters = [
        np.where(source.random(items) < agree, truth, source.integers(0, k, items)).tolist() for _ in range(2)
    ]
    return [str(one) for one in raters[0]], [str(one) for one in raters[1]]


def by_items(first: list[str], second: list[str], figure: Any, seed: int) -> tuple[float, float]:
    """Bootstrap by drawing items, 2,000 times, with another generator: the slow way."""
    source = np.random.default_rng(seed)
    n = len(first)
    a, b = np.array(first), np.array(second)
    values = []
    for _ in range(2_000):
        chosen = source.integers(0, n, n)
        values.append(figure(confusion(a[chosen].tolist(), b[chosen].tolist())))
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize(("figure", "name"), [(cohen_kappa, "kappa"), (gwet_ac1, "ac1")])
def test_cells_give_the_interval_that_items_give(figure: Any, name: str) -> None:
    """Ends within 0.02, some four times what 2,000 draws leave open, of a bootstrap over the items."""
    first, second = drawn(150, seed=1)
    found = getattr(pair_intervals(confusion(first, second)), name)
    low, high = by_items(first, second, figure, seed=7)
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)


def test_kappas_interval_is_that_of_its_standard_error() -> None:
    """Cohen's table of 1960: 0.4915 ± 1.96 · 0.0549 (Fleiss, Cohen & Everitt 1969) is 0.384 to 0.599."""
    kappa = pair_intervals(COHEN, resamples=20_000).kappa
    assert kappa is not None
    assert kappa.low == pytest.approx(0.384, abs=0.012)
    assert kappa.high == pytest.approx(0.599, abs=0.012)


def test_the_interval_is_the_order_statistics_of_the_tables_drawn() -> None:
    """The 50th smallest and 50th largest of 2,000 tables, each taken the plain way."""
    counts = np.array(COHEN.counts)
    rows = np.concatenate(list(redraw(counts.T.ravel(), 2_000, 0)))
    tables = rows.reshape(-1, 3, 3).tolist()
    made = [confusion_of_table("abc", one) for one in tables]
    found = pair_intervals(COHEN)
    for figure, interval in (
        (cohen_kappa, found.kappa),
        (gwet_ac1, found.ac1),
        (alpha_of_table, found.alpha),
    ):
        values = sorted(value for value in map(figure, made) if value is not None)
        assert interval == Interval(values[49], values[-50])


def test_seed_and_resamples_are_obeyed() -> None:
    """Another seed gives another interval; more resamples too."""
    assert pair_intervals(COHEN, seed=1) != pair_intervals(COHEN)
    assert pair_intervals(COHEN, resamples=500) != pair_intervals(COHEN)


def test_swapping_the_sets_changes_nothing() -> None:
    """The transposed table has the same intervals to the byte."""
    turned = confusion_of_table("abc", [list(row) for row in zip(*COHEN.counts, strict=True)])
    assert pair_intervals(turned) == pair_intervals(COHEN)


@pytest.mark.parametrize("counts", [[[0, 0], [0, 0]], [[5, 0], [0, 7]], [[9, 0], [0, 0]]])
def test_where_all_agree_there_is_no_interval(counts: list[list[int]]) -> None:
    """Every resample would say 1: an interval of no width would claim what the data cannot."""
    assert pair_intervals(confusion_of_table("ab", counts)) == PairIntervals(None, None, None)


def test_a_figure_that_many_resamples_leave_undefined_has_no_interval() -> None:
    """One item in 40 is not the common answer: a third of the resamples hold one answer alone."""
    found = pair_intervals(confusion_of_table("ab", [[39, 1], [0, 0]]))
    assert found.kappa is None
    assert found.ac1 is not None


def test_no_interval_where_alpha_cannot_vary_or_be_made() -> None:
    """One answer, no pattern at all, all in agreement, or a label off the scale."""
    assert alpha_interval({}) is None
    assert alpha_interval({("a", "a"): 50}) is None
    assert alpha_interval({("a", "a"): 50, ("b", "b"): 50}) is None
    assert alpha_interval({("1", "?"): 5, ("1", "1"): 9}, "interval", {"1": 1.0}) is None


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio", "masi", "jaccard"])
def test_patterns_give_the_interval_that_items_give(scale: str) -> None:
    """Alpha of three raters with missing labels, redrawn item by item: ends within 0.03."""
    source = np.random.default_rng(5)
    names = ["1", "2", "3", "5"]
    shown = [canonical(["1", "2"]) if one == "2" and scale in ("masi", "jaccard") else one for one in names]
    points = {one: float(one) for one in names}
    items = []
    for _ in range(120):
        truth = int(source.integers(0, 4))
        ratings = [truth if source.random() < 0.6 else int(source.integers(0, 4)) for _ in range(3)]
        items.append([shown[one] for one in ratings if source.random() < 0.85])
    found = alpha_interval(rating_patterns(items), scale, points)
    values = []
    for _ in range(1_000):
        chosen = source.integers(0, len(items), len(items)).tolist()
        values.append(alpha_of_patterns(rating_patterns(items[at] for at in chosen), scale, points))
    low, high = np.quantile([one for one in values if one is not None], [0.025, 0.975])
    assert found is not None
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def coverage(items: int, rounds: int, seed: int) -> tuple[float, float, float]:
    """Return how often the intervals hold kappa, AC1 and alpha of the population that the items come from."""
    first, second = drawn(400_000, seed=seed)
    whole = confusion(first, second)
    alpha = alpha_of_patterns(rating_patterns(list(pair) for pair in zip(first, second, strict=True)))
    truth = (cohen_kappa(whole), gwet_ac1(whole), alpha)
    hits = [0, 0, 0]
    for at in range(rounds):
        table = confusion(*drawn(items, seed=seed + 1 + at))
        found = pair_intervals(table, resamples=500, seed=at)
        for place, (interval, value) in enumerate(
            zip((found.kappa, found.ac1, found.alpha), truth, strict=True)
        ):
            assert interval is not None
            assert value is not None
            hits[place] += interval.low <= value <= interval.high
    return hits[0] / rounds, hits[1] / rounds, hits[2] / rounds


def test_the_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 300 samples of 100 items 95 % are promised: between 91 % and 98.5 % (three standard errors)."""
    for share in coverage(items=100, rounds=300, seed=100):
        assert 0.91 <= share <= 0.985


@pytest.mark.slow
def test_the_coverage_holds_at_full_size() -> None:
    """Of 1,000 samples of 200 items: 95 % within 2 points (three standard errors)."""
    for share in coverage(items=200, rounds=1_000, seed=900):
        assert share == pytest.approx(0.95, abs=0.02)
