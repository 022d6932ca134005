"""Goals: each group of arms by what it was scored against, the finalist, the baseline, and production."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import deploy_check, deploy_sheet, field, finalist, judged_columns
from evh.acts.agreement_of_arms import agreement
from evh.acts.sheet import build_sheet
from evh.acts.sheet_arms import of_sheet
from evh.acts.sheet_choices import TIERS
from evh.acts.sources import Sources
from evh.project import baselines, captures, runs
from evh.project import goals as shelf
from evh.project.shelf import read_each
from evh.records.judge import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.agreement_of_arms import ArmPair
    from evh.acts.deploy_check import Check
    from evh.acts.field_model import Field
    from evh.acts.figures import Against
    from evh.acts.finalist import Finalist
    from evh.acts.sheet_model import Sheet
    from evh.errors import Refusal
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.baseline import Baseline
    from evh.records.goal import Goal
    from evh.records.run import Run


@dataclass(frozen=True, slots=True)
class Group:
    """The arms of one dataset that were scored against one set, and the finalist that they suggest."""

    field: Field
    finalist: Finalist


@dataclass(frozen=True, slots=True)
class Production:
    """Whether production ran what the baseline is.

    ``check`` is the deploy sheet of the baseline's arm held against the latest capture of the goal's
    datasets; None where there is no such capture, or where it cannot be read, as ``problem`` then says.
    """

    config_id: str
    check: Check | None
    problem: str | None = None

    @property
    def word(self) -> str:
        """``match``, ``differ``, or ``not recorded``."""
        if self.check is None or not self.check.n:
            return deploy_check.UNRECORDED
        if self.check.differ:
            return deploy_check.DIFFER
        return deploy_check.MATCH if not self.check.unrecorded else deploy_check.UNRECORDED


@dataclass(frozen=True, slots=True)
class Replay:
    """How often production's own decisions are what the baseline's arm decides on the same items."""

    dataset_id: str
    recorded: str
    config_id: str
    pair: ArmPair


@dataclass(frozen=True, slots=True)
class GoalView:
    """A goal with everything that bears on it.

    Attributes:
        goal: the goal.
        groups: that of its ``against`` first, then references (gold, silver), then label sets; by dataset.
            One by a judge's metric where that is the goal's, or where nothing else has scored the arms.
        baseline: what was promoted for it, or None.
        baseline_problem: why what was promoted cannot be read; None where it can, or where nothing was.
        baseline_run: the run that was promoted, where it is here.
        superseded: the baselines before it, oldest first.
        production: whether production runs the baseline; None without a baseline that could be deployed.
        replays: production's recorded arms beside the baseline's arm, one a dataset where both ran.
        notes: sentences that a reader must see.
    """

    goal: Goal
    groups: tuple[Group, ...]
    baseline: Baseline | None
    baseline_problem: str | None
    baseline_run: Run | None
    superseded: tuple[Baseline, ...]
    production: Production | None
    replays: tuple[Replay, ...]
    notes: tuple[str, ...]


def goals(project: Project, goal_id: str | None = None, *, sources: Sources | None = None) -> list[GoalView]:
    """Return each goal with its groups, finalists and baseline.

    Args:
        project: the project.
        goal_id: this goal alone.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: no such goal, or the one that is named cannot be read.

    Cost: a `field.verdicts` for each set that the arms of each dataset were scored against.
    """
    sources = sources or Sources(project)
    known = [shelf.read(project, goal_id)] if goal_id else shelf.read_all(project, sources.problems)
    return [view(project, goal, sources) for goal in known]


def view(project: Project, goal: Goal, sources: Sources) -> GoalView:
    """Return one goal with everything that bears on it."""
    notes: list[str] = []
    groups: list[Group] = []
    for dataset_id in goal.datasets:
        if dataset_id not in sources.datasets:
            notes.append(f"the goal names {dataset_id}, and there is no such dataset here")
            continue
        made = _groups(project, goal, dataset_id, sources)
        groups += made
        if not made:
            notes.append(f"no arm on {dataset_id} was scored by {goal.metric or 'any metric'} yet")
    if goal.against and groups and not any(_is_first(one, goal) for one in groups):
        notes.append(f"no arm was scored against {goal.against}, which the goal names")
    unread: list[Refusal] = []
    baseline = next(
        iter(read_each([goal.goal_id], lambda one: baselines.of_goal(project, one), unread)), None
    )
    sources.problems += unread
    run = _run_of(baseline, sources)
    if baseline is not None and run is None:
        notes.append(f"the run {baseline.promoted_from}, which is the baseline, is not here")
    production: Production | None = None
    replays: tuple[Replay, ...] = ()
    if run is not None and run.recorded:
        notes.append(f"the baseline {run.config_id} is production's own record: there is nothing to match")
    elif run is not None:
        production = _production(project, goal, run, sources)
        replays = _replays(project, goal, run, sources)
    return GoalView(
        goal=goal,
        groups=tuple(sorted(groups, key=lambda one: _order(one, goal))),
        baseline=baseline,
        baseline_problem="; ".join([unread[0].what, *unread[0].why]) if unread else None,
        baseline_run=run,
        superseded=tuple(baselines.superseded(project, goal.goal_id, sources.problems)),
        production=production,
        replays=replays,
        notes=tuple(dict.fromkeys([*sources.notes(), *notes])),
    )


def _groups(project: Project, goal: Goal, dataset_id: str, sources: Sources) -> list[Group]:
    sheet = build_sheet(project, dataset_id, with_outputs=False, with_rows=False, sources=sources)
    found = of_sheet(project, dataset_id, (), sources)
    made = []
    for against in _sets(sheet, goal):
        metric = goal.metric or _primary(sheet, against)
        if not metric:
            continue
        group = field.verdicts(
            sources, sources.datasets[dataset_id], found,
            metric=metric, against=against, rules=field.rules_of(goal),
        )  # fmt: skip
        if group.arms:
            made.append(Group(group, finalist.suggest(group, goal)))
    if not made:
        made += _by_judge(goal, dataset_id, found, sources)
    return made


def _by_judge(goal: Goal, dataset_id: str, found: Sequence[Arm], sources: Sources) -> list[Group]:
    """Return the group by the judge's metric that the goal names, or by a judge where nothing else scored."""
    if goal.metric is not None and scorer_of(goal.metric) is None:
        return []
    judged = judged_columns.by_judge(sources, dataset_id, found, goal.metric)
    if judged is None:
        return []
    group = field.verdicts(
        sources, sources.datasets[dataset_id], judged.arms,
        metric=judged.metric, against=None, rules=field.rules_of(goal),
    )  # fmt: skip
    group = replace(group, notes=(*group.notes, *judged.notes))
    return [Group(group, finalist.suggest(group, goal))]


def _sets(sheet: Sheet, goal: Goal) -> list[Against | None]:
    """Return what the arms were scored against, each once; None where a score names no set."""
    made: dict[str | None, Against | None] = {}
    for footer in sheet.footer:
        for against, scores in footer.figures:
            if goal.metric is None or goal.metric in scores:
                made.setdefault(against.ref if against else None, against)
    return list(made.values())


def _primary(sheet: Sheet, against: Against | None) -> str:
    """Return the primary metric of most arms on one scoring; the sheet's own where none says."""
    from collections import Counter

    names = Counter(
        run.shown_metric
        for arm in sheet.arms
        for run in (arm.run,)
        if any(column.against == against for column in arm.scores) and run.shown_metric
    )
    columns = Counter(
        column.metric
        for arm in sheet.arms
        for column in arm.scores
        if column.against == against and column.primary
    )
    figures = {
        name for footer in sheet.footer for one, scores in footer.figures if one == against for name in scores
    }
    for name, _ in [*names.most_common(), *columns.most_common()]:
        if name in figures:
            return str(name)
    return min(figures, default="")


def _run_of(baseline: Baseline | None, sources: Sources) -> Run | None:
    if baseline is None:
        return None
    held = [run for run in sources.runs if run.run_id == baseline.run_id and not run.judged]
    exact = [run for run in held if run.key == baseline.promoted_from]
    return next(iter([*exact, *sorted(held, key=lambda run: run.folder != runs.MEASURED)]), None)


def _production(project: Project, goal: Goal, run: Run, sources: Sources) -> Production:
    capture_id = latest_capture(project, goal.datasets, sources)
    if capture_id is None:
        return Production(run.config_id, None, "no capture of the goal's datasets is here")
    problems: list[Refusal] = []
    found = read_each(
        [run.config_id],
        lambda one: deploy_sheet.deploy_sheet(project, one, capture_id=capture_id, goal_id=goal.goal_id),
        problems,
    )
    if not found:
        return Production(run.config_id, None, problems[0].what)
    return Production(run.config_id, found[0].check)


def latest_capture(project: Project, dataset_ids: Sequence[str], sources: Sources) -> str | None:
    """Return the capture of these datasets whose records reach the furthest; None where there is none."""
    named = {
        str(item.lineage["capture"])
        for name in dataset_ids
        if name in sources.datasets
        for item in sources.datasets[name].items
        if item.lineage.get("capture")
    }
    held = [one for one in captures.read_all(project, sources.problems) if one.capture_id in named]
    ordered = sorted(
        held, key=lambda one: (one.time_range[1] if one.time_range else "", one.created_at, one.capture_id)
    )
    return ordered[-1].capture_id if ordered else None


def _replays(project: Project, goal: Goal, run: Run, sources: Sources) -> tuple[Replay, ...]:
    made = []
    for dataset_id in goal.datasets:
        if dataset_id not in sources.datasets:
            continue
        found = of_sheet(project, dataset_id, (), sources)
        recorded = [arm.name for arm in found if arm.recorded]
        if not recorded or run.config_id not in {arm.name for arm in found}:
            continue
        told = agreement(project, dataset_id, [*recorded, run.config_id], sources=sources)
        for name in recorded:
            pair = told.pair(name, run.config_id)
            if pair is not None:
                made.append(Replay(dataset_id, name, run.config_id, pair))
    return tuple(made)


def _is_first(group: Group, goal: Goal) -> bool:
    against = group.field.against
    return goal.against is not None and against is not None and against.ref == goal.against


def _order(group: Group, goal: Goal) -> tuple[object, ...]:
    against = group.field.against
    return (
        not _is_first(group, goal),
        goal.datasets.index(group.field.dataset_id),
        against is None,
        against is not None and against.kind == "labels",
        TIERS.get((against.tier if against else None) or "", len(TIERS)),
        against.ref if against else "",
    )
