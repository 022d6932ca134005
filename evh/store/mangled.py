"""What a spreadsheet made of a cell that looked like a number or a date, and what it was before."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ERRORS = ("#NAME?", "#REF!", "#VALUE!", "#N/A", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!")
"""What a spreadsheet shows of a formula that fails."""

_OVERFLOW = re.compile(r"#{3,}")
_MONTH = r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?"
_YEAR = r"(?:\d{4}|\d{2})"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]m)?"
_MOMENT = re.compile(
    rf"(?:\d{{1,2}}([/.-])\d{{1,2}}\1{_YEAR}|\d{{4}}([/.-])\d{{1,2}}\2\d{{1,2}}"
    rf"|\d{{1,2}}[-. ]{{1,2}}{_MONTH}(?:[-. ]{_YEAR})?|{_MONTH}[-. ]{_YEAR})(?:[ T]{_TIME})?|{_TIME}",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_FORMATTED = re.compile(r"[+-]?\d(?:[.,]\d+)?E[+-]\d{2,3}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TOKEN = re.compile(r"\d+|[A-Za-zÀ-ÿ]+")
_TRUTHS = {"true": ("true", "wahr", "vrai", "verdadero"), "false": ("false", "falsch", "faux", "falso")}
_DIGITS = 15
_DAYS = 31
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.0+)?")
_WRAPPED = re.compile(r"[$€£¥]?\s*(?P<number>[+-]?\d+(?:[.,]\d+)?)\s*(?P<sign>[%$€£¥]?)")


def formatted_number(cell: str) -> bool:
    """Tell whether a cell has the form that a spreadsheet gives to a long number: ``1.23457E+15``."""
    return _FORMATTED.fullmatch(cell.strip()) is not None


def moment(cell: str) -> bool:
    """Tell whether a cell has a form that a spreadsheet gives to a date or a time: ``3-Jan``, ``12:30``.

    So it shows what was typed as ``1-3``, ``MAR1`` or ``1:2``, and what stood there is lost.
    """
    return _MOMENT.fullmatch(cell.strip()) is not None


def overflow(cell: str) -> bool:
    """Tell whether a cell is what a spreadsheet shows where a column is too narrow: ``########``."""
    return _OVERFLOW.fullmatch(cell.strip()) is not None


def likely(cell: str, known: Iterable[str]) -> list[str]:
    """Return which of the ``known`` texts a cell probably was before a spreadsheet changed it, in order.

    Numbers lose leading zeros, signs such as ``%`` and ``$``, and digits after the fifteenth, and turn into
    ``1.23E+15``; ``1-2`` and ``MAR1`` turn into dates, ``1:30`` into ``01:30:00``, ``true`` into ``TRUE``.
    Outer white space, case and line ends are forgiven.
    """
    wanted = cell.strip()
    return [
        one
        for one in known
        if one != cell
        and (
            " ".join(one.split()).casefold() == " ".join(wanted.split()).casefold()
            or _same_number(wanted, one)
            or _same_amount(wanted, one)
            or _same_date(wanted, one)
            or _same_clock(wanted, one)
            or _same_truth(wanted, one)
        )
    ]


def alike(cell: str, known: Iterable[str]) -> list[str]:
    """Return which of the ``known`` texts other than ``cell`` a spreadsheet shows as it shows ``cell``.

    ``01`` and ``1.0`` are one number, ``true`` and ``TRUE`` one truth value: where both are answers, a cell
    does not tell which was typed.
    """
    return [
        one
        for one in known
        if one != cell
        and (
            (_NUMBER.fullmatch(cell) and _NUMBER.fullmatch(one) and _number(cell) == _number(one))
            or (cell.casefold() == one.casefold() and cell.casefold() in _TRUTHS)
        )
    ]


class Alike:
    """Many texts, of which `alike` finds each one's doubles without comparing it to all of them."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known: dict[Decimal | str, list[str]] = {}
        for one in known:
            key = _shown_as(one)
            if key is not None:
                self._known.setdefault(key, []).append(one)

    def of(self, cell: str) -> list[str]:
        """Return which of the texts other than ``cell`` a spreadsheet shows as it shows ``cell``."""
        key = _shown_as(cell)
        return [] if key is None else alike(cell, self._known.get(key, ()))


def _shown_as(cell: str) -> Decimal | str | None:
    """Return what texts that are shown alike share; None for a text that is shown as it is."""
    if _NUMBER.fullmatch(cell):
        return _number(cell)
    plain = cell.casefold()
    return plain if plain in _TRUTHS else None


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", "."))
    except InvalidOperation:
        return None


def _same_amount(cell: str, known: str) -> bool:
    """Tell whether ``known`` is the number of a cell in a currency or in per cent."""
    wrapped = _WRAPPED.fullmatch(known.strip())
    if not wrapped or not _NUMBER.fullmatch(cell) or _NUMBER.fullmatch(known.strip()):
        return False
    shown, was = _number(cell), _number(wrapped["number"])
    if shown is None or was is None:
        return False
    return shown == was or (wrapped["sign"] == "%" and shown * 100 == was)


def _same_clock(cell: str, known: str) -> bool:
    shown, was = _CLOCK.fullmatch(cell), _CLOCK.fullmatch(known.strip())
    if not shown or not was:
        return False
    return [int(part or 0) for part in shown.groups()] == [int(part or 0) for part in was.groups()]


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
