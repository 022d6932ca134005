"""One SELECT of a user's over the project's tables, with a time limit."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from evh.errors import Refusal
from evh_build.connect import NOUNS, Database, closed

if TYPE_CHECKING:
    import pyarrow as pa

    from evh_build.gather import Gathered

SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer: its name, unique in the answer, and DuckDB's name of its type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave. ``rows`` are plain values; ``table`` is the same as Arrow."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    table: pa.Table


def select(gathered: Gathered, sql: str, *, seconds: float = SECONDS) -> Answer:
    """Return the answer to one SELECT.

    Args:
        gathered: the project's records.
        sql: the query.
        seconds: after so long it is stopped.

    Raises:
        Refusal: it is not exactly one SELECT, does not run, or takes longer.
    """
    check(sql)
    database = Database(gathered, _nouns(sql))
    late = threading.Event()

    def stop() -> None:
        late.set()
        database.connection.interrupt()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        found = database.connection.sql(sql)
        described = list(zip(found.columns, map(str, found.types), strict=True))
        table: pa.Table = found.to_arrow_table()
    except duckdb.Error as error:
        if late.is_set():
            raise Refusal(
                "too-slow",
                f"the query was stopped after {seconds:g} seconds",
                why=["it was still running"],
                next="ask for less, or allow more with --seconds",
            ) from error
        raise Refusal(
            "bad-sql",
            "the query does not run",
            why=[" ".join(str(error).split("\n\nLINE")[0].split())],
            next="evh sql --tables",
        ) from error
    finally:
        timer.cancel()
        database.close()
    names = unique([name for name, _ in described])
    table = table.rename_columns(names)
    columns = tuple(Column(name, kind) for name, (_, kind) in zip(names, described, strict=True))
    return Answer(columns, tuple(zip(*(column.to_pylist() for column in table.columns), strict=True)), table)


def check(sql: str) -> None:
    """Raise a Refusal unless ``sql`` is exactly one statement that reads."""
    try:
        with closed() as connection:
            statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise Refusal(
            "bad-sql",
            "the query cannot be parsed",
            why=[" ".join(str(error).split("\n\nLINE")[0].split())],
            next="evh sql --tables",
        ) from error
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


def _nouns(sql: str) -> tuple[str, ...]:
    """Return the views that a query reads; all of them where it may name one in a way that cannot be seen."""
    if "query" in sql.lower():  # query() and query_table() take names as texts
        return NOUNS
    try:
        with closed() as connection:
            named = {name.lower() for name in connection.get_table_names(sql)}
    except duckdb.Error:  # it will be told when the query itself fails
        return ()
    direct = {name.removesuffix("_json").removesuffix("_parquet") for name in named}
    return tuple(noun for noun in NOUNS if noun in direct)
