"""The sheet as a CSV file for spreadsheets: every row that is shown, every score, and the footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.sheet_table import table
from evh.errors import Refusal
from evh.store import atomic, spreadsheet

if TYPE_CHECKING:
    from pathlib import Path

    from evh.acts.sheet_model import Sheet
    from evh.project.find import Project


def dump(sheet: Sheet, *, scores_only: bool = False) -> bytes:
    """Return the sheet's bytes as CSV: UTF-8 with BOM, cells that no spreadsheet runs.

    One row an item, then the footer over the whole dataset: ``#mean``, ``#win rate`` and, where they were
    asked for, ``#verdict``; where an arm ran several times ``#repeats``, ``#lowest repeat`` and ``#highest
    repeat``. A text longer than a cell is shortened and marked.

    Args:
        sheet: the sheet.
        scores_only: leave the arms' outputs out.
    """
    made = table(sheet, scores_only=scores_only)
    return spreadsheet.write_rows(made.heads, [*made.rows, *made.footer])


def plan_write(project: Project, path: Path) -> None:
    """Refuse a place that a sheet must not be written to: an existing file, or the data folder.

    Raises:
        Refusal: the file is there already, or it lies under ``data/``.
    """
    if path.exists():
        raise Refusal(
            "existing-file",
            f"there is a file {path} already",
            why=[f"{path}: it may hold what somebody filled in"],
            next="name another file, or remove that one",
        )
    if path.resolve().is_relative_to(project.data.resolve()):
        raise Refusal(
            "in-data",
            "a sheet is not a record",
            why=[f"{path}: it lies under {project.show(project.data)}/, which holds records only"],
            next="name a file outside of it",
        )


def write(path: Path, data: bytes) -> None:
    """Write the sheet's bytes, all or nothing.

    Raises:
        Refusal: somebody made a file there in the meantime, or the disk refuses.
    """
    try:
        atomic.write_new_file(path, data)
    except FileExistsError:
        raise Refusal("existing-file", f"there is a file {path} already", why=[str(path)]) from None
