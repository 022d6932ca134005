"""Rows of long tables as one piece of HTML each: a template that loops over them is ten times slower.

Every text is escaped here, as the templates escape it.
"""

from __future__ import annotations

import html
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from evh_build.render import breakable
from evh_build.text import visible
from evh_build.urls import href

if TYPE_CHECKING:
    from collections.abc import Iterable


def text(value: str | None) -> str:
    """Return a text as HTML: hidden characters named, markup escaped; nothing for None."""
    return html.escape(visible(value)) if value else ""


@lru_cache(maxsize=65_536)
def link(name: str, path: str | None, root: str) -> str:
    """Return a name that leads to its page, where it has one."""
    shown = str(breakable(name))
    return shown if path is None else f'<a href="{html.escape(href(path, root))}">{shown}</a>'


def cell(inner: str, kind: str = "") -> str:
    """Return a cell; ``inner`` is HTML already, ``kind`` the name of its class."""
    return f'<td class="{kind}">{inner}</td>' if kind else f"<td>{inner}</td>"


def row(head: str, cells: Iterable[str]) -> str:
    """Return a row: its heading's HTML, and its cells."""
    return f'<tr><th scope="row">{head}</th>{"".join(cells)}</tr>'


def rows(made: Iterable[str]) -> Markup:
    """Return rows as one piece that a template prints as it is."""
    return Markup("\n".join(made))  # noqa: S704 - made by the functions above, which escape
