"""Everything that the tables and the pages read, each record once. A broken record is noted, never fatal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from evh.acts import labels as label_acts
from evh.acts.sheet import build_sheet
from evh.acts.sources import Sources
from evh.project import arms, baselines, captures, configs, datasets, labels, references, runs
from evh.project.memory import Memory, Same
from evh.project.shelf import read_each
from evh.store.hashing import sha256_lines
from evh_build.deciding import Deciding
from evh_build.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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


@dataclass(frozen=True, slots=True)
class _Made:
    """What was made while some record could not be read, and what was found unreadable meanwhile."""

    value: object
    problems: tuple[Refusal, ...]
    own: tuple[Refusal, ...]


class Gathered:
    """A project's records. Each shelf is read when it is first asked for, and then kept.

    ``problems`` tells what could not be read, with paths relative to the project. ``view`` names which of the
    records it holds: a class that holds fewer has a name of its own, for what is made of them is kept by it.
    ``with_sheets`` tells whether each dataset's sheet has a page.

    Args:
        project: the project.
        with_outputs: whether the table of predictions holds outputs too; a site takes them from the sheets.
    """

    view = "all"
    with_sheets = True

    def __init__(self, project: Project, *, with_outputs: bool = True) -> None:
        self.project = project
        self.memory = project.memory or Memory()
        self.with_outputs = with_outputs
        self._outputs: dict[str, Mapping[str, str]] = {}
        self._own: list[Refusal] = []
        self._sheets: dict[str, Sheet | None] = {}
        self._made_of: dict[str, tuple[list[Path] | None, tuple[object, ...]]] = {}
        self._texts: dict[str, dict[str, bytes]] = {}
        self._said: tuple[int, int, tuple[object, ...]] = (0, 0, ())

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
    def superseded(self) -> tuple[Baseline, ...]:
        """The baselines that others have replaced, oldest first."""
        return tuple(baselines.superseded(self.project, None, self._own))

    @cached_property
    def deciding(self) -> Deciding:
        """Goals, deploy sheets, pairs of arms, judges and models."""
        return Deciding(self, self._own)

    @cached_property
    def evidence(self) -> Evidence:
        """Transcript logs, their questions and journals of evidence labels."""
        return Evidence(self, self._own)

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
            self._sheets[dataset_id] = self.kept_of(
                dataset_id, ("sheet", dataset_id), lambda: self._sheet(dataset_id), tells=True
            )
        return self._sheets[dataset_id]

    def _sheet(self, dataset_id: str) -> Sheet | None:
        found = self._try(
            [dataset_id],
            lambda name: build_sheet(self.project, name, sources=self.sources, with_verdicts=True),
        )
        notes = tuple(self._local(note) for one in found for note in one.notes)
        return replace(found[0], notes=notes) if found else None

    def kept_of(
        self, dataset_id: str, key: tuple[str, ...], make: Callable[[], T], *, tells: bool = False
    ) -> T:
        """Return what ``make`` gives of one dataset's items, runs, labels and picks; see `kept`."""
        if self.project.memory is None or self.project.settings.trust_adapters:
            return make()
        if dataset_id not in self._made_of:
            self._made_of[dataset_id] = self._what_makes(dataset_id)
        places, values = self._made_of[dataset_id]
        return make() if places is None else self.kept(key, places, make, *values, tells=tells)

    def _what_makes(self, dataset_id: str) -> tuple[list[Path] | None, tuple[object, ...]]:
        """Return the places that bear on a dataset, and the values: of configs what they say, no comment.

        A dataset is the same object while its manifest says the same: how it is written makes nothing anew.
        """
        texts = self.text_places(dataset_id)
        if texts is None:
            return None, ()
        sources = self.sources
        places = [
            *self._beside("labels", "references", "configs", "datasets"), *self._labels_on(dataset_id),
            *self._runs_on(dataset_id), *texts,
        ]  # fmt: skip
        picked = [one for name, one in sorted(sources.picks.items()) if name[0] == dataset_id]
        named = [list(sources.sets.values()), list(sources.references.values()), list(self.configs.values())]
        every = [Same(one) for one in sources.datasets.values()]
        return places, (self.project.settings, picked, *named, every)

    def _beside(self, *left_out: str) -> list[Path]:
        """Return what lies in ``data/`` but runs, items' texts and picks, and what is named."""
        passed_over = {runs.MEASURED, "sources", "picks.jsonl", *left_out}
        here = [
            self.project.data / name
            for name in sorted(path.name for path in self.project.data.iterdir())
            if name not in passed_over and not name.startswith(("runs-", "."))
        ]
        goals = self.project.environ.get("EVAL_GOALS_DIR")
        return [*here, Path(goals).absolute()] if goals else here

    def _labels_on(self, dataset_id: str) -> list[Path]:
        """Return the folders of the label sets and reference sets that may label bytes of a dataset."""
        shas = frozenset(self.datasets[dataset_id].by_sha()) if dataset_id in self.datasets else frozenset()
        sets = [
            labels.path_of(self.project, one.dataset_id, one.set)
            for one in self.sources.sets.values()
            if one.dataset_id == dataset_id or not self.sources.labelled(one).isdisjoint(shas)
        ]
        held = [
            references.path_of(self.project, one.tier, one.name)
            for one in self.sources.references.values()
            if one.dataset_id == dataset_id
        ]
        # One that lies under another name than its own is found by looking at all of them.
        return (
            [*sets, *held] if all(one.is_dir() for one in held) else [*sets, self.project.data / "references"]
        )

    def _runs_on(self, dataset_id: str) -> list[Path]:
        """Return where the runs on one dataset lie, and those that they were made from."""
        every = {
            one.key: one
            for run in self.sources.runs
            if run.dataset_id == dataset_id
            for one in self.outputs_chain(run)
        }
        return [runs.path_of(self.project, run) for run in every.values()]

    def places_of(self, dataset_ids: Iterable[str]) -> list[Path]:
        """Return where all lies that bears on arms of these datasets: every record but other runs."""
        return [*self._beside(), *(place for name in dataset_ids for place in self._runs_on(name))]

    def text_places(self, dataset_id: str) -> list[Path] | None:
        """Return where a dataset's texts lie; None where that cannot be told without looking for each."""
        dataset = self.datasets.get(dataset_id)
        return None if dataset is None else datasets.text_places(self.project, dataset)

    @cached_property
    def _reports(self) -> dict[str, LabelsReport]:
        def read() -> dict[str, LabelsReport]:
            found = self._try([None], lambda _: label_acts.report_all(self.project, problems=self._own))
            return {one.dataset_id: one for reports in found for one in reports}

        return self.kept(("reports",), self._beside(), read, self.project.settings)

    def kept(
        self,
        key: tuple[str, ...],
        places: Iterable[Path],
        make: Callable[[], T],
        *more: object,
        keep: bool = True,
        tells: bool = False,
    ) -> T:
        """Return what ``make`` gives, or gave in an earlier build of this process, as `Memory.kept` does.

        Each build says what it could not read. What finds the first unreadable record is not kept. After it
        stands what was made while all could be read, where it is made of the same: such a record is none of
        it. All else is kept apart, with what was unreadable before it and what it found unreadable itself.

        Args:
            key: names the value.
            places: as in `Memory.kept`.
            make: makes it.
            more: as in `Memory.kept`.
            keep: False where the places do not tell all that it is made of.
            tells: the value itself tells what could not be read so far, whatever it is made of.
        """
        if self.project.memory is None or not keep:
            return make()
        whole = (self.view, *key)
        if not self.is_sound():
            found = list(places)
            if tells:
                return self._kept_apart(whole, found, make, *more)
            return self.memory.known(whole, found, lambda: self._kept_apart(whole, found, make, *more), *more)
        made = self.memory.kept(whole, places, make, *more)
        if not self.is_sound():
            self.memory.forget(whole)
        return made

    def _kept_apart(
        self, key: tuple[str, ...], places: list[Path], make: Callable[[], T], *more: object
    ) -> T:
        """Return what was made after the same unreadable records; what it found is then found once more."""
        problems, own = self.sources.problems, self._own
        n, n_own = len(problems), len(own)
        fresh: list[_Made] = []

        def made() -> _Made:
            value = make()
            fresh.append(_Made(value, tuple(problems[n:]), tuple(own[n_own:])))
            return fresh[0]

        found = self.memory.kept(("apart", *key), places, made, self._so_far(), *more)
        if not fresh:
            problems += found.problems
            own += found.own
        return cast("T", found.value)

    def _so_far(self) -> tuple[object, ...]:
        """Return what could not be read so far, as values."""
        problems, own = self.sources.problems, self._own
        if self._said[:2] != (len(problems), len(own)):
            told = [dict.fromkeys((one.what, one.why) for one in some) for some in (problems, own)]
            self._said = (len(problems), len(own), tuple(map(tuple, told)))
        return self._said[2]

    def is_sound(self) -> bool:
        """Tell whether every record that was read so far could be read."""
        return not self.sources.problems and not self._own

    def report(self, dataset_id: str) -> LabelsReport | None:
        """Return how a dataset's label sets agree; None where it cannot be told."""
        return self._reports.get(dataset_id)

    def texts(self, dataset: Dataset) -> Mapping[str, bytes]:
        """Return the items' bytes by id; what is missing or changed is left out and noted."""
        if dataset.dataset_id not in self._texts:
            self._texts[dataset.dataset_id] = datasets.texts_here(self.project, dataset, self._own)
        return self._texts[dataset.dataset_id]

    def set_texts(self, label_set: LabelSet) -> Mapping[str, str]:
        """Return a label set's texts by item id; none where they cannot be read."""
        found = self._try([label_set], lambda one: labels.texts(self.project, one))
        return found[0] if found else {}

    def reference_texts(self, reference: Reference) -> Mapping[str, str]:
        """Return a reference set's texts by item id; none where they cannot be read."""
        found = self._try([reference], lambda one: references.texts(self.project, one))
        return found[0] if found else {}

    def kept_back(self, dataset_id: str) -> str:  # noqa: ARG002 - a view that shows less has something to say
        """Return a sentence on the texts of a dataset that are not shown; empty where all are."""
        return ""

    def guideline(self, label_set: LabelSet) -> bytes | None:
        """Return the guideline that a set was labelled by, or None."""
        found = self._try([label_set], lambda one: labels.guideline(self.project, one))
        return found[0] if found else None

    def predictions(self, run: Run) -> tuple[Prediction, ...]:
        """Return a run's predictions; none where they cannot be read."""
        return self.sources.predictions(run)

    def outputs_chain(self, run: Run) -> tuple[Run, ...]:
        """Return the runs that a run's outputs may lie with: itself, what it was made from, and so on."""
        chain = [run]
        while (origin := runs.source_of(self.project, chain[-1])) is not None and origin not in chain:
            chain.append(origin)
        return tuple(chain)

    def outputs(self, run: Run) -> Mapping[str, str]:
        """Return a run's outputs by item id, as far as they are here; one scored again has its source's."""
        origin = self.runs.get(str((run.derived or {}).get("from")))
        if origin is not None and origin.key != run.key and (run.derived or {}).get("kind") == "rescored":
            return self.outputs(origin)
        if not self.with_outputs:
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
