"""Every label set and reference set on a dataset's bytes, and how each two of them agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from evh.measure.agreement import FEWEST, PairAgreement, alpha_of_sets, compare_sets
from evh.project import datasets, labels, references
from evh.project.shelf import missing, read_each
from evh.records.answers import answers, canonical
from evh.records.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet


@dataclass(frozen=True, slots=True)
class SetSummary:
    """One label set or reference set, as it bears on one dataset.

    Attributes:
        ref: ``<dataset>/<set>``, or ``<tier>/<name>`` of a reference.
        label_set: the set; None for a reference.
        reference: the reference; None for a label set.
        kind: ``labels`` or ``reference``.
        source_kind: ``person``, ``model`` or ``rule``; of a reference, its sets' if all share one.
        by: who or what labelled; of a reference, who promoted it.
        task: its own task, or its dataset's.
        covered: items of the dataset that it labels.
        of: items of the dataset.
        guideline: the sha256 of the guideline that it was labelled by.
        promoted_into: the references that were promoted from it.
        distinct: how many different labels it gives to the dataset's bytes.
        majority: the most frequent of them (the first by text on a tie).
        majority_share: its share.
        n_preceding: records whose outcome came no later than the decision that the label judges.
        conflicts: texts of equal bytes that got different answers and stayed unlabelled.
        own: a set of this dataset; labels of other sets came by their bytes.
        n_timed: records whose outcome and decision both have a time: what ``n_preceding`` is out of.
        reads_output: a rule took the label from the recorded decision.
    """

    ref: str
    label_set: LabelSet | None
    reference: Reference | None
    kind: str
    source_kind: str | None
    by: str
    task: str
    covered: int
    of: int
    guideline: str | None
    promoted_into: tuple[str, ...]
    distinct: int
    majority: str | None
    majority_share: float | None
    n_preceding: int
    conflicts: int
    own: bool
    n_timed: int = 0
    reads_output: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """How two sets agree on the dataset's bytes that both label.

    ``derived`` marks a reference and a set that it was promoted from: they agree by construction.
    ``guideline_differs`` is true where both name a guideline and it is not the same one.
    """

    a: str
    b: str
    agreement: PairAgreement
    guideline_differs: bool
    derived: bool = False


@dataclass(frozen=True, slots=True)
class TaskAgreement:
    """The sets of one task on a dataset, own ones first, references last, and every pair of them.

    ``alpha`` is Krippendorff's nominal alpha over the label sets and the references that were not promoted
    from one of them; ``alpha_n`` counts the texts that two or more of those label.
    """

    task: str
    sets: tuple[SetSummary, ...]
    pairs: tuple[Pair, ...]
    alpha: float | None
    alpha_n: int
    alpha_too_few: bool = False


@dataclass(frozen=True, slots=True)
class LabelsReport:
    """The label sets on one dataset, by task."""

    dataset_id: str
    n_items: int
    tasks: tuple[TaskAgreement, ...]


def report(
    project: Project, dataset_id: str, *, task: str | None = None, problems: list[Refusal] | None = None
) -> LabelsReport:
    """Return every set that labels bytes of a dataset, wherever it lies, and their agreement.

    Args:
        project: the project.
        dataset_id: the dataset.
        task: this task only.
        problems: where the Refusals of sets that cannot be read are put; by default they are passed over.

    Raises:
        Refusal: no such dataset; no set of that task on it.
    """
    found = problems if problems is not None else []
    shelf = _Shelf(project, found)
    made = _report(shelf, shelf.datasets.get(dataset_id) or datasets.read(project, dataset_id))
    if task is None:
        return made
    kept = tuple(one for one in made.tasks if one.task == task)
    if not kept:
        known = [one.task for one in made.tasks]
        raise missing("task", task, known, next=f"evh labels --dataset-id {dataset_id}")
    return LabelsReport(made.dataset_id, made.n_items, kept)


def report_all(
    project: Project, *, task: str | None = None, problems: list[Refusal] | None = None
) -> list[LabelsReport]:
    """Return the report of each dataset, by id; with a ``task``, of it alone, where it has sets."""
    found = problems if problems is not None else []
    shelf = _Shelf(project, found)
    made = [_report(shelf, dataset) for dataset in shelf.datasets.values()]
    if task is None:
        return made
    return [
        LabelsReport(one.dataset_id, one.n_items, (part,))
        for one in made
        for part in one.tasks
        if part.task == task
    ]


@dataclass(frozen=True, slots=True)
class _Labels:
    """A set or a reference with its labels: sha256 of the item's bytes → canonical label text."""

    label_set: LabelSet | None
    reference: Reference | None
    task: str
    texts: Mapping[str, str]


class _Shelf:
    """Every dataset, set and reference, each read once; labels are read only where a dataset needs them."""

    def __init__(self, project: Project, problems: list[Refusal]) -> None:
        self._project = project
        self._problems = problems
        self.min_overlap = project.settings.min_overlap
        self.datasets = {one.dataset_id: one for one in datasets.read_all(project, problems)}
        self.sets = {one.ref: one for one in labels.read_all(project, problems)}
        self.references = {one.ref: one for one in references.read_all(project, problems)}
        self._labels: dict[tuple[str, str], _Labels | None] = {}
        self.promoted: dict[str, list[str]] = {}
        for reference in self.references.values():
            for ref in reference.label_refs:
                self.promoted.setdefault(ref, []).append(reference.ref)

    def task_of(self, label_set: LabelSet) -> str:
        """Return a set's task: its own, or its dataset's."""
        dataset = self.datasets.get(label_set.dataset_id)
        return label_set.task or (dataset.task if dataset else "")

    def task_of_reference(self, reference: Reference) -> str:
        """Return a reference's task: its sets', or its dataset's where they are not here."""
        sets = [self.sets[ref] for ref in reference.label_refs if ref in self.sets]
        if sets:
            return self.task_of(sets[0])
        dataset = self.datasets.get(reference.dataset_id)
        return dataset.task if dataset else ""

    def on(self, dataset: Dataset, shas: Iterable[str]) -> list[_Labels]:
        """Return the sets and references that label some of these bytes, own ones first, references last."""
        wanted = set(shas)
        sets = sorted(self.sets.values(), key=lambda one: (one.dataset_id != dataset.dataset_id, one.ref))
        found = [
            self._of_set(one)
            for one in sets
            if not wanted.isdisjoint(item.sha256 for item in one.items.values())
        ]
        references = sorted(
            self.references.values(), key=lambda one: (one.dataset_id != dataset.dataset_id, one.ref)
        )
        found += [
            self._of_reference(one)
            for one in references
            if not wanted.isdisjoint(self._items_of(one).values())
        ]
        return [one for one in found if one is not None and not wanted.isdisjoint(one.texts)]

    def _of_set(self, label_set: LabelSet) -> _Labels | None:
        key = ("labels", label_set.ref)
        if key not in self._labels:
            self._labels[key] = None
            for texts in self._read(label_set):
                by_sha = _canonical(labels.by_sha(label_set, texts))
                self._labels[key] = _Labels(label_set, None, self.task_of(label_set), by_sha)
        return self._labels[key]

    def _of_reference(self, reference: Reference) -> _Labels | None:
        key = ("reference", reference.ref)
        if key not in self._labels:
            self._labels[key] = None
            items = self._items_of(reference)
            for texts in self._read(reference):
                by_sha = _canonical({items[one]: text for one, text in texts.items() if one in items})
                self._labels[key] = _Labels(None, reference, self.task_of_reference(reference), by_sha)
        return self._labels[key]

    def _items_of(self, reference: Reference) -> Mapping[str, str]:
        """Return item id → sha256; a foreign reference's items are those of its dataset."""
        if reference.items:
            return reference.items
        dataset = self.datasets.get(reference.dataset_id)
        return {item.item_id: item.sha256 for item in dataset.items} if dataset else {}

    def _read(self, one: LabelSet | Reference) -> list[dict[str, str]]:
        """Return the texts, one mapping in a list; where they cannot be read, note why and return none."""

        def read(it: LabelSet | Reference) -> dict[str, str]:
            if isinstance(it, Reference):
                return references.texts(self._project, it)
            return labels.texts(self._project, it)

        return read_each([one], read, self._problems)


def _canonical(texts: Mapping[str, str]) -> dict[str, str]:
    return {sha: canonical(answers(text)) for sha, text in texts.items()}


def _report(shelf: _Shelf, dataset: Dataset) -> LabelsReport:
    by_sha = dataset.by_sha()
    by_task: dict[str, list[_Labels]] = {}
    for one in shelf.on(dataset, by_sha):
        by_task.setdefault(one.task, []).append(one)
    tasks = sorted(by_task, key=lambda task: (task != dataset.task, task))
    return LabelsReport(
        dataset_id=dataset.dataset_id,
        n_items=len(dataset.items),
        tasks=tuple(_task(shelf, dataset, by_sha, task, by_task[task]) for task in tasks),
    )


def _task(
    shelf: _Shelf, dataset: Dataset, by_sha: Mapping[str, Sequence[object]], task: str, sets: list[_Labels]
) -> TaskAgreement:
    here = [{sha: text for sha, text in one.texts.items() if sha in by_sha} for one in sets]
    summaries = tuple(
        _summary(shelf, dataset, by_sha, one, texts) for one, texts in zip(sets, here, strict=True)
    )
    least = shelf.min_overlap
    pairs = tuple(
        Pair(
            a=summaries[first].ref,
            b=summaries[second].ref,
            agreement=compare_sets(here[first], here[second], min_overlap=least),
            guideline_differs=_differ(summaries[first].guideline, summaries[second].guideline),
            derived=_derived(summaries[first], summaries[second]),
        )
        for first, second in combinations(range(len(sets)), 2)
    )
    refs = {one.ref for one in summaries if one.label_set}
    given = [
        texts
        for one, texts in zip(summaries, here, strict=True)
        if one.reference is None or refs.isdisjoint(one.reference.label_refs)
    ]
    rated = Counter(sha for texts in given for sha in texts)
    alpha_n = sum(count > 1 for count in rated.values())
    return TaskAgreement(
        task=task,
        sets=summaries,
        pairs=pairs,
        alpha=alpha_of_sets(given),
        alpha_n=alpha_n,
        alpha_too_few=alpha_n < max(FEWEST, least),
    )


def _summary(
    shelf: _Shelf,
    dataset: Dataset,
    by_sha: Mapping[str, Sequence[object]],
    one: _Labels,
    texts: Mapping[str, str],
) -> SetSummary:
    counts: Counter[str] = Counter()
    for sha, text in texts.items():
        counts[text] += len(by_sha[sha])
    majority = min(counts, key=lambda text: (-counts[text], text), default=None)
    counted = SetSummary(
        ref="",
        label_set=one.label_set,
        reference=one.reference,
        kind="labels" if one.label_set else "reference",
        source_kind=None,
        by="",
        task=one.task,
        covered=counts.total(),
        of=len(dataset.items),
        guideline=None,
        promoted_into=(),
        distinct=len(counts),
        majority=majority,
        majority_share=counts[majority] / counts.total() if majority is not None else None,
        n_preceding=0,
        conflicts=0,
        own=False,
    )
    if one.label_set is not None:
        return _of_set(counted, shelf, dataset, one.label_set)
    if one.reference is not None:
        return _of_reference(counted, dataset, one.reference)
    return counted


def _of_set(counted: SetSummary, shelf: _Shelf, dataset: Dataset, label_set: LabelSet) -> SetSummary:
    return replace(
        counted,
        ref=label_set.ref,
        source_kind=label_set.kind,
        by=label_set.by,
        guideline=(label_set.guideline or {}).get("sha256"),
        promoted_into=tuple(shelf.promoted.get(label_set.ref, ())),
        n_preceding=label_set.n_preceding,
        conflicts=len(label_set.conflicts),
        own=label_set.dataset_id == dataset.dataset_id,
        n_timed=sum(int(rule.get("n_timed") or 0) for rule in label_set.rules),
        reads_output=label_set.reads_output,
    )


def _of_reference(counted: SetSummary, dataset: Dataset, reference: Reference) -> SetSummary:
    sources = (reference.promoted_from or {}).get("source")
    listed = sources if isinstance(sources, list) else [sources]
    kinds = {str(one.get("kind")) for one in listed if isinstance(one, dict)}
    return replace(
        counted,
        ref=reference.ref,
        source_kind=kinds.pop() if len(kinds) == 1 else None,
        by=reference.promoted_by or "",
        own=reference.dataset_id == dataset.dataset_id,
    )


def _differ(one: str | None, other: str | None) -> bool:
    return bool(one and other and one != other)


def _derived(one: SetSummary, other: SetSummary) -> bool:
    return any(
        a.reference is not None and b.label_set is not None and b.ref in a.reference.label_refs
        for a, b in ((one, other), (other, one))
    )
