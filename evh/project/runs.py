"""The shelf of runs: every ``data/runs*/<run>/``, whatever it was scored against."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project import run_rows
from evh.project.shelf import files, folders, holding, missing, read_each
from evh.records import run as record
from evh.store import atomic, journal, parquet, strict
from evh.store.hashing import sha256
from evh.store.locks import held
from evh.store.names import RUN_ID_LENGTH, bad_id, check_id, possible_stems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evh.project.find import Project
    from evh.records.run import Prediction, Run

METRICS = "metrics.json"
RUNNING = "running.json"
ROWS = "predictions.jsonl"
ROWS_LARGE = "predictions.parquet"
MEASURED = "runs"
RESCORED = "runs-rescored"
OUTPUT_SHA = "_output_sha256"
"""The hidden key of a prediction: the sha256 of its output's bytes."""
ASK_AGAIN = "_ask_again"
"""The hidden key of a running run's row whose ``error`` may pass: the item is asked again on resuming."""
PREDICTION_COLUMNS = run_rows.COLUMNS


def labels_folder(dataset_id: str, set_name: str) -> str:
    """Return the folder of runs scored against a label set: a hint for people, ``metrics.json`` decides."""
    return f"runs-labels-{dataset_id}-{set_name}"


def place_of(project: Project, folder: str) -> Path:
    """Return the path of a ``runs*`` folder; ``EVAL_RUNS_DIR`` stands for ``data/runs``."""
    named = project.environ.get("EVAL_RUNS_DIR")
    if folder == MEASURED and named:
        return Path(named).absolute()
    return project.data / folder


def folder_names(project: Project) -> list[str]:
    """Return the names of the folders that hold runs: ``runs``, ``runs-…`` and ``runs-judged/<scorer>``."""
    names = []
    for path in folders(project.data):
        if path.name == "runs-judged":
            names += [f"{path.name}/{scorer.name}" for scorer in folders(path)]
        elif path.name == MEASURED or path.name.startswith("runs-"):
            names.append(path.name)
    if project.environ.get("EVAL_RUNS_DIR") and MEASURED not in names:
        names.append(MEASURED)
    return sorted(names)


def path_of(project: Project, run: Run) -> Path:
    """Return the folder of a run."""
    return place_of(project, run.folder) / run.run_id


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Run]:
    """Return every finished run, oldest first; see `shelf.read_each` for ``problems``."""
    keys = [
        (folder, path)
        for folder in folder_names(project)
        for path in holding([place_of(project, folder)], METRICS, problems)
    ]
    made = read_each(keys, lambda key: _read(project, *key), problems)
    return sorted(made, key=lambda run: (run.created_at, run.run_id, run.folder))


def read_path(project: Project, folder: str, path: Path) -> Run:
    """Return the finished run in ``path``, which lies in the ``runs*`` folder named ``folder``."""
    return _read(project, folder, path)


def unfinished(project: Project) -> list[Path]:
    """Return the folders of runs that have no ``metrics.json``: resumable, never cleaned."""
    return [
        path
        for folder in folder_names(project)
        for path in folders(place_of(project, folder))
        if not (path / METRICS).exists() and ((path / RUNNING).exists() or (path / ROWS).exists())
    ]


def read(project: Project, name: str, *, folder: str | None = None) -> Run:
    """Return one finished run.

    Args:
        project: the project.
        name: a run id, or ``<folder>/<run_id>``.
        folder: the folder to look in; without one the measured run is preferred, then the first found.
    """
    if "/" in name and folder is None:
        folder, name = name.rsplit("/", 1)
    check_id(name, "run", length=RUN_ID_LENGTH)
    found = [run for run in read_all(project, []) if run.run_id == name and folder in (None, run.folder)]
    if not found:
        for one in [folder] if folder else folder_names(project):
            path = place_of(project, one) / name
            if (path / METRICS).exists():
                return _read(project, one, path)  # raises what is wrong with it
            if path.is_dir():
                raise Refusal(
                    "unfinished-run",
                    f"the run {name!r} is not finished",
                    why=[f"{project.show(path)}: no {METRICS}"],
                    next="evh run --resume",
                )
        raise missing("run", name, [run.run_id for run in read_all(project, [])], next="evh runs")
    return min(found, key=lambda run: (run.folder != MEASURED, run.folder))


def predictions(project: Project, run: Run) -> tuple[Prediction, ...]:
    """Return a finished run's predictions, in their order.

    Raises:
        Refusal: the rows are missing, are not those that ``metrics.json`` names, name an item twice, or
            cannot be read.
    """
    folder = path_of(project, run)
    places = [folder / ROWS, folder / ROWS_LARGE]
    return project.kept(("predictions", folder), places, lambda: _predictions(project, run, folder), run)


def _predictions(project: Project, run: Run, folder: Path) -> tuple[Prediction, ...]:
    named = (run.predictions or {}).get("file")
    path = folder / str(named) if named in (ROWS, ROWS_LARGE) else _only_form(project, folder)
    if path is None:
        return ()
    data = strict.read_bytes(project.readable(path))
    expected = (run.predictions or {}).get("sha256")
    if expected and sha256(data) != expected:
        raise Refusal(
            "changed-bytes",
            f"the predictions of run {run.run_id!r} changed",
            why=[f"{project.show(path)}: not the bytes that {METRICS} recorded"],
            next="restore the file (git checkout)",
        )
    rows = _parse_rows(project, path, data)
    if path.name == ROWS:  # a Parquet file's ids were looked at when it was read
        strict.refuse_doubled((row.item_id for row in rows), project.show(path), "item_id")
    return rows


def _parse_rows(project: Project, path: Path, data: bytes) -> tuple[Prediction, ...]:
    place = project.show(path)
    if path.name == ROWS_LARGE:
        return run_rows.read(path, place)
    raws = strict.parse_jsonl(data[: data.rfind(b"\n") + 1] if not data.endswith(b"\n") else data, place)
    return tuple(
        record.parse_prediction(raw, f"{place}: row {number}") for number, raw in enumerate(raws, start=1)
    )


def output(project: Project, run: Run, prediction: Prediction) -> str | None:
    """Return what an arm answered for one item, or None.

    It stands in the row, in ``outputs/``, or in the run that this one derives from.
    """
    if prediction.output is not None:
        return prediction.output
    for stem in possible_stems(prediction.item_id):
        path = path_of(project, run) / "outputs" / f"{stem}.txt"
        if path.is_file() and project.inside(path):
            return strict.read_bytes(path).decode("utf-8", "replace")
    source = source_of(project, run)
    return None if source is None else output(project, source, prediction)


def outputs(
    project: Project, run: Run, rows: Iterable[Prediction], *, verify: bool = False
) -> dict[str, str]:
    """Return what an arm answered for each of ``rows``, by item id: `output` for many of them.

    Args:
        project: the project.
        run: the run.
        rows: its predictions.
        verify: hold each output against the hash that its row recorded; scoring does, viewing does not.

    Raises:
        Refusal: every output whose bytes are not the ones that its row recorded.
    """
    if project.memory is None or verify or not isinstance(rows, tuple):
        return _outputs(project, run, rows, verify=verify)
    chain = [run]
    while (source := source_of(project, chain[-1])) is not None and source not in chain:
        chain.append(source)
    places = [path_of(project, one) / "outputs" for one in chain]
    key = ("outputs", path_of(project, run))
    return dict(project.kept(key, places, lambda: _outputs(project, run, rows, verify=False), *chain, rows))


def _outputs(project: Project, run: Run, rows: Iterable[Prediction], *, verify: bool) -> dict[str, str]:
    made: dict[str, str] = {}
    changed: list[str] = []
    missing_rows: list[Prediction] = []
    place = path_of(project, run) / "outputs"
    names = {path.name for path in files(place, ".txt")} if project.inside(place) else set()
    for row in rows:
        if row.output is not None:
            made[row.item_id] = row.output
            continue
        name = next((f"{stem}.txt" for stem in possible_stems(row.item_id) if f"{stem}.txt" in names), None)
        path = place / str(name)
        if name is None or (path.is_symlink() and not project.inside(path)):
            missing_rows.append(row)
        else:
            data = strict.read_bytes(path)
            if verify and row.hidden.get(OUTPUT_SHA) not in (None, sha256(data)):
                changed.append(f"{project.show(path)}: not the bytes that the run recorded")
            made[row.item_id] = data.decode("utf-8", "replace")
    if changed:
        raise Refusal(
            "changed-bytes",
            f"outputs of run {run.run_id!r} changed",
            why=changed,
            next="restore the files (git checkout)",
        )
    source = source_of(project, run) if missing_rows else None
    return made if source is None else {**outputs(project, source, missing_rows, verify=verify), **made}


def source_of(project: Project, run: Run) -> Run | None:
    """Return the run that a scored-again run took its outputs from, or None."""
    origin = (run.derived or {}).get("from")
    if not isinstance(origin, str) or (run.derived or {}).get("kind") == "recorded":
        return None
    folder, _, name = origin.rpartition("/")
    folder = folder or MEASURED
    path = place_of(project, folder) / name
    if (
        (folder, name) == (run.folder, run.run_id)
        or folder not in folder_names(project)
        or not (path / METRICS).exists()
    ):
        return None
    found = read_each([path], lambda one: _read(project, folder, one), [])  # a broken one is its own trouble
    return found[0] if found else None


def new_run_id(project: Project, config_id: str, *, folder: str = MEASURED) -> str:
    """Return an id for a run that starts now: ``<config>_YYYYMMDDTHHMMSSZ``, with ``-2`` on a tie.

    No run of any folder has it. The run's own folder is made on the spot, so that two runs cannot take one
    id.
    """
    from evh.store.clock import run_stamp

    base = f"{config_id}_{run_stamp(project.now())}"
    place = place_of(project, folder)
    everywhere = {place, *(place_of(project, name) for name in folder_names(project))}
    with held(project.locks, place_of(project, MEASURED)):
        number, run_id = 1, base
        while any((one / run_id).exists() for one in everywhere):
            number += 1
            run_id = f"{base}-{number}"
        atomic.make_folder(project.writable(place / run_id))
    return run_id


def begin(project: Project, run: Run, running: Mapping[str, Any]) -> None:
    """Write a run's ``running.json``: from now on it can be resumed. Where that fails its folder goes."""
    folder = project.writable(path_of(project, run))
    with atomic.removed_unless(folder / RUNNING, folder):
        atomic.write_file(folder / RUNNING, strict.dump_manifest({**record.dump(run), **running}))


def running(project: Project, path: Path) -> Run | None:
    """Return what an unfinished run began as, or None: its ``running.json`` is missing or not evh's.

    Args:
        project: the project.
        path: the run's folder, from `unfinished`.
    """
    if not (path / RUNNING).is_file():
        return None
    folder = next(
        (name for name in folder_names(project) if place_of(project, name) == path.parent), MEASURED
    )

    def read_it(file: Path) -> Run:
        return record.parse(strict.read_object(file), project.show(file), folder=folder)

    return next(iter(read_each([path / RUNNING], read_it, [])), None)


def running_rows(project: Project, run: Run) -> tuple[Prediction, ...]:
    """Return the rows that an unfinished run has kept; a last line that a crash cut is passed over.

    Of an item that was tried again the last row counts.
    """
    path = path_of(project, run) / ROWS
    rows = _parse_rows(project, path, strict.read_bytes(path)) if path.exists() else ()
    return tuple({row.item_id: row for row in rows}.values())


def kept_output(project: Project, run: Run, item_id: str) -> bytes | None:
    """Return the output file of an item as it lies there, or None."""
    for stem in possible_stems(item_id):
        path = path_of(project, run) / "outputs" / f"{stem}.txt"
        if path.is_file() and project.inside(path):
            return strict.read_bytes(path)
    return None


def open_rows(project: Project, run: Run) -> journal.Appender:
    """Open the rows of a running run, to append each with its ``output`` as it comes.

    The caller holds the lock of `rows_path` for as long as the run goes.
    """
    return journal.Appender(rows_path(project, run))


def rows_path(project: Project, run: Run) -> Path:
    """Return where a running run's rows go; a link that leads out of the project is refused."""
    return project.writable(path_of(project, run) / ROWS)


def outputs_folder(project: Project, run: Run) -> Path:
    """Return the folder of a running run's outputs, made where it is missing.

    Raises:
        Refusal: a link leads it out of the project.
    """
    folder = project.writable(path_of(project, run) / "outputs")
    atomic.make_folder(folder)
    return folder


def finish(
    project: Project,
    run: Run,
    rows: Sequence[Prediction],
    stems: Mapping[str, str],
    *,
    kept: Collection[str] = (),
) -> Run:
    """Write a measured run's outputs, its final rows and, last, its ``metrics.json``: the commit point.

    Args:
        project: the project.
        run: the run.
        rows: its rows, each with its ``output``. Up to 5,000 the outputs become files; over that the rows
            are Parquet and keep them.
        stems: item id → file stem, from `names.item_stems` over the dataset's ids.
        kept: the items whose output file was written already, and perhaps not flushed.

    Returns:
        The run as written, with the ``predictions`` that it names.
    """
    folder = project.writable(path_of(project, run))
    large = len(rows) > parquet.ROWS_AS_TEXT
    final = rows if large else [replace(row, output=None) for row in rows]
    answered = [] if large else [row for row in rows if row.output is not None]
    place = outputs_folder(project, run) if answered else folder
    for row in answered:
        if row.item_id not in kept:
            atomic.write_unflushed(place / f"{stems[row.item_id]}.txt", (row.output or "").encode())
    with atomic.flushing(place, [f"{stems[row.item_id]}.txt" for row in answered]):
        name, data = dump_rows(final)
    made = replace(run, predictions={"file": name, "sha256": sha256(data), "rows": len(rows)})
    atomic.write_file(folder / name, data)
    atomic.write_file(folder / METRICS, strict.dump_manifest(record.dump(made)))
    atomic.remove(folder / RUNNING)
    if large:  # its rows hold the outputs too
        atomic.remove(folder / ROWS)
        atomic.remove(folder / "outputs")
    return made


def write_scored(project: Project, run: Run, rows: Sequence[Prediction]) -> Run:
    """Write a scored-again run whole, in place of an earlier scoring of the same run.

    Its outputs stay with the run that it derives from.
    """
    place = project.writable(path_of(project, run))
    name, data = dump_rows(rows)
    made = replace(run, predictions={"file": name, "sha256": sha256(data), "rows": len(rows)})
    with held(project.locks, place), atomic.replaced_folder(place) as writer:
        writer.add(name, data)
        writer.add(METRICS, strict.dump_manifest(record.dump(made)))
    return made


def dump_rows(rows: Sequence[Prediction]) -> tuple[str, bytes]:
    """Return the file's name and bytes for predictions: JSONL up to 5,000, Parquet over that."""
    if len(rows) > parquet.ROWS_AS_TEXT:
        return ROWS_LARGE, run_rows.dump(rows)
    return ROWS, b"".join(strict.dump_line(record.dump_prediction(row)) for row in rows)


def _only_form(project: Project, folder: Path) -> Path | None:
    small, large = folder / ROWS, folder / ROWS_LARGE
    if small.exists() and large.exists():
        raise Refusal(
            "two-forms", f"{project.show(folder)} has its predictions twice", why=[f"{ROWS} and {ROWS_LARGE}"]
        )
    return small if small.exists() else large if large.exists() else None


def _read(project: Project, folder: str, path: Path) -> Run:
    places = [project.readable(path / METRICS), path / ROWS]
    run = project.kept(("run", folder, path), places, lambda: _read_anew(project, folder, path))
    if run.reference_id and not run.reference_tier:  # a foreign run names its reference alone
        tiers = _tiers_of(project, run.reference_id)
        return replace(run, reference_tier=tiers[0]) if len(tiers) == 1 else run
    return run


def _read_anew(project: Project, folder: str, path: Path) -> Run:
    raw = strict.read_object(path / METRICS)
    run = record.parse(raw, project.show(path / METRICS), folder=folder)
    return run if "n_items" in raw else replace(run, n_items=_count_rows(path))


def _count_rows(path: Path) -> int:
    """Return how many predictions a foreign run has that does not say so itself."""
    rows = path / ROWS
    return strict.read_bytes(rows).count(b"\n{") + 1 if rows.is_file() else 0


def _tiers_of(project: Project, reference_id: str) -> list[str]:
    """Return the tiers that hold a reference set of that id, ``<name>`` or ``<tier>/<name>``."""
    tier, _, name = reference_id.removeprefix("references/").rpartition("/")
    if bad_id(name) is not None:
        return []
    shelf = folders(project.data / "references")
    return [one.name for one in shelf if tier in ("", one.name) and (one / name / "manifest.json").exists()]
