"""The next step as a command line: only what evh takes as the project stands, with every name filled in.

A name that only the user can choose stays in capitals (``REASON``, ``CONFIG`` where there are several).
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from evh.project import captures, configs, datasets, labels, logs, references, runs
from evh.project.shelf import folders, read_each
from evh.store.names import bad_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.project.find import Project
    from evh.records.dataset import Dataset

KEY_SUFFIX = ".key.json"


def label_sheet(dataset_id: str, items: str = "") -> str:
    """Return the command that writes a sheet to label, to a file that is not there yet.

    Args:
        dataset_id: the dataset.
        items: the options that choose its items, quoted; without them it takes the unlabelled ones.
    """
    return f"evh label-sheet --dataset-id {dataset_id} --out {free_sheet(dataset_id)} {items}".rstrip()


def free_sheet(stem: str) -> str:
    """Return a sheet's file name that is free here, with its key's: ``july.csv``, else ``july-2.csv``."""
    name, number = stem, 1
    while Path(f"{name}.csv").exists() or Path(f"{name}{KEY_SUFFIX}").exists():
        number += 1
        name = f"{stem}-{number}"
    return f"{name}.csv"


def ran(project: Project, dataset_id: str) -> bool:
    """Tell whether some arm has a finished run on a dataset; it stops at the first."""
    for folder in runs.folder_names(project):
        for path in folders(runs.place_of(project, folder)):
            if (path / runs.METRICS).exists():
                found = read_each([(folder, path)], lambda key: runs.read_path(project, *key), [])
                if found and found[0].dataset_id == dataset_id and not found[0].judged:
                    return True
    return False


def run_arm(project: Project, dataset_id: str, labels_ref: str = "") -> str:
    """Return the command that runs an arm on a dataset.

    Where there is no config, production's own decisions are the first arm; without records, the guide. Of a
    log's chunks it is the controller's decisions, or else what the labels say.
    """
    known = [config.config_id for config in configs.read_all(project, [])]
    if not known:
        of = read_each([dataset_id], lambda one: datasets.read(project, one), [])
        told = _of_log(project, of[0]) if of else None
        if told:
            return told
        origins = (str(item.lineage.get("capture") or "") for one in of for item in one.items)
        origin = next((one for one in origins if one and captures.exists(project, one)), None)
        return recorded_arm(project, dataset_id, origin) if origin else "evh help configs"
    line = f"evh run --config {known[0] if len(known) == 1 else 'CONFIG'} --dataset-id {dataset_id}"
    return f"{line} --labels {labels_ref}" if labels_ref else line


def _of_log(project: Project, dataset: Dataset) -> str | None:
    """Return what follows where the items are a log's chunks with a question; None: they are not."""
    origin = dataset.items[0].lineage if dataset.items else {}
    log, query = str(origin.get("log") or ""), str(origin.get("query") or "")
    if not log or not query or bad_id(log) or bad_id(query):
        return None
    name = dataset.dataset_id
    if captures.exists(project, name):
        return f"evh arm-from-capture --dataset-id {name} --capture {name} --as controller"
    updates = logs.updates_path(project, log, query)
    if updates.is_file():
        place = shlex.quote(project.show(updates))
        return f"evh capture --as {name} --from-file {place} --adapter r_update"
    return f"evh evidence-report --project {log} --query {query}"


def recorded_arm(project: Project, dataset_id: str, capture_id: str) -> str:
    """Return the command that makes production's own decisions an arm of a dataset.

    A config that replays the capture, or another one of the same records, is run; else one is made.
    """
    family = captures.family(project, capture_id)
    known = configs.read_all(project, [])
    for config in known:
        if config.recorded and config.params.get("capture") in family:
            return f"evh run --config {config.config_id} --dataset-id {dataset_id}"
    taken = {config.config_id for config in known} | {path.stem for path in configs.paths(project)}
    name, number = "production", 1
    while name in taken:
        number += 1
        name = f"production_{number}"
    return f"evh arm-from-capture --dataset-id {dataset_id} --capture {capture_id} --as {name}"


def score_labels(project: Project, dataset_id: str, refs: Sequence[str]) -> str:
    """Return the command that scores the dataset's arms against one of the sets that label its bytes.

    Args:
        project: the project.
        dataset_id: the dataset.
        refs: ``<dataset>/<set>``, at least one. A set of another dataset is promoted first.
    """
    own = [ref for ref in refs if ref.partition("/")[0] == dataset_id]
    if not own:
        return promote(dataset_id, refs)
    ref = own[0] if len(own) == 1 else f"{dataset_id}/SET"
    if not ran(project, dataset_id):
        return run_arm(project, dataset_id, ref)
    return f"evh rescore --dataset-id {dataset_id} --labels {ref}"


def score_reference(project: Project, dataset_id: str, ref: str) -> str:
    """Return the command that scores the dataset's arms against a reference set of it."""
    if ran(project, dataset_id):
        return f"evh rescore --dataset-id {dataset_id} --reference {ref}"
    return run_arm(project, dataset_id)


def score_run(project: Project, dataset_id: str, run_id: str) -> str:
    """Return the command that scores one run, or the one that makes labels where there are none."""
    own = [ref for ref in labels.refs(project) if ref.partition("/")[0] == dataset_id]
    if own:
        return f"evh rescore --run {run_id} --labels {own[0] if len(own) == 1 else f'{dataset_id}/SET'}"
    made = [one.ref for one in references.read_all(project, []) if one.dataset_id == dataset_id]
    if made:
        return f"evh rescore --run {run_id} --reference {made[0] if len(made) == 1 else 'TIER/NAME'}"
    return label_sheet(dataset_id)


def promote(dataset_id: str, refs: Sequence[str]) -> str:
    """Return the command that promotes labels to a reference; ``refs`` are the sets that could be."""
    ref = refs[0] if len(refs) == 1 else "SET"
    return f"evh reference-promote --dataset-id {dataset_id} --labels {ref} --tier silver --reason REASON"


def promote_or_label(project: Project, dataset_id: str, refs: Sequence[str]) -> str:
    """Return the command that promotes one of some sets, but for those that an arm made of its own outputs.

    Where there are no others it is the one that writes a sheet for a person: an arm would be right by its
    own word.
    """
    found = {
        one.ref: one for one in read_each(refs, lambda ref: labels.read(project, *labels.split_ref(ref)), [])
    }
    kept = [ref for ref in refs if ref not in found or not found[ref].from_arm]
    if kept or not refs:
        return promote(dataset_id, kept or refs)
    if dataset_id not in datasets.ids(project):
        return f"evh label-sheet --dataset-id {dataset_id} --out sheet.csv --items all"
    return label_sheet(dataset_id, "--items all")


def other_dataset(project: Project, config_id: str, capture_id: str, dataset_id: str) -> list[str]:
    """Return the command that runs a recorded arm on the other dataset of its records; none where none is."""
    held = captures.parts(project, capture_id)
    found = [
        one.dataset_id
        for one in datasets.read_all(project, [])
        if one.dataset_id != dataset_id and any(item.lineage.get("capture") in held for item in one.items)
    ]
    if not found:
        return []
    return [f"evh run --config {shlex.quote(config_id)} --dataset-id {found[0] if len(found) == 1 else 'D'}"]
