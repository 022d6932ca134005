"""The arms of a dataset, ranked: by which metric, against which set, by whose rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import field
from evh.acts.sheet import build_sheet
from evh.acts.sheet_arms import of_sheet
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.project import goals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.field_model import Field
    from evh.acts.sheet_model import Against
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.goal import Goal


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the options of a comparison come to: the arms, the metric and the set."""

    arms: tuple[Arm, ...]
    metric: str
    against: Against | None


def choose(
    sources: Sources,
    dataset_id: str,
    runs: Sequence[str] = (),
    *,
    metric: str | None = None,
    against: str | None = None,
) -> Chosen:
    """Return the arms, the metric and the set of a comparison, by the rules of the sheet.

    Args:
        sources: the project's records.
        dataset_id: the dataset.
        runs: config or run ids; all arms that ran on the dataset by default.
        metric, against: as in `build_sheet`.

    Raises:
        Refusal: what `build_sheet` refuses; no arm has a score.
    """
    sheet = build_sheet(
        sources.project, dataset_id, runs,
        metric=metric, against=against, with_outputs=False, with_previews=False, with_rows=False,
        sources=sources,
    )  # fmt: skip
    if not sheet.metric:
        told = [f"{arm.name}: has no score" for arm in sheet.arms] or ["no arm has run on it"]
        raise Refusal(
            "not-scored",
            f"no arm on {dataset_id} has a score to compare by",
            why=told,
            next=f"evh rescore --dataset-id {dataset_id} --labels {dataset_id}/SET"
            if sheet.arms
            else f"evh run --config ARM --dataset-id {dataset_id}",
        )
    found = of_sheet(sources.project, dataset_id, runs, sources)
    return Chosen(tuple(found), sheet.metric, sheet.against)


def leaderboard(
    project: Project,
    dataset_id: str,
    runs: Sequence[str] = (),
    *,
    metric: str | None = None,
    against: str | None = None,
    goal_id: str | None = None,
    sources: Sources | None = None,
) -> Field:
    """Return the arms of a dataset ranked, each with its interval and its verdict.

    Args:
        project: the project.
        dataset_id: the dataset.
        runs: config or run ids; all arms that ran on it by default.
        metric: what they are ranked by; by default the goal's, else the primary one.
        against: the set that the scores were made against; by default the goal's, else the sheet's.
        goal_id: whose rules hold; by default the one goal that names the dataset and the metric.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: no such dataset, arm, metric, set or goal; a goal of other datasets; no arm has a score.
    """
    sources = sources or Sources(project)
    goal = goal_on(project, goal_id, dataset_id) if goal_id else None
    if goal is not None:
        metric = metric or goal.metric
        against = against or goal.against
    chosen = choose(sources, dataset_id, runs, metric=metric, against=against)
    rules, notes = field.rules_for(sources, dataset_id, chosen.metric, goal)
    made = field.verdicts(
        sources, sources.datasets[dataset_id], chosen.arms,
        metric=chosen.metric, against=chosen.against, rules=rules,
    )  # fmt: skip
    ranked = {one.name for one in made.arms}
    silent = [arm.name for arm in chosen.arms if arm.name not in ranked]
    if silent:
        where = f" against {made.against.ref}" if made.against else ""
        notes.append(f"{', '.join(silent)}: no {made.metric}{where}, so not ranked")
    return replace(made, notes=tuple(dict.fromkeys([*made.notes, *notes, *sources.notes()])))


def goal_on(project: Project, goal_id: str, dataset_id: str) -> Goal:
    """Return a goal that names a dataset, or raise a Refusal."""
    goal = goals.read(project, goal_id)
    if dataset_id not in goal.datasets:
        raise Refusal(
            "other-dataset",
            f"the goal {goal_id!r} is not about {dataset_id}",
            why=[f"{goal_id}: its datasets are {', '.join(goal.datasets)}"],
            next=f"evh leaderboard --dataset-id {goal.datasets[0]} --goal {goal_id}",
        )
    return goal
