"""What differs between two runs: in what they were made of, key by key, and in what came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts import run_totals
from evh.project import arms, fingerprint, runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.find import Project
    from evh.records.run import Prediction, Run


@dataclass(frozen=True, slots=True)
class Figure:
    """A run-level figure of both runs; None where a run has none."""

    name: str
    one: float | None
    other: float | None


@dataclass(frozen=True, slots=True)
class Diff:
    """Two runs and where they differ.

    Attributes:
        one: the first run.
        other: the second.
        same: whether their fingerprints have one hash; None where one of them has none.
        made_of: the keys of the fingerprint that differ; they move its hash.
        beside: what differs and moves no hash: the host, the build, the seed and the settings of each run,
            and what the server said of itself.
        n_both: items that both answered.
        changed: those of them that they decided otherwise, in the first run's order.
        only_one: items that the first alone answered.
        only_other: items that the second alone answered.
        against: what each was scored against.
        figures: the scores that differ, by name.
        totals: the totals that differ, by name.
    """

    one: Run
    other: Run
    same: bool | None
    made_of: tuple[fingerprint.Difference, ...]
    beside: tuple[fingerprint.Difference, ...]
    n_both: int
    changed: tuple[str, ...]
    only_one: tuple[str, ...]
    only_other: tuple[str, ...]
    against: tuple[str | None, str | None]
    figures: tuple[Figure, ...]
    totals: tuple[Figure, ...]


def diff(project: Project, name: str, other_name: str) -> Diff:
    """Return what differs between two runs.

    Args:
        project: the project.
        name: a run's id, or ``<folder>/<run_id>``.
        other_name: another's.

    Raises:
        Refusal: no such run, or its predictions cannot be read.
    """
    one, other = runs.read(project, name), runs.read(project, other_name)
    return between(one, other, runs.predictions(project, one), runs.predictions(project, other))


def between(
    one: Run, other: Run, predictions: Sequence[Prediction], other_predictions: Sequence[Prediction]
) -> Diff:
    """Return what differs between two runs that the caller has read, with their predictions."""
    rows, other_rows = _answered(predictions), _answered(other_predictions)
    both = [item_id for item_id in rows if item_id in other_rows]
    hashes = one.fingerprint.get("hash"), other.fingerprint.get("hash")
    return Diff(
        one=one,
        other=other,
        same=hashes[0] == hashes[1] if all(hashes) else None,
        made_of=tuple(fingerprint.compared(one.fingerprint, other.fingerprint)),
        beside=tuple(fingerprint.compared(_beside(one), _beside(other), tuple(_beside(one)))),
        n_both=len(both),
        changed=tuple(key for key in both if rows[key].decision != other_rows[key].decision),
        only_one=tuple(key for key in rows if key not in other_rows),
        only_other=tuple(key for key in other_rows if key not in rows),
        against=(arms.scored_against(one), arms.scored_against(other)),
        figures=_figures(one.scores, other.scores),
        totals=_figures(run_totals.of_run(one).dump(), run_totals.of_run(other).dump()),
    )


def _beside(run: Run) -> dict[str, Any]:
    return {
        "host": run.fingerprint.get("host"),
        "build": dict(run.build) if run.build else None,
        "params": dict(run.params),
        run_totals.OBSERVED: run.extra.get(run_totals.OBSERVED),
    }


def _answered(predictions: Sequence[Prediction]) -> dict[str, Prediction]:
    return {row.item_id: row for row in predictions if row.error is None}


def _figures(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[Figure, ...]:
    return tuple(
        Figure(name, one.get(name), other.get(name))
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    )
