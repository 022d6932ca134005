"""Blind columns: the arms' outputs under letters, in an order that only the key's secret tells."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

from evh.acts.label_selection import rank
from evh.acts.label_sheet import text_cell
from evh.store.hashing import sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sheet_model import Row, Sheet

EMPTY = "(an empty answer)"
"""What stands in the cell of an output without a character: an empty cell is no output."""
_SHORT = 4


@dataclass(frozen=True, slots=True)
class Shown:
    """One output in a blind row: the arm's place in the sheet, what its cell says, the output's sha256."""

    at: int
    cell: str
    sha256: str


def letters_of(row: Row, secret: str, seed: int) -> dict[str, Shown]:
    """Return letter → output of one row, of the arms that answered; ``A`` is the first.

    The order is that of HMAC(secret, seed, item and place): each row has its own, no seed gives it away, and
    neither an output's length nor its text has a part in it. Equal outputs stand twice. One line end at an
    output's end is not shown, as none is compared.

    Args:
        row: the row.
        secret: the key's.
        seed: the sheet's.
    """
    answered = [
        (at, cell.output)
        for at, cell in enumerate(row.cells)
        if cell.output is not None and cell.error is None
    ]
    ordered = sorted(answered, key=lambda one: rank(secret, seed, f"{row.item_id}\n{one[0]}"))
    return {
        letter: Shown(at, text_cell(output.removesuffix("\n")) or EMPTY, sha256_text(output))
        for letter, (at, output) in zip(ascii_uppercase, ordered, strict=False)
    }


def telling_fields(sheet: Sheet) -> list[str]:
    """Return the fields that would give an arm away: equal to its answer wherever both are there.

    A field that equals every arm's answers tells no arm from another.
    """
    made = []
    for name in sheet.fields:
        same = [_equals(sheet.rows, name, at) for at in range(len(sheet.arms))]
        if any(same) and not all(same):
            made.append(name)
    return made


def _equals(rows: Sequence[Row], name: str, at: int) -> bool:
    pairs = [
        (str(row.fields[name]), {text.strip() for text in (cell.output, cell.decision) if text is not None})
        for row in rows
        for cell in [row.cells[at]]
        if name in row.fields and cell.output is not None
    ]
    return bool(pairs) and all(value.strip() in texts for value, texts in pairs)


def notes(sheet: Sheet, rows: Sequence[Row], letters: Mapping[str, Mapping[str, Shown]]) -> list[str]:
    """Return what may give an arm away, or be misread, although no column names it; a sentence each.

    Args:
        sheet: the sheet.
        rows: its rows that are shown.
        letters: item → letter → output.
    """
    made = []
    counts: Counter[str] = Counter()
    alone = 0
    for at, arm in enumerate(sheet.arms):
        names = {arm.name, arm.run.config_id, arm.run.run_id, str(arm.run.params.get("model") or "")}
        found = [re.escape(name) for name in sorted(names) if len(name) >= _SHORT]
        if found:
            named = re.compile("|".join(found), re.IGNORECASE)
            counts[arm.name] += sum(named.search(row.cells[at].output or "") is not None for row in rows)
    for name, n in counts.items():
        if n:
            made.append(
                f"{name}: {plural(n, 'output')} of it hold its own name or model: the text gives it away"
            )
    for held in letters.values():
        alone += any(one.cell.strip().upper() in held for one in held.values())
    if alone:
        told = "an output is itself a letter of the row"
        made.append(f"on {plural(alone, 'row')} {told}: whoever fills in must write the column's letter")
    return made
