"""``evh sql``: one SELECT over the project's tables."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.cli.table import table
from evh.errors import Refusal
from evh.store import atomic
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh_build.query import Answer


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
    from evh_build.gather import Gathered
    from evh_build.query import select

    if parquet is not None:
        _check_new(project, parquet)
    gathered = Gathered(project)
    answer = select(gathered, query, seconds=seconds)
    notes = [f"left out: {one.what}" for one in gathered.problems]
    if as_json:
        _emit(answer, notes)
        return
    if as_csv:
        click.echo(_csv(answer), nl=False)
    elif parquet is not None:
        _write(parquet, answer)
        common.say(f"{plural(len(answer.rows), 'row')} in {parquet}")
    else:
        numbers = [at for at, one in enumerate(answer.columns) if _is_number(one.type)]
        table(
            [one.name for one in answer.columns],
            [[_plain(v) for v in row] for row in answer.rows],
            right=numbers,
        )
        click.echo(plural(len(answer.rows), "row"), err=True)
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


def _emit(answer: Answer, notes: list[str]) -> None:
    names = [one.name for one in answer.columns]
    common.emit(
        "sql",
        "rows",
        [{name: _json(value) for name, value in zip(names, row, strict=True)} for row in answer.rows],
        columns=[{"name": one.name, "type": one.type} for one in answer.columns],
        warnings=notes,
    )


def _csv(answer: Answer) -> str:
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow([one.name for one in answer.columns])
    writer.writerows([["" if value is None else _plain(value) for value in row] for row in answer.rows])
    return made.getvalue()


def _check_new(project: Project, path: Path) -> None:
    place = path.resolve()
    if place.is_relative_to(project.data.resolve()):
        raise Refusal("bad-out", f"{path} lies in data/", why=[f"{path}: evh sql writes nothing there"])
    if path.exists():
        raise Refusal("existing-file", f"{path} is there already", why=[f"{path}: it is not overwritten"])


def _write(path: Path, answer: Answer) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(answer.table, sink, compression="zstd")
    try:
        atomic.write_new_file(path.absolute(), sink.getvalue().to_pybytes())
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
