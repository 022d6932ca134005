"""Argilla's records, flattened: ``dataset.records.to_list(flatten=True)`` as JSON, JSONL or CSV.

A question's answers stand in ``<question>.responses``, who gave them and whether they were submitted in two
lists beside it. The nested export lacks the status, so drafts and discarded answers would pass for labels.
"""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

from evh.acts.label_tools.given import (
    DISCARDED,
    DRAFT,
    NO_ANNOTATION,
    NO_ANSWER,
    NO_STATUS,
    Given,
    plain_all,
)
from evh.errors import Refusal
from evh.store import spreadsheet, strict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

NAME = "argilla"
_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_DROPPED = {"draft": DRAFT, "discarded": DISCARDED, "pending": DRAFT}
_MOST_CELL = 100_000
_ADVICE = "export it with dataset.records.to_list(flatten=True), written as JSON or JSONL"


def read(data: bytes, place: str, *, question: str | None, fields: Collection[str]) -> list[Given]:
    """Return what each user gave to each record; see `label_studio.read` for the arguments."""
    del question, fields
    made: list[Given] = []
    for number, row in enumerate(_records(data, place), start=1):
        where = f"{place}: record {row.get('id') or number}"
        if isinstance(row.get("responses"), dict) and isinstance(row.get("fields"), dict):
            raise _unknown(f"{where}: it is nested, and does not say which answers were submitted")
        made += _record(row, where)
    return made


def _unknown(why: str) -> Refusal:
    return Refusal("bad-export", "this is no flattened export of Argilla", why=[why], next=_ADVICE)


def _records(data: bytes, place: str) -> list[Mapping[str, Any]]:
    first = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first not in (b"[", b"{"):
        sheet = spreadsheet.read(data, place, needs=("id", "status", "_server_id"))
        return [_parsed(row.cells, f"{place}: row {row.number}") for row in sheet.rows]
    if first == b"{" and len([line for line in data.split(b"\n") if line.strip()]) > 1 and _is_lines(data):
        return list(strict.parse_jsonl(data, place))
    value = strict.parse_json(data, place)
    if isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        n_rows = {len(one) for one in value.values()}
        if len(n_rows) > 1:
            raise _unknown(f"{place}: its columns are not of one length")
        return [{name: column[at] for name, column in value.items()} for at in range(n_rows.pop())]
    rows = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) for one in rows):
        raise _unknown(f"{place}: it is no list of records")
    return rows


def _is_lines(data: bytes) -> bool:
    """Tell whether the first line is an object by itself, as in JSONL; else the file is one JSON value."""
    try:
        json.loads(data.decode("utf-8-sig", "replace").lstrip().partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(cells: Mapping[str, str], where: str) -> dict[str, Any]:
    """Return a CSV row with its lists read: they were written as Python or JSON writes them."""
    made: dict[str, Any] = {}
    for name, cell in cells.items():
        made[name] = cell
        if name.endswith((_RESPONSES, _USERS, _STATUS)):
            made[name] = _list(cell, f"{where}: {name}")
    return made


def _list(cell: str, where: str) -> Any:  # noqa: ANN401 - JSON values
    if not cell.strip() or cell.strip().lower() in ("none", "nan", "null"):
        return None
    if len(cell) <= _MOST_CELL:
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            pass
        try:
            return ast.literal_eval(cell)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            pass
    raise _unknown(f"{where}: {cell[:60]!r} is no list as Python or JSON writes it")


def _record(row: Mapping[str, Any], where: str) -> list[Given]:
    questions = [name.removesuffix(_RESPONSES) for name in row if name.endswith(_RESPONSES)]
    if not questions:
        raise _unknown(f"{where}: it has no column that ends in {_RESPONSES}")
    made: list[Given] = []
    for question in questions:
        values, users, states = (row.get(f"{question}{end}") for end in (_RESPONSES, _USERS, _STATUS))
        if not values:
            made.append(Given(where, "", {question: ()}, row, dropped=NO_ANNOTATION, question=question))
            continue
        if not isinstance(values, list) or not isinstance(users, list) or not isinstance(states, list):
            raise _unknown(f"{where}: {question}: its answers, users and status are no lists")
        if not len(values) == len(users) == len(states):
            raise _unknown(f"{where}: {question}: its answers, users and status are not equally many")
        for value, user, state in zip(values, users, states, strict=True):
            given = plain_all(value) if value is not None else ()
            dropped = None if state == "submitted" else _DROPPED.get(str(state), NO_STATUS)
            made.append(
                Given(
                    where,
                    str(user or ""),
                    {} if given is None else {question: tuple(one for one in given if one)},
                    row,
                    {question: "spans or a ranking"} if given is None else {},
                    dropped or (NO_ANSWER if given == () else None),
                    question,
                )
            )
    return made
