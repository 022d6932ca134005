"""A baseline: the run that a team promoted for a goal, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.run import numbers
from evh.records.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Baseline:
    """A file of ``baselines/``; a foreign tree's ``<dataset>_baseline.json`` has no goal."""

    baseline_id: str
    dataset_id: str
    promoted_from: str
    promoted_at: str = ""
    reason: str = ""
    goal: str | None = None
    reference_id: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def parse(raw: Mapping[str, Any], place: object, *, stem: str) -> Baseline:
    """Return the baseline in a file; ``stem`` is its file's name, the id of a foreign one without any."""
    shape = Shape(raw, place)
    made = Baseline(
        baseline_id=shape.identifier("baseline_id", default=stem),
        dataset_id=shape.text("dataset_id"),
        promoted_from=shape.text("promoted_from"),
        promoted_at=shape.text("promoted_at"),
        reason=shape.text("reason"),
        goal=shape.maybe_text("goal"),
        reference_id=shape.maybe_text("reference_id"),
        scores=numbers(shape.mapping("scores")),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a baseline that evh can read")
    return made
