"""Every label set and reference set on a dataset's bytes, and how each two of them agree."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from evh.acts import task_scale
from evh.acts.kept_intervals import KeptIntervals
from evh.acts.labels_model import (
    Alpha,
    Anchoring,
    Cost,
    LabelsReport,
    Pair,
    SetSummary,
    TaskAgreement,
)
from evh.acts.labels_shelf import Labels, Shelf
from evh.acts.labels_summary import summarise
from evh.measure.agreement import FEWEST, PairAgreement, compare_all, patterns_of_sets
from evh.measure.alpha import alpha_of_patterns, fleiss_kappa
from evh.measure.scale import Scale, points
from evh.project import datasets, labels
from evh.project.shelf import missing
from evh.records.answers import answers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evh.acts.sources import Sources
    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item

__all__ = [
    "Alpha",
    "Anchoring",
    "Cost",
    "LabelsReport",
    "Pair",
    "SetSummary",
    "TaskAgreement",
    "report",
    "report_all",
]


def report(
    project: Project,
    dataset_id: str,
    *,
    task: str | None = None,
    scale: Scale | None = None,
    problems: list[Refusal] | None = None,
) -> LabelsReport:
    """Return every set that labels bytes of a dataset, wherever it lies, and their agreement.

    Args:
        project: the project.
        dataset_id: the dataset.
        task: this task only.
        scale: what its answers are on, for this call; by default what ``evh.toml`` declares of each task.
        problems: where the Refusals of sets that cannot be read are put; by default they are passed over.

    Raises:
        Refusal: no such dataset; no set of that task on it; labels that are not on the scale given.
    """
    found = problems if problems is not None else []
    shelf = Shelf(project, found)
    reporter = _Reporter(project, shelf, scale)
    dataset = shelf.datasets.get(dataset_id) or datasets.read(project, dataset_id)
    made = reporter.report(dataset, task)
    reporter.close()
    if task is not None and not made.tasks:
        known = {one.task for one in shelf.on(dataset, dataset.by_sha())}
        raise missing("task", task, known, next=f"evh labels --dataset-id {dataset_id}")
    return made


def report_all(
    project: Project,
    *,
    task: str | None = None,
    scale: Scale | None = None,
    problems: list[Refusal] | None = None,
    sources: Sources | None = None,
) -> list[LabelsReport]:
    """Return the report of each dataset, by id; with a ``task``, of it alone, where it has sets.

    ``sources`` are the records where the caller has read them already: a public build has only some of them.
    """
    shelf = Shelf(project, problems if problems is not None else [], sources)
    reporter = _Reporter(project, shelf, scale)
    made = [reporter.report(dataset, task) for dataset in shelf.datasets.values()]
    reporter.close()
    return made if task is None else [one for one in made if one.tasks]


class _Reporter:
    """Makes the reports of datasets that share the records, the declared scales and the kept intervals."""

    def __init__(self, project: Project, shelf: Shelf, scale: Scale | None) -> None:
        self._shelf = shelf
        self._given = scale
        self._declared = task_scale.declared(project) if scale is None else {}
        self._kept = KeptIntervals(project)
        self._settles = any(one.parents for one in shelf.sets.values())

    def close(self) -> None:
        """Keep the intervals that were made."""
        self._kept.save()

    def report(self, dataset: Dataset, task: str | None) -> LabelsReport:
        """Return a dataset's report, with a ``task`` of that one alone."""
        by_sha = dataset.by_sha()
        by_task: dict[str, list[Labels]] = {}
        for one in self._shelf.on(dataset, by_sha):
            if task is None or one.task == task:
                by_task.setdefault(one.task, []).append(one)
        tasks = sorted(by_task, key=lambda name: (name != dataset.task, name))
        made = tuple(self._task(dataset, by_sha, name, by_task[name]) for name in tasks)
        if self._given is not None:
            task_scale.refuse_off_scale(self._given, {one.task: one.off_scale for one in made})
        return LabelsReport(dataset.dataset_id, len(dataset.items), made)

    def _task(
        self, dataset: Dataset, by_sha: Mapping[str, Sequence[Item]], task: str, sets: list[Labels]
    ) -> TaskAgreement:
        here = [{sha: text for sha, text in one.texts.items() if sha in by_sha} for one in sets]
        summaries = tuple(
            summarise(self._shelf, dataset, by_sha, one, texts) for one, texts in zip(sets, here, strict=True)
        )
        scale = self._given or self._declared.get(task) or Scale()
        given = Counter(text for texts in here for text in texts.values())
        place = points(scale, given)
        pooled = [at for at, one in enumerate(summaries) if _is_own_voice(one, summaries)]
        patterns = patterns_of_sets([here[at] for at in pooled])
        alpha_n = sum(patterns.values())
        too_few = alpha_n < max(FEWEST, self._shelf.min_overlap)
        scales = ["nominal"]
        scales += [scale.kind] if scale.kind != "nominal" else []
        scales += ["masi", "jaccard"] if any(len(answers(text)) > 1 for text in given) else []
        alphas = tuple(self._alpha(patterns, one, place, too_few=too_few) for one in scales)
        sizes = {len(ratings) for ratings in patterns}
        once = len({sha for at in pooled for sha in here[at]}) > alpha_n
        equal = len(sizes) == 1 and not once and alpha_n >= FEWEST
        return TaskAgreement(
            task=task,
            sets=summaries,
            pairs=self._pairs(dataset, summaries, here, place, by_sha),
            alpha=alphas[0].value,
            alpha_n=alpha_n,
            alpha_too_few=too_few,
            alphas=alphas,
            pooled=tuple(summaries[at].ref for at in pooled),
            guidelines=len({sha for at in pooled for sha in summaries[at].guidelines}),
            scale=scale,
            off_scale=task_scale.off_scale(scale, place, given),
            fleiss=fleiss_kappa(patterns) if equal else None,
            fleiss_raters=sizes.pop() if equal else 0,
        )

    def _alpha(
        self,
        patterns: Mapping[tuple[str, ...], int],
        scale: str,
        place: Mapping[str, float],
        *,
        too_few: bool,
    ) -> Alpha:
        enough = sum(patterns.values()) >= FEWEST
        value = alpha_of_patterns(patterns, scale, place) if enough else None
        interval = None if value is None or too_few else self._kept.of_alpha(patterns, scale, place)
        return Alpha(scale, value, interval)

    def _pairs(
        self,
        dataset: Dataset,
        summaries: Sequence[SetSummary],
        here: Sequence[Mapping[str, str]],
        place: Mapping[str, float],
        by_sha: Mapping[str, Sequence[Item]],
    ) -> tuple[Pair, ...]:
        def settled(one: int, other: int) -> Collection[str]:
            refs = (summaries[one].ref, summaries[other].ref)
            if not self._settles or not all(ref in self._shelf.sets for ref in refs):
                return ()
            return labels.settled(self._shelf.sets.values(), refs)

        found = compare_all(here, min_overlap=self._shelf.min_overlap, settled=settled, points=place)
        intervals = self._kept.of_pairs([None if one.too_few else one.confusion for one in found])
        ranks = {item.item_id: at for at, item in enumerate(dataset.items)}
        made = []
        numbered = combinations(summaries, 2)
        for (one, other), agreement, ends in zip(numbered, found, intervals, strict=True):
            derived = _derived(one, other)
            made.append(
                Pair(
                    a=one.ref,
                    b=other.ref,
                    agreement=agreement,
                    guideline_differs=_differ(one.guidelines, other.guidelines),
                    derived=derived,
                    same_person="" if derived else _same_person(one, other),
                    kappa_interval=ends.kappa,
                    ac1_interval=ends.ac1,
                    alpha_interval=ends.alpha,
                    costs=_costs(agreement, by_sha, ranks),
                )
            )
        return tuple(made)


def _costs(
    agreement: PairAgreement, by_sha: Mapping[str, Sequence[Item]], ranks: Mapping[str, int]
) -> tuple[Cost, ...]:
    return tuple(
        Cost(
            cell.a,
            cell.b,
            cell.count,
            tuple(sorted((item.item_id for key in cell.keys for item in by_sha[key]), key=ranks.__getitem__)),
        )
        for cell in agreement.cells
    )


def _is_own_voice(one: SetSummary, others: Sequence[SetSummary]) -> bool:
    """Tell whether a set is a rater by itself: not made from another one here, nor a second pass of one."""
    refs = {other.ref for other in others if other.label_set is not None}
    return refs.isdisjoint(_made_from(one)) and _second_pass_of(one) not in refs


def _made_from(one: SetSummary) -> set[str]:
    if one.reference is not None:
        return set(one.reference.label_refs)
    return {str(parent.get("set")) for parent in one.label_set.parents} if one.label_set else set()


def _second_pass_of(one: SetSummary) -> str | None:
    """Return the set that a person labelled again in this one, as ``<dataset>/<set>``."""
    if one.label_set is None or not one.label_set.relabel_of:
        return None
    return "/".join(labels.split_ref(one.label_set.relabel_of, dataset_id=one.label_set.dataset_id))


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return bool(one and other and one != other)


def _derived(one: SetSummary, other: SetSummary) -> bool:
    return any(b.label_set is not None and b.ref in _made_from(a) for a, b in ((one, other), (other, one)))


def _same_person(one: SetSummary, other: SetSummary) -> str:
    if one.label_set is None or other.label_set is None or not one.by:
        return ""
    again = _second_pass_of(one) == other.ref or _second_pass_of(other) == one.ref
    both = one.source_kind == other.source_kind == "person" and one.by == other.by
    return one.by if again or both else ""
