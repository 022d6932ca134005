"""Whether a score says less than it seems: an arm measured on its own labels, or on what it was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project import captures, datasets, labels, references
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.project.find import Project
    from evh.records.labelset import LabelSet
    from evh.records.run import Run


class Provenance:
    """Answers about runs and labels, reading each manifest once.

    Args:
        project: the project.
        sets: the label sets by ``<dataset>/<set>``, where the caller has read them already.
    """

    def __init__(self, project: Project, sets: Mapping[str, LabelSet] | None = None) -> None:
        self._project = project
        self._sets = (
            dict(sets) if sets is not None else {one.ref: one for one in labels.read_all(project, [])}
        )
        self._references = {one.ref: one for one in references.read_all(project, [])}
        self._families: dict[str, set[str]] = {}
        self._hashes: dict[str, set[str]] = {}

    def own_labels(self, run: Run) -> bool:
        """Tell whether a run was scored against labels made from its own outputs.

        So it is for a model set made of this arm's runs, for a rule set that reads the decision which a
        recorded arm replays (from the same capture or another part of it), and through a reference
        promoted from either. Parents of an adjudicated set count too.
        """
        return any(self._made_from(run, one) for one in self._label_sets(run))

    def fitted_here(self, run: Run) -> bool:
        """Tell whether the arm was fitted on some of the items that this run was scored on (equal bytes)."""
        fitted = run.extra.get("fitted_on")
        if not isinstance(fitted, list) or not fitted:
            return False
        if run.dataset_id in fitted:
            return True
        here = self._dataset_hashes(run.dataset_id)
        return any(not here.isdisjoint(self._dataset_hashes(str(name))) for name in fitted)

    def _label_sets(self, run: Run) -> list[LabelSet]:
        refs = [run.labels] if run.labels else []
        reference = self._references.get(run.reference or "")
        if reference is not None:
            refs += list(reference.label_refs)
        made: list[LabelSet] = []
        seen: set[str] = set()
        while refs:
            ref = refs.pop()
            label_set = self._sets.get(ref)
            if label_set is None or ref in seen:
                continue
            seen.add(ref)
            made.append(label_set)
            refs += [str(parent.get("set")) for parent in label_set.parents if isinstance(parent, dict)]
        return made

    def _made_from(self, run: Run, label_set: LabelSet) -> bool:
        source = label_set.source
        if label_set.kind == "model":
            return run.run_id == source.get("run_id") or run.config_id == source.get("config_id")
        if label_set.kind == "rule" and label_set.reads_output and run.recorded:
            return str(run.params.get("capture")) in self._family(str(source.get("capture")))
        return False

    def _family(self, capture_id: str) -> set[str]:
        if capture_id not in self._families:
            self._families[capture_id] = captures.family(self._project, capture_id)
        return self._families[capture_id]

    def _dataset_hashes(self, dataset_id: str) -> set[str]:
        if dataset_id not in self._hashes:
            found = read_each([dataset_id], lambda name: datasets.read(self._project, name), [])
            self._hashes[dataset_id] = {item.sha256 for dataset in found for item in dataset.items}
        return self._hashes[dataset_id]
