"""Make a run the baseline of a goal, with the reason; the baseline before it is archived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field, judged_columns
from evh.acts.sheet_columns import against_of, label_column
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.project import arms, baselines, goals, runs
from evh.project.arms import scored_against
from evh.project.shelf import read_each
from evh.records.baseline import Baseline
from evh.records.judge import scorer_of
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.acts.field_model import Field, FieldArm
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
        over: a run, or an arm, that it ties with for the lead and is preferred to.

    Raises:
        Refusal: with every reason at once: no reason; a run of another dataset, without the goal's metric,
            unfinished, over some of the items only, or a judging pass; one whose predictions cannot be read,
            that lacks a score of an item which did not fail, or that mostly failed; a tie without ``over``;
            ``over`` that is not in the group, or that it does not tie with.
    """
    goal = goals.read(project, goal_id)
    found = runs.read(project, run_id)  # refuses one that is not there, or not finished
    sources = Sources(project)
    reasons: list[tuple[str, str]] = []
    if not reason.strip():
        reasons.append(("no-reason", "--reason: a baseline says why it was chosen"))
    run = _scoring(sources, found, run_id, goal, reasons)
    metric = goal.metric or (run.primary_metric if run else None) or ""
    by_judge = goal.metric is None and not metric
    by_judge = by_judge or scorer_of(metric) is not None
    if run is not None:
        reasons += _unfit(run, goal, metric, sources, by_judge=by_judge)
    if run is None or reasons:
        raise _refused(run_id, goal, reasons)
    group = _group(sources, run, goal, metric, by_judge=by_judge)
    arm = next((one for one in group.arms if _is(one.run, run)), None) if group else None
    if group is None or (by_judge and arm is None):
        told = ", ".join(sorted(run.scores)) or "no score"
        reason = f"{run.key}: the goal goes by {metric or 'a metric'}; it has {told}"
        if scorer_of(metric):
            reason = f"{run.key}: the goal goes by {metric}, and no judged run of it has that"
        raise _refused(run_id, goal, [("other-metric", reason)])
    name = arm.name if arm else None
    rival, wrong = _rival(group, name, over, goal)
    part = None if arm is None else _part(arm, run, group, sources)
    late = [one for one in (part, wrong) if one is not None]
    if late:
        raise _refused(run_id, goal, late)
    before = baselines.of_goal(project, goal_id)
    made = Baseline(
        baseline_id=goal_id,
        dataset_id=run.dataset_id,
        promoted_from=run.key,
        promoted_at=project.stamp(),
        reason=reason.strip(),
        goal=goal_id,
        reference_id=scored_against(run),
        scores={**run.scores, group.metric: arm.value}
        if by_judge and arm is not None and arm.value is not None
        else run.scores,
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


def _unfit(run: Run, goal: Goal, metric: str, sources: Sources, *, by_judge: bool) -> list[tuple[str, str]]:
    unread: list[Refusal] = []
    read_each([run], lambda one: runs.predictions(sources.project, one), unread)
    reasons = [(one.code, reason) for one in unread for reason in one.why or (one.what,)]
    if run.judged:
        reasons.append(("judged-run", f"{run.key}: it holds judgements, not an arm's outputs"))
    reasons += _of_another(run, goal)
    if not by_judge and metric not in run.scores:
        told = ", ".join(sorted(run.scores)) or "no score"
        reasons.append(("other-metric", f"{run.key}: the goal goes by {metric or 'a metric'}; it has {told}"))
    dataset = sources.datasets.get(run.dataset_id)
    limit = arms.trial_of(run, len(dataset.items)) if dataset else None
    if limit is not None:
        reasons.append(
            ("unfinished-run", f"{run.key}: a trial over the first {limit} items, not a whole run")
        )
    return reasons


def _of_another(run: Run, goal: Goal) -> list[tuple[str, str]]:
    if run.dataset_id in goal.datasets:
        return []
    told = ", ".join(goal.datasets)
    return [("other-dataset", f"{run.key}: it ran on {run.dataset_id}; the goal is about {told}")]


def _group(sources: Sources, run: Run, goal: Goal, metric: str, *, by_judge: bool) -> Field | None:
    """Return the field of the run's group; the run stands for its arm. None where no judge has judged it."""
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
    if by_judge:
        judged = judged_columns.by_judge(sources, run.dataset_id, others, metric or None)
        if judged is None:
            return None
        return field.verdicts(
            sources, dataset, judged.arms,
            metric=judged.metric, against=None, rules=field.rules_of(goal),
        )  # fmt: skip
    labels = tuple(label_column(one, dataset, sources) for one in sources.covering(dataset))
    return field.verdicts(
        sources, dataset, others,
        metric=metric, against=against_of(run, labels) if ref else None, rules=field.rules_of(goal),
    )  # fmt: skip


def _part(arm: FieldArm, run: Run, group: Field, sources: Sources) -> tuple[str, str] | None:
    """Return why an arm that was scored on a part of the items only cannot be a baseline; None where it can.

    Every item that the set labels must have a score or a recorded failure, and no more than half may have
    failed. Of a run from elsewhere that has no rows nobody knows; a judge judges what it was shown.
    """
    if group.judge is not None or not sources.predictions(run):
        return None
    where = f" that {group.against.ref} labels" if group.against else ""
    lacking = arm.to_score - arm.covered - arm.failed
    if lacking > 0:
        told = f"scored on {arm.covered:,} of the {plural(arm.to_score, 'item')}{where}"
        return "scored-on-part", f"{run.key}: {told}; {lacking:,} have neither a score nor a failure"
    if 2 * arm.failed > arm.to_score:
        told = f"{arm.failed:,} of the {plural(arm.to_score, 'item')}{where} failed"
        return "mostly-failed", f"{run.key}: {told}, more than half"
    return None


def _is(one: Run, run: Run) -> bool:
    if one.run_id == run.run_id:
        return True
    return one.repeat_group is not None and one.repeat_group == run.repeat_group


def _rival(
    group: Field, name: str | None, over: str | None, goal: Goal
) -> tuple[str | None, tuple[str, str] | None]:
    """Return the run that is passed over, and why the promotion cannot be: a tie, or no such tie."""
    names = [one for one in group.leaders if one != name] if name in group.leaders else []
    tied = [arm for one in names if (arm := group.arm(one))]
    runs_tied = ", ".join(one.run.run_id for one in tied)
    if over is None:
        if not tied:
            return None, None
        return None, (
            "tie",
            f"{name} ties with {', '.join(names)}: say which is passed over, --over {tied[0].run.run_id}",
        )
    wanted = over.rpartition("/")[2]
    found = next((one for one in group.arms if wanted in (one.name, one.run.run_id)), None)
    if found in tied and found is not None:
        return found.run.run_id, None
    if found is None:
        known = ", ".join(one.run.run_id for one in group.arms if one.name != name) or "no other run"
        return None, ("not-in-group", f"--over {over}: the runs beside it in {goal.goal_id} are {known}")
    ties = f"it ties with {runs_tied}" if tied else f"{name} ties with nobody for the lead: leave --over out"
    return None, ("no-tie", f"--over {over}: {'it is the same arm' if found.name == name else ties}")


def _notes(group: Field, name: str | None, before: Baseline | None, run: Run) -> list[str]:
    notes = []
    arm = group.arm(name) if name else None
    if arm is not None and arm.own:
        notes.append(f"{arm.name} is measured on its own labels: its figure says little")
    if arm is not None and arm.fitted:
        notes.append(f"{arm.name} was fitted on items of this dataset: its figure says little")
    if arm is not None and arm.floor:
        notes.append(f"{arm.name} is a floor: it only shows what is easy")
    if arm is not None and arm.failed:
        notes.append(
            f"{arm.name}: {arm.failed:,} of {plural(arm.to_score, 'item')} failed, and are in no mean"
        )
    if arm is not None and arm.verdict == "behind":
        notes.append(f"{arm.name} is behind {', '.join(group.leaders)} by {group.metric}")
    if arm is not None and arm.verdict == "contender":
        apart = f"is not told apart from {', '.join(group.leaders)} by {group.metric}"
        notes.append(f"{arm.name}: {arm.why}" if arm.why else f"{arm.name} {apart}")
    notes += [f"{one.name} is {one.why}" for one in group.better if one.leader == name]
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
