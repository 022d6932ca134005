"""One SELECT of a user's over the project's tables. What it may use of the machine is `query_process`'s."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from evh.errors import Refusal
from evh_build.connect import NOUNS, Database, closed, needed
from evh_build.question import Column, too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evh_build.gather import Gathered

BATCH = 1_000
_NESTED = 20
"""How deeply lists and structs may nest before the whole value becomes text."""

_NUMBERS = (
    "boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint",
    "float", "double", "varchar",
)  # fmt: skip
ROWS: Mapping[str, str] = {name: name for name in _NUMBERS}
"""Rows for people, CSV and JSON: DuckDB's types that are values of Python as they are; others become text.

DuckDB's dates reach the year 294247, and its times the nanosecond: Python and JSON have neither.
"""
PARQUET: Mapping[str, str] = {
    **ROWS,
    **{one: one for one in ("date", "time", "timestamp", "timestamp_ms", "timestamp_ns", "blob")},
    "timestamp with time zone": "timestamp with time zone",
    "hugeint": "decimal(38, 0)",
}
"""Types that a Parquet file holds as they are, and what it has for a sum of whole numbers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave, as Arrow: its types are those that were asked for, `Column.type` the query's own."""

    columns: tuple[Column, ...]
    table: pa.Table

    def batches(self) -> Iterator[list[tuple[Any, ...]]]:
        """Give the rows as plain values, up to `BATCH` at a time."""
        huge = [one.type in ("HUGEINT", "UHUGEINT") for one in self.columns]
        for batch in self.table.to_batches(max_chunksize=BATCH):
            columns = [column.to_pylist() for column in batch.columns]
            for at, values in enumerate(columns):
                if huge[at]:
                    columns[at] = [value if value is None else int(value) for value in values]
            yield list(zip(*columns, strict=True))

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """All rows, as plain values."""
        return tuple(row for batch in self.batches() for row in batch)

    def parquet(self) -> bytes:
        """Return the bytes of a Parquet file of the answer."""
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        try:
            pq.write_table(self.table, sink, compression="zstd")
        except pa.ArrowException as error:
            raise _bad("the answer does not fit a Parquet file", error) from error
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def select(
    gathered: Gathered,
    sql: str,
    *,
    types: Mapping[str, str] = ROWS,
    limited: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Answer:
    """Return the answer to one SELECT.

    Args:
        gathered: the project's records.
        sql: the query.
        types: the types that stay as they are, `ROWS` or `PARQUET`.
        limited: is around all that DuckDB does with the query, not around the reading of the records.

    Raises:
        Refusal: it is not exactly one SELECT, does not run, or needs more memory than there is.
    """
    with limited():
        check(sql)
        nouns = _nouns(sql)
    database = Database(gathered, nouns)
    try:
        with limited():
            return _run(database, sql, types)
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise too_large() from error
    except (duckdb.Error, pa.ArrowException) as error:
        raise _bad("the query does not run", error) from error
    finally:
        database.close()


def check(sql: str) -> None:
    """Raise a Refusal unless ``sql`` is exactly one statement that reads."""
    try:
        with closed() as connection:
            statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise _bad("the query cannot be parsed", error) from error
    kinds = [statement.type.name for statement in statements]
    if kinds != ["SELECT"]:
        found = ", ".join(kinds) or "nothing"
        raise Refusal(
            "not-a-select",
            "evh sql runs exactly one SELECT",
            why=[f"the text holds: {found}"],
            next='evh sql "SELECT …"; the tables are read-only and no file is opened',
        )


def unique(names: list[str]) -> list[str]:
    """Return column names without repeats: a second ``n`` is ``n_2``."""
    made: list[str] = []
    for name in names:
        taken, number = name, 1
        while taken in made:
            number += 1
            taken = f"{name}_{number}"
        made.append(taken)
    return made


def _run(database: Database, sql: str, types: Mapping[str, str]) -> Answer:
    found = database.connection.sql(sql)
    names = unique(list(found.columns))
    columns = tuple(Column(name, str(kind)) for name, kind in zip(names, found.types, strict=True))
    cast = [f"CAST(#{at} AS {_told_as(kind, types)}) AS c{at}" for at, kind in enumerate(found.types, 1)]
    table = found.project(", ".join(cast)).to_arrow_table()
    return Answer(columns, table.rename_columns(names))


def _told_as(kind: Any, types: Mapping[str, str], depth: int = 0) -> str:  # noqa: ANN401 - DuckDB 1 and 2 differ
    """Return the SQL type that a value of DuckDB's type ``kind`` is cast to."""
    name = kind.id
    if name in types:
        return types[name]
    if name == "decimal" and types is PARQUET:
        return str(kind)
    if name not in ("list", "array", "struct", "map") or depth == _NESTED:
        return "varchar"
    parts = dict(kind.children)
    if name in ("list", "array"):
        return f"{_told_as(parts['child'], types, depth + 1)}[]"
    if not parts or "" in parts:  # a struct without names
        return "varchar"
    inner = {part: _told_as(one, types, depth + 1) for part, one in parts.items()}
    if name == "map":
        return f"map({inner['key']}, {inner['value']})"
    fields = ", ".join('"{}" {}'.format(part.replace('"', '""'), one) for part, one in inner.items())
    return f"struct({fields})"


def _bad(what: str, error: Exception) -> Refusal:
    reason = " ".join(str(error).split("\n\nLINE")[0].split())
    return Refusal("bad-sql", what, why=[reason], next="evh sql --tables")


@functools.cache
def read_by(sql: str) -> tuple[str, ...]:
    """Return the nouns whose relations one of a page's own queries reads, in their order."""
    wanted = needed(_nouns(sql))
    return tuple(noun for noun in NOUNS if noun in wanted)


def _nouns(sql: str) -> tuple[str, ...]:
    """Return the views that a query reads; all of them where it may name one in a way that cannot be seen."""
    if "query" in sql.lower():  # query() and query_table() take names as texts
        return NOUNS
    try:
        with closed() as connection:
            named = {name.lower() for name in connection.get_table_names(sql)}
    except duckdb.Error:  # without columns to bind, USING and NATURAL JOIN do not tell their tables
        return NOUNS
    direct = {name.removesuffix("_json").removesuffix("_parquet") for name in named}
    return tuple(noun for noun in NOUNS if noun in direct)
