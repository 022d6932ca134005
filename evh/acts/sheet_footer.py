"""The sheet's footer: each arm over the whole dataset, its verdict, and what a reader must be told of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import field
from evh.acts.sheet_model import Footer
from evh.errors import Refusal
from evh.measure.numbers import mean
from evh.measure.scores import floor_rate
from evh.project import goals
from evh.project.arms import Arm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.field_model import Field
    from evh.acts.judged_columns import Judgements
    from evh.acts.sheet_choices import Choices
    from evh.acts.sheet_columns import ArmData
    from evh.acts.sheet_model import ArmColumn, LabelColumn, Row
    from evh.acts.sources import Sources
    from evh.records.dataset import Dataset
    from evh.records.goal import Goal


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The footer with its verdicts, how they were made in words, and what a reader must be told."""

    footer: tuple[Footer, ...]
    judged_by: str
    notes: tuple[str, ...]


def goal_of(sources: Sources, dataset_id: str, named: str | None) -> Goal | None:
    """Return the goal that is named, else the one that names the dataset where there is exactly one.

    Raises:
        Refusal: there is no such goal, or it is about other datasets.
    """
    if named is None:
        found = goals.on_dataset(sources.project, dataset_id, sources.problems)
        return found[0] if len(found) == 1 else None
    goal = goals.read(sources.project, named)
    if dataset_id not in goal.datasets:
        raise Refusal(
            "other-dataset",
            f"the goal {named!r} is not about {dataset_id}",
            why=[f"--goal {named}: it names {', '.join(goal.datasets)}"],
            next=f"evh goals; or add {dataset_id} to the datasets of the goal",
        )
    return goal


def verdicts(
    sources: Sources,
    dataset: Dataset,
    arms: Sequence[Arm],
    footer: tuple[Footer, ...],
    *,
    judgements: Judgements,
    choices: Choices,
    goal: Goal | None,
) -> Verdicts:
    """Return the footer with what `field.verdicts` says by the sheet's metric and set, or by its judge's.

    Args:
        sources: the project's records.
        dataset: the dataset.
        arms: the sheet's.
        footer: a line an arm.
        judgements: what judges say of the arms.
        choices: the sheet's options.
        goal: the goal that was named, or None: then `field.rules_for` looks for one.
    """
    metric, against = choices.metric, choices.against
    judged = [next((one for one in held if one.title == metric), None) for held in judgements.columns]
    if any(judged):
        # A judged run holds the scores itself: it is the arm that is compared.
        arms = [
            Arm(arm.name, one.run, (one.run,))
            for arm, one in zip(arms, judged, strict=True)
            if one is not None
        ]
        metric, against = next(one.metric for one in judged if one is not None), None
    rules, said = field.rules_for(sources, dataset.dataset_id, choices.metric, goal)
    ranked = field.verdicts(sources, dataset, arms, metric=metric, against=against, rules=rules)
    return Verdicts(tuple(_told(one, ranked) for one in footer), field.told(ranked), (*ranked.notes, *said))


def turned(
    arms: Sequence[ArmColumn], rows: Sequence[Row], footer: Sequence[Footer], choices: Choices
) -> list[str]:
    """Return the sentence that the stand-in puts another arm first than the metric; none where it agrees.

    A metric without a value per item is stood in for by another one, row by row: winners, and what
    `label_plan` counts, then speak for the arm that is first by that one. The two are compared on the rows
    that both arms have. An arm measured on its own labels, or fitted on items here, leads nothing.
    """
    if choices.row_metric == choices.metric or not choices.row_metric:
        return []
    places = [arm.position(choices.row_metric, choices.against) for arm in arms]
    figures = [dict(one.figures).get(choices.against, {}).get(choices.metric) for one in footer]
    means = [None if at is None else one.means[at] for at, one in zip(places, footer, strict=True)]
    held = [
        at
        for at, place in enumerate(places)
        if place is not None
        and not (arms[at].scores[place].own or arms[at].scores[place].fitted)
        and figures[at] is not None
        and means[at] is not None
    ]
    if len(held) < 2:
        return []
    sign = 1 if all(arms[at].run.higher_is_better(choices.metric) for at in held) else -1
    row_sign = 1 if choices.higher else -1
    first = max(held, key=lambda at: sign * (figures[at] or 0.0))  # the first of those that tie
    instead = max(held, key=lambda at: row_sign * (means[at] or 0.0))
    one, two = (_common(rows, at, other, places) for at, other in ((first, instead), (instead, first)))
    if one is None or two is None or row_sign * one >= row_sign * two or figures[first] == figures[instead]:
        return []
    ahead, behind = arms[first].name, arms[instead].name
    by_metric = f"{figures[first]:.4g}, {figures[instead]:.4g}"
    told = f"by {choices.metric} {ahead} is ahead of {behind} ({by_metric}), "
    told += f"by {choices.row_metric}, which stands in for it row by row, behind ({one:.4g}, {two:.4g}): "
    return [f"{told}rows and winners speak for the other arm"]


def _common(rows: Sequence[Row], at: int, other: int, places: Sequence[int | None]) -> float | None:
    """Return the mean of one arm over the rows on which another one is scored too."""
    mine, theirs = places[at], places[other]
    if mine is None or theirs is None:
        return None
    return mean(
        value
        for row in rows
        if (value := row.cells[at].scores[mine]) is not None and row.cells[other].scores[theirs] is not None
    )


def line(
    data: ArmData,
    rows: Sequence[Row],
    at: int,
    *,
    labels: tuple[LabelColumn, ...],
    choices: Choices,
    rates: Mapping[str, float | None],
) -> Footer:
    """Return one arm's line.

    Args:
        data: the arm.
        rows: every row of the dataset.
        at: the arm's place.
        labels: the label columns.
        choices: the sheet's options.
        rates: the win rates by arm.
    """
    arm = data.column
    values = [
        [score for row in rows if (score := row.cells[at].scores[position]) is not None]
        for position in range(len(arm.scores))
    ]
    position = arm.position(choices.row_metric, choices.against)
    majorities = []
    for against in dict.fromkeys(column.against for column in arm.scores if column.against is not None):
        where = next((place for place, one in enumerate(labels) if one.ref == against.ref), None)
        mine = [place for place, column in enumerate(arm.scores) if column.against == against]
        if where is None:
            continue
        best = floor_rate(
            label
            for row in rows
            if (label := row.labels[where]) is not None
            and any(row.cells[at].scores[place] is not None for place in mine)
        )
        if best is not None:
            majorities.append((against, best.share))
    return Footer(
        arm=arm.name,
        n=0 if position is None else len(values[position]),
        of=len(rows),
        errors=sum(row.cells[at].error is not None for row in rows),
        means=tuple(mean(column) for column in values),
        counts=tuple(len(column) for column in values),
        figures=data.figures,
        win_rate=rates.get(arm.name),
        majority_rates=tuple(majorities),
    )


def _told(footer: Footer, ranked: Field) -> Footer:
    arm = ranked.arm(footer.arm)
    return footer if arm is None else replace(footer, verdict=arm.verdict, p=arm.corrected)


def unscored(arms: Sequence[ArmColumn], choices: Choices, dataset_id: str) -> list[str]:
    """Return which arms do not compete because nothing scored them, and what would."""
    against = choices.against
    if against is None:
        return []
    silent = [one.name for one in arms if one.position(choices.row_metric, against) is None]
    notes = []
    if silent and len(silent) < len(arms):
        flag = "--labels" if against.kind == "labels" else "--reference"
        ref = against.ref.removeprefix("labels/")
        notes.append(
            f"{', '.join(silent)}: not scored against {against.ref}; "
            f"evh rescore --dataset-id {dataset_id} {flag} {ref} does it"
        )
    if len(choices.positions) == 1:
        notes.append("one arm alone competes, so no winner is drawn")
    return notes


def undecided(columns: Sequence[ArmData], rows: Sequence[Row]) -> list[str]:
    """Return which arms stored no decision, so that none of theirs are compared."""
    silent = [
        one.column.name
        for at, one in enumerate(columns)
        if one.rows and all(row.cells[at].decision is None for row in rows)
    ]
    if not silent:
        return []
    named = ", ".join(silent)
    return [f"{named}: no decisions are stored, so none are compared; evh rescore stores them"]
