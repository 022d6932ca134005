"""All pairs of 30 arms on 10,000 items, with 10,000 sign flips and the intervals, beside a loop over scipy.

The loop is `scipy.stats.permutation_test` (of one sample: sign flips of a pair's differences) and, for the
interval, `scipy.stats.bootstrap`. It would take about half an hour, so one pair is timed and its time taken
435 times over: the row's name says so. Our p of that pair must be scipy's within the noise of both draws.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import stats

from evh.measure.bootstrap import RESAMPLES, mean_intervals
from evh.measure.flips import FLIPS, hashed_blocks, sign_flip_tests

ARMS = 30
ITEMS = 10_000
SMALL_ARMS = 5
SMALL_ITEMS = 300
ROUNDS = 5


def scores(items: int, arms: int) -> np.ndarray:
    """Return 0/1 scores of arms that are right on 70 to 72 % of items, some of which are harder."""
    draw = np.random.default_rng(11)
    hard = draw.normal(0, 0.15, (items, 1))
    return (draw.random((items, arms)) < np.linspace(0.70, 0.72, arms) + hard).astype(float)


def ours(table: np.ndarray) -> tuple[float, float]:
    """Return the seconds that all pairs take, and the p of the first arm against the last."""
    begun = time.perf_counter()
    groups = hashed_blocks([str(at) for at in range(len(table))]) if len(table) > ITEMS else None
    found = sign_flip_tests(table, groups=groups)
    mean_intervals(table)
    return time.perf_counter() - begun, float(found.p[table.shape[1] - 2])


def theirs(table: np.ndarray) -> tuple[float, float]:
    """Return the seconds that scipy takes for one pair, and its p."""
    apart = table[:, 0] - table[:, -1]
    begun = time.perf_counter()
    tested = stats.permutation_test(
        (apart,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        n_resamples=FLIPS,
        vectorized=True,
        batch=100,
        rng=np.random.default_rng(1),
    )
    stats.bootstrap(
        (apart,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=100, rng=np.random.default_rng(2)
    )
    return time.perf_counter() - begun, float(tested.pvalue)


def rows(small: bool) -> list[dict[str, Any]]:
    """Time all pairs, the fastest of some rounds, and one pair by scipy."""
    items, arms = (SMALL_ITEMS, SMALL_ARMS) if small else (ITEMS, ARMS)
    table = scores(items, arms)
    pairs = arms * (arms - 1) // 2
    timed = [ours(table) for _ in range(1 if small else ROUNDS)]
    seconds, p = min(one for one, _ in timed), timed[0][1]
    peer_s, peer_p = theirs(table)
    noise = 5 * (2 * max(p, 1 / FLIPS) / FLIPS) ** 0.5
    if abs(p - peer_p) > noise:
        raise AssertionError(f"p is {p}, scipy's {peer_p}: more than {noise} apart")
    work = f"{pairs} pairs of {arms} arms × {items:,} items: {FLIPS:,} flips, {RESAMPLES:,} resamples"
    peer = f"scipy's permutation_test and bootstrap (one pair timed, × {pairs})"
    return [{"work": work, "ours_s": seconds, "peer": peer, "peer_s": peer_s * pairs}]


if __name__ == "__main__":
    for row in rows(small=False):
        print(row, row["peer_s"] / row["ours_s"])
