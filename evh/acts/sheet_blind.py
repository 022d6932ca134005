"""Blind columns: the arms' outputs under letters, in an order that only the key's secret tells."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
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
_NEARLY = 0.9
"""A field that says what an arm answered in so many of the rows gives it away."""
_BEGUN = 20
"""A field of so many characters that an output begins with says what the output says."""
_KEPT = 200
"""What is made of a text of so many characters is kept: short answers repeat."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")


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
    outputs = answered(row)
    order = sorted(outputs, key=lambda at: rank_of(secret, seed, row.item_id, at))
    return {
        letter: Shown(at, cell_of(outputs[at]), digest_of(outputs[at]))
        for letter, at in zip(ascii_uppercase, order, strict=False)
    }


def answered(row: Row) -> dict[int, str]:
    """Return what a row has to judge: an arm's place in the sheet → its output."""
    return {
        at: cell.output for at, cell in enumerate(row.cells) if cell.output is not None and cell.error is None
    }


def rank_of(secret: str, seed: int, item_id: str, at: int) -> str:
    """Return what a row's outputs are ordered by: the one with the least is ``A``.

    Args:
        secret: the key's.
        seed: the sheet's.
        item_id: the row's item.
        at: the arm's place in the sheet, and in the key's runs.
    """
    return rank(secret, seed, f"{item_id}\n{at}")


def cell_of(output: str) -> str:
    """Return an output as its cell shows it."""
    return _cell(output) if len(output) <= _KEPT else text_cell(output.removesuffix("\n"))


@lru_cache(maxsize=4096)
def _cell(output: str) -> str:
    return text_cell(output.removesuffix("\n")) or EMPTY


def digest_of(output: str) -> str:
    """Return the sha256 of a whole output: what a key knows it by."""
    return _short_digest(output) if len(output) <= _KEPT else sha256_text(output)


@lru_cache(maxsize=4096)
def _short_digest(output: str) -> str:
    return sha256_text(output)


def telling_fields(sheet: Sheet) -> list[str]:
    """Return the fields that would give an arm away, among the rows shown.

    A field tells what an arm answered where it says the same in nearly all rows (`_NEARLY`), without regard
    to case and spaces: in the same words or number, or in words of its own, one for each answer, as 1 and 0
    for yes and no. One that says of every arm as much as of the others tells none of them apart.

    Args:
        sheet: the sheet, with its outputs.

    Cost: about a microsecond for each row, field and arm.
    """
    values = {name: [_said(row.fields.get(name)) for row in sheet.rows] for name in sheet.fields}
    longest = max((len(one) for column in values.values() for one in column if one is not None), default=0)
    most = 2 * longest + _KEPT  # a longer output is no field's value
    answers = [_answers(sheet.rows, at, most) for at in range(len(sheet.arms))]
    made = []
    for name, column in values.items():
        found = [max(_share(column, said) for said in arm) for arm in answers]
        shares = [one for one in found if one >= 0]
        if shares and max(shares) >= _NEARLY and max(shares) > min(shares):
            made.append(name)
    return made


def _answers(rows: Sequence[Row], at: int, most: int) -> list[list[str | None]]:
    """Return what an arm said in each row, leveled: its outputs and, where they differ, its decisions."""
    outputs: list[str | None] = []
    decisions: list[str | None] = []
    for row in rows:
        cell = row.cells[at]
        here = cell.output is not None
        outputs.append(_leveled((cell.output or "")[:most]) if here else None)
        decisions.append(_leveled(cell.decision[:most]) if here and cell.decision is not None else None)
    return [outputs] if decisions == outputs else [outputs, decisions]


def _share(values: Sequence[str | None], said: Sequence[str | None]) -> float:
    """Return the share of rows in which a field says what an arm said; -1 where no row has both."""
    pairs = Counter(pair for pair in zip(values, said, strict=True) if None not in pair)
    n = pairs.total()
    if not n:
        return -1.0
    same = sum(count for (value, text), count in pairs.items() if _same(value, text))
    by_value: dict[str | None, Counter[str | None]] = {}
    by_text: dict[str | None, Counter[str | None]] = {}
    for (value, text), count in pairs.items():
        by_value.setdefault(value, Counter())[text] += count
        by_text.setdefault(text, Counter())[value] += count
    if not 2 <= len(by_value) <= n / 2:  # neither a constant nor another value in each row is a code
        return same / n
    first = {value: texts.most_common(1)[0][0] for value, texts in by_value.items()}
    coded = sum(
        by_value[value][text] for value, text in first.items() if by_text[text].most_common(1)[0][0] == value
    )
    commonest = max(texts.total() for texts in by_text.values())
    return max(same, coded if coded > commonest else 0) / n  # better than a constant would be


def _same(value: str | None, text: str | None) -> bool:
    if value is None or text is None:
        return False
    return value == text or (len(value) >= _BEGUN and text.startswith(value))


def _said(value: object) -> str | None:
    return None if value is None else _leveled(str(value))


def _leveled(text: str) -> str:
    return _short_leveled(text) if len(text) <= _KEPT else _fold(text)


@lru_cache(maxsize=4096)
def _short_leveled(text: str) -> str:
    plain = _fold(text)
    return repr(float(plain)) if _NUMBER.fullmatch(plain) else plain


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


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
