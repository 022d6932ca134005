"""Bootstrap intervals, made once for the same counts: kept in ``.cache/``, never truth.

An interval is a function of counts, resamples and seed. They are its key, so what is kept cannot be stale,
and a second look needs neither NumPy nor another bootstrap. A file that cannot be read is as none; one that
cannot be written is let be.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evh.measure.intervals import Interval
from evh.measure.resample import VERSION, PairIntervals, alpha_interval, pair_intervals
from evh.project.shelf import read_each
from evh.store import atomic
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from evh.errors import Refusal
    from evh.measure.confusion import Confusion
    from evh.project.find import Project

MOST_KEPT = 20_000
"""How many results are kept; the ones asked for last stay."""
WORKERS = 2
Ends = list[list[float] | None]


class KeptIntervals:
    """The intervals of a project's agreement, by its settings ``[statistics] resamples`` and ``seed``."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._path = project.root / ".cache" / "statistics" / "intervals.json"
        self._resamples = project.settings.resamples
        self._seed = project.settings.seed
        self._kept: dict[str, Ends] | None = None
        self._used: dict[str, Ends] = {}
        self._new = False

    def of_pairs(self, tables: Sequence[Confusion | None]) -> list[PairIntervals]:
        """Return each table's intervals; none for None, which stands for too few items to say."""
        keys = [None if table is None else self._key("pair", table.counts) for table in tables]
        makers: dict[str, Callable[[], Ends]] = {}
        for key, table in zip(keys, tables, strict=True):
            if key is not None and table is not None and self._look_up(key) is None:
                makers[key] = lambda table=table: self._of_pair(table)  # type: ignore[misc]
        self._make(makers)
        return [
            PairIntervals(*([None] * 3 if key is None else map(_interval, self._used[key]))) for key in keys
        ]

    def of_alpha(
        self, patterns: Mapping[tuple[str, ...], int], scale: str, points: Mapping[str, float]
    ) -> Interval | None:
        """Return the interval of alpha over these patterns of ratings."""
        key = self._key("alpha", scale, sorted(points.items()), sorted(patterns.items()))
        if self._look_up(key) is None:
            self._make({key: lambda: self._of_alpha(patterns, scale, points)})
        return _interval(self._used[key][0])

    def save(self) -> None:
        """Keep what was made, where the project can be written to."""
        if not self._new:
            return
        old = {key: ends for key, ends in (self._kept or {}).items() if key not in self._used}
        kept = dict([*old.items(), *self._used.items()][-MOST_KEPT:])
        data = json.dumps(kept, separators=(",", ":")).encode()
        ignored: list[Refusal] = []
        read_each([data], self._write, ignored)
        self._new = False

    def _write(self, data: bytes) -> None:
        path = self._project.writable(self._path)
        atomic.make_folder(path.parent)
        atomic.write_unflushed(path, data)

    def _key(self, *parts: object) -> str:
        told = json.dumps([VERSION, self._resamples, self._seed, *parts], separators=(",", ":"))
        return sha256_text(told)

    def _look_up(self, key: str) -> Ends | None:
        if key not in self._used:
            if self._kept is None:
                self._kept = _read(self._path)
            if key in self._kept:
                self._used[key] = self._kept[key]
        return self._used.get(key)

    def _make(self, makers: Mapping[str, Callable[[], Ends]]) -> None:
        if not makers:
            return
        self._new = True
        if len(makers) == 1:
            self._used.update((key, make()) for key, make in makers.items())
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(WORKERS) as pool:  # NumPy draws without Python's lock; each has its own seed
            self._used.update(zip(makers, pool.map(lambda make: make(), makers.values()), strict=True))

    def _of_pair(self, table: Confusion) -> Ends:
        found = pair_intervals(table, resamples=self._resamples, seed=self._seed)
        return [_ends(found.kappa), _ends(found.ac1), _ends(found.alpha)]

    def _of_alpha(
        self, patterns: Mapping[tuple[str, ...], int], scale: str, points: Mapping[str, float]
    ) -> Ends:
        return [_ends(alpha_interval(patterns, scale, points, resamples=self._resamples, seed=self._seed))]


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _interval(ends: list[float] | None) -> Interval | None:
    return None if ends is None else Interval(*ends)


def _read(path: Path) -> dict[str, Ends]:
    try:
        kept = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return {key: ends for key, ends in kept.items() if _is_ends(ends)} if isinstance(kept, dict) else {}


def _is_ends(ends: object) -> bool:
    return isinstance(ends, list) and all(
        one is None
        or (isinstance(one, list) and len(one) == 2 and all(isinstance(end, float) for end in one))
        for one in ends
    )
