"""Why a number of a dataset's sheet is what it is: a cell, who won its row, an arm's share of the wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts import field_table, judged_columns, sheet_arms
from evh.acts.sheet import build_sheet
from evh.acts.sheet_table import NONE_RIGHT
from evh.acts.why_chain import Chain
from evh.acts.why_model import no_such_form
from evh.errors import Refusal
from evh.project import datasets
from evh.project.shelf import missing
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.figures import Against
    from evh.acts.sheet_model import ArmColumn, Row, Sheet
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

    def tell(self, chain: Chain, name: str, metric: str, against: Against | None) -> tuple[Run, ...]:
        """Tell of the runs that hold an arm's scores by a metric and return them: its repeats, oldest first.

        A repeat whose rows are no longer what was recorded is in no mean; it is told of all the same.
        """
        place = next(at for at, one in enumerate(self._arms) if one.name == name)
        judge = next((one for one in self._judged.columns[place] if one.title == metric), None)
        arm, ref = self._arms[place], against.ref if against else None
        held: tuple[Run, ...]
        changed: list[Run] = []
        if judge is not None:
            held = (judge.run,)
        else:
            held, changed = (
                field_table.runs_of(self.sources, arm, ref),
                field_table.unread(self.sources, arm, ref),
            )
        if not held and not changed:
            held = (arm.run,)
        for run in (*held, *changed):
            chain.run(run)
        return held

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
    held = shown.tell(chain, arm.name, metric, read.against)
    others = [
        f"{row.cells[at].scores[n]!r} against {one.against.ref}: add @{one.against.ref}"
        for n, one in enumerate(arm.scores)
        if not against and one.metric == metric and n != position and one.against is not None
    ]
    error = row.cells[at].error
    how = f"{metric} of {arm.name} on {item_id}"
    how += f" against {read.against.ref}" if read.against else ""
    how += f", {_repeats_on(shown, item_id, metric, held)}" if read.runs else ""
    how += f"; the item failed: {error}" if error else ""
    return chain.answer(shown.ref, row.cells[at].scores[position], how, others)


def _position(sheet: Sheet, arm: ArmColumn, metric: str, against: str, ref: str) -> int:
    """Return which score column a reference names: by its set, else the one that draws the sheet's winner."""
    found = [at for at, one in enumerate(arm.scores) if one.metric == metric]
    if against:
        found = [at for at in found if _names(arm.scores[at].against, against, sheet.dataset_id)]
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
        shown.tell(chain, arm.name, arm.scores[place].metric, arm.scores[place].against)
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
        return _figure(shown, name)
    winner = RATES[name]
    competing = _competing(shown, winner)
    chain = Chain(shown.project, shown.sources)
    for one, place in sorted(competing, key=lambda pair: pair[0].name != arm.name):
        shown.tell(chain, one.name, one.scores[place].metric, one.scores[place].against)
    footer = sheet.footer[shown.at]
    value = footer.judge_win_rate if winner == BY_JUDGE else footer.win_rate
    mine = next((place for one, place in competing if one.name == arm.name), None)
    n = 0 if mine is None else footer.counts[mine]
    how = f"the share of {arm.name} in the wins over the {plural(n, 'row')} it was scored on, by "
    how += f"{_by(shown, winner)}, among {', '.join(one.name for one, _ in competing)}; a win shared is split"
    return chain.answer(shown.ref, value, how)


def _repeats_on(shown: _Shown, item_id: str, metric: str, held: Sequence[Run]) -> str:
    """Return that a cell is a mean over repeats, with the score of each."""
    told = []
    for run in held:
        row = next((one for one in shown.sources.predictions(run) if one.item_id == item_id), None)
        score = None if row is None else row.scores.get(metric)
        told.append(f"{run.run_id} {'—' if score is None else format(score, '.4g')}")
    return f"the mean over its repeats: {', '.join(told)}"


def _figure(shown: _Shown, name: str) -> Answer:
    """Return an arm's figure below the sheet: of one run, or the mean over the repeats that have it."""
    sheet, arm, footer = shown.sheet, shown.sheet.arms[shown.at], shown.sheet.footer[shown.at]
    metric, _, against = name.partition("@")
    metric = shown.named(metric)
    found = _figures(shown, metric)
    if against:
        found = {one: held for one, held in found.items() if _names(one, against, sheet.dataset_id)}
    if not found:
        known = sorted(
            {*RATES, *(one.metric for one in arm.scores)}.union(*(held for _, held in footer.figures))
        )
        raise Refusal(
            "no-such-figure",
            f"{shown.ref!r} names no figure of {arm.name} over the sheet of {sheet.dataset_id}",
            why=[f"{arm.name}: there is {', '.join(f'{arm.name}.{one}' for one in known)}"],
            next=f"evh inspect --sheet --dataset-id {sheet.dataset_id}",
        )
    chosen = sheet.against if sheet.against in found else next(iter(found))
    place = arm.position(metric, chosen)
    chain = Chain(shown.project, shown.sources)
    held = shown.tell(chain, arm.name, metric, chosen)
    told = [chain.figure(run, metric) for run in reversed(held) if metric in run.scores]
    how = f"{metric} of {arm.name}" + (f" against {chosen.ref}" if chosen else "")
    if arm.repeats and len(held) > 1:
        how += f", {_repeats_over(shown, metric, held, per_item=place is not None)}"
    elif told:
        how += f": {told[0]}"
    others = [
        f"{value!r} against {one.ref}: add @{one.ref}"
        for one, value in found.items()
        if not against and one != chosen and one is not None
    ]
    return chain.answer(shown.ref, found[chosen], how, others)


def _figures(shown: _Shown, metric: str) -> dict[Against | None, float | None]:
    """Return an arm's figures of a metric below the sheet, by the set: the run's own, else the mean."""
    arm, footer = shown.sheet.arms[shown.at], shown.sheet.footer[shown.at]
    means = {
        one.against: mean for one, mean in zip(arm.scores, footer.means, strict=True) if one.metric == metric
    }
    return means | {against: held[metric] for against, held in footer.figures if metric in held}


def _repeats_over(shown: _Shown, metric: str, held: Sequence[Run], *, per_item: bool) -> str:
    """Return how a figure is made of repeats, with the figure of each."""
    dataset = shown.sources.datasets[shown.sheet.dataset_id]
    made = field_table.figure(shown.sources, dataset, held, metric, per_item=per_item)
    what = (
        f"each of {plural(len(made.scores), 'item')} its mean over the repeats" if per_item else "their mean"
    )
    told = (
        f"{one.run.run_id} {'—' if one.value is None else format(one.value, '.4g')}" for one in made.repeats
    )
    return f"of {plural(len(held), 'repeat')}, {what}: {', '.join(told)}"


def _names(against: Against | None, text: str, dataset_id: str) -> bool:
    """Tell whether a reference's ``@<set>`` names what scores were made against."""
    if against is None:
        return False
    short = against.ref.removeprefix("labels/")
    return text.removeprefix("references/") in (against.ref, short, short.removeprefix(f"{dataset_id}/"))


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
