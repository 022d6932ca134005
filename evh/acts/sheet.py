"""The sheet of a dataset: its items down, its arms across, the labels, who won each row, and what to look at.

It reads stored decisions and scores and runs no code of the project, save the first arm's ``same`` in a
project that says ``trust_adapters``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from evh.acts.sheet_choices import Choices, choose
from evh.acts.sheet_columns import BUNDLED_ADAPTERS, STAND_IN, ArmData, label_column
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
from evh.measure.numbers import mean
from evh.measure.scores import majority_rate
from evh.measure.signals import Signals
from evh.measure.winners import win_rates, winners
from evh.project import arms as project_arms
from evh.project import datasets
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.adapters.hooks import Adapter
    from evh.project.find import Project
    from evh.records.dataset import Item
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
    sources: Sources | None = None,
) -> Sheet:
    """Return the sheet of a dataset.

    Args:
        project: the project.
        dataset_id: the dataset whose items are the rows.
        runs: config or run ids; the first stands for production, the rest are the candidates. None named:
            all arms that ran on the dataset, recorded ones first.
        metric: draws the winner; the primary metric by default.
        against: the label set (``D/S``) or reference set (``tier/name``) whose scores draw the winner. By
            default the one that most of the arms were scored against, of the dataset's task, with at least
            two distinct answers, a reference before a label set.
        filters: which rows are shown.
        new_vs: the dataset that the signal *new* compares with; by default the one governed dataset other
            than this, where there is exactly one.
        wrong_against: keep only rows where the first arm is wrong against this set.
        with_outputs: read the arms' outputs; without them `Cell.output` is None.
        with_previews: read the items' texts; without them `Row.preview` is empty.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: no such dataset; an arm that did not run on it; a metric, set, dataset or field that is not
            there, each named.

    Cost: each run's predictions and each set's labels are read once.
    """
    sources = sources or Sources(project)
    filters = filters or Filters()
    dataset = sources.datasets.get(dataset_id) or datasets.read(project, dataset_id)
    found = project_arms.of_dataset(project, dataset_id, runs, all_runs=sources.runs)
    covering = sources.covering(dataset)
    labels = tuple(label_column(one, dataset, sources) for one in covering)
    columns = [ArmData(arm, sources, labels, with_outputs=with_outputs) for arm in found]
    arms = tuple(one.column for one in columns)
    texts = [one.texts for one in covering]
    choices = choose(
        dataset, columns, labels, texts, sources,
        metric=metric, against=against, new_vs=new_vs, wrong_against=wrong_against, where=filters.where,
    )  # fmt: skip
    same = _same(project, columns[0].column.run, sources) if columns else operator.eq
    seen = (
        signals.seen_values(item.fields for item in sources.datasets[choices.new_vs].items)
        if choices.new_vs
        else {}
    )
    previews = sources.previews(dataset) if with_previews else {}
    # An arm alone beats nobody: with one that competes there is no winner, however right it is.
    compete = choices.positions if len(choices.positions) > 1 else {}
    scored: list[dict[str, float | None]] = []
    rows: list[Row] = []
    for item in dataset.items:
        cells = tuple(one.cell(item.item_id) for one in columns)
        texts_here = tuple(one.get(item.sha256) for one in texts)
        competing = {arms[at].name: cells[at].scores[position] for at, position in compete.items()}
        scored.append(competing)
        rows.append(
            Row(
                item_id=item.item_id,
                sha256=item.sha256,
                preview=previews.get(item.item_id, ""),
                fields=item.fields,
                cells=cells,
                labels=texts_here,
                winners=winners(competing, higher=choices.higher),
                signals=_signals(
                    item, arms=arms, cells=cells, labels=labels, texts=texts_here, seen=seen, same=same
                ),
                picked=_picked(sources, dataset_id, item.item_id),
            )
        )
    rates = win_rates(scored, [arms[at].name for at in compete], higher=choices.higher)
    footer = tuple(
        _footer(one, rows, at, labels=labels, choices=choices, rates=rates) for at, one in enumerate(columns)
    )
    shown = [row for row in rows if _kept(row, filters, choices)]
    shown.sort(key=lambda row: -row.signals.count)  # stable: then in the dataset's order
    return Sheet(
        dataset_id=dataset_id,
        n_items=len(dataset.items),
        arms=arms,
        labels=labels,
        rows=tuple(shown),
        footer=footer,
        metric=choices.metric,
        against=choices.against,
        fields=tuple(dict.fromkeys(name for item in dataset.items for name in item.fields)),
        notes=(
            *choices.notes,
            *_unscored(arms, choices, dataset_id),
            *_undecided(columns, rows),
            *sources.notes(),
        ),
        row_metric=choices.row_metric,
        higher=choices.higher,
        new_vs=choices.new_vs,
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


def _signals(
    item: Item,
    *,
    arms: tuple[ArmColumn, ...],
    cells: tuple[Cell, ...],
    labels: tuple[LabelColumn, ...],
    texts: tuple[str | None, ...],
    seen: Mapping[str, frozenset[str]],
    same: Callable[[str, str], bool],
) -> Signals:
    decisions = [cell.decision for cell in cells]
    wrong = []
    if cells:
        correct = {
            column.against.ref: score
            for column, score in zip(arms[0].scores, cells[0].scores, strict=True)
            if column.metric == STAND_IN and column.against is not None
        }
        wrong = [
            column.ref
            for column, text in zip(labels, texts, strict=True)
            if column.same_task and signals.is_wrong(decisions[0], correct.get(column.ref), text, same)
        ]
    return Signals(
        wrong=tuple(wrong),
        disagree=signals.disagree(decisions, same),
        split=signals.split(decisions, same),
        new=signals.new_fields(item.fields, seen) if seen else (),
        unlabelled=not any(
            column.same_task and text is not None for column, text in zip(labels, texts, strict=True)
        ),
    )


def _same(project: Project, run: Run, sources: Sources) -> Callable[[str, str], bool]:
    if not project.settings.trust_adapters or run.adapter in BUNDLED_ADAPTERS:
        return operator.eq
    from evh.adapters import loader

    def load(name: str) -> Adapter:
        return loader.load(project, name, beside=project.data / "configs")

    found = read_each([run.adapter], load, sources.problems)
    return found[0].same if found else operator.eq


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
            choices.wrong_against is None or choices.wrong_against in signal.wrong,
            *(one.holds(row.fields) for one in choices.where),
        )
    )


def _footer(
    data: ArmData,
    rows: Sequence[Row],
    at: int,
    *,
    labels: tuple[LabelColumn, ...],
    choices: Choices,
    rates: Mapping[str, float | None],
) -> Footer:
    arm = data.column
    values = [
        [score for row in rows if (score := row.cells[at].scores[position]) is not None]
        for position in range(len(arm.scores))
    ]
    position = arm.position(choices.row_metric, choices.against)
    majorities = []
    for against in dict.fromkeys(column.against for column in arm.scores if column.against is not None):
        where = next((place for place, one in enumerate(labels) if one.ref == against.ref), None)
        mine = [place for place, column in enumerate(arm.scores) if column.against == against]
        if where is None:
            continue
        best = majority_rate(
            label
            for row in rows
            if (label := row.labels[where]) is not None
            and any(row.cells[at].scores[place] is not None for place in mine)
        )
        if best is not None:
            majorities.append((against, best.share))
    return Footer(
        arm=arm.name,
        n=0 if position is None else len(values[position]),
        of=len(rows),
        errors=sum(row.cells[at].error is not None for row in rows),
        means=tuple(mean(column) for column in values),
        counts=tuple(len(column) for column in values),
        figures=data.figures,
        win_rate=rates.get(arm.name),
        majority_rates=tuple(majorities),
    )


def _unscored(arms: Sequence[ArmColumn], choices: Choices, dataset_id: str) -> list[str]:
    """Return which arms do not compete because nothing scored them, and what would."""
    against = choices.against
    if against is None:
        return []
    silent = [one.name for one in arms if one.position(choices.row_metric, against) is None]
    notes = []
    if silent and len(silent) < len(arms):
        flag = "--labels" if against.kind == "labels" else "--reference"
        ref = against.ref.removeprefix("labels/")
        notes.append(
            f"{', '.join(silent)}: not scored against {against.ref}; "
            f"evh rescore --dataset-id {dataset_id} {flag} {ref} does it"
        )
    if len(choices.positions) == 1:
        notes.append("one arm alone competes, so no winner is drawn")
    return notes


def _undecided(columns: Sequence[ArmData], rows: Sequence[Row]) -> list[str]:
    silent = [
        one.column.name
        for at, one in enumerate(columns)
        if one.rows and all(row.cells[at].decision is None for row in rows)
    ]
    if not silent:
        return []
    named = ", ".join(silent)
    return [f"{named}: no decisions are stored, so none are compared; evh rescore stores them"]
