"""Tables for people, laid out by rich: aligned columns that fit the terminal, and are never cut on a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

DASH = "—"
_UNCUT = 100_000
_GAP = 2
_SHORTEST = 12
"""How narrow a text column may be cut before a column is left out."""


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int] = (),
    keep: Sequence[int] = (),
    drop: Sequence[int] = (),
    width: int | None = None,
) -> list[str]:
    """Print rows under headers; return the headers of the columns that were left out.

    Args:
        headers: one a column.
        rows: one value a column; None is shown as "—", a float is shown to three decimals.
        right: the positions of the columns that are aligned right (numbers).
        keep: the positions of the columns that are never cut: ids.
        drop: the positions of the columns that may be left out, the first to go first. One is left out where
            the others would have to be cut too short; a last line names what was left out.
        width: how many cells wide a line may be; the terminal's width by default. Where the table is wider,
            its text columns are cut; on a pipe nothing is cut and nothing is left out.
    """
    made = _laid_out(headers, rows, right=right, keep=keep, drop=drop, width=width)
    for line in made.lines:
        click.echo(line)
    return made.left_out


def lines(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int] = (),
    keep: Sequence[int] = (),
    drop: Sequence[int] = (),
    width: int | None = None,
) -> list[str]:
    """Return the lines of a table; see `table`. No text is read as markup."""
    return _laid_out(headers, rows, right=right, keep=keep, drop=drop, width=width).lines


class _Laid(NamedTuple):
    lines: list[str]
    left_out: list[str]


def _laid_out(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int],
    keep: Sequence[int],
    drop: Sequence[int],
    width: int | None,
) -> _Laid:
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    limit = width if width is not None else _terminal_width()
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    cells = [[shown(value) for value in row] for row in rows]
    # A number or an id that is cut says something else, so only texts give way.
    whole = {*right, *keep}
    shown_at = _fitting(headers, cells, whole, drop, limit)
    for at in shown_at:
        head = str(headers[at])
        made.add_column(
            Text(head),
            justify="right" if at in right else "left",
            no_wrap=at in whole,  # rich narrows the others first
            min_width=_widest(head, cells, at) if at in whole else min(len(head), 8),
        )
    for row in cells:
        made.add_row(*(Text(row[at], no_wrap=True, overflow="ellipsis") for at in shown_at))
    sink = StringIO()
    console = Console(file=sink, width=limit or _UNCUT, color_system=None, legacy_windows=False, emoji=False)
    console.print(made)
    left_out = [one_line(str(head)) for at, head in enumerate(headers) if at not in shown_at]
    printed = [line.rstrip() for line in sink.getvalue().splitlines()]
    if left_out:
        said = f"{plural(len(left_out), 'column')} left out: {', '.join(left_out)}; --json has all"
        printed += _wrapped(said, limit)
    return _Laid(printed, left_out)


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


def _widest(head: str, cells: Sequence[Sequence[str]], at: int) -> int:
    """Return how many cells of a terminal a column takes."""
    from rich.cells import cell_len

    return max([cell_len(head), *(cell_len(row[at]) for row in cells)])


def _fitting(
    headers: Sequence[str], cells: Sequence[Sequence[str]], whole: set[int], drop: Sequence[int], limit: int
) -> list[int]:
    """Return the positions of the columns that are shown; see `table` for ``drop``. No limit shows all.

    What was left out for a wide column's sake comes back where there is room for it.
    """
    widest = [_widest(str(head), cells, at) for at, head in enumerate(headers)]
    least = [
        wide if at in whole else min(wide, max(len(str(headers[at])), _SHORTEST))
        for at, wide in enumerate(widest)
    ]
    kept = set(range(len(headers)))

    def fits(some: set[int]) -> bool:
        return not limit or sum(least[one] + _GAP for one in some) - _GAP <= limit

    for at in drop:
        if fits(kept):
            break
        kept.remove(at)
    for at in reversed(drop):
        if at not in kept and fits(kept | {at}):
            kept.add(at)
    return sorted(kept)


def _wrapped(text: str, limit: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, limit or _UNCUT, break_long_words=False, break_on_hyphens=False)


def _terminal_width() -> int:
    """Return the terminal's width in cells, or 0 where stdout is no terminal."""
    import shutil

    return shutil.get_terminal_size((110, 40)).columns if sys.stdout.isatty() else 0
