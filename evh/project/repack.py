"""One record in its other form: files that a person can diff, or Parquet. What it says does not change.

Each function builds the record anew beside its place and swaps it in whole, other files of its folder kept. A
dataset lies in two places and is swapped by its manifest. Digests stay: they are of ids, hashes and texts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project import captures, datasets, labels, references, runs
from evh.records import dataset as dataset_record
from evh.records import labelset as labelset_record
from evh.records import reference as reference_record
from evh.records.run import dump_prediction
from evh.store import atomic, parquet, strict
from evh.store.hashing import sha256
from evh.store.locks import held
from evh.store.names import item_stems

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.run import Prediction, Run

PARQUET, TEXT = "parquet", "text"
_COUNTS = ("tokens_in", "tokens_out")


def dataset(project: Project, name: str, form: str) -> Callable[[], None]:
    """Return the deed that gives a dataset its other form; reading it anew has been tried.

    Raises:
        Refusal: it has that form, or an item holds a key that Parquet has no column for.
    """
    one = datasets.read(project, name)
    path = datasets.path_of(project, name)
    _refuse_same(f"datasets/{name}", is_parquet=one.items_file is not None, form=form)
    lossy = [
        f"datasets/{name}.json: {item.item_id}: {', '.join(item.extra)}" for item in one.items if item.extra
    ]
    if form == PARQUET and lossy:
        raise _lossy(f"the dataset {name}", lossy)
    texts = datasets.texts(project, one)
    folder = project.data / "sources" / name
    table = path.with_name(f"{name}.items.parquet")

    def pack() -> None:
        rows = [
            {
                "item_id": item.item_id,
                "sha256": item.sha256,
                "text": texts[item.item_id],
                "fields": strict.compact(dict(item.fields)),
                "lineage": strict.compact(dict(item.lineage)),
            }
            for item in one.items
        ]
        own = one.source_dir in ("", f"sources/{name}")
        made = replace(
            one,
            items=tuple(replace(item, source_path="") for item in one.items),
            items_file=table.name,
            source_dir="" if own else one.source_dir,
        )
        with held(project.locks, project.writable(path)):
            atomic.write_file(project.writable(table), parquet.dump_rows(rows, datasets.ITEM_COLUMNS))
            _commit(path, strict.dump_manifest(dataset_record.dump(made)), undo=table)
            if own:  # texts that lie elsewhere are somebody's own files
                atomic.discard(project.writable(folder))

    def unpack() -> None:
        stems = item_stems([item.item_id for item in one.items])
        places = {item.item_id: f"sources/{name}/{stems[item.item_id]}.txt" for item in one.items}
        made = replace(
            one,
            items=tuple(replace(item, source_path=places[item.item_id]) for item in one.items),
            items_file=None,
            source_dir=one.source_dir or f"sources/{name}",
        )
        with held(project.locks, project.writable(path)):
            with atomic.replaced_folder(project.writable(folder)) as writer:
                for item in one.items:
                    writer.add(f"{stems[item.item_id]}.txt", texts[item.item_id], later=True)
            _commit(path, strict.dump_manifest(dataset_record.dump(made)), undo=folder)
            atomic.discard(project.writable(path.with_name(str(one.items_file))))

    return pack if form == PARQUET else unpack


def _commit(path: Path, manifest: bytes, *, undo: Path) -> None:
    """Write the manifest that commits a dataset's new form; where that fails the form's texts go again."""
    try:
        atomic.write_file(path, manifest)
    except Exception:
        atomic.discard(undo)
        raise


def capture(project: Project, name: str, form: str) -> Callable[[], None]:
    """Return the deed that gives a capture's records their other form; see `captures.file_sha256`."""
    one = captures.read(project, name)
    place = captures.path_of(project, name)
    _refuse_same(f"captures/{name}", is_parquet=(place / captures.RECORDS_LARGE).exists(), form=form)
    rows = captures.records(project, one)
    raw = strict.read_object(place / captures.MANIFEST)
    if form == PARQUET:
        wrong = [
            f"captures/{name}: record {number}: its record_id or ts is no text"
            for number, row in enumerate(rows, start=1)
            if not isinstance(row.get("record_id"), str) or not isinstance(row.get("ts"), str | None)
        ]
        if wrong:
            raise _lossy(f"the capture {name}", wrong)
        file = captures.RECORDS_LARGE
        table = [
            {"record_id": row["record_id"], "ts": row.get("ts"), "record": strict.compact(row)}
            for row in rows
        ]
        data = parquet.dump_rows(table, captures.RECORD_COLUMNS)
    else:
        file = captures.RECORDS
        data = b"".join(strict.dump_line(row) for row in rows)
    raw.pop(captures.STORED, None)
    digest = sha256(data)
    if digest != one.records_sha256:
        raw[captures.STORED] = {"file": file, "sha256": digest}
    return _swap(
        project,
        place,
        {file: data, captures.MANIFEST: strict.dump_manifest(raw)},
        without=(captures.RECORDS, captures.RECORDS_LARGE),
    )


def run(project: Project, name: str, form: str) -> Callable[[], None]:
    """Return the deed that gives a finished run's rows, and its outputs with them, their other form."""
    one = runs.read(project, name)
    place = runs.path_of(project, one)
    _refuse_same(one.key, is_parquet=(one.predictions or {}).get("file") == runs.ROWS_LARGE, form=form)
    rows = runs.predictions(project, one)
    raw = strict.read_object(place / runs.METRICS)
    own = {row.item_id: _own_output(project, one, row) for row in rows}
    files: dict[str, bytes] = {}
    if form == PARQUET:
        whole = [replace(row, output=own[row.item_id]) for row in rows]
        file = runs.ROWS_LARGE
        table = [_run_row(row) for row in whole]
        data = parquet.dump_rows(table, runs.PREDICTION_COLUMNS)
        _refuse_lost(place, rows)
    else:
        file = runs.ROWS
        bare = [replace(row, output=None) for row in rows]
        data = b"".join(strict.dump_line(_counted(dump_prediction(row))) for row in bare)
        stems = item_stems([row.item_id for row in rows])
        for item_id, text in own.items():
            if text is not None:
                files[f"outputs/{stems[item_id]}.txt"] = text.encode()
    raw["predictions"] = {**(one.predictions or {}), "file": file, "sha256": sha256(data), "rows": len(rows)}
    return _swap(
        project,
        place,
        {**files, file: data, runs.METRICS: strict.dump_manifest(raw)},
        without=(runs.ROWS, runs.ROWS_LARGE, "outputs"),
    )


def label_set(project: Project, name: str, form: str) -> Callable[[], None]:
    """Return the deed that gives a label set its other form; its ``labels_sha256`` is checked first."""
    one = labels.read(project, *labels.split_ref(name))
    place = labels.path_of(project, one.dataset_id, one.set)
    _refuse_same(f"labels/{one.ref}", is_parquet=(place / labels.LARGE).exists(), form=form)
    raw = labels.raw_texts(project, one)
    labels.check_digest(one, raw)
    manifest = labelset_record.dump(one)
    files: dict[str, bytes] = {}
    if form == PARQUET:
        lossy = [
            f"labels/{one.ref}: {key}: {', '.join(item.extra)}"
            for key, item in one.items.items()
            if item.extra
        ]
        if lossy:
            raise _lossy(f"the label set {one.ref}", lossy)
        table = [
            {
                "item_id": key,
                "item_sha256": one.items[key].sha256,
                "label": text,
                "note": one.items[key].note,
                "slice": one.items[key].slice,
                "proposal": strict.compact(dict(proposal)) if (proposal := one.items[key].proposal) else None,
                "settled": one.items[key].settled,
            }
            for key, text in raw.items()
        ]
        manifest.pop("items")
        files[labels.LARGE] = parquet.dump_rows(table, labels.LABEL_COLUMNS)
    else:
        files |= _texts(raw)
    files[labels.MANIFEST] = strict.dump_manifest(manifest)
    return _swap(project, place, files, without=(labels.LARGE, *_named(place)))


def reference(project: Project, name: str, form: str) -> Callable[[], None]:
    """Return the deed that gives a reference set its other form; its digest is checked first."""
    one = references.read(project, name)
    place = references.path_of(project, one.tier, one.name)
    if not (place / references.MANIFEST).exists() or not one.items:
        raise Refusal(
            "foreign-reference",
            f"the reference set {name!r} keeps the form that another tool gave it",
            why=[f"references/{name}: it does not list its items with their hashes"],
            next="evh migrate-references",
        )
    _refuse_same(f"references/{one.ref}", is_parquet=(place / references.LARGE).exists(), form=form)
    raw = references.raw_texts(project, one)
    references.check_digest(one, raw)
    manifest = reference_record.dump(one)
    files: dict[str, bytes] = {}
    if form == PARQUET:
        manifest.pop("items")
        table = [{"item_id": key, "item_sha256": one.items[key], "label": text} for key, text in raw.items()]
        files[references.LARGE] = parquet.dump_rows(table, references.LABEL_COLUMNS)
    else:
        files |= _texts(raw)
    files[references.MANIFEST] = strict.dump_manifest(manifest)
    return _swap(project, place, files, without=(references.LARGE, *_named(place)))


def _swap(
    project: Project, place: Path, files: Mapping[str, bytes], *, without: Sequence[str]
) -> Callable[[], None]:
    """Return the deed that swaps a folder for one with ``files`` and its other files, but for ``without``."""

    def deed() -> None:
        with held(project.locks, project.writable(place)), atomic.replaced_folder(place) as writer:
            for path in sorted(place.rglob("*")):
                name = path.relative_to(place).as_posix()
                gone = name in files or name in without or name.split("/", 1)[0] in without
                if path.is_file() and not path.is_symlink() and not gone:
                    writer.keep(name, path)
            for name, data in files.items():
                writer.add(name, data, later=len(files) > 64)

    return deed


def _texts(raw: Mapping[str, bytes]) -> dict[str, bytes]:
    stems = item_stems(list(raw))
    return {f"{stems[key]}.txt": text for key, text in raw.items()}


def _named(place: Path) -> list[str]:
    """Return the item files of a folder: every ``.txt`` that is not the set's own (``~guideline.txt``)."""
    return [path.name for path in place.glob("*.txt") if not path.name.startswith("~")]


def _own_output(project: Project, one: Run, row: Prediction) -> str | None:
    """Return an output that lies with this run, not with the one that it was scored again from."""
    if row.output is not None:
        return row.output
    data = runs.kept_output(project, one, row.item_id)
    if data is None:
        return None
    return strict.decode(data, f"{one.key}: outputs of {row.item_id}") if data else ""


def _run_row(row: Prediction) -> dict[str, Any]:
    return {
        "item_id": row.item_id,
        "scores": dict(row.scores),
        "latency_ms": row.latency_ms,
        "tokens_in": row.tokens_in,
        "tokens_out": row.tokens_out,
        "cost_usd": row.cost_usd,
        "output": row.output,
        "decision": row.decision,
        "error": row.error,
        "_meta": strict.compact({**row.extra, **row.hidden}),
    }


def _counted(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its counts of tokens as whole numbers: Parquet holds them as floats."""
    return {
        key: int(value) if key in _COUNTS and float(value).is_integer() else value
        for key, value in row.items()
    }


def _refuse_lost(place: Path, rows: Sequence[Prediction]) -> None:
    """Refuse rows that hold what no column of Parquet has: each must read back as it stands in its file."""
    path = place / runs.ROWS
    given = strict.parse_jsonl(strict.read_bytes(path), path)
    lossy = [
        f"{path.name}: {row.item_id}: {', '.join(sorted(raw.keys() - dump_prediction(row).keys()))}"
        for raw, row in zip(given, rows, strict=True)
        if raw.keys() - dump_prediction(row).keys() - {"scores"}
    ]
    if lossy:
        raise _lossy(str(place.name), lossy)


def _refuse_same(name: str, *, is_parquet: bool, form: str) -> None:
    if is_parquet == (form == PARQUET):
        raise Refusal(
            "same-form",
            f"{name} is {'packed' if is_parquet else 'unpacked'} already",
            why=[f"{name}: it is {'Parquet' if is_parquet else 'text files'}"],
        )


def _lossy(what: str, why: Sequence[str]) -> Refusal:
    return Refusal(
        "would-lose",
        f"{what} holds what its Parquet form has no place for",
        why=why,
        next="leave it as it is: readers take both forms at any size",
    )
