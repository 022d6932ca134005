"""Which arms a sheet shows, in what order, and from which folder of runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import arms, baselines, runs
from evh.project.shelf import folders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evh.acts.sheet_choices import Choices
    from evh.acts.sheet_columns import ArmData
    from evh.acts.sources import Sources
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.run import Run


def of_sheet(project: Project, dataset_id: str, names: Sequence[str], sources: Sources) -> list[Arm]:
    """Return the arms of a dataset's sheet.

    Args:
        project: the project.
        dataset_id: the dataset.
        names: config or run ids, shown in that order; none named: all that ran on the dataset, recorded
            ones first, then those that a baseline was promoted from, then by name, trials over some of the
            items, and floors last.
        sources: the project's records.

    Raises:
        Refusal: every name that is no arm of this dataset.
    """
    found = arms.of_dataset(project, dataset_id, names, all_runs=sources.runs)
    if names:
        return found
    promoted = promoted_arms(project, sources, sources.problems)
    dataset = sources.datasets.get(dataset_id)
    n_items = len(dataset.items) if dataset else 0

    def key(arm: Arm) -> tuple[bool, ...]:
        tried = arms.trial_of(arm.run, n_items) is not None
        return sources.is_floor(arm.run), not arm.recorded, not promoted(arm.run), tried

    return sorted(found, key=key)


def by_standing(data: Sequence[ArmData], choices: Choices, promoted: Callable[[Run], bool]) -> list[int]:
    """Return the order of a sheet's columns, as the places that they had.

    The first stays: it stands for production. After it come recorded arms, then a baseline's, then the
    others, each of them by their figure of the sheet's metric against its set, the best first. Arms that may
    not win follow, then those without a figure, then floors.

    Args:
        data: the arms, in the order of `of_sheet`.
        choices: the sheet's metric and set.
        promoted: tells whether a baseline was promoted from a run's arm.
    """

    def key(at: int) -> tuple[object, ...]:
        one = data[at].column
        figure = data[at].figure(choices.metric, choices.row_metric, choices.against)
        barred = at not in choices.positions
        better = 0.0 if figure is None or barred else -figure if choices.higher else figure
        return (
            at > 0, one.floor, not one.recorded, not promoted(one.run), barred, figure is None, better, at
        )  # fmt: skip

    return sorted(range(len(data)), key=key)


def promoted_arms(project: Project, sources: Sources, problems: list[Refusal]) -> Callable[[Run], bool]:
    """Return what tells whether a baseline was promoted from an arm; ``problems`` gets what is unreadable."""
    named = {one.promoted_from for one in baselines.read_all(project, problems)}
    held = {run.config_id for run in sources.runs if named & {run.run_id, run.key}}
    return lambda run: run.config_id in held


@dataclass(frozen=True, slots=True)
class From:
    """Where a sheet's runs are read from: the project as it reads them, and the one folder of it, or None."""

    project: Project
    folder: str | None


def read_from(project: Project, place: Path) -> From:
    """Return what a folder of runs means: a ``runs*`` folder of the project, or one elsewhere.

    A folder elsewhere stands for ``data/runs``, as ``EVAL_RUNS_DIR`` does: it holds runs, or has ``runs/`` or
    ``data/runs/`` in it.

    Args:
        project: the project.
        place: the folder, from here or from ``data/``: ``runs-rescored``, ``runs-judged/helpful``.

    Raises:
        Refusal: there is no such folder, or it holds no finished run.
    """
    own = runs.folder_names(project)
    for path in (place.absolute(), project.data / place):
        name = next((one for one in own if runs.place_of(project, one).resolve() == path.resolve()), None)
        if name is not None:
            return From(project, name)
        for inner in (path, path / "runs", path / "data" / "runs"):
            if any((one / runs.METRICS).is_file() for one in folders(inner)):
                return From(replace(project, environ={**project.environ, "EVAL_RUNS_DIR": str(inner)}), None)
    raise Refusal(
        "no-runs",
        f"there are no runs in {place}",
        why=[f"--from {place}: neither there nor in {project.show(project.data / place)} is a finished run"],
        next=f"name a folder that holds runs: {', '.join(own) or 'there is none here yet'}",
    )


def of_folder(all_runs: Sequence[Run], folder: str) -> list[Run]:
    """Return the runs of one folder, and the runs that hold their outputs without a score of their own."""
    mine = [run for run in all_runs if run.folder == folder]
    named = {(run.judged or {}).get("run") or (run.derived or {}).get("from") for run in mine}
    ids = {run.run_id for run in mine}
    held = [
        replace(run, scores={})
        for run in all_runs
        if run.folder != folder
        and not run.judged
        and (run.key in named or run.run_id in ids)
        and (run.derived or {}).get("kind") != "rescored"
    ]
    return [*mine, *held]
