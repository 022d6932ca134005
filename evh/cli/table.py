"""Tables for people: aligned columns that fit the terminal.

Not rich: its import costs more than a whole command here.
"""

from __future__ import annotations

import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING

import click

from evh.store.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

DASH = "—"
_GAP = "  "
_NARROWEST = 8


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int] = (),
    width: int | None = None,
) -> None:
    """Print rows under headers.

    Args:
        headers: one a column.
        rows: one value a column; None is shown as "—", a float is shown to three decimals.
        right: the positions of the columns that are aligned right (numbers).
        width: how many cells wide a line may be; the terminal's width by default. Where the table is wider,
            the widest text columns are cut; on a pipe nothing is cut.
    """
    for line in lines(headers, rows, right=right, width=width):
        click.echo(line)


def lines(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int] = (),
    width: int | None = None,
) -> list[str]:
    """Return the lines of a table; see `table`."""
    cells = [[shown(value) for value in row] for row in rows]
    widths = [
        max([cell_width(head), *(cell_width(row[at]) for row in cells)]) for at, head in enumerate(headers)
    ]
    limit = width if width is not None else _terminal_width()
    if limit:
        _narrow(widths, limit, set(right))
    made = [
        _line([str(head) for head in headers], widths, right),
        _line(["─" * one for one in widths], widths, ()),
    ]
    return made + [_line(row, widths, right) for row in cells]


def shown(value: object) -> str:
    """Return a value as a table's cell shows it."""
    if value is None:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    return one_line(str(value))


def cell_width(text: str) -> int:
    """Return how many cells of a terminal a text takes: wide East Asian characters take two, marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def cut(text: str, width: int) -> str:
    """Return a text cut to ``width`` cells, ending in "…" where something was cut."""
    if cell_width(text) <= width:
        return text
    made = ""
    for char in text:
        if cell_width(made + char) > width - 1:
            break
        made += char
    return made + "…"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    parts = []
    for at, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        fitted = cut(cell, width)
        space = " " * (width - cell_width(fitted))
        parts.append(space + fitted if at in right else fitted + space)
    return _GAP.join(parts).rstrip()


def _narrow(widths: list[int], limit: int, right: set[int]) -> None:
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - limit
    while over > 0:
        texts = [at for at in range(len(widths)) if at not in right and widths[at] > _NARROWEST]
        if not texts:
            return
        widest = max(texts, key=widths.__getitem__)
        widths[widest] -= 1
        over -= 1


def _terminal_width() -> int:
    return shutil.get_terminal_size((110, 40)).columns if sys.stdout.isatty() else 0
