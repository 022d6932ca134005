"""The sheet of a dataset: its items down, its arms across, the labels, who won each row, and what to look at.

It reads stored decisions and scores and runs no code of the project, save the first arm's ``same`` in a
project that says ``trust_adapters``.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING

from evh.acts import judged_columns, sheet_arms, sheet_footer, sheet_signals
from evh.acts.sheet_choices import Choices, by_goal, choose
from evh.acts.sheet_columns import BUNDLED_ADAPTERS, ArmData, label_column
from evh.acts.sheet_model import (
    Against,
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
from evh.measure import signals
from evh.measure.winners import win_rates, winners
from evh.project import datasets
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evh.adapters.hooks import Adapter
    from evh.project.find import Project
    from evh.records.pick import Pick
    from evh.records.run import Run

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
    sources: Sources | None = None,
) -> Sheet:
    """Return the sheet of a dataset.

    Args:
        project: the project.
        dataset_id: the dataset whose items are the rows.
        runs: config or run ids; the first stands for production, the rest are the candidates. None named:
            all arms that ran on the dataset: recorded ones, then a baseline's, then the rest by name.
        metric: draws the winner, ``SCORER/M`` a judge's; by default the goal's, else the primary metric.
        against: the label set (``D/S``) or reference set (``tier/name``) whose scores draw the winner. By
            default the goal's, else the one that most of the arms were scored against, of the dataset's task,
            with at least two distinct answers, a reference before a label set.
        filters: which rows are shown.
        new_vs: the dataset that the signal *new* compares with; by default the one governed dataset other
            than this, where there is exactly one; of several the one that the dataset's picks are for.
        wrong_against: keep only rows where the first arm is wrong against this set.
        with_outputs: read the arms' outputs; without them `Cell.output` is None.
        with_previews: read the items' texts; without them `Row.preview` is empty.
        with_verdicts: give the footer its verdicts, which takes a paired test of every two arms.
        with_rows: make the rows; without them there is no footer to read either, only what was chosen.
        goal: the goal whose metric, set and rules hold; by default the one goal that names the dataset.
        folder: the ``runs*`` folder whose scores alone are shown; by default those of all.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: no such dataset; an arm that did not run on it; a metric, set, dataset, goal or field that
            is not there, each named.

    Cost: each run's predictions and each set's labels are read once.
    """
    sources = sources or Sources(project)
    if folder is not None:
        sources.runs = sheet_arms.of_folder(sources.runs, folder)
    filters = filters or Filters()
    held_goal = sheet_footer.goal_of(sources, dataset_id, goal)
    dataset = sources.datasets.get(dataset_id) or datasets.read(project, dataset_id)
    found = sheet_arms.of_sheet(project, dataset_id, runs, sources)
    covering = sources.covering(dataset)
    labels = tuple(label_column(one, dataset, sources) for one in covering)
    judgements = judged_columns.of_sheet(sources, dataset_id, found)
    judge = judgements.drawn_by(judgements.named(metric))
    columns = [
        ArmData(arm, sources, labels, with_outputs=with_outputs, judged=held)
        for arm, held in zip(found, judgements.columns, strict=True)
    ]
    arms = tuple(one.column for one in columns)
    texts = [one.texts for one in covering]
    wanted = by_goal(
        held_goal, columns, metric=judgements.named(metric), against=against, named=goal is not None
    )
    choices = choose(
        dataset, columns, labels, texts, sources,
        metric=wanted.metric, against=wanted.against, new_vs=new_vs, wrong_against=wrong_against,
        where=filters.where, higher=wanted.higher,
    )  # fmt: skip
    if judge is not None and not choices.row_metric:  # nothing but a judge has scored these arms
        choices = replace(choices, metric=choices.metric or judge.title, row_metric=judge.title, against=None)
    same = (same_of(project, columns[0].column.run, sources) if columns else None) or operator.eq
    seen = (
        signals.seen_values(item.fields for item in sources.datasets[choices.new_vs].items)
        if choices.new_vs and with_rows
        else {}
    )
    previews = sources.previews(dataset) if with_previews else {}
    if not runs:
        order = sheet_arms.by_standing(columns, choices, sheet_arms.promoted_arms(project, sources, []))
        columns, found = [columns[at] for at in order], [found[at] for at in order]
        arms = tuple(one.column for one in columns)
        judgements = replace(judgements, columns=tuple(judgements.columns[at] for at in order))
        positions = {new: choices.positions[at] for new, at in enumerate(order) if at in choices.positions}
        choices = replace(choices, positions=positions)
    # An arm alone beats nobody: with one that competes there is no winner, however right it is.
    compete = choices.positions if len(choices.positions) > 1 else {}
    # A judge's shares are of all that it compared, shown or not, so that it says itself who won.
    by_judge = judge is not None and choices.row_metric == judge.title
    settles = sheet_signals.settling(labels, arms, choices.against, sources)
    items = dataset.items if with_rows else ()
    answered = [tuple(one.cell(item.item_id) for one in columns) for item in items]
    scored = [
        {arms[at].name: cells[at].scores[position] for at, position in compete.items()} for cells in answered
    ]
    right_or_wrong = choices.higher and all(
        score in (None, 0, 1) for competing in scored for score in competing.values()
    )
    rows: list[Row] = []
    for item, cells, competing in zip(items, answered, scored, strict=True):
        texts_here = tuple(one.get(item.sha256) for one in texts)
        judged_best = judge.winners(item.item_id) if judge else ()
        best = judged_best if by_judge else winners(competing, higher=choices.higher)
        none_right = right_or_wrong and not by_judge and bool(best) and competing[best[0]] == 0
        rows.append(
            Row(
                item_id=item.item_id,
                sha256=item.sha256,
                preview=previews.get(item.item_id, ""),
                fields=item.fields,
                cells=cells,
                labels=texts_here,
                winners=() if none_right else best,
                none_right=none_right,
                signals=sheet_signals.of_row(
                    item,
                    arms=arms,
                    cells=cells,
                    labels=labels,
                    texts=texts_here,
                    seen=seen,
                    same=same,
                    settles=settles,
                ),
                picked=_picked(sources, dataset_id, item.item_id),
                judge_winners=judged_best,
            )
        )
    rates = win_rates(scored, [arms[at].name for at in compete], higher=choices.higher)
    judge_rates = {arm.name: judge.rate(arm.name) for arm in arms} if judge else {}
    footer = tuple(
        replace(
            sheet_footer.line(
                one, rows, at, labels=labels, choices=choices, rates=judge_rates if by_judge else rates
            ),
            judge_win_rate=judge_rates.get(one.column.name),
        )
        for at, one in enumerate(columns)
    )
    said = sheet_footer.Verdicts(footer, "", ())
    if with_verdicts and choices.metric:
        said = sheet_footer.verdicts(
            sources, dataset, found, footer,
            judgements=judgements, choices=choices, goal=held_goal if goal is not None else None,
        )  # fmt: skip
    shown = [row for row in rows if _kept(row, filters, choices)]
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
        notes=(
            *wanted.notes,
            *choices.notes,
            *judgements.notes,
            *sheet_footer.unscored(arms, choices, dataset_id),
            *sheet_footer.undecided(columns, rows),
            *sheet_footer.turned(arms, rows, footer, choices),
            *said.notes,
            *sources.notes(),
        ),
        row_metric=choices.row_metric,
        higher=choices.higher,
        new_vs=choices.new_vs,
        judged_by=said.judged_by,
        judge=judge.title if judge else None,
        goal=held_goal.goal_id if held_goal else None,
    )


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


def same_of(project: Project, run: Run, sources: Sources) -> Callable[[str, str], bool] | None:
    """Return what an arm's adapter calls the same decision, in a project that trusts its adapters; else None.

    None stands for equal texts: the adapter is bundled, not trusted, or cannot be loaded, as
    ``sources.problems`` then tells.
    """
    if not project.settings.trust_adapters or run.adapter in BUNDLED_ADAPTERS:
        return None
    from evh.adapters import loader

    def load(name: str) -> Adapter:
        return loader.load(project, name, beside=project.data / "configs")

    found = read_each([run.adapter], load, sources.problems)
    return found[0].same if found and found[0].has("same") else None


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
