"""The bundled adapter ``r_update``: a memory controller's decisions, held against evidence labels.

A row of ``updates/<query>.jsonl`` is a record; so is any other whose output says ``<check>yes</check>``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evh.records.answers import answers, comparable

if TYPE_CHECKING:
    from evh.records.capture import Record

PRIMARY_METRIC = "r_update"
_CHECK = re.compile(r"<check>\s*(yes|no)\s*</check>", re.IGNORECASE)
_WORD = re.compile(r"[\s*_`\"'.]*(yes|no)[\s*_`\"'.!]*", re.IGNORECASE)


def decide(output: str) -> str:
    """Return ``yes`` or ``no``: the last ``<check>`` of an output, else a bare word; else the output itself.

    Two different checks in one output are no decision.
    """
    checks: set[str] = {found.lower() for found in _CHECK.findall(output)}
    if len(checks) == 1:
        return checks.pop()
    word = _WORD.fullmatch(output)
    return str(word[1]).lower() if word and not checks else comparable(output)


def score(output: str, reference: str | None) -> dict[str, float]:
    """Return ``r_update`` (+1 for the label's decision, −1 for any other) and ``correct`` (1 or 0).

    Source: GRU-Mem (arXiv 2602.10560).
    """
    if reference is None:
        return {}
    right = decide(output) in {one.strip().lower() for one in answers(reference)}
    return {"r_update": 1.0 if right else -1.0, "correct": 1.0 if right else 0.0}


def record_id(record: Record) -> str | None:
    """Return the record's own id, else that of a place and its content: a log cut anew is another place."""
    given = record.get("record_id")
    if given is not None:
        return str(given)
    t, sha = record.get("t"), record.get("chunk_sha")
    if isinstance(t, int) and not isinstance(t, bool) and isinstance(sha, str):
        return place_id(t, sha)
    return None


def place_id(t: int, chunk_sha: str) -> str:
    """Return what names a place of a log and what stands there."""
    return f"{t:06d}.{chunk_sha[:16]}"


def recorded_output(record: Record) -> str | None:
    """Return what the controller decided, in its own words where they are recorded and say it."""
    raw, update = record.get("raw"), record.get("update")
    if isinstance(raw, str) and decide(raw) in ("yes", "no") and update is None:
        return raw
    if isinstance(update, bool):
        word = "yes" if update else "no"
        return raw if isinstance(raw, str) and decide(raw) == word else f"<check>{word}</check>"
    output = record.get("output")
    return output if isinstance(output, str) else raw if isinstance(raw, str) else None
