"""A baseline: the run that a team promoted for a goal, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.run import numbers
from evh.records.shape import Shape, without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Baseline:
    """A file of ``baselines/``; a foreign tree's ``<dataset>_baseline.json`` has no goal.

    ``promoted_from`` is a run, as its id or ``<folder>/<run_id>``. ``reference_id`` is what it was scored
    against: ``labels/<dataset>/<set>`` or ``<tier>/<name>``. ``over`` names the run that it was tied with and
    was preferred to, ``supersedes`` the file of the baseline before it, in ``superseded/``.
    """

    baseline_id: str
    dataset_id: str
    promoted_from: str
    promoted_at: str = ""
    reason: str = ""
    goal: str | None = None
    reference_id: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    build: Mapping[str, Any] | None = None
    supersedes: str | None = None
    over: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        """The id of the run that was promoted."""
        return self.promoted_from.rpartition("/")[2]


def parse(raw: Mapping[str, Any], place: object, *, stem: str) -> Baseline:
    """Return the baseline in a file; ``stem`` is its file's name, the id of a foreign one without any."""
    shape = Shape(raw, place)
    build, supersedes = raw.get("build"), raw.get("supersedes")
    made = Baseline(
        baseline_id=shape.identifier("baseline_id", default=stem),
        dataset_id=shape.text("dataset_id"),
        promoted_from=shape.text("promoted_from"),
        promoted_at=shape.text("promoted_at"),
        reason=shape.text("reason"),
        goal=shape.maybe_text("goal"),
        reference_id=shape.maybe_text("reference_id"),
        scores=numbers(shape.mapping("scores")),
        # Foreign trees write these in forms of their own: what is none of ours stays among the rest.
        build=shape.maybe_mapping("build") if isinstance(build, dict) else None,
        supersedes=shape.maybe_text("supersedes") if isinstance(supersedes, str) else None,
        over=shape.maybe_text("over"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a baseline that evh can read")
    return made


def dump(baseline: Baseline) -> dict[str, Any]:
    """Return the baseline as its file holds it."""
    return {
        **baseline.extra,
        "baseline_id": baseline.baseline_id,
        "dataset_id": baseline.dataset_id,
        "promoted_from": baseline.promoted_from,
        "promoted_at": baseline.promoted_at,
        "reason": baseline.reason,
        "goal": baseline.goal,
        "reference_id": baseline.reference_id,
        "scores": dict(baseline.scores),
        **without_empty({"build": baseline.build}),
        "supersedes": baseline.supersedes,
        "over": baseline.over,
    }
