"""What would move if one label set stood in another's place: stored outputs scored again, in memory only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import rescore, scoring
from evh.acts.label_preview_model import ArmMove, BaselineMove, ItemMove, MetricMove, Preview
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.measure.numbers import mean
from evh.measure.scores import distinct_answers
from evh.measure.winners import winners
from evh.project import arms, baselines, datasets, labels, references, runs
from evh.records.answers import answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.rescore import Job
    from evh.acts.scoring import Scored, Target
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.dataset import Dataset

__all__ = ["ArmMove", "BaselineMove", "ItemMove", "MetricMove", "Preview", "preview"]

STAND_IN = "correct"
_SAME = 1e-12


def preview(project: Project, dataset_id: str, replace: str, by: str) -> Preview:
    """Return what would move if the scores against one set were made against another. Nothing is written.

    Both are scored by the adapters as they are now, so that a scorer that changed since moves nothing here;
    where it did change what is stored, a note says so.

    Args:
        project: the project.
        dataset_id: the dataset.
        replace: the set that arms are scored against: ``<set>``, ``<dataset>/<set>`` or ``<tier>/<name>``.
        by: the set in its place, of the same dataset and task.

    Raises:
        Refusal: a set that is not there, was edited or is another dataset's; sets of two tasks; one set
            twice; no arm scored against the replaced one; an arm that cannot be scored again.

    Cost: as of `rescore` on the arms concerned, twice.
    """
    sources = Sources(project)
    dataset = sources.datasets.get(dataset_id) or datasets.read(project, dataset_id)
    old, new = _ref(project, dataset_id, replace), _ref(project, dataset_id, by)
    _refuse_same(sources, old, new)
    known = arms.of_dataset(project, dataset_id, all_runs=sources.runs)
    scored = [arm for arm in known if arm.against(old) is not None]
    if not scored:
        raise Refusal(
            "not-scored",
            f"no arm on {dataset_id} is scored against {old}",
            why=[f"{arm.name}: scored against {_told(arm)}" for arm in known]
            or [f"{dataset_id}: no arm ran on it"],
            next=f"evh rescore --dataset-id {dataset_id} {_option(old)}",
        )
    sides = (_Side(sources, scored, old), _Side(sources, scored, new))
    return _compared(sources, dataset, scored, sides)


class _Side:
    """The arms scored against one of the two sets."""

    def __init__(self, sources: Sources, scored: Sequence[Arm], ref: str) -> None:
        run_ids = [arm.run.key for arm in scored]
        if ref.startswith("labels/"):
            jobs = rescore.plan(sources.project, run_ids=run_ids, labels_ref=ref).jobs
        else:
            jobs = rescore.plan(sources.project, run_ids=run_ids, reference=ref).jobs
        self.ref = ref
        self.jobs = jobs
        self.target: Target = jobs[0].target
        self.results = [_score(sources.project, job) for job in jobs]
        self.rows = [{row.item_id: row.scores for row in one.rows} for one in self.results]
        self.own = [sources.made_from(arm.run, ref) for arm in scored]
        self.distinct = distinct_answers(self.target.texts.values())

    def score(self, arm: int, item_id: str, metric: str) -> float | None:
        """Return an arm's score on one item, or None."""
        return self.rows[arm].get(item_id, {}).get(metric)


def _score(project: Project, job: Job) -> Scored:
    rows = runs.predictions(project, job.run)
    outputs = runs.outputs(project, job.run, rows, verify=True)
    place = job.dataset.dataset_id
    texts = datasets.texts(project, job.dataset) if job.adapter.reads_source else None
    return scoring.score(job.adapter, rows, outputs, job.target, place=place, sources=texts)


@dataclass(frozen=True, slots=True)
class _Case:
    """One preview being made: the arms, the two sides, what ranks them and which may lead on each side."""

    arms: tuple[Arm, ...]
    dataset: Dataset
    sides: tuple[_Side, _Side]
    metric: str
    row_metric: str
    fitted: tuple[bool, ...]
    may: tuple[frozenset[int], ...]

    def higher(self, metric: str) -> bool:
        """Tell whether more of a metric is better."""
        return self.sides[0].jobs[0].adapter.metric_directions.get(metric, "higher") != "lower"

    def means(self, side: int) -> list[float | None]:
        """Return each arm's mean of the metric that ranks, on one side."""
        return [one.scores.get(self.metric) for one in self.sides[side].results]

    def pairs(self, arm: int, metric: str) -> list[tuple[float | None, float | None]]:
        """Return an arm's scores of a metric, before and after, in the dataset's order of items."""
        old, new = self.sides
        return [
            (old.score(arm, item.item_id, metric), new.score(arm, item.item_id, metric))
            for item in self.dataset.items
        ]


def _compared(
    sources: Sources, dataset: Dataset, scored: Sequence[Arm], sides: tuple[_Side, _Side]
) -> Preview:
    metric, row_metric = _metrics(*sides)
    fitted = tuple(sources.provenance.fitted_here(arm.run) for arm in scored)
    may = tuple(
        frozenset(
            at for at in range(len(scored)) if side.distinct > 1 and not side.own[at] and not fitted[at]
        )
        for side in sides
    )
    case = _Case(tuple(scored), dataset, sides, metric, row_metric, fitted, may)
    ranks = [_ranks(case, side) for side in range(2)]
    names = [arm.name for arm in scored]
    rows = [_item(case, item.item_id) for item in dataset.items]
    kinds = Counter(_kind(one.label_before, one.label_after) for one in rows)
    notes = [note for at in range(len(names)) for note in _scorer_notes(case, at)]
    return Preview(
        dataset_id=dataset.dataset_id,
        replace=sides[0].ref,
        by=sides[1].ref,
        metric=metric,
        row_metric=row_metric,
        arms=tuple(_arm(case, at, (ranks[0][at], ranks[1][at])) for at in range(len(names))),
        items=tuple(one for one in rows if _moves(one)),
        n_items=len(rows),
        n_same=kinds["same"],
        n_changed=kinds["changed"],
        n_gained=kinds["gained"],
        n_lost=kinds["lost"],
        n_winners=sum(one.winners_before != one.winners_after for one in rows),
        leaders_before=tuple(name for name, rank in zip(names, ranks[0], strict=True) if rank == 1),
        leaders_after=tuple(name for name, rank in zip(names, ranks[1], strict=True) if rank == 1),
        baselines=_baselines(sources.project, case),
        verdicts=None,
        notes=tuple(dict.fromkeys([*notes, *_set_notes(sources, *sides)])),
    )


def _metrics(old: _Side, new: _Side) -> tuple[str, str]:
    """Return the metric that ranks and the one that draws a row's winner."""
    primary = Counter(job.adapter.primary_metric for job in old.jobs).most_common(1)[0][0]
    per_item = {name for side in (old, new) for rows in side.rows for one in rows.values() for name in one}
    figures = {name for side in (old, new) for one in side.results for name in one.scores}
    stand_in = STAND_IN if STAND_IN in per_item else min(per_item, default="")
    row_metric = primary if primary in per_item else stand_in
    return (primary if primary in figures else row_metric), row_metric


def _arm(case: _Case, at: int, ranks: tuple[int | None, int | None]) -> ArmMove:
    arm, higher = case.arms[at], case.higher(case.row_metric)
    apart = [
        (after - before) * (1 if higher else -1)
        for before, after in case.pairs(at, case.row_metric)
        if before is not None and after is not None
    ]
    before, after = (side.results[at].scores for side in case.sides)
    names = sorted({*before, *after}, key=lambda one: (one != case.metric, one))
    return ArmMove(
        name=arm.name,
        run_id=arm.run.run_id,
        recorded=arm.recorded,
        metrics=tuple(_metric(case, at, name) for name in names),
        rank_before=ranks[0],
        rank_after=ranks[1],
        own_before=case.sides[0].own[at],
        own_after=case.sides[1].own[at],
        fitted=case.fitted[at],
        better=sum(one > _SAME for one in apart),
        worse=sum(one < -_SAME for one in apart),
    )


def _metric(case: _Case, at: int, name: str) -> MetricMove:
    pairs = case.pairs(at, name)
    per_item = any(value is not None for pair in pairs for value in pair)
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    return MetricMove(
        metric=name,
        primary=name == case.metric,
        higher=case.higher(name),
        before=case.sides[0].results[at].scores.get(name),
        after=case.sides[1].results[at].scores.get(name),
        n_before=sum(one is not None for one, _ in pairs) if per_item else None,
        n_after=sum(other is not None for _, other in pairs) if per_item else None,
        n_both=len(both) if per_item else None,
        before_both=mean(one for one, _ in both),
        after_both=mean(other for _, other in both),
    )


def _ranks(case: _Case, side: int) -> list[int | None]:
    sign = 1 if case.higher(case.metric) else -1
    ranked = {
        at: sign * value
        for at, value in enumerate(case.means(side))
        if value is not None and at in case.may[side]
    }
    return [
        1 + sum(other > ranked[at] + _SAME for other in ranked.values()) if at in ranked else None
        for at in range(len(case.arms))
    ]


def _item(case: _Case, item_id: str) -> ItemMove:
    scores = [
        tuple(side.score(at, item_id, case.row_metric) for at in range(len(case.arms))) for side in case.sides
    ]
    won = [
        # An arm alone beats nobody, as in the sheet.
        winners({case.arms[at].name: row[at] for at in sorted(lead)}, higher=case.higher(case.row_metric))
        if len(lead) > 1
        else ()
        for row, lead in zip(scores, case.may, strict=True)
    ]
    return ItemMove(
        item_id=item_id,
        label_before=case.sides[0].target.texts.get(item_id),
        label_after=case.sides[1].target.texts.get(item_id),
        before=scores[0],
        after=scores[1],
        winners_before=won[0],
        winners_after=won[1],
    )


def _kind(before: str | None, after: str | None) -> str:
    if before is None or after is None:
        return "neither" if before is after else "gained" if before is None else "lost"
    return "same" if answers(before) == answers(after) else "changed"


def _moves(one: ItemMove) -> bool:
    label = _kind(one.label_before, one.label_after) in ("changed", "gained", "lost")
    return label or one.before != one.after or one.winners_before != one.winners_after


def _baselines(project: Project, case: _Case) -> tuple[BaselineMove, ...]:
    old = case.sides[0].ref
    made = []
    for baseline in baselines.read_all(project, []):
        run_id = baseline.promoted_from.rpartition("/")[2]
        at = next((at for at, arm in enumerate(case.arms) if arm.run.run_id == run_id), None)
        concerned = baseline.reference_id in (None, old, f"references/{old}", old.rpartition("/")[2])
        if at is None or baseline.dataset_id != case.dataset.dataset_id or not concerned:
            continue
        before, after = case.means(0), case.means(1)
        made.append(
            BaselineMove(
                baseline_id=baseline.baseline_id,
                goal=baseline.goal,
                arm=case.arms[at].name,
                before=before[at],
                after=after[at],
                ahead_before=_ahead(case, before, at),
                ahead_after=_ahead(case, after, at),
            )
        )
    return tuple(made)


def _ahead(case: _Case, means: Sequence[float | None], at: int) -> tuple[str, ...]:
    sign, own = 1 if case.higher(case.metric) else -1, means[at]
    return tuple(
        arm.name
        for arm, value in zip(case.arms, means, strict=True)
        if own is not None and value is not None and sign * value > sign * own + _SAME
    )


def _scorer_notes(case: _Case, at: int) -> list[str]:
    arm, ref, metric = case.arms[at], case.sides[0].ref, case.metric
    stored = arm.against(ref)
    before = stored.scores.get(metric) if stored else None
    now = case.sides[0].results[at].scores.get(metric)
    if before is None or now is None or abs(before - now) <= _SAME:
        return []
    told = f"{arm.name}: {metric} against {ref} is stored as {before:.4f} and is {now:.4f} by the scorer now"
    return [f"{told}: evh rescore --run {arm.run.run_id} {_option(ref)}"]


def _set_notes(sources: Sources, old: _Side, new: _Side) -> list[str]:
    made = [
        f"{side.ref} holds fewer than two distinct answers: it measures recall of that answer only, "
        "so nobody leads by it"
        for side in (old, new)
        if side.distinct < 2
    ]
    made += [
        f"{one.ref} was promoted from {old.ref} and keeps its labels: --replace {one.ref} shows what a "
        "promotion anew would move"
        for one in sources.references.values()
        if old.ref in [f"labels/{ref}" for ref in one.label_refs]
    ]
    return made


def _ref(project: Project, dataset_id: str, text: str) -> str:
    """Return ``labels/<dataset>/<set>`` or ``<tier>/<name>`` of a set's name as people type it."""
    plain = text.removeprefix("references/")
    pair = labels.split_ref(plain, dataset_id=dataset_id) if plain.count("/") < 3 else ("", "")
    is_set = bool(pair[0]) and labels.exists(project, *pair)
    is_reference = plain in references.refs(project)
    if is_set and is_reference and not text.startswith(("labels/", "references/")):
        raise Refusal(
            "two-meanings",
            f"{text!r} is a label set and a reference set",
            why=[f"labels/{pair[0]}/{pair[1]}", f"references/{plain}"],
            next=f"write labels/{plain} or references/{plain}",
        )
    if is_reference and (text.startswith("references/") or not is_set):
        return plain
    label_set = labels.read(project, *pair)
    return f"labels/{label_set.ref}"


def _refuse_same(sources: Sources, old: str, new: str) -> None:
    if old == new:
        raise Refusal(
            "same-set", "a set in its own place moves nothing", why=[f"--replace and --with: {old}"],
            next="name two sets: evh labels",
        )  # fmt: skip
    tasks = [_task(sources, ref) for ref in (old, new)]
    if tasks[0] != tasks[1]:
        raise Refusal(
            "two-tasks",
            "a set never stands in for one of another task",
            why=[f"{ref}: task {task or '(none)'}" for ref, task in zip((old, new), tasks, strict=True)],
            next="name a set of the same task: evh labels",
        )


def _task(sources: Sources, ref: str) -> str | None:
    if ref.startswith("labels/"):
        label_set = sources.sets.get(ref.removeprefix("labels/"))
        return None if label_set is None else sources.task_of(label_set)
    reference = sources.references.get(ref)
    return None if reference is None else sources.task_of_reference(reference)


def _told(arm: Arm) -> str:
    found = [ref for run in arm.scored if (ref := arms.scored_against(run))]
    return ", ".join(found) or "nothing"


def _option(ref: str) -> str:
    return f"--labels {ref.removeprefix('labels/')}" if ref.startswith("labels/") else f"--reference {ref}"
