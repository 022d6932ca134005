"""Everything that the tables and the pages read, each record once. A broken record is noted, never fatal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from evh.acts import labels as label_acts
from evh.acts.sheet import build_sheet
from evh.acts.sources import Sources
from evh.project import arms, baselines, captures, configs, datasets, labels, references, runs
from evh.project.shelf import read_each
from evh.store.hashing import sha256_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from evh.acts.labels import LabelsReport
    from evh.acts.sheet_model import Sheet
    from evh.errors import Refusal
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.baseline import Baseline
    from evh.records.capture import Capture
    from evh.records.config import Config
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.pick import Pick
    from evh.records.reference import Reference
    from evh.records.run import Prediction, Run

T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that could not be read: what was refused, and each reason with its file."""

    what: str
    why: tuple[str, ...]


class Gathered:
    """A project's records. Each shelf is read when it is first asked for, and then kept.

    ``problems`` tells what could not be read, with paths relative to the project.

    Args:
        project: the project.
        with_outputs: whether the table of predictions holds outputs too; a site takes them from the sheets.
    """

    def __init__(self, project: Project, *, with_outputs: bool = True) -> None:
        self.project = project
        self._with_outputs = with_outputs
        self._outputs: dict[str, Mapping[str, str]] = {}
        self._own: list[Refusal] = []
        self._sheets: dict[str, Sheet | None] = {}
        self._texts: dict[str, dict[str, bytes]] = {}

    @cached_property
    def sources(self) -> Sources:
        """Datasets, label sets, reference sets, runs and picks."""
        return Sources(self.project)

    @property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets by id."""
        return self.sources.datasets

    @property
    def label_sets(self) -> dict[str, LabelSet]:
        """The label sets by ``<dataset>/<set>``."""
        return self.sources.sets

    @property
    def references(self) -> dict[str, Reference]:
        """The reference sets by ``<tier>/<name>``."""
        return self.sources.references

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The finished runs by ``<folder>/<run_id>``, oldest first."""
        return {run.key: run for run in self.sources.runs}

    @cached_property
    def captures(self) -> dict[str, Capture]:
        """The captures by id."""
        return {one.capture_id: one for one in captures.read_all(self.project, self._own)}

    @cached_property
    def configs(self) -> dict[str, Config]:
        """The configs by id."""
        return {one.config_id: one for one in configs.read_all(self.project, self._own)}

    @cached_property
    def baselines(self) -> tuple[Baseline, ...]:
        """The baselines, by file name."""
        return tuple(baselines.read_all(self.project, self._own))

    @cached_property
    def unfinished(self) -> tuple[Path, ...]:
        """The folders of runs that have not finished."""
        return tuple(runs.unfinished(self.project))

    @cached_property
    def waiting(self) -> tuple[Pick, ...]:
        """The picks that wait, by dataset and item."""
        return tuple(
            pick
            for _, pick in sorted(self.sources.picks.items())
            if pick.op == "pick" or set(pick.targets) - {str(one.get("for")) for one in pick.used}
            if pick.op != "drop"
        )

    @cached_property
    def arms(self) -> dict[str, tuple[Arm, ...]]:
        """Each dataset's arms, recorded ones first."""
        return {
            name: tuple(arms.of_dataset(self.project, name, all_runs=self.sources.runs))
            for name in self.datasets
        }

    def sheet(self, dataset_id: str) -> Sheet | None:
        """Return a dataset's sheet with all its arms; None where it cannot be made."""
        if dataset_id not in self._sheets:
            found = self._try(
                [dataset_id], lambda name: build_sheet(self.project, name, sources=self.sources)
            )
            notes = tuple(self._local(note) for one in found for note in one.notes)
            self._sheets[dataset_id] = replace(found[0], notes=notes) if found else None
        return self._sheets[dataset_id]

    @cached_property
    def _reports(self) -> dict[str, LabelsReport]:
        found = self._try([None], lambda _: label_acts.report_all(self.project, problems=self._own))
        return {one.dataset_id: one for reports in found for one in reports}

    def report(self, dataset_id: str) -> LabelsReport | None:
        """Return how a dataset's label sets agree; None where it cannot be told."""
        return self._reports.get(dataset_id)

    def texts(self, dataset: Dataset) -> Mapping[str, bytes]:
        """Return the items' bytes by id; what is missing or changed is left out and noted."""
        if dataset.dataset_id not in self._texts:
            whole = read_each([None], lambda _: datasets.texts(self.project, dataset), [])
            if not whole and dataset.items_file is None:
                whole = self._try(
                    [[item] for item in dataset.items],
                    lambda items: datasets.texts(self.project, dataset, items),
                )
            self._texts[dataset.dataset_id] = {name: data for part in whole for name, data in part.items()}
        return self._texts[dataset.dataset_id]

    def set_texts(self, label_set: LabelSet) -> Mapping[str, str]:
        """Return a label set's texts by item id; none where they cannot be read."""
        found = self._try([label_set], lambda one: labels.texts(self.project, one))
        return found[0] if found else {}

    def reference_texts(self, reference: Reference) -> Mapping[str, str]:
        """Return a reference set's texts by item id; none where they cannot be read."""
        found = self._try([reference], lambda one: references.texts(self.project, one))
        return found[0] if found else {}

    def guideline(self, label_set: LabelSet) -> bytes | None:
        """Return the guideline that a set was labelled by, or None."""
        found = self._try([label_set], lambda one: labels.guideline(self.project, one))
        return found[0] if found else None

    def predictions(self, run: Run) -> tuple[Prediction, ...]:
        """Return a run's predictions; none where they cannot be read."""
        return self.sources.predictions(run)

    def outputs(self, run: Run) -> Mapping[str, str]:
        """Return a run's outputs by item id, as far as they are here; one scored again has its source's."""
        origin = self.runs.get(str((run.derived or {}).get("from")))
        if origin is not None and origin.key != run.key and (run.derived or {}).get("kind") == "rescored":
            return self.outputs(origin)
        if not self._with_outputs:
            return {}
        if run.key not in self._outputs:
            self._outputs[run.key] = self.sources.outputs(run)
        return self._outputs[run.key]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read so far, each once, in the order of its words."""
        found = {self._told(refusal) for refusal in (*self.sources.problems, *self._own)}
        return tuple(sorted(found, key=lambda one: (one.what, one.why)))

    @cached_property
    def digest(self) -> str:
        """The digest of the data: what each record's own hash says, whatever the folder."""
        lines = [f"dataset {name} {datasets.digest(one)}" for name, one in self.datasets.items()]
        lines += [f"labels {name} {one.labels_sha256}" for name, one in self.label_sets.items()]
        lines += [f"reference {name} {one.n_items}" for name, one in self.references.items()]
        lines += [f"capture {name} {one.records_sha256}" for name, one in self.captures.items()]
        for key, run in self.runs.items():
            lines.append(f"run {key} {(run.predictions or {}).get('sha256', '')}")
        return sha256_lines(lines)

    def _try(self, keys: Iterable[T], read: Callable[[T], K]) -> list[K]:
        return read_each(keys, read, self._own)

    def _told(self, refusal: Refusal) -> Problem:
        return Problem(self._local(refusal.what), tuple(self._local(reason) for reason in refusal.why))

    def _local(self, text: str) -> str:
        """Return a message with the project's own folder left out of its paths."""
        for base in (self.project.root, self.project.data.parent, self.project.root.resolve()):
            text = text.replace(f"{base}/", "")
        return text
