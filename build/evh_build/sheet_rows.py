"""The sheet's first rows as HTML: a row is escaped once, not a cell, and joined between its tags."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from evh.acts.sheet_table import NONE_RIGHT
from evh.project.memory import Same
from evh.records.answers import shown
from evh_build.render import figure
from evh_build.sheet_columns import (
    MOST_FIELDS,
    cut,
    decided,
    field_text,
    kinds_of,
    picked_for,
    rights_of,
)
from evh_build.text import visible
from evh_build.urls import href

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.sheet_model import Row, Sheet
    from evh_build.source import Source

RIGHT = '<span class="right" title="right">✓</span> '
WRONG = '<span class="wrong" title="wrong">✗</span> '
AGAINST = '<span class="wrong" title="production is wrong by it">✗</span> '


def joined(opening: Sequence[str], texts: Sequence[str]) -> str:
    """Return texts as HTML, each after its opening tags.

    Args:
        opening: tags that are safe as they are, one for each text and one that closes.
        texts: what the cells say, with no line end in it; escaped here, hidden characters named.

    Cost: one pass of escaping for all the cells together.
    """
    text = "\n".join(texts)
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        text = visible(text)
    # "\n" is no part of any escape, so the cells come apart again where they were put together.
    cells = html.escape(text).split("\n")
    made = [""] * (2 * len(cells) + 1)
    made[0::2] = opening
    made[1::2] = cells
    return "".join(made)


def first_rows(source: Source, sheet: Sheet, most: int, root: str) -> Markup:
    """Return the first rows of a sheet as the ``<tr>`` of its table; links lead from ``root``."""
    name = sheet.dataset_id
    frame = replace(sheet, arms=(), rows=(), footer=(), notes=())  # all that a row may hang on beside itself
    made = source.each(
        ("first rows", name, root), sheet.rows[:most], lambda row: _row(source, sheet, row, root),
        Same(source.urls.items(name)), frame, [Same(one) for one in sheet.arms],
        own=lambda row: source.urls.position(name, row.item_id),
    )  # fmt: skip
    return Markup("\n".join(made))  # noqa: S704 - every text is escaped in `joined`


def _row(source: Source, sheet: Sheet, row: Row, root: str) -> str:
    kinds = kinds_of(row)
    place = source.urls.position(sheet.dataset_id, row.item_id) or 0
    path = source.urls.item(sheet.dataset_id, row.item_id)
    named = f' id="row={html.escape(row.item_id)}"' if visible(row.item_id) == row.item_id else ""
    tags = [
        f'<tr id="i{place}" class="{" ".join(f"k-{kind}" for kind in kinds)}">'
        f'<th scope="row" class="item"{named}>'
        + (f'<a href="{html.escape(href(path, root))}">' if path else "")
    ]
    texts = [row.item_id]
    after = "</a>" if path else ""
    if (picked := picked_for(row)) is not None:
        tags.append(f'{after} <span class="badge">picked: ')
        texts.append(picked)
        after = "</span>"
    tags.append(f"{after}</th><td>{_signals(kinds)}</td>")
    texts.append("")
    for at, score_at in enumerate(rights_of(sheet)):
        opening, text = _arm(sheet, row, at, score_at)
        tags.append(opening)
        texts.append(text)
    tags.append(f'{"</td>" if sheet.arms else ""}<td class="winner">')
    texts.append(NONE_RIGHT if row.none_right else _winners(row.winners, len(sheet.arms)))
    if sheet.two_winners:
        tags.append('</td><td class="winner">')
        texts.append(_winners(row.judge_winners, len(sheet.arms)))
    for column, label in zip(sheet.labels, row.labels, strict=True):
        against = column.ref in row.signals.wrong_by
        tags.append(f'</td><td class="label against">{AGAINST}' if against else '</td><td class="label">')
        texts.append(_flat(_shown(label)))
    for name in sheet.fields[:MOST_FIELDS]:
        tags.append('</td><td class="field">')
        texts.append(field_text(row.fields.get(name)) or "")
    tags.append('</td><td class="preview">')
    texts.append(cut(row.preview) or "")
    tags.append("</td></tr>")
    return joined(tags, [_flat(text) for text in texts])


def _arm(sheet: Sheet, row: Row, at: int, score_at: int | None) -> tuple[str, str]:
    """Return the tags before an arm's cell, and what it says: its decision, then scores that are no mark.

    ``score_at`` is the place of `correct`, which the mark tells.
    """
    cell = row.cells[at]
    won = " won" if sheet.arms[at].name in row.winners else ""
    opening = ("</td>" if at else "") + f'<td class="arm{won}">'
    if cell.error is not None:
        means = [  # where another repeat answered
            figure(value)
            for column, value in zip(sheet.arms[at].scores, cell.scores, strict=True)
            if column.against == sheet.against and value is not None
        ]
        return opening + '<span class="flag">failed</span> ', " · ".join([cut(cell.error) or "", *means])
    score = cell.scores[score_at] if score_at is not None else None
    mark = {0.0: WRONG, 1.0: RIGHT}.get(score, "") if score is not None else ""
    others = [
        value
        for number, (column, value) in enumerate(zip(sheet.arms[at].scores, cell.scores, strict=True))
        if column.against == sheet.against and value is not None and not (number == score_at and mark)
    ]
    told = " · ".join(figure(value) for value in others)
    return opening + mark, " ".join(part for part in (decided(row, at), told) if part)


def _signals(kinds: Sequence[str]) -> str:
    return "".join(f'<span class="signal s-{kind}">{kind}</span>' for kind in kinds)


def _winners(names: Sequence[str], arms: int) -> str:
    return "all" if len(names) == arms and arms > 1 else ", ".join(names) or "—"


def _shown(label: str | None) -> str:
    return "" if label is None else cut(shown(label)) or ""


def _flat(text: str) -> str:
    return text.replace("\n", " ")
