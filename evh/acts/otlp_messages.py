"""What a span says was sent to a model and answered, whichever convention recorded it.

Read are the GenAI semantic conventions in the forms that they have had:

- ``gen_ai.input.messages``, ``gen_ai.output.messages``, ``gen_ai.system_instructions`` on the span or on a
  ``gen_ai.client.inference.operation.details`` event, as structures or as JSON (from 1.37);
- an event a message, ``gen_ai.user.message`` … ``gen_ai.choice``, on the span or as a log record (1.28 to
  1.36);
- ``gen_ai.prompt`` and ``gen_ai.completion`` on the span or on ``gen_ai.content.*`` events (to 1.27);

and those that number each part of a message:

- ``gen_ai.prompt.N.content`` and ``gen_ai.completion.N.content``, as OpenLLMetry writes them;
- ``llm.input_messages.N.message.content`` and ``llm.output_messages.N.message.…`` of OpenInference, with
  ``message.contents.M.message_content.…`` and ``message.tool_calls.M.tool_call.function.…``; its
  ``llm.prompts.N.prompt.text`` and ``llm.choices.N.completion.text``; of a model's span without any of them
  ``input.value`` and ``output.value``.

Source: open-telemetry/semantic-conventions, docs/gen-ai/, at those versions; traceloop/openllmetry;
Arize-ai/openinference, spec/semantic_conventions.md and spec/tool_calling.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools import chat
from evh.acts.otlp import KIND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.otlp import Event, Span

_ONE_EACH = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_CHOICE = "gen_ai.choice"
_NUMBERED = (
    re.compile(r"(?:gen_ai|llm)\.(?P<side>prompt|completion|choice)s?\.(?P<n>[0-9]{1,6})\.(?P<key>.+)"),
    re.compile(r"llm\.(?P<side>input|output)_messages\.(?P<n>[0-9]{1,6})\.message\.(?P<key>.+)"),
)
_SENT = ("prompt", "input")
_TOOL_CALL = re.compile(r"tool_calls\.([0-9]{1,6})\.(?:tool_call\.)?(?:function\.)?(name|arguments)")
_PART = re.compile(r"contents\.([0-9]{1,6})\.(?:message_content\.|tool_call\.(?:function\.)?)(.+)")
_FUNCTION_CALL = {"function_call_name": "name", "function_call_arguments_json": "arguments"}


@dataclass(frozen=True, slots=True)
class Content:
    """The messages that were sent to a model, in order, and its answers, a choice each.

    Each is an object with ``role`` and ``content`` or ``parts``, maybe ``name`` and ``tool_calls``, as
    `chat.message` reads it.
    """

    sent: tuple[Mapping[str, Any], ...] = ()
    answered: tuple[Mapping[str, Any], ...] = ()


def content_of(span: Span) -> Content:
    """Return a span's messages, each side from the first form, newest first, that it holds any in."""
    places = _places(span)
    told = chat.listed(_parts(_first(places, "gen_ai.system_instructions")), role="system")
    sent: Sequence[Mapping[str, Any]] = chat.listed(_first(places, "gen_ai.input.messages"))
    answered: Sequence[Mapping[str, Any]] = chat.listed(
        _first(places, "gen_ai.output.messages"), role="assistant"
    )
    newest = bool(sent)
    for form in (_events, _numbered, _whole):
        if sent and answered:
            break
        found = form(span)
        sent, answered = sent or found.sent, answered or found.answered
    # An older form has the instructions among its messages; beside the newest they are further ones.
    if newest or not any(one["role"] in chat.SYSTEM for one in sent):
        sent = [*told, *sent]
    return Content(tuple(sent), tuple(answered))


def _events(span: Span) -> Content:
    sent: list[Mapping[str, Any]] = []
    answered: list[Mapping[str, Any]] = []
    for event in sorted(span.events, key=lambda one: one.time):
        each = _ONE_EACH.fullmatch(event.name)
        if each:
            sent += chat.listed(_body(event), role=each[1])
        elif event.name == _CHOICE:
            body = _body(event)
            inner = chat.parsed(body.get("message"))
            answered += chat.listed(inner if inner is not None else body, role="assistant")
    return Content(tuple(sent), tuple(answered))


def _numbered(span: Span) -> Content:
    found: dict[tuple[bool, int], dict[str, Any]] = {}
    for key, value in span.attributes.items():
        for form in _NUMBERED:
            hit = form.fullmatch(key)
            if hit:
                found.setdefault((hit["side"] not in _SENT, int(hit["n"])), {})[hit["key"]] = value
    sides: tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]] = ([], [])
    for (answered, _), parts in sorted(found.items(), key=lambda one: one[0]):
        sides[answered].append(_message(parts, "assistant" if answered else "user"))
    return Content(tuple(sides[0]), tuple(sides[1]))


def _whole(span: Span) -> Content:
    places = _places(span)
    sent, answered = _first(places, "gen_ai.prompt"), _first(places, "gen_ai.completion")
    if str(span.attributes.get(KIND)).upper() == "LLM":
        sent = span.attributes.get("input.value") if sent is None else sent
        answered = span.attributes.get("output.value") if answered is None else answered
    return Content(tuple(chat.listed(sent)), tuple(chat.listed(answered, role="assistant")))


def _message(parts: Mapping[str, Any], role: str) -> dict[str, Any]:
    """Return the message whose parts stood each in an attribute of its own."""
    calls: dict[int, dict[str, Any]] = {}
    pieces: dict[int, dict[str, Any]] = {}
    for key, value in parts.items():
        if hit := _TOOL_CALL.fullmatch(key):
            calls.setdefault(int(hit[1]), {})[hit[2]] = value
        elif hit := _PART.fullmatch(key):
            pieces.setdefault(int(hit[1]), {})[hit[2]] = value
        elif key in _FUNCTION_CALL:
            calls.setdefault(-1, {})[_FUNCTION_CALL[key]] = value
    content = parts.get("content", parts.get("prompt.text", parts.get("completion.text")))
    if pieces:
        # Where a call of a tool stands in its place among the parts and in the list of calls, it is one call.
        content = [
            pieces[at] for at in sorted(pieces) if not (calls and pieces[at].get("type") == "tool_use")
        ]
    elif content is None:
        content = ""
    elif not isinstance(content, str | list):
        content = chat.compact(content)
    made: dict[str, Any] = {"role": str(parts.get("role") or role), "content": content}
    if isinstance(parts.get("name"), str):
        made["name"] = parts["name"]
    if calls:
        made["tool_calls"] = [calls[at] for at in sorted(calls)]
    return made


def _places(span: Span) -> list[Mapping[str, Any]]:
    return [span.attributes, *(event.attributes for event in span.events)]


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
    if body in (None, "") and "content" not in event.attributes:
        body = chat.parsed(event.attributes.get("gen_ai.event.content"))
    if isinstance(body, dict):
        return body
    if isinstance(body, str) and body:
        return {"content": body}
    made = dict(event.attributes)
    if "tool_calls" in made:
        made["tool_calls"] = chat.parsed(made["tool_calls"])
    return made
