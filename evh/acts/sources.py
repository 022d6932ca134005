"""What the reading acts read, each record once: a broken record is noted and never stops the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import left_out_numbers
from evh.measure import signals
from evh.project import configs, datasets, labels, picks, references, runs
from evh.project.memory import Memory, Same
from evh.project.provenance import Provenance
from evh.project.shelf import left_out, read_each
from evh.store.text import one_line

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.pick import Pick
    from evh.records.reference import Reference
    from evh.records.run import Prediction, Run

PREVIEW = 160


@dataclass(frozen=True, slots=True)
class Covering:
    """A label or reference set that covers items of a dataset: its texts by the sha256 of the item's bytes.

    Exactly one of ``label_set`` and ``reference`` is set. ``task`` is the set's own, else its dataset's.
    """

    texts: Mapping[str, str]
    task: str
    label_set: LabelSet | None = None
    reference: Reference | None = None

    @property
    def ref(self) -> str:
        """``labels/<dataset>/<set>`` or ``<tier>/<name>``."""
        return f"labels/{self.label_set.ref}" if self.label_set else self.reference.ref  # type: ignore[union-attr]


class Sources:
    """A project's records for one look at them; predictions, texts and coverage are read when asked for.

    ``problems`` are the Refusals of what could not be read. ``memory`` keeps what is made of the records: for
    this look, and where the project has a memory of its own for later ones.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.memory = project.memory or Memory()
        self.problems: list[Refusal] = []
        self.datasets = {one.dataset_id: one for one in datasets.read_all(project, self.problems)}
        self.sets = {one.ref: one for one in labels.read_all(project, self.problems)}
        self.references = {one.ref: one for one in references.read_all(project, self.problems)}
        self.runs: list[Run] = runs.read_all(project, self.problems)
        self.picks: dict[tuple[str, str], Pick] = {}
        for state in read_each([project], picks.read_state, self.problems):
            self.picks = state
        self.provenance = Provenance(project, self.sets)
        self._predictions: dict[str, tuple[Prediction, ...]] = {}
        self._unread: set[str] = set()
        self._outputs: dict[str, Mapping[str, str]] = {}
        self._labelled: dict[str, frozenset[str]] = {}
        self._texts: dict[str, Mapping[str, str]] = {}
        self._covering: dict[str, tuple[Dataset, tuple[Covering, ...]]] = {}
        self._floors: frozenset[str] | None = None

    def is_floor(self, run: Run) -> bool:
        """Tell whether a run's arm only shows what is easy: its config says ``floor``, now or when it ran."""
        if self._floors is None:
            held = configs.read_all(self.project, [])
            self._floors = frozenset(one.config_id for one in held if one.floor)
        return run.config_id in self._floors or run.extra.get("floor") is True

    def task_of(self, label_set: LabelSet) -> str:
        """Return a set's task: its own, else its dataset's, else the empty text."""
        dataset = self.datasets.get(label_set.dataset_id)
        return label_set.task or (dataset.task if dataset else "")

    def task_of_reference(self, reference: Reference) -> str:
        """Return a reference's task: that of the set it was promoted from, else its dataset's."""
        for ref in reference.label_refs:
            if ref in self.sets:
                return self.task_of(self.sets[ref])
        dataset = self.datasets.get(reference.dataset_id)
        return dataset.task if dataset else ""

    def labelled(self, label_set: LabelSet) -> frozenset[str]:
        """Return the sha256 of every item's bytes that a set labels."""
        if label_set.ref not in self._labelled:
            self._labelled[label_set.ref] = frozenset(one.sha256 for one in label_set.items.values())
        return self._labelled[label_set.ref]

    def made_from(self, run: Run, ref: str) -> bool:
        """Tell whether a set (``labels/D/S`` or ``tier/name``) was made from a run's own decisions."""
        tier, _, name = ref.partition("/")
        as_scored = replace(run, reference_id=ref if tier == "labels" else name, reference_tier=tier)
        return self.provenance.own_labels(as_scored)

    def predictions(self, run: Run) -> tuple[Prediction, ...]:
        """Return a run's predictions; none where they cannot be read, which ``problems`` then tells."""
        if run.key not in self._predictions:
            found = read_each([run], lambda one: runs.predictions(self.project, one), self.problems)
            self._predictions[run.key] = found[0] if found else ()
            self._unread |= set() if found else {run.key}
            left_out = left_out_numbers.problem(run, self._predictions[run.key])
            self.problems += [left_out] if left_out else []
        return self._predictions[run.key]

    def readable(self, run: Run) -> bool:
        """Tell whether a run's predictions can be read; ``problems`` tells why not."""
        self.predictions(run)
        return run.key not in self._unread

    def outputs(self, run: Run) -> Mapping[str, str]:
        """Return a run's outputs by item id, as far as they are here: the same object while they stay."""
        if run.key not in self._outputs:
            rows = self.predictions(run)
            found = read_each([run], lambda one: runs.outputs(self.project, one, rows), self.problems)
            made = found[0] if found else {}
            self._outputs[run.key] = self.memory.kept(("outputs of", run.key), (), lambda: made, made)
        return self._outputs[run.key]

    def previews(self, dataset: Dataset) -> dict[str, str]:
        """Return the start of each item's text on one line; empty where the text is not here."""
        made = dict.fromkeys(dataset.by_id, "")
        for name, data in datasets.texts_here(self.project, dataset, self.problems).items():
            made[name] = one_line(data[: PREVIEW * 8].decode("utf-8", "ignore"), PREVIEW)
        return made

    def seen_values(self, dataset_id: str) -> Mapping[str, frozenset[str]]:
        """Return the values that a dataset's fields have, as the signal *new* compares them."""
        dataset = self.datasets[dataset_id]
        return self.memory.kept(
            ("seen", dataset_id), (),
            lambda: signals.seen_values(item.fields for item in dataset.items), Same(dataset),
        )  # fmt: skip

    def covering(self, dataset: Dataset) -> list[Covering]:
        """Return what labels bytes of a dataset: its reference sets, its own label sets, then other ones.

        A set of another dataset counts by the sha256 of the bytes, and only where it speaks of the dataset's
        task or of a task of the dataset's own sets.
        """
        held = self._covering.get(dataset.dataset_id)
        if held is None or held[0] is not dataset:
            held = self._covering[dataset.dataset_id] = (dataset, tuple(self._covers(dataset)))
        return list(held[1])

    def _covers(self, dataset: Dataset) -> Iterator[Covering]:
        by_sha = dataset.by_sha()
        own = [one for one in self.sets.values() if one.dataset_id == dataset.dataset_id]
        tasks = {self.task_of(one) for one in own} | {dataset.task}
        others = [
            one
            for one in self.sets.values()
            if one.dataset_id != dataset.dataset_id
            and self.task_of(one) in tasks
            and not self.labelled(one).isdisjoint(by_sha)
        ]
        for reference in sorted(self.references.values(), key=lambda one: one.ref):
            if reference.dataset_id == dataset.dataset_id:
                texts = self._reference_texts(reference, dataset)
                yield Covering(texts, self.task_of_reference(reference), reference=reference)
        for one in own + others:
            yield Covering(self._texts_on(dataset, one, by_sha), self.task_of(one), label_set=one)

    def _texts_on(self, dataset: Dataset, label_set: LabelSet, by_sha: Container[str]) -> Mapping[str, str]:
        """Return a set's texts of a dataset's bytes: the same object while both stay as they are."""
        texts = self._set_texts(label_set)
        key = ("texts on", dataset.dataset_id, label_set.ref)
        return self.memory.kept(
            key, (), lambda: {sha: text for sha, text in texts.items() if sha in by_sha},
            Same(dataset), Same(texts),
        )  # fmt: skip

    def notes(self) -> list[str]:
        """Return a sentence for each record that could not be read, the first ten, the rest counted."""
        return left_out(self.problems)

    def _set_texts(self, label_set: LabelSet) -> Mapping[str, str]:
        """Return a set's texts by sha256: the same object while its files stay as they are."""
        key = f"labels/{label_set.ref}"

        def read(one: LabelSet) -> Mapping[str, str]:
            place = labels.path_of(self.project, one.dataset_id, one.set)
            return self.project.kept(
                ("texts by sha", key), [place],
                lambda: labels.by_sha(one, labels.texts(self.project, one)), Same(one),
            )  # fmt: skip

        if key not in self._texts:
            found = read_each([label_set], read, self.problems)
            self._texts[key] = found[0] if found else {}
        return self._texts[key]

    def _reference_texts(self, reference: Reference, dataset: Dataset) -> Mapping[str, str]:
        """Return a reference's texts by sha256: the same object while its files stay as they are."""

        def read(one: Reference) -> Mapping[str, str]:
            known = dataset.by_id
            texts = references.texts(self.project, one)
            made = {
                one.items.get(item_id) or known[item_id].sha256: text
                for item_id, text in texts.items()
                if item_id in known
            }
            return self.memory.kept(("texts by sha", one.ref), (), lambda: made, Same(dataset), made)

        if reference.ref not in self._texts:
            found = read_each([reference], read, self.problems)
            self._texts[reference.ref] = found[0] if found else {}
        return self._texts[reference.ref]
