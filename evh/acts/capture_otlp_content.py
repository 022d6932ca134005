"""The messages of a GenAI span, whichever version of the conventions recorded them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools import chat
from evh.acts.import_tools.chat import Message

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from evh.acts.capture_otlp import Event, Span

ONE_EACH = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
CHOICE = "gen_ai.choice"
INDEXED = re.compile(r"(?:gen_ai|llm)\.(prompts?|completions?)\.(\d+)\.(.+)")
_CALL = re.compile(r"tool_calls\.(\d+)\.(name|arguments)")


@dataclass(frozen=True, slots=True)
class Content:
    """What was sent to a model, what the system was told among it, and what the model answered."""

    messages: tuple[Message, ...]
    choices: tuple[Message, ...]


def content_of(span: Span, dropped: Counter[str]) -> Content:
    """Return a span's messages from the newest form of the conventions that it holds any in."""
    for form in (_structured, _events, _indexed, _flat):
        found = form(span, dropped)
        if found.messages or found.choices:
            return found
    return Content((), ())


def _structured(span: Span, dropped: Counter[str]) -> Content:
    places = [span.attributes, *(event.attributes for event in span.events)]
    told = chat.messages(_parts(_first(places, "gen_ai.system_instructions")), dropped, role="system")
    sent = chat.messages(_first(places, "gen_ai.input.messages"), dropped)
    answered = chat.messages(_first(places, "gen_ai.output.messages"), dropped, role="assistant")
    return Content((*told, *sent), tuple(answered))


def _events(span: Span, dropped: Counter[str]) -> Content:
    sent: list[Message] = []
    choices: list[Message] = []
    for event in _in_time(span.events):
        each = ONE_EACH.fullmatch(event.name)
        if each:
            sent += chat.messages(_body(event), dropped, role=each[1])
        elif event.name == CHOICE:
            body = _body(event)
            inner = chat.parsed(body.get("message"))
            choices += chat.messages(inner if inner is not None else body, dropped, role="assistant")
    return Content(tuple(sent), tuple(choices))


def _indexed(span: Span, _dropped: Counter[str]) -> Content:
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for key, value in span.attributes.items():
        match = INDEXED.fullmatch(key)
        if match:
            found.setdefault((match[1].rstrip("s"), int(match[2])), {})[match[3]] = value
    sent: list[Message] = []
    choices: list[Message] = []
    for (kind, _), parts in sorted(found.items()):
        calls: dict[int, dict[str, Any]] = {}
        for key, value in parts.items():
            call = _CALL.fullmatch(key)
            if call:
                calls.setdefault(int(call[1]), {})[call[2]] = chat.parsed(value)
        content = parts.get("content")
        text = content if isinstance(content, str) else "" if content is None else chat.compact(content)
        role = str(parts.get("role") or ("user" if kind == "prompt" else "assistant"))
        message = Message(role, text, tuple(calls[at] for at in sorted(calls)))
        (sent if kind == "prompt" else choices).append(message)
    return Content(tuple(sent), tuple(choices))


def _flat(span: Span, dropped: Counter[str]) -> Content:
    places = [span.attributes, *(event.attributes for event in span.events)]
    sent = chat.messages(_first(places, "gen_ai.prompt"), dropped)
    answered = chat.messages(_first(places, "gen_ai.completion"), dropped, role="assistant")
    return Content(tuple(sent), tuple(answered))


def _first(places: Sequence[Mapping[str, Any]], key: str) -> object:
    return next((place[key] for place in places if place.get(key) is not None), None)


def _parts(value: object) -> object:
    """Return system instructions as one message: they are a list of parts, without a role."""
    value = chat.parsed(value)
    if (
        isinstance(value, list)
        and value
        and all(isinstance(one, dict) and "role" not in one for one in value)
    ):
        return {"role": "system", "parts": value}
    return value


def _body(event: Event) -> dict[str, Any]:
    """Return what an event says: its body where it is a log record, else its attributes."""
    body = chat.parsed(event.body)
    if isinstance(body, dict):
        return body
    if isinstance(body, str) and body:
        return {"content": body}
    made = dict(event.attributes)
    if "tool_calls" in made:
        made["tool_calls"] = chat.parsed(made["tool_calls"])
    return made


def _in_time(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.time)
