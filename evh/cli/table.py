"""Tables for people, laid out by rich: aligned columns that fit the terminal, and are never cut on a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from evh.store.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

DASH = "—"
_UNCUT = 100_000


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
            its text columns are cut; on a pipe nothing is cut.
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
    """Return the lines of a table; see `table`. No text is read as markup."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    limit = width if width is not None else _terminal_width()
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    cells = [[shown(value) for value in row] for row in rows]
    for at, head in enumerate(headers):
        # A number that is cut says something else, so only texts give way.
        number = max(len(str(head)), *(len(row[at]) for row in cells)) if cells else len(str(head))
        made.add_column(
            Text(str(head)),
            justify="right" if at in right else "left",
            no_wrap=at in right,  # rich narrows the others first
            min_width=number if at in right else min(len(str(head)), 8),
        )
    for row in cells:
        made.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    sink = StringIO()
    console = Console(file=sink, width=limit or _UNCUT, color_system=None, legacy_windows=False, emoji=False)
    console.print(made)
    return [line.rstrip() for line in sink.getvalue().splitlines()]


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


def _terminal_width() -> int:
    """Return the terminal's width in cells, or 0 where stdout is no terminal."""
    import shutil

    return shutil.get_terminal_size((110, 40)).columns if sys.stdout.isatty() else 0
