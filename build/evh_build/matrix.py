"""The agreement matrix of a task: every pair of sets, one table a figure, and each pair's confusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.numbers import mean
from evh.records.answers import shown
from evh.store.text import one_line
from evh_build.pair_figures import TWO_ANSWERS, PairFigures, figures_of
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.acts.labels import Alpha, LabelsReport, Pair, SetSummary, TaskAgreement
    from evh.measure.intervals import Interval
    from evh_build.source import Mark, Source

STEPS = 9
SHOWN = 60
"""So much of the most frequent answer is shown: a label may be a long text."""
MOST_CATEGORIES = 16
MOST_CELLS = 12
MOST_LINKS = 8
_WEIGHTED = ("linear", "quadratic")
FIGURES: tuple[tuple[str, str, Callable[[Pair], tuple[float | None, Interval | None]]], ...] = (
    ("kappa", "Cohen’s kappa", lambda pair: (pair.agreement.kappa, pair.kappa_interval)),
    ("ac1", "Gwet’s AC1", lambda pair: (pair.agreement.ac1, pair.ac1_interval)),
    ("alpha", "Krippendorff’s alpha", lambda pair: (pair.agreement.alpha, pair.alpha_interval)),
    ("same", "Same answers", lambda pair: (pair.agreement.same_share, pair.agreement.same_interval)),
    ("linear", "Weighted kappa, linear", lambda pair: (pair.agreement.kappa_linear, None)),
    ("quadratic", "Weighted kappa, quadratic", lambda pair: (pair.agreement.kappa_quadratic, None)),
    ("masi", "Alpha with MASI", lambda pair: (pair.agreement.masi, None)),
)
"""Each figure's key, its name, and how a pair gives it with its interval."""
SCALES = {"masi": "MASI", "jaccard": "Jaccard"}


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
    say anything, ``derived`` a set beside the one it was made from, ``person`` who labelled both. ``sharing``
    counts the items whose answers differ but meet. ``anchor`` is the pair's confusion matrix below.
    """

    diagonal: bool
    value: float | None
    n: int
    step: int | None = None
    interval: Interval | None = None
    few: bool = False
    derived: bool = False
    differs: bool = False
    person: str = ""
    sharing: int = 0
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One set's row of the matrix; ``mean`` is over its pairs that say something, None where none does."""

    mark: Mark
    cells: tuple[MatrixCell, ...]
    mean: float | None


@dataclass(frozen=True, slots=True)
class Figure:
    """The matrix of one figure: its key, its name, a row a set, and whether a cell has an interval."""

    key: str
    name: str
    rows: tuple[MatrixRow, ...]
    has_intervals: bool


@dataclass(frozen=True, slots=True)
class ItemLink:
    """An item's id, and its row in the sheet, or its page."""

    item_id: str
    path: str | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A way in which two sets part: what each says, how often, the first items, and how many those are of."""

    a: str
    b: str
    count: int
    items: tuple[ItemLink, ...]
    n_items: int


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """One answer of the first set: how often it met each answer of the second; and its sum."""

    answer: str
    counts: tuple[int, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ConfusionView:
    """How two sets' answers met. ``rows`` is empty where there are too many different answers for a table.

    ``voices`` tells that neither set was made from another one here. ``why`` is the command that tells what
    their kappa rests on.
    """

    anchor: str
    a: Mark
    b: Mark
    agreement: PairFigures
    derived: bool
    guideline_differs: bool
    person: str
    voices: bool
    answers: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]
    totals: tuple[int, ...]
    cells: tuple[Disagreement, ...]
    n_cells: int
    n_answers: int
    why: str


@dataclass(frozen=True, slots=True)
class AlphaView:
    """Alpha over the pooled sets: the name of its scale, the figure, its interval."""

    scale: str
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task's sets on a dataset: the sets, the matrices, alpha over all of them, the confusions.

    Attributes:
        task: its name.
        key: what tells it from the page's other tasks.
        sets: its sets.
        figures: a matrix a figure.
        alphas: alpha of each scale, over the sets that are not made from another one here.
        alpha_n: the items that two or more of those label.
        alpha_too_few: those are too few to say.
        n_pooled: how many sets those are.
        guidelines: how many different guidelines they name.
        fleiss: Fleiss' kappa over them; None where items have unequal numbers of labels.
        off_scale: labels that are not on the declared scale, as shown, with their counts.
        scale: the declared scale's kind.
        confusions: each pair's table.
    """

    task: str
    key: str
    sets: tuple[SetRow, ...]
    figures: tuple[Figure, ...]
    alphas: tuple[AlphaView, ...]
    alpha_n: int
    alpha_too_few: bool
    n_pooled: int
    guidelines: int
    fleiss: float | None
    off_scale: tuple[tuple[str, int], ...]
    scale: str
    confusions: tuple[ConfusionView, ...]


def tasks(source: Source, report: LabelsReport | None) -> tuple[TaskView, ...]:
    """Return the agreement of a dataset's sets, task by task."""
    if report is None:
        return ()
    return tuple(_task(source, report, at, task) for at, task in enumerate(report.tasks))


def step_of(value: float | None) -> int | None:
    """Return a figure's place on the ramp: 0 for chance or worse, 8 for 8/9 and more."""
    return None if value is None else min(max(int(value * STEPS), 0), STEPS - 1)


def anchor_of(task: int, pair: int) -> str:
    """Return the anchor of a pair's confusion on its dataset's page, by their places in the report."""
    return f"pair-{task}-{pair}"


def _task(source: Source, report: LabelsReport, at: int, task: TaskAgreement) -> TaskView:
    marks = {one.ref: source.mark_of_summary(one) for one in task.sets}
    pairs = {(pair.a, pair.b): pair for pair in task.pairs}
    anchors = {key: anchor_of(at, place) for place, key in enumerate(pairs)}
    shown_figures = {key for key, _, give in FIGURES if _is_shown(key, task, give)}
    figures = tuple(
        _figure(key, name, tuple(_row(task, marks, pairs, anchors, one=one, give=give) for one in task.sets))
        for key, name, give in FIGURES
        if key in shown_figures
    )
    return TaskView(
        task=task.task,
        key=str(at),
        sets=tuple(_set_row(source, marks, one) for one in task.sets),
        figures=figures if len(task.sets) > 1 else (),
        alphas=tuple(_alpha(one) for one in task.alphas),
        alpha_n=task.alpha_n,
        alpha_too_few=task.alpha_too_few,
        n_pooled=len(task.pooled),
        guidelines=task.guidelines,
        fleiss=task.fleiss,
        off_scale=tuple((one_line(shown(label), SHOWN), n) for label, n in task.off_scale),
        scale=task.scale.kind,
        confusions=tuple(
            _confusion(
                source, report, pair, marks, anchor=anchors[key], voices={pair.a, pair.b} <= set(task.pooled)
            )
            for key, pair in pairs.items()
        ),
    )


def _figure(key: str, name: str, rows: tuple[MatrixRow, ...]) -> Figure:
    return Figure(key, name, rows, any(cell.interval is not None for row in rows for cell in row.cells))


def _is_shown(
    key: str, task: TaskAgreement, give: Callable[[Pair], tuple[float | None, Interval | None]]
) -> bool:
    """Tell whether a figure has a matrix: the weighted and the MASI ones where a pair gives them."""
    if key in _WEIGHTED:
        return any(
            give(pair)[0] is not None and len(pair.agreement.confusion.categories) > TWO_ANSWERS
            for pair in task.pairs
        )
    return key != "masi" or any(give(pair)[0] is not None for pair in task.pairs)


def _alpha(one: Alpha) -> AlphaView:
    return AlphaView(SCALES.get(one.scale, one.scale), one.value, one.interval)


def _set_row(source: Source, marks: dict[str, Mark], one: SetSummary) -> SetRow:
    return SetRow(
        mark=marks[one.ref],
        summary=one,
        majority=None if one.majority is None else one_line(shown(one.majority), SHOWN),
        promoted=tuple(source.mark_of_ref(ref) for ref in one.promoted_into),
    )


def _row(
    task: TaskAgreement,
    marks: dict[str, Mark],
    pairs: dict[tuple[str, str], Pair],
    anchors: dict[tuple[str, str], str],
    *,
    one: SetSummary,
    give: Callable[[Pair], tuple[float | None, Interval | None]],
) -> MatrixRow:
    cells = []
    for other in task.sets:
        if other.ref == one.ref:
            share = one.covered / one.of if one.of else None
            cells.append(MatrixCell(diagonal=True, value=share, n=one.covered))
            continue
        name = (one.ref, other.ref) if (one.ref, other.ref) in pairs else (other.ref, one.ref)
        pair = pairs[name]
        value, interval = give(pair)
        few = pair.agreement.too_few
        cells.append(
            MatrixCell(
                diagonal=False,
                value=value,
                n=pair.agreement.n,
                step=None if few else step_of(value),
                interval=interval if not few else None,
                few=few,
                derived=pair.derived,
                differs=pair.guideline_differs,
                person=pair.same_person,
                sharing=pair.agreement.sharing,
                anchor=anchors[name],
            )
        )
    telling = [
        cell.value
        for cell in cells
        if not cell.diagonal and not cell.few and not cell.derived and cell.value is not None
    ]
    return MatrixRow(marks[one.ref], tuple(cells), mean(telling))


def _confusion(
    source: Source, report: LabelsReport, pair: Pair, marks: dict[str, Mark], *, anchor: str, voices: bool
) -> ConfusionView:
    table = pair.agreement.confusion
    small = len(table.categories) <= MOST_CATEGORIES
    names = tuple(shown(one) for one in table.categories)
    return ConfusionView(
        anchor=anchor,
        a=marks[pair.a],
        b=marks[pair.b],
        agreement=figures_of(pair),
        derived=pair.derived,
        guideline_differs=pair.guideline_differs,
        person=pair.same_person,
        voices=voices,
        answers=names if small else (),
        rows=tuple(
            ConfusionRow(name, counts, total)
            for name, counts, total in zip(names, table.counts, table.rows, strict=True)
        )
        if small
        else (),
        totals=table.columns if small else (),
        cells=tuple(
            Disagreement(
                shown(one.a),
                shown(one.b),
                one.count,
                tuple(_link(source, report.dataset_id, item) for item in one.items[:MOST_LINKS]),
                len(one.items),
            )
            for one in pair.costs[:MOST_CELLS]
        ),
        n_cells=len(pair.costs),
        n_answers=len(names),
        why=command(
            "what it rests on", "why", f"agree:{pair.a},{pair.b}#kappa", "--dataset-id", report.dataset_id
        ).line,
    )


def _link(source: Source, dataset_id: str, item_id: str) -> ItemLink:
    return ItemLink(item_id, source.row(dataset_id, item_id) or source.urls.full(dataset_id, item_id))
