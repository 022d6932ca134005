"""Reading a workbook (.xlsx) that somebody filled in: what its cells say, and which are no text any more."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store.hashing import sha256_text
from evh.store.spreadsheet import GUIDELINE_ROW, Merged, Row, Sheet
from evh.store.text import plural
from evh.store.workbook_cells import OLD, worksheets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.store.workbook_cells import Worksheet

_ENDS = 4
_TOLD = 10_000


def is_workbook(data: bytes) -> bool:
    """Tell whether bytes are a zip archive or an old Office file: no text in any case."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06", OLD))


def read(data: bytes, place: object) -> Sheet:
    """Return the sheet of a workbook that has a column ``item_id``, else its first.

    A cell that is not text is noted in `Row.typed`: a number, a date, a truth value, an error or a formula.
    A sheet ``guideline`` as `xlsx.dump` writes it becomes a row ``#guideline``. Macros, links and pictures
    are never looked at.

    Args:
        data: the file's bytes.
        place: names the file in a Refusal.

    Raises:
        Refusal: another kind of file, one that unpacks to more than is sane, cells beyond `MOST_CELLS`.

    Cost: two passes over the file; about 25 s and 1 GB for a million cells.
    """
    found = worksheets(data, place)
    made = _sheet(_chosen(found), place)
    guideline = _guideline(found, made.header)
    if guideline is None:
        return made
    return replace(made, rows=(guideline, *made.rows))


def _chosen(found: Sequence[Worksheet]) -> Worksheet:
    """Return the first sheet whose header has ``item_id``, else the first."""
    for one in found:
        header = next((row for row in one.rows if any(str(cell).strip() for cell in row)), [])
        if any(str(cell).strip().casefold() == "item_id" for cell in header):
            return one
    return found[0]


def _sheet(cells: Worksheet, place: object) -> Sheet:
    header: tuple[str, ...] | None = None
    below = 0
    made: list[Row] = []
    reasons = []
    for number, row in enumerate(cells.rows, start=1):
        texts = [cells.errors.get((number, at), _text(value)) for at, value in enumerate(row, start=1)]
        if not any(text.strip() for text in texts):
            continue
        if header is None:
            header, below = tuple(text.strip() for text in texts), number
            while header and not header[-1]:
                header = header[:-1]
            continue
        if any(text.strip() for text in texts[len(header) :]):
            reasons.append(f"{place}: row {number}: it has more cells than the header")
        named: dict[str, str] = {}
        typed: dict[str, str] = {}
        for at, (name, text) in enumerate(zip(header, texts, strict=False), start=1):
            if name not in named:
                named[name] = text
                kind = cells.kinds.get((number, at)) or _kind(row[at - 1])
                if kind:
                    typed[name] = kind
        made.append(Row(number, {**dict.fromkeys(header, ""), **named}, typed=typed))
    if header is None:
        reasons.append(f"{place}: it is empty: the first row names the columns")
    if reasons:
        raise Refusal("bad-sheet", f"{place} cannot be read as a sheet", why=reasons)
    n_formulas = sum(kind == "formula" for kind in cells.kinds.values())
    told = f"{place}: {plural(n_formulas, 'cell')} with a formula: what it last showed is read"
    merged = (
        Merged(head, max(one.top, below + 1), one.bottom)
        for one in cells.merged
        for head in (header or ())[one.left - 1 : one.right]
        if one.bottom > below
    )
    warnings = (told,) if n_formulas else ()
    told_merged = tuple(islice(merged, _TOLD))
    return Sheet(header or (), tuple(made), guarded=False, warnings=warnings, merged=told_merged)


def _kind(value: object) -> str | None:
    """Return what a cell is that is not text."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, dt.datetime | dt.date):
        return "date"
    return "time" if isinstance(value, dt.time | dt.timedelta) else None


def _text(value: object) -> str:
    """Return a cell's value as its spreadsheet shows it, as near as can be told."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return "" if value is None else str(value)


def _guideline(found: Sequence[Worksheet], header: Sequence[str]) -> Row | None:
    """Return the guideline's sheet as the row that a CSV file has of it."""
    for cells in (one.rows for one in found):
        if cells and cells[0] and str(cells[0][0]).strip() == GUIDELINE_ROW:
            digest = _text(cells[0][1]) if len(cells[0]) > 1 else ""
            lines = "\n".join(_text(row[0]) if row else "" for row in cells[1:])
            ends = (lines + "\n" * n for n in range(_ENDS))  # empty lines at the end are no cells
            text = next((one for one in ends if sha256_text(one) == digest.strip()), lines)
            told = {"item_id": GUIDELINE_ROW, "item_sha256": digest, "item": text}
            return Row(1, {head: told.get(head.casefold(), "") for head in header})
    return None
