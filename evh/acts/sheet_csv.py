"""The sheet as a CSV file for spreadsheets: every row that is shown, every score, and the footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.sheet_model import ScoreColumn
from evh.errors import Refusal
from evh.records.answers import shown
from evh.store import atomic, spreadsheet

if TYPE_CHECKING:
    from pathlib import Path

    from evh.acts.sheet_model import Cell, Row, Sheet
    from evh.project.find import Project

SIGNALS = ("wrong", "disagree", "split", "new", "unlabelled")


def dump(sheet: Sheet, *, scores_only: bool = False) -> bytes:
    """Return the sheet's bytes as CSV: UTF-8 with BOM, cells that no spreadsheet runs.

    One row an item, then ``#mean`` and ``#win rate`` over the whole dataset. A text longer than a cell is
    shortened and marked.

    Args:
        sheet: the sheet.
        scores_only: leave the arms' outputs out.
    """
    header = ["item_id", "item_sha256", "item", *(f"field: {name}" for name in sheet.fields)]
    for arm in sheet.arms:
        header += [] if scores_only else [f"{arm.name}: output"]
        header += [f"{arm.name}: decision", f"{arm.name}: error"]
        header += [f"{arm.name}: {title_of(column)}" for column in arm.scores]
    header += [f"label: {column.ref}" for column in sheet.labels]
    header += ["winner", *SIGNALS, "picked for"]
    rows = [_row(sheet, row, scores_only=scores_only) for row in sheet.rows]
    rows += [_footer(sheet, "#mean", scores_only=scores_only)]
    rows += [_footer(sheet, "#win rate", scores_only=scores_only)]
    return spreadsheet.write_rows(header, rows)


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


def title_of(column: ScoreColumn) -> str:
    """Return how a score column is headed: the metric and what it was scored against."""
    return f"{column.metric} ({column.against.ref})" if column.against else column.metric


def _row(sheet: Sheet, row: Row, *, scores_only: bool) -> list[object]:
    made: list[object] = [row.item_id, row.sha256, row.preview]
    made += [row.fields.get(name) for name in sheet.fields]
    for cell in row.cells:
        made += _cell(cell, scores_only=scores_only)
    made += [None if text is None else spreadsheet.shorten(shown(text)) for text in row.labels]
    signals = row.signals
    made += [" ".join(row.winners), " ".join(signals.wrong)]
    made += ["yes" if held else None for held in (signals.disagree, signals.split)]
    made += [" ".join(signals.new), "yes" if signals.unlabelled else None]
    made.append(None if row.picked is None else " ".join(row.picked.targets) or "no dataset yet")
    return made


def _cell(cell: Cell, *, scores_only: bool) -> list[object]:
    texts = [cell.decision, cell.error] if scores_only else [cell.output, cell.decision, cell.error]
    return [None if text is None else spreadsheet.shorten(text) for text in texts] + [*cell.scores]


def _footer(sheet: Sheet, name: str, *, scores_only: bool) -> list[object]:
    made: list[object] = [name, None, "over every item of the dataset", *(None for _ in sheet.fields)]
    for footer in sheet.footer:
        rate = footer.win_rate if name == "#win rate" else None
        made += [rate, None] if scores_only else [None, rate, None]
        made += [*footer.means] if name == "#mean" else [None for _ in footer.means]
    width = len(sheet.labels) + len(SIGNALS) + 2
    return [*made, *(None for _ in range(width))]
