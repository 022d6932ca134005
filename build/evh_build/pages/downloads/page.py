"""The tables to take away: each as CSV and Parquet, with what every column means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.downloads import SCHEMA, TABLES, Column, csv_bytes, parquet_bytes, schema_bytes
from evh_build.page import Crumb, File, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as the page offers it: its anchor, what a row is, how many there are, columns, both files."""

    name: str
    title: str
    row: str
    n: int
    columns: tuple[Column, ...]
    csv: str
    parquet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The page of downloads.

    Attributes:
        tables: the tables.
        schema: the path of the file that describes them for programs.
    """

    tables: tuple[TableView, ...]
    schema: str


def make(source: Source) -> Iterator[Leaf | File]:
    """Give the files and the page that lists them."""
    views = []
    counts = {}
    for table in TABLES:
        rows = list(table.rows(source.gathered))
        told = repr((table.columns, rows))
        counts[table.name] = len(rows)
        yield File(table.csv_path, told, partial(csv_bytes, table, rows))
        yield File(table.parquet_path, told, partial(parquet_bytes, table, rows))
        views.append(
            TableView(
                name=table.name,
                title=table.title,
                row=table.row,
                n=len(rows),
                columns=table.columns,
                csv=table.csv_path,
                parquet=table.parquet_path,
            )
        )
    yield File(SCHEMA, repr((counts, [table.columns for table in TABLES])), partial(schema_bytes, counts))
    yield Leaf(
        urls.DOWNLOADS,
        Context(
            title="Downloads",
            section="downloads",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("any other table, by a query", "sql", "SELECT * FROM runs", "--csv"),
                command("what can be asked", "sql", "--tables"),
            ),
            tables=tuple(views),
            schema=SCHEMA,
        ),
    )


PAGE = Page("downloads", Context, make)
