"""The sheet's footer: each arm over the whole dataset, its verdict, and what a reader must be told of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import field, field_notes
from evh.acts.sheet_model import Footer
from evh.measure.numbers import mean
from evh.measure.scores import floor_rate
from evh.project.memory import Same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.field_model import Field
    from evh.acts.figures import Against
    from evh.acts.judged_columns import Judgements
    from evh.acts.sheet_choices import Choices
    from evh.acts.sheet_columns import ArmData
    from evh.acts.sheet_layout import Layout
    from evh.acts.sheet_model import ArmColumn
    from evh.acts.sources import Sources
    from evh.project.arms import Arm
    from evh.records.dataset import Dataset
    from evh.records.goal import Goal


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The footer with its verdicts, how they were made in words, and what a reader must be told."""

    footer: tuple[Footer, ...]
    judged_by: str
    notes: tuple[str, ...]


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
    judged = judgements.compared(metric, arms)
    if judged:
        arms, against = judged, None
    rules, said = field.rules_for(sources, dataset.dataset_id, choices.metric, goal)
    ranked = field.verdicts(sources, dataset, arms, metric=metric, against=against, rules=rules)
    known = field_notes.barred(ranked.arms, against.ref if against else None, dataset)  # the sheet tells them
    notes = [note for note in ranked.notes if note not in known]
    return Verdicts(tuple(_told(one, ranked) for one in footer), field.told(ranked), (*notes, *said))


def turned(layout: Layout, footer: Sequence[Footer]) -> list[str]:
    """Return the sentence that the stand-in puts another arm first than the metric; none where it agrees.

    A metric without a value per item is stood in for by another one, row by row: winners, and what
    `label_plan` counts, then speak for the arm that is first by that one. The two are compared on the rows
    that both arms have. An arm measured on its own labels, or fitted on items here, leads nothing, nor does a
    trial.
    """
    arms, choices = layout.arms, layout.choices
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
        and arms[at].trial is None
        and figures[at] is not None
        and means[at] is not None
    ]
    if len(held) < 2:
        return []
    sign = 1 if all(arms[at].run.higher_is_better(choices.metric) for at in held) else -1
    row_sign = 1 if choices.higher else -1
    first = max(held, key=lambda at: sign * (figures[at] or 0.0))  # the first of those that tie
    instead = max(held, key=lambda at: row_sign * (means[at] or 0.0))
    one, two = (_common(layout, at, other, places) for at, other in ((first, instead), (instead, first)))
    if one is None or two is None or row_sign * one >= row_sign * two or figures[first] == figures[instead]:
        return []
    ahead, behind = arms[first].name, arms[instead].name
    by_metric = f"{figures[first]:.4g}, {figures[instead]:.4g}"
    told = f"by {choices.metric} {ahead} is ahead of {behind} ({by_metric}), "
    told += f"by {choices.row_metric}, which stands in for it row by row, behind ({one:.4g}, {two:.4g}): "
    return [f"{told}rows and winners speak for the other arm"]


def _common(layout: Layout, at: int, other: int, places: Sequence[int | None]) -> float | None:
    """Return the mean of one arm over the rows on which another one is scored too."""
    mine, theirs = places[at], places[other]
    if mine is None or theirs is None:
        return None
    cells, others = (layout.columns[one].cells(layout.dataset.items) for one in (at, other))
    return mean(
        value
        for one, two in zip(cells, others, strict=True)
        if (value := one.scores[mine]) is not None and two.scores[theirs] is not None
    )


def lines(sources: Sources, layout: Layout, rates: Mapping[str, float | None]) -> tuple[Footer, ...]:
    """Return a line for each arm.

    Args:
        sources: the project's records.
        layout: the sheet.
        rates: each arm's share of the wins, by its name.
    """
    judge = layout.judge
    return tuple(
        replace(
            _line(sources, layout, one, rates.get(one.column.name)),
            judge_win_rate=judge.rate(one.column.name) if judge else None,
        )
        for one in layout.columns
    )


def notes(sources: Sources, layout: Layout, said: Verdicts) -> tuple[str, ...]:
    """Return what a reader of the sheet must be told, a sentence each."""
    arms, choices = layout.arms, layout.choices
    return (
        *layout.notes,
        *choices.notes,
        *layout.judgements.notes,
        *unscored(arms, choices, layout.dataset.dataset_id),
        *undecided(layout),
        *turned(layout, said.footer),
        *said.notes,
        *sources.notes(),
    )


def _line(sources: Sources, layout: Layout, data: ArmData, rate: float | None) -> Footer:
    choices, items = layout.choices, layout.dataset.items
    arm, tally = data.column, data.tally(items)
    position = arm.position(choices.row_metric, choices.against)
    majorities = []
    for against in dict.fromkeys(column.against for column in arm.scores if column.against is not None):
        where = next((place for place, one in enumerate(layout.labels) if one.ref == against.ref), None)
        if where is not None:
            share = _majority(sources, layout, data, layout.texts[where], against)
            if share is not None:
                majorities.append((against, share))
    return Footer(
        arm=arm.name,
        n=0 if position is None else tally.counts[position],
        of=len(items),
        errors=data.failed(choices.against, items),
        means=tally.means,
        counts=tally.counts,
        figures=data.figures,
        win_rate=rate,
        majority_rates=tuple(majorities),
        spreads=data.spreads,
    )


def _majority(
    sources: Sources, layout: Layout, data: ArmData, texts: Mapping[str, str], against: Against
) -> float | None:
    """Return what an arm that always says the same could reach where this one is scored; see `Footer`."""
    items = layout.dataset.items

    def make() -> float | None:
        mine = [place for place, column in enumerate(data.column.scores) if column.against == against]
        best = floor_rate(
            label
            for item, cell in zip(items, data.cells(items), strict=True)
            if (label := texts.get(item.sha256)) is not None
            and any(cell.scores[place] is not None for place in mine)
        )
        return best.share if best is not None else None

    key = ("majority", layout.dataset.dataset_id, data.key, against.ref)
    return sources.memory.kept(key, (), make, Same(layout.dataset), Same(data), Same(texts))


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


def undecided(layout: Layout) -> list[str]:
    """Return which arms stored no decision, so that none of theirs are compared."""
    silent = [
        one.column.name for one in layout.columns if one.rows and not one.tally(layout.dataset.items).decides
    ]
    if not silent:
        return []
    named = ", ".join(silent)
    return [f"{named}: no decisions are stored, so none are compared; evh rescore stores them"]
