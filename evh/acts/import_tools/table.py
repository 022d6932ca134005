"""CSV: ``item_id``, ``output`` and a column for each metric, as ``evh export --format csv`` writes it too."""

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
TEXTS = ("item_id", "item_sha256", "item", "output", "output_sha256", "error", "decision")
"""The columns that are no metrics, beside the measures."""
DECISION = "decision column: the adapter decides again"
_WORDS = {"true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


def read(data: bytes, place: str) -> Log:
    """Return what the rows hold; an empty cell of a metric is no score.

    A cell that evh guarded against spreadsheets is read as it was before; ``output_sha256``, where it is
    there, tells which, and that the output is whole.

    Raises:
        Refusal: neither ``item_id`` nor ``item``, no ``output``; a metric or a measure that is no number; an
            output that is not the one of its hash.
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
    if reasons:
        raise Refusal(
            "bad-csv",
            f"{place} holds cells that are not what their column says",
            why=reasons,
            next="mend the cells; take out a column that is no metric",
        )
    dropped = Counter({DECISION: len(rows)}) if "decision" in header else Counter()
    return Log(rows=tuple(rows), primary=next(iter(metrics), None), dropped=dropped, notes=sheet.warnings)


def _row(cells: Mapping[str, str], place: str, metrics: list[str], reasons: list[str]) -> Row:
    item_id = spreadsheet.unguard(cells.get("item_id", ""))
    numbers = {name: _number(cells.get(name, ""), f"{place}: {name}", reasons) for name in MEASURES}
    scores = {name: _number(cells.get(name, ""), f"{place}: {name}", reasons) for name in metrics}
    item = cells.get("item", "")
    error = spreadsheet.unguard(cells.get("error", "")) or None
    output = _output(cells, place, reasons)
    return Row(
        place=f"{place} ({item_id})" if item_id else place,
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
