"""What a sheet's options come to, before a row of it is made: the arms, the sets, the metric and the winner.

Whoever needs no rows (which metric, against which set, each arm over the whole dataset) asks for this alone.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import judged_columns, sheet_arms, sheet_goal
from evh.acts.sheet_choices import Choices, by_goal, choose
from evh.acts.sheet_columns import BUNDLED_ADAPTERS, ArmData, arm_data, label_column
from evh.project import datasets
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.acts.judged_columns import Judgements, JudgeWins
    from evh.acts.sheet_model import ArmColumn, LabelColumn
    from evh.acts.sources import Sources
    from evh.adapters.hooks import Adapter
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.goal import Goal
    from evh.records.run import Run


@dataclass(frozen=True, slots=True)
class Layout:
    """A sheet without its rows.

    Attributes:
        dataset: the dataset whose items are the rows.
        found: the arms, in the order of the columns.
        columns: each arm's data.
        labels: the label columns; ``texts`` are what each of them says, by the sha256 of the item's bytes.
        choices: the options, resolved.
        judgements: what judges say of the arms; ``judge`` is the one that draws the judge's winner, or None.
        goal: the goal that was named, or the only one that names the dataset.
        same: the first arm's ``same``.
        notes: what a reader must be told of the goal, and of arms whose column is not all of them.
    """

    dataset: Dataset
    found: tuple[Arm, ...]
    columns: tuple[ArmData, ...]
    labels: tuple[LabelColumn, ...]
    texts: tuple[Mapping[str, str], ...]
    choices: Choices
    judgements: Judgements
    judge: JudgeWins | None
    goal: Goal | None
    same: Callable[[str, str], bool]
    notes: tuple[str, ...]

    @property
    def arms(self) -> tuple[ArmColumn, ...]:
        """The arms' columns."""
        return tuple(one.column for one in self.columns)

    @property
    def compete(self) -> Mapping[int, int]:
        """The arms that a winner is drawn from, each with its score column: an arm alone beats nobody."""
        return self.choices.positions if len(self.choices.positions) > 1 else {}


def lay_out(
    sources: Sources,
    dataset_id: str,
    runs: Sequence[str] = (),
    *,
    metric: str | None = None,
    against: str | None = None,
    where: Sequence[str] = (),
    new_vs: str | None = None,
    wrong_against: str | None = None,
    with_outputs: bool = True,
    goal: str | None = None,
    scorers: Sequence[str] | None = None,
) -> Layout:
    """Return what the options of a sheet come to; see `sheet.build_sheet` for them and what is refused.

    Cost: each run's predictions and each set's labels are read once, whoever asks.
    """
    project = sources.project
    held_goal = sheet_goal.goal_of(sources, dataset_id, goal)
    dataset = sources.datasets.get(dataset_id) or datasets.read(project, dataset_id)
    found = sheet_arms.of_sheet(project, dataset_id, runs, sources)
    covering = sources.covering(dataset)
    labels = tuple(label_column(one, dataset, sources) for one in covering)
    judgements = judged_columns.of_sheet(sources, dataset_id, found, scorers=scorers)
    columns = [
        arm_data(arm, sources, dataset, labels, with_outputs=with_outputs, judged=held)
        for arm, held in zip(found, judgements.columns, strict=True)
    ]
    texts = tuple(one.texts for one in covering)
    asked = held_goal and replace(held_goal, metric=judgements.named(held_goal.metric))
    wanted = by_goal(asked, columns, metric=judgements.named(metric), against=against, named=goal is not None)
    judge = judgements.drawn_by(wanted.metric)
    choices = choose(
        dataset, columns, labels, texts, sources,
        metric=wanted.metric, against=wanted.against, new_vs=new_vs, wrong_against=wrong_against,
        where=where, higher=wanted.higher,
    )  # fmt: skip
    if judge is not None and not choices.row_metric:  # nothing but a judge has scored these arms
        choices = replace(choices, metric=choices.metric or judge.title, row_metric=judge.title, against=None)
    same = (same_of(project, columns[0].column.run, sources) if columns else None) or operator.eq
    if not runs:
        order = sheet_arms.by_standing(columns, choices, sheet_arms.promoted_arms(project, sources, []))
        columns, found = [columns[at] for at in order], [found[at] for at in order]
        judgements = replace(judgements, columns=tuple(judgements.columns[at] for at in order))
        positions = {new: choices.positions[at] for new, at in enumerate(order) if at in choices.positions}
        choices = replace(choices, positions=positions)
    return Layout(
        dataset=dataset,
        found=tuple(found),
        columns=tuple(columns),
        labels=labels,
        texts=texts,
        choices=choices,
        judgements=judgements,
        judge=judge,
        goal=held_goal,
        same=same,
        notes=(*wanted.notes, *_partial(columns, dataset)),
    )


def _partial(columns: Sequence[ArmData], dataset: Dataset) -> list[str]:
    """Return which arms have means over repeats, or ran over some of the items only, a sentence each."""
    notes = []
    for column in (one.column for one in columns):
        if column.repeats:
            notes.append(
                f"{column.name} ran {len(column.repeats)} times: {column.told_repeats}; the repeat shown is "
                f"{column.run.run_id}"
            )
        notes += _scored_in_part(column, dataset.dataset_id)
        if column.trial is not None:
            notes.append(
                f"{column.name} is a trial over {column.trial:,} of {len(dataset.items):,} items: "
                "its figures are of those, it wins no row and never leads"
            )
    return notes


def _scored_in_part(column: ArmColumn, dataset_id: str) -> list[str]:
    """Return against which sets only some of an arm's repeats were scored, and what scores the others."""
    n = len(column.repeats)
    found = {one.against: len(one.runs) for one in column.scores if one.runs and len(one.runs) < n}
    notes = []
    for against, scored in found.items():
        told = f"{column.name}: {scored} of {n} repeats count"
        if against is None:
            notes.append(f"{told} by the scores that name no set: the others have none, or cannot be read")
            continue
        flag = "--labels" if against.kind == "labels" else "--reference"
        notes.append(
            f"{told} against {against.ref}: the others were not scored, or cannot be read; evh rescore "
            f"--dataset-id {dataset_id} {flag} {against.ref.removeprefix('labels/')} scores them"
        )
    return notes


def same_of(project: Project, run: Run, sources: Sources) -> Callable[[str, str], bool] | None:
    """Return what an arm's adapter calls the same decision, in a project that trusts its adapters; else None.

    None stands for equal texts: the adapter is bundled, not trusted, or cannot be loaded, as
    ``sources.problems`` then tells.
    """
    if not project.settings.trust_adapters or run.adapter in BUNDLED_ADAPTERS:
        return None
    from evh.adapters import loader

    def load(name: str) -> Adapter:
        return loader.load(project, name, beside=project.data / "configs")

    found = read_each([run.adapter], load, sources.problems)
    return found[0].same if found and found[0].has("same") else None
