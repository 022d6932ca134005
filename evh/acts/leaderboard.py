"""The arms of a dataset, ranked: by which metric, against which set, by whose rules."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import field, field_table
from evh.acts.sheet_layout import lay_out
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.project import goals
from evh.records.judge import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.field_model import Field
    from evh.acts.figures import Against
    from evh.acts.sheet_layout import Layout
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.goal import Goal


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the options of a comparison come to: the arms, the metric, the set, and what a reader must know.

    By a judge's metric each arm has the judged run that holds it.
    """

    arms: tuple[Arm, ...]
    metric: str
    against: Against | None
    notes: tuple[str, ...]


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
    layout = lay_out(sources, dataset_id, runs, metric=metric, against=against, with_outputs=False)
    chosen = layout.choices
    if not chosen.metric:
        raise _nothing_to_compare(layout)
    judged = layout.judgements.compared(chosen.metric, layout.found)
    if judged:
        return Chosen(judged, chosen.metric, None, layout.judgements.notes)
    return Chosen(layout.found, chosen.metric, chosen.against, ())


def judge_command(scorer: str, dataset_id: str, arms: Sequence[str]) -> str:
    """Return the command by which a judge judges arms together."""
    words = ("evh", "judge", "--scorer", scorer, "--dataset-id", dataset_id, "--runs", ",".join(arms))
    return shlex.join(words)


def _nothing_to_compare(layout: Layout) -> Refusal:
    """Return the Refusal that no arm has a score; a judge's grades are taken where they are named."""
    name = layout.dataset.dataset_id
    grades = [dict.fromkeys(one.title for one in held) for held in layout.judgements.columns]
    told = [
        f"{arm.name}: has no score"
        + (f" but a judge's, which are taken where one is named: {', '.join(mine)}" if mine else "")
        for arm, mine in zip(layout.found, grades, strict=True)
    ]
    next_step = f"evh rescore --dataset-id {name} --labels {name}/SET"
    if not layout.found:
        next_step = f"evh run --config ARM --dataset-id {name}"
    elif first := next((title for mine in grades for title in mine), None):
        next_step = f"evh leaderboard --dataset-id {name} --metric {shlex.quote(first)}; or {next_step}"
    return Refusal(
        "not-scored",
        f"no arm on {name} has a score to compare by",
        why=told or ["no arm has run on it"],
        next=next_step,
    )


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
        metric: what they are ranked by, ``SCORER/M`` a judge's; by default the goal's, else the primary one,
            else that of a judge that compared them.
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
        if metric is None or scorer_of(metric) is None:  # a judge's metric goes by no set
            against = against or goal.against
    chosen = choose(sources, dataset_id, runs, metric=metric, against=against)
    rules, notes = field.rules_for(sources, dataset_id, chosen.metric, goal)
    made = field.verdicts(
        sources, sources.datasets[dataset_id], chosen.arms,
        metric=chosen.metric, against=chosen.against, rules=rules,
    )  # fmt: skip
    ranked = {one.name for one in made.arms}
    absent = [arm for arm in chosen.arms if arm.name not in ranked]
    ref = made.against.ref if made.against else None
    unread = [arm.name for arm in absent if field_table.unread(sources, arm, ref)]
    silent = [arm.name for arm in absent if arm.name not in unread]
    # What cannot be read comes first: it explains the rest.
    first = [*sources.notes(), *([f"{', '.join(unread)}: not ranked, for that"] if unread else [])]
    if silent:
        where = f" against {ref}" if ref else ""
        notes.append(f"{', '.join(silent)}: no {made.metric}{where}, so not ranked")
    return replace(made, notes=tuple(dict.fromkeys([*first, *made.notes, *chosen.notes, *notes])))


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
