"""One cell of judgements: the letters picked, or a score; or why it is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from evh.store import spreadsheet
from evh.store.text import one_line

if TYPE_CHECKING:
    from collections.abc import Collection

    from evh.records.judge import Scale

# ASCII alone: digits and letters of other scripts look like these, or unlike, and are no one's key.
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]+,[0-9]{3}")
SHOWN = 60
"""So much of a cell is shown in a reason."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why a cell is no judgement: the code of its refusal, and the reason."""

    code: str
    reason: str


def picked_letters(cell: str, kind: str | None, letters: Collection[str]) -> tuple[str, ...] | Wrong:
    """Return the letters in a cell, ``A`` or ``A|B``, sorted; in either case.

    Args:
        cell: what it holds.
        kind: what it is in a workbook where it is not text, see `spreadsheet.Row.typed`.
        letters: those of the row.
    """
    named = ", ".join(sorted(letters)) or "none"
    if kind:
        holds = spreadsheet.named_kind(kind)
        shown = f"{holds} that shows {one_line(cell, SHOWN)!r}" if cell.strip() else holds
        return Wrong("no-letter", f"pick holds {shown}; the letters of this row: {named}")
    parts = {one.upper() if one.isascii() else one for one in spreadsheet.split_bars(cell)}
    if not parts or not parts <= set(letters):
        return Wrong("no-letter", f"pick {one_line(cell, SHOWN)!r} is no letter of this row: {named}")
    return tuple(sorted(parts))


@lru_cache(maxsize=1024)
def score_in(cell: str, kind: str | None, scale: Scale) -> float | Wrong:
    """Return the number in a cell, with a decimal point or comma, which lies on the scale exactly.

    Args:
        cell: what it holds.
        kind: what it is in a workbook where it is not text, see `spreadsheet.Row.typed`.
        scale: the sheet's.
    """
    cell = cell.strip()
    if kind not in (None, "number"):
        return Wrong("bad-score", f"is {spreadsheet.named_kind(kind or '')}")
    if not _NUMBER.fullmatch(cell):
        return Wrong("bad-score", "is no number")
    if _THOUSANDS.fullmatch(cell):
        return Wrong("bad-score", "can be read in two ways: with a decimal comma or with thousands")
    number = Decimal(cell.replace(",", "."))
    if not _exactly(scale.low) <= number <= _exactly(scale.high):
        return Wrong("off-scale", f"is off the scale {scale}")
    if _exactly(float(number)) != number:
        return Wrong("bad-score", "has more digits than a number keeps")
    return float(number)


def _exactly(number: float) -> Decimal:
    """Return the decimal number that a float stands for: 0.1 is a tenth."""
    return Decimal(repr(number))
