"""The text records as Arrow tables, record by record: made once, and kept while the record's files stay.

In one process they are kept in memory. Between processes those of large records lie under ``.cache/tables/``
as Parquet, each with the stamp of the files that it was made of: where that is another, it is made anew.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from evh import __version__
from evh.project.memory import UNSETTLED
from evh.project.shelf import read_each
from evh.store import atomic
from evh.store.hashing import sha256_lines, sha256_text
from evh_build import parts, tables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evh_build.gather import Gathered
    from evh_build.parts import Part

LEAST = 200
"""A record of fewer rows is read faster than its Parquet file."""
_STAMP = b"evh stamp"
_TYPES = {
    "text": pa.string(),
    "bytes": pa.binary(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "bool": pa.bool_(),
    "scores": pa.map_(pa.string(), pa.float64()),
}


def schema(columns: Mapping[str, str]) -> pa.Schema:
    """Return the Arrow schema of declared columns."""
    return pa.schema([(name, _TYPES[kind]) for name, kind in columns.items()])


def empty(noun: str) -> pa.Table:
    """Return a noun's table without rows."""
    return schema(tables.COLUMNS[noun]).empty_table()


def table(noun: str, gathered: Gathered) -> pa.Table:
    """Return the table of a noun's text records."""
    return pa.concat_tables(
        [empty(noun), *(_kept(noun, part, gathered) for part in parts.parts(noun, gathered))]
    )


def _kept(noun: str, part: Part, gathered: Gathered) -> pa.Table:
    if part.places is None:
        return _made(noun, part)
    make = partial(_cached, noun, part, gathered)
    return gathered.kept(("table", noun, part.record), part.places, make, part.more)


def _cached(noun: str, part: Part, gathered: Gathered) -> pa.Table:
    """Return the part's table from its Parquet file, or made from its rows, which then go into the file."""
    stamp = stamp_of(noun, part, gathered)
    if stamp is None:
        return _made(noun, part)
    name = f"{noun}-{sha256_text(f'{gathered.view} {part.record}')[:24]}.parquet"
    path = gathered.project.root / ".cache" / "tables" / name
    found = _read(path, stamp, noun)
    if found is not None:
        return found
    made = _made(noun, part)
    if made.num_rows >= LEAST and gathered.is_sound():
        sink = pa.BufferOutputStream()
        pq.write_table(made.replace_schema_metadata({_STAMP: stamp.encode()}), sink, compression="zstd")
        read_each([path], lambda one: _keep(gathered, one, sink.getvalue().to_pybytes()), [])
    return made


def _keep(gathered: Gathered, path: Path, data: bytes) -> None:
    """Write a table into the cache; one that cannot be written is none."""
    with contextlib.suppress(OSError):
        atomic.make_folder(gathered.project.writable(path).parent)
        atomic.write_unflushed(path, data)


def stamps(noun: str, gathered: Gathered) -> list[object]:
    """Return what tells whether a noun's relation holds the same rows: each part's stamp, or its rows.

    Two that are equal are of the same rows; what cannot be told is equal to nothing.
    """
    made: list[object] = []
    for part in parts.parts(noun, gathered):
        if part.places is None:
            made.append((part.record, list(part.rows())))
        else:
            made.append((part.record, part.more, [gathered.memory.stamp(place) for place in part.places]))
    if noun in tables.PARQUET:
        held = tables.files(noun, gathered)
        made += [(name, str(path), gathered.memory.stamp(path)) for name, path in held]
    return made


def stamp_of(noun: str, part: Part, gathered: Gathered) -> str | None:
    """Return the stamp of all that a part's rows are made of, or None: its files are too young to tell."""
    lines = [f"{__version__} {noun} {part.record} {tables.COLUMNS[noun]}", *part.more]
    for place in part.places or ():
        found = gathered.memory.stamp(place)
        if found.startswith(UNSETTLED):
            return None
        lines.append(f"{place} {found}")
    return sha256_lines(lines)


def _read(path: Path, stamp: str, noun: str) -> pa.Table | None:
    try:
        with pq.ParquetFile(path, memory_map=False) as file:
            if (file.schema_arrow.metadata or {}).get(_STAMP) != stamp.encode():
                return None
            found = file.read(use_threads=False)
    except (OSError, pa.ArrowException):
        return None
    wanted = schema(tables.COLUMNS[noun])
    return found.replace_schema_metadata() if found.schema.equals(wanted) else None


def _made(noun: str, part: Part) -> pa.Table:
    columns = tables.COLUMNS[noun]
    rows: list[dict[str, Any]] = list(part.rows())
    arrays = []
    for name, kind in columns.items():
        values = [row.get(name) for row in rows]
        if kind == "text":  # a lone surrogate is no UTF-8, and Arrow refuses the whole column
            values = [
                value if value is None or value.isascii() else value.encode("utf-8", "replace").decode()
                for value in values
            ]
        elif kind == "number":  # Arrow refuses a whole number over 2**53, which JSON can hold
            values = [value if value is None else float(value) for value in values]
        arrays.append(pa.array(values, type=_TYPES[kind]))
    return pa.Table.from_arrays(arrays, schema=schema(columns))
