"""Printing a sheet, an item and a comparison for people."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from evh.acts import steps
from evh.acts.sheet_columns import STAND_IN
from evh.acts.sheet_table import NONE_RIGHT
from evh.cli.common import next_steps, say, warn
from evh.cli.table import DASH, table
from evh.records import answers
from evh.store.text import clean, one_line, plural

if TYPE_CHECKING:
    from evh.acts.compare_runs import Comparison
    from evh.acts.item_view import ItemArm, ItemView
    from evh.acts.sheet import Against, ArmColumn, Cell, Sheet
    from evh.acts.sheet_model import ValueCount
    from evh.measure.signals import Signals

SHOWN_ROWS = 20
INLINE_IDS = 200
DECISION_WIDTH = 32


def show_sheet(
    sheet: Sheet, counts: tuple[ValueCount, ...] | None, by: str | None, limit: int | None
) -> None:
    """Print a sheet: its rows, the counts by a field, the footer, and the commands for the rows shown."""
    rows = sheet.rows[: _limit(limit)]
    drawn = f"winner by {sheet.row_metric}" if sheet.row_metric else "no winner"
    drawn += f" against {sheet.against.ref}" if sheet.against else ""
    say(
        f"{sheet.dataset_id}: {len(sheet.rows):,} of {plural(sheet.n_items, 'item')}, "
        f"{plural(len(sheet.arms), 'arm')}; {drawn}"
    )
    if rows:
        places = [arm.position(sheet.row_metric, sheet.against) for arm in sheet.arms]
        rights = [arm.position(STAND_IN, sheet.against) for arm in sheet.arms]
        table(
            [
                "item",
                "starts",
                *(arm.name for arm in sheet.arms),
                *(column.ref.removeprefix(f"labels/{sheet.dataset_id}/") for column in sheet.labels),
                "winner",
                *([f"by {sheet.judge}"] if sheet.two_winners else []),
                "signals",
            ],
            [
                [
                    row.item_id,
                    one_line(row.preview, 60),
                    *(
                        _decided(
                            cell,
                            None if right is None else cell.scores[right],
                            None if place in (None, right) else cell.scores[place],
                        )
                        for cell, place, right in zip(row.cells, places, rights, strict=True)
                    ),
                    *(
                        None if text is None else one_line(answers.shown(text), DECISION_WIDTH)
                        for text in row.labels
                    ),
                    NONE_RIGHT if row.none_right else ", ".join(row.winners) or None,
                    *([", ".join(row.judge_winners) or None] if sheet.two_winners else []),
                    _signals(sheet, row.signals, picked=row.picked is not None and row.picked.waits),
                ]
                for row in rows
            ],
            keep=[0, *range(2, 2 + len(sheet.arms))],
            drop=_dropped(len(sheet.arms), len(sheet.labels), judged=sheet.two_winners),
        )
    if len(sheet.rows) > len(rows):
        say(f"and {plural(len(sheet.rows) - len(rows), 'more row')} (--limit N, or --csv FILE for all)")
    if counts is not None:
        say()
        signals = ("wrong", "disagree", "split", "new", "unlabelled")
        table(
            [str(by), "rows", *signals],
            [[_raw(one.value), one.n, *(one.signals[name] for name in signals)] for one in counts],
            right=range(1, 7),
        )
    _show_footer(sheet)
    warn(sheet.notes)
    if len(rows) > INLINE_IDS:
        say(f"(the commands name the first {INLINE_IDS} rows; filters narrow the rows)")
    next_steps(row_commands(sheet.dataset_id, [row.item_id for row in rows[:INLINE_IDS]]))


def _dropped(n_arms: int, n_labels: int, *, judged: bool = False) -> list[int]:
    """Return the order in which a narrow terminal leaves a sheet's columns out.

    The signals, the first candidate and the winner go last; the item and production never.
    """
    arms = list(range(2, 2 + n_arms))
    labels = list(range(2 + n_arms, 2 + n_arms + n_labels))
    winner = 2 + n_arms + n_labels
    by_judge = [winner + 1] if judged else []
    signals = winner + 1 + len(by_judge)
    return [1, *reversed(arms[2:]), *reversed(labels), winner, *by_judge, *arms[1:2], signals]


def show_comparison(made: Comparison, limit: int | None) -> None:
    """Print what moved between two arms."""
    one, two = (arm.name for arm in made.arms)
    say(f"{made.dataset_id}: {one} and {two} decided {made.n_same} of {plural(made.n_both, 'item')} alike")
    if made.metric:
        ref = made.against.ref if made.against else DASH
        won = made.n_better or (DASH, f"{DASH} (no item has a score of both)")
        better = f"{one} better on {won[0]}, {two} better on {won[1]}"
        say(f"{made.metric} against {ref}: {better}")
    rows = made.rows[: _limit(limit)]
    by_right = made.metric == STAND_IN
    if rows:
        table(
            ["item", "starts", one, two, "better"],
            [
                [
                    row.item_id,
                    one_line(row.preview, 60),
                    *(
                        _decided(cell, score if by_right else None, None if by_right else score)
                        for cell, score in zip(row.cells, row.scores, strict=True)
                    ),
                    row.better,
                ]
                for row in rows
            ],
        )
    else:
        say("nothing moved")
    if len(made.rows) > len(rows):
        say(f"and {plural(len(made.rows) - len(rows), 'more item')} (--limit N)")
    warn(made.notes)
    first = _quoted(rows[0].item_id) if rows else None
    if first:
        next_steps([f"evh inspect --dataset-id {made.dataset_id} --item {first}"])


def show_view(view: ItemView) -> None:
    """Print one item in full."""
    say(f"{one_line(view.item_id)} of {view.dataset_id}")
    say(f"sha256 {view.sha256}")
    for name, value in view.fields.items():
        say(f"{one_line(name)}: {_raw(value)}")
    if view.lineage:
        say("from " + ", ".join(f"{key} {_raw(value)}" for key, value in view.lineage.items()))
    for place in view.elsewhere:
        say(f"the same bytes: {place.dataset_id}/{one_line(place.item_id)}")
    if view.picked is not None:
        waits = ", ".join(view.picked.waits_for) or "no dataset yet"
        told = [f"picked for {waits}"] if view.picked.waits else []
        told += [f"picked, and in {version}" for version in view.picked.taken_by]
        say("; ".join(told) or "picked")
    say()
    say(DASH * 3 + " text " + DASH * 3)
    say(view.text if view.text is not None else "(its text is not here)")
    say(DASH * 12)
    if view.labels:
        say()
        table(
            ["labels", "task", "source", "by", "label", "note"],
            [
                [
                    one.column.ref,
                    one.column.task or None,
                    one.column.tier or one.column.source_kind,
                    one.column.by or None,
                    answers.shown(one.text),
                    one.note,
                ]
                for one in view.labels
            ],
        )
    else:
        say()
        say("no labels yet")
    for arm in view.arms:
        _show_arm(arm)
    warn(view.notes)
    next_steps(row_commands(view.dataset_id, [view.item_id]))


def _raw(value: object) -> str:
    """Return a field's or an id's value as it is: 2022 is a year, not a count."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return DASH if value is None else one_line(str(value))


def _show_arm(arm: ItemArm) -> None:
    say()
    told = f"; {arm.told}" if arm.told else ""
    say(f"{arm.name} ({'recorded, ' if arm.recorded else ''}run {arm.run_id}{told})")
    if arm.cell.error is not None:
        say(f"  error: {one_line(arm.cell.error)}")
    if arm.cell.decision is not None:
        say(f"  decision: {one_line(arm.cell.decision)}")
    if arm.cell.output is not None and arm.cell.output.removesuffix("\n") != arm.cell.decision:
        say("  output:")
        for line in arm.cell.output.splitlines():
            say(f"    {line}")
    for column, score in zip(arm.scores, arm.cell.scores, strict=True):
        if score is not None:
            flags = _flags(own=column.own, fitted=column.fitted)
            ref = f" against {column.against.ref}" if column.against else ""
            say(f"  {column.metric}{ref}: {score:g}{f' ({flags})' if flags else ''}")


def _show_footer(sheet: Sheet) -> None:
    rows = [line for at in range(len(sheet.arms)) for line in _footer_lines(sheet, at)]
    if rows:
        say()
        say("over every item of the dataset:")
        table(
            [
                "arm",
                "against",
                "metric",
                "value",
                "items",
                "always one: right on",
                "win rate",
                "failed",
                "verdict",
                "p",
                "note",
            ],
            rows,
            right=(3, 4, 5, 6, 7, 9),
            keep=(0, 1, 8),
            drop=(5, 9, 6, 2, 7, 4),
        )
        if sheet.judged_by:
            say(f"verdicts: {sheet.judged_by}")
    if sheet.judge:
        say()
        say(f"by the judge, {sheet.judge}, over the rows judged:")
        told = [
            (arm, footer, arm.position(sheet.judge, None))
            for arm, footer in zip(sheet.arms, sheet.footer, strict=True)
        ]
        table(
            ["arm", "win rate", "rows"],
            [
                [arm.name, footer.judge_win_rate, 0 if place is None else footer.counts[place]]
                for arm, footer, place in told
            ],
            right=(1, 2),
        )


def _footer_lines(sheet: Sheet, at: int) -> list[list[object]]:
    arm, footer = sheet.arms[at], sheet.footer[at]
    majority = dict(footer.majority_rates)
    made: list[list[object]] = []
    judged = arm.position(sheet.metric, None) if all(one is not None for one, _ in footer.figures) else None
    if judged is not None:  # a judge's metric, which no set stands behind
        over = f"{footer.counts[judged]:,} of {footer.of:,}"
        p = None if footer.p is None else f"{footer.p:.4f}"
        value, rate = footer.means[judged], footer.win_rate
        return [[arm.name, None, sheet.metric, value, over, None, rate, footer.errors, footer.verdict, p, ""]]
    for against, scores in footer.figures:
        mine = [place for place, column in enumerate(arm.scores) if column.against == against]
        place = arm.position(sheet.metric, against)
        value = scores.get(sheet.metric)
        if value is None and place is not None:
            value = footer.means[place]
        n = max((footer.counts[place] for place in mine), default=0)
        made.append(
            [
                arm.name,
                against.ref if against else None,
                sheet.metric,
                value,
                f"{n:,} of {footer.of:,}",
                majority.get(against),
                footer.win_rate if against == sheet.against else None,
                footer.errors,
                footer.verdict if against == sheet.against else None,
                None if footer.p is None or against != sheet.against else f"{footer.p:.4f}",
                _noted(sheet, at, against),
            ]
        )
    return made or [_unscored(arm, footer.errors)]


def _noted(sheet: Sheet, at: int, against: Against | None) -> str:
    """Return what stands beside an arm's figure against a set: its flags, how far its repeats lie apart."""
    arm = sheet.arms[at]
    first = next((column for column in arm.scores if column.against == against), None)
    spread = sheet.footer[at].spread(sheet.metric, against)
    repeats = f"{len(spread.runs)} runs {spread.low:.3f} to {spread.high:.3f}" if spread else ""
    tried = f"trial, {arm.trial:,} of {sheet.n_items:,}" if arm.trial is not None else ""
    flags = _flags(own=first is not None and first.own, fitted=first is not None and first.fitted)
    return ", ".join(one for one in (flags, tried, repeats) if one)


def _unscored(arm: ArmColumn, errors: int) -> list[object]:
    return [arm.name, None, None, None, None, None, None, errors, None, None, "not scored yet"]


def row_commands(dataset_id: str, item_ids: list[str]) -> list[str]:
    """Return the commands for some rows; an id that a terminal cannot show as it is gets none."""
    items = " ".join(f"--item {quoted}" for one in item_ids if (quoted := _quoted(one)))
    if not items:
        return []
    return [
        f"evh pick --dataset-id {dataset_id} {items}",
        steps.label_sheet(dataset_id, items),
    ]


def _quoted(item_id: str) -> str | None:
    """Return an id quoted for a shell, or None: printing it would change it."""
    return shlex.quote(item_id) if clean(item_id) == item_id else None


def _flags(*, own: bool, fitted: bool) -> str:
    return ", ".join([*(["own labels"] if own else []), *(["fitted here"] if fitted else [])])


def _decided(cell: Cell, right: float | None, score: float | None) -> str | None:
    """Return a cell as a table shows it: the decision, ✓ or ✗ where `correct` is 1 or 0, another score."""
    if cell.error is not None:  # where other repeats have a score, it is theirs
        mean = "" if right is None and score is None else f" {right if right is not None else score:.3f}"
        return f"error: {one_line(cell.error, DECISION_WIDTH)}{mean}"
    text = cell.decision if cell.decision is not None else cell.output
    if text is None and right is None and score is None:
        return None
    mark = "" if right is None else {0.0: " ✗", 1.0: " ✓"}.get(right, f" {right:.3f}")
    figure = "" if score is None else f" {score:.3f}"
    return f"{one_line(text or '', DECISION_WIDTH)}{mark}{figure}".strip()


def _signals(sheet: Sheet, signals: Signals, *, picked: bool) -> str | None:
    words = []
    if signals.wrong:
        refs = (ref.removeprefix(f"labels/{sheet.dataset_id}/") for ref in signals.wrong)
        words.append(f"wrong ({', '.join(refs)})")
    words += ["disagree"] if signals.disagree else []
    words += ["split"] if signals.split else []
    words += [f"new ({', '.join(signals.new)})"] if signals.new else []
    words += ["unlabelled"] if signals.unlabelled else []
    words += ["picked"] if picked else []
    return " ".join(words) or None


def _limit(limit: int | None) -> int | None:
    return limit if limit is not None else SHOWN_ROWS if sys.stdout.isatty() else None
