"""What judges say of a sheet's arms: score columns beside the runs' own, and who won each row by a judge.

A judged run's metric is shown as ``<scorer>/<metric>``. Runs that a judge compared with one another are one
pass; shares of two passes are never set against each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evh.measure.numbers import mean
from evh.project import judged
from evh.project.shelf import missing
from evh.records.judge import WON, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sources import Sources
    from evh.project.arms import Arm
    from evh.records.run import Prediction, Run

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class JudgedScores:
    """One metric of one judge on one arm.

    Attributes:
        title: ``<scorer>/<metric>``, with the word for an unvalidated judge where it is one.
        metric: the key in the rows.
        rows: the judged run's rows by item.
        run: the judged run.
    """

    title: str
    metric: str
    rows: Mapping[str, Prediction]
    run: Run

    def of(self, item_id: str) -> float | None:
        """Return the score on an item; None where it was not judged."""
        row = self.rows.get(item_id)
        return None if row is None else row.scores.get(self.metric)


@dataclass(frozen=True, slots=True)
class JudgeWins:
    """Who wins by one judge's picks or pairs.

    Attributes:
        title: ``<scorer>/<metric>``.
        scorer: the judge.
        validated: whether it was measured against people.
        shares: for each arm shown, by its name, item → its share of what the judge gave.
        best: item → the largest share there, of an arm that is shown or not.
    """

    title: str
    scorer: str
    validated: bool
    shares: Mapping[str, Mapping[str, float]]
    best: Mapping[str, float]

    def winners(self, item_id: str) -> tuple[str, ...]:
        """Return the arms shown that have the largest share of a row.

        None where it was not judged, or went to an arm that is not shown.
        """
        best = self.best.get(item_id)
        return tuple(
            name
            for name, held in self.shares.items()
            if best is not None and item_id in held and math.isclose(held[item_id], best, abs_tol=_SAME)
        )

    def rate(self, name: str) -> float | None:
        """Return an arm's share of what the judge gave, over the rows judged; None where none was."""
        return mean(self.shares.get(name, {}).values())


@dataclass(frozen=True, slots=True)
class Judgements:
    """What judges say of a sheet's arms: columns by the arm's place, and who wins; ``wins`` is best first."""

    columns: tuple[tuple[JudgedScores, ...], ...]
    wins: tuple[JudgeWins, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def named(self, metric: str | None) -> str | None:
        """Return the column that ``SCORER/M`` names; the word for an unvalidated judge may be left off."""
        titles = {one.title for held in self.columns for one in held}
        if metric is None or metric in titles:
            return metric
        return next((title for title in sorted(titles) if plain(title) == metric), metric)

    def compared(self, metric: str, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Return the arms for a field by a judge's metric, each with its judged run; none for another metric.

        An arm that was not judged has no judged run, and no figure there.

        Args:
            metric: a column's title.
            arms: those of the sheet, in the order of the columns.
        """
        found = [next((one.run for one in held if one.title == metric), None) for held in self.columns]
        if not any(found):
            return ()
        return tuple(replace(arm, judged=run) for arm, run in zip(arms, found, strict=True))

    def drawn_by(self, metric: str | None) -> JudgeWins | None:
        """Return the judge that draws the judge's winner: the one that ``metric`` names, else the first.

        A validated judge goes before others, then the one that judged most rows, then by name.
        """
        named = next((one for one in self.wins if metric in (one.title, plain(one.title))), None)
        return named or next(iter(self.wins), None)


@dataclass(frozen=True, slots=True)
class ByJudge:
    """Arms for a field by a judge's metric: the column's title, the arms with their judged runs, notes."""

    metric: str
    arms: tuple[Arm, ...]
    notes: tuple[str, ...]


def by_judge(sources: Sources, dataset_id: str, arms: Sequence[Arm], metric: str | None) -> ByJudge | None:
    """Return what a field by a judge's metric is made of; None where no arm has it.

    Args:
        sources: the project's records.
        dataset_id: the dataset.
        arms: the arms on it.
        metric: ``SCORER/M``, the word for an unvalidated judge left off or not; None for the judge that would
            draw the judge's winner on the sheet.
    """
    found = of_sheet(sources, dataset_id, arms)
    first = found.drawn_by(None)
    title = found.named(metric) if metric is not None else first.title if first else None
    compared = found.compared(title, arms) if title is not None else ()
    return ByJudge(title, compared, found.notes) if title is not None and compared else None


def of_sheet(
    sources: Sources, dataset_id: str, arms: Sequence[Arm], *, scorers: Sequence[str] | None = None
) -> Judgements:
    """Return what judges say of a sheet's arms.

    Where a judge has compared an arm in several passes, the pass that holds most of the arms shown counts,
    then the latest.

    Args:
        sources: the project's records.
        dataset_id: the dataset.
        arms: the sheet's.
        scorers: the judges that are asked for; all by default.

    Raises:
        Refusal: a scorer that has judged nothing of the dataset.

    Cost: reads the judged runs of the dataset.
    """
    here = [run for run in sources.runs if run.judged and run.dataset_id == dataset_id]
    if scorers is not None:
        known = {run.folder.rpartition("/")[2] for run in here}
        for name in scorers:
            if name not in known:
                raise missing("scorer", name, known, next=f"evh runs --dataset-id {dataset_id}")
        here = [run for run in here if run.folder.rpartition("/")[2] in scorers]
    if not here:
        return Judgements(tuple(() for _ in arms))
    validity = judged.validity(sources.project, sources.runs, sources.problems)
    columns: list[list[JudgedScores]] = [[] for _ in arms]
    wins: list[JudgeWins] = []
    notes: list[str] = []
    for folder in dict.fromkeys(run.folder for run in here):
        scorer = folder.rpartition("/")[2]
        mine: list[Run | None] = [_of_arm(arm, folder, here) for arm in arms]
        comparing = any(run and plain(run.shown_metric or "") == WON for run in mine)
        if comparing:
            mine = _one_pass(mine, scorer, arms, notes)
        for at, run in enumerate(mine):
            if run is None:
                continue
            rows = {one.item_id: one for one in sources.predictions(run)}
            names = sorted({name for one in rows.values() for name in one.scores})
            first = [name for name in names if name == run.primary_metric]
            columns[at] += [
                JudgedScores(f"{scorer}/{validity.metric(run, name)}", name, rows, run)
                for name in dict.fromkeys([*first, *names])
            ]
        if comparing:
            wins += _wins(sources, scorer, arms, mine=mine, here=here, validity=validity)
    wins.sort(key=lambda one: (not one.validated, -len(one.best), one.scorer))
    return Judgements(tuple(tuple(held) for held in columns), tuple(wins), tuple(notes))


def _of_arm(arm: Arm, folder: str, here: Sequence[Run]) -> Run | None:
    """Return an arm's judged run in a judge's folder: of its run, else of the run of that id."""
    for run in here:
        if run.folder == folder and run.run_id == arm.run.run_id:
            source = (run.judged or {}).get("run")
            if source in (None, arm.run.key):
                return run
    return None


def _pass_of(run: Run) -> tuple[str, ...]:
    together = (run.judged or {}).get("together")
    return (
        tuple(together)
        if isinstance(together, list)
        else ("sheet", str((run.judged or {}).get("sheet_sha256")))
    )


def _one_pass(mine: list[Run | None], scorer: str, arms: Sequence[Arm], notes: list[str]) -> list[Run | None]:
    passes: dict[tuple[str, ...], list[Run]] = {}
    for run in mine:
        if run is not None:
            passes.setdefault(_pass_of(run), []).append(run)
    chosen = max(passes, key=lambda one: (len(passes[one]), max(run.created_at for run in passes[one])))
    out = [
        arm.name for arm, run in zip(arms, mine, strict=True) if run is not None and _pass_of(run) != chosen
    ]
    if out:
        notes.append(
            f"{scorer} judged {', '.join(out)} in another pass, beside other arms: left out; "
            f"evh judge --scorer {scorer} --runs {','.join(arm.name for arm in arms)} judges all together"
        )
    return [run if run is not None and _pass_of(run) == chosen else None for run in mine]


def _wins(
    sources: Sources,
    scorer: str,
    arms: Sequence[Arm],
    *,
    mine: Sequence[Run | None],
    here: Sequence[Run],
    validity: judged.Validity,
) -> list[JudgeWins]:
    first = next((run for run in mine if run is not None), None)
    if first is None or first.primary_metric is None:
        return []
    together = [run for run in here if run.folder == first.folder and _pass_of(run) == _pass_of(first)]
    best: dict[str, float] = {}
    shares: dict[str, dict[str, float]] = {}
    for run in together:
        held = {
            row.item_id: value
            for row in sources.predictions(run)
            for name, value in row.scores.items()
            if plain(name) == WON
        }
        for item_id, value in held.items():
            best[item_id] = max(value, best.get(item_id, 0.0))
        shares |= {
            arm.name: held for arm, own in zip(arms, mine, strict=True) if own is not None and own == run
        }
    title = f"{scorer}/{validity.metric(first, first.primary_metric)}"
    return [JudgeWins(title, scorer, validity.holds(first), shares, best)]
