"""One cell of answers: what it says, or why it may not be what was typed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.records.answers import listed, malformed
from evh.records.shape import is_character_text
from evh.store import mangled
from evh.store.spreadsheet import named_kind

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SETTLES = "where it is meant, name it in the header: label (…)"


@dataclass(frozen=True, slots=True)
class Rules:
    """How cells of answers are read.

    Attributes:
        choices: the only answers allowed, or none for any.
        plain: whether a cell of text is what was typed, as in a workbook, where a number is no text; in CSV
            it is what a spreadsheet made of it.
        as_typed: a cell that looks like a date or a time is what was typed, never what a spreadsheet made.
        known: tells whether a label like this one, a date, is among the dataset's label sets already.
        refuse: called with a refusal's code and a reason.
        warn: called with what a person should know.
    """

    choices: tuple[str, ...]
    plain: bool
    refuse: Callable[[str, str], None]
    warn: Callable[[str], None]
    as_typed: bool = False
    known: Callable[[], bool] = lambda: False


def read_answers(cell: str, kind: str | None, place: str, rules: Rules) -> list[str] | None:
    """Return the answers in a cell: those of an accept-list, else the cell itself; None: refused.

    Args:
        cell: what it holds.
        kind: what it is in a workbook where it is not text, see `spreadsheet.Row.typed`.
        place: the row, for messages.
        rules: what is allowed.
    """
    if kind is not None:
        answer = _typed(cell, kind, place, rules)
        return None if answer is None else [answer]
    if cell in rules.choices:
        return _chosen(cell, place, rules)
    fault = malformed(cell)
    if fault:
        rules.refuse("bad-label", f"{place}: the accept-list is malformed: {fault}")
        return None
    made = [_text(one, place, rules) for one in listed(cell) or (cell,)]
    return None if None in made else [one for one in made if one is not None]


def _typed(cell: str, kind: str, place: str, rules: Rules) -> str | None:
    """Return the answer of a cell that is not text: only where the choices leave one reading."""
    if kind in ("formula", "error"):
        told = f"{cell!r} is a formula's" if cell else "the cell holds a formula's"
        rules.refuse(
            "mangled-cell", f"{place}: {told} {'result' if kind == 'formula' else 'error'}, not an answer"
        )
        return None
    near = mangled.likely(cell, rules.choices)
    if cell in rules.choices and not near:
        return cell
    if not rules.choices:
        was = " or ".join(_guesses(cell, kind))
        what = f"{cell!r} is {named_kind(kind)}, not text: it was probably {was}"
        rules.refuse(
            "mangled-cell",
            f"{place}: {what}; make the column's format Text and type it again, or, {_SETTLES}",
        )
    elif near:
        names = [cell, *near] if cell in rules.choices else near
        rules.refuse("mangled-cell", f"{place}: {cell!r} was probably {' or '.join(map(repr, names))}")
    else:
        _off(cell, place, rules)
    return None


def _guesses(cell: str, kind: str) -> list[str]:
    """Return what was probably typed into a cell that a spreadsheet took for something else."""
    if kind == "number":
        return [repr(cell), repr(f"0{cell}")]
    if kind == "true or false":
        return [repr(cell), repr(cell.lower())]
    if kind == "date":
        year, month, day = [*cell[:10].split("-"), "", ""][:3]
        short = f"{int(day or 0)}-{int(month or 0)}"
        return [repr(short), repr(f"{int(month or 0)}/{int(day or 0)}"), repr(f"{year}-{month}-{day}")]
    return [repr(cell.removesuffix(":00"))]


def _chosen(cell: str, place: str, rules: Rules) -> list[str] | None:
    """Return a choice, where a spreadsheet could not have shown another one as it."""
    alike = [] if rules.plain else mangled.alike(cell, rules.choices)
    if alike:
        names = " or ".join(map(repr, (cell, *alike)))
        rules.refuse(
            "mangled-cell", f"{place}: {cell!r} may have been {names}: a spreadsheet shows them alike"
        )
        return None
    return [cell]


def _text(cell: str, place: str, rules: Rules) -> str | None:
    if not is_character_text(cell):
        rules.refuse("bad-label", f"{place}: {cell!r} holds half a character, which no file can")
        return None
    if mangled.overflow(cell):
        rules.refuse(
            "mangled-cell",
            f"{place}: {cell!r} is what a spreadsheet shows in too narrow a column: widen it, save again",
        )
        return None
    if cell.strip() in mangled.ERRORS:
        rules.refuse("mangled-cell", f"{place}: {cell!r} is a spreadsheet's word for a bad formula")
        return None
    if not rules.choices:
        return _free(cell, place, rules)
    plain = cell if cell in rules.choices else cell.strip()
    if plain in rules.choices:
        found = _chosen(plain, place, rules)
        return found[0] if found else None
    near = mangled.likely(cell, rules.choices)
    if near:
        rules.refuse("mangled-cell", f"{place}: {cell!r} was probably {' or '.join(map(repr, near))}")
    else:
        _off(cell, place, rules)
    return None


def _free(cell: str, place: str, rules: Rules) -> str | None:
    if mangled.formatted_number(cell):
        rules.refuse(
            "mangled-cell",
            f"{place}: {cell!r} is the form that a spreadsheet gives to a long number; {_SETTLES}",
        )
        return None
    if not (rules.plain or rules.as_typed) and mangled.moment(cell) and not rules.known():
        rules.refuse(
            "mangled-cell",
            f"{place}: {cell!r} is a form that a spreadsheet gives to a date or a time, perhaps of 1-2, MAR1 "
            f"or 1:30; {_SETTLES}, or add --as-typed",
        )
        return None
    if _CONTROL.search(cell):
        rules.warn(f"{place}: {cell!r} holds a control character, kept as typed")
    if cell != cell.strip(" \t\xa0"):
        rules.warn(
            f"{place}: {cell!r} begins or ends with white space, and is another answer than "
            f"{cell.strip()!r}: label-sheet --choices settles such cells"
        )
    return cell


def _off(cell: str, place: str, rules: Rules) -> None:
    rules.refuse("off-choices", f"{place}: {cell!r} is not one of {', '.join(rules.choices)}")
