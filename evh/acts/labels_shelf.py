"""Every dataset, label set and reference set, read once, with the labels that a dataset's bytes have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.project import datasets, labels, references
from evh.project.shelf import read_each
from evh.records.answers import answers, canonical
from evh.records.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.acts.sources import Sources
    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet


@dataclass(frozen=True, slots=True)
class Labels:
    """A set or a reference with its labels: sha256 of the item's bytes → canonical label text."""

    label_set: LabelSet | None
    reference: Reference | None
    task: str
    texts: Mapping[str, str]


class Shelf:
    """Every dataset, set and reference, each read once; labels are read only where a dataset needs them."""

    def __init__(self, project: Project, problems: list[Refusal], sources: Sources | None = None) -> None:
        self._project = project
        self._problems = problems
        self.min_overlap = project.settings.min_overlap
        if sources is not None:
            self.datasets, self.sets = dict(sources.datasets), dict(sources.sets)
            self.references = dict(sources.references)
        else:
            self.datasets = {one.dataset_id: one for one in datasets.read_all(project, problems)}
            self.sets = {one.ref: one for one in labels.read_all(project, problems)}
            self.references = {one.ref: one for one in references.read_all(project, problems)}
        self._labels: dict[tuple[str, str], Labels | None] = {}
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

    def on(self, dataset: Dataset, shas: Iterable[str]) -> list[Labels]:
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

    def _of_set(self, label_set: LabelSet) -> Labels | None:
        key = ("labels", label_set.ref)
        if key not in self._labels:
            self._labels[key] = None
            for texts in self._read(label_set):
                by_sha = canonical_texts(labels.by_sha(label_set, texts))
                self._labels[key] = Labels(label_set, None, self.task_of(label_set), by_sha)
        return self._labels[key]

    def _of_reference(self, reference: Reference) -> Labels | None:
        key = ("reference", reference.ref)
        if key not in self._labels:
            self._labels[key] = None
            items = self._items_of(reference)
            for texts in self._read(reference):
                by_sha = canonical_texts({items[one]: text for one, text in texts.items() if one in items})
                self._labels[key] = Labels(None, reference, self.task_of_reference(reference), by_sha)
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


def canonical_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the same keys with each label in its canonical form; each different label is formed once."""
    formed = {text: canonical(answers(text)) for text in set(texts.values())}
    return {key: formed[text] for key, text in texts.items()}
