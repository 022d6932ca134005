"""All pairs of kappa with their confusion matrices, and alpha, beside the packages that people use for them.

Run ``python tests/bench/bench_agreement.py``, or with ``--small``. Ours and each peer take turns in one
process, on the same codes in memory; a row gives each one's fastest round. Ours does the whole work
in every row: 45 confusion matrices, 45 kappas and alpha. A peer does only its part of it.

A last row is of intervals: 2,000 resamples of 10,000 items for 45 pairs (kappa, AC1 and alpha each) and of
alpha over all ten sets, beside 20 plain calls of the krippendorff package: what a bootstrap written around it
would give in that time is 20 resamples of one figure.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import duckdb
import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evh.measure.codes import Codes, all_pairs, alpha_from_codes, kappas, patterns_of
from evh.measure.confusion import cohen_kappa, confusion_of_table
from evh.measure.resample import alpha_interval, pair_intervals

SETS = 10
ANSWERS = 5
MISSING = 0.2
FULL = 1_000_000
SMALL = 20_000
ROUNDS = 3
RESAMPLED = 10_000
RESAMPLES = 2_000
CALLS = 20


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One work, timed beside one peer: seconds of each, and how many times longer the peer takes."""

    work: str
    ours_s: float
    peer: str
    peer_s: float

    @property
    def ratio(self) -> float:
        """How many times longer the peer takes."""
        return self.peer_s / self.ours_s


@dataclass(frozen=True, slots=True)
class Figures:
    """What a contestant found: a kappa a pair, in order, and alpha; None for what it does not do."""

    kappas: list[float] | None
    alpha: float | None


def made_up(items: int) -> Any:
    """Make seeded ratings (int8, sets × items): mostly agreeing, a fifth missing."""
    draw = np.random.default_rng(0)
    truth = draw.integers(0, ANSWERS, items)
    codes = np.where(draw.random((SETS, items)) < 0.7, truth, draw.integers(0, ANSWERS, (SETS, items)))
    codes[draw.random((SETS, items)) < MISSING] = -1
    return codes.astype(np.int8)


def ours(codes: Any) -> Figures:
    """Do the whole work with this project's functions."""
    counts = all_pairs(codes, ANSWERS)
    found = kappas(counts)
    return Figures(
        [float(found[a, b]) for a, b in combinations(range(SETS), 2)], alpha_from_codes(codes, ANSWERS)
    )


def peer_krippendorff(codes: Any) -> Callable[[], Figures]:
    """Prepare the krippendorff package: alpha alone, on floats with NaN, which is what it takes."""
    ratings = np.where(codes < 0, np.nan, codes)
    return lambda: Figures(None, float(krippendorff.alpha(ratings, level_of_measurement="nominal")))


def peer_scikit_learn(codes: Any) -> Callable[[], Figures]:
    """Prepare scikit-learn: kappa and confusion of every pair, on the items that both sets label."""

    def run() -> Figures:
        found = []
        for a, b in combinations(codes, 2):
            both = (a >= 0) & (b >= 0)
            confusion_matrix(a[both], b[both])
            found.append(float(cohen_kappa_score(a[both], b[both])))
        return Figures(found, None)

    return run


def peer_duckdb(codes: Any) -> Callable[[], Figures]:
    """Prepare DuckDB: every pair's counts by one GROUP BY a pair, from a table in memory; kappa from them."""
    connection = duckdb.connect()
    columns = [f"s{place}" for place in range(SETS)]
    given = dict(zip(columns, codes, strict=True))  # DuckDB reads the columns by this variable's name
    connection.execute("CREATE TABLE ratings AS FROM given")
    assert len(given) == SETS
    pairs = list(combinations(columns, 2))
    query = " UNION ALL ".join(
        f"SELECT {place}, {a}, {b}, count(*) FROM ratings WHERE {a} >= 0 AND {b} >= 0 GROUP BY ALL"
        for place, (a, b) in enumerate(pairs)
    )
    names = [str(code) for code in range(ANSWERS)]

    def run() -> Figures:
        counts = np.zeros((len(pairs), ANSWERS, ANSWERS), np.int64)
        for place, a, b, count in connection.execute(query).fetchall():
            counts[place, a, b] = count
        tables = (confusion_of_table(names, table) for table in counts.tolist())
        return Figures([kappa for kappa in map(cohen_kappa, tables) if kappa is not None], None)

    return run


PEERS: tuple[tuple[str, Callable[[Any], Callable[[], Figures]]], ...] = (
    ("krippendorff (alpha alone)", peer_krippendorff),
    ("scikit-learn (kappas and confusions)", peer_scikit_learn),
    ("DuckDB (counts and kappas alone)", peer_duckdb),
)


def bench(*, small: bool) -> list[BenchRow]:
    """Time the work beside each peer, and demand that both find the same figures."""
    codes = made_up(SMALL if small else FULL)
    work = f"kappa of {SETS * (SETS - 1) // 2} pairs + alpha, {codes.shape[1]:,} items × {SETS} sets"
    result = []
    for name, prepare in PEERS:
        peer = prepare(codes)
        our_times, peer_times = [], []
        for _ in range(ROUNDS):
            mine, seconds = _timed(lambda: ours(codes))
            our_times.append(seconds)
            theirs, seconds = _timed(peer)
            peer_times.append(seconds)
            _demand_equal(mine, theirs, name)
        result.append(BenchRow(work, min(our_times), name, min(peer_times)))
    result.append(intervals(small=small))
    return result


def intervals(*, small: bool) -> BenchRow:
    """Time the intervals of every pair and of alpha beside plain calls of the krippendorff package."""
    codes = made_up(SMALL // 20 if small else RESAMPLED)
    names = tuple(str(code) for code in range(ANSWERS))
    plain = peer_krippendorff(codes)
    our_times, peer_times = [], []
    for _ in range(ROUNDS):
        alpha, seconds = _timed(lambda: _with_intervals(codes, names))
        our_times.append(seconds)
        theirs, seconds = _timed(lambda: _repeated(plain))
        peer_times.append(seconds)
        _demand_equal(alpha, theirs, "krippendorff")
    work = (
        f"intervals by {RESAMPLES:,} resamples: 45 pairs (kappa, AC1, alpha) and alpha, "
        f"{codes.shape[1]:,} items × {SETS} sets"
    )
    return BenchRow(work, min(our_times), f"krippendorff, {CALLS} calls", min(peer_times))


def _repeated(plain: Callable[[], Figures]) -> Figures:
    for _ in range(CALLS - 1):
        plain()
    return plain()


def _with_intervals(codes: Any, names: tuple[str, ...]) -> Figures:
    """Count, then redraw; two threads, as ``evh labels`` uses them."""
    counts = all_pairs(codes, ANSWERS)
    patterns = patterns_of(Codes(tuple(map(str, range(codes.shape[1]))), names, codes))
    with ThreadPoolExecutor(2) as pool:
        over_all = pool.submit(alpha_interval, patterns, resamples=RESAMPLES)
        pairs = combinations(range(SETS), 2)
        tables = [confusion_of_table(names, counts[a, b].tolist()) for a, b in pairs]
        found = list(pool.map(lambda table: pair_intervals(table, resamples=RESAMPLES), tables))
        if over_all.result() is None or any(one.kappa is None for one in found):
            raise AssertionError("an interval is missing")
    return Figures(None, alpha_from_codes(codes, ANSWERS))


def rows(small: bool) -> list[dict[str, Any]]:
    """Return the rows as mappings with the keys work, ours_s, peer and peer_s."""
    return [asdict(row) for row in bench(small=small)]


def main() -> None:
    """Print the rows as a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--small", action="store_true", help=f"{SMALL:,} items instead of {FULL:,}")
    for row in bench(small=parser.parse_args().small):
        print(f"{row.work}: {row.ours_s:.4f} s; {row.peer}: {row.peer_s:.4f} s; ratio {row.ratio:.1f}")


def _timed(run: Callable[[], Figures]) -> tuple[Figures, float]:
    start = time.perf_counter()
    figures = run()
    return figures, time.perf_counter() - start


def _demand_equal(mine: Figures, theirs: Figures, peer: str) -> None:
    # A race against something else is no race.
    for what, one, other in (
        ("alpha", [mine.alpha], [theirs.alpha]),
        ("kappa", mine.kappas, theirs.kappas),
    ):
        if other is None or other == [None]:
            continue
        if not np.allclose(np.array(one, float), np.array(other, float), rtol=0, atol=1e-9):
            raise AssertionError(f"{peer} finds another {what}: {other}, not {one}")


if __name__ == "__main__":
    main()
