"""The conversations in OpenTelemetry traces: what the spans of model calls say was sent and answered.

Read are the attributes and events of the GenAI conventions (``gen_ai.input.messages`` and the older
``gen_ai.prompt.<n>.role``, ``gen_ai.user.message`` events), and those of OpenInference
(``llm.input_messages.<n>.message.role``).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_WHOLE = (
    ("gen_ai.system_instructions", "gen_ai.input.messages"),
    ("gen_ai.output.messages",),
)
_NUMBERED = (
    re.compile(r"gen_ai\.(?P<side>prompt|completion)\.(?P<n>\d+)\.(?P<key>.+)"),
    re.compile(r"llm\.(?P<side>input|output)_messages\.(?P<n>\d+)\.message\.(?P<key>.+)"),
)
_EVENT = re.compile(r"gen_ai\.(?P<role>system|user|assistant|tool)\.message|gen_ai\.(?P<choice>choice)")
_CALL = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(name|arguments)")


def conversations(
    rows: Sequence[Mapping[str, Any]], place: str, reasons: list[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield (trace id, messages) of each trace that holds model calls, in the order of their first span.

    Each call sends what was said before it again: messages that the conversation holds already, from its
    beginning, are not taken twice.

    Args:
        rows: OTLP JSON documents.
        place: names them in a reason.
        reasons: gets one where nothing was found.
    """
    traces: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        for span in _spans(row):
            traces.setdefault(str(span.get("traceId") or span.get("trace_id") or ""), []).append(span)
    found = False
    first = {trace: min(map(_start, spans)) for trace, spans in traces.items()}
    for trace in sorted(traces, key=lambda one: (first[one], one)):
        said: list[dict[str, Any]] = []
        for span in sorted(traces[trace], key=_start):
            messages = _messages(span)
            same = 0
            while same < min(len(said), len(messages)) and said[same] == messages[same]:
                same += 1
            said += messages[same:]
        if said:
            found = True
            yield trace or "no-trace-id", said
    if not found:
        reasons.append(f"{place}: no span says what was sent to a model (gen_ai.* or llm.*_messages.*)")


def _spans(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in _listed(row, "resourceSpans", "resource_spans") or [row]:
        for scope in _listed(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            yield from _listed(scope, "spans")


def _listed(row: Mapping[str, Any], *keys: str) -> list[Mapping[str, Any]]:
    value: list[Any] = next((row[key] for key in keys if isinstance(row.get(key), list)), [])
    return [one for one in value if isinstance(one, dict)]


def _start(span: Mapping[str, Any]) -> int:
    value = span.get("startTimeUnixNano", span.get("start_time_unix_nano", 0))
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0


def _messages(span: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = _attributes(span)
    sides: tuple[dict[int, dict[str, Any]], dict[int, dict[str, Any]]] = ({}, {})
    made: list[list[dict[str, Any]]] = [[], []]
    for side, keys in enumerate(_WHOLE):
        for key in keys:
            made[side] += _parsed(given.get(key), "system" if "system" in key else "")
    for key, value in given.items():
        for form in _NUMBERED:
            hit = form.fullmatch(key)
            if hit:
                side = 0 if hit["side"] in ("prompt", "input") else 1
                _put(sides[side].setdefault(int(hit["n"]), {}), hit["key"], value)
    for side in (0, 1):
        made[side] += [one for _, one in sorted(sides[side].items()) if one]
    for event in _listed(span, "events"):
        hit = _EVENT.fullmatch(str(event.get("name")))
        if hit:
            body = _attributes(event)
            text = body.get("content", body.get("gen_ai.event.content"))
            one = {"role": hit["role"] or "assistant", "content": text if isinstance(text, str) else None}
            made[1 if hit["choice"] else 0].append({**one, "tool_calls": _json(body.get("tool_calls"))})
    return [_clean(one) for one in made[0] + made[1]]


def _put(message: dict[str, Any], key: str, value: object) -> None:
    call = _CALL.fullmatch(key)
    if call:
        calls = message.setdefault("tool_calls", [])
        while len(calls) <= min(int(call[1]), 99):
            calls.append({})
        calls[min(int(call[1]), 99)][call[2]] = value
    elif key in ("role", "content", "name"):
        message[key] = value


def _parsed(value: object, role: str) -> list[dict[str, Any]]:
    found = _json(value)
    if isinstance(found, str) and found:
        return [{"role": role or "user", "content": found}]
    if isinstance(found, list) and role:
        return [{"role": role, "content": found}] if found else []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _clean(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value not in (None, [], "")}


def _json(value: object) -> Any:  # noqa: ANN401 - whatever an attribute holds
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    given = holder.get("attributes")
    if isinstance(given, dict):
        return dict(given)
    return {
        str(one.get("key")): _value(one.get("value"))
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict)
    }


def _value(value: object) -> Any:  # noqa: ANN401 - OTLP's AnyValue
    if not isinstance(value, dict):
        return value
    for key in ("stringValue", "boolValue", "intValue", "doubleValue"):
        if key in value:
            return value[key]
    if isinstance(value.get("arrayValue"), dict):
        return [_value(one) for one in value["arrayValue"].get("values") or []]
    if isinstance(value.get("kvlistValue"), dict):
        listed = value["kvlistValue"].get("values") or []
        return {str(one.get("key")): _value(one.get("value")) for one in listed if isinstance(one, dict)}
    return None
