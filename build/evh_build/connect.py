"""One DuckDB over the project that opens no file itself and writes none.

External access, extension installs and replacement scans are off, and the configuration is locked: a query
sees the registered relations and nothing else of the machine. Text records come as Arrow tables from the
strict readers that every command uses; Parquet records as datasets that are scanned lazily.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.dataset as pads
from pyarrow import fs

from evh_build import arrow, tables
from evh_build.question import spill

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evh_build.gather import Gathered

VIEWS = Path(__file__).with_name("views")
ANSWER_OF = Path(__file__).with_name("answer_of.sql")
"""What a label answers, for labels that lie in Parquet; of the others `evh.records.answers.shown` says it."""
MEMORY = "1GB"
SPILL = "8GB"
THREADS = 2
NOUNS = tuple(tables.COLUMNS)


class Database:
    """The project's tables. ``SELECT`` is all that it is good for.

    Args:
        gathered: the project's records.
        nouns: the views that will be read; the relations of the others are there but empty, so that a query
            about label sets does not read every prediction. All of them by default.
    """

    def __init__(self, gathered: Gathered, nouns: Collection[str] = NOUNS) -> None:
        self.connection = closed(spill(gathered.project, os.getpid()))
        wanted = needed(nouns)
        for noun in tables.COLUMNS:
            table = arrow.table(noun, gathered) if noun in wanted else arrow.empty(noun)
            self.connection.register(f"{noun}_json", table)
        for noun, (owner, columns) in tables.PARQUET.items():
            files = tables.files(noun, gathered) if noun in wanted else []
            self.connection.register(f"{noun}_parquet", _dataset(files, owner, columns))
        self.connection.execute(ANSWER_OF.read_text(encoding="utf-8"))
        for noun in NOUNS:
            text = (VIEWS / f"{noun}.sql").read_text(encoding="utf-8")
            self.connection.execute(f"CREATE VIEW {noun} AS {text}")
        self.connection.execute("SET lock_configuration = true")

    def rows(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Return the rows of a query; ``$name`` in it stands for a parameter."""
        cursor = self.connection.execute(sql, parameters)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def needed(nouns: Collection[str]) -> set[str]:
    """Return the relations that views read: their own, and those of other nouns."""
    return {need for noun in nouns for need in tables.NEEDS.get(noun, (noun,))}


def closed(spill: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Return a connection with no tables that reaches nothing outside; its configuration is not yet locked.

    Even looking at a query needs one: naming its tables binds its functions, and those would open files.
    """
    connection = duckdb.connect(
        ":memory:",
        config={
            "enable_external_access": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "temp_directory": str(spill or ""),
            "max_temp_directory_size": SPILL,
            "memory_limit": MEMORY,
            "threads": str(THREADS),
        },
    )
    for setting in ("python_enable_replacements", "python_scan_all_frames"):
        connection.execute(f"SET {setting} = false")
    return connection


def _dataset(files: list[tuple[str, Path]], owner: str, columns: Mapping[str, str]) -> pads.Dataset:
    """Return the Parquet files as one dataset; ``owner`` is a column that tells which record a row is of."""
    form, system = pads.ParquetFileFormat(), fs.LocalFileSystem()
    fragments = [
        form.make_fragment(str(path), filesystem=system, partition_expression=pads.field(owner) == name)
        for name, path in files
    ]
    return pads.FileSystemDataset(fragments, arrow.schema({**columns, owner: "text"}), form, system)
