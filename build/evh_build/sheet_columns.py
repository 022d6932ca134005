"""The columns of a sheet's page: one list for the data, the column chooser, the sorts and the filters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from evh.acts.sheet_choices import text_of
from evh.acts.sheet_columns import STAND_IN
from evh.measure import signals
from evh.records.answers import shown
from evh.store.text import plural
from evh_build.forest import p_text
from evh_build.render import figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evh.acts.sheet_model import ArmColumn, Footer, Row, ScoreColumn, Sheet
    from evh.records.shape import Scalar

CUT = 120
"""How many characters of a text a cell has; the row in full has all of it."""
MOST_FIELDS = 12
"""How many fields are shown before a reader asks for more."""
SIGNALS = ("wrong", "disagree", "split", "new", "unlabelled")
NO_TARGET = "no dataset yet"

JUDGE = "winner:judge"
"""The key of the winner's column by a judge, which stands beside the one by the metric."""
NOBODY = "-"
"""The winner's column where the metric says right or wrong and no arm is right."""

FootLine = tuple[str, str]
"""A line of the footer: the figure, and what it is over."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: names it in a page's address; one that begins with ``~`` is data that no column shows alone.
        title: its heading.
        role: ``item``, ``signals``, ``decision``, ``score``, ``winner``, ``label``, ``field``, ``text``, or
            empty for data.
        values: a text, a number or None for each row, in the sheet's order.
        number: whether the values are numbers.
        arm: the place of its arm among the sheet's.
        place: the place of its set among the label columns.
        on: whether it is shown until a reader chooses.
        higher: of a score: whether a larger value is better.
        flags: what makes a score count for nothing: ``own labels``, ``fitted here``; of an arm, that it was
            a trial, and which of its repeats is shown; of a score, over how many repeats it is the mean.
        foot: its lines below the table: two, one more where a judge draws a winner beside the metric, one
            where there are verdicts, and one where an arm ran several times.
    """

    key: str
    title: str
    role: str
    values: Sequence[str | float | None]
    number: bool = False
    arm: int | None = None
    place: int | None = None
    on: bool = True
    higher: bool = True
    flags: tuple[str, ...] = ()
    foot: tuple[FootLine, ...] = ()


@lru_cache(maxsize=65536)
def cut(text: str | None) -> str | None:
    """Return a text on one line, cut to `CUT` characters."""
    if text is None:
        return None
    flat = " ".join(text[: CUT * 8].split())
    return flat if len(flat) <= CUT else flat[: CUT - 1] + "…"


def short_ref(ref: str) -> str:
    """Return a set as filters name it: ``<dataset>/<set>`` or ``<tier>/<name>``."""
    return ref.removeprefix("labels/")


def places_of(sheet: Sheet) -> tuple[int | None, ...]:
    """Return, for each arm, the place of the score column that draws the winner."""
    return tuple(arm.position(sheet.row_metric, sheet.against) for arm in sheet.arms)


def rights_of(sheet: Sheet) -> tuple[int | None, ...]:
    """Return, for each arm, the place of `correct` against the sheet's set: it marks decisions."""
    return tuple(arm.position(STAND_IN, sheet.against) for arm in sheet.arms)


def binary(values: Sequence[float | None]) -> bool:
    """Tell whether scores say right or wrong and no more: a mark beside the decision holds them."""
    return all(value is None or value in (0, 1) for value in values)


def columns(
    sheet: Sheet, position: Callable[[str], int], seen: Mapping[str, Mapping[str, frozenset[str]]]
) -> list[Column]:
    """Return every column of a sheet, those that are shown in the order in which they are.

    Args:
        sheet: the sheet.
        position: gives an item's place in the dataset.
        seen: the values that each governed dataset's fields have, from `signals.seen_values`.

    Cost: one pass over the rows for each column.
    """
    rows = sheet.rows
    made = [
        Column("item", "Item", "item", [row.item_id for row in rows], foot=_item_foot(sheet)),
        Column("signals", "Signals", "signals", [float(_bits(row)) for row in rows], number=True),
    ]
    for at, arm in enumerate(sheet.arms):
        made += _arm(sheet, at, arm)
    made.append(Column("winner", "Winner", "winner", _winners(sheet)))
    if sheet.two_winners:
        made.append(Column(JUDGE, f"Winner by {sheet.judge}", "winner", _judge_winners(sheet)))
    for at, one in enumerate(sheet.labels):
        values = [_label(row.labels[at]) for row in rows]
        foot = (("", f"labels {one.n:,}"), ("", ""))
        made.append(Column(one.ref, one.name, "label", values, place=at, foot=foot))
    for at, name in enumerate(sheet.fields):
        made.append(_field(name, [row.fields.get(name) for row in rows], on=at < MOST_FIELDS))
    made.append(Column("text", "Text", "text", [cut(row.preview) or "" for row in rows]))
    places = {one.ref: str(at) for at, one in enumerate(sheet.labels)}
    made += [
        Column("~place", "", "", [float(position(row.item_id)) for row in rows], number=True),
        Column(
            "~wrong", "", "", [",".join(places[ref] for ref in row.signals.wrong_by) or None for row in rows]
        ),
        Column("~picked", "", "", [picked_for(row) for row in rows]),
    ]
    made += _new(sheet, seen)
    return made


def picked_for(row: Row) -> str | None:
    """Return for which datasets a row is picked; None where it is not, or where versions took it for all."""
    pick = row.picked
    return None if pick is None or not pick.waits else ", ".join(pick.waits_for) or NO_TARGET


def decided(row: Row, arm: int) -> str | None:
    """Return what a cell shows of an arm's answer: its decision, else its output."""
    cell = row.cells[arm]
    return cut(cell.decision if cell.decision is not None else cell.output)


def field_text(value: Scalar | None) -> str | None:
    """Return a field as the page and ``--where`` write it."""
    return None if value is None else cut(text_of(value))


def score_key(sheet: Sheet, arm: ArmColumn, column: ScoreColumn) -> str:
    """Return the key of a score: ``<arm>.<metric>``, and ``@<set>`` where it is not the sheet's own set."""
    key = f"{arm.name}.{column.metric}"
    if column.against == sheet.against:
        return key
    return f"{key}@{short_ref(column.against.ref) if column.against else ''}"


def has_verdicts(sheet: Sheet) -> bool:
    """Tell whether the paired tests say anything of an arm."""
    return any(footer.verdict is not None for footer in sheet.footer)


def has_repeats(sheet: Sheet) -> bool:
    """Tell whether an arm ran several times, so that its scores are means."""
    return any(arm.repeats for arm in sheet.arms)


def repeats_line(sheet: Sheet, at: int) -> FootLine:
    """Return how far an arm's repeats lie apart, and how many there are; a dash for a run alone.

    By the sheet's metric, or by the one that draws the winner where the arm has no figure of that.
    """
    footer = sheet.footer[at]
    names = (sheet.metric, sheet.row_metric)
    spread = next((one for name in names if (one := footer.spread(name, sheet.against))), None)
    if spread is None:
        return ("—", "")
    return (f"{figure(spread.low)} to {figure(spread.high)}", plural(len(spread.runs), "run"))


def figures_of(sheet: Sheet, footer: Footer) -> tuple[tuple[str, float], ...]:
    """Return the run-level figure that stands below an arm: its primary metric against the sheet's set."""
    ref = sheet.against.ref if sheet.against else None
    held = next((scores for one, scores in footer.figures if (one.ref if one else None) == ref), {})
    return tuple((name, value) for name, value in held.items() if name == sheet.metric)


def _arm(sheet: Sheet, at: int, arm: ArmColumn) -> Iterator[Column]:
    footer = sheet.footer[at]
    place = places_of(sheet)[at]
    errors = [cut(row.cells[at].error) for row in sheet.rows]
    rate = figures_of(sheet, footer)
    foot = (
        (
            figure(footer.means[place]) if place is not None else "—",
            f"{footer.counts[place] if place is not None else 0:,} of {footer.of:,}"
            + (f", {footer.errors:,} failed" if footer.errors else ""),
        ),
        (figure(footer.win_rate), " ".join(figure(value) for _, value in rate) or "—"),
        *([(figure(footer.judge_win_rate), "")] if sheet.two_winners else []),
        *([(footer.verdict or "—", p_text(footer.p) or "—")] if has_verdicts(sheet) else []),
        *([repeats_line(sheet, at)] if has_repeats(sheet) else []),
    )
    answers = [decided(row, at) for row in sheet.rows]
    yield Column(arm.name, arm.name, "decision", answers, arm=at, flags=_told(sheet, arm), foot=foot)
    for number, column in enumerate(arm.scores):
        values = [row.cells[at].scores[number] for row in sheet.rows]
        own = column.against == sheet.against
        yield Column(
            score_key(sheet, arm, column),
            column.metric.replace("_", " "),
            "score",
            values,
            number=True,
            arm=at,
            place=next(
                (n for n, one in enumerate(sheet.labels) if column.against and one.ref == column.against.ref),
                None,
            ),
            on=own and not (column.metric == STAND_IN and binary(values)),
            higher=column.higher,
            flags=tuple(
                text
                for text, holds in (
                    ("own labels", column.own),
                    ("fitted here", column.fitted),
                    (f"mean of {len(column.runs)}", column.runs),
                )
                if holds
            ),
            foot=_score_foot(sheet, at, number),
        )
    if any(error is not None for error in errors):
        yield Column(f"~error:{at}", "", "", errors, arm=at)


def _told(sheet: Sheet, arm: ArmColumn) -> tuple[str, ...]:
    """Return what a reader must know of an arm's column, in short."""
    tried = f"trial, {arm.trial:,} of {sheet.n_items:,}" if arm.trial is not None else ""
    return tuple(one for one in (tried, arm.repeat) if one)


def _score_foot(sheet: Sheet, at: int, number: int) -> tuple[FootLine, ...]:
    column, footer = sheet.arms[at].scores[number], sheet.footer[at]
    made = ((figure(footer.means[number]), f"{footer.counts[number]:,} of {footer.of:,}"), ("", ""))
    spread = footer.spread(column.metric, column.against)
    if spread is None:
        return made
    between = (("", ""),) * (sheet.two_winners + has_verdicts(sheet))
    return (*made, *between, (figure(spread.low), f"to {figure(spread.high)}"))  # a score's column is narrow


def _field(name: str, values: list[Scalar | None], *, on: bool) -> Column:
    if any(value is not None for value in values) and all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    ):
        numbers = [None if value is None else float(value) for value in values]
        return Column(f"field:{name}", name, "field", numbers, number=True, on=on)
    return Column(f"field:{name}", name, "field", [field_text(value) for value in values], on=on)


def _new(sheet: Sheet, seen: Mapping[str, Mapping[str, frozenset[str]]]) -> Iterator[Column]:
    for name, values in seen.items():
        fields = (
            row.signals.new if name == sheet.new_vs else signals.new_fields(row.fields, values)
            for row in sheet.rows
        )
        yield Column(f"~new:{name}", "", "", [", ".join(one) or None for one in fields])


def _item_foot(sheet: Sheet) -> tuple[FootLine, ...]:
    mean = "Share right" if sheet.row_metric == "correct" else "Mean"
    lines = [(mean, "over how many"), ("Win rate", sheet.metric.replace("_", " "))]
    lines += [("Win rate", f"by {sheet.judge}")] if sheet.two_winners else []
    lines += [("Verdict", "p against the leader")] if has_verdicts(sheet) else []
    lines += [("Repeats", "lowest to highest")] if has_repeats(sheet) else []
    return tuple(lines)


def _bits(row: Row) -> int:
    held = row.signals
    given = (held.wrong, held.disagree, held.split, held.new, held.unlabelled)
    return sum(1 << at for at, holds in enumerate(given) if holds)


def kinds_of(row: Row) -> tuple[str, ...]:
    """Return the names of the signals that a row carries."""
    bits = _bits(row)
    return tuple(kind for at, kind in enumerate(SIGNALS) if bits >> at & 1)


def _winners(sheet: Sheet) -> list[str | None]:
    places = {arm.name: str(at) for at, arm in enumerate(sheet.arms)}
    return [
        NOBODY if row.none_right else ",".join(places[name] for name in row.winners) or None
        for row in sheet.rows
    ]


def _judge_winners(sheet: Sheet) -> list[str | None]:
    places = {arm.name: str(at) for at, arm in enumerate(sheet.arms)}
    return [",".join(places[name] for name in row.judge_winners) or None for row in sheet.rows]


@lru_cache(maxsize=65536)
def _label(text: str | None) -> str | None:
    return None if text is None else cut(shown(text))
