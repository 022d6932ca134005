"""The project as a public build sees it: what is hidden is not there, so no page can show it by forgetting.

`PublicGathered` stands in place of `Gathered`. A test holds that every way to a record that `Gathered` has is
either filtered here or made of what is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from evh.acts import labels as label_acts
from evh.acts.sources import Sources
from evh_build import redact, unfree
from evh_build.deciding_public import PublicDeciding
from evh_build.evidence import PublicEvidence
from evh_build.gather import Gathered, Problem
from evh_build.hidden import unfree_texts, whole_texts
from evh_build.shown import Shown, decide, shows_baseline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from evh.acts.labels import LabelsReport
    from evh.project.find import Project
    from evh.records.baseline import Baseline
    from evh.records.capture import Capture
    from evh.records.config import Config
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.pick import Pick
    from evh.records.reference import Reference
    from evh.records.run import Prediction, Run


class PublicSources(Sources):
    """Those datasets, sets, references, runs and picks that are shown, each without what it may not say."""

    def __init__(self, project: Project, whole: Gathered) -> None:
        super().__init__(project)
        told = whole.deciding
        self.shown: Shown = decide(
            whole.sources, whole.captures, whole.configs, whole.baselines,
            goals=told.goals.values(), judges=told.judges,
            logs={name: name in project.settings.public_logs for name in whole.evidence.logs},
        )  # fmt: skip
        self.unread = (*self.problems, *whole.sources.problems)
        self.unreadable: tuple[Problem, ...] = whole.problems  # of texts and outputs none was asked for yet
        self.problems = []
        self._shorn: dict[str, tuple[Prediction, ...]] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        shown = self.shown
        warned = {
            run.key
            for run in self.runs
            if run.key in shown.runs and run.extra.get("fitted_on") and self.provenance.fitted_here(run)
        }
        secret = whole_texts(whole, shown)
        self.marks = unfree.of(whole, shown, unfree_texts(whole, shown))
        self.datasets = {
            name: redact.dataset(one, shown, secret)
            for name, one in self.datasets.items()
            if name in shown.datasets
        }
        self.sets = {
            ref: self.marks.label_set(redact.label_set(self._guided(one), shown))
            for ref, one in self.sets.items()
            if ref in shown.sets
        }
        self.references = {
            ref: redact.reference(one, shown)
            for ref, one in self.references.items()
            if ref in shown.references
        }
        self.runs = [
            self._figures(redact.run(one, shown, fitted=one.key in warned))
            for one in self.runs
            if one.key in shown.runs
        ]
        kept = {key: redact.pick(one, shown) for key, one in self.picks.items()}
        self.picks = {key: one for key, one in kept.items() if one is not None}

    def predictions(self, run: Run) -> tuple[Prediction, ...]:
        """Return a run's predictions without hidden keys, and without texts where those may not spread."""
        if run.key not in self.shown.runs:
            return ()
        if run.key not in self._shorn:
            marks = None if run.dataset_id in self.shown.texts else self.marks
            rows = super().predictions(run)
            self._shorn[run.key] = tuple(redact.prediction(one, self.shown, marks) for one in rows)
        return self._shorn[run.key]

    def outputs(self, run: Run) -> Mapping[str, str]:
        """Return a run's outputs; none of a dataset whose texts may not be redistributed."""
        if run.key not in self.shown.runs or run.dataset_id not in self.shown.texts:
            return {}
        return super().outputs(run)

    def previews(self, dataset: Dataset) -> dict[str, str]:
        """Return the start of each item's text; empty where it may not be redistributed."""
        if dataset.dataset_id not in self.shown.texts:
            return dict.fromkeys(dataset.by_id, "")
        return super().previews(dataset)

    def _set_texts(self, label_set: LabelSet) -> Mapping[str, str]:
        held = super()._set_texts(label_set)
        return held if label_set.dataset_id in self.shown.texts else self._marked(label_set.ref, held)

    def _reference_texts(self, reference: Reference, dataset: Dataset) -> Mapping[str, str]:
        held = super()._reference_texts(reference, dataset)
        return held if reference.dataset_id in self.shown.texts else self._marked(f"/{reference.ref}", held)

    def _marked(self, key: str, held: Mapping[str, str]) -> Mapping[str, str]:
        """Return labels with a mark for each text that is left out: the same object each time."""
        if key not in self._labels:
            self._labels[key] = self.marks.labels(held)
        return self._labels[key]

    def _figures(self, run: Run) -> Run:
        if run.dataset_id in self.shown.texts or not self.marks.marks:
            return run
        return replace(run, scores=self.marks.figures(run.scores))

    def _guided(self, one: LabelSet) -> LabelSet:
        """Return a set, without its guideline where that names something hidden."""
        from evh.project import labels
        from evh.project.shelf import read_each

        if not one.guideline:
            return one
        found = read_each([one], lambda held: labels.guideline(self.project, held), [])
        data = found[0] if found else None
        if data is None or not self.shown.names_hidden(data.decode("utf-8", "replace")):
            return one
        return replace(one, guideline=None)


class PublicGathered(Gathered):
    """A project's records as far as they may be published.

    ``shown`` tells what is left out and why; `unread` is what could not be read of the whole project, which
    no public page tells.
    """

    view = "public"

    def __init__(self, project: Project, *, with_outputs: bool = True) -> None:
        super().__init__(project, with_outputs=with_outputs)
        self.whole = Gathered(project)
        self.with_sheets = project.settings.public_sheets

    @cached_property
    def sources(self) -> PublicSources:
        """Datasets, label sets, reference sets, runs and picks that are shown."""
        return PublicSources(self.project, self.whole)

    def is_sound(self) -> bool:
        """Never: nothing made of these records is kept, for what they show hangs on all the others."""
        return False

    @property
    def shown(self) -> Shown:
        """What is shown."""
        return self.sources.shown

    @cached_property
    def captures(self) -> dict[str, Capture]:
        """The captures that are shown, by id."""
        return {
            name: redact.capture(one, self.shown)
            for name, one in self.whole.captures.items()
            if name in self.shown.captures
        }

    @cached_property
    def configs(self) -> dict[str, Config]:
        """The configs that are shown, by id."""
        return {
            name: redact.config(one, self.shown)
            for name, one in self.whole.configs.items()
            if name in self.shown.configs
        }

    @cached_property
    def baselines(self) -> tuple[Baseline, ...]:
        """The baselines of shown datasets and runs; a reason that names something hidden is left out."""
        return self._promoted(self.whole.baselines)

    @cached_property
    def superseded(self) -> tuple[Baseline, ...]:
        """The replaced baselines of shown datasets and runs."""
        return self._promoted(self.whole.superseded)

    def _promoted(self, every: Iterable[Baseline]) -> tuple[Baseline, ...]:
        return tuple(
            redact.baseline(one, self.shown)
            for one in every
            if shows_baseline(one, self.shown.datasets, self.shown.runs)
        )

    @cached_property
    def deciding(self) -> PublicDeciding:
        """Goals, deploy sheets, pairs of arms, judges and models, as far as they are shown."""
        return PublicDeciding(self, self._own)

    @cached_property
    def evidence(self) -> PublicEvidence:
        """The transcript logs that are declared public; every other one is private."""
        return PublicEvidence(self, self._own)

    @cached_property
    def unfinished(self) -> tuple[Path, ...]:
        """Nothing: what has not finished is not for readers."""
        return ()

    @cached_property
    def waiting(self) -> tuple[Pick, ...]:
        """The picks of public datasets that wait."""
        return tuple(
            pick
            for _, pick in sorted(self.sources.picks.items())
            if pick.op != "drop"
            if pick.op == "pick" or set(pick.targets) - {str(one.get("for")) for one in pick.used}
        )

    @cached_property
    def _reports(self) -> dict[str, LabelsReport]:
        found = self._try(
            [None],
            lambda _: label_acts.report_all(self.project, problems=self._own, sources=self.sources),
        )
        return {one.dataset_id: self.sources.marks.report(one) for reports in found for one in reports}

    def texts(self, dataset: Dataset) -> Mapping[str, bytes]:
        """Return the items' bytes; none of a dataset whose texts may not be redistributed."""
        if dataset.dataset_id not in self.shown.texts:
            return {}
        return super().texts(dataset)

    def set_texts(self, label_set: LabelSet) -> Mapping[str, str]:
        """Return a label set's texts; a mark for each that may not be redistributed."""
        held = super().set_texts(label_set)
        return held if label_set.dataset_id in self.shown.texts else self.sources.marks.labels(held)

    def reference_texts(self, reference: Reference) -> Mapping[str, str]:
        """Return a reference set's texts; a mark for each that may not be redistributed."""
        held = super().reference_texts(reference)
        return held if reference.dataset_id in self.shown.texts else self.sources.marks.labels(held)

    def kept_back(self, dataset_id: str) -> str:
        """Return that a dataset's texts may not be redistributed; empty where they may."""
        return unfree.WHY if dataset_id in self.shown.datasets - self.shown.texts else ""

    def guideline(self, label_set: LabelSet) -> bytes | None:
        """Return the guideline that a shown set was labelled by; None where it names something hidden."""
        return super().guideline(label_set) if label_set.guideline else None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the records that are shown."""
        return tuple(
            one
            for one in super().problems
            if not any(self.shown.names_hidden(line) for line in (one.what, *one.why))
        )

    @property
    def unread(self) -> tuple[Problem, ...]:
        """What could not be read of the whole project: for whoever builds, on no page."""
        told = {self._told(refusal) for refusal in self.sources.unread} | set(self.whole.problems)
        return tuple(sorted(told, key=lambda one: (one.what, one.why)))
