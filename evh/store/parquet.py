"""Parquet as evh writes it: one table a file, zstd, columns declared. Imports pyarrow only when called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ROWS_AS_TEXT = 5_000
"""Up to this many rows a table is JSON or text files that a person can diff; over it, Parquet."""

_TYPES = ("text", "bytes", "number", "whole", "scores")


def dump_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> bytes:
    """Return the Parquet bytes of ``rows``.

    Args:
        rows: one mapping a row; an absent key is null.
        columns: name → ``text``, ``bytes``, ``number``, ``whole`` or ``scores`` (a map of text to number).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "text": pa.string(),
        "bytes": pa.binary(),
        "number": pa.float64(),
        "whole": pa.int64(),
        "scores": pa.map_(pa.string(), pa.float64()),
    }
    arrays = []
    for name, kind in columns.items():
        values = [row.get(name) for row in rows]
        if kind == "scores":
            values = [None if value is None else sorted(value.items()) for value in values]
        arrays.append(pa.array(values, type=types[kind]))
    table = pa.Table.from_arrays(arrays, names=list(columns))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_statistics=True, store_schema=False)
    return bytes(sink.getvalue().to_pybytes())


def read_rows(path: Path, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file as mappings.

    Raises:
        Refusal: not a Parquet file, or a column of ``columns`` that is missing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(path.read_bytes()))
    except (OSError, pa.ArrowException) as error:
        raise Refusal(
            "bad-parquet", f"{path} is not a Parquet file that evh reads", why=[f"{path}: {error}"]
        ) from error
    missing = [name for name in columns if name not in table.column_names]
    if missing:
        raise Refusal("bad-parquet", f"{path} lacks columns", why=[f"{path}: {name}" for name in missing])
    rows: list[dict[str, Any]] = table.to_pylist()
    for name, kind in columns.items():
        if kind == "scores":
            for row in rows:
                row[name] = dict(row[name] or ())
    return rows
