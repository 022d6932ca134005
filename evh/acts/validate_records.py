"""Checks of datasets, captures, configs, runs, baselines and picks."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING

from evh.acts import left_out_numbers
from evh.acts.pick import gone
from evh.acts.validate_tree import check_journal
from evh.measure.numbers import mean
from evh.project import baselines, captures, configs, datasets, fingerprint, picks, runs
from evh.project.arms import scored_against
from evh.project.shelf import files, folders
from evh.store import strict
from evh.store.hashing import sha256
from evh.store.names import possible_stems
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.findings import Findings
    from evh.records.dataset import Dataset, Item
    from evh.records.run import Prediction, Run


def check_datasets(found: Findings) -> None:
    """Check each dataset: its manifest, its items' bytes, near-twins, and files that no dataset names."""
    project = found.project
    known: dict[str, Dataset] = {}
    named_files: set[Path] = set()
    place = project.data / "datasets"
    broken = False
    for path in found.attempt(place, files, place, ".json") or []:
        dataset = found.attempt(path, datasets.read_file, project, path)
        if dataset is None:
            broken = True
            continue
        found.count("datasets", 1)
        found.count("items", len(dataset.items))
        if dataset.dataset_id in known:
            found.error("doubled-id", path, f"two manifests name the dataset {dataset.dataset_id!r}")
        known[dataset.dataset_id] = dataset
        if path.stem != dataset.dataset_id:
            found.note("file-name", path, f"it holds the dataset {dataset.dataset_id!r}")
        if dataset.parent and not (place / f"{dataset.parent}.json").exists():
            found.note("unknown-parent", path, f"its parent {dataset.parent!r} is not here")
        named_files |= _check_items(found, path, dataset)
    sources = project.data / "sources"
    for folder in found.attempt(sources, folders, sources) or []:
        if broken:
            break  # what a broken manifest names cannot be told from litter
        if folder.name not in known and not any(path.is_relative_to(folder) for path in named_files):
            found.warning("litter", folder, "no dataset names these texts: an unfinished write left them")
            continue
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path not in named_files and not path.name.startswith(".tmp-"):
                found.warning("stray-file", path, "no dataset names it")


def _check_items(found: Findings, path: Path, dataset: Dataset) -> set[Path]:
    project = found.project
    named: set[Path] = set()
    texts: dict[str, bytes] = {}
    if dataset.items_file:
        texts = found.attempt(path, datasets.texts, project, dataset) or {}
    else:
        for item in dataset.items:
            source = datasets.source_path(project, dataset, item)
            if source is None:
                reason = f"{item.item_id}: the item's text is not here"
                if dataset.redistributable:
                    found.error("item-missing", path, reason)
                else:
                    found.note("item-missing", path, f"{reason} (the dataset may not be redistributed)")
                continue
            named.add(source)
            data = found.attempt(source, strict.read_bytes, source)
            if data is None:
                continue
            if sha256(data) != item.sha256:
                found.error("item-bytes", source, f"{item.item_id}: not the bytes that the dataset recorded")
            texts[item.item_id] = data
    twins: dict[str, dict[str, list[str]]] = {}
    for item in dataset.items:
        if item.item_id in texts:
            alike = twins.setdefault(_plain(texts[item.item_id]), {})
            alike.setdefault(item.sha256, []).append(item.item_id)
    for alike in twins.values():
        if len(alike) > 1:
            ids = [item_id for group in alike.values() for item_id in group]
            found.note(
                "near-twins",
                path,
                f"{', '.join(ids[:5])}: equal but for a byte-order mark, line ends, Unicode form or trailing "
                "white space, so their labels do not meet",
            )
    return named


def _plain(data: bytes) -> str:
    """Return what near-twins share: no mark, LF, composed characters, no white space at the ends of lines."""
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    lines = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    plain = "\n".join(line.rstrip() for line in lines).rstrip()
    return sha256(plain.encode("utf-8", "surrogateescape"))


def check_captures(found: Findings) -> None:
    """Check each capture: its manifest, its records' digest, count and ids."""
    project = found.project
    ids = captures.ids(project, [])  # what may not be read is told by `validate_tree`
    for name in ids:
        folder = captures.path_of(project, name)
        path = folder / captures.MANIFEST
        capture = found.attempt(path, captures.read, project, name)
        if capture is None:
            continue
        found.count("captures", 1)
        if capture.capture_id != name:
            found.error("misplaced", path, f"it says that it is {capture.capture_id!r}")
            continue
        rows = found.attempt(folder, captures.records, project, capture)
        if rows is not None:
            found.count("records", len(rows))
            if len(rows) != capture.n_records:
                found.error("count", path, f"it says {capture.n_records} records; there are {len(rows)}")
        for parent in (capture.parent, capture.since_capture):
            if parent and parent not in ids:
                found.note("unknown-capture", path, f"the capture {parent!r} that it names is not here")
        allowed = (captures.MANIFEST, captures.RECORDS, captures.RECORDS_LARGE, "scrub-map.jsonl")
        found.strays(folder, allowed, "the capture")


def check_configs(found: Findings) -> None:
    """Check that each config can be read; a foreign file's name need not be its id."""
    seen: dict[str, str] = {}
    for path in found.attempt(found.project.data / "configs", configs.paths, found.project) or []:
        config = found.attempt(path, configs.read_file, found.project, path)
        if config is None:
            continue
        found.count("configs", 1)
        if config.config_id in seen:
            found.error(
                "doubled-id", path, f"{seen[config.config_id]} is the config {config.config_id!r} too"
            )
        seen[config.config_id] = found.project.show(path)
        if path.stem != config.config_id:
            found.note("file-name", path, f"it holds the config {config.config_id!r}")


def check_runs(found: Findings) -> None:
    """Check each run: its manifest, its predictions' digest and rows, its outputs' hashes."""
    project = found.project
    known_items = {one.dataset_id: one.by_id for one in datasets.read_all(project, [])}
    known_configs = {one.config_id for one in configs.read_all(project, [])}
    for folder in runs.folder_names(project):
        place = runs.place_of(project, folder)
        for path in found.attempt(place, folders, place) or []:
            metrics = path / runs.METRICS
            finished = found.attempt(path, metrics.exists)
            if not finished:
                if finished is not None:
                    _check_unfinished(found, path)
                continue
            run = found.attempt(metrics, runs.read_path, project, folder, path)
            if run is None:
                continue
            found.count("runs", 1)
            if run.run_id != path.name:
                found.note("file-name", metrics, f"it holds the run {run.run_id!r}")
            if run.config_id not in known_configs:
                found.note("unknown-config", metrics, f"its config {run.config_id!r} is not here")
            if run.dataset_id not in known_items:
                found.note("unknown-dataset", metrics, f"its dataset {run.dataset_id!r} is not here")
            _check_scored_against(found, metrics, run)
            _check_fingerprint(found, metrics, run)
            if run.run_id == path.name:  # else its rows cannot be found by its id
                found.attempt(path, _check_predictions, found, path, run, known_items.get(run.dataset_id, {}))


def _check_unfinished(found: Findings, path: Path) -> None:
    rows = path / runs.ROWS
    if not rows.exists() and not (path / runs.RUNNING).exists():
        found.note("no-run", path, "it holds no run")
        return
    found.note("unfinished-run", path, "no metrics.json yet: evh run --resume goes on")
    if rows.exists():
        check_journal(found, rows)


def _check_scored_against(found: Findings, metrics: Path, run: Run) -> None:
    project = found.project
    ref = scored_against(run)
    if ref is None:
        return
    place = project.data / ref if run.labels else project.data / "references" / ref
    if not place.is_dir() or not project.inside(place):
        found.note("unknown-set", metrics, f"{ref}, which it was scored against, is not here")


def _check_fingerprint(found: Findings, metrics: Path, run: Run) -> None:
    """Check what evh itself wrote of a run: its fingerprint's hash, and the folder of its target."""
    recorded = run.fingerprint.get("hash")
    if not isinstance(run.fingerprint.get("instrument"), dict) or not isinstance(recorded, str):
        return  # a foreign run, whose hash is made another way
    if fingerprint.digest(run.fingerprint) != recorded:
        found.error("fingerprint", metrics, "its fingerprint is not the one that its hash was made of")
    if run.labels and run.folder.startswith("runs-labels-"):
        folder = runs.labels_folder(*run.labels.split("/", 1))
        if run.folder != folder:
            found.error("folder", metrics, f"it was scored against {run.labels}, and lies in {run.folder}")


def _check_predictions(found: Findings, path: Path, run: Run, items: Mapping[str, Item]) -> None:
    project = found.project
    rows = found.attempt(path, runs.predictions, project, run)
    named = (run.predictions or {}).get("file")
    for name in (runs.ROWS, runs.ROWS_LARGE):
        if named in (runs.ROWS, runs.ROWS_LARGE) and name != named and (path / name).exists():
            found.note("litter", path / name, f"metrics.json names {named}: this form is left over")
    if rows is None:
        return
    found.count("predictions", len(rows))
    _check_figures(found, path / runs.METRICS, run, rows)
    for reason in left_out_numbers.told(run, rows):
        found.error("bad-number", path, reason)
    strangers = [row.item_id for row in rows if items and row.item_id not in items]
    if strangers:
        found.warning(
            "unknown-item",
            path,
            f"{plural(len(strangers), 'prediction')} of items that {run.dataset_id} lacks: "
            f"{', '.join(strangers[:5])}",
        )
    outputs = path / "outputs"
    present = {one.name for one in files(outputs, ".txt")} if project.inside(outputs) else set()
    hashed = [row for row in rows if isinstance(row.hidden.get(runs.OUTPUT_SHA), str)]
    texts = (found.attempt(outputs, runs.outputs, project, run, hashed) or {}) if hashed else {}
    for row in rows:
        if present:
            found.doubled(outputs, present, possible_stems(row.item_id), row.item_id)
        expected_sha = row.hidden.get(runs.OUTPUT_SHA)
        if not isinstance(expected_sha, str):
            continue
        text = texts.get(row.item_id)
        if text is None:
            found.error("output-missing", path, f"{row.item_id}: its output is not here")
        elif sha256(text.encode("utf-8", "surrogatepass")) != expected_sha:
            found.error("output-bytes", path, f"{row.item_id}: not the output that was scored")


def _check_figures(found: Findings, metrics: Path, run: Run, rows: Sequence[Prediction]) -> None:
    """Make a run's figures again from its rows: its counts, and each score that is a mean over them.

    A figure of the whole run has no value in the rows: `validate_figures` makes it again where evh can. The
    counts of a foreign run, which names no file of predictions, are not held against rows that it may have
    left out.
    """
    if run.predictions is not None:
        errors = sum(row.error is not None for row in rows)
        for name, said, n in (
            ("rows of predictions", run.predictions.get("rows"), len(rows)),
            ("n_items", run.n_items, len(rows)),
            ("n_errors", run.n_errors, errors),
        ):
            if said is not None and said != n:
                found.error("count", metrics, f"it says {said} ({name}); there are {n}")
    for metric, figure in sorted(run.scores.items()):
        made = mean(row.scores[metric] for row in rows if metric in row.scores)
        if made is not None and not math.isclose(figure, made, rel_tol=1e-9, abs_tol=1e-12):
            found.error("scores", metrics, f"{metric}: it says {figure:g}; the mean of its rows is {made:g}")


def check_baselines(found: Findings) -> None:
    """Check that each baseline can be read and that the run that it promoted is here."""
    project = found.project
    known = {one.run_id for one in runs.read_all(project, [])}
    place = project.data / "baselines"
    for path in found.attempt(place, files, place, ".json") or []:
        made = found.attempt(path, baselines.read_file, project, path)
        if made is not None:
            found.count("baselines", 1)
            if made.promoted_from.rsplit("/", 1)[-1] not in known:
                found.note(
                    "unknown-run", path, f"the run {made.promoted_from!r} that it promoted is not here"
                )


def check_picks(found: Findings) -> None:
    """Check the list of picks: whole lines, and items that are still what was picked."""
    project = found.project
    path = picks.path_of(project)
    if not path.is_file():  # one of another kind is told by `validate_tree`
        return
    check_journal(found, path)
    if any(one.file == project.show(path) and one.severity == "error" for one in found.findings):
        return
    state = found.attempt(path, picks.read_state, project)
    if state is None:
        return
    found.count("picks", len(state))
    known = {one.dataset_id: one.by_id for one in datasets.read_all(project, [])}
    for (dataset_id, item_id), pick in state.items():
        item = known.get(dataset_id, {}).get(item_id)
        if item is None:
            told = gone(pick, known) if pick.op != "drop" else None
            if told:
                found.warning("unknown-item", path, told)
        elif pick.sha256 and item.sha256 != pick.sha256:
            found.error("item-bytes", path, f"{dataset_id}/{item_id}: its bytes are not the ones picked")
