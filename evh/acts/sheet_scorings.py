"""What an arm scored against each set: of one run its rows, of repeats the means over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field, field_table
from evh.project.arms import scored_against
from evh.records.run import Prediction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.figures import Spread
    from evh.acts.sources import Sources
    from evh.project.arms import Arm
    from evh.records.dataset import Dataset
    from evh.records.run import Run


@dataclass(frozen=True, slots=True)
class Scoring:
    """An arm's scores against one set.

    Attributes:
        run: the run that holds them; of repeats the latest.
        runs: the runs that they are the means of, oldest first; the run alone where it is no repeat.
        rows: item → its scores, of repeats the mean over those that have one.
        shown: the rows of the run whose outputs are shown; empty where that one was not scored.
        figures: the run-level figures, of repeats as the leaderboard has them: of a metric per item the mean
            over the items, else the mean over the runs.
        spreads: how far the repeats lie apart, by metric; empty for a run alone.
        failed: the items that failed in any of the runs.
    """

    run: Run
    runs: tuple[Run, ...]
    rows: Mapping[str, Prediction]
    shown: Mapping[str, Prediction]
    figures: Mapping[str, float]
    spreads: Mapping[str, Spread]
    failed: frozenset[str] = frozenset()


def of_run(run: Run, sources: Sources) -> Scoring:
    """Return the scoring of a run alone."""
    rows = {one.item_id: one for one in sources.predictions(run)}
    return Scoring(run, (run,), rows, rows, run.scores, {})


def of_repeats(arm: Arm, together: Sequence[Arm], sources: Sources, dataset: Dataset) -> list[Scoring]:
    """Return an arm's scorings over its repeats, a reference's first, as those of `Arm.scored`.

    A repeat that was not scored against a set, or whose rows cannot be read, is in no mean of it.

    Args:
        arm: the arm, named by its config.
        together: it once for each repeat, from `arms.repeats`.
        sources: the project's records.
        dataset: the dataset that it ran on.

    Cost: a pass over the rows of every repeat for each metric per item, and the rows of the means.
    """
    refs = {scored_against(run) for one in together for run in one.scored}
    ordered = sorted(refs, key=lambda ref: ((ref or "~").startswith("labels/"), ref or "~"))
    found = [(ref, field_table.runs_of(sources, arm, ref)) for ref in ordered]
    return [_scoring(arm, ref, runs, sources, dataset) for ref, runs in found if runs]


def _scoring(arm: Arm, ref: str | None, runs: tuple[Run, ...], sources: Sources, dataset: Dataset) -> Scoring:
    per_item = {name for run in runs for row in sources.predictions(run) for name in row.scores}
    of_runs = {name for run in runs for name in run.scores}
    scores: dict[str, dict[str, float]] = {}
    figures: dict[str, float] = {}
    spreads: dict[str, Spread] = {}
    for name in sorted(per_item | of_runs):
        made = field_table.figure(sources, dataset, runs, name, per_item=name in per_item)
        for item_id, score in made.scores.items():
            scores.setdefault(item_id, {})[name] = score
        if made.value is not None and name in of_runs:
            figures[name] = made.value
        spread = field.spread_of(made)
        if spread is not None:
            spreads[name] = spread
    own = next((run for run in arm.scored if scored_against(run) == ref), None)
    return Scoring(
        run=runs[-1],
        runs=runs,
        rows={item_id: Prediction(item_id, scores=held) for item_id, held in scores.items()},
        shown={} if own is None else {one.item_id: one for one in sources.predictions(own)},
        figures=figures,
        spreads=spreads,
        failed=failed(runs, sources, dataset),
    )


def failed(runs: Sequence[Run], sources: Sources, dataset: Dataset) -> frozenset[str]:
    """Return the items of a dataset that failed in any of some runs."""
    return frozenset(
        row.item_id
        for run in runs
        for row in sources.predictions(run)
        if row.error is not None and row.item_id in dataset.by_id
    )
