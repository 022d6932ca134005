"""What the commands do, as Python: values in, values out, no printing.

    from evh import Project

    project = Project.find()
    for task in project.labels("july").tasks:
        print(task.task, task.alpha)
    for row in project.sheet("july", runs=["production", "candidate_v2"]).rows:
        print(row.item_id, row.winners)

Every method reads the files as they are now; nothing is kept between calls. Bad input raises a `Refusal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project import captures, datasets, picks, references, runs
from evh.project import labels as label_shelf
from evh.project.find import Project as _Project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.item_view import ItemView
    from evh.acts.labels import LabelsReport
    from evh.acts.overview import Overview
    from evh.acts.sheet_model import Sheet
    from evh.records.capture import Capture
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.pick import Pick
    from evh.records.reference import Reference
    from evh.records.run import Prediction, Run


class Project:
    """A project's folder, read. Make one with `find`."""

    def __init__(self, found: _Project) -> None:
        self._found = found

    @classmethod
    def find(
        cls,
        start: Path | str | None = None,
        *,
        home: Path | str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Project:
        """Return the project that ``home`` or ``EVAL_HOME`` names, else the nearest one upward of ``start``.

        Raises:
            Refusal: there is no project there, or its settings cannot be read.
        """
        return cls(_Project.find(start, home=home, environ=environ))

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self._found.root

    @property
    def name(self) -> str:
        """The project's name, from ``evh.toml``."""
        return self._found.name

    def datasets(self) -> list[Dataset]:
        """Return every dataset with its items, by id."""
        return datasets.read_all(self._found)

    def captures(self) -> list[Capture]:
        """Return every capture's manifest, by id."""
        return captures.read_all(self._found)

    def runs(self) -> list[Run]:
        """Return every finished run, oldest first: measured, scored again and against labels."""
        return runs.read_all(self._found)

    def predictions(self, run: Run) -> tuple[Prediction, ...]:
        """Return a run's predictions, in their order."""
        return runs.predictions(self._found, run)

    def label_sets(self) -> list[LabelSet]:
        """Return every label set, by dataset, then name."""
        return label_shelf.read_all(self._found)

    def label_texts(self, label_set: LabelSet) -> dict[str, str]:
        """Return item id → label text of a set, after checking that nobody edited it."""
        return label_shelf.texts(self._found, label_set, verify=True)

    def references(self) -> list[Reference]:
        """Return every reference set, by tier, then name."""
        return references.read_all(self._found)

    def picks(self) -> list[Pick]:
        """Return the state of every pick, the dropped and used ones included."""
        return list(picks.read_state(self._found).values())

    def labels(self, dataset_id: str, *, task: str | None = None) -> LabelsReport:
        """Return every set that labels a dataset's bytes, and how they agree: what ``evh labels`` shows."""
        from evh.acts.labels import report

        return report(self._found, dataset_id, task=task)

    def sheet(
        self,
        dataset_id: str,
        runs: Sequence[str] = (),
        *,
        metric: str | None = None,
        against: str | None = None,
    ) -> Sheet:
        """Return every item with each arm's answer, the labels, the winner and the signals.

        Args:
            dataset_id: the dataset.
            runs: run ids or config ids, the first standing for production; all arms by default.
            metric: the metric that the winner is by; the primary one by default.
            against: the label set or reference that the winner is by, ``D/S`` or ``TIER/NAME``.
        """
        from evh.acts.sheet import build_sheet

        return build_sheet(self._found, dataset_id, runs, metric=metric, against=against)

    def item(self, dataset_id: str, item_id: str) -> ItemView:
        """Return one item in full: its text, every answer, every label, where else its bytes occur."""
        from evh.acts.item_view import view_item

        return view_item(self._found, dataset_id, item_id)

    def overview(self) -> Overview:
        """Return what is here, what it says and what to do next."""
        from evh.acts.overview import overview

        return overview(self._found)
