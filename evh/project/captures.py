"""The shelf of captures: ``data/captures/<capture>/capture.json`` and its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project.shelf import check_new, holding, missing, read_each
from evh.records import capture as record
from evh.store import atomic, parquet, strict
from evh.store.hashing import sha256
from evh.store.locks import held
from evh.store.names import check_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.capture import Capture, Record

MANIFEST = "capture.json"
RECORDS = "records.jsonl"
RECORDS_LARGE = "records.parquet"
STORED = "stored"
RECORD_COLUMNS = {"record_id": "text", "ts": "text", "record": "text"}


def path_of(project: Project, capture_id: str) -> Path:
    """Return the folder of a capture."""
    return project.data / "captures" / check_id(capture_id, "capture")


def ids(project: Project, problems: list[Refusal] | None = None) -> list[str]:
    """Return the ids of the captures, sorted; see `shelf.read_each` for ``problems``."""
    return [path.name for path in holding([project.data / "captures"], MANIFEST, problems)]


def exists(project: Project, capture_id: str) -> bool:
    """Tell whether there is a capture of that id."""
    return (path_of(project, capture_id) / MANIFEST).exists()


def read(project: Project, capture_id: str) -> Capture:
    """Return a capture's manifest, or raise a Refusal."""
    path = path_of(project, capture_id) / MANIFEST
    if not path.exists():
        raise missing("capture", capture_id, ids(project), next="evh captures")
    return record.parse(strict.read_object(project.readable(path)), project.show(path))


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Capture]:
    """Return every capture's manifest; see `shelf.read_each` for ``problems``."""
    return read_each(ids(project, problems), lambda name: read(project, name), problems)


def records(project: Project, capture: Capture) -> tuple[Record, ...]:
    """Return a capture's records as they came, in their order.

    Raises:
        Refusal: the file is missing, is there in both forms, or its bytes are not the ones recorded.
    """
    folder = path_of(project, capture.capture_id)
    small, large = folder / RECORDS, folder / RECORDS_LARGE
    if small.exists() and large.exists():
        raise Refusal(
            "two-forms",
            f"{project.show(folder)} has its records twice",
            why=[f"{RECORDS} and {RECORDS_LARGE}"],
        )
    path = large if large.exists() else small
    data = strict.read_bytes(project.readable(path))
    recorded = file_sha256(capture, path.name)
    if recorded and sha256(data) != recorded:
        raise Refusal(
            "changed-bytes",
            f"the records of capture {capture.capture_id!r} changed",
            why=[f"{project.show(path)}: not the bytes that {MANIFEST} recorded"],
            next="restore the file (git checkout)",
        )
    if path == large:
        rows = parquet.read_rows(
            path, RECORD_COLUMNS, place=project.show(path), key="record_id", filled=("record",)
        )
        return tuple(
            strict.parse_object(row["record"].encode(), f"{path}: {row['record_id']}") for row in rows
        )
    return strict.parse_jsonl(data, project.show(path))


def file_sha256(capture: Capture, name: str) -> str:
    """Return the hash that a capture records of its file ``name``.

    It is ``records_sha256``, save where `pack` or `unpack` gave the records their other form: that of
    the form in which they were captured stays; ``stored {file, sha256}`` then names the file that is here.
    """
    stored = capture.extra.get(STORED)
    if isinstance(stored, dict) and stored.get("file") == name:
        return str(stored.get("sha256") or "")
    return capture.records_sha256


def dump_records(rows: Sequence[Record]) -> tuple[str, bytes]:
    """Return the file's name and bytes for records: JSONL up to 5,000, Parquet over that."""
    if len(rows) > parquet.ROWS_AS_TEXT:
        table = [
            {"record_id": row["record_id"], "ts": row.get("ts"), "record": strict.compact(row)}
            for row in rows
        ]
        return RECORDS_LARGE, parquet.dump_rows(table, RECORD_COLUMNS)
    return RECORDS, b"".join(strict.dump_line(row) for row in rows)


def write_new(
    project: Project, capture: Capture, name: str, data: bytes, *, beside: Mapping[str, bytes] | None = None
) -> None:
    """Write a new capture whole: its folder is renamed in last.

    Args:
        project: the project.
        capture: the manifest, ``records_sha256`` being that of ``data``.
        name: the records' file name, from `dump_records`.
        data: the records' bytes.
        beside: further files of the capture's folder, by name (the scrub map).

    Raises:
        Refusal: there is a capture of that id.
    """
    place = path_of(project, capture.capture_id)
    with held(project.locks, project.writable(place)):
        check_new(place, "capture")
        try:
            with atomic.new_folder(place) as writer:
                writer.add(name, data)
                for other, content in (beside or {}).items():
                    writer.add(other, content)
                writer.add(MANIFEST, strict.dump_manifest(record.dump(capture)))
        except FileExistsError:
            raise already(capture.capture_id) from None


def already(capture_id: str) -> Refusal:
    """Return the Refusal for a capture that exists."""
    return Refusal(
        "existing-capture",
        f"there is a capture {capture_id!r} already",
        why=[f"captures/{capture_id}: a capture is never overwritten"],
        next="choose another name with --as",
    )


def parts(project: Project, capture_id: str) -> set[str]:
    """Return the captures whose records one capture holds: itself, and every part that was split from it."""
    parents = {capture.capture_id: capture.parent for capture in read_all(project, [])}
    held = {capture_id}
    while more := {name for name, parent in parents.items() if parent in held} - held:
        held |= more
    return held


def family(project: Project, capture_id: str) -> set[str]:
    """Return the captures that hold the same records: itself, what it was split from, and their parts."""
    parents = {capture.capture_id: capture.parent for capture in read_all(project, [])}

    def root(name: str) -> str:
        seen = {name}
        while (up := parents.get(name)) and up not in seen:
            seen.add(up)
            name = up
        return name

    top = root(capture_id)
    return {name for name in parents if root(name) == top} | {capture_id}
