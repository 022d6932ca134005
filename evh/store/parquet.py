"""Parquet as evh writes it: one table a file, zstd, columns declared. Imports pyarrow only when called."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.store import strict
from evh.store.regular import open_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

ROWS_AS_TEXT = 5_000
"""Up to this many rows a table is JSON or text files that a person can diff; over it, Parquet."""

_TYPES = ("text", "bytes", "number", "whole", "scores")


def dump_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> bytes:
    """Return the Parquet bytes of ``rows``.

    Args:
        rows: one mapping a row; an absent key is null.
        columns: name → ``text``, ``bytes``, ``number``, ``whole`` or ``scores`` (a map of text to number).
    """
    return dump_columns({name: [row.get(name) for row in rows] for name in columns}, columns)


def dump_columns(values: Mapping[str, Sequence[Any]], columns: Mapping[str, str]) -> bytes:
    """Return the Parquet bytes of columns: those of `dump_rows` without a mapping for each row.

    Args:
        values: name → one value a row, None for null.
        columns: name → type, as in `dump_rows`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "bytes": pa.binary(), "number": pa.float64(), "whole": pa.int64()}
    arrays = []
    for name, kind in columns.items():
        column = values[name]
        if kind == "number":  # Arrow refuses a whole number over 2**53, which JSON can hold
            column = [None if value is None else float(value) for value in column]
        arrays.append(_map_array(column) if kind == "scores" else pa.array(column, type=types[kind]))
    table = pa.Table.from_arrays(arrays, names=list(columns))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_statistics=True, store_schema=False)
    return bytes(sink.getvalue().to_pybytes())


def _map_array(values: Sequence[Mapping[str, float] | None]) -> pa.Array:
    """Return a column of maps of text to number, each sorted by its keys."""
    import pyarrow as pa

    flat = [pair for value in values for pair in sorted((value or {}).items())]
    ends = list(accumulate((len(value or ()) for value in values), initial=0))
    starts = [None if value is None else start for value, start in zip(values, ends, strict=False)]
    return pa.MapArray.from_arrays(
        pa.array([*starts, ends[-1]], pa.int32()),  # a null begins nowhere
        pa.array([name for name, _ in flat], pa.string()),
        pa.array([float(value) for _, value in flat], pa.float64()),
    )


def dump_stream(
    batches: Iterable[Sequence[Mapping[str, Any]]], columns: Mapping[str, str]
) -> Iterator[bytes]:
    """Yield the parts of a Parquet file of many rows: a row group a batch, in the memory of one batch.

    Args:
        batches: rows, each a mapping.
        columns: name → ``text``, ``bytes``, ``number`` or ``whole``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "bytes": pa.binary(), "number": pa.float64(), "whole": pa.int64()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    parts = _Parts()
    sink = pa.PythonFile(parts, mode="w")
    with pq.ParquetWriter(sink, schema, compression="zstd", store_schema=False) as out:
        for rows in batches:
            out.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema))
            yield parts.take()
    yield parts.take()


class _Parts:
    """A file that is written to, whose bytes are taken away part by part."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        made = b"".join(self._parts)
        self._parts.clear()
        return made

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self.closed = True


def stream_rows(
    path: Path, columns: Mapping[str, str], *, place: object = None, batch: int = 256
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file in order, in the memory of a row group.

    Raises:
        Refusal: not a Parquet file; a column that is missing, of another type or with a null.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = place or path
    try:
        with open_file(path) as file:
            found = pq.ParquetFile(file, pre_buffer=False)
            reasons = _wrong_columns(found.schema_arrow.empty_table(), columns, (), set(columns))
            if reasons:
                raise Refusal(
                    "bad-parquet",
                    f"{place} does not hold the columns that it must",
                    why=[f"{place}: {reason}" for reason in reasons],
                )
            for part in found.iter_batches(batch_size=batch, columns=list(columns), use_threads=False):
                nulls = [name for name in columns if part.column(name).null_count]
                if nulls:
                    raise Refusal(
                        "bad-parquet",
                        f"{place} does not hold the columns that it must",
                        why=[f"{place}: the column {name!r} is null in some rows" for name in nulls],
                    )
                yield from part.to_pylist()
    except (OSError, ValueError, OverflowError, pa.ArrowException) as error:
        raise Refusal(
            "bad-parquet", f"{place} is not a Parquet file that evh reads", why=[f"{place}: {error}"]
        ) from error


def read_rows(
    path: Path,
    columns: Mapping[str, str],
    *,
    place: object = None,
    key: str | None = None,
    filled: Sequence[str] = (),
    optional: bool = False,
) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file as mappings.

    Args:
        path: the file.
        columns: the columns that are read, as in `dump_rows`; others come along as they are.
        place: names the file in a Refusal; its path by default.
        key: the column that names a row: no null in it, and no value twice.
        filled: further columns without a null.
        optional: every column but the key may be missing (a foreign tree's).

    Raises:
        Refusal: not a Parquet file; a column that is missing, of another type or with a null; a doubled key.
    """
    found = read_columns(path, columns, place=place, key=key, filled=filled, optional=optional)
    names = tuple(found)
    return [dict(zip(names, values, strict=True)) for values in zip(*found.values(), strict=True)]


def read_columns(
    path: Path,
    columns: Mapping[str, str],
    *,
    place: object = None,
    key: str | None = None,
    filled: Sequence[str] = (),
    optional: bool = False,
    only: Collection[str] | None = None,
) -> dict[str, list[Any]]:
    """Return the columns of a Parquet file, name → values: `read_rows` without a mapping for each row.

    Args:
        path: the file.
        columns: as in `read_rows`, as are ``place``, ``key``, ``filled`` and ``optional``.
        only: the columns wanted; every one by default. The others are not unpacked.

    Raises:
        Refusal: as `read_rows`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = strict.read_bytes(path)
    place = place or path
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        reasons = _doubled_names(file.schema_arrow.names)
        wanted = None if only is None else [name for name in file.schema_arrow.names if name in only]
        table = file.schema_arrow.empty_table() if reasons else file.read(columns=wanted)
        needed = {key} if optional else set(columns)
        needed = needed if only is None else needed & {*only, key}
        reasons += _wrong_columns(table, columns, {key, *filled} - {None}, needed)
        found = {} if reasons else _read(table, columns)
    except (OSError, ValueError, OverflowError, pa.ArrowException) as error:
        raise Refusal(
            "bad-parquet", f"{place} is not a Parquet file that evh reads", why=[f"{place}: {error}"]
        ) from error
    if reasons:
        raise Refusal(
            "bad-parquet",
            f"{place} does not hold the columns that it must",
            why=[f"{place}: {reason}" for reason in reasons],
        )
    if key is not None:
        strict.refuse_doubled(found[key], place, key)
    return found


def _read(table: pa.Table, columns: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return a table's columns as Python values, in its order; each value of ``scores`` as a dict."""
    made: dict[str, list[Any]] = {}
    for name in table.column_names:
        column = table.column(name)
        if columns.get(name) == "scores":
            made[name] = _scores(column)
        elif column.null_count == len(column):
            made[name] = [None] * len(column)
        else:
            made[name] = column.to_pylist()
    return made


def _scores(column: pa.ChunkedArray) -> list[dict[str, float]]:
    """Return a column of maps as dicts, those of a struct's fields too; equal names are one text."""
    from pyarrow import types

    if not types.is_map(column.type):
        return [dict(value or ()) for value in column.to_pylist()]
    names: dict[str, str] = {}
    made: list[dict[str, float]] = []
    for chunk in column.chunks:
        keys = [names.setdefault(one, one) for one in chunk.keys.to_pylist()]
        values = chunk.items.to_pylist()
        ends = chunk.offsets.to_pylist()
        made += [
            dict(zip(keys[start:end], values[start:end], strict=True)) if valid else {}
            for start, end, valid in zip(ends, ends[1:], chunk.is_valid().to_pylist(), strict=False)
        ]
    return made


def _doubled_names(names: Sequence[str]) -> list[str]:
    return [f"the column {name!r} stands twice" for name in sorted({*names}) if names.count(name) > 1]


def _wrong_columns(
    table: pa.Table,
    columns: Mapping[str, str],
    filled: Collection[str | None],
    needed: Collection[str | None],
) -> list[str]:
    names = table.column_names
    reasons = []
    for name, kind in columns.items():
        count = names.count(name)
        if count == 0 and name in needed:
            reasons.append(f"there is no column {name!r}")
        if count != 1:
            continue
        column = table.column(name)
        if not _holds(column.type, kind):
            reasons.append(f"the column {name!r} is {column.type}, not {kind}")
        elif name in filled and column.null_count:
            reasons.append(f"the column {name!r} is null in {column.null_count} rows")
    return reasons


def _holds(found: pa.DataType, kind: str) -> bool:
    """Tell whether a column of an Arrow type can be read as one of `_TYPES`; other writers vary its width."""
    from pyarrow import types

    if types.is_null(found):
        return True
    if types.is_dictionary(found):
        return _holds(found.value_type, kind)
    if kind == "text":
        return bool(types.is_string(found) or types.is_large_string(found))
    if kind == "bytes":
        return bool(types.is_binary(found) or types.is_large_binary(found))
    whole = types.is_integer(found)
    if kind in ("whole", "number"):
        return bool(whole or (kind == "number" and types.is_floating(found)))
    if types.is_struct(found):  # how others write a map of known keys
        return all(_holds(found.field(at).type, "number") for at in range(found.num_fields))
    return bool(types.is_map(found) and _holds(found.key_type, "text") and _holds(found.item_type, "number"))
