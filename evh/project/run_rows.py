"""The predictions of a large run, as a Parquet file holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.records import run as record
from evh.store import parquet, strict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.records.run import Prediction

COLUMNS = {
    "item_id": "text",
    "scores": "scores",
    "latency_ms": "number",
    "tokens_in": "number",
    "tokens_out": "number",
    "cost_usd": "number",
    "output": "text",
    "decision": "text",
    "error": "text",
    "_meta": "text",
}
_KINDS = 1_000
_SHORT = 40
"""A ``_meta`` of so many characters repeats from row to row."""


def read(path: Path, place: str) -> tuple[Prediction, ...]:
    """Return the predictions of a Parquet file; rows such as evh itself writes are made without a detour."""
    found = parquet.read_columns(path, COLUMNS, place=place, key="item_id", optional=True)
    own = found.keys() <= COLUMNS.keys()
    n = len(found["item_id"])
    named: dict[str, str] = {}  # decisions repeat: one text each
    hidden: dict[str | None, dict[str, Any] | None] = {}  # and so do short ``_meta``
    columns = [found.get(name) or [None] * n for name in COLUMNS]
    made = []
    for number, values in enumerate(zip(*columns, strict=True), start=1):
        item_id, scores, latency, tokens_in, tokens_out, cost, said, decision, error, meta = values
        if decision is not None:
            decision = named.setdefault(decision, decision)
            said = decision if said == decision else said
        one = None
        if meta not in hidden:
            if len(hidden) > _KINDS:
                hidden.clear()
            keys = strict.parse_object((meta or "{}").encode(), place)
            hidden[meta] = keys if all(name.startswith("_") for name in keys) else None
        if own and (kept := hidden[meta]) is not None:
            measures = (latency, tokens_in, tokens_out, cost)
            one = record.plain_prediction(item_id, scores or {}, measures, (said, decision, error), kept)
        if one is None:
            row = {name: column[number - 1] for name, column in found.items()}
            one = record.parse_prediction(_from_row(row, place), f"{place}: row {number}")
        made.append(one)
    return tuple(made)


def dump(rows: Sequence[Prediction]) -> bytes:
    """Return the Parquet bytes of predictions."""
    made: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in rows] for name in COLUMNS if name != "_meta"
    }
    known: dict[tuple[str, str], str] = {}
    made["_meta"] = [_meta(row, known) for row in rows]
    return parquet.dump_columns(made, COLUMNS)


def _meta(row: Prediction, known: dict[tuple[str, str], str]) -> str:
    """Return what a row's ``_meta`` holds; ``known`` are those of one short text, which repeat."""
    if not row.extra and len(row.hidden) < 2:
        if not row.hidden:
            return "{}"
        ((name, value),) = row.hidden.items()
        if type(value) is str and len(value) < _SHORT:
            if (name, value) not in known:
                known[name, value] = strict.compact({name: value})
            return known[name, value]
    return strict.compact({**row.extra, **row.hidden})


def _from_row(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    values = {
        key: value for key, value in row.items() if value is not None and key not in ("scores", "_meta")
    }
    meta = strict.parse_object(str(row.get("_meta") or "{}").encode(), place)
    return {**meta, **values, **dict(row.get("scores") or {})}
