"""doccano's exports: a zip with a file a member, or one such file: JSONL, JSON or CSV.

No file says who labelled: the member's name is the file's. Where a project is labelled together doccano
writes one file ``all``, and nobody can tell the members apart.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from evh.acts.label_tools.given import NO_ANSWER, Given, plain_all
from evh.errors import Refusal
from evh.store import spreadsheet, strict, workbook
from evh.store.zipped import unzip

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

NAME = "doccano"
_QUESTIONS = ("label", "labels", "cats")
_SPANS = ("entities", "relations", "bbox", "segmentation")
_SUFFIXES = (".jsonl", ".json", ".csv")


def read(data: bytes, place: str, *, question: str | None, fields: Collection[str]) -> list[Given]:
    """Return what each member gave to each example; see `label_studio.read` for the arguments."""
    del question, fields
    if not workbook.is_workbook(data):
        return _file(data, place, PurePosixPath(place).name)
    made: list[Given] = []
    found = False
    for name, part in sorted(unzip(data, place).items()):
        path = PurePosixPath(name)
        if (
            path.suffix.lower() in _SUFFIXES
            and not path.name.startswith(".")
            and "__MACOSX" not in path.parts
        ):
            found = True
            made += _file(part, f"{place}: {name}", path.name)
    if not found:
        raise _unknown(f"{place}: no .jsonl, .json or .csv file is in it")
    return made


def _unknown(why: str) -> Refusal:
    return Refusal(
        "bad-export",
        "this is no export of doccano",
        why=[why],
        next="export the dataset as JSONL; it comes as a zip archive, which is read as it is",
    )


def _file(data: bytes, place: str, name: str) -> list[Given]:
    member = PurePosixPath(name).stem
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".csv":
        sheet = spreadsheet.read(data, place, needs=("id", "text", "label"))
        return [_csv(row.cells, f"{place}: row {row.number}", member) for row in sheet.rows]
    if suffix == ".json":
        value = strict.parse_json(data, place)
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise _unknown(f"{place}: it is no list of examples")
        rows: list[dict[str, Any]] = list(value)
    else:
        rows = list(strict.parse_jsonl(data, place))
    return [
        _example(row, f"{place}: example {row.get('id', number)}", member)
        for number, row in enumerate(rows, start=1)
    ]


def _example(row: Mapping[str, Any], where: str, member: str) -> Given:
    answers: dict[str, tuple[str, ...]] = {}
    unread: dict[str, str] = {}
    for name in (*_QUESTIONS, "annotations", *_SPANS):
        value = row.get(name)
        if value is None or (not value and name in _SPANS):
            continue
        given = plain_all(value) if name in _QUESTIONS else None
        if given is None:
            unread[name] = "numbers of labels" if name == "annotations" else "spans or regions"
        else:
            answers[name] = given
    if not answers and not unread:
        raise _unknown(f"{where}: it has no label")
    return Given(where, member, answers, row, unread, None if any(answers.values()) or unread else NO_ANSWER,
                 note=_comments(row.get("Comments")))  # fmt: skip


def _csv(cells: Mapping[str, str], where: str, member: str) -> Given:
    if "label" not in cells:
        raise _unknown(f"{where}: there is no column label")
    cell = cells["label"]
    note = _comments([cells["Comments"]]) if cells.get("Comments") else None
    if "#" in cell:  # LabelA#LabelB, and a label may hold the sign itself
        told = "joined by '#', which a label may hold too: JSONL keeps them apart"
        return Given(where, member, data=cells, unread={"label": told}, note=note)
    answers = {"label": (cell,) if cell else ()}
    return Given(where, member, answers, cells, dropped=None if cell else NO_ANSWER, note=note)


def _comments(value: object) -> str | None:
    if not isinstance(value, list):
        return None
    return "\n".join(str(one) for one in value if one) or None
