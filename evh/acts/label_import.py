"""A filled sheet, or a folder of answers, becomes a ``person`` label set: all of it or nothing."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import equal_bytes
from evh.acts.adjudicated import Settlement, contradictions, misspelt, settle, sides_of
from evh.acts.filled_folder import read_folder
from evh.acts.filled_sheet import Reading, read
from evh.acts.label_from_capture import Guideline
from evh.acts.lost_key import keys_of
from evh.errors import Refusal
from evh.project import datasets, labels
from evh.records import sheet_key
from evh.records.labelset import LabelItem, LabelSet
from evh.store import spreadsheet, strict, workbook
from evh.store.hashing import sha256, sha256_text
from evh.store.names import check_id, item_stem, possible_stems
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.adjudicated import Side
    from evh.acts.equal_bytes import Conflict
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.sheet_key import SheetKey
    from evh.store.spreadsheet import Sheet

NEEDS = ("item_id", "item_sha256", "item", "label", "also right", "note")


@dataclass(frozen=True, slots=True)
class Opened:
    """What a caller has read of a filled sheet already: its dataset, its rows, its bytes' sha256, its key."""

    dataset: Dataset
    sheet: Sheet
    sha256: str
    key: SheetKey | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A person set that would be written.

    Attributes:
        label_set: the manifest.
        texts: item id → the label's bytes.
        guideline: what is copied into the set, or None.
        n_of: items of the dataset.
        n_empty: item rows without a label.
        n_comments: rows that are not items.
        warnings: what a person should know, a sentence each.
        settlement: what an adjudicating set settles, or None.
        conflicts: texts whose items got different answers, left unlabelled.
    """

    label_set: LabelSet
    texts: Mapping[str, bytes]
    guideline: Guideline | None
    n_of: int
    n_empty: int
    n_comments: int
    warnings: tuple[str, ...]
    settlement: Settlement | None = None
    conflicts: tuple[Conflict, ...] = ()


def plan(
    project: Project,
    *,
    dataset_id: str,
    source: Path,
    name: str,
    by: str,
    key_path: Path | None = None,
    guideline_path: Path | None = None,
    task: str | None = None,
    encoding: str | None = None,
    adjudicates: Sequence[str] = (),
    kind: str = "person",
    opened: Opened | None = None,
    no_key: bool = False,
    as_typed: bool = False,
    conflicts: str = equal_bytes.REFUSE,
) -> Plan:
    """Return the set that a filled sheet or a folder of ``<item>.txt`` becomes.

    Args:
        project: the project.
        dataset_id: the dataset that was labelled.
        source: the sheet (CSV or a workbook), or the folder.
        name: the set's name.
        by: who labelled.
        key_path: the sheet's key; by default the one beside it, where there is one.
        guideline_path: what was labelled by; by default what the key holds.
        task: the set's task; by default the key's, else the dataset's.
        encoding: the sheet's, where it is neither UTF-8 nor marked.
        adjudicates: the sets whose differences the sheet settles, ``<set>`` or ``<dataset>/<set>``; by
            default those of the sheet's key. The new set takes over what they agree on.
        kind: ``person``, or ``model`` for a tool that filled in the sheet: of equal bytes with different
            answers it labels none, where a person is refused.
        opened: what the caller has read already, who reads the sheet's picks and scores too, and looks
            itself whether the set is there and the key is lost.
        no_key: read the sheet without a key, although one of these rows lies beside it.
        as_typed: labels of a CSV file that look like dates or times are what was typed.
        conflicts: one of `equal_bytes.CONFLICTS`: what becomes of a person's different answers to items of
            equal bytes.

    Raises:
        Refusal: everything that is wrong with the rows at once, each with its row number; nothing filled; an
            existing set; another sheet's key in the folder that knows these rows; another guideline, dataset
            or set of sets than the sheet's; a key that contradicts its sets; a sheet to label again that
            another person filled.
    """
    check_id(name, "label set")
    if not by.strip():
        raise Refusal(
            "no-name", "a person set says who labelled", why=["--by is empty"], next="add --by NAME"
        )
    dataset = opened.dataset if opened else datasets.read(project, dataset_id)
    if opened is None and labels.exists(project, dataset_id, name):
        raise labels.already(f"{dataset_id}/{name}")
    if no_key and key_path is not None:
        raise Refusal(
            "bad-options",
            "a sheet has a key or none",
            why=[f"--key {key_path}: it is named beside --no-key"],
            next="leave out one of them",
        )
    key = opened.key if opened else None if no_key else _key(source, key_path)
    if key is not None and key.judging and opened is None:
        raise Refusal(
            "other-sheet",
            f"{source} is a sheet to judge",
            why=[f"{source}: picks and scores can be filled in there, and label-import reads labels alone"],
            next=f"evh sheet-import {shlex.quote(str(source))} --dataset-id {dataset_id} "
            f"--by {shlex.quote(by)} --set {name}",
        )
    if key is not None:
        _refuse_other_sheet(key, dataset_id, task, source)
        _refuse_other_person(project, key, by, source)
    parents = _parents(project, dataset_id, key, adjudicates, source)
    digest, alone = None, opened is None
    several = kind != "person" or conflicts == equal_bytes.LEAVE
    if source.is_dir():
        reading = read_folder(dataset, _files(source), _stems(dataset), source, several=several)
    else:
        opened = opened or _opened(dataset, source, encoding, key)
        digest, sheet = opened.sha256, opened.sheet
        reading = read(project, dataset, sheet, key, source, several=several, as_typed=as_typed)
    if key is None and not no_key and alone and source.is_file():
        _refuse_lost_key(dataset_id, reading, source)
    if parents:
        _refuse_leaving(conflicts)
        sides = sides_of(project, dataset, parents)
        _refuse_contradictions(dataset_id, key, sides, source)
        _refuse_misspelt(sides, reading)
    guideline = _guideline(guideline_path, key, reading, source)
    _refuse(reading, source)
    settlement = None
    settling = reading.settled
    texts = {item.item_id: settling[item.item_id].text for item in dataset.items if item.item_id in settling}
    left_out = equal_bytes.listed(dataset, reading.conflicts)
    if parents:
        settlement = settle(project, dataset, parents, texts)
        texts = dict(settlement.texts)
    settled = settlement.settled if settlement else {}
    made = LabelSet(
        dataset_id=dataset_id,
        set=name,
        source={"kind": kind, "by": by},
        items={item_id: _label_item(dataset, item_id, reading, key, settled) for item_id in texts},
        labels_sha256="",
        task=task
        if task is not None
        else key.task
        if key
        else settlement.task
        if settlement
        else dataset.task,
        created_at=project.stamp(),
        n_items=len(texts),
        sheet_sha256=digest,
        choices=reading.choices,
        selection=key.selection if key else None,
        parents=settlement.parents if settlement else (),
        relabel_of=key.relabel_of if key else None,
        conflicts=equal_bytes.recorded(left_out),
    )
    warnings = [] if key or source.is_dir() else [_no_key(source)]
    warnings += [*reading.warnings, *(settlement.warnings if settlement else ())]
    if reading.conflicts:
        n = plural(len(reading.conflicts), "text")
        warnings.append(f"{n} of equal bytes got different answers: left unlabelled")
    if settlement and settlement.n_open:
        warnings.append(f"{plural(settlement.n_open, 'item')} on which the sets differ stay open")
    return Plan(
        label_set=made,
        texts={item_id: text.encode() for item_id, text in texts.items()},
        guideline=guideline,
        n_of=len(dataset.items),
        n_empty=reading.n_empty,
        n_comments=reading.n_comments,
        warnings=tuple(warnings),
        settlement=settlement,
        conflicts=left_out,
    )


def _opened(dataset: Dataset, source: Path, encoding: str | None, key: SheetKey | None) -> Opened:
    data = strict.read_bytes(source)
    return Opened(dataset, read_sheet(data, source, encoding, needs=NEEDS), sha256(data), key)


def read_sheet(data: bytes, source: Path, encoding: str | None, *, needs: Sequence[str]) -> Sheet:
    """Return the sheet in a workbook's or a CSV file's bytes.

    Args:
        data: the file's bytes.
        source: names it in a Refusal.
        encoding: a CSV file's, where it is neither UTF-8 nor marked.
        needs: columns that its header should have.

    Raises:
        Refusal: neither of the two, or one that cannot be read.
    """
    if workbook.is_workbook(data):
        return workbook.read(data, source)
    refuse_format(source)
    return spreadsheet.read(data, source, encoding=encoding, needs=needs)


def _label_item(
    dataset: Dataset, item_id: str, reading: Reading, key: SheetKey | None, settled: Mapping[str, str]
) -> LabelItem:
    """Return what the set records of one item: from the sheet where it was filled, else from the parents."""
    filled = reading.filled.get(item_id)
    row = key.rows.get(item_id) if key and filled else None
    return LabelItem(
        sha256=dataset.by_id[item_id].sha256,
        note=filled.note if filled else None,
        slice=(row.slice if row else "selected") if key and filled else None,
        proposal=row.proposal if row else None,
        settled=settled.get(item_id),
    )


def commit(project: Project, plan: Plan) -> LabelSet:
    """Write the set, whole; return it as written."""
    guideline = (plan.guideline.suffix, plan.guideline.data) if plan.guideline else None
    return labels.write_new(project, plan.label_set, plan.texts, guideline=guideline)


def _key(source: Path, key_path: Path | None) -> SheetKey | None:
    path = key_path
    if path is None and source.is_file():
        beside = source.with_suffix(".key.json")
        path = beside if beside.is_file() else None
    return None if path is None else sheet_key.parse(strict.read_object(path), path)


def _refuse_lost_key(dataset_id: str, reading: Reading, source: Path) -> None:
    """Refuse a sheet that was renamed, so that its key is not found: what the key knows would be lost."""
    found = keys_of(dataset_id, reading.filled, source, judging=False)
    if found:
        raise Refusal(
            "other-key",
            f"{source} has no key beside it, and a key that knows its rows lies there",
            why=[f"{path}: it is the key of a sheet of these items" for path in found],
            next=f"--key {shlex.quote(str(found[0]))}; or --no-key, where it is a sheet of its own",
        )


def _refuse_contradictions(
    dataset_id: str, key: SheetKey | None, sides: Sequence[Side], source: Path
) -> None:
    """Refuse a key whose letters stand for other answers than its sets hold: it decides what is chosen."""
    reasons = contradictions(sides, key.rows) if key else []
    if reasons:
        raise Refusal(
            "other-key",
            f"the key of {source} contradicts the sets that it adjudicates",
            why=[f"{source}: {one}" for one in reasons],
            next=f"restore the key; or make a new sheet: evh adjudicate --dataset-id {dataset_id} "
            f"--sets {','.join(one.ref for one in sides)}",
        )


def _refuse_leaving(conflicts: str) -> None:
    if conflicts == equal_bytes.LEAVE:
        raise Refusal(
            "bad-options",
            "a sheet that adjudicates settles what differs",
            why=[f"--conflicts {conflicts}: it would leave items open that the sheet answers"],
            next="leave it out, and give such items one answer in the sheet",
        )


def _refuse_misspelt(sides: Sequence[Side], reading: Reading) -> None:
    texts = {item_id: one.text for item_id, one in reading.filled.items()}
    for item_id, told in misspelt(sides, texts).items():
        reading.refuse("off-choices", f"{reading.filled[item_id].place}: {item_id}: {told}")


def _no_key(source: Path) -> str:
    return (
        f"read without a key ({source.with_suffix('.key.json').name} is not beside it, no --key is given): "
        "not known are which rows a draw chose and what was proposed and hidden; choices are only those of "
        "the header, and an item's text is checked only where the sheet shows it"
    )


def _refuse_other_sheet(key: SheetKey, dataset_id: str, task: str | None, source: Path) -> None:
    reasons = []
    if key.dataset_id != dataset_id:
        reasons.append(f"{source}: its key is of a sheet of {key.dataset_id}, not of {dataset_id}")
    if task is not None and task != key.task:
        reasons.append(f"{source}: it was made for the task {key.task or '(none)'}, not for {task}")
    if reasons:
        raise Refusal(
            "other-sheet",
            "the sheet is not one of this dataset and task",
            why=reasons,
            next=f"--dataset-id {key.dataset_id}" + (f" --task {key.task}" if key.task else ""),
        )


def _refuse_other_person(project: Project, key: SheetKey, by: str, source: Path) -> None:
    """Refuse a sheet to label again that somebody else filled: it would not measure one person."""
    if key.relabel_of is None:
        return
    before = labels.read(project, *labels.split_ref(key.relabel_of))
    if before.by != by:
        raise Refusal(
            "other-person",
            "a sheet to label again is filled by who labelled before",
            why=[f"{source}: it labels {key.relabel_of} again, which is by {before.by!r}, not by {by!r}"],
            next=f"--by {shlex.quote(before.by)}; another person's opinion is a sheet of --items all",
        )


def _parents(
    project: Project, dataset_id: str, key: SheetKey | None, adjudicates: Sequence[str], source: Path
) -> list[str]:
    """Return the sets that the sheet adjudicates, as ``<dataset>/<set>``; none where it is another sheet."""
    named = ["/".join(labels.split_ref(one, dataset_id=dataset_id)) for one in adjudicates]
    told = [str(one["set"]) for one in key.adjudicates] if key else []
    reasons = []
    if named and source.is_file() and not told:
        why = (
            "it has no key, and its letters mean nothing without"
            if key is None
            else "its key is of another sheet"
        )
        reasons.append(f"{source}: {why}")
    if named and told and set(named) != set(told):
        reasons.append(f"{source}: it adjudicates {', '.join(told)}, not {', '.join(named)}")
    for one in key.adjudicates if key else ():
        ref = str(one["set"])
        if not labels.exists(project, *labels.split_ref(ref)):
            reasons.append(f"{source}: the set {ref} is not here any more")
        elif labels.read(project, *labels.split_ref(ref)).labels_sha256 != one["labels_sha256"]:
            reasons.append(f"{source}: the set {ref} is not the one that the sheet shows: its labels differ")
    if reasons:
        raise Refusal(
            "other-sheet",
            "the sheet does not adjudicate these sets",
            why=reasons,
            next=f"name its key with --key, or make a new sheet: evh adjudicate --dataset-id {dataset_id}",
        )
    return named or told


def refuse_format(source: Path) -> None:
    """Refuse a spreadsheet's own file that is neither CSV nor a workbook that evh reads."""
    if source.suffix.lower() in (".xls", ".xlsb", ".xlsx", ".xlsm", ".ods", ".fods", ".numbers"):
        raise Refusal(
            "bad-format",
            f"{source} is no workbook that evh reads",
            why=[f"{source}: by its name it is a spreadsheet's file, by its bytes no .xlsx"],
            next="save it from the spreadsheet as .xlsx, or as CSV UTF-8, under the sheet's own name",
        )


def _guideline(path: Path | None, key: SheetKey | None, reading: Reading, source: Path) -> Guideline | None:
    """Return the guideline to copy into the set, noting in ``reading`` when it is not the sheet's."""
    told = {str((key.guideline or {}).get("sha256"))} if key and key.guideline else set()
    if reading.guideline_sha256:
        told.add(reading.guideline_sha256)
    if len(told) > 1:
        reading.refuse("other-guideline", f"{source}: row #guideline: it is not the guideline of the key")
    if path is not None:
        given = Guideline(path.suffix or ".txt", strict.read_bytes(path))
        if told and sha256(given.data) not in told:
            reading.refuse("other-guideline", f"{path}: it is not the guideline that the sheet was made with")
        return given
    if key and key.guideline:
        text = str(key.guideline.get("text") or "")
        if sha256_text(text) != key.guideline.get("sha256"):
            reading.refuse("other-guideline", f"{source}: the guideline in the key was edited")
        return Guideline(str(key.guideline.get("suffix") or ".txt"), text.encode())
    if reading.guideline_text and sha256_text(reading.guideline_text) == reading.guideline_sha256:
        return Guideline(".md", reading.guideline_text.encode())
    if told:
        reading.warnings.append("the sheet names a guideline whose text is not here: add --guideline FILE")
    return None


def _refuse(reading: Reading, source: Path) -> None:
    if not reading.reasons and not reading.filled:
        reading.refuse("nothing-filled", f"{source}: no label is filled in ({reading.n_empty} empty rows)")
    elif not reading.reasons and not reading.settled:
        reading.refuse(
            "nothing-filled", f"{source}: every item's bytes got different answers: no label is left"
        )
    if reading.reasons:
        codes = {code for code, _ in reading.reasons}
        raise Refusal(
            codes.pop() if len(codes) == 1 else "bad-sheet",
            f"{source} cannot become a label set",
            why=[reason for _, reason in reading.reasons],
            next="mend the rows in the sheet and import it again; nothing was written"
            + (equal_bytes.WAY_OUT if any("equal bytes" in reason for _, reason in reading.reasons) else ""),
        )


def _files(folder: Path) -> dict[str, bytes]:
    """Return a folder's files; a guideline's and hidden ones are passed over, links are not followed."""
    return {
        path.name: b"" if path.is_symlink() or not path.is_file() else strict.read_bytes(path)
        for path in folder.iterdir()
        if not path.name.startswith((".", labels.GUIDELINE)) and path.name != labels.MANIFEST
    }


def _stems(dataset: Dataset) -> dict[str, str]:
    """Return stem → item id; our own stem of an item wins over the raw id of another."""
    made: dict[str, str] = {}
    for item in dataset.items:
        for stem in possible_stems(item.item_id):
            made.setdefault(stem, item.item_id)
    made.update({item_stem(item.item_id): item.item_id for item in dataset.items})
    return made
