"""The sheet as one table: what its CSV and its workbook hold, cell for cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.label_sheet import text_cell
from evh.records.answers import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.figures import Spread
    from evh.acts.sheet_model import Cell, Footer, Row, ScoreColumn, Sheet

SIGNALS = ("wrong", "disagree", "split", "new", "unlabelled")
NO_TARGET = "no dataset yet"
NONE_RIGHT = "none right"


@dataclass(frozen=True, slots=True)
class Table:
    """A sheet's cells.

    Attributes:
        heads: one name a column: ``item_id``, ``item_sha256`` and ``item`` first.
        rows: one value a column, a row an item that is shown; None is empty.
        footer: rows that are no items: their first cell starts with ``#``.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    footer: tuple[tuple[object, ...], ...]


def table(sheet: Sheet, *, scores_only: bool = False) -> Table:
    """Return the cells of a sheet: a text longer than a cell is shortened and marked.

    Args:
        sheet: the sheet.
        scores_only: leave the arms' outputs out.
    """
    heads = ["item_id", "item_sha256", "item", *(f"field: {name}" for name in sheet.fields)]
    for arm in sheet.arms:
        heads += [] if scores_only else [output_head(arm.name)]
        heads += [f"{arm.name}: decision", f"{arm.name}: error"]
        heads += [f"{arm.name}: {title_of(column)}" for column in arm.scores]
    heads += [f"label: {column.ref}" for column in sheet.labels]
    heads += ["winner", *([f"winner by {sheet.judge}"] if sheet.two_winners else []), *SIGNALS]
    heads += ["wrong by", "picked for"]
    return Table(
        tuple(heads),
        tuple(_row(sheet, row, scores_only=scores_only) for row in sheet.rows),
        tuple(_footer(sheet, scores_only=scores_only)),
    )


def output_head(arm: str) -> str:
    """Return how the column of an arm's outputs is headed."""
    return f"{arm}: output"


def title_of(column: ScoreColumn) -> str:
    """Return how a score column is headed: the metric and what it was scored against."""
    return f"{column.metric} ({column.against.ref})" if column.against else column.metric


def _row(sheet: Sheet, row: Row, *, scores_only: bool) -> tuple[object, ...]:
    made: list[object] = [row.item_id, row.sha256, row.preview]
    made += [
        text_cell(value) if isinstance(value := row.fields.get(name), str) else value for name in sheet.fields
    ]
    for cell in row.cells:
        made += _cell(cell, scores_only=scores_only)
    made += [None if text is None else text_cell(shown(text)) for text in row.labels]
    signals = row.signals
    made.append(NONE_RIGHT if row.none_right else " ".join(row.winners))
    made += [" ".join(row.judge_winners)] if sheet.two_winners else []
    made.append(" ".join(signals.wrong))
    made += ["yes" if held else None for held in (signals.disagree, signals.split)]
    made += [" ".join(signals.new), "yes" if signals.unlabelled else None, " ".join(signals.wrong_by)]
    pick = row.picked
    made.append(None if pick is None or not pick.waits else " ".join(pick.waits_for) or NO_TARGET)
    return tuple(made)


def _cell(cell: Cell, *, scores_only: bool) -> list[object]:
    texts = [cell.decision, cell.error] if scores_only else [cell.output, cell.decision, cell.error]
    return [None if text is None else text_cell(text) for text in texts] + [*cell.scores]


def _footer(sheet: Sheet, *, scores_only: bool) -> list[tuple[object, ...]]:
    """Return the footer's rows: the means below the scores, the rest below each arm's decisions.

    Where an arm ran several times, so do its repeats: the lowest and the highest of them. Below the decisions
    those are of the sheet's metric where that has no value per item.
    """
    nothing = [(None,) * len(footer.means) for footer in sheet.footer]

    def line(
        name: str, told: Sequence[object], scores: Sequence[Sequence[object]] = nothing
    ) -> tuple[object, ...]:
        made: list[object] = [name, None, "over every item of the dataset", *(None for _ in sheet.fields)]
        for value, below in zip(told, scores, strict=True):
            made += [value, None] if scores_only else [None, value, None]
            made += below
        width = len(sheet.labels) + len(SIGNALS) + 3 + sheet.two_winners
        return (*made, *(None for _ in range(width)))

    def of(name: str) -> list[object]:
        return [_figure(footer, name) for footer in sheet.footer]

    made = [line("#mean", [None for _ in sheet.footer], [one.means for one in sheet.footer])]
    if any(arm.repeats for arm in sheet.arms):
        low, high = (_ends(sheet, end) for end in ("low", "high"))
        made.append(line("#repeats", [arm.told_repeats or None for arm in sheet.arms]))
        made += [line("#lowest repeat", *low), line("#highest repeat", *high)]
    made.append(line("#win rate", of("win_rate")))
    if sheet.two_winners:
        made.append(line(f"#win rate by {sheet.judge}", of("judge_win_rate")))
    if any(footer.verdict is not None for footer in sheet.footer):
        made += [line("#verdict", of("verdict")), line("#p against the leader", of("p"))]
    return made


def _ends(sheet: Sheet, end: str) -> tuple[list[object], list[list[object]]]:
    """Return the lowest or highest of each arm's repeats, below its decisions and below its scores."""

    def of(spread: Spread | None) -> object:
        return None if spread is None else getattr(spread, end)

    told: list[object] = []
    scores: list[list[object]] = []
    for arm, footer in zip(sheet.arms, sheet.footer, strict=True):
        per_item = arm.position(sheet.metric, sheet.against) is not None
        told.append(None if per_item else of(footer.spread(sheet.metric, sheet.against)))
        scores.append([of(footer.spread(one.metric, one.against)) for one in arm.scores])
    return told, scores


def _figure(footer: Footer, name: str) -> object:
    return getattr(footer, name)
