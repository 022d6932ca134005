"""A filled sheet, or a folder of answers, becomes a ``person`` label set: all of it or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.filled_sheet import Reading, read, read_folder
from evh.acts.label_from_capture import Guideline
from evh.errors import Refusal
from evh.project import datasets, labels
from evh.records import sheet_key
from evh.records.labelset import LabelItem, LabelSet
from evh.store import spreadsheet, strict
from evh.store.hashing import sha256, sha256_text
from evh.store.names import check_id, item_stem, possible_stems

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.sheet_key import SheetKey

NEEDS = ("item_id", "item_sha256", "item", "label", "also right", "note")


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
    """

    label_set: LabelSet
    texts: Mapping[str, bytes]
    guideline: Guideline | None
    n_of: int
    n_empty: int
    n_comments: int
    warnings: tuple[str, ...]


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
) -> Plan:
    """Return the set that a filled sheet or a folder of ``<item>.txt`` becomes.

    Args:
        project: the project.
        dataset_id: the dataset that was labelled.
        source: the sheet (CSV), or the folder.
        name: the set's name.
        by: who labelled.
        key_path: the sheet's key; by default the one beside it, where there is one.
        guideline_path: what was labelled by; by default what the key holds.
        task: the set's task; by default the key's, else the dataset's.
        encoding: the sheet's, where it is neither UTF-8 nor marked.

    Raises:
        Refusal: everything that is wrong with the rows at once, each with its row number; nothing filled; an
            existing set; another guideline or dataset than the sheet's.
    """
    check_id(name, "label set")
    if not by.strip():
        raise Refusal(
            "no-name", "a person set says who labelled", why=["--by is empty"], next="add --by NAME"
        )
    dataset = datasets.read(project, dataset_id)
    if labels.exists(project, dataset_id, name):
        raise labels.already(f"{dataset_id}/{name}")
    key = _key(source, key_path)
    if key is not None:
        _refuse_other_sheet(key, dataset_id, task, source)
    digest = None
    if source.is_dir():
        reading = read_folder(dataset, _files(source), _stems(dataset), source)
    else:
        _refuse_format(source)
        data = strict.read_bytes(source)
        digest = sha256(data)
        sheet = spreadsheet.read(data, source, encoding=encoding, needs=NEEDS)
        reading = read(project, dataset, sheet, key, source)
    guideline = _guideline(guideline_path, key, reading, source)
    _refuse(reading, source)
    rows = key.rows if key else {}
    ids = [item.item_id for item in dataset.items if item.item_id in reading.filled]
    made = LabelSet(
        dataset_id=dataset_id,
        set=name,
        source={"kind": "person", "by": by},
        items={
            item_id: LabelItem(
                sha256=reading.filled[item_id].item.sha256,
                note=reading.filled[item_id].note,
                slice=(rows[item_id].slice if item_id in rows else "selected") if key else None,
                proposal=rows[item_id].proposal if item_id in rows else None,
            )
            for item_id in ids
        },
        labels_sha256="",
        task=task if task is not None else key.task if key else dataset.task,
        created_at=project.stamp(),
        n_items=len(ids),
        sheet_sha256=digest,
        selection=key.selection if key else None,
    )
    return Plan(
        label_set=made,
        texts={item_id: reading.filled[item_id].text.encode() for item_id in ids},
        guideline=guideline,
        n_of=len(dataset.items),
        n_empty=reading.n_empty,
        n_comments=reading.n_comments,
        warnings=(*([] if key or source.is_dir() else [_no_key(source)]), *reading.warnings),
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


def _refuse_format(source: Path) -> None:
    if source.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise Refusal(
            "bad-format",
            f"{source} is not CSV",
            why=[f"{source}: only CSV is read now"],
            next="save it as CSV UTF-8 from the spreadsheet, under the sheet's own name",
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
    if reading.reasons:
        codes = {code for code, _ in reading.reasons}
        raise Refusal(
            codes.pop() if len(codes) == 1 else "bad-sheet",
            f"{source} cannot become a label set",
            why=[reason for _, reason in reading.reasons],
            next="mend the rows in the sheet and import it again; nothing was written",
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
