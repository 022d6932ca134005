"""OpenTelemetry traces in OTLP/JSON: the spans, with their events and log records, as plain values.

Keys are read as the OTLP/JSON encoding writes them (``startTimeUnixNano``) and as protobuf's own printers do
(``start_time_unix_nano``). Which spans are answers of a model is said here too, in the words of both
conventions: OpenTelemetry's GenAI and OpenInference's.

Source: the OTLP/JSON encoding of open-telemetry/opentelemetry-proto; open-telemetry/semantic-conventions,
docs/gen-ai/; Arize-ai/openinference, spec/.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools.captured import read_values
from evh.errors import SHOWN, Refusal

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping
    from pathlib import Path

REQUESTS = frozenset({"resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "scopeSpans"})
"""A document with one of these keys is OTLP/JSON."""
ANSWERING = frozenset({"chat", "text_completion", "generate_content", "completion"})
"""The operations (``gen_ai.operation.name``) in which a model answers."""
KIND = "openinference.span.kind"
NOT_GENAI = "span that is no GenAI call"
NO_OPERATION = "span whose operation is no text"
OTHER_SIGNAL = "log record of no GenAI call"
OTHER_DOCUMENT = "request that holds neither spans nor logs"
ERROR = (2, "2", "STATUS_CODE_ERROR")
_ASKS = (
    "gen_ai.request", "gen_ai.prompt", "gen_ai.completion", "gen_ai.input.messages", "gen_ai.output.messages",
    "llm.input_messages", "llm.output_messages",
)  # fmt: skip
_MESSAGES = frozenset({"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"})
_CAPITAL = re.compile(r"[A-Z]")
_WHOLE = re.compile(r"-?[0-9]{1,20}")


@dataclass(slots=True)
class Span:
    """One span with its attributes as plain values, and the events that belong to it."""

    trace_id: str
    span_id: str
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    resource: dict[str, Any]
    failed: bool
    events: list[Event] = field(default_factory=list)

    @property
    def no_answer(self) -> str | None:
        """Why this is no span in which a model answered, as it is counted; None: it is one."""
        found = self.attributes
        operation = found.get("gen_ai.operation.name", found.get("llm.request.type"))
        if operation is not None and not isinstance(operation, str):
            return NO_OPERATION
        if operation is not None:
            return None if operation in ANSWERING else f"span of the operation {operation}"
        kind = found.get(KIND)
        if kind is not None:
            return None if str(kind).upper() == "LLM" else f"span of the kind {kind}"
        return None if any(key.startswith(_ASKS) for key in found) else NOT_GENAI


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a span, or a log record that names it: its name, time, attributes and body."""

    name: str
    time: int
    attributes: Mapping[str, Any]
    body: Any = None


def read_spans(path: Path, dropped: Counter[str]) -> list[Span]:
    """Return the spans of a file in its order: a request of OTLP/JSON, an array of them, or one on each line.

    A log record of a GenAI event is an event of the span that it names; since 1.28 messages may lie in the
    logs. A span that stands twice, by its trace's id and its own, is taken once, as it stood last.

    Args:
        path: the file.
        dropped: where log records that belong to no call, and requests of other signals, are counted.

    Raises:
        Refusal: no OTLP/JSON, or what cannot be read: times, ids that are no text, messages whose JSON is
            broken; every one, by its span.
    """
    documents = _documents(path, dropped)
    reasons: list[str] = []
    spans: dict[object, Span] = {}
    for document in documents:
        for span in _spans(document, path.name, reasons):
            spans[(span.trace_id, span.span_id) if span.span_id else len(spans)] = span
    for document in documents:
        _attach(document, spans, path.name, reasons, dropped)
    if reasons:
        more = len(reasons) - SHOWN
        raise Refusal(
            "bad-otlp",
            f"{path.name} holds what OTLP/JSON cannot",
            why=[*reasons[:SHOWN], *([f"and {more:,} more"] if more > 0 else [])],
            next="export again: times as nanoseconds since 1970, ids as texts, messages as whole JSON (an "
            "exporter that cuts long attributes breaks them)",
        )
    return list(spans.values())


def counted(dropped: Mapping[str, int]) -> str:
    """Return counts as words: ``2 span that is no GenAI call, 1 reasoning part``."""
    return ", ".join(f"{count:,} {why}" for why, count in sorted(dropped.items()))


def attributes(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, an event or a resource, a list or a mapping, as plain values."""
    given = raw.get("attributes")
    if isinstance(given, dict):
        return {str(key): value_of(one) for key, one in given.items()}
    return {
        str(one["key"]): value_of(one.get("value"))
        for one in _list(given)
        if isinstance(one, dict) and "key" in one
    }


def value_of(value: object) -> Any:  # noqa: ANN401 - a JSON value
    """Return an ``AnyValue`` of OTLP/JSON as the plain value that it stands for; an int64 is text there.

    A value that is plain already stands for itself.
    """
    if not isinstance(value, dict):
        return value
    for key, raw in value.items():
        match key:
            case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
                return raw
            case "string_value" | "bool_value" | "double_value" | "bytes_value":
                return raw
            case "intValue" | "int_value":
                return int(raw) if _WHOLE.fullmatch(str(raw)) else None
            case "arrayValue" | "array_value":
                return [value_of(one) for one in _list(_mapping(raw).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return {
                    str(one.get("key")): value_of(one.get("value"))
                    for one in _list(_mapping(raw).get("values"))
                    if isinstance(one, dict)
                }
            case _:
                continue
    return None


def _documents(path: Path, dropped: Counter[str]) -> list[dict[str, Any]]:
    value = read_values(path)
    found = value if isinstance(value, list) else [value]
    documents = [one for one in found if isinstance(one, dict) and one.keys() & REQUESTS]
    if not documents:
        raise Refusal(
            "bad-otlp",
            f"{path.name} is not OTLP/JSON",
            why=[f"{path.name}: no resourceSpans in it"],
            next="export traces in the JSON encoding of OTLP (the Collector's file exporter writes it)",
        )
    if len(found) > len(documents):
        dropped[OTHER_DOCUMENT] += len(found) - len(documents)
    return documents


def _spans(document: Mapping[str, Any], place: str, reasons: list[str]) -> Iterator[Span]:
    for resource, raw in _inside(document, "Spans", "spans"):
        span_id = _id(raw, "spanId", f"{place}: a span", reasons)
        here = f"{place}: span {span_id!r}"
        yield Span(
            trace_id=_id(raw, "traceId", here, reasons),
            span_id=span_id,
            name=str(raw.get("name") or ""),
            start=_nanoseconds(raw, "startTimeUnixNano", here, reasons),
            end=_nanoseconds(raw, "endTimeUnixNano", here, reasons),
            attributes=_whole(attributes(raw), here, reasons),
            resource=resource,
            failed=_mapping(raw.get("status")).get("code") in ERROR,
            events=[
                Event(
                    str(one.get("name") or ""),
                    _nanoseconds(one, "timeUnixNano", here, reasons),
                    _whole(attributes(one), here, reasons),
                )
                for one in _list(raw.get("events"))
                if isinstance(one, dict)
            ],
        )


def _attach(
    document: Mapping[str, Any],
    spans: Mapping[object, Span],
    place: str,
    reasons: list[str],
    dropped: Counter[str],
) -> None:
    for _, raw in _inside(document, "Logs", "logRecords"):
        known = attributes(raw)
        name = str(_got(raw, "eventName") or known.get("event.name") or "")
        span = spans.get((str(_got(raw, "traceId") or ""), str(_got(raw, "spanId") or "")))
        if span is not None and name.startswith("gen_ai."):
            here = f"{place}: log record of the span {span.span_id!r}"
            time = _nanoseconds(raw, "timeUnixNano", here, reasons)
            span.events.append(Event(name, time, _whole(known, here, reasons), value_of(raw.get("body"))))
        else:
            dropped[OTHER_SIGNAL] += 1


def _inside(
    document: Mapping[str, Any], signal: str, inner: str
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Yield each span or log record of a request with its resource's attributes.

    ``scopeSpans`` may stand without a resource around them; before 2022 they were called otherwise.
    """
    resources = _got(document, f"resource{signal}")
    for resource in _list(resources) if resources is not None else [document]:
        known = attributes(_mapping(_mapping(resource).get("resource")))
        scopes = _got(_mapping(resource), f"scope{signal}")
        if scopes is None:
            scopes = _got(_mapping(resource), f"instrumentationLibrary{signal}")
        for scope in _list(scopes):
            for one in _list(_got(_mapping(scope), inner)):
                if isinstance(one, dict):
                    yield known, one


def _got(raw: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - a JSON value
    """Return what stands under a key as JSON names it, else as protobuf does."""
    value = raw.get(key)
    return raw.get(_CAPITAL.sub(lambda found: f"_{found[0].lower()}", key)) if value is None else value


def _id(raw: Mapping[str, Any], key: str, place: str, reasons: list[str]) -> str:
    """Return an id; one that is no text is a reason: spans of two traces could meet under a guess."""
    value = _got(raw, key)
    if value is None or isinstance(value, str):
        return value or ""
    reasons.append(f"{place}: {key}: {str(value)[:80]} is no text")
    return ""


def _whole(known: dict[str, Any], place: str, reasons: list[str]) -> dict[str, Any]:
    """Return attributes; messages whose JSON is broken are a reason: they would be read as a plain text."""
    for key in sorted(_MESSAGES & known.keys()):
        value = known[key]
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            try:
                json.loads(value)
            except (ValueError, RecursionError) as error:
                reasons.append(f"{place}: {key} is not whole JSON: {error}: {value[:40]!r}")
    return known


def _nanoseconds(raw: Mapping[str, Any], key: str, place: str, reasons: list[str]) -> int:
    value = _got(raw, key)
    if value in (None, ""):
        return 0
    if isinstance(value, str | int) and _WHOLE.fullmatch(str(value)) and int(value) >= 0:
        return int(value)
    reasons.append(f"{place}: {key}: {value!r}")
    return 0


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
