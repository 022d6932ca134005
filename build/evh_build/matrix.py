"""The agreement matrix of a task: every pair of sets, one table a figure, and each pair's confusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.records.answers import shown

if TYPE_CHECKING:
    from evh.acts.labels import LabelsReport, Pair, SetSummary, TaskAgreement
    from evh.measure.agreement import PairAgreement
    from evh.measure.intervals import Interval
    from evh_build.source import Mark, Source

STEPS = 9
MOST_CATEGORIES = 16
MOST_CELLS = 12
MOST_LINKS = 8
FIGURES = (
    ("kappa", "Cohen’s kappa"),
    ("ac1", "Gwet’s AC1"),
    ("same", "Same answers"),
)


@dataclass(frozen=True, slots=True)
class SetRow:
    """A set on the dataset: its mark, and the summary that the agreement report gives."""

    mark: Mark
    summary: SetSummary
    majority: str | None
    promoted: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One cell: on the diagonal the set's coverage, elsewhere the figure of the pair.

    ``step`` 0..8 is its place on the ramp, None where there is no figure. ``few`` marks too few items to
    say anything, ``derived`` a reference beside the set it was promoted from. ``sharing`` counts the items
    whose answers differ but meet. ``anchor`` is the pair's confusion matrix below.
    """

    diagonal: bool
    value: float | None
    n: int
    step: int | None
    few: bool
    derived: bool
    differs: bool
    sharing: int
    anchor: str | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One set's row of the matrix."""

    mark: Mark
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """The matrix of one figure: its key, its name, and a row a set."""

    key: str
    name: str
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class ItemLink:
    """An item's id and page."""

    item_id: str
    path: str | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A way in which two sets part: what each says, how often, and the first items."""

    a: str
    b: str
    count: int
    items: tuple[ItemLink, ...]


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """One answer of the first set: how often it met each answer of the second; and its sum."""

    answer: str
    counts: tuple[int, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ConfusionView:
    """How two sets' answers met. ``rows`` is empty where there are too many different answers for a table."""

    anchor: str
    a: Mark
    b: Mark
    agreement: PairFigures
    derived: bool
    guideline_differs: bool
    answers: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]
    totals: tuple[int, ...]
    cells: tuple[Disagreement, ...]
    n_cells: int
    n_answers: int


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The figures of a pair, as `evh.measure.agreement` made them."""

    n: int
    same: int
    same_share: float | None
    same_interval: Interval | None
    sharing: int
    kappa: float | None
    ac1: float | None
    prevalence: float | None
    bias: float | None
    too_few: bool
    paradox: bool


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task's sets on a dataset: the sets, the matrices, alpha over all of them, the confusions."""

    task: str
    key: str
    sets: tuple[SetRow, ...]
    figures: tuple[Figure, ...]
    alpha: float | None
    alpha_n: int
    confusions: tuple[ConfusionView, ...]


def tasks(source: Source, report: LabelsReport | None) -> tuple[TaskView, ...]:
    """Return the agreement of a dataset's sets, task by task."""
    if report is None:
        return ()
    return tuple(_task(source, report, at, task) for at, task in enumerate(report.tasks))


def step_of(value: float | None) -> int | None:
    """Return a figure's place on the ramp: 0 for chance or worse, 8 for 8/9 and more."""
    return None if value is None else min(max(int(value * STEPS), 0), STEPS - 1)


def _task(source: Source, report: LabelsReport, at: int, task: TaskAgreement) -> TaskView:
    marks = {one.ref: source.mark_of_summary(one) for one in task.sets}
    pairs = {(pair.a, pair.b): pair for pair in task.pairs}
    anchors = {key: f"pair-{at}-{place}" for place, key in enumerate(pairs)}
    figures = tuple(
        Figure(key, name, tuple(_row(task, marks, pairs, anchors, one=one, key=key) for one in task.sets))
        for key, name in FIGURES
    )
    return TaskView(
        task=task.task,
        key=str(at),
        sets=tuple(_set_row(source, marks, one) for one in task.sets),
        figures=figures if len(task.sets) > 1 else (),
        alpha=task.alpha,
        alpha_n=task.alpha_n,
        confusions=tuple(
            _confusion(source, report, pair, marks, anchors[key]) for key, pair in pairs.items()
        ),
    )


def _set_row(source: Source, marks: dict[str, Mark], one: SetSummary) -> SetRow:
    return SetRow(
        mark=marks[one.ref],
        summary=one,
        majority=None if one.majority is None else shown(one.majority),
        promoted=tuple(source.mark_of_ref(ref) for ref in one.promoted_into),
    )


def _row(
    task: TaskAgreement,
    marks: dict[str, Mark],
    pairs: dict[tuple[str, str], Pair],
    anchors: dict[tuple[str, str], str],
    *,
    one: SetSummary,
    key: str,
) -> MatrixRow:
    cells = []
    for other in task.sets:
        if other.ref == one.ref:
            share = one.covered / one.of if one.of else None
            cells.append(
                MatrixCell(
                    diagonal=True, value=share, n=one.covered, step=None, few=False, derived=False,
                    differs=False, sharing=0, anchor=None,
                )
            )  # fmt: skip
            continue
        name = (one.ref, other.ref) if (one.ref, other.ref) in pairs else (other.ref, one.ref)
        pair = pairs[name]
        value = _value(pair.agreement, key)
        cells.append(
            MatrixCell(
                diagonal=False,
                value=value,
                n=pair.agreement.n,
                step=None if pair.agreement.too_few else step_of(value),
                few=pair.agreement.too_few,
                derived=pair.derived,
                differs=pair.guideline_differs,
                sharing=pair.agreement.sharing,
                anchor=anchors[name],
            )
        )
    return MatrixRow(marks[one.ref], tuple(cells))


def _value(pair: PairAgreement, key: str) -> float | None:
    return {"kappa": pair.kappa, "ac1": pair.ac1, "same": pair.same_share}[key]


def _confusion(
    source: Source, report: LabelsReport, pair: Pair, marks: dict[str, Mark], anchor: str
) -> ConfusionView:
    found = pair.agreement
    table = found.confusion
    small = len(table.categories) <= MOST_CATEGORIES
    names = tuple(shown(one) for one in table.categories)
    return ConfusionView(
        anchor=anchor,
        a=marks[pair.a],
        b=marks[pair.b],
        agreement=PairFigures(
            found.n, found.same, found.same_share, found.same_interval, found.sharing, found.kappa,
            found.ac1, found.prevalence, found.bias, found.too_few, found.paradox,
        ),
        derived=pair.derived,
        guideline_differs=pair.guideline_differs,
        answers=names if small else (),
        rows=tuple(
            ConfusionRow(name, counts, total)
            for name, counts, total in zip(names, table.counts, table.rows, strict=True)
        )
        if small
        else (),
        totals=table.columns if small else (),
        cells=tuple(
            Disagreement(shown(one.a), shown(one.b), one.count, _links(source, report, one.keys))
            for one in found.cells[:MOST_CELLS]
        ),
        n_cells=len(found.cells),
        n_answers=len(names),
    )  # fmt: skip


def _links(source: Source, report: LabelsReport, keys: tuple[str, ...]) -> tuple[ItemLink, ...]:
    dataset = source.gathered.datasets[report.dataset_id]
    by_sha = source.by_sha(dataset)
    found = sorted(
        (source.urls.position(dataset.dataset_id, item.item_id) or 0, item.item_id)
        for key in keys
        for item in by_sha.get(key, ())
    )
    return tuple(
        ItemLink(item_id, source.urls.item(dataset.dataset_id, item_id)) for _, item_id in found[:MOST_LINKS]
    )
