"""``evh sql``: one SELECT over the project's tables."""

from __future__ import annotations

import csv
import io
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.cli.table import table
from evh.errors import Refusal
from evh.store import atomic
from evh.store.text import clean, one_line, plural

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh_build.query_process import Reply

TABLE_ROWS = 1_000
"""How many rows a table shows; people read no more."""
JSON_ROWS = 1_000_000
CSV_CHARACTERS = 1_000_000


@click.argument("query", required=False)
@click.option("--tables", is_flag=True, help="List the tables and their columns.")
@click.option("--csv", "as_csv", is_flag=True, help="CSV on stdout, cells as they are.")
@click.option("--parquet", type=click.Path(path_type=Path), metavar="FILE", help="Write a new Parquet file.")
@click.option("--seconds", type=float, default=30.0, show_default=True, help="Stop the query after so long.")
@common.command("sql", example='evh sql "SELECT dataset_id, n_items FROM datasets ORDER BY n_items DESC"')
def sql(
    query: str | None, *, tables: bool, as_csv: bool, parquet: Path | None, seconds: float, as_json: bool
) -> None:
    """Query the project's tables with one SELECT.

    The tables are read-only views of data/; the query opens no file and writes none.
    """
    project = common.project()
    if tables:
        _list_tables(as_json=as_json)
        return
    if query is None:
        raise click.UsageError('give a query, such as evh sql "SELECT * FROM datasets", or --tables')
    if sum([as_json, as_csv, parquet is not None]) > 1:
        raise click.UsageError("choose one of --json, --csv and --parquet")
    from evh_build.query_process import ask

    if parquet is not None:
        _check_new(project, parquet)
    with ask(project, query, seconds=seconds, parquet=parquet is not None) as reply:
        notes = [f"left out: {one.what}" for one in reply.head.problems]
        if as_json:
            _emit(reply, notes)
            return
        if as_csv:
            _csv(reply)
        elif parquet is not None:
            _write(parquet, reply.file())
            common.say(f"{plural(reply.head.n_rows, 'row')} in {parquet}")
        else:
            _table(reply)
    common.warn(notes)


def _list_tables(*, as_json: bool) -> None:
    from evh_build.tables import COLUMNS

    if as_json:
        rows = [
            {"table": noun, "columns": [{"name": name, "type": kind} for name, kind in columns.items()]}
            for noun, columns in COLUMNS.items()
        ]
        common.emit("sql", "tables", rows)
        return
    table(["table", "columns"], [[noun, ", ".join(columns)] for noun, columns in COLUMNS.items()])
    common.next_steps(['evh sql "SELECT * FROM runs"'])


def _table(reply: Reply) -> None:
    columns, n_rows = reply.head.columns, reply.head.n_rows
    table(
        [one_line(one.name) for one in columns],
        [[_plain(value) for value in row] for row in islice(reply.rows, TABLE_ROWS)],
        right=[at for at, one in enumerate(columns) if _is_number(one.type)],
    )
    click.echo(plural(n_rows, "row"), err=True)
    if n_rows > TABLE_ROWS:
        common.warn([f"the first {TABLE_ROWS:,} are shown; --csv and --parquet have all"])


def _emit(reply: Reply, notes: list[str]) -> None:
    names = [one.name for one in reply.head.columns]
    if reply.head.n_rows > JSON_ROWS:
        raise Refusal(
            "too-large",
            f"{plural(reply.head.n_rows, 'row')} are too many for one JSON document",
            why=[f"it has up to {JSON_ROWS:,}"],
            next="take --csv or --parquet FILE, or ask for less",
        )
    common.emit(
        "sql",
        "rows",
        [{name: _json(value) for name, value in zip(names, row, strict=True)} for row in reply.rows],
        columns=[{"name": one.name, "type": one.type} for one in reply.head.columns],
        warnings=notes,
    )


def _csv(reply: Reply) -> None:
    """Print rows as they come: cells as they are, but on a terminal without what would move its cursor."""
    shown = clean if sys.stdout.isatty() else str
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([shown(one.name) for one in reply.head.columns])
    for row in reply.rows:
        cells = ["" if value is None else _plain(value) for value in row]
        writer.writerow([shown(cell) if isinstance(cell, str) else cell for cell in cells])
        if sink.tell() > CSV_CHARACTERS:
            click.echo(sink.getvalue(), nl=False, color=True)  # else click takes escapes out of a pipe
            sink.seek(0)
            sink.truncate()
    click.echo(sink.getvalue(), nl=False, color=True)


def _check_new(project: Project, path: Path) -> None:
    place = path.resolve()
    if place.is_relative_to(project.data.resolve()):
        raise Refusal("bad-out", f"{path} lies in data/", why=[f"{path}: evh sql writes nothing there"])
    if path.exists():
        raise Refusal("existing-file", f"{path} is there already", why=[f"{path}: it is not overwritten"])


def _write(path: Path, data: bytes) -> None:
    try:
        atomic.write_new_file(path.absolute(), data)
    except FileExistsError:
        raise Refusal(
            "existing-file", f"{path} is there already", why=[f"{path}: it is not overwritten"]
        ) from None


def _plain(value: Any) -> object:  # noqa: ANN401 - any value that DuckDB gives
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _json(value: Any) -> object:  # noqa: ANN401 - any value that DuckDB gives
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - NaN
        return str(value)
    if isinstance(value, list | tuple):
        return [_json(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _json(one) for key, one in value.items()}
    return _plain(value)


def _is_number(kind: str) -> bool:
    return kind.upper().startswith(
        ("BIGINT", "INT", "DOUBLE", "FLOAT", "HUGEINT", "UBIGINT", "DECIMAL", "NUMBER")
    )
