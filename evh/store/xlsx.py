"""Writing a workbook for people to fill in: only text and numbers, a drop-down, never a formula."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.store.spreadsheet import GUIDELINE_ROW, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

SHEET, GUIDELINE, CHOICES = "labels", "guideline", "choices"
"""The names of the workbook's sheets; the last holds the drop-down's choices and is hidden."""

_EXACT = 2**53
_LINE, _MOST_LINES = 15.0, 12
_TOLD = 255


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a workbook.

    Attributes:
        head: what its first row says.
        width: in characters.
        hidden: whether it is there and not shown.
        choices: where not empty, the cells offer these and accept nothing else.
    """

    head: str
    width: int = 16
    hidden: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guideline:
    """A guideline that gets a sheet of its own: its text and the sha256 of its bytes."""

    text: str
    sha256: str


def dump(
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    guideline: Guideline | None = None,
    *,
    name: str = SHEET,
) -> bytes:
    """Return a workbook whose first sheet holds ``rows`` under a header that stays in place.

    The same arguments give the same bytes. Texts are written as they are, in the cell format *text*: a
    spreadsheet neither runs them nor takes what people type there for a number or a date.

    Args:
        columns: one a column.
        rows: one value a column; None is an empty cell. A text longer than a cell is shortened.
        guideline: what to label by; each of its lines is a row of the sheet ``guideline``.
        name: of the first sheet.
    """
    import datetime as dt
    import io

    import xlsxwriter

    out = io.BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "nan_inf_to_errors": False,
    }
    book = xlsxwriter.Workbook(out, options)
    book.set_properties({"created": dt.datetime(2000, 1, 1)})  # noqa: DTZ001 - the format has no zone
    head = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1, "num_format": "@"})
    text = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 1)
    for at, column in enumerate(columns):
        sheet.set_column(at, at, column.width, text, {"hidden": column.hidden})
        sheet.write_string(0, at, _fitting(column.head), head)
    for number, row in enumerate(rows, start=1):
        sheet.set_row(number, _height(columns, row))
        for at, value in enumerate(row):
            _write(sheet, number, at, value, text)
    if rows and columns:
        sheet.autofilter(0, 0, len(rows), len(columns) - 1)
    if guideline is not None:
        _write_guideline(book, guideline, text)
    _offer(book, sheet, columns, len(rows))
    book.close()
    return out.getvalue()


def _fitting(value: str) -> str:
    """Return a text as a cell can hold it: the two non-characters have no place in XML."""
    return shorten(
        value.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd").encode("utf-8", "replace").decode()
    )


def _write(sheet: Any, row: int, column: int, value: object, text: Any) -> None:  # noqa: ANN401 - untyped package
    if isinstance(value, bool):  # as a CSV file has it: a truth value becomes a formula in some spreadsheets
        sheet.write_string(row, column, "true" if value else "false", text)
    elif isinstance(value, int | float) and math.isfinite(value) and abs(value) <= _EXACT:
        sheet.write_number(row, column, value)  # a number as a number: it sorts and can be filtered
    elif value is not None and str(value):
        sheet.write_string(row, column, _fitting(str(value)), text)


def _height(columns: Sequence[Column], row: Sequence[object]) -> float:
    """Return a row's height in points: every line shown, up to a limit: no text fills the screen."""
    lines = 1
    for column, value in zip(columns, row, strict=False):
        if isinstance(value, str) and not column.hidden:
            start = value[: column.width * _MOST_LINES]
            lines = max(lines, sum(1 + len(part) // column.width for part in start.split("\n")))
    return _LINE * min(lines, _MOST_LINES)


def _write_guideline(book: Any, guideline: Guideline, text: Any) -> None:  # noqa: ANN401 - untyped package
    sheet = book.add_worksheet(GUIDELINE)
    sheet.set_column(0, 0, 100, text)
    sheet.set_column(1, 1, 20, text)
    sheet.write_string(0, 0, GUIDELINE_ROW, text)
    sheet.write_string(0, 1, guideline.sha256, text)
    for number, line in enumerate(guideline.text.split("\n"), start=1):
        _write(sheet, number, 0, line, text)


def _offer(book: Any, sheet: Any, columns: Sequence[Column], n_rows: int) -> None:  # noqa: ANN401 - untyped package
    """Add the drop-downs. The choices lie in cells of their own: a list inside a rule holds no comma."""
    offered = [(at, column.choices) for at, column in enumerate(columns) if column.choices]
    if not offered or not n_rows:
        return
    held = book.add_worksheet(CHOICES)
    held.hide()
    for place, (at, choices) in enumerate(offered):
        for number, choice in enumerate(choices):
            held.write_string(number, place, choice)
        letter = chr(ord("A") + place)
        sheet.data_validation(
            1,
            at,
            n_rows,
            at,
            {
                "validate": "list",
                "source": f"={CHOICES}!${letter}$1:${letter}${len(choices)}",
                "error_title": "Not one of the choices",
                "error_message": f"Take one of: {', '.join(choices)}"[:_TOLD],
            },
        )
