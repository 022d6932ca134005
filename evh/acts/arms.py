"""The list of arms: each config with what answers for it, how often it ran, and what that cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import run_totals
from evh.project import configs, datasets, models, runs
from evh.project.shelf import missing, read_each

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.run import Run


@dataclass(frozen=True, slots=True)
class ArmLine:
    """One arm as the list shows it.

    Attributes:
        config_id: its name.
        config: its config, or None: it ran, and its config is not here.
        kind: what answers: the provider's name.
        model: the model's name, or None.
        adapter: the adapter's name, or empty for the project's own.
        n_runs: its measured runs that are finished.
        n_unfinished: those that are not.
        datasets: those it ran on, sorted.
        latest: its latest finished run.
        cost_usd: what its runs cost together, as far as it is known; None where nothing is.
    """

    config_id: str
    config: Config | None
    kind: str
    model: str | None
    adapter: str
    n_runs: int
    n_unfinished: int
    datasets: tuple[str, ...]
    latest: Run | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The arms, by name, and the records that could not be read."""

    lines: tuple[ArmLine, ...]
    problems: tuple[Refusal, ...]


def listing(project: Project, *, dataset_id: str | None = None) -> Listing:
    """Return the arms of a project.

    Args:
        project: the project.
        dataset_id: only those that ran on this dataset or name it, and only their runs on it.

    Raises:
        Refusal: no such dataset.
    """
    problems: list[Refusal] = []
    known = {one.config_id: one for one in configs.read_all(project, problems)}
    every = [run for run in runs.read_all(project, problems) if not run.judged]
    begun = [found for path in runs.unfinished(project) if (found := runs.running(project, path))]
    if dataset_id is not None:
        here = {*datasets.ids(project), *(run.dataset_id for run in every)}
        if dataset_id not in here:
            raise missing("dataset", dataset_id, here, next="evh datasets")
        every = [run for run in every if run.dataset_id == dataset_id]
        begun = [run for run in begun if run.dataset_id == dataset_id]
        ran = {run.config_id for run in (*every, *begun)}
        known = {key: one for key, one in known.items() if key in ran or one.dataset_id == dataset_id}
    named = {record.model_id: record.name for record in models.read_all(project, problems)}
    measured = [run for run in every if (run.derived or {}).get("kind") != "rescored"]
    names = sorted({*known, *(run.config_id for run in every)})
    lines = [
        _line(
            project,
            name,
            known.get(name),
            [run for run in measured if run.config_id == name],
            n_unfinished=sum(run.config_id == name for run in begun),
            named=named,
        )
        for name in names
    ]
    return Listing(tuple(lines), tuple(problems))


def _line(
    project: Project,
    name: str,
    config: Config | None,
    mine: Sequence[Run],
    *,
    n_unfinished: int,
    named: Mapping[str, str],
) -> ArmLine:
    latest = mine[-1] if mine else None
    params = config.params if config else latest.params if latest else {}
    model = params.get("model") or named.get((config.model_record if config else None) or "")
    costs = [cost for run in mine if (cost := _cost(project, run)) is not None]
    return ArmLine(
        config_id=name,
        config=config,
        kind=str(params.get("provider") or ""),
        model=str(model) if model else None,
        adapter=config.adapter if config else latest.adapter if latest else "",
        n_runs=len(mine),
        n_unfinished=n_unfinished,
        datasets=tuple(sorted({run.dataset_id for run in mine})),
        latest=latest,
        cost_usd=math.fsum(costs) if costs else None,
    )


def _cost(project: Project, run: Run) -> float | None:
    """Return what a run cost: as it says, else the sum over its rows; None where nothing is known."""
    if run_totals.TOTALS in run.extra:
        return run_totals.of_run(run).cost_usd
    if run.recorded:
        return None
    rows = read_each([run], lambda one: runs.predictions(project, one), [])
    return run_totals.totals(rows[0]).cost_usd if rows else None
