"""A sheet to label as a file: CSV or a workbook, by the name's ending; both are read back by one reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store import spreadsheet, xlsx

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

SUFFIXES = (".csv", ".xlsx")
RESERVED = ("item_id", "item_sha256", "item", "proposal", "label", "also right", "note")
"""The heads that import reads; a field of such a name gets another (`free_head`)."""

_WIDTHS = {"item": 70, "item_id": 18, "note": 30}


@dataclass(frozen=True, slots=True)
class Table:
    """What a sheet to label shows.

    Attributes:
        heads: one name a column; the labelled one is ``label``, its choices are added when it is written.
        rows: one value a column and row; None is empty.
        choices: the only labels allowed, or none for any.
        guideline: ``{text, sha256}`` of what to label by, or None.
        marks: what may stand for a choice, as the letters of a blind sheet: a drop-down offers them first.
    """

    heads: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    choices: tuple[str, ...] = ()
    guideline: Mapping[str, object] | None = None
    marks: tuple[str, ...] = ()


def dump(path: Path, table: Table) -> bytes:
    """Return the file's bytes: a workbook for ``.xlsx``, else CSV; the same table gives the same bytes."""
    if path.suffix.lower() == ".xlsx":
        guideline = table.guideline
        return xlsx.dump(
            [_column(head, table.choices, table.marks) for head in table.heads],
            table.rows,
            xlsx.Guideline(str(guideline["text"]), str(guideline["sha256"])) if guideline else None,
        )
    rows = list(table.rows)
    if table.guideline is not None:
        told = spreadsheet.shorten(str(table.guideline["text"]))
        first: list[object] = [spreadsheet.GUIDELINE_ROW, table.guideline["sha256"], told]
        rows.insert(0, first + [None] * (len(table.heads) - len(first)))
    return spreadsheet.write_rows([label_head(table.choices, head) for head in table.heads], rows)


def label_head(choices: Sequence[str], head: str = "label") -> str:
    """Return a column's head: that of the labels names the choices, ``label (a|b)``."""
    return f"label ({spreadsheet.join_bars(choices)})" if head == "label" and choices else head


def free_head(name: str, reserved: Iterable[str] = ()) -> str:
    """Return a field's head: its name, or ``field …`` where that would be read as a column of our own."""
    plain = name.strip().casefold()
    taken = plain in RESERVED or plain.startswith("label (") or plain in {one.casefold() for one in reserved}
    return f"field {name}" if taken else name


def refuse_suffix(path: Path) -> list[str]:
    """Return the reason why a sheet cannot have this name, or none."""
    if path.suffix.lower() in SUFFIXES:
        return []
    return [f"{path}: the sheet's name ends in {' or '.join(SUFFIXES)}"]


def exists(path: Path, free: str) -> Refusal:
    """Return the Refusal for a sheet that is there already; ``free`` is a name that is not taken."""
    return Refusal(
        "existing-file",
        f"{path} is there already",
        why=[f"{path}: somebody may have filled it"],
        next=f"choose another --out, such as {free}, or move the sheet and its key away",
    )


def _column(head: str, choices: tuple[str, ...], marks: tuple[str, ...]) -> xlsx.Column:
    return xlsx.Column(
        label_head(choices, head),
        width=_WIDTHS.get(head, 18),
        hidden=head == "item_sha256",
        choices=(*marks, *choices) if head == "label" and choices else (),
    )
