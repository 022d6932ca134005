"""Rows of 24 columns as HTML: one escaped fragment a row, beside loops of Jinja2 templates."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import jinja2

from evh_build.render import environment
from evh_build.sheet_rows import joined

COLUMNS = 24
FULL = 20_000
SMALL = 500
ROUNDS = 5
OPENING = ["<tr><td>", *(["</td><td>"] * (COLUMNS - 1)), "</td></tr>"]
TEMPLATE = "{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}"
WORDS = ("act", "attend", "track", "0.750", "<b>", "it's", "a & b", "CVE-2024-0001", "the quick brown fox")


def made_up(n: int) -> list[list[str]]:
    """Make seeded rows of short texts, some of which need escaping."""
    draw = random.Random(0)
    return [[draw.choice(WORDS) for _ in range(COLUMNS)] for _ in range(n)]


def ours(rows: list[list[str]]) -> str:
    """Join each row as the sheet's page does."""
    return "".join(joined(OPENING, row) for row in rows)


def rows(small: bool) -> list[dict[str, Any]]:
    """Time ours and each peer in turn and give the fastest rounds; all must make the same HTML.

    A plain loop lets hidden characters through; one in the site's own environment names them, as ours does.
    """
    table = made_up(SMALL if small else FULL)
    plain = jinja2.Environment(autoescape=True).from_string(TEMPLATE)
    site = environment([]).from_string(TEMPLATE)
    peers = {
        "a plain Jinja2 loop": lambda rows: plain.render(rows=rows),
        "a Jinja2 loop of the site's environment": lambda rows: site.render(rows=rows),
    }
    same = ours(table).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    if any(peer(table) != same for peer in peers.values()):
        raise AssertionError("they make different HTML")
    mine: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(1 if small else ROUNDS):
        _time(ours, table, mine)
        for name, peer in peers.items():
            _time(peer, table, theirs[name])
    work = f"{len(table):,} rows of {COLUMNS} cells as HTML"
    return [
        {"work": work, "ours_s": min(mine), "peer": name, "peer_s": min(times)}
        for name, times in theirs.items()
    ]


def _time(make: Callable[[list[list[str]]], str], table: list[list[str]], times: list[float]) -> None:
    start = time.perf_counter()
    make(table)
    times.append(time.perf_counter() - start)
