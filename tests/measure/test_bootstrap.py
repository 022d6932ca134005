"""Bootstrap intervals of means and differences: their coverage, and what they do without data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap as their_bootstrap

from evh.measure.bootstrap import mean_intervals


def test_ends_are_near_scipys() -> None:
    """The percentile interval of a mean over 200 items, from other random numbers, within their noise."""
    scores = np.random.default_rng(1).random((200, 2)).round(3)
    ours = mean_intervals(scores, resamples=4_000)
    for arm in range(2):
        theirs = their_bootstrap(
            (scores[:, arm],), np.mean, n_resamples=4_000, method="percentile", rng=np.random.default_rng(2)
        ).confidence_interval
        assert ours.low[arm] == pytest.approx(theirs.low, abs=0.004)
        assert ours.high[arm] == pytest.approx(theirs.high, abs=0.004)
    apart = scores[:, 0] - scores[:, 1]
    theirs = their_bootstrap(
        (apart,), np.mean, n_resamples=4_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert ours.pair_low[0] == pytest.approx(theirs.low, abs=0.006)
    assert ours.pair_high[0] == pytest.approx(theirs.high, abs=0.006)


@pytest.mark.parametrize("kind", ["binary", "normal"])
def test_intervals_cover(kind: str) -> None:
    """A 95 % interval holds the truth in 93-97 % of 1,000 studies of 100 items, give or take their noise."""
    draw = np.random.default_rng(4)
    held = pairs_held = 0
    for study in range(1_000):
        if kind == "binary":
            scores = (draw.random((100, 2)) < [0.6, 0.7]).astype(float)
        else:
            scores = draw.normal([0.6, 0.7], 1.0, (100, 2)).round(4)
        found = mean_intervals(scores, resamples=500, seed=study)
        held += found.low[0] <= 0.6 <= found.high[0]
        pairs_held += found.pair_low[0] <= -0.1 <= found.pair_high[0]
    assert 0.92 <= held / 1_000 <= 0.975
    assert 0.92 <= pairs_held / 1_000 <= 0.975


def test_clusters_widen_the_interval() -> None:
    """Ten copies of each of 20 items hold no more than the 20: by cluster the interval is that of the 20."""
    twenty = np.random.default_rng(5).random((20, 1)).round(3)
    copied = np.repeat(twenty, 10, axis=0)
    clusters = np.repeat(np.arange(20), 10)
    alone = mean_intervals(twenty, pairs=False)
    together = mean_intervals(copied, groups=clusters, pairs=False)
    blind = mean_intervals(copied, pairs=False)
    assert together.low[0] == pytest.approx(alone.low[0], abs=1e-12)
    assert together.high[0] == pytest.approx(alone.high[0], abs=1e-12)
    assert blind.high[0] - blind.low[0] < 0.5 * (alone.high[0] - alone.low[0])


def test_missing_scores() -> None:
    """A mean is over an arm's own items, a difference over those that both have."""
    scores = np.random.default_rng(6).random((80, 2)).round(2)
    scores[60:, 0] = np.nan
    found = mean_intervals(scores)
    own = scores[:60, 0]
    assert found.low[0] < own.mean() < found.high[0]
    apart = (scores[:60, 0] - scores[:60, 1]).mean()
    assert found.pair_low[0] < apart < found.pair_high[0]


def test_too_little_to_draw_from() -> None:
    """One item, one cluster, or none at all has no interval."""
    one = mean_intervals(np.array([[1.0, 0.0]]))
    assert np.isnan([one.low[0], one.high[1], one.pair_low[0]]).all()
    lone = mean_intervals(np.array([[1.0], [0.0]]), groups=np.array([0, 0]))
    assert np.isnan(lone.low[0])
    none = mean_intervals(np.empty((0, 2)))
    assert np.isnan(none.low).all()
    hidden = mean_intervals(np.array([[1.0, np.nan], [0.0, np.nan], [np.nan, 1.0]]))
    assert not np.isnan(hidden.low[0])
    assert np.isnan([hidden.low[1], hidden.pair_low[0]]).all()


def test_a_seed_gives_the_same_ends() -> None:
    """The same seed, the same interval; another seed, another one close by."""
    scores = np.random.default_rng(8).random((50, 1))
    assert mean_intervals(scores).low[0] == mean_intervals(scores).low[0]
    assert mean_intervals(scores, seed=1).low[0] != mean_intervals(scores).low[0]
