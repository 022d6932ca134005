"""OpenTelemetry traces as records of a capture: each span in which a model answers becomes one.

The model, its settings, the tokens and the rest are read under the names of the GenAI semantic conventions,
else under OpenInference's. Source: open-telemetry/semantic-conventions, docs/gen-ai/; Arize-ai/openinference,
spec/semantic_conventions.md.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evh.acts import otlp, otlp_messages
from evh.acts.import_tools import chat
from evh.acts.import_tools.captured import Captured, scalars, without_none
from evh.errors import Refusal
from evh.store import clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evh.acts.import_tools.chat import Message
    from evh.acts.otlp import Span

TWICE = "span that records an answer again"
FURTHER = "further choice of one answer"
EVALUATION = "gen_ai.evaluation.result"
_SETTINGS = "gen_ai.request."
_NO_SETTING = frozenset({"gen_ai.request.model", "gen_ai.request.type"})
_NO_PARAMETER = frozenset(
    {"model", "model_name", "messages", "input", "prompt", "system", "tools", "functions"}
)


def read(path: Path) -> Captured:
    """Return the records that a file of OTLP/JSON holds: one request, or one on each line.

    A record's id is ``gen_ai.response.id``, else the ids of its trace and span; its time is the span's end.
    What ``gen_ai.evaluation.result`` events say of an answer are its outcomes.

    Raises:
        Refusal: no OTLP/JSON, or no span in it in which a model answers.
    """
    dropped: Counter[str] = Counter()
    spans = otlp.read_spans(path, dropped)
    records = [record for span in spans if (record := _record(span, dropped)) is not None]
    if not records:
        raise Refusal(
            "nothing-to-take",
            f"{path.name} holds no span in which a model answers",
            why=[f"{path.name}: {otlp.counted(dropped) or 'it holds no spans'}"],
            next="export the spans of the model calls (gen_ai.operation.name chat, generate_content, …)",
        )
    return Captured(tuple(_named_once(records, dropped)), dict(sorted(dropped.items())))


def _record(span: Span, dropped: Counter[str]) -> dict[str, Any] | None:
    """Return the record of a span in which a model answered, or None: it is another kind, counted."""
    if span.no_answer is not None:
        dropped[span.no_answer] += 1
        return None
    found = span.attributes
    content = otlp_messages.content_of(span)
    messages = [chat.message(one, dropped) for one in content.sent]
    choices = [chat.message(one, dropped) for one in content.answered]
    if len(choices) > 1:
        dropped[FURTHER] += len(choices) - 1
    output = chat.said(choices[0]) if choices else ""
    production = _production(found, chat.system_sha256(messages))
    return {
        "record_id": str(found.get("gen_ai.response.id") or _span_name(span)),
        "ts": _time(span.end or span.start),
        "item": chat.asked(messages),
        "output": output or None,
        "production": production if production.get("model") else None,
        "fields": _fields(span),
        "outcomes": _outcomes(span),
        **_kept(span, messages),
    }


def _production(found: Mapping[str, Any], prompt_sha256: str | None) -> dict[str, Any]:
    requested = _first(found, "gen_ai.request.model", "llm.request.model_name", "llm.model_name")
    answered = _first(found, "gen_ai.response.model", "llm.response.model_name")
    production = without_none(
        {
            "model": requested or answered,
            "prompt_version": _text(_first(found, "gen_ai.prompt.version", "llm.prompt_template.version")),
            "prompt_sha256": prompt_sha256,
            "settings": _settings(found),
        }
    )
    if answered and answered != requested:
        production["response_model"] = answered
    return production


def _settings(found: Mapping[str, Any]) -> dict[str, Any]:
    settings = {
        key.removeprefix(_SETTINGS): value
        for key, value in found.items()
        if key.startswith(_SETTINGS) and key not in _NO_SETTING and "." not in key.removeprefix(_SETTINGS)
    }
    parameters = chat.parsed(found.get("llm.invocation_parameters"))
    if settings or not isinstance(parameters, dict):
        return settings
    return without_none({key: value for key, value in parameters.items() if key not in _NO_PARAMETER})


def _kept(span: Span, found: Sequence[Message]) -> dict[str, Any]:
    """Return what an adapter may read beside: the span's ids, and messages that are more than one text."""
    several = len([one for one in found if one.role not in chat.SYSTEM]) > 1
    messages = [
        without_none({"role": one.role, "content": one.text, "tool_calls": [*map(dict, one.calls)] or None})
        for one in found
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
    first = reasons[0] if isinstance(reasons, list) and reasons else found.get("llm.finish_reason")
    return scalars(
        {
            "operation": found.get("gen_ai.operation.name"),
            "provider": _first(found, "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
            "service": span.resource.get("service.name"),
            "conversation": _first(found, "gen_ai.conversation.id", "session.id"),
            "finish_reason": first,
            "tokens_in": _first(
                found,
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.prompt_tokens",
                "llm.token_count.prompt",
            ),
            "tokens_out": _first(
                found,
                "gen_ai.usage.output_tokens",
                "gen_ai.usage.completion_tokens",
                "llm.token_count.completion",
            ),
            "cost_usd": found.get("llm.cost.total"),
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


def _span_name(span: Span) -> str:
    return f"{span.trace_id}-{span.span_id}"


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


def _first(found: Mapping[str, Any], *keys: str) -> Any:  # noqa: ANN401 - whatever an attribute holds
    return next((found[key] for key in keys if found.get(key) is not None), None)
