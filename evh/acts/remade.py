"""A run's figures made again: a mean of its rows, and what evh itself makes of rows and labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.adapters import loader
from evh.adapters.results import ScoredRow
from evh.measure.classes import per_class
from evh.measure.numbers import mean
from evh.measure.scores import MOST_KINDS, ClassRow, classification
from evh.project import runs
from evh.project.arms import scored_against
from evh.project.shelf import read_each
from evh.records.answers import answers
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sources import Covering, Sources
    from evh.adapters.hooks import Adapter
    from evh.records.run import Prediction, Run

CLASS_FIGURES = ("accuracy", "balanced_accuracy", "macro_f1")
CLASS_PREFIXES = ("recall_", "precision_", "f1_", "support_", "confused_")
ON_TRUST = "not made again, taken on trust"
_BY_CHANCE = (0.0, 0.5, 1.0)
"""What figures of different definitions come to alike: of an arm that is always right, or says one thing."""


@dataclass(frozen=True, slots=True)
class Remade:
    """One figure of a run, as it is stated and as it is made again.

    ``made`` is None where it cannot be made again; ``how`` says what it is made of, or why it is not.
    """

    metric: str
    stated: float
    made: float | None
    how: str

    @property
    def holds(self) -> bool | None:
        """Whether it is what its rows give; None where it is taken on trust."""
        if self.made is None:
            return None
        return math.isclose(self.stated, self.made, rel_tol=1e-9, abs_tol=1e-12)


class Remaking:
    """Makes figures again; labels and definitions are looked up once. No code of the project is run.

    A figure that evh's own adapters make is made again by them. A project's adapter may call evh's
    ``classification`` or mean something else by a name like ``macro_f1``: there evh's definition counts where
    it gives this run's figure, or where it gives those of the other runs that the same adapter scored.

    Args:
        sources: the project's records.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._covering: dict[str, list[Covering]] = {}
        self._labels: dict[tuple[str, str], Mapping[str, str]] = {}
        self._rows: dict[str, list[ClassRow]] = {}
        self._stated: dict[tuple[str, str | None], dict[str, float]] = {}

    def figure(self, run: Run, metric: str) -> Remade:
        """Return a figure of a run, made again where that can be done.

        Args:
            run: the run.
            metric: a key of its scores.

        Cost: reads the run's rows and what it was scored against; where a figure is not what evh's definition
        gives, also those of the other runs of the same adapter.
        """
        stated, ref = run.scores[metric], scored_against(run)
        against = f" against {ref}" if ref else ""
        if not self._sources.readable(run):  # what it was made of is told first: nothing else explains it
            return Remade(metric, stated, None, "its predictions cannot be read as they were recorded")
        values = [row.scores[metric] for row in self._sources.predictions(run) if metric in row.scores]
        if values:
            return Remade(metric, stated, mean(values), f"the mean of {plural(len(values), 'row')}{against}")
        trusted = Remade(
            metric, stated, None, f"a figure over the whole run, made by its adapter{against}: {ON_TRUST}"
        )
        if ref is None or not self._labels_of(run, ref):
            return trusted
        adapter = self._bundled(run)
        if adapter is not None:
            made = self._by_bundled(run, adapter).get(metric)
            how = f"made of its rows and their labels{against} by the adapter {adapter.name}"
            return trusted if made is None else Remade(metric, stated, made, how)
        if metric not in CLASS_FIGURES and not metric.startswith(CLASS_PREFIXES):
            return trusted
        return self._by_definition(run, metric, against) or trusted

    def _bundled(self, run: Run) -> Adapter | None:
        """Return the adapter that scored a run where it is one of evh's own, and of this evh."""
        name = run.adapter or "default"
        if name.endswith(".py"):
            return None
        found: list[Adapter] = read_each([name], lambda one: loader.load(self._sources.project, one), [])
        return found[0] if found and found[0].identity == _adapter_of(run) else None

    def _by_bundled(self, run: Run, adapter: Adapter) -> Mapping[str, float]:
        """Return the figures that a bundled adapter makes of a run's rows."""
        key = (run.key, None)
        if key not in self._stated:
            origin = runs.source_of(self._sources.project, run) or run
            outputs = {} if adapter.name == "classification" else self._sources.outputs(origin)
            labels = self._labels_of(run, scored_against(run) or "")
            rows = [
                ScoredRow(
                    row.item_id, outputs.get(row.item_id, ""), row.decision, labels[row.item_id], row.scores
                )
                for row in self._decided(run, labels)
                if row.decision is not None
            ]
            self._stated[key] = adapter.summarise(rows, run.dataset_id) if rows else {}
        return self._stated[key]

    def _by_definition(self, run: Run, metric: str, against: str) -> Remade | None:
        """Return a project's figure by evh's definition, or None: its adapter has one of its own."""
        stated = run.scores[metric]
        candidates = self._candidates(run, metric)
        for positive in candidates:
            made = self._class_figures(run, positive).get(metric)
            if made is not None and math.isclose(made, stated, rel_tol=1e-9, abs_tol=1e-12):
                return Remade(metric, stated, made, _how(against, positive))
        positive, found = self._established(run, metric, candidates)
        made = self._class_figures(run, positive).get(metric) if found else None
        return None if made is None else Remade(metric, stated, made, _how(against, positive))

    def _established(
        self, run: Run, metric: str, candidates: Sequence[str | None]
    ) -> tuple[str | None, bool]:
        """Return the definition that gives what most other runs of the same adapter say, and if one does.

        A figure that several definitions give alike is no witness.
        """
        mine = _adapter_of(run)
        others = [
            one
            for one in self._sources.runs
            if one.key != run.key
            and mine is not None
            and _adapter_of(one) == mine
            and one.scores.get(metric) not in (None, *_BY_CHANCE)
            and (ref := scored_against(one)) is not None
            and self._labels_of(one, ref)
            and self._sources.readable(one)
        ]
        given = {
            positive: sum(
                made is not None and math.isclose(made, one.scores[metric], rel_tol=1e-9, abs_tol=1e-12)
                for one in others
                for made in [self._class_figures(one, positive).get(metric)]
            )
            for positive in candidates
        }
        best = max(candidates, key=lambda positive: given[positive])
        return best, given[best] * 2 > len(others) and given[best] > 0

    def _candidates(self, run: Run, metric: str) -> list[str | None]:
        """Return what evh's definition of a figure can weigh against the rest: nothing, or each answer."""
        if metric != "balanced_accuracy":
            return [None]
        texts = set(self._labels_of(run, scored_against(run) or "").values())
        said = sorted({text for label in texts for text in answers(label)})
        return [None, *(said if len(texts) <= MOST_KINDS else [])]

    def _class_figures(self, run: Run, positive: str | None) -> Mapping[str, float]:
        key = (run.key, f"={positive}" if positive is not None else "")
        if key not in self._stated:
            rows = self._class_rows(run)
            base = self._class_figures(run, None) if positive is not None else per_class(rows)
            self._stated[key] = {**base, **classification(rows, positive=positive)} if rows else {}
        return self._stated[key]

    def _class_rows(self, run: Run) -> list[ClassRow]:
        if run.key not in self._rows:
            labels = self._labels_of(run, scored_against(run) or "")
            self._rows[run.key] = [
                ClassRow(row.decision, labels[row.item_id])
                for row in self._decided(run, labels)
                if row.decision is not None
            ]
        return self._rows[run.key]

    def _decided(self, run: Run, labels: Mapping[str, str]) -> list[Prediction]:
        return [
            row
            for row in self._sources.predictions(run)
            if row.item_id in labels and row.decision is not None and row.error is None
        ]

    def _labels_of(self, run: Run, ref: str) -> Mapping[str, str]:
        """Return item → label text of what a run was scored against; empty where it is not here."""
        key = (run.dataset_id, ref)
        if key not in self._labels:
            dataset = self._sources.datasets.get(run.dataset_id)
            if run.dataset_id not in self._covering:
                self._covering[run.dataset_id] = self._sources.covering(dataset) if dataset else []
            texts = next((one.texts for one in self._covering[run.dataset_id] if one.ref == ref), {})
            self._labels[key] = {
                item.item_id: texts[item.sha256]
                for item in (dataset.items if dataset else ())
                if item.sha256 in texts
            }
        return self._labels[key]


def _how(against: str, positive: str | None) -> str:
    weighed = f", {positive} weighed against all the rest" if positive is not None else ""
    return f"made of its rows and their labels{against}{weighed}"


def _adapter_of(run: Run) -> str | None:
    """Return what identifies the adapter that scored a run, or None: it is not on record."""
    instrument = run.fingerprint.get("instrument")
    told = instrument.get("adapter_sha256") if isinstance(instrument, dict) else None
    return told if isinstance(told, str) and told else None
