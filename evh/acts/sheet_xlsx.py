"""The sheet as a workbook: the same cells as its CSV file, texts as text and numbers as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.sheet_table import table
from evh.errors import Refusal
from evh.store import xlsx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.sheet_model import Sheet

NAME = "sheet"
"""The name of the workbook's first sheet."""
SUFFIX = ".xlsx"
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
"""What a workbook's sheet can hold, the header included."""

_WIDTHS = {"item_id": 18, "item": 70, "note": 30}
_TEXT = 50


def dump(sheet: Sheet, *, scores_only: bool = False) -> bytes:
    """Return the sheet's bytes as a workbook, with the rows and the footer of `sheet_csv.dump`.

    Args:
        sheet: the sheet.
        scores_only: leave the arms' outputs out.

    Raises:
        Refusal: more rows or columns than a workbook holds.
    """
    made = table(sheet, scores_only=scores_only)
    return of_cells(made.heads, [*made.rows, *made.footer])


def of_cells(
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    wide: Sequence[str] = (),
    choices: Mapping[str, tuple[str, ...]] | None = None,
) -> bytes:
    """Return a workbook of any cells.

    Args:
        heads: one name a column.
        rows: one value a column.
        wide: the columns that hold long texts; those of outputs do anyway.
        choices: column → what its cells offer.

    Raises:
        Refusal: more rows or columns than a workbook holds.
    """
    if len(rows) + 1 > MOST_ROWS or len(heads) > MOST_COLUMNS:
        raise Refusal(
            "too-large",
            "a workbook cannot hold that sheet",
            why=[f"{len(rows) + 1:,} of {MOST_ROWS:,} rows and {len(heads):,} of {MOST_COLUMNS:,} columns"],
            next="write it as --csv, or narrow its rows (--where, --disagree …)",
        )
    columns = [
        xlsx.Column(
            head,
            width=_WIDTHS.get(head, _TEXT if head in wide or head.endswith(": output") else 18),
            hidden=head == "item_sha256",
            choices=(choices or {}).get(head, ()),
        )
        for head in heads
    ]
    return xlsx.dump(columns, rows, name=NAME)


def refuse_name(path: Path) -> None:
    """Refuse a workbook's name that no spreadsheet would open as one."""
    if path.suffix.lower() != SUFFIX:
        raise Refusal(
            "bad-options",
            f"{path} is no name of a workbook",
            why=[f"--xlsx {path}: a workbook's name ends in {SUFFIX}"],
            next=f"--xlsx {path.with_suffix(SUFFIX)}, or --csv {path}",
        )
