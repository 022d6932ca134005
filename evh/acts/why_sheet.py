"""Why a number of a dataset's sheet is what it is: a cell, who won its row, an arm's share of the wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts import judged_columns, sheet_arms
from evh.acts.sheet import build_sheet
from evh.acts.sheet_table import NONE_RIGHT
from evh.acts.why_chain import Chain
from evh.acts.why_model import no_such_form
from evh.errors import Refusal
from evh.project import datasets
from evh.project.arms import scored_against
from evh.project.shelf import missing
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.acts.sheet_model import ArmColumn, Row, ScoreColumn, Sheet
    from evh.acts.sources import Sources
    from evh.acts.why_model import Answer
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.run import Run

WINNER, BY_JUDGE = "winner", "judge_winner"
RATES = {"win_rate": WINNER, "judge_win_rate": BY_JUDGE}
"""An arm's figures over all rows, and which winner of a row each counts."""


def explain(project: Project, sources: Sources, ref: str, rest: str) -> Answer:
    """Return the provenance of a number of the sheet; see `why.explain`.

    Args:
        project: the project.
        sources: its records.
        ref: the whole reference.
        rest: what stands behind ``sheet:``.
    """
    dataset_id, slash, cell = rest.partition("/")
    whole, mark, column = rest.partition("#")
    if "/" not in whole:
        if not mark or "." not in column:
            raise no_such_form(ref)
        return _rate(_Shown(project, sources, whole, column, ref), column)
    if not slash:
        raise no_such_form(ref)
    dataset = _dataset(project, sources, dataset_id)
    cuts = [at for at, letter in enumerate(cell) if letter == "#"]
    found = [(cell[:at], cell[at + 1 :]) for at in cuts if cell[:at] in dataset.by_id]
    if not found:
        raise missing(
            "item",
            cell.rpartition("#")[0],
            dataset.by_id,
            next=f"evh dataset-items --dataset-id {dataset_id}",
        )
    item_id, column = found[-1]
    shown = _Shown(project, sources, dataset_id, column, ref)
    return _winner(shown, item_id, column) if column in (WINNER, BY_JUDGE) else _cell(shown, item_id, column)


class _Shown:
    """The sheet that a reference speaks of: of every arm, or of the one run that it names."""

    def __init__(self, project: Project, sources: Sources, dataset_id: str, column: str, ref: str) -> None:
        self.project, self.sources, self.ref = project, sources, ref
        _dataset(project, sources, dataset_id)
        here = [run for run in sources.runs if run.dataset_id == dataset_id]
        configs, names = {run.config_id for run in here}, {run.run_id for run in here}
        self.arm = max(
            (one for one in configs | names if column.startswith(f"{one}.")), key=len, default=None
        )
        if self.arm is None and column not in (WINNER, BY_JUDGE):
            raise missing(
                "arm", column.partition(".")[0], configs | names, next=f"evh runs --dataset-id {dataset_id}"
            )
        only = () if self.arm is None or self.arm in configs else (self.arm,)
        self.sheet = build_sheet(
            project, dataset_id, only, sources=sources, with_outputs=False, with_previews=False
        )
        self._arms: list[Arm] = sheet_arms.of_sheet(project, dataset_id, only, sources)
        self._judged = judged_columns.of_sheet(sources, dataset_id, self._arms)

    @property
    def at(self) -> int:
        """The place of the arm that is named."""
        return next(at for at, one in enumerate(self.sheet.arms) if one.name == self.arm)

    def named(self, metric: str) -> str:
        """Return a metric as the sheet heads it: a judge's may be written without *unvalidated*."""
        return self._judged.named(metric) or metric

    def row(self, item_id: str) -> Row:
        """Return the row of an item."""
        return next(one for one in self.sheet.rows if one.item_id == item_id)

    def run_of(self, name: str, column: ScoreColumn) -> Run:
        """Return the run that holds an arm's scores of a column: a judged one where a judge gave them."""
        place = next(at for at, one in enumerate(self._arms) if one.name == name)
        judge = next((one for one in self._judged.columns[place] if one.title == column.metric), None)
        if judge is not None:
            return judge.run
        arm = self._arms[place]
        ref = column.against.ref if column.against else None
        return next((run for run in arm.scored if scored_against(run) == ref), arm.run)

    def competing(self, winner: str) -> list[tuple[ArmColumn, int]]:
        """Return the arms that a row's winner is drawn from, each with the place of its score column."""
        sheet = self.sheet
        if winner == BY_JUDGE:
            title, against = sheet.judge or "", None
        else:
            title, against = sheet.row_metric, sheet.against
        made = []
        for arm, footer in zip(sheet.arms, sheet.footer, strict=True):
            place = arm.position(title, against)
            rate = footer.judge_win_rate if winner == BY_JUDGE else footer.win_rate
            if place is not None and rate is not None:
                made.append((arm, place))
        return made


def _dataset(project: Project, sources: Sources, dataset_id: str) -> Dataset:
    return sources.datasets.get(dataset_id) or datasets.read(project, dataset_id)


def _cell(shown: _Shown, item_id: str, column: str) -> Answer:
    sheet, at = shown.sheet, shown.at
    arm, row = sheet.arms[at], shown.row(item_id)
    metric, _, against = column[len(arm.name) + 1 :].partition("@")
    metric = shown.named(metric)
    chain = Chain(shown.project, shown.sources, item_id)
    if metric == "decision":
        chain.run(arm.run)
        return chain.answer(
            shown.ref, row.cells[at].decision, f"the stored decision of {arm.name} on {item_id}"
        )
    position = _position(sheet, arm, metric, against, shown.ref)
    read = arm.scores[position]
    chain.run(shown.run_of(arm.name, read))
    others = [
        f"{row.cells[at].scores[n]!r} against {one.against.ref}: add @{one.against.ref}"
        for n, one in enumerate(arm.scores)
        if not against and one.metric == metric and n != position and one.against is not None
    ]
    error = row.cells[at].error
    how = f"{metric} of {arm.name} on {item_id}"
    how += f" against {read.against.ref}" if read.against else ""
    how += f"; the item failed: {error}" if error else ""
    return chain.answer(shown.ref, row.cells[at].scores[position], how, others)


def _position(sheet: Sheet, arm: ArmColumn, metric: str, against: str, ref: str) -> int:
    """Return which score column a reference names: by its set, else the one that draws the sheet's winner."""
    found = [at for at, one in enumerate(arm.scores) if one.metric == metric]
    if against:
        named, own = against.removeprefix("references/"), f"labels/{sheet.dataset_id}/"
        found = [
            at
            for at in found
            if (one := arm.scores[at].against) is not None
            and named in (one.ref, one.ref.removeprefix("labels/"), one.ref.removeprefix(own))
        ]
    if not found:
        known = sorted({f"{arm.name}.{one.metric}" for one in arm.scores} | {f"{arm.name}.decision"})
        raise Refusal(
            "no-such-metric",
            f"{ref!r} names no score of {arm.name} on {sheet.dataset_id}",
            why=[f"{arm.name}: there is {', '.join(known)}"],
            next=f"evh inspect --sheet --dataset-id {sheet.dataset_id}",
        )
    preferred = [at for at in found if arm.scores[at].against == sheet.against]
    return (preferred or found)[0]


def _winner(shown: _Shown, item_id: str, column: str) -> Answer:
    row = shown.row(item_id)
    competing = _competing(shown, column)
    chain = Chain(shown.project, shown.sources, item_id)
    scores = []
    for arm, place in competing:
        chain.run(shown.run_of(arm.name, arm.scores[place]))
        score = row.cells[shown.sheet.arms.index(arm)].scores[place]
        scores.append(f"{arm.name} {'—' if score is None else format(score, '.4g')}")
    won = ", ".join(row.judge_winners if column == BY_JUDGE else row.winners) or None
    value = NONE_RIGHT if column == WINNER and row.none_right else won
    told = f"the arms best on {item_id} by {_by(shown, column)}: {', '.join(scores)}"
    return chain.answer(shown.ref, value, told)


def _rate(shown: _Shown, column: str) -> Answer:
    arm, sheet = shown.sheet.arms[shown.at], shown.sheet
    name = column[len(arm.name) + 1 :]
    if name not in RATES:
        raise Refusal(
            "no-such-figure",
            f"{shown.ref!r} names no figure of {arm.name} over the sheet of {sheet.dataset_id}",
            why=[f"{arm.name}: there is {', '.join(f'{arm.name}.{one}' for one in RATES)}"],
            next=f"a mean is its run's figure: evh why run:{arm.run.run_id}#METRIC",
        )
    winner = RATES[name]
    competing = _competing(shown, winner)
    chain = Chain(shown.project, shown.sources)
    for one, place in sorted(competing, key=lambda pair: pair[0].name != arm.name):
        chain.run(shown.run_of(one.name, one.scores[place]))
    footer = sheet.footer[shown.at]
    value = footer.judge_win_rate if winner == BY_JUDGE else footer.win_rate
    mine = next((place for one, place in competing if one.name == arm.name), None)
    n = 0 if mine is None else footer.counts[mine]
    how = f"the share of {arm.name} in the wins over the {plural(n, 'row')} it was scored on, by "
    how += f"{_by(shown, winner)}, among {', '.join(one.name for one, _ in competing)}; a win shared is split"
    return chain.answer(shown.ref, value, how)


def _competing(shown: _Shown, winner: str) -> list[tuple[ArmColumn, int]]:
    found = shown.competing(winner)
    if not found:
        by = "no judge has compared these arms" if winner == BY_JUDGE else "; ".join(shown.sheet.notes)
        raise Refusal(
            "no-winner",
            f"no winner is drawn on {shown.sheet.dataset_id}",
            why=[by or "no two arms were scored by one metric against one set"],
            next=f"evh inspect --sheet --dataset-id {shown.sheet.dataset_id}",
        )
    return found


def _by(shown: _Shown, winner: str) -> str:
    sheet = shown.sheet
    if winner == BY_JUDGE:
        return f"the judge, {sheet.judge}"
    return sheet.row_metric + (f" against {sheet.against.ref}" if sheet.against else "")
