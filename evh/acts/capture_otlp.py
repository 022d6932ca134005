"""OpenTelemetry traces in OTLP/JSON: each span of a model's answer becomes a record.

Read are the GenAI semantic conventions in the forms that they have had:

- ``gen_ai.input.messages``, ``gen_ai.output.messages``, ``gen_ai.system_instructions`` on the span or on a
  ``gen_ai.client.inference.operation.details`` event, as structures or as JSON (from 1.37);
- an event a message, ``gen_ai.user.message`` … ``gen_ai.choice``, on the span or as a log record (1.28 to
  1.36);
- ``gen_ai.prompt`` and ``gen_ai.completion`` on the span or on ``gen_ai.content.*`` events (to 1.27);
- ``gen_ai.prompt.N.content`` and ``gen_ai.completion.N.content``, as OpenLLMetry writes them.

Source: open-telemetry/semantic-conventions, docs/gen-ai/, at those versions; the OTLP/JSON encoding of
open-telemetry/opentelemetry-proto.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evh.acts.capture_otlp_content import Content, content_of
from evh.acts.import_tools import chat
from evh.acts.import_tools.captured import Captured, scalars, without_none
from evh.errors import Refusal
from evh.store import clock, strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

ANSWERING = frozenset({"chat", "text_completion", "generate_content", "completion"})
"""The operations (``gen_ai.operation.name``) in which a model answers."""
NOT_GENAI = "span that is no GenAI call"
TWICE = "span that records an answer again"
FURTHER = "further choice of one answer"
OTHER_SIGNAL = "log record of no GenAI call"
EVALUATION = "gen_ai.evaluation.result"
ERROR = (2, "2", "STATUS_CODE_ERROR")
_SETTINGS = "gen_ai.request."
_NO_SETTING = frozenset({"gen_ai.request.model", "gen_ai.request.type"})


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


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a span, or a log record that names it: its name, time, attributes and body."""

    name: str
    time: int
    attributes: Mapping[str, Any]
    body: Any = None


def read(path: Path) -> Captured:
    """Return the records that a file of OTLP/JSON holds: one request, or one on each line.

    A record's id is ``gen_ai.response.id``, else the ids of its trace and span; its time is the span's end.
    What ``gen_ai.evaluation.result`` events say of an answer are its outcomes.

    Raises:
        Refusal: no OTLP/JSON, or no span in it in which a model answers.
    """
    dropped: Counter[str] = Counter()
    documents = _documents(path)
    spans: dict[tuple[str, str], Span] = {}
    for document in documents:
        for span in _spans(document, path):
            spans[span.trace_id, span.span_id] = span
    for document in documents:
        _attach(document, spans, dropped)
    records = [record for span in spans.values() if (record := _record(span, dropped)) is not None]
    if not records:
        counts = ", ".join(f"{count:,} {why}" for why, count in sorted(dropped.items()))
        raise Refusal(
            "nothing-to-take",
            f"{path.name} holds no span in which a model answers",
            why=[f"{path.name}: {counts or 'it holds no spans'}"],
            next="export the spans of the model calls (gen_ai.operation.name chat, generate_content, …)",
        )
    return Captured(tuple(_named_once(records, dropped)), dict(sorted(dropped.items())))


def _documents(path: Path) -> list[dict[str, Any]]:
    data = strict.read_bytes(path)
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) > 1 and all(line.rstrip().endswith(b"}") and line[:1] == b"{" for line in lines):
        documents = list(strict.parse_jsonl(data, path))
    else:
        value = strict.parse_json(data, path)
        documents = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
    known = {"resourceSpans", "resource_spans", "resourceLogs", "resource_logs"}
    if not any(known & document.keys() for document in documents):
        raise Refusal(
            "bad-otlp",
            f"{path.name} is not OTLP/JSON",
            why=[f"{path.name}: no resourceSpans in it"],
            next="export traces in the JSON encoding of OTLP (the Collector's file exporter writes it)",
        )
    return documents


def _spans(document: Mapping[str, Any], path: Path) -> Iterator[Span]:
    for resource, raw in _inside(document, "Spans", "spans"):
        place = f"{path.name}: span {raw.get('spanId')!r}"
        yield Span(
            trace_id=str(raw.get("traceId") or raw.get("trace_id") or ""),
            span_id=str(raw.get("spanId") or raw.get("span_id") or ""),
            name=str(raw.get("name") or ""),
            start=_nanoseconds(raw, "startTimeUnixNano", place),
            end=_nanoseconds(raw, "endTimeUnixNano", place),
            attributes=attributes(raw),
            resource=resource,
            failed=_mapping(raw.get("status")).get("code") in ERROR,
            events=[
                Event(str(one.get("name") or ""), _nanoseconds(one, "timeUnixNano", place), attributes(one))
                for one in _list(raw.get("events"))
                if isinstance(one, dict)
            ],
        )


def _attach(
    document: Mapping[str, Any], spans: Mapping[tuple[str, str], Span], dropped: Counter[str]
) -> None:
    """Hand each log record to the span that it names; since 1.28 messages may lie in the logs."""
    for _, raw in _inside(document, "Logs", "logRecords"):
        known = attributes(raw)
        name = str(raw.get("eventName") or raw.get("event_name") or known.get("event.name") or "")
        key = (str(raw.get("traceId") or ""), str(raw.get("spanId") or ""))
        if key in spans and name.startswith("gen_ai."):
            time = _nanoseconds(raw, "timeUnixNano", "log record")
            spans[key].events.append(Event(name, time, known, value_of(raw.get("body"))))
        else:
            dropped[OTHER_SIGNAL] += 1


def _inside(
    document: Mapping[str, Any], signal: str, inner: str
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Yield each span or log record of a request with its resource's attributes."""
    for resource in _list(document.get(f"resource{signal}", document.get(f"resource_{signal.lower()}"))):
        known = attributes(_mapping(_mapping(resource).get("resource")))
        for scope in _list(
            _mapping(resource).get(f"scope{signal}", _mapping(resource).get(f"scope_{signal.lower()}"))
        ):
            for one in _list(_mapping(scope).get(inner, _mapping(scope).get("log_records"))):
                if isinstance(one, dict):
                    yield known, one


def _record(span: Span, dropped: Counter[str]) -> dict[str, Any] | None:
    """Return the record of a span in which a model answered, or None: it is another kind, counted."""
    found = span.attributes
    operation = found.get("gen_ai.operation.name", found.get("llm.request.type"))
    if operation is None and not any(key.startswith(("gen_ai.request", "gen_ai.prompt")) for key in found):
        dropped[NOT_GENAI] += 1
        return None
    if operation is not None and operation not in ANSWERING:
        dropped[f"span of the operation {operation}"] += 1
        return None
    content = content_of(span, dropped)
    if len(content.choices) > 1:
        dropped[FURTHER] += len(content.choices) - 1
    output = chat.said(content.choices[0]) if content.choices else ""
    requested, answered = found.get("gen_ai.request.model"), found.get("gen_ai.response.model")
    settings = {
        key.removeprefix(_SETTINGS): value
        for key, value in found.items()
        if key.startswith(_SETTINGS) and key not in _NO_SETTING and "." not in key.removeprefix(_SETTINGS)
    }
    production = without_none(
        {
            "model": requested or answered,
            "prompt_version": _text(found.get("gen_ai.prompt.version")),
            "prompt_sha256": chat.system_sha256(content.messages),
            "settings": settings,
        }
    )
    if answered and answered != requested:
        production["response_model"] = answered
    return {
        "record_id": str(found.get("gen_ai.response.id") or _span_name(span)),
        "ts": _time(span.end or span.start),
        "item": chat.asked(content.messages),
        "output": output or None,
        "production": production if production.get("model") else None,
        "fields": _fields(span),
        "outcomes": _outcomes(span),
        **_kept(span, content),
    }


def _kept(span: Span, content: Content) -> dict[str, Any]:
    """Return what an adapter may read beside: the span's ids, and messages that are more than one text."""
    several = len([one for one in content.messages if one.role not in chat.SYSTEM]) > 1
    messages = [
        without_none({"role": one.role, "content": one.text, "tool_calls": [*map(dict, one.calls)] or None})
        for one in content.messages
    ]
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "span_name": span.name,
        **({"messages": messages} if several else {}),
    }


def _fields(span: Span) -> dict[str, Any]:
    found = span.attributes
    reasons = found.get("gen_ai.response.finish_reasons")
    first = reasons[0] if isinstance(reasons, list) and reasons else None
    tokens_in = found.get("gen_ai.usage.input_tokens", found.get("gen_ai.usage.prompt_tokens"))
    tokens_out = found.get("gen_ai.usage.output_tokens", found.get("gen_ai.usage.completion_tokens"))
    return scalars(
        {
            "operation": found.get("gen_ai.operation.name"),
            "provider": found.get("gen_ai.provider.name", found.get("gen_ai.system")),
            "service": span.resource.get("service.name"),
            "conversation": found.get("gen_ai.conversation.id"),
            "finish_reason": first,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "latency_ms": (span.end - span.start) / 1e6 if span.end > span.start else None,
            "error": (found.get("error.type") or "error") if span.failed else found.get("error.type"),
        }
    )


def _outcomes(span: Span) -> list[dict[str, Any]]:
    made = []
    for event in span.events:
        if event.name != EVALUATION:
            continue
        known = event.attributes
        value = known.get("gen_ai.evaluation.score.label", known.get("gen_ai.evaluation.score.value"))
        made.append(
            {
                "kind": str(known.get("gen_ai.evaluation.name") or "evaluation"),
                "value": value,
                "ts": _time(event.time) if event.time else None,
                "by": "evaluation",
            }
        )
    return made


def _named_once(records: Sequence[dict[str, Any]], dropped: Counter[str]) -> Iterator[dict[str, Any]]:
    """Yield records of which no two have one id.

    A framework and the client below it both record one answer, under one response id: the first stands. Where
    the two say different things each is named by its span.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(record["record_id"], []).append(record)
    for group in groups.values():
        if len({(one["item"], one["output"]) for one in group}) == 1:
            dropped[TWICE] += len(group) - 1
            yield group[0]
            continue
        for record in group:
            yield {**record, "record_id": f"{record['trace_id']}-{record['span_id']}"}
    if not dropped[TWICE]:
        del dropped[TWICE]


def attributes(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, an event or a resource as plain values."""
    return {
        str(one["key"]): value_of(one.get("value"))
        for one in _list(raw.get("attributes"))
        if isinstance(one, dict) and "key" in one
    }


def value_of(value: object) -> Any:  # noqa: ANN401 - a JSON value
    """Return an ``AnyValue`` of OTLP/JSON as the plain value that it stands for; an int64 is text there."""
    found = _mapping(value)
    for key, raw in found.items():
        match key:
            case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
                return raw
            case "intValue":
                return int(raw) if str(raw).lstrip("-").isdigit() else None
            case "arrayValue":
                return [value_of(one) for one in _list(_mapping(raw).get("values"))]
            case "kvlistValue":
                return {
                    str(one.get("key")): value_of(one.get("value"))
                    for one in _list(_mapping(raw).get("values"))
                    if isinstance(one, dict)
                }
            case _:
                continue
    return None


def _span_name(span: Span) -> str:
    return f"{span.trace_id}-{span.span_id}"


def _nanoseconds(raw: Mapping[str, Any], key: str, place: str) -> int:
    value = raw.get(key)
    if value in (None, ""):
        return 0
    if isinstance(value, str | int) and str(value).isdigit():
        return int(value)
    raise Refusal("bad-otlp", "a time of OTLP/JSON cannot be read", why=[f"{place}: {key}: {value!r}"])


def _time(nanoseconds: int) -> str | None:
    if not nanoseconds:
        return None
    whole, rest = divmod(nanoseconds, 1_000_000_000)
    try:
        at = datetime.fromtimestamp(whole, UTC).replace(microsecond=rest // 1000)
    except (OverflowError, ValueError, OSError):
        return None
    return clock.precise(at)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
