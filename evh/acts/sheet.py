"""The sheet of a dataset: its items down, its arms across, the labels, who won each row, and what to look at.

It reads stored decisions and scores and runs no code of the project, save the first arm's ``same`` in a
project that says ``trust_adapters``.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import sheet_arms, sheet_footer, sheet_signals
from evh.acts.figures import Against
from evh.acts.sheet_layout import lay_out
from evh.acts.sheet_model import (
    ArmColumn,
    Cell,
    Filters,
    Footer,
    LabelColumn,
    Row,
    ScoreColumn,
    Sheet,
    ValueCount,
)
from evh.acts.sources import Sources
from evh.measure.winners import win_rates, winners

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sheet_choices import Choices
    from evh.acts.sheet_layout import Layout
    from evh.project.find import Project
    from evh.records.pick import Pick

__all__ = [
    "Against",
    "ArmColumn",
    "Cell",
    "Filters",
    "Footer",
    "LabelColumn",
    "Row",
    "ScoreColumn",
    "Sheet",
    "ValueCount",
    "build_sheet",
    "count_by",
]


def build_sheet(
    project: Project,
    dataset_id: str,
    runs: Sequence[str] = (),
    *,
    metric: str | None = None,
    against: str | None = None,
    filters: Filters | None = None,
    new_vs: str | None = None,
    wrong_against: str | None = None,
    with_outputs: bool = True,
    with_previews: bool = True,
    with_verdicts: bool = False,
    with_rows: bool = True,
    goal: str | None = None,
    folder: str | None = None,
    scorers: Sequence[str] | None = None,
    sources: Sources | None = None,
) -> Sheet:
    """Return the sheet of a dataset.

    Args:
        project: the project.
        dataset_id: the dataset whose items are the rows.
        runs: config or run ids; the first stands for production, the rest are the candidates. None named:
            all arms that ran on the dataset: recorded ones, then a baseline's, then the rest by name. A
            config that ran several times has the means over its repeats, a run's id that run alone.
        metric: draws the winner, ``SCORER/M`` a judge's; by default the goal's, else the primary metric.
        against: the label set (``D/S``) or reference set (``tier/name``) whose scores draw the winner. By
            default the goal's, else ``wrong_against``, else the one that most of the arms were scored
            against, of the dataset's task, with at least two distinct answers, a reference before a label
            set, and of equals the one that labels most items.
        filters: which rows are shown.
        new_vs: the dataset that the signal *new* compares with; by default the one governed dataset other
            than this, where there is exactly one; of several the one that the dataset's picks are for.
        wrong_against: keep only rows where the first arm is wrong against this set; *wrong* counts it.
        with_outputs: read the arms' outputs; without them `Cell.output` is None.
        with_previews: read the items' texts; without them `Row.preview` is empty.
        with_verdicts: give the footer its verdicts, which takes a paired test of every two arms.
        with_rows: make the rows; without them no share of the wins is told either.
        goal: the goal whose metric, set and rules hold; by default the one goal that names the dataset.
        folder: the ``runs*`` folder whose scores alone are shown; by default those of all.
        scorers: the judges whose columns are shown; by default all that judged these arms.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: no such dataset; an arm that did not run on it; a metric, set, dataset, goal, judge or field
            that is not there, each named.

    Cost: each run's predictions and each set's labels are read once.
    """
    sources = sources or Sources(project)
    if folder is not None:
        sources.runs = sheet_arms.of_folder(sources.runs, folder)
    filters = filters or Filters()
    layout = lay_out(
        sources, dataset_id, runs,
        metric=metric, against=against, where=filters.where, new_vs=new_vs, wrong_against=wrong_against,
        with_outputs=with_outputs, goal=goal, scorers=scorers,
    )  # fmt: skip
    dataset, choices, judge = layout.dataset, layout.choices, layout.judge
    arms, labels = layout.arms, layout.labels
    made = _Rows((), {})
    if with_rows:
        made = _rows(sources, layout, sources.previews(dataset) if with_previews else {})
    # A judge's shares are of all that it compared, shown or not, so that it says itself who won.
    judge_rates = {arm.name: judge.rate(arm.name) for arm in arms} if judge and _by_judge(layout) else None
    footer = sheet_footer.lines(sources, layout, made.rates if judge_rates is None else judge_rates)
    said = sheet_footer.Verdicts(footer, "", ())
    if with_verdicts and choices.metric:
        said = sheet_footer.verdicts(
            sources, dataset, layout.found, footer,
            judgements=layout.judgements, choices=choices, goal=layout.goal if goal is not None else None,
        )  # fmt: skip
    shown = [row for row in made.rows if _kept(row, filters, choices)]
    shown.sort(key=lambda row: -row.signals.count)  # stable: then in the dataset's order
    return Sheet(
        dataset_id=dataset_id,
        n_items=len(dataset.items),
        arms=arms,
        labels=labels,
        rows=tuple(shown),
        footer=said.footer,
        metric=choices.metric,
        against=choices.against,
        fields=tuple(dict.fromkeys(name for item in dataset.items for name in item.fields)),
        notes=sheet_footer.notes(sources, layout, said),
        row_metric=choices.row_metric,
        higher=choices.higher,
        new_vs=choices.new_vs,
        judged_by=said.judged_by,
        judge=judge.title if judge else None,
        goal=layout.goal.goal_id if layout.goal else None,
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Every row of the dataset, in its order, and each arm's share of the wins."""

    rows: tuple[Row, ...]
    rates: Mapping[str, float | None]


def _rows(sources: Sources, layout: Layout, previews: Mapping[str, str]) -> _Rows:
    dataset, choices, judge = layout.dataset, layout.choices, layout.judge
    arms, compete, by_judge = layout.arms, layout.compete, _by_judge(layout)
    items = dataset.items
    answered = list(zip(*(one.cells(items) for one in layout.columns), strict=True)) or [() for _ in items]
    scored = [
        {arms[at].name: cells[at].scores[position] for at, position in compete.items()} for cells in answered
    ]
    right_or_wrong = choices.higher and all(
        layout.columns[at].right_or_wrong(position) for at, position in compete.items()
    )
    settles = sheet_signals.settling(
        layout.labels, arms, choices.against, sources, asked=choices.wrong_against
    )
    seen = sources.seen_values(choices.new_vs) if choices.new_vs else {}
    made: list[Row] = []
    for item, cells, competing in zip(items, answered, scored, strict=True):
        texts = tuple(one.get(item.sha256) for one in layout.texts)
        judged_best = judge.winners(item.item_id) if judge else ()
        best = judged_best if by_judge else winners(competing, higher=choices.higher)
        none_right = right_or_wrong and not by_judge and bool(best) and competing[best[0]] == 0
        made.append(
            Row(
                item_id=item.item_id,
                sha256=item.sha256,
                preview=previews.get(item.item_id, ""),
                fields=item.fields,
                cells=cells,
                labels=texts,
                winners=() if none_right else best,
                none_right=none_right,
                signals=sheet_signals.of_row(
                    item,
                    arms=arms,
                    cells=cells,
                    first=layout.columns[0].shown_scores(item.item_id, cells[0]) if cells else (),
                    labels=layout.labels,
                    texts=texts,
                    seen=seen,
                    same=layout.same,
                    settles=settles,
                ),
                picked=_picked(sources, dataset.dataset_id, item.item_id),
                judge_winners=judged_best,
            )
        )
    rates = win_rates(scored, [arms[at].name for at in compete], higher=choices.higher)
    if sources.project.memory is None:
        return _Rows(tuple(made), rates)
    key = ("rows", dataset.dataset_id, tuple(arm.run.key for arm in arms))
    held = sources.memory.steady(key, dict(enumerate(made)), _alike)
    return _Rows(tuple(held.values()), rates)


def _alike(one: Row, other: Row) -> bool:
    """Tell whether two rows cannot be told apart: what records say by the object, texts as they are."""
    return (
        one.fields is other.fields
        and one.picked is other.picked
        and len(one.cells) == len(other.cells)
        and all(map(operator.is_, one.cells, other.cells))
        and _texts_of(one) == _texts_of(other)
    )


def _texts_of(row: Row) -> tuple[object, ...]:
    return (
        row.item_id, row.sha256, row.preview, row.labels,
        row.winners, row.none_right, row.signals, row.judge_winners,
    )  # fmt: skip


def _by_judge(layout: Layout) -> bool:
    """Tell whether a judge draws each row's winner."""
    return layout.judge is not None and layout.choices.row_metric == layout.judge.title


def count_by(sheet: Sheet, field: str) -> tuple[ValueCount, ...]:
    """Return, for each value of a field in the rows shown, how many rows have it and carry each signal.

    The most frequent value comes first, then by text; rows without the field count under None.
    """
    groups: dict[object, list[Row]] = {}
    for row in sheet.rows:
        value = row.fields.get(field)
        groups.setdefault((type(value).__name__, value), []).append(row)
    made = [
        ValueCount(
            value=group[0].fields.get(field),
            n=len(group),
            signals={
                "wrong": sum(bool(row.signals.wrong) for row in group),
                "disagree": sum(row.signals.disagree for row in group),
                "split": sum(row.signals.split for row in group),
                "new": sum(bool(row.signals.new) for row in group),
                "unlabelled": sum(row.signals.unlabelled for row in group),
            },
        )
        for group in groups.values()
    ]
    return tuple(sorted(made, key=lambda one: (-one.n, one.value is None, str(one.value))))


def _picked(sources: Sources, dataset_id: str, item_id: str) -> Pick | None:
    pick = sources.picks.get((dataset_id, item_id))
    return None if pick is None or pick.op == "drop" else pick


def _kept(row: Row, filters: Filters, choices: Choices) -> bool:
    signal = row.signals
    return all(
        (
            signal.disagree or not filters.disagree,
            signal.split or not filters.split,
            signal.unlabelled or not filters.unlabelled,
            signal.wrong or not filters.wrong,
            signal.new or not filters.new,
            choices.wrong_against is None or choices.wrong_against in signal.wrong_by,
            *(one.holds(row.fields) for one in choices.where),
        )
    )
