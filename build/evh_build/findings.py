"""Where production was wrong: counted from the sheet's signals, with the items to look at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.production import looked_at, production
from evh.measure.scores import distinct_answers
from evh.records.answers import shown
from evh.store.text import one_line
from evh_build import known
from evh_build.source import command

if TYPE_CHECKING:
    from evh.acts.sheet_model import LabelColumn, Sheet
    from evh_build.page import Command
    from evh_build.source import Mark, Source


MOST_CLASSES = 16
"""More different labels than this are texts of their own: no two items are wrong in the same way."""
MOST_NAMED = 4
SHOWN = 100
"""So much of a decision or a label is shown: the item's page has the whole text."""


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
    """How often production decided one thing where the label says another.

    ``answer`` is None where the labels are texts rather than classes.
    """

    decision: str | None
    answer: str | None
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
    own decisions: by construction it is never wrong there. ``failed`` items more are labelled, but production
    gave no answer to them.
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
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Silence:
    """Why nothing is said of production on a dataset, and the command that goes on from there."""

    why: str
    command: Command


def findings(source: Source, dataset_id: str) -> tuple[Finding, ...]:
    """Return what a dataset's sheet says of production, against each set of the dataset's task.

    A label set whose labels were promoted into a reference of the dataset is left out beside the reference;
    so is a set made from production's own decisions. Nothing is said where several arms are recorded.
    """
    return source.once(("findings", dataset_id), lambda: _findings(source, dataset_id))


def _findings(source: Source, dataset_id: str) -> tuple[Finding, ...]:
    sheet = source.gathered.sheet(dataset_id)
    if sheet is None or production(sheet) is None:
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
    replaced = {
        f"labels/{parent.get('set')}"
        for one in source.gathered.label_sets.values()
        for parent in one.parents
        if isinstance(parent, dict)
    }
    leads = sheet.against.ref if sheet.against else None
    said = (one for one in made if one.of and not one.own)
    return tuple(sorted(said, key=lambda one: _order(one, leads, replaced)))


def silence(source: Source, dataset_id: str) -> Silence | None:
    """Return why `findings` gives nothing for a dataset; None where it gives something."""
    if findings(source, dataset_id):
        return None
    on = ("--dataset-id", dataset_id)
    sheet = source.gathered.sheet(dataset_id)
    recorded = [arm.name for arm in sheet.arms if arm.recorded] if sheet else []
    if not recorded:
        capture = known.its_capture(source, dataset_id)
        words = ("arm-from-capture", *on, "--capture", capture, "--as", "NAME")
        return Silence(
            "Nothing to say yet: no arm replays production's own decisions.",
            command("make production an arm", *words),
        )
    if len(recorded) > 1:
        told = f"{', '.join(recorded[:MOST_NAMED])}{' and others' if len(recorded) > MOST_NAMED else ''}"
        return Silence(
            f"{len(recorded)} arms are recorded ({told}), so that none of them alone is production: the "
            "sheet has each of them, and the arms compared below say where two differ.",
            command("compare two of them", "inspect", *on, "--runs", ",".join(recorded[:2])),
        )
    label = command("a sheet to label", "label-sheet", *on, "--out", f"{dataset_id}.csv")
    if sheet is None or not any(column.same_task and column.n for column in sheet.labels):
        return Silence(f"Nothing to say yet: no set labels what {recorded[0]} decided.", label)
    return Silence(
        f"Nothing to say yet: no label that was made apart from {recorded[0]}'s own decisions is on an item "
        "that it decided.",
        label,
    )


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
    looked = looked_at(sheet, at)
    wrong = sorted(looked.wrong, key=lambda row: source.urls.position(sheet.dataset_id, row.item_id) or 0)
    items = tuple(
        WrongItem(
            row.item_id,
            source.urls.full(sheet.dataset_id, row.item_id),
            source.row(sheet.dataset_id, row.item_id),
            _cut(row.cells[0].decision),
            one_line(shown(row.labels[at] or ""), SHOWN),
        )
        for row in wrong
    )
    labels = [text for row in sheet.rows if (text := row.labels[at]) is not None]
    classes = len(set(labels)) <= MOST_CLASSES
    kinds = Counter((one.decision, one.answer if classes else None) for one in items)
    return Finding(
        dataset_id=sheet.dataset_id,
        dataset=source.urls.dataset(sheet.dataset_id),
        sheet=source.urls.sheet(sheet.dataset_id),
        arm=arm.name,
        arm_path=source.urls.arm(arm.run.config_id),
        mark=source.mark(column),
        wrong=len(items),
        of=len(looked.decided),
        failed=looked.failed,
        kinds=tuple(
            WrongKind(decision, answer, n)
            for (decision, answer), n in sorted(
                kinds.items(), key=lambda one: (-one[1], one[0][1] or "", str(one[0][0]))
            )
        ),
        items=items,
        preceding=preceding(source, _label_refs(source, column)),
        only=one_line(shown(labels[0]), SHOWN) if distinct_answers(labels) < 2 else None,
        own=any(one.own for one in arm.scores if one.against and one.against.ref == column.ref)
        or _reads_output(source, column),
    )


def _cut(text: str | None) -> str | None:
    return None if text is None else one_line(text, SHOWN)


def _label_refs(source: Source, column: LabelColumn) -> tuple[str, ...]:
    if column.kind == "labels":
        return (column.ref.removeprefix("labels/"),)
    reference = source.gathered.references.get(column.ref)
    return reference.label_refs if reference else ()


def _reads_output(source: Source, column: LabelColumn) -> bool:
    sets = [source.gathered.label_sets.get(ref) for ref in _label_refs(source, column)]
    return any(one is not None and one.reads_output for one in sets)


def _order(one: Finding, leads: str | None, replaced: set[str]) -> tuple[object, ...]:
    """Return a key by which the finding to read comes first: it stands open, the others are a line each.

    A reference (gold first), the set that draws the sheet's winner, a person's, a rule's; last what a later
    set settled, and a model's.
    """
    mark = one.mark
    tiers, kinds = ("gold", "silver"), ("person", "rule")
    return (
        mark.kind != "reference" and (mark.ref in replaced or mark.source == "model"),
        mark.kind != "reference",
        tiers.index(mark.tier) if mark.tier in tiers else len(tiers),
        mark.ref != leads,
        kinds.index(mark.source) if mark.source in kinds else len(kinds),
        mark.ref,
    )
