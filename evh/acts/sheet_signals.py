"""The signals of a sheet's rows: which sets they go by, and what they say of one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.sheet_columns import STAND_IN
from evh.measure import signals
from evh.measure.signals import Signals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.acts.figures import Against
    from evh.acts.sheet_model import ArmColumn, Cell, LabelColumn
    from evh.acts.sources import Sources
    from evh.records.dataset import Item


@dataclass(frozen=True, slots=True)
class Settling:
    """The sets that the signals go by.

    Attributes:
        wrong: those that *wrong* counts: the set that draws the winner; where none does, or it cannot tell,
            every set of the dataset's task that is no model's. With them the set that the rows are asked
            for by.
        labelled: those by which an item is labelled: every set of the task that was not made from the outputs
            of an arm that is shown.
    """

    wrong: frozenset[str]
    labelled: frozenset[str]


def settling(
    labels: Sequence[LabelColumn],
    arms: Sequence[ArmColumn],
    against: Against | None,
    sources: Sources,
    *,
    asked: str | None = None,
) -> Settling:
    """Return the sets that a sheet's signals go by.

    Args:
        labels: the label columns.
        arms: the arms that are shown.
        against: the set that draws the winner, or None.
        sources: the project's records.
        asked: the set of ``--wrong-against``: it counts, whatever it is, for it was asked for.
    """
    more = frozenset({asked} if asked else ())
    labelled = frozenset(
        one.ref
        for one in labels
        if one.same_task
        and not (one.kind == "labels" and any(sources.made_from(arm.run, one.ref) for arm in arms))
    )
    if against is not None and against.ref in labelled:
        return Settling(more | {against.ref}, labelled)
    every = frozenset(one.ref for one in labels if one.ref in labelled and one.source_kind != "model")
    return Settling(more | every, labelled)


def of_row(
    item: Item,
    *,
    arms: Sequence[ArmColumn],
    cells: Sequence[Cell],
    first: Sequence[float | None],
    labels: Sequence[LabelColumn],
    texts: Sequence[str | None],
    seen: Mapping[str, frozenset[str]],
    same: Callable[[str, str], bool],
    settles: Settling,
) -> Signals:
    """Return the signals of one row.

    Args:
        item: the item.
        arms: the arms; the first stands for production. A floor after it counts in no signal.
        cells: what each arm did on the item.
        first: the first arm's scores of the output that is shown, whose decision is told wrong or not.
        labels: the label columns.
        texts: what each of them says of the item; None for nothing.
        seen: the values that *new* compares with, from `signals.seen_values`.
        same: the first arm's ``same``.
        settles: the sets that the signals go by.
    """
    decisions = [
        None if at and arm.floor else cell.decision
        for at, (arm, cell) in enumerate(zip(arms, cells, strict=True))
    ]
    wrong: list[str] = []
    if cells:
        correct = {
            column.against.ref: score
            for column, score in zip(arms[0].scores, first, strict=True)
            if column.metric == STAND_IN and column.against is not None
        }
        wrong = [
            column.ref
            for column, text in zip(labels, texts, strict=True)
            if column.same_task and signals.is_wrong(decisions[0], correct.get(column.ref), text, same)
        ]
    return Signals(
        wrong=tuple(ref for ref in wrong if ref in settles.wrong),
        wrong_by=tuple(wrong),
        disagree=signals.disagree(decisions, same),
        split=signals.split(decisions, same),
        new=signals.new_fields(item.fields, seen) if seen else (),
        unlabelled=not any(
            column.ref in settles.labelled and text is not None
            for column, text in zip(labels, texts, strict=True)
        ),
    )
