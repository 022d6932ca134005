"""Rows that a filled sheet lacks: a file that was cut off, a random draw that was not labelled whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.store import spreadsheet
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evh.records.sheet_key import SheetKey
    from evh.store.spreadsheet import Sheet

SHOWN = 5


def thinned(key: SheetKey | None, filled: Collection[str], place: object) -> list[str]:
    """Return what tells of a random draw that was not labelled whole: what is left is no random draw.

    Args:
        key: the sheet's key, or None.
        filled: the ids of the items that were labelled.
        place: the sheet's name in a sentence.
    """
    drawn = [item_id for item_id, row in key.rows.items() if row.slice == "random"] if key else []
    left = [item_id for item_id in drawn if item_id not in filled]
    if not left or len(left) == len(drawn):
        return []
    told = f"{place}: {len(left):,} of the {plural(len(drawn), 'row')} drawn at random are not labelled: "
    return [f"{told}rates from the rest hold only if nobody chose which to leave out ({_some(left)})"]


def cut_off(sheet: Sheet, column: str, key: SheetKey | None, place: object) -> list[str]:
    """Return what tells of a sheet that was cut off: rows that are not there, rows that end early.

    Args:
        sheet: the sheet.
        column: its head of the items' ids.
        key: its key, or None.
        place: the sheet's name in a sentence.
    """
    told = []
    there = {row.cells[column] for row in sheet.rows}
    there |= {spreadsheet.unguard(item_id) for item_id in there}
    lost = [item_id for item_id in key.rows if item_id not in there] if key else []
    if key and lost:
        told.append(
            f"{place}: {len(lost):,} of {plural(len(key.rows), 'row')} of the sheet "
            f"{'is' if len(lost) == 1 else 'are'} not in the file: {_some(lost)}"
        )
    short = [str(row.number) for row in sheet.rows if row.short and not row.cells[column].startswith("#")]
    if short:
        told.append(f"{place}: {plural(len(short), 'row')} with fewer cells than the header: {_some(short)}")
    return told


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
