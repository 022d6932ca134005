"""What stands for a number in a run's predictions and cannot be one: it counts as not there, and is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.records.run import wrong_numbers
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.records.run import Prediction, Run, WrongNumber

_SHOWN = 5


def told(run: Run, rows: Sequence[Prediction]) -> list[str]:
    """Return a sentence for each metric or measure of which some values are left out, the items in it.

    Args:
        run: the run.
        rows: its predictions.
    """
    likely = [row for row in rows if row.extra]
    if not likely:
        return []
    metrics = {*run.scores, *(metric for row in rows for metric in row.scores)}
    by_key: dict[str, list[WrongNumber]] = {}
    for one in wrong_numbers(likely, metrics | ({run.primary_metric} if run.primary_metric else set())):
        by_key.setdefault(one.key, []).append(one)
    made = []
    for key, found in sorted(by_key.items()):
        shown = "; ".join(f"{one.item_id}: {one.reason}" for one in found[:_SHOWN])
        more = f"; and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        made.append(f"{key} of {plural(len(found), 'prediction')}: {shown}{more}")
    return made


def problem(run: Run, rows: Sequence[Prediction]) -> Refusal | None:
    """Return the problem that a reader of a run tells, or None: every number can be used."""
    reasons = told(run, rows)
    if not reasons:
        return None
    return Refusal(
        "bad-number",
        f"numbers of {run.key} that cannot be used",
        why=reasons,
        next="restore predictions.jsonl (git checkout), or run the arm again",
    )
