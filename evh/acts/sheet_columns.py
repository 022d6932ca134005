"""A sheet's columns: what each arm answered and scored, and what each set labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import sheet_scorings
from evh.acts.figures import Against
from evh.acts.sheet_model import ArmColumn, Cell, LabelColumn, ScoreColumn
from evh.acts.sources import Covering, Sources
from evh.measure.numbers import mean
from evh.project.arms import Arm, repeats, scored_against, trial_of
from evh.project.memory import Same
from evh.records.answers import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evh.acts.judged_columns import JudgedScores
    from evh.records.dataset import Dataset, Item
    from evh.records.run import Prediction, Run

BUNDLED_ADAPTERS = ("default", "classification")
STAND_IN = "correct"


@dataclass(frozen=True, slots=True)
class _Read:
    """Where a score column is read from.

    Attributes:
        rows: item → the row that holds the score, of repeats the mean.
        name: the metric's key there.
        shown: the rows of the run whose outputs are shown.
        raw: the rows of every run that the scores are of.
    """

    rows: Mapping[str, Prediction]
    name: str
    shown: Mapping[str, Prediction]
    raw: tuple[tuple[Prediction, ...], ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """An arm over the items of a dataset.

    ``means`` and ``counts`` are aligned with its score columns: over the items that have that score.
    ``decides`` tells whether it decided anything at all, ``errors`` on how many items it failed.
    """

    means: tuple[float | None, ...]
    counts: tuple[int, ...]
    errors: int
    decides: bool


class ArmData:
    """One arm's column with its predictions by item.

    ``rows`` are the predictions of its own run, ``figures`` the run-level scores for each set it was scored
    against, ``primaries`` the primary metric there; ``spreads`` tell of each set and metric how far its
    repeats lie apart. ``key`` names it among what is kept.
    """

    def __init__(
        self,
        arm: Arm,
        sources: Sources,
        dataset: Dataset,
        labels: tuple[LabelColumn, ...],
        *,
        with_outputs: bool,
        judged: Sequence[JudgedScores] = (),
    ) -> None:
        together = repeats(arm, sources.runs)
        self._repeated = len(together) > 1
        self.rows: dict[str, Prediction] = {one.item_id: one for one in sources.predictions(arm.run)}
        self._bundled = arm.run.adapter in BUNDLED_ADAPTERS
        needed = _needs_outputs(arm, self.rows.values(), with_outputs=with_outputs)
        self._outputs = sources.outputs(arm.run) if needed else {}
        self._with_outputs = with_outputs
        if self._repeated:
            scorings = sheet_scorings.of_repeats(arm, together, sources, dataset)
            runs = tuple(one.run for one in together)
            self._failed = {scored_against(one.run): one.failed for one in scorings}
            self._failed_any = sheet_scorings.failed(runs, sources, dataset)
        else:
            scorings, runs = [sheet_scorings.of_run(run, sources) for run in arm.scored], ()
        self._scored = [one.shown for one in scorings]
        columns: list[ScoreColumn] = []
        self._reads: list[_Read] = []
        for one in scorings:
            against = against_of(one.run, labels)
            own, fitted = sources.provenance.own_labels(one.run), sources.provenance.fitted_here(one.run)
            names = sorted({name for row in one.rows.values() for name in row.scores})
            primary = _primary(one.run, names)
            raw = tuple(sources.predictions(run) for run in one.runs)
            for name in dict.fromkeys([primary, *names] if primary else names):
                higher = one.run.higher_is_better(name)
                of = tuple(run.key for run in one.runs) if runs else ()
                columns.append(ScoreColumn(name, against, name == primary, higher, own, fitted, of))
                self._reads.append(_Read(one.rows, name, one.shown, raw))
        for held in judged:
            columns.append(ScoreColumn(held.title, None, primary=False, higher=True, own=False, fitted=False))
            self._reads.append(_Read(held.rows, held.metric, held.rows, (tuple(held.rows.values()),)))
        self.column = ArmColumn(
            arm.name, arm.run, arm.recorded, tuple(columns),
            floor=sources.is_floor(arm.run), repeats=runs, trial=trial_of(arm.run, len(dataset.items)),
        )  # fmt: skip
        self.figures = tuple((against_of(one.run, labels), one.figures) for one in scorings)
        self.spreads = tuple((against_of(one.run, labels), one.spreads) for one in scorings if one.spreads)
        self.primaries = tuple((against_of(one.run, labels), one.run.primary_metric) for one in scorings)
        self.key = (
            arm.name, with_outputs, arm.run.key,
            *(run.key for one in (together if runs else (arm,)) for run in one.scored),
        )  # fmt: skip
        self._items: tuple[Item, ...] | None = None
        self._cells: list[Cell] = []
        self._tally: Tally | None = None

    def cells(self, items: tuple[Item, ...]) -> list[Cell]:
        """Return what the arm did on each item, made once for a dataset's items; nobody changes the list."""
        if self._items is not items:
            self._items, self._tally = items, None
            self._cells = [self.cell(one.item_id) for one in items]
        return self._cells

    def tally(self, items: tuple[Item, ...]) -> Tally:
        """Return the arm over a dataset's items, made once."""
        cells = self.cells(items)
        if self._tally is None:
            columns = [
                [score for cell in cells if (score := cell.scores[position]) is not None]
                for position in range(len(self.column.scores))
            ]
            self._tally = Tally(
                means=tuple(map(mean, columns)),
                counts=tuple(map(len, columns)),
                errors=sum(cell.error is not None for cell in cells),
                decides=any(cell.decision is not None for cell in cells),
            )
        return self._tally

    def figure(self, metric: str, row_metric: str, against: Against | None) -> float | None:
        """Return the run's figure of a metric against a set, else the mean of ``row_metric``, or None."""
        for where, scores in self.figures:
            if where == against and metric in scores:
                return scores[metric]
        position = self.column.position(row_metric, against)
        if position is None:
            return None
        read = self._reads[position]
        return mean(value for row in read.rows.values() if (value := row.scores.get(read.name)) is not None)

    def failed(self, against: Against | None, items: tuple[Item, ...]) -> int:
        """Return how many items failed: of repeats in any of those that were scored against a set."""
        if not self._repeated:
            return self.tally(items).errors
        return len(self._failed.get(against.ref if against else None, self._failed_any))

    def right_or_wrong(self, position: int) -> bool:
        """Tell whether a score column says right or wrong of each item and no more: in every repeat."""
        read = self._reads[position]
        return all(row.scores.get(read.name) in (None, 0, 1) for rows in read.raw for row in rows)

    def shown_scores(self, item_id: str, cell: Cell) -> Sequence[float | None]:
        """Return an item's scores as the run whose output is shown has them: of repeats no means.

        Args:
            item_id: the item.
            cell: the arm's cell there, whose scores they are where the arm ran once.
        """
        if not self._repeated:
            return cell.scores
        rows = ((read.shown.get(item_id), read.name) for read in self._reads)
        return tuple(None if row is None else row.scores.get(name) for row, name in rows)

    def cell(self, item_id: str) -> Cell:
        """Return what the arm did on one item."""
        row = self.rows.get(item_id)
        scores = []
        for read in self._reads:
            scored = read.rows.get(item_id)
            scores.append(None if scored is None else scored.scores.get(read.name))
        return Cell(
            output=self._outputs.get(item_id) if self._with_outputs else None,
            decision=self._decision(item_id),
            error=row.error if row else None,
            scores=tuple(scores),
        )

    def _decision(self, item_id: str) -> str | None:
        """Return the stored decision; a bundled adapter's is its output without the final line end."""
        for rows in (self.rows, *self._scored):
            row = rows.get(item_id)
            if row is not None and row.decision is not None:
                return row.decision
        output = self._outputs.get(item_id)
        return comparable(output) if self._bundled and output is not None else None


def arm_data(
    arm: Arm,
    sources: Sources,
    dataset: Dataset,
    labels: tuple[LabelColumn, ...],
    *,
    with_outputs: bool,
    judged: Sequence[JudgedScores] = (),
) -> ArmData:
    """Return an arm's data: the same object for every sheet, while all that it is made of stays.

    Args:
        arm: the arm; of one that is named by its config and ran several times the scores are means over its
            repeats.
        sources: the project's records.
        dataset: the dataset that it ran on.
        labels: the label columns, which say what a run was scored against.
        with_outputs: whether its cells have outputs.
        judged: what judges say of it.
    """
    provenance = sources.provenance
    needed = _needs_outputs(arm, sources.predictions(arm.run), with_outputs=with_outputs)
    others = [one for one in repeats(arm, sources.runs) if one.run.key != arm.run.key]
    scored = [run for one in (arm, *others) for run in one.scored]
    held = (arm.run, *(one.run for one in others), *scored, *(one.run for one in judged))
    key = (
        "arm", arm.name, with_outputs, tuple(run.key for run in held), tuple(one.title for one in judged),
    )  # fmt: skip
    return sources.memory.kept(
        key,
        (),
        lambda: ArmData(arm, sources, dataset, labels, with_outputs=with_outputs, judged=judged),
        [(Same(run), Same(sources.predictions(run))) for run in held],
        Same(sources.outputs(arm.run)) if needed else None,
        [(provenance.own_labels(run), provenance.fitted_here(run)) for run in scored],
        [(one.ref, one.kind, one.name, one.tier, one.source_kind, one.by) for one in labels],
        sources.is_floor(arm.run),
        [one.metric for one in judged],
        trial_of(arm.run, len(dataset.items)),
        Same(dataset) if others else None,
    )


def _needs_outputs(arm: Arm, rows: Iterable[Prediction], *, with_outputs: bool) -> bool:
    """Tell whether an arm's outputs are read: they are shown, or a decision has to be read from one."""
    return with_outputs or (
        arm.run.adapter in BUNDLED_ADAPTERS
        and any(row.decision is None and row.error is None for row in rows)
    )


def _primary(run: Run, names: Sequence[str]) -> str | None:
    if run.primary_metric in names:
        return run.primary_metric
    return STAND_IN if STAND_IN in names else next(iter(names), None)


def against_of(run: Run, labels: tuple[LabelColumn, ...]) -> Against | None:
    """Return what a run was scored against, described by its label column where there is one."""
    ref = scored_against(run)
    if ref is None:
        return None
    for one in labels:
        if one.ref == ref:
            return Against(one.ref, one.kind, one.name, one.tier, one.source_kind, one.by)
    first, _, name = ref.rpartition("/")
    return Against(ref, "labels", name) if run.labels else Against(ref, "reference", name, first)


def label_column(one: Covering, dataset: Dataset, sources: Sources) -> LabelColumn:
    """Return the column of one covering set."""
    n = sources.memory.kept(
        ("labelled", dataset.dataset_id, one.ref), (),
        lambda: sum(item.sha256 in one.texts for item in dataset.items), Same(dataset), Same(one.texts),
    )  # fmt: skip
    same_task = one.task == dataset.task
    if one.label_set is not None:
        held = one.label_set
        return LabelColumn(
            one.ref, "labels", held.set, None, held.kind, held.by, one.task, same_task=same_task, n=n
        )
    reference = sources.references[one.ref]
    kinds = {sources.sets[ref].kind for ref in reference.label_refs if ref in sources.sets}
    kind = kinds.pop() if len(kinds) == 1 else None
    return LabelColumn(
        one.ref, "reference", reference.name, reference.tier, kind, reference.promoted_by or "", one.task,
        same_task=same_task, n=n,
    )  # fmt: skip
