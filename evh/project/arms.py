"""Arms on a dataset: which runs stand for each, and against what each was scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evh.project.find import Project
    from evh.records.run import Run


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm on one dataset.

    ``name`` is the config's id, or the run's where a run was named. ``run`` holds its outputs: the latest
    finished measured run. ``scored`` are the runs that hold scores of those outputs, one for each label
    or reference set they were scored against, the reference's first; the run itself where it has scores.
    ``judged`` is the judged run that holds what a judge says of them, where it is a judge's metric that the
    arm is looked at by: then its scores are read from there alone.
    """

    name: str
    run: Run
    scored: tuple[Run, ...]
    judged: Run | None = None

    @property
    def recorded(self) -> bool:
        """Whether it replays production's own decisions."""
        return self.run.recorded

    def against(self, ref: str) -> Run | None:
        """Return the run scored against ``labels/<dataset>/<set>`` or ``<tier>/<name>``, or None."""
        return next((run for run in self.scored if scored_against(run) == ref), None)


def scored_against(run: Run) -> str | None:
    """Return what a run was scored against: ``labels/<dataset>/<set>``, ``<tier>/<name>``, or None."""
    return f"labels/{run.labels}" if run.labels else run.reference


def trial_of(run: Run, n_items: int) -> int | None:
    """Return over how many of a dataset's items a run was a trial (``--limit``); None for a whole run."""
    limit = limit_of(run)
    return limit if limit is not None and 0 < limit < n_items else None


def limit_of(run: Run) -> int | None:
    """Return the ``--limit`` of a run; of one that was scored again, that of the run it was made from."""
    data = run.fingerprint.get("data")
    limit = run.extra.get("limit", data.get("limit") if isinstance(data, dict) else None)
    return limit if isinstance(limit, int) else None


def latest_last(found: Iterable[Run]) -> list[Run]:
    """Return runs, oldest first, so that the last of an arm's stands for it.

    A trial over some of the items (``--limit``) never stands for an arm that has run over all of them. One
    whose limit passed the number of its items was over all of them.
    """

    def whole(run: Run) -> bool:
        limit = limit_of(run)
        return limit is None or run.n_items < limit

    return sorted(found, key=whole)


def of_dataset(
    project: Project, dataset_id: str, names: Sequence[str] = (), *, all_runs: Sequence[Run] | None = None
) -> list[Arm]:
    """Return the arms on a dataset: those named, in that order, or all, recorded ones first, then by name.

    Args:
        project: the project.
        dataset_id: the dataset.
        names: config ids or run ids (the value of ``--runs``).
        all_runs: every run, where the caller has read them already.

    Raises:
        Refusal: every name that is no arm of this dataset, saying where it did run.
    """
    everything = list(runs.read_all(project, []) if all_runs is None else all_runs)
    here = [run for run in everything if run.dataset_id == dataset_id and not run.judged]
    measured = latest_last([run for run in here if _stands_alone(run)])
    if not names:
        latest = {run.config_id: run for run in measured}
        arms = [_arm(run.config_id, run, here) for run in latest.values()]
        return sorted(arms, key=lambda arm: (not arm.recorded, arm.name))
    made, reasons = [], []
    for name in names:
        found = [run for run in measured if run.run_id == name] or [
            run for run in measured if run.config_id == name
        ]
        if found:
            made.append(_arm(name, found[-1], here))
        else:
            elsewhere = sorted({run.dataset_id for run in everything if name in (run.run_id, run.config_id)})
            reasons.append(
                f"{name}: "
                + (f"it ran on {', '.join(elsewhere)}" if elsewhere else "no such run or config has run")
            )
    if reasons:
        raise Refusal(
            "unknown-arm",
            f"not every arm ran on {dataset_id}",
            why=reasons,
            next=f"evh runs --dataset-id {dataset_id}; evh run --config ARM --dataset-id {dataset_id}",
        )
    return made


def repeats(arm: Arm, all_runs: Sequence[Run]) -> list[Arm]:
    """Return an arm once for each run of its repeat group on its dataset, oldest first.

    The arm alone, where its run was no repeat, where that run was named and not its config, and by a judge's
    metric: it judged one run of it.
    """
    group = arm.run.repeat_group
    if group is None or arm.name != arm.run.config_id or arm.judged is not None:
        return [arm]
    here = [run for run in all_runs if run.dataset_id == arm.run.dataset_id and not run.judged]
    found = [
        run
        for run in here
        if _stands_alone(run) and run.repeat_group == group and run.config_id == arm.run.config_id
    ]
    return [
        _arm(run.run_id, run, here) for run in sorted(found, key=lambda run: (run.created_at, run.run_id))
    ]


def _stands_alone(run: Run) -> bool:
    """Tell whether a run holds outputs of its own: measured, recorded or imported, not scored again."""
    return (run.derived or {}).get("kind") != "rescored"


def _arm(name: str, run: Run, here: Sequence[Run]) -> Arm:
    twins = [
        other
        for other in here
        if other.key != run.key
        and other.run_id == run.run_id
        and (other.derived or {}).get("kind") == "rescored"
    ]
    scored: dict[str | None, Run] = {}
    if run.scores:
        scored[scored_against(run)] = run
    for twin in twins:
        scored[scored_against(twin)] = twin
    ordered = sorted(
        scored.items(), key=lambda pair: ((pair[0] or "~").startswith("labels/"), pair[0] or "~")
    )
    return Arm(name=name, run=run, scored=tuple(twin for _, twin in ordered))
