"""What a whole run took: its cost, its tokens, its latency, and which models a server says answered.

These are kept apart from the scores: they are never a metric, and no mean is taken over them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.records.shape import is_number, without_empty

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evh.records.run import Prediction, Run

TOTALS, LATENCY, OBSERVED = "totals", "latency_ms", "observed"
KEYS = (TOTALS, LATENCY, OBSERVED)
"""The keys of a run's ``metrics.json``; what was measured lies apart from what any machine counts alike."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What a run took. None is not known.

    Attributes:
        cost_usd: the sum of the items' costs, the failed ones' too.
        n_costed: items of which the cost is known.
        tokens_in: of all prompts.
        tokens_out: of all answers.
        latency_ms_p50: the latency that half of the answered items took at most (nearest rank).
        latency_ms_p95: the one that 95 % of them took at most.
        n_tries: how often a server was asked, tries that failed included.
    """

    cost_usd: float | None = None
    n_costed: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_ms_p50: float | None = None
    latency_ms_p95: float | None = None
    n_tries: int | None = None

    def dump(self) -> dict[str, Any]:
        """Return what is known, by the names of the attributes."""
        return without_empty({name: getattr(self, name) for name in self.__slots__})

    def record(self) -> dict[str, Any]:
        """Return what is known as ``metrics.json`` holds it: ``totals {…}`` and ``latency_ms {p50, p95}``."""
        known = self.dump()
        times = {key.rpartition("_")[2]: known.pop(key) for key in tuple(known) if key.startswith(LATENCY)}
        return {**({TOTALS: known} if known else {}), **({LATENCY: times} if times else {})}


def totals(rows: Sequence[Prediction]) -> Totals:
    """Return what a run's rows took together."""
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    times = sorted(row.latency_ms for row in rows if row.latency_ms is not None and row.error is None)
    tries = [meta["tries"] for row in rows if is_number((meta := _meta(row)).get("tries"))]
    return Totals(
        cost_usd=math.fsum(costs) if costs else None,
        n_costed=len(costs) or None,
        tokens_in=_sum(row.tokens_in for row in rows),
        tokens_out=_sum(row.tokens_out for row in rows),
        latency_ms_p50=_rank(times, 50),
        latency_ms_p95=_rank(times, 95),
        n_tries=sum(tries) if tries else None,
    )


def observed(rows: Sequence[Prediction]) -> dict[str, dict[str, int]]:
    """Return what the server said of itself: ``{models: {name: answers}, system_fingerprints: {…}}``."""
    found: dict[str, dict[str, int]] = {}
    for key, name in (("model", "models"), ("system_fingerprint", "system_fingerprints")):
        counts = Counter(str(_meta(row)[key]) for row in rows if _meta(row).get(key))
        if counts:
            found[name] = dict(sorted(counts.items()))
    return found


def reply_notes(rows: Sequence[Prediction]) -> tuple[str, ...]:
    """Return what of the replies was not taken as it came, each with in how many of them."""
    found = Counter(str(note) for row in rows for note in _notes(row))
    return tuple(f"in {n:,} of {len(rows):,} replies: {note}" for note, n in sorted(found.items()))


def of_run(run: Run) -> Totals:
    """Return the totals that a run's ``metrics.json`` holds; a run from elsewhere has none."""
    raw, times = run.extra.get(TOTALS), run.extra.get(LATENCY)
    known = {
        **(raw if isinstance(raw, dict) else {}),
        **{f"{LATENCY}_{key}": value for key, value in (times if isinstance(times, dict) else {}).items()},
    }
    return Totals(**{name: known[name] for name in Totals.__slots__ if is_number(known.get(name))})


def _meta(row: Prediction) -> dict[str, Any]:
    found = row.hidden.get("_meta")
    return found if isinstance(found, dict) else {}


def _notes(row: Prediction) -> list[Any]:
    found = _meta(row).get("notes")
    return found if isinstance(found, list) else []


def _sum(values: Iterable[float | None]) -> int | None:
    known = [value for value in values if value is not None]
    return int(sum(known)) if known else None


def _rank(ordered: Sequence[float], percent: int) -> float | None:
    return ordered[math.ceil(len(ordered) * percent / 100) - 1] if ordered else None
