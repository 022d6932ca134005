"""Where production was wrong: counted from the sheet's signals, with the items to look at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.scores import distinct_answers
from evh.records.answers import shown

if TYPE_CHECKING:
    from evh.acts.sheet_model import LabelColumn, Sheet
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class WrongItem:
    """An item that production was wrong on: its page, its row in the sheet, what was decided and right."""

    item_id: str
    path: str | None
    row: str | None
    decision: str | None
    answer: str


@dataclass(frozen=True, slots=True)
class WrongKind:
    """How often production decided one thing where the label says another."""

    decision: str | None
    answer: str
    n: int


@dataclass(frozen=True, slots=True)
class Preceding:
    """How many of a rule's records had their outcome no later than the decision: it was in hand."""

    rule: str
    n: int
    of: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Production against one set: wrong on ``wrong`` of ``of`` items that the set labels and it decided.

    ``only`` is the one answer of a set that tells no two apart. ``own`` marks labels made from production's
    own decisions: by construction it is never wrong there.
    """

    dataset_id: str
    dataset: str | None
    sheet: str | None
    arm: str
    arm_path: str | None
    mark: Mark
    wrong: int
    of: int
    kinds: tuple[WrongKind, ...]
    items: tuple[WrongItem, ...]
    preceding: tuple[Preceding, ...]
    only: str | None
    own: bool


def findings(source: Source, dataset_id: str) -> tuple[Finding, ...]:
    """Return what a dataset's sheet says of production, against each set of the dataset's task.

    A label set whose labels were promoted into a reference of the dataset is left out beside the reference;
    so is a set made from production's own decisions.
    """
    return source.once(("findings", dataset_id), lambda: _findings(source, dataset_id))


def _findings(source: Source, dataset_id: str) -> tuple[Finding, ...]:
    sheet = source.gathered.sheet(dataset_id)
    if sheet is None or not sheet.arms or not sheet.arms[0].recorded:
        return ()
    promoted = {
        f"labels/{ref}"
        for column in sheet.labels
        if column.kind == "reference" and column.ref in source.gathered.references
        for ref in source.gathered.references[column.ref].label_refs
    }
    made = [
        _finding(source, sheet, at)
        for at, column in enumerate(sheet.labels)
        if column.same_task and column.n and column.ref not in promoted
    ]
    return tuple(sorted((one for one in made if one.of and not one.own), key=_order))


def preceding(source: Source, refs: tuple[str, ...]) -> tuple[Preceding, ...]:
    """Return, for the rules of label sets, how many matched records had their outcome before the decision."""
    made = []
    for ref in refs:
        held = source.gathered.label_sets.get(ref)
        for rule in held.rules if held else ():
            n = int(rule.get("n_preceding") or 0)
            of = int(rule.get("n_timed") or rule.get("n_matched") or 0)
            if n:
                made.append(Preceding(str(rule.get("name") or "a rule"), n, of))
    return tuple(made)


def _finding(source: Source, sheet: Sheet, at: int) -> Finding:
    column, arm = sheet.labels[at], sheet.arms[0]
    decided = [row for row in sheet.rows if row.labels[at] is not None and row.cells[0].decision is not None]
    wrong = [row for row in decided if column.ref in row.signals.wrong]
    wrong.sort(key=lambda row: source.urls.position(sheet.dataset_id, row.item_id) or 0)
    items = tuple(
        WrongItem(
            row.item_id,
            source.urls.item(sheet.dataset_id, row.item_id),
            source.row(sheet.dataset_id, row.item_id),
            row.cells[0].decision,
            shown(row.labels[at] or ""),
        )
        for row in wrong
    )
    kinds = Counter((one.decision, one.answer) for one in items)
    labels = [text for row in sheet.rows if (text := row.labels[at]) is not None]
    return Finding(
        dataset_id=sheet.dataset_id,
        dataset=source.urls.dataset(sheet.dataset_id),
        sheet=source.urls.sheet(sheet.dataset_id),
        arm=arm.name,
        arm_path=source.urls.arm(arm.run.config_id),
        mark=source.mark(column),
        wrong=len(items),
        of=len(decided),
        kinds=tuple(
            WrongKind(decision, answer, n)
            for (decision, answer), n in sorted(
                kinds.items(), key=lambda one: (-one[1], one[0][1], str(one[0][0]))
            )
        ),
        items=items,
        preceding=preceding(source, _label_refs(source, column)),
        only=shown(labels[0]) if distinct_answers(labels) < 2 else None,
        own=any(one.own for one in arm.scores if one.against and one.against.ref == column.ref)
        or _reads_output(source, column),
    )


def _label_refs(source: Source, column: LabelColumn) -> tuple[str, ...]:
    if column.kind == "labels":
        return (column.ref.removeprefix("labels/"),)
    reference = source.gathered.references.get(column.ref)
    return reference.label_refs if reference else ()


def _reads_output(source: Source, column: LabelColumn) -> bool:
    sets = [source.gathered.label_sets.get(ref) for ref in _label_refs(source, column)]
    return any(one is not None and one.reads_output for one in sets)


def _order(one: Finding) -> tuple[object, ...]:
    return (one.mark.kind != "reference", one.mark.tier != "gold", one.mark.ref)
