"""Chat messages, in the several forms that traces hold them, as an item's text and an output's.

The item is what was asked: of one user message its text, of a longer conversation each message under its
role. What the system was told is not part of it: it is the prompt, known by its hash.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evh.store.hashing import sha256_text

SYSTEM = frozenset({"system", "developer"})
MEDIA = "part of a message that is no text"
REASONING = "reasoning part"
_TEXTS = frozenset({"text", "input_text", "output_text"})
_REASONS = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_call", "function_call", "tool_use"})
_RESPONSES = frozenset({"tool_call_response", "tool_result"})
_KNOWN = _REASONS | _CALLS | _RESPONSES


@dataclass(frozen=True, slots=True)
class Message:
    """One message: who spoke, the text, and the calls of tools that it asks for."""

    role: str
    text: str
    calls: tuple[Mapping[str, Any], ...] = ()


def messages(value: object, dropped: Counter[str], *, role: str = "user") -> list[Message]:
    """Return the messages of a value: those that `listed` finds in it, as `message` reads them."""
    return [message(one, dropped) for one in listed(value, role=role)]


def listed(value: object, *, role: str = "user") -> list[dict[str, Any]]:
    """Return the messages of a value as they were recorded, each an object with a role.

    Args:
        value: a list, ``{messages: […]}``, one message, a text, or JSON of any. What holds none gives none.
        role: of a message without one.
    """
    value = parsed(value)
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, dict):
        inner = value.get("messages")
        if isinstance(inner, list):
            return listed(inner, role=role)
        value = [value]
    if isinstance(value, list) and all(isinstance(one, dict) and _is_message(one) for one in value):
        return [{**one, "role": str(one.get("role") or role)} for one in value]
    return []


def message(value: Mapping[str, Any], dropped: Counter[str]) -> Message:
    """Return a message as `listed` gives it, read: parts that are no text are counted in ``dropped``."""
    texts: list[str] = []
    calls = [_call(one) for one in _list(value.get("tool_calls")) if isinstance(one, dict)]
    for part in _parts(value):
        _part(part, texts, calls, dropped)
    return Message(value["role"], "\n".join(texts), tuple(calls))


def without_media(value: Mapping[str, Any], dropped: Counter[str]) -> dict[str, Any]:
    """Return a message without the parts that hold pictures, sounds and files; they are counted."""
    made = dict(value)
    for key in ("parts", "content"):
        if isinstance(value.get(key), list):
            made[key] = [part for part in value[key] if not _is_media(part)]
            if len(made[key]) < len(value[key]):
                dropped[MEDIA] += len(value[key]) - len(made[key])
    return made


def parsed(value: object) -> object:
    """Return the value that a text of JSON holds, where it is an object or a list; else the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return found if isinstance(found, dict | list) else value
    return value


def asked(found: Sequence[Message]) -> str | None:
    """Return the text that was asked: the item. None where nothing was."""
    kept = [one for one in found if one.role not in SYSTEM]
    if len(kept) == 1 and kept[0].role == "user" and not kept[0].calls:
        return kept[0].text or None
    return "\n\n".join(f"{one.role}: {said(one)}" for one in kept) or None


def said(message: Message) -> str:
    """Return what a message says: its text, then the calls of tools as JSON."""
    calls = compact({"tool_calls": [dict(call) for call in message.calls]}) if message.calls else ""
    return "\n".join(part for part in (message.text, calls) if part)


def system_sha256(found: Iterable[Message]) -> str | None:
    """Return the sha256 of what the system was told, or None: it was told nothing."""
    texts = [one.text for one in found if one.role in SYSTEM and one.text]
    return sha256_text("\n\n".join(texts)) if texts else None


def compact(value: object) -> str:
    """Return a JSON value as compact text, keys sorted."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str)


def _is_message(value: Mapping[str, Any]) -> bool:
    return "content" in value or "parts" in value or ("role" in value and "tool_calls" in value)


def _parts(value: Mapping[str, Any]) -> list[Any]:
    content = value["parts"] if isinstance(value.get("parts"), list) else value.get("content")
    return content if isinstance(content, list) else [content]


def _part(part: object, texts: list[str], calls: list[Mapping[str, Any]], dropped: Counter[str]) -> None:
    if part is None:
        return
    if not isinstance(part, dict):
        texts.append(part if isinstance(part, str) else compact(part))
        return
    kind = _kind(part)
    if _is_media(part):
        dropped[MEDIA] += 1
    elif kind in _REASONS:
        dropped[REASONING] += 1
    elif kind in _CALLS:
        calls.append(_call(part))
    elif kind in _RESPONSES:
        answer = part.get("response", part.get("result", part.get("content")))
        texts.append(answer if isinstance(answer, str) else compact(answer))
    else:
        texts.append(str(part.get("content", part.get("text"))))


def _is_media(part: object) -> bool:
    if not isinstance(part, dict):
        return False
    if _kind(part) in _TEXTS:
        return not isinstance(part.get("content", part.get("text")), str)
    return _kind(part) not in _KNOWN


def _kind(part: Mapping[str, Any]) -> str:
    return str(part.get("type") or "text")


def _call(value: Mapping[str, Any]) -> Mapping[str, Any]:
    function = value.get("function")
    named = function if isinstance(function, dict) else value
    arguments = named.get("arguments", named.get("input"))
    return {"name": named.get("name"), "arguments": parsed(arguments)}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
