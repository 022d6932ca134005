"""What the tests of `sheet-import` share: a sheet to fill in, the words to import it, edits of its cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.conftest import CommandLine

PICKS, SCORES = "judge_won_unvalidated", "judge_score_unvalidated"


def sheet(evh: CommandLine, path: Path, *fills: str, more: tuple[str | Path, ...] = ()) -> Path:
    """Write a sheet of ``d`` to fill in."""
    words = [word for one in fills for word in ("--fill", one)]
    evh.ok("inspect", "--sheet", "--dataset-id", "d", f"--{path.suffix[1:]}", path, *words, *more)
    return path


def words(path: Path, *more: str | Path) -> tuple[str | Path, ...]:
    """Return the words that import a sheet of ``d``."""
    return ("sheet-import", path, "--dataset-id", "d", "--by", "ann", *more)


def retyped(item: str, column: str, text: str) -> Callable[[list[list[str]]], None]:
    """Return the edit of one cell, by its item and its column."""

    def edit(rows: list[list[str]]) -> None:
        row = next(row for row in rows if row[0] == item)
        row[rows[0].index(column)] = text

    return edit


def added(*cells: str) -> Callable[[list[list[str]]], None]:
    """Return the edit that adds a row."""

    def edit(rows: list[list[str]]) -> None:
        rows.append([*cells, *[""] * (len(rows[0]) - len(cells))])

    return edit
