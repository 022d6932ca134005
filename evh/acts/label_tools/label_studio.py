"""Label Studio's exports: JSON (tasks with their annotations), JSON-MIN and CSV (a row an annotation).

JSON is the whole truth. The other two have lost which answers were skipped (they leave them out) and which
columns are questions: a question is guessed where only one column can be it, else it is named.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evh.acts.label_tools.given import NO_ANNOTATION, NO_ANSWER, SKIPPED, Given, plain, plain_all
from evh.errors import Refusal
from evh.store import spreadsheet, strict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

NAME = "label-studio"
_KEPT_APART = {
    "id",
    "annotator",
    "annotation_id",
    "created_at",
    "updated_at",
    "lead_time",
    "agreement",
    "history",
    "item_id",
    "item_sha256",
    "item",
    "text",
}
_VALUES = {
    "choices": "choices",
    "textarea": "text",
    "rating": "rating",
    "number": "number",
    "datetime": "datetime",
    "pairwise": "selected",
}
"""The type of a result → the key of its value that holds what was answered."""
_REGION = {"start", "end", "x", "y", "points", "startOffset", "ranges", "sequence"}


def read(data: bytes, place: str, *, question: str | None, fields: Collection[str]) -> list[Given]:
    """Return what each annotator gave to each task.

    Args:
        data: the export's bytes.
        place: its name, for messages.
        question: the ``name`` of a control, where one is asked for.
        fields: names of columns that are the dataset's, not questions.

    Raises:
        Refusal: it is neither of the three forms.
    """
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"[", b"{"):
        sheet = spreadsheet.read(data, place, needs=("annotator", "annotation_id", "lead_time"))
        rows = [(f"{place}: row {row.number}", dict(row.cells)) for row in sheet.rows]
        return [_flat(row, where, question, fields, text=True) for where, row in rows]
    value = strict.parse_json(data, place)
    tasks = value if isinstance(value, list) else [value]
    made: list[Given] = []
    for number, task in enumerate(tasks, start=1):
        if not isinstance(task, dict):
            raise _unknown(f"{place}: entry {number} is not an object")
        where = f"{place}: task {task.get('id', number)}"
        if "annotations" in task or "completions" in task:
            made += _task(task, where)
        elif "annotator" in task or "annotation_id" in task:
            made.append(_flat(task, where, question, fields, text=False))
        else:
            raise _unknown(f"{where}: it has neither annotations nor an annotator")
    return made


def _unknown(why: str) -> Refusal:
    return Refusal(
        "bad-export",
        "this is no export of Label Studio",
        why=[why],
        next="export the project as JSON, JSON-MIN or CSV",
    )


def _task(task: Mapping[str, Any], where: str) -> list[Given]:
    data = task.get("data")
    if not isinstance(data, dict):
        raise _unknown(f"{where}: it has no data")
    meta = task.get("meta")
    carried = {**(meta if isinstance(meta, dict) else {}), **data}
    listed = task.get("annotations", task.get("completions"))
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise _unknown(f"{where}: its annotations are no list of objects")
    if not listed:
        return [Given(where, "", data=carried, dropped=NO_ANNOTATION)]
    return [_annotation(one, f"{where}, annotation {one.get('id', '?')}", carried) for one in listed]


def _annotation(one: Mapping[str, Any], where: str, data: Mapping[str, Any]) -> Given:
    annotator = _annotator(one.get("completed_by"))
    if one.get("was_cancelled") or one.get("skipped"):
        return Given(where, annotator, data=data, dropped=SKIPPED)
    results = one.get("result")
    if results is not None and not isinstance(results, list):
        raise _unknown(f"{where}: its result is no list")
    answers: dict[str, tuple[str, ...]] = {}
    unread: dict[str, str] = {}
    for result in results or []:
        if not isinstance(result, dict) or not isinstance(result.get("from_name"), str):
            continue  # a relation between regions: about no question
        name, kind = result["from_name"], str(result.get("type"))
        value = result.get("value")
        given = None
        if isinstance(value, dict) and kind in _VALUES and not _REGION & value.keys():
            given = plain_all(value.get(_VALUES[kind]))
        if given is None:
            unread[name] = f"{kind} of a part of the item" if kind in _VALUES else kind
        else:
            answers[name] = (*answers.get(name, ()), *given)
    dropped = None if answers or unread else NO_ANSWER
    return Given(where, annotator, answers, data, unread, dropped)


def _annotator(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("email") or value.get("id") or "")
    return "" if value is None or value == "{}" else str(value)


def _flat(
    row: Mapping[str, Any], where: str, question: str | None, fields: Collection[str], *, text: bool
) -> Given:
    """Return what a row of JSON-MIN or CSV gives: one annotation, its answers among the task's columns."""
    annotator = _annotator(row.get("annotator"))
    answers: dict[str, tuple[str, ...]] = {}
    unread: dict[str, str] = {}
    for name, value in row.items():
        if name != question and (name in _KEPT_APART or name in fields):
            continue
        given = _pretty(_from_text(value) if text else value)
        if given is None:
            unread[name] = "no single answer"
        elif given:
            answers[name] = given
    if not annotator and question not in answers:
        return Given(where, "", data=row, dropped=NO_ANNOTATION)
    return Given(where, annotator, answers, row, unread)


def _from_text(cell: str) -> object:
    """Return what a CSV cell held: an answer that is no text was written as JSON."""
    if cell.startswith(("{", "[")):
        try:
            value = json.loads(cell)
        except (ValueError, RecursionError):
            return cell
        objects = value if isinstance(value, list) else [value]
        if objects and all(isinstance(one, dict) and set(_VALUES.values()) & one.keys() for one in objects):
            return value
    return cell


def _pretty(value: object) -> tuple[str, ...] | None:
    """Return the answers in a value as JSON-MIN writes it: a text, or objects ``{choices: […]}``."""
    if value is None or value in ("", []):
        return ()
    one = plain(value)
    if one is not None:
        return (one,)
    made: list[str] = []
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, dict) or _REGION & part.keys():
            return None
        key = next((key for key in _VALUES.values() if key in part), None)
        given = plain_all(part[key]) if key else None
        if given is None:
            return None
        made += given
    return tuple(made)
