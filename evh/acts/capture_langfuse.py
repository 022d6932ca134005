"""Langfuse's exports: each generation, or each trace, becomes a record.

Read are the JSON, JSONL and CSV of the table's export button, of the API (``{"data": […]}``) and of the blob
storage export, whose keys are written with underscores, and the JSON of a single trace with its observations
and scores.
Source: langfuse.com/docs, "Blob storage export field reference" and "How do I export a single trace or
    session?";
the ``Observation`` of Langfuse's public API.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools import chat
from evh.acts.import_tools.captured import Captured, read_values, scalars, without_none
from evh.errors import Refusal
from evh.records.shape import is_number
from evh.store import clock, rows, strict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

GENERATION = "GENERATION"
ANSWERS = frozenset({GENERATION})
_STRUCTURED = (
    "input", "output", "metadata", "modelParameters", "usageDetails", "usage", "costDetails", "scores",
)  # fmt: skip
_LETTER = re.compile(r"_([a-z0-9])")


def read(path: Path) -> Captured:
    """Return the records that an export holds.

    A record's id is that of the observation or the trace, its time the end of the call. Scores are outcomes.
    Where the rows are observations, only generations are taken: spans, events and tool calls are counted.

    Raises:
        Refusal: no observations and no traces in it.
    """
    dropped: Counter[str] = Counter()
    found, scores = _rows(path)
    records = []
    for raw in found:
        kind = raw.get("type")
        if kind is not None and str(kind).upper() not in ANSWERS:
            dropped[f"observation of the type {kind}"] += 1
            continue
        if raw.get("id") is None:
            dropped["row without an id"] += 1
            continue
        records.append(_record(raw, scores, dropped))
    if not records:
        counts = ", ".join(f"{count:,} {why}" for why, count in sorted(dropped.items()))
        raise Refusal(
            "nothing-to-take",
            f"{path.name} holds no generation and no trace",
            why=[f"{path.name}: {counts or 'it holds no rows'}"],
            next="export the observations of the type GENERATION, with their input and output",
        )
    return Captured(tuple(records), dict(sorted(dropped.items())))


def _rows(path: Path) -> tuple[list[dict[str, Any]], dict[str, list[Mapping[str, Any]]]]:
    """Return the rows under the keys that the API has, and the scores by what they are about."""
    if path.suffix.lower() == ".csv":
        raw: list[Any] = [_cells(row) for row in rows.read_csv(strict.read_bytes(path), path)]
        return [_camel(one) for one in raw], {}
    value = read_values(path)
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    loose: list[Any] = []
    if isinstance(value, dict):
        trace = value["trace"] if isinstance(value.get("trace"), dict) else value
        loose = [*_list(value.get("scores")), *_list(trace.get("scores"))]
        observed = _list(value.get("observations")) or _list(trace.get("observations"))
        value = observed or [trace]
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Refusal(
            "bad-langfuse",
            f"{path.name} is not an export of Langfuse",
            why=[f"{path.name}: neither rows nor a trace"],
            next="export observations or traces as JSON, JSONL or CSV",
        )
    scores: dict[str, list[Mapping[str, Any]]] = {}
    for one in loose:
        score = _camel(one) if isinstance(one, dict) else {}
        about = score.get("observationId") or score.get("traceId")
        if about:
            scores.setdefault(str(about), []).append(score)
    return [_camel(one) for one in value], scores


def _record(
    raw: Mapping[str, Any], scores: Mapping[str, Sequence[Mapping[str, Any]]], dropped: Counter[str]
) -> dict[str, Any]:
    asked, answered = chat.parsed(raw.get("input")), chat.parsed(raw.get("output"))
    sent = chat.messages(asked, dropped)
    item = chat.asked(sent) if sent else _plain(asked)
    own = [one for one in _list(raw.get("scores")) if isinstance(one, dict)]
    judged = [*(_camel(one) for one in own), *scores.get(str(raw["id"]), ())]
    return {
        "record_id": str(raw["id"]),
        "ts": _time(raw),
        "item": item,
        "output": _output(answered, dropped),
        "production": _production(raw, chat.system_sha256(sent)),
        "fields": _fields(raw),
        "outcomes": [_outcome(one) for one in judged],
        **without_none({"trace_id": _text(raw.get("traceId"))}),
        **({"input": asked} if isinstance(asked, dict | list) else {}),
        **({"raw_output": answered} if isinstance(answered, dict | list) else {}),
        **(
            {"metadata": raw["metadata"]} if isinstance(raw.get("metadata"), dict) and raw["metadata"] else {}
        ),
    }


def _output(value: object, dropped: Counter[str]) -> str | None:
    if isinstance(value, dict) and isinstance(value.get("choices"), list) and value["choices"]:
        value = value["choices"][0]
    if isinstance(value, dict) and isinstance(value.get("message"), dict):
        value = value["message"]
    found = chat.messages(value, dropped, role="assistant")
    return (chat.said(found[-1]) or None) if found else _plain(value)


def _plain(value: object) -> str | None:
    """Return a value that is no message as text: the one text that an object holds, else compact JSON."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
        return only or None
    return chat.compact(value)


def _production(raw: Mapping[str, Any], prompt_sha256: str | None) -> dict[str, Any] | None:
    model = raw.get("providedModelName") or raw.get("model")
    settings = chat.parsed(raw.get("modelParameters"))
    version = raw.get("promptVersion")
    if not model:
        return None
    return without_none(
        {
            "model": str(model),
            "prompt_name": _text(raw.get("promptName") or None),
            "prompt_version": _text(version) if version not in (None, "") else None,
            "prompt_sha256": prompt_sha256,
            "settings": settings if isinstance(settings, dict) else {},
        }
    )


def _fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    usage = raw.get("usageDetails") if isinstance(raw.get("usageDetails"), dict) else raw.get("usage")
    taken: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    costs = raw.get("costDetails")
    cost: Mapping[str, Any] = costs if isinstance(costs, dict) else {}
    return scalars(
        {
            "name": raw.get("name") or raw.get("traceName"),
            "environment": raw.get("environment"),
            "release": raw.get("release"),
            "level": raw.get("level"),
            "tokens_in": _first_number(taken.get("input"), raw.get("inputUsage"), raw.get("promptTokens")),
            "tokens_out": _first_number(
                taken.get("output"), raw.get("outputUsage"), raw.get("completionTokens")
            ),
            "cost_usd": _first_number(
                cost.get("total"), raw.get("totalCost"), raw.get("calculatedTotalCost")
            ),
            "error": raw.get("statusMessage") if raw.get("level") == "ERROR" else None,
        }
    )


def _outcome(score: Mapping[str, Any]) -> dict[str, Any]:
    text = score.get("stringValue")
    time = score.get("timestamp")
    return {
        "kind": str(score.get("name") or "score"),
        "value": text if isinstance(text, str) and text else score.get("value"),
        "ts": clock.precise(clock.parse_time(str(time), "timestamp")) if clock.is_time(time) else None,
        "by": str(score.get("source") or "langfuse").lower(),
    }


def _time(raw: Mapping[str, Any]) -> str | None:
    return next(
        (str(raw[key]) for key in ("endTime", "startTime", "timestamp") if raw.get(key) not in (None, "")),
        None,
    )


def _camel(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row under the API's keys: the blob storage export writes ``start_time`` for ``startTime``."""
    return {_LETTER.sub(lambda found: found[1].upper(), key): value for key, value in raw.items()}


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of CSV: an empty cell is nothing, a structure is JSON, a count or a cost a number."""
    made: dict[str, Any] = {}
    for key, cell in row.items():
        name = _LETTER.sub(lambda found: found[1].upper(), key)
        if cell == "":
            made[key] = None
        elif name in _STRUCTURED:
            value = chat.parsed(cell)
            made[key] = _unquoted(str(cell)) if value is cell else value
        else:
            made[key] = cell
    return made


def _unquoted(cell: str) -> str:
    """Return a text that was written as a JSON string, or the cell as it is."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        try:
            value = json.loads(cell)
        except ValueError:
            return cell
        return value if isinstance(value, str) else cell
    return cell


def _first_number(*values: object) -> float | None:
    for value in values:
        if isinstance(value, str) and re.fullmatch(r"\d+(?:\.\d+)?(?:[eE]-?\d+)?", value):
            return float(value)
        if isinstance(value, int | float) and is_number(value):
            return value
    return None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
