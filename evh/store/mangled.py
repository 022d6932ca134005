"""What a spreadsheet made of a cell that looked like a number or a date, and what it was before."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ERRORS = ("#NAME?", "#REF!", "#VALUE!", "#N/A", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!")
"""What a spreadsheet shows of a formula that fails."""

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_FORMATTED = re.compile(r"[+-]?\d(?:[.,]\d+)?E[+-]\d{2,3}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TOKEN = re.compile(r"\d+|[A-Za-zÀ-ÿ]+")
_TRUTHS = {"true": ("true", "wahr", "vrai", "verdadero"), "false": ("false", "falsch", "faux", "falso")}
_DIGITS = 15
_DAYS = 31


def formatted_number(cell: str) -> bool:
    """Tell whether a cell has the form that a spreadsheet gives to a long number: ``1.23457E+15``."""
    return _FORMATTED.fullmatch(cell.strip()) is not None


def likely(cell: str, known: Iterable[str]) -> list[str]:
    """Return which of the ``known`` texts a cell probably was before a spreadsheet changed it, in order.

    Numbers lose leading zeros and digits after the fifteenth and turn into ``1.23E+15``; ``1-2`` and
    ``MAR1`` turn into dates; ``true`` turns into ``TRUE``. Outer white space and case are forgiven.
    """
    wanted = cell.strip()
    return [
        one
        for one in known
        if one != cell
        and (
            one.strip().casefold() == wanted.casefold()
            or _same_number(wanted, one)
            or _same_date(wanted, one)
            or _same_truth(wanted, one)
        )
    ]


def _same_number(cell: str, known: str) -> bool:
    if not _NUMBER.fullmatch(cell) or not _NUMBER.fullmatch(known):
        return False
    try:
        shown, was = Decimal(cell.replace(",", ".")), Decimal(known.replace(",", "."))
    except InvalidOperation:
        return False
    if shown == was:
        return True
    if not was or not shown:
        return False
    digits = len(shown.as_tuple().digits) if "E" in cell.upper() else _DIGITS
    exponent = was.adjusted() - digits + 1
    step = Decimal(1).scaleb(exponent)
    return (
        abs(shown - was) <= step
        if "E" in cell.upper()
        else was.adjusted() >= _DIGITS and abs(shown - was) < step
    )


def _same_date(cell: str, known: str) -> bool:
    shown, was = _date_parts(cell), _date_parts(known)
    if shown is None or was is None:
        return False
    left = list(shown)
    for part in was:
        match = next((one for one in left if one == part or _same_year(one, part)), None)
        if match is None:
            return False
        left.remove(match)
    return all(
        part > _DAYS or part == 1 or len(left) == 1 for part in left
    )  # a year, or a first of the month


def _same_year(one: int, other: int) -> bool:
    low, high = sorted((one, other))
    return high >= 1900 and low < 100 and high % 100 == low


def _date_parts(text: str) -> list[int] | None:
    """Return the numbers of a text that a spreadsheet takes for a date, months as 1 to 12, or None."""
    tokens = _TOKEN.findall(text)
    if not 2 <= len(tokens) <= 3 or len(text) > len("30 september 2024"):
        return None
    if _TOKEN.sub("", text).strip(" -/.,"):
        return None
    made = []
    for token in tokens:
        if token.isdigit():
            made.append(int(token))
        elif token.lower()[:3] in _MONTHS:
            made.append(_MONTHS.index(token.lower()[:3]) + 1)
        else:
            return None
    return made


def _same_truth(cell: str, known: str) -> bool:
    return cell.casefold() in _TRUTHS.get(known.strip().casefold(), ())
