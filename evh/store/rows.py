"""Reading a table that someone hands over: JSONL, a JSON array, CSV or Parquet, as plain rows.

CSV is text: no column's type is ever guessed, or an id would become a date.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.store import clock, strict

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ("records", "csv", "parquet")
Row = dict[str, Any]


def format_of(path: Path) -> str:
    """Return the format that a file's name says: ``csv``, ``parquet``, else ``records`` (JSONL or JSON)."""
    return {".csv": "csv", ".parquet": "parquet"}.get(path.suffix.lower(), "records")


def read(path: Path, format: str | None = None) -> tuple[Row, ...]:  # noqa: A002 - as its option is named
    """Return the rows of a file in their order, each a JSON object.

    Args:
        path: the file; it may lie anywhere.
        format: one of `FORMATS`; by default what the name says.

    Raises:
        Refusal: the file cannot be read, or rows are not what the format promises, by their numbers.
    """
    kind = format or format_of(path)
    data = strict.read_bytes(path)
    if kind == "csv":
        return read_csv(data, path)
    made = _read_parquet(data, path) if kind == "parquet" else _read_records(data, path)
    deep = [
        f"{path}: record {at}: nested deeper than {strict.DEPTH}"
        for at, row in enumerate(made, 1)
        if _deep(row)
    ]
    if deep:  # what is read today must be readable from any stack tomorrow
        raise Refusal("too-deep", f"{path} holds records that are nested too deeply", why=deep)
    return made


def read_csv(data: bytes, place: object) -> tuple[Row, ...]:
    """Return the rows of a CSV file with a header; every value is text.

    Raises:
        Refusal: no header, doubled or empty column names, rows of another width, quotes that do not close.
    """
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(strict.decode(data, place), newline=""), strict=True)
    rows: list[Row] = []
    reasons: list[str] = []
    try:
        header = next(reader, None)
        if header is None:
            return ()
        reasons += [f"{place}: column {at}: it has no name" for at, name in enumerate(header, 1) if not name]
        reasons += [f"{place}: the column {name!r} stands twice" for name in _doubled(header)]
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                reasons.append(f"{place}: line {reader.line_num}: {len(cells)} cells, not {len(header)}")
                continue
            rows.append(dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        reasons.append(f"{place}: line {reader.line_num}: {error}")
    if reasons:
        raise Refusal(
            "bad-csv",
            f"{place} is not CSV that evh reads",
            why=reasons,
            next="write it with a header, commas, and double quotes around cells that hold either",
        )
    return tuple(rows)


def _read_records(data: bytes, place: Path) -> tuple[Row, ...]:
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"[":
        return strict.parse_jsonl(data, place)
    rows = strict.parse_json(data, place)
    wrong = [
        f"{place}: record {at}: not a JSON object"
        for at, row in enumerate(rows, 1)
        if not isinstance(row, dict)
    ]
    if wrong:
        raise Refusal("bad-json", f"{place} holds records that are not JSON objects", why=wrong)
    return tuple(rows)


def _read_parquet(data: bytes, place: Path) -> tuple[Row, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(pa.BufferReader(data)).read()
        doubled = _doubled(table.column_names)
        if doubled:
            raise Refusal(
                "bad-parquet",
                f"{place} has columns of one name",
                why=[f"{place}: the column {name!r} stands twice" for name in doubled],
            )
        fields = [
            pa.field(field.name, pa.timestamp("us", field.type.tz)) if _nanoseconds(field.type) else field
            for field in table.schema
        ]
        rows: list[Row] = table.cast(pa.schema(fields), safe=False).to_pylist()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise Refusal(
            "bad-parquet", f"{place} is not a Parquet file that evh reads", why=[f"{place}: {error}"]
        ) from error
    reasons: list[str] = []
    made = tuple(
        {key: _plain(value, f"{place}: record {at}: {key}", reasons) for key, value in row.items()}
        for at, row in enumerate(rows, 1)
    )
    if reasons:
        raise Refusal("bad-parquet", f"{place} holds values that JSON has no form for", why=reasons)
    return made


def _deep(row: Row) -> bool:
    level: list[object] = [row]
    for _ in range(strict.DEPTH):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def _nanoseconds(kind: Any) -> bool:  # noqa: ANN401 - an Arrow type
    return str(kind).startswith("timestamp[ns")


def _plain(value: object, place: str, reasons: list[str]) -> object:
    """Return a value of a Parquet cell as JSON has it; a time is text in UTC."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        reasons.append(f"{place}: {value} is not a JSON number; write null")
    elif isinstance(value, datetime):
        return clock.precise(clock.parse_time(value.isoformat(), place))
    elif isinstance(value, date | time):
        return value.isoformat()
    elif isinstance(value, Decimal):
        return str(value)
    elif isinstance(value, dict):
        return {str(key): _plain(one, f"{place}.{key}", reasons) for key, one in value.items()}
    elif isinstance(value, list | tuple):
        return [_plain(one, place, reasons) for one in value]
    else:
        reasons.append(f"{place}: {type(value).__name__} has no form in JSON")
    return None


def _doubled(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
