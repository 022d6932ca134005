"""Answers of datasets whose texts may not be redistributed: which are shown, and what stands for the others.

A label, a reference text or a decision often is its item's text, or a text made of it. What may be shown is a
choice: one of a closed set of answers, at most 120 characters long, that does not hold its item's text. Every
other answer stands as a numbered mark, the same for the same text, so that agreement, signals and scores stay
what they are while nobody reads the text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from evh.measure.scores import class_keys
from evh.records.answers import answers, canonical
from evh.store.hashing import sha256_text
from evh_build.leaks import LEAST_WHOLE, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.acts.labels import LabelsReport
    from evh.acts.labels_model import Pair, TaskAgreement
    from evh.records.labelset import LabelSet
    from evh_build.gather import Gathered
    from evh_build.shown import Shown

LONGEST = 120
"""An answer or a field longer than this may be, or quote, a text that must not be redistributed."""
MOST_CHOICES = 16
"""So many different answers are a closed set, however few items have them; more where each is given twice."""
_BY_CLASS = ("recall", "precision", "f1", "support", "confused")
WHY = "Its texts may not be redistributed: items, outputs, notes and answers that are no choice are left out."


class Unfree:
    """What stands for each answer that may not be shown.

    Args:
        given: of each set, reference and run on such a dataset, its answers as (text, the item's text as
            `leaks.folded` gives it).
        free: labels of datasets whose texts may be shown: what they say is no secret.
    """

    def __init__(self, given: Iterable[Iterable[tuple[str, str]]], free: Iterable[str]) -> None:
        said: set[str] = set()
        choices: set[str] = set()
        quoting: set[str] = set()
        for source in given:
            pairs = {(answer, item) for text, item in source for answer in answers(text)}
            times = Counter(answer for answer, _ in pairs)
            said |= times.keys()
            if len(times) <= MOST_CHOICES or 2 * len(times) <= times.total():
                choices |= times.keys()
            quoting |= {answer for answer, item in pairs if holds(answer, item)}
        shown = {one for one in choices - quoting if len(one) <= LONGEST}
        kept = sorted(said - shown - {one for text in free for one in answers(text)}, key=sha256_text)
        self.marks = {text: f"(text {at} is not public)" for at, text in enumerate(kept, 1)}
        """What stands for each answer that is left out."""
        self._texts = lru_cache(maxsize=65_536)(self._text)

    def text(self, text: str) -> str:
        """Return a label's or decision's text with a mark for each answer in it that is left out."""
        return self._texts(text) if self.marks else text

    def label_set(self, one: LabelSet) -> LabelSet:
        """Return a label set, with a mark for each text in its conflicts that is left out."""
        if not self.marks or not one.conflicts:
            return one
        told = {
            sha: [self.text(text) if isinstance(text, str) else text for text in given]
            if isinstance(given, list)
            else given
            for sha, given in one.conflicts.items()
        }
        return replace(one, conflicts=told)

    def figures(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return a run's figures but those whose keys spell a class that is left out."""
        return {name: value for name, value in scores.items() if not self._spells(name)}

    def labels(self, held: Mapping[str, str]) -> Mapping[str, str]:
        """Return labels by any key, with a mark for each answer that is left out."""
        return {key: self.text(text) for key, text in held.items()} if self.marks else held

    def report(self, one: LabelsReport) -> LabelsReport:
        """Return how a dataset's sets agree: the same figures, with a mark for each text that is left out."""
        return replace(one, tasks=tuple(map(self._task, one.tasks))) if self.marks else one

    @cached_property
    def _classes(self) -> tuple[str, ...]:
        return tuple(sorted({key for text in self.marks for key in class_keys([text]).values() if key}))

    def _spells(self, metric: str) -> bool:
        kind, mark, rest = metric.partition("_")
        if not mark or kind not in _BY_CLASS:
            return False
        return any(part.startswith(self._classes) for part in rest.split("_as_"))

    def _text(self, text: str) -> str:
        held = answers(text)
        if self.marks.keys().isdisjoint(held):
            return text
        return canonical(self.marks.get(one, one) for one in held)

    def _task(self, one: TaskAgreement) -> TaskAgreement:
        sets = tuple(
            replace(each, majority=None if each.majority is None else self.text(each.majority))
            for each in one.sets
        )
        off = tuple((self.text(text), n) for text, n in one.off_scale)
        return replace(one, sets=sets, pairs=tuple(map(self._pair, one.pairs)), off_scale=off)

    def _pair(self, one: Pair) -> Pair:
        table, cells = one.agreement.confusion, one.agreement.cells
        agreement = replace(
            one.agreement,
            confusion=replace(table, categories=tuple(map(self.text, table.categories))),
            cells=tuple(replace(cell, a=self.text(cell.a), b=self.text(cell.b)) for cell in cells),
        )
        costs = tuple(replace(cost, a=self.text(cost.a), b=self.text(cost.b)) for cost in one.costs)
        return replace(one, agreement=agreement, costs=costs)


def of(whole: Gathered, shown: Shown, items: Mapping[str, Mapping[str, str]]) -> Unfree:
    """Return what stands for the answers of shown datasets whose texts may not be redistributed.

    Args:
        whole: the records.
        shown: what is shown.
        items: those datasets' items' texts, folded, by dataset and item.

    Cost: nothing where there is no such dataset; else every shown label, and the decisions on those datasets.
    """
    if shown.datasets == shown.texts:
        return Unfree((), ())
    sets = [
        (one.dataset_id, whole.set_texts(one)) for ref, one in whole.label_sets.items() if ref in shown.sets
    ]
    sets += [
        (one.dataset_id, whole.reference_texts(one))
        for ref, one in whole.references.items()
        if ref in shown.references
    ]
    held = [(name, labels) for name, labels in sets if name not in shown.texts]
    for key, run in whole.runs.items():
        if key in shown.runs and run.dataset_id not in shown.texts:
            rows = whole.predictions(run)
            held.append(
                (run.dataset_id, {one.item_id: one.decision for one in rows if one.decision is not None})
            )
    return Unfree(
        (
            [(text, items.get(name, {}).get(item_id, "")) for item_id, text in labels.items()]
            for name, labels in held
        ),
        (text for name, labels in sets if name in shown.texts for text in labels.values()),
    )


def holds(answer: str, item: str) -> bool:
    """Tell whether an answer holds the whole text of its item, as `leaks.folded` gives that."""
    return len(item) >= LEAST_WHOLE and item in folded(answer)
