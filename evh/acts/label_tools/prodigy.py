"""Prodigy's export (``db-out``): JSONL, an answered task a line, as its annotation interfaces write it.

``accept`` of the interface *choice*, ``label`` of *classification* where it was accepted, ``user_input`` of
*text_input*. A rejected label says what an item is not, so it is no label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.acts.label_tools.given import IGNORED, NO_ANSWER, REJECTED, Given, plain_all
from evh.errors import Refusal
from evh.store import strict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

NAME = "prodigy"
CHOICE, LABEL, INPUT = "accept", "label", "user_input"
_MARKS = ("spans", "relations", "audio_spans", "arcs")
_DROPPED = {"ignore": IGNORED, "reject": REJECTED}


def read(data: bytes, place: str, *, question: str | None, fields: Collection[str]) -> list[Given]:
    """Return what each session gave to each task; see `label_studio.read` for the arguments."""
    del fields
    made = []
    for number, row in enumerate(strict.parse_jsonl(data, place), start=1):
        where = f"{place}: task {number}"
        answer = row.get("answer")
        if answer not in ("accept", "reject", "ignore"):
            raise Refusal(
                "bad-export",
                "this is no export of Prodigy",
                why=[f"{where}: its answer is {answer!r}; it can be accept, reject or ignore"],
                next="export the dataset with: prodigy db-out DATASET > FILE.jsonl",
            )
        made.append(_task(row, where, _DROPPED.get(answer), question))
    return made


def _task(row: Mapping[str, Any], where: str, dropped: str | None, question: str | None) -> Given:
    meta = row.get("meta")
    data = {**(meta if isinstance(meta, dict) else {}), **row}
    annotator = str(row.get("_annotator_id") or row.get("_session_id") or "")
    answers: dict[str, tuple[str, ...]] = {}
    unread: dict[str, str] = {}
    for name in (CHOICE, INPUT, *([question] if question else [])):
        if name in row:
            given = plain_all(row[name])
            if given is None:
                unread[name] = "no text"
            else:
                answers[name] = tuple(one for one in given if one)
    if CHOICE not in row and isinstance(row.get(LABEL), str) and not row.get("spans"):
        answers[LABEL] = (row[LABEL],)
    if not answers:
        unread.update({name: "marks in the text" for name in _MARKS if row.get(name)})
    if dropped is None and not unread and not any(answers.values()):
        dropped = NO_ANSWER
    return Given(where, annotator, answers, data, unread, dropped)
