"""The figures of runs with their intervals, a dataset's at once: items are drawn anew for all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field_table
from evh.project.memory import Same
from evh_build.standings import groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evh.records.dataset import Dataset
    from evh.records.run import Run
    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a run: its 95 % interval, None where there is too little to draw from or no test of it.

    ``n`` items have a score of their own; 0 for a figure of the run as a whole.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    higher: bool
    primary: bool


Ends = dict[tuple[str, str], tuple[float | None, float | None, int]]


def figures(source: Source, run: Run) -> tuple[Figure, ...]:
    """Return a run's figures, the primary one first; the intervals are the leaderboard's.

    A figure of the run as a whole has the interval that its arm has where it is ranked by that figure.
    """
    ends = _ends(source, run.dataset_id)
    whole = _ranked(source, run)
    made = []
    for metric, value in run.scores.items():
        low, high, n = ends.get((run.key, metric)) or (*whole.get(metric, (None, None)), 0)
        first = metric == run.primary_metric
        shown = source.gathered.deciding.validity.metric(run, metric)
        made.append(Figure(shown, value, low, high, n, run.higher_is_better(metric), first))
    return tuple(sorted(made, key=lambda one: (not one.primary, one.metric)))


def _ranked(source: Source, run: Run) -> Mapping[str, tuple[float | None, float | None]]:
    """Return the intervals of a run that stands for its arm in a group that is ranked."""
    return {
        group.field.metric: (arm.low, arm.high)
        for group in groups(source, run.dataset_id)
        if group.field is not None
        for arm in group.field.arms
        if arm.run.key == run.key and arm.spread is None
    }


def _ends(source: Source, dataset_id: str) -> Ends:
    dataset = source.gathered.datasets.get(dataset_id)
    if dataset is None:
        return {}
    held = [run for run in source.gathered.runs.values() if run.dataset_id == dataset_id]
    key = ("run figures", dataset_id)
    settings = source.gathered.project.settings
    return source.once(
        key,
        lambda: source.gathered.kept(
            key, (), lambda: _drawn(source, dataset, held),
            Same(dataset), [(run.key, Same(source.gathered.predictions(run))) for run in held],
            settings.resamples, settings.seed,
        ),
    )  # fmt: skip


def _drawn(source: Source, dataset: Dataset, held: Sequence[Run]) -> Ends:
    """Return the ends of every metric that items have, of all runs of a dataset.

    Cost: one draw of ``resamples`` × items, and a product of resamples × items × columns.
    """
    import numpy as np

    from evh.measure.bootstrap import mean_intervals

    place = {item.item_id: at for at, item in enumerate(dataset.items)}
    columns: dict[tuple[str, str], NDArray[np.float64]] = {}
    for run in held:
        for row in source.gathered.predictions(run):
            at = place.get(row.item_id)
            for metric, value in row.scores.items() if at is not None else ():
                if (run.key, metric) not in columns:
                    columns[run.key, metric] = np.full(len(place), np.nan)
                columns[run.key, metric][at] = value
    if not columns:
        return {}
    clusters = field_table.clusters_of(dataset)
    settings = source.gathered.project.settings
    scores = np.column_stack(list(columns.values()))
    found = mean_intervals(
        scores,
        resamples=settings.resamples,
        seed=settings.seed,
        groups=None if clusters is None else np.array(clusters, np.intp),
        pairs=False,
    )
    counts = np.isfinite(scores).sum(0)
    return {
        key: (_known(found.low[at]), _known(found.high[at]), int(counts[at]))
        for at, key in enumerate(columns)
    }


def _known(value: float) -> float | None:
    return None if value != value else float(value)  # noqa: PLR0124 - NaN alone differs from itself
