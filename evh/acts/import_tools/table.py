"""CSV: ``item_id``, ``output`` and a column for each metric, as ``evh export --format csv`` writes it too.

A column ``repeat`` tells the trials of one arm apart: the rows of each value are a run of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from evh.acts.import_tools.given import Log, Row
from evh.errors import Refusal
from evh.records.run import MEASURES
from evh.store import spreadsheet
from evh.store.hashing import is_sha256, sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "csv"
REPEAT = "repeat"
TEXTS = ("item_id", "item_sha256", "item", "output", "output_sha256", "error", "decision", REPEAT)
"""The columns that are no metrics, beside the measures."""
DECISION = "decision column: the adapter decides again"
_REPEAT_LENGTH = 80
_WORDS = {"true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


def read(data: bytes, place: str) -> Log:
    """Return what the rows hold; an empty cell of a metric is no score.

    Each value of ``repeat`` is a part of its own, and the parts are repeats of one arm. A column of that name
    that is empty in every row tells nothing, as if it were not there.

    A cell that evh guarded against spreadsheets is read as it was before; ``output_sha256``, where it is
    there, tells which, and that the output is whole.

    Raises:
        Refusal: neither ``item_id`` nor ``item``, no ``output``; a metric or a measure that is no number; an
            output that is not the one of its hash; a ``repeat`` that some rows leave empty, or that is no
            short name.
    """
    sheet = spreadsheet.read(data, place, needs=("item_id", "output"))
    header = sheet.header
    reasons = []
    if not {"item_id", "item"} & set(header):
        reasons.append(f"{place}: it has neither a column item_id nor a column item")
    if "output" not in header:
        reasons.append(f"{place}: it has no column output")
    doubled = sorted({name for name in header if header.count(name) > 1})
    reasons += [f"{place}: the column {name!r} stands twice" for name in doubled]
    if reasons:
        raise Refusal(
            "bad-csv",
            f"{place} is not a table of outputs and scores",
            why=reasons,
            next="write the columns item_id and output, and one for each metric",
        )
    metrics = [name for name in header if name and name not in (*TEXTS, *MEASURES)]
    rows = [_row(row.cells, f"{place}: row {row.number}", metrics, reasons) for row in sheet.rows]
    mend = "mend the cells; take out a column that is no metric"
    if any(row.part for row in rows):
        blank = [f"{place}: row {row.number}" for row in sheet.rows if not _repeat(row.cells)]
        reasons += [f"{where}: {REPEAT}: is empty, and other rows name their repeat" for where in blank]
        if blank:
            mend = f"name the {REPEAT} of every row, or of none; {mend}"
    if reasons:
        raise Refusal(
            "bad-csv",
            f"{place} holds cells that are not what their column says",
            why=reasons,
            next=mend,
        )
    dropped = Counter({DECISION: len(rows)}) if "decision" in header else Counter()
    return Log(
        rows=tuple(rows),
        repeats=any(row.part for row in rows),
        primary=next(iter(metrics), None),
        dropped=dropped,
        notes=sheet.warnings,
    )


def _row(cells: Mapping[str, str], place: str, metrics: list[str], reasons: list[str]) -> Row:
    item_id = spreadsheet.unguard(cells.get("item_id", ""))
    numbers = {name: _number(cells.get(name, ""), f"{place}: {name}", reasons) for name in MEASURES}
    scores = {name: _number(cells.get(name, ""), f"{place}: {name}", reasons) for name in metrics}
    item = cells.get("item", "")
    error = spreadsheet.unguard(cells.get("error", "")) or None
    output = _output(cells, place, reasons)
    part = _repeat(cells)
    if len(part) > _REPEAT_LENGTH or not part.isprintable():
        reasons.append(
            f"{place}: {REPEAT}: {part[:_REPEAT_LENGTH]!r} is no name of at most {_REPEAT_LENGTH} characters"
        )
    return Row(
        place=f"{place} ({item_id})" if item_id else place,
        part=part,
        item_id=item_id or None,
        item_sha256=cells.get("item_sha256") or None,
        texts=tuple(dict.fromkeys((item, spreadsheet.unguard(item)))) if item else (),
        output=None if error and not output else output,
        error=error,
        scores={name: value for name, value in scores.items() if value is not None},
        latency_ms=numbers["latency_ms"],
        tokens_in=numbers["tokens_in"],
        tokens_out=numbers["tokens_out"],
        cost_usd=numbers["cost_usd"],
    )


def _repeat(cells: Mapping[str, str]) -> str:
    return spreadsheet.unguard(cells.get(REPEAT, "")).strip()


def _output(cells: Mapping[str, str], place: str, reasons: list[str]) -> str:
    cell, sha = cells.get("output", ""), cells.get("output_sha256", "")
    if not is_sha256(sha):
        if cell.endswith(spreadsheet.SHORTENED):
            reasons.append(f"{place}: output: it was shortened to fit a cell: not the whole output")
        return cell
    for text in (cell, spreadsheet.unguard(cell)):
        if sha256_text(text) == sha:
            return text
    reasons.append(f"{place}: output: it is not the text of its output_sha256")
    return cell


def _number(cell: str, place: str, reasons: list[str]) -> float | None:
    text = spreadsheet.unguard(cell).strip()
    if not text:
        return None
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        return float(text)
    reasons.append(f"{place}: {text[:80]!r} is no number")
    return None
