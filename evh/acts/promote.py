"""Make a run the baseline of a goal, with the reason; the baseline before it is archived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field
from evh.acts.sheet_columns import against_of, label_column
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.project import arms, baselines, goals, runs
from evh.project.arms import scored_against
from evh.records.baseline import Baseline

if TYPE_CHECKING:
    from evh.acts.field_model import Field
    from evh.project.find import Project
    from evh.records.goal import Goal
    from evh.records.run import Run


@dataclass(frozen=True, slots=True)
class Plan:
    """The baseline that would be written, the one in force before it, and what a person should know.

    ``field`` is the group of the run among the other arms.
    """

    goal: Goal
    run: Run
    baseline: Baseline
    before: Baseline | None
    field: Field
    notes: tuple[str, ...]

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        name = self.goal.goal_id
        first = []
        if self.before is not None:
            first = [f"archive the baseline {self.before.promoted_from} in data/baselines/superseded/"]
        return [*first, f"write data/baselines/{name}.json: {self.run.key}"]


def plan(project: Project, run_id: str, goal_id: str, *, reason: str, over: str | None = None) -> Plan:
    """Return what promoting a run would write.

    Args:
        project: the project.
        run_id: a run id, or ``<folder>/<run_id>`` where its outputs were scored against several sets. A bare
            id means the scores against the goal's set, else against the one set there is.
        goal_id: the goal. The run may come from any of its groups.
        reason: why this run.
        over: a run, or an arm, that it ties with and is preferred to.

    Raises:
        Refusal: with every reason at once: no reason; a run of another dataset, without the goal's metric,
            unfinished, over some of the items only, or a judging pass; a tie without ``over``; ``over`` that
            is not in the group.
    """
    goal = goals.read(project, goal_id)
    found = runs.read(project, run_id)  # refuses one that is not there, or not finished
    sources = Sources(project)
    reasons: list[tuple[str, str]] = []
    if not reason.strip():
        reasons.append(("no-reason", "--reason: a baseline says why it was chosen"))
    run = _scoring(sources, found, run_id, goal, reasons)
    metric = goal.metric or (run.primary_metric if run else None) or ""
    if run is not None:
        reasons += _unfit(run, goal, metric)
    if run is None or reasons:
        raise _refused(run_id, goal, reasons)
    group = _group(sources, run, goal, metric)
    name = next((one.name for one in group.arms if _is(one.run, run)), None)
    rival, wrong = _rival(group, name, over, goal)
    if wrong:
        raise _refused(run_id, goal, [wrong])
    before = baselines.of_goal(project, goal_id)
    made = Baseline(
        baseline_id=goal_id,
        dataset_id=run.dataset_id,
        promoted_from=run.key,
        promoted_at=project.stamp(),
        reason=reason.strip(),
        goal=goal_id,
        reference_id=scored_against(run),
        scores=run.scores,
        build=run.build,
        over=rival,
    )
    return Plan(goal, run, made, before, group, tuple(_notes(group, name, before, run)))


def commit(project: Project, plan: Plan) -> Baseline:
    """Write what was planned and return the baseline; its ``supersedes`` names the archived one."""
    return baselines.put(project, plan.goal.goal_id, plan.baseline, before=plan.before)


def _scoring(
    sources: Sources, found: Run, named: str, goal: Goal, reasons: list[tuple[str, str]]
) -> Run | None:
    """Return the run that holds the scores which are meant, or note that several could be."""
    if "/" in named:
        return found
    metric = goal.metric
    twins = [
        one
        for one in sources.runs
        if one.run_id == found.run_id and not one.judged and one.scores and metric in (None, *one.scores)
    ]
    if not twins:
        return found
    if goal.against is not None and (fits := [one for one in twins if scored_against(one) == goal.against]):
        twins = fits
    if len({scored_against(one) for one in twins}) > 1:
        keys = ", ".join(sorted(one.key for one in twins))
        reasons.append(
            ("ambiguous-run", f"--run {named}: it was scored against several sets: name one of {keys}")
        )
        reasons += _of_another(found, goal)
        return None
    return max(twins, key=lambda one: (one.folder != runs.MEASURED, one.created_at))


def _unfit(run: Run, goal: Goal, metric: str) -> list[tuple[str, str]]:
    reasons = []
    if run.judged:
        reasons.append(("judged-run", f"{run.key}: it holds judgements, not an arm's outputs"))
    reasons += _of_another(run, goal)
    if not metric or metric not in run.scores:
        told = ", ".join(sorted(run.scores)) or "no score"
        reasons.append(("other-metric", f"{run.key}: the goal goes by {metric or 'a metric'}; it has {told}"))
    if run.extra.get("limit") is not None:
        reasons.append(
            (
                "unfinished-run",
                f"{run.key}: a trial over the first {run.extra['limit']} items, not a whole run",
            )
        )
    return reasons


def _of_another(run: Run, goal: Goal) -> list[tuple[str, str]]:
    if run.dataset_id in goal.datasets:
        return []
    told = ", ".join(goal.datasets)
    return [("other-dataset", f"{run.key}: it ran on {run.dataset_id}; the goal is about {told}")]


def _group(sources: Sources, run: Run, goal: Goal, metric: str) -> Field:
    """Return the field of the run's group; the run stands for its arm."""
    dataset = sources.datasets.get(run.dataset_id)
    if dataset is None:
        raise Refusal(
            "no-such-dataset",
            f"there is no dataset {run.dataset_id!r}",
            why=[f"{run.key}: it ran on {run.dataset_id}, which is not here"],
            next="evh datasets",
        )
    ref = scored_against(run)
    others = arms.of_dataset(sources.project, run.dataset_id, all_runs=sources.runs)
    mine = arms.of_dataset(sources.project, run.dataset_id, [run.run_id], all_runs=sources.runs)
    # The arm by its config's name where the run stands for it anyway, so that its repeats count.
    names = {one.run.run_id for one in others} | {
        twin.run.run_id for one in others for twin in arms.repeats(one, sources.runs)
    }
    if run.run_id not in names:
        others = [*mine, *(one for one in others if one.run.config_id != run.config_id)]
    labels = tuple(label_column(one, dataset, sources) for one in sources.covering(dataset))
    return field.verdicts(
        sources, dataset, others,
        metric=metric, against=against_of(run, labels) if ref else None, rules=field.rules_of(goal),
    )  # fmt: skip


def _is(one: Run, run: Run) -> bool:
    if one.run_id == run.run_id:
        return True
    return one.repeat_group is not None and one.repeat_group == run.repeat_group


def _rival(
    group: Field, name: str | None, over: str | None, goal: Goal
) -> tuple[str | None, tuple[str, str] | None]:
    """Return the run that is passed over, and why the promotion cannot be: a tie, or an unknown run."""
    tied = [one for one in group.leaders if one != name] if name in group.leaders else []
    if over is None:
        if not tied:
            return None, None
        rivals = [arm.run.run_id for one in tied if (arm := group.arm(one))]
        return None, (
            "tie",
            f"{name} ties with {', '.join(tied)}: say which is passed over, --over {rivals[0]}",
        )
    wanted = over.rpartition("/")[2]
    for arm in group.arms:
        if arm.name != name and wanted in (arm.name, arm.run.run_id):
            return arm.run.run_id, None
    known = ", ".join(one.run.run_id for one in group.arms if one.name != name) or "no other run"
    return None, ("not-in-group", f"--over {over}: the runs beside it in {goal.goal_id} are {known}")


def _notes(group: Field, name: str | None, before: Baseline | None, run: Run) -> list[str]:
    notes = []
    arm = group.arm(name) if name else None
    if arm is not None and arm.own:
        notes.append(f"{arm.name} is measured on its own labels: its figure says little")
    if arm is not None and arm.fitted:
        notes.append(f"{arm.name} was fitted on items of this dataset: its figure says little")
    if arm is not None and arm.floor:
        notes.append(f"{arm.name} is a floor: it only shows what is easy")
    if arm is not None and arm.verdict == "behind":
        notes.append(f"{arm.name} is behind {', '.join(group.leaders)} by {group.metric}")
    if arm is not None and arm.verdict == "contender":
        notes.append(f"{arm.name} is not told apart from {', '.join(group.leaders)} by {group.metric}")
    if before is not None and before.run_id == run.run_id:
        notes.append(f"{run.run_id} is the baseline already: the new reason is kept beside the old one")
    return notes


def _refused(run_id: str, goal: Goal, reasons: list[tuple[str, str]]) -> Refusal:
    return Refusal(
        reasons[0][0],
        f"{run_id} cannot be promoted for {goal.goal_id}",
        why=[reason for _, reason in reasons],
        next=f"evh goals --goal {goal.goal_id}",
    )
