"""The scores of arms on one dataset by one metric against one set, as columns that tests read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure import classwise
from evh.measure.numbers import mean
from evh.measure.scores import ClassRow, classification
from evh.project import arms as arm_shelf
from evh.project.memory import Same
from evh.records.answers import answers
from evh.records.judge import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sources import Sources
    from evh.project.arms import Arm
    from evh.records.dataset import Dataset
    from evh.records.run import Prediction, Run

MOST_POSITIVE = 50
"""With more different answers no single one is tried as the one that a figure weighs against the rest."""
_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Repeat:
    """One run of an arm: its figure, None where it has none."""

    run: Run
    value: float | None


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric over the runs of an arm: the one place that repeats are put together.

    Attributes:
        repeats: every run, oldest first.
        value: the mean over the items, of a run-level figure over the runs that have it; None where none has.
        scores: item → score, the mean over the runs that have one; empty for a run-level figure.
    """

    repeats: tuple[Repeat, ...]
    value: float | None
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Column:
    """One arm's scores.

    Attributes:
        arm: the arm.
        run: the run that holds the scores: of several repeats the latest.
        metric: the metric's key in its rows.
        repeats: every run of it, oldest first.
        value: the arm's figure: its mean over the items, of repeats the mean over them.
        scores: item → score, of repeats the mean over those that have one; empty for a run-level figure.
        scored: the items it was scored on.
        failed: the items that failed, in any of its repeats.
        cost_usd: the mean cost of an item; None where none is recorded.
        latency_ms: the median time of an item; None where none is recorded.
    """

    arm: Arm
    run: Run
    metric: str
    repeats: tuple[Repeat, ...]
    value: float | None
    scores: Mapping[str, float]
    scored: frozenset[str]
    failed: frozenset[str]
    cost_usd: float | None
    latency_ms: float | None

    @property
    def errors(self) -> int:
        """How many items failed."""
        return len(self.failed)


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Arms by a figure that no item has alone, coded for `classwise.class_tests`.

    Attributes:
        coded: labels and decisions as classes.
        figure: one of `classwise.FIGURES`.
        positive: the answer that is weighed against the rest, or None.
        owner: each coded run's column.
        items: the ids of the coded items.
    """

    coded: classwise.Coded
    figure: str
    positive: str | None
    owner: tuple[int, ...]
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What a field is made of.

    Attributes:
        items: the dataset's item ids, in order.
        columns: one an arm that has a figure.
        classes: set where the metric has no value per item and could be made again of the decisions.
        labels: item → label text, of the set that the scores were made against.
        clusters: each item's cluster, from 0; None where the dataset names no cluster field.
        notes: what was found about the metric, a sentence each.
    """

    items: tuple[str, ...]
    columns: tuple[Column, ...]
    classes: ClassScores | None
    labels: Mapping[str, str]
    clusters: tuple[int, ...] | None
    notes: tuple[str, ...]

    @property
    def to_score(self) -> frozenset[str]:
        """The items that an arm can be scored on: those that the set labels; all where there is no set."""
        return frozenset(self.labels or self.items)


def read(
    sources: Sources, dataset: Dataset, arms: Sequence[Arm], *, metric: str, against: str | None
) -> Table:
    """Return the table of the arms that have the metric against the set; the others are left out.

    So is an arm whose predictions cannot be read: what its figure was made of is not known.

    Args:
        sources: the project's records.
        dataset: the dataset.
        arms: the arms on it; those that a judge judged have their scores from its runs.
        metric: a metric per item, or a run-level figure; ``SCORER/M`` a judge's.
        against: ``labels/<dataset>/<set>`` or ``<tier>/<name>``; None for scores that name no set.

    Cost: each run's predictions are read once. What was made of the same records is not made again.
    """
    texts = (
        next((one.texts for one in sources.covering(dataset) if one.ref == against), None)
        if against
        else None
    )
    held = tuple(_Held(arm, found) for arm in arms if (found := runs_of(sources, arm, against)))
    key = (
        "table", dataset.dataset_id, metric, against,
        tuple((one.arm.name, tuple(run.key for run in one.runs)) for one in held),
    )  # fmt: skip
    return sources.memory.kept(
        key, (), lambda: _read(sources, dataset, held, metric=metric, texts=texts or {}),
        Same(dataset), Same(texts), [one.made_of(sources) for one in held],
    )  # fmt: skip


def runs_of(sources: Sources, arm: Arm, against: str | None) -> tuple[Run, ...]:
    """Return the runs that an arm's figure against a set is made of, oldest first.

    Those of its repeats that were scored against the set, and whose predictions can be read.

    Args:
        sources: the project's records.
        arm: the arm.
        against: ``labels/<dataset>/<set>`` or ``<tier>/<name>``; None for scores that name no set.
    """
    return tuple(
        run
        for one in arm_shelf.repeats(arm, sources.runs)
        if (run := _scored(one, against)) and sources.readable(run)
    )


def figure(sources: Sources, dataset: Dataset, runs: Sequence[Run], metric: str, *, per_item: bool) -> Figure:
    """Return one metric over the runs of an arm.

    Args:
        sources: the project's records.
        dataset: the dataset: rows of other items do not count.
        runs: the runs, oldest first, from `runs_of`.
        metric: its key in the rows, or among the runs' own figures.
        per_item: whether items have it: then the runs' own figures do not count.

    Cost: one pass over the rows of the runs; of a run-level figure none.
    """
    if not per_item:
        told = tuple(Repeat(run, run.scores.get(metric)) for run in runs)
        return Figure(told, mean(one.value for one in told if one.value is not None), {})
    known = dataset.by_id
    gathered: dict[str, list[float]] = {}
    repeats = []
    for run in runs:
        mine = [row for row in sources.predictions(run) if metric in row.scores and row.item_id in known]
        for row in mine:
            gathered.setdefault(row.item_id, []).append(row.scores[metric])
        repeats.append(Repeat(run, mean(row.scores[metric] for row in mine)))
    scores = {  # of one value its mean is no other: a run alone is not averaged item by item
        item: values[0] if len(values) == 1 else mean(values) or 0.0 for item, values in gathered.items()
    }
    return Figure(tuple(repeats), mean(scores.values()), scores)


def unread(sources: Sources, arm: Arm, against: str | None) -> list[Run]:
    """Return the runs that hold an arm's scores against a set, and whose predictions cannot be read."""
    found = [_scored(one, against) for one in arm_shelf.repeats(arm, sources.runs)]
    return [run for run in found if run is not None and not sources.readable(run)]


@dataclass(frozen=True, slots=True)
class _Held:
    """An arm with the runs that hold its scores, oldest first."""

    arm: Arm
    runs: tuple[Run, ...]

    def made_of(self, sources: Sources) -> list[object]:
        """Return what its column is made of, to be compared."""
        runs = (self.arm.run, *self.arm.scored, *self.runs)
        return [self.arm.name, *((Same(run), Same(sources.predictions(run))) for run in runs)]


def _read(
    sources: Sources, dataset: Dataset, held: Sequence[_Held], *, metric: str, texts: Mapping[str, str]
) -> Table:
    labels = {item.item_id: texts[item.sha256] for item in dataset.items if item.sha256 in texts}
    per_item = any(
        name in row.scores
        for one, name in zip(held, [_key(one.arm, metric) for one in held], strict=True)
        for run in one.runs
        for row in sources.predictions(run)
    )
    columns = [
        column
        for one in held
        if (column := _kept_column(sources, dataset, one, metric, per_item=per_item)) is not None
    ]
    items = tuple(item.item_id for item in dataset.items)
    if per_item:
        return Table(items, tuple(columns), None, labels, clusters_of(dataset), ())
    classes, notes = _classes(sources, columns, metric, labels)
    return Table(items, tuple(columns), classes, labels, clusters_of(dataset), tuple(notes))


def clusters_of(dataset: Dataset) -> tuple[int, ...] | None:
    """Return each item's cluster; an item without the field is one of its own."""
    if not dataset.cluster_field:
        return None
    known: dict[object, int] = {}
    codes = []
    for item in dataset.items:
        value = item.fields.get(dataset.cluster_field)
        key = ("item", item.item_id) if value is None else (type(value).__name__, value)
        codes.append(known.setdefault(key, len(known)))
    return tuple(codes)


def _scored(arm: Arm, against: str | None) -> Run | None:
    if arm.judged is not None:
        return arm.judged
    if against is not None:
        return arm.against(against)
    return next((run for run in arm.scored if arm_shelf.scored_against(run) is None), None)


def _key(arm: Arm, metric: str) -> str:
    """Return a metric's key in an arm's rows: a judge's lacks the judge, and may have the word or not."""
    if arm.judged is None:
        return metric
    name = plain(metric.rpartition("/")[2])
    return next((one for one in arm.judged.scores if plain(one) == name), name)


def _kept_column(
    sources: Sources, dataset: Dataset, held: _Held, metric: str, *, per_item: bool
) -> Column | None:
    key = ("column", dataset.dataset_id, metric, per_item, held.arm.name, tuple(one.key for one in held.runs))
    return sources.memory.kept(
        key, (), lambda: _column(sources, dataset, held, metric, per_item=per_item),
        Same(dataset), held.made_of(sources),
    )  # fmt: skip


def _column(sources: Sources, dataset: Dataset, held: _Held, metric: str, *, per_item: bool) -> Column | None:
    arm, found, known = held.arm, held.runs, dataset.by_id
    metric = _key(arm, metric)
    made = figure(sources, dataset, found, metric, per_item=per_item)
    if made.value is None:
        return None
    scored: set[str] = set()
    failed: set[str] = set()
    costs: list[float] = []
    times: list[float] = []
    for run in found:
        rows = [row for row in sources.predictions(run) if row.item_id in known]
        scored |= set() if per_item else {row.item_id for row in rows if row.scores}
        failed |= {row.item_id for row in rows if row.error is not None}
        answered = rows if arm.judged is None else sources.predictions(arm.run)  # not what judging took
        costs += [row.cost_usd for row in answered if row.cost_usd is not None]
        times += [row.latency_ms for row in answered if row.latency_ms is not None]
    return Column(
        arm=arm,
        run=found[-1],
        metric=metric,
        repeats=made.repeats,
        value=made.value,
        scores=made.scores,
        scored=frozenset(made.scores if per_item else scored),
        failed=frozenset(failed),
        cost_usd=mean(costs),
        latency_ms=_median(times),
    )


def _classes(
    sources: Sources, columns: Sequence[Column], metric: str, labels: Mapping[str, str]
) -> tuple[ClassScores | None, list[str]]:
    """Return the decisions coded, where the figure made of them is the one that every run says."""
    if not columns:
        return None, []
    if metric not in classwise.FIGURES:
        return None, [f"{metric} has no value per item, and evh knows no test of it: no interval, no verdict"]
    runs = [(at, one) for at, column in enumerate(columns) for one in column.repeats if one.value is not None]
    decided = [_decisions(sources.predictions(one.run), labels) for _, one in runs]
    said_right = sorted({text for label in labels.values() for text in answers(label)})
    candidates = [None, *(said_right if len(said_right) <= MOST_POSITIVE else [])]
    for positive in candidates if metric == classwise.BALANCED_ACCURACY else [None]:
        if all(
            _same(metric, labels, said, positive, one.value)
            for said, (_, one) in zip(decided, runs, strict=True)
        ):
            # Coded by every label, so that a class has its place whichever arms are here.
            items = tuple(labels)
            coded = classwise.code(
                [labels[item] for item in items],
                [[said.get(item) for item in items] for said in decided],
                positive=positive,
            ).decided()
            kept = tuple(items[at] for at in coded.kept)
            notes = [f"{metric} here weighs {positive} against all the rest"] if positive is not None else []
            return ClassScores(coded, metric, positive, tuple(at for at, _ in runs), kept), notes
    said = f"{metric} is the adapter's own: made of the stored decisions it comes to another figure"
    return None, [f"{said}, so it has no interval and no verdict"]


def _decisions(rows: Sequence[Prediction], labels: Mapping[str, str]) -> dict[str, str]:
    return {
        row.item_id: row.decision
        for row in rows
        if row.item_id in labels and row.decision is not None and row.error is None
    }


def _same(
    metric: str,
    labels: Mapping[str, str],
    said: Mapping[str, str],
    positive: str | None,
    value: float | None,
) -> bool:
    rows = [ClassRow(decision, labels[item]) for item, decision in said.items()]
    made = classification(rows, positive=positive).get(metric)
    return made is not None and value is not None and math.isclose(made, value, abs_tol=_NOISE)


def _median(values: Sequence[float]) -> float | None:
    if not values:
        return None
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
