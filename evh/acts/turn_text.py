"""A turn of a transcript as the text of a log: who spoke, what was said, a line a call of a tool.

What has the wrong type is a problem, never passed over; what is no text (a picture, a thought) is counted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools.chat import MEDIA, REASONING
from evh.store import strict

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

SILENT = "turn in which nothing is said"
ROLES = ("role", "speaker", "from")
SPEAKER = (*ROLES, "name", "author")
SAID = ("content", "text", "value", "message", "utterance")
CALLS = ("tool_calls", "function_call")
_DEEPEST = 8
_CALL_KINDS = frozenset({"tool_call", "tool_use", "function", "function_call"})
_REASON_KINDS = frozenset({"reasoning", "thinking", "redacted_thinking"})
_MEDIA_KINDS = re.compile(r"(?:input_)?(?:image|audio|video|file|blob|uri|media)(?:_url|_file)?")
_NAMES = {
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def is_turn(row: Mapping[str, Any]) -> bool:
    """Tell whether a row names who spoke and has a key that could hold what was said."""
    return any(isinstance(row.get(key), str) for key in ROLES) and says(row)


def says(turn: Mapping[str, Any]) -> bool:
    """Tell whether a turn has a key that could hold what was said."""
    return any(key in turn for key in (*SAID, *CALLS, "parts"))


def turn_text(turn: Mapping[str, Any], dropped: Counter[str], problems: list[str]) -> str:
    """Return a turn as text: ``speaker: what was said``, a line a call of a tool; empty: nothing was said.

    Args:
        turn: as it was recorded.
        dropped: where what is no text is counted by its kind.
        problems: gets what cannot be read, by its key.
    """
    reader = _Reader(dropped, problems)
    for key in ROLES:
        if turn.get(key) is not None and not isinstance(turn[key], str):
            reader.wrong(key, turn[key], "a text")
    who = next((turn[key] for key in SPEAKER if isinstance(turn.get(key), str) and turn[key]), "")
    if who == "tool" and isinstance(turn.get("name"), str):
        who = f"tool {turn['name']}"
    said = next((text for key in (*SAID, "parts") if (text := reader.content(turn.get(key), key))), "")
    lines = [f"{who}: {said}" if who and said else said] if said else []
    calls = reader.calls(turn.get("tool_calls"))
    if turn.get("function_call") is not None:
        calls.append(reader.call(turn["function_call"], "function_call"))
    lines += [f"{who} calls {told}" if who else f"calls {told}" for told in calls if told]
    if not lines and not problems:
        dropped[SILENT] += 1
    return "\n".join(lines)


class _Reader:
    """Reads the parts of one turn."""

    def __init__(self, dropped: Counter[str], problems: list[str]) -> None:
        self._dropped, self._problems = dropped, problems

    def wrong(self, where: str, value: object, wanted: str) -> str:
        """Note a value of the wrong type; return what it says: nothing."""
        self._problems.append(f"{where}: it is {_NAMES.get(type(value), 'null')}, not {wanted}")
        return ""

    def content(self, value: object, where: str, depth: int = 0) -> str:
        """Return the text of a content: a text, or parts of which those with a text count."""
        if value is None:
            return ""
        if isinstance(value, str):
            return value.strip()
        if depth > _DEEPEST:
            self._problems.append(f"{where}: it is nested too deeply")
            return ""
        if isinstance(value, dict):
            return self._part(value, where, depth)
        if not isinstance(value, list):
            return self.wrong(where, value, "a text or a list of parts")
        parts = [self._piece(part, f"{where}[{at}]", depth) for at, part in enumerate(value)]
        return "\n".join(part for part in parts if part)

    def _piece(self, part: object, where: str, depth: int) -> str:
        if isinstance(part, str):
            return part.strip()
        return self._part(part, where, depth) if isinstance(part, dict) else self.wrong(where, part, "a part")

    def _part(self, part: Mapping[str, Any], where: str, depth: int) -> str:
        kind = part.get("type")
        if kind is not None and not isinstance(kind, str):
            return self.wrong(f"{where}.type", kind, "a text")
        if kind in _CALL_KINDS:
            told = self.call(part, where)
            return f"calls {told}" if told else ""
        if "response" in part:
            return _plain(part["response"])
        if kind is not None and _MEDIA_KINDS.fullmatch(kind):
            self._dropped[MEDIA] += 1
            return ""
        key = next((key for key in SAID if part.get(key) is not None), None)
        if key is not None:
            return self.content(part[key], f"{where}.{key}", depth + 1)
        if kind in _REASON_KINDS:
            self._dropped[REASONING] += 1
        elif kind is None or "text" in kind:
            known = ", ".join(map(repr, list(part)[:12])) or "nothing"
            self._problems.append(f"{where}: no text in it: it has {known}")
        else:
            self._dropped[MEDIA] += 1
        return ""

    def calls(self, value: object) -> list[str]:
        """Return a list of calls as texts."""
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong("tool_calls", value, "a list of calls")
            return []
        return [self.call(one, f"tool_calls[{at}]") for at, one in enumerate(value)]

    def call(self, call: object, where: str) -> str:
        """Return a call of a tool as text: its name and what it was given; empty where it is none."""
        if not isinstance(call, dict):
            return self.wrong(where, call, "a call of a tool")
        inner = call.get("function", call)
        if not isinstance(inner, dict):
            return self.wrong(f"{where}.function", inner, "an object")
        name = inner.get("name")
        if not isinstance(name, str) or not name:
            self._problems.append(f"{where}: a call of a tool without a name")
            return ""
        return f"{name}({_plain(inner.get('arguments', inner.get('input')))})"


def _plain(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else strict.compact(value)
