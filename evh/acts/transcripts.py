"""Reading transcripts: chat messages, OpenTelemetry traces, plain text, or chunks that are ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.acts.chunking import Turn
from evh.acts.otlp_messages import conversations
from evh.errors import Refusal
from evh.records import chunk as record
from evh.records.shape import is_character_text
from evh.store import journal, strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evh.records.chunk import Chunk

FORMATS = ("auto", "messages", "otlp", "jsonl", "text")
TURNS = ("messages", "turns", "conversation", "conversations")
SPEAKER = ("role", "speaker", "from", "name", "author")
SAID = ("content", "text", "value", "message", "utterance")
IDS = ("id", "conversation_id", "thread_id", "session_id", "task_id", "meeting", "title")


def format_of(path: Path) -> str:
    """Return the format of a file by what its beginning says.

    Raises:
        Refusal: it cannot be read, or its rows are of no format that evh knows.
    """
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return "text"
    row = next(_rows(path), None)
    if row is None:
        return "jsonl"
    if any(key in row for key in ("resourceSpans", "resource_spans", "resourceLogs", "scopeSpans")):
        return "otlp"
    if any(isinstance(row.get(key), list) for key in TURNS) or _is_turn(row):
        return "messages"
    if isinstance(row.get("text"), str):
        return "jsonl"
    raise Refusal(
        "unknown-format",
        f"{path.name} is of no format that evh knows",
        why=[f"{path.name}: its first row has {', '.join(map(repr, list(row)[:12])) or 'no keys'}"],
        next="rows with a list under messages, a role and content each, a trace, or a text each; or --format",
    )


def turns(path: Path, kind: str, reasons: list[str]) -> Iterator[Turn]:
    """Yield the turns of a file in their order; what cannot be read goes to ``reasons``.

    Args:
        path: the file.
        kind: ``messages``, ``otlp`` or ``text``.
        reasons: a line each.
    """
    if kind == "text":
        text = strict.decode(strict.read_bytes(path), path.name).replace("\r\n", "\n")
        for part in text.split("\n\n"):
            if part.strip():
                yield Turn(part.strip("\n"), path.name)
    elif kind == "otlp":
        for name, said in conversations([*_rows(path)], path.name, reasons):
            yield from _said(said, f"{path.name}#{name}", f"{path.name}: trace {name}", reasons)
    else:
        yield from _messages(path, reasons)


def ready(path: Path, reasons: list[str], start: int) -> Iterator[Chunk]:
    """Yield the chunks of a file whose lines are chunks already, numbered from ``start``."""
    for number, row in enumerate(_rows(path), start=1):
        place = f"{path.name}: line {number}"
        text = row.get("text")
        if not isinstance(text, str):
            reasons.append(f"{place}: no text under 'text'")
        elif not text.strip():
            reasons.append(f"{place}: its text is empty")
        elif not is_character_text(text):
            reasons.append(f"{place}: its text holds a lone surrogate, which is no character")
        else:
            source = row.get("source")
            made = record.made(start, text, source if isinstance(source, str) and source else path.name)
            if row.get("chunk_sha") not in (None, made.chunk_sha):
                reasons.append(f"{place}: chunk_sha is not that of its text")
            yield made
            start += 1


def _messages(path: Path, reasons: list[str]) -> Iterator[Turn]:
    """Yield the turns of conversations, one a row; rows that are turns themselves are one conversation."""
    for number, row in enumerate(_rows(path), start=1):
        place = f"{path.name}: row {number}"
        said = next((row[key] for key in TURNS if isinstance(row.get(key), list)), None)
        if said is not None:
            yield from _said(said, _named(path, row, number), place, reasons)
        elif _is_turn(row):
            yield from _said([row], path.name, place, reasons)
        else:
            known = ", ".join(map(repr, list(row)[:12])) or "no keys"
            reasons.append(f"{place}: neither a list of {', '.join(TURNS)} nor a turn; it has {known}")


def _named(path: Path, row: Mapping[str, Any], number: int) -> str:
    for key in IDS:
        value = row.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            trial = row.get("trial")
            more = f".{trial}" if isinstance(trial, int) else ""
            return f"{path.name}#{str(value)[:100]}{more}"
    return f"{path.name}#{number}"


def _said(said: Sequence[Any], source: str, place: str, reasons: list[str]) -> Iterator[Turn]:
    for at, one in enumerate(said):
        if not isinstance(one, dict):
            reasons.append(f"{place}: turn {at}: is not an object")
            continue
        text = turn_text(one)
        if text is None:
            reasons.append(f"{place}: turn {at}: nothing that is said: it has {', '.join(map(repr, one))}")
        elif not is_character_text(text):
            reasons.append(f"{place}: turn {at}: holds a lone surrogate, which is no character")
        elif text:
            yield Turn(text, source)


def turn_text(turn: Mapping[str, Any]) -> str | None:
    """Return a turn as text: ``speaker: what was said``, and a line a call of a tool.

    None where it has no key that could hold what was said; empty where nothing was.
    """
    who = next((turn[key] for key in SPEAKER if isinstance(turn.get(key), str) and turn[key]), "")
    if who == "tool" and isinstance(turn.get("name"), str):
        who = f"tool {turn['name']}"
    calls = turn.get("tool_calls")
    if not any(key in turn for key in (*SAID, "tool_calls", "parts")):
        return None
    said = next((text for key in (*SAID, "parts") if (text := _content(turn.get(key)))), "")
    lines = [f"{who}: {said}" if who and said else said] if said else []
    for call in calls if isinstance(calls, list) else []:
        told = _call(call)
        if told:
            lines.append(f"{who} calls {told}" if who else f"calls {told}")
    return "\n".join(lines)


def _content(value: object) -> str:
    """Return the text of a content: a text, or parts of which those with a text count."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return _content(next((value[key] for key in SAID if value.get(key)), None))
    if not isinstance(value, list):
        return ""
    parts = []
    for part in value:
        if isinstance(part, dict) and part.get("type") in ("tool_call", "tool_use", "function"):
            parts.append(f"calls {_call(part)}")
        elif isinstance(part, dict) and "response" in part:
            parts.append(_plain(part["response"]))
        else:
            parts.append(_content(part))
    return "\n".join(part for part in parts if part)


def _call(call: object) -> str:
    if not isinstance(call, dict):
        return ""
    inner = call.get("function")
    found = inner if isinstance(inner, dict) else call
    name = found.get("name")
    given = found.get("arguments", found.get("input"))
    return f"{name}({_plain(given)})" if isinstance(name, str) else ""


def _plain(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else strict.compact(value)


def _is_turn(row: Mapping[str, Any]) -> bool:
    who = any(isinstance(row.get(key), str) for key in ("role", "speaker", "from"))
    return who and turn_text(row) is not None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file: one a line, an array of them, or one whole."""
    line = next((line for _, line in _lines(path)), None)
    if line is None:
        return
    whole = line.lstrip(b"\xef\xbb\xbf \t")
    if whole[:1] == b"[" or (whole[:1] == b"{" and not _is_object(line)):
        value = strict.parse_json(strict.read_bytes(path), path.name)
        for at, row in enumerate(value if isinstance(value, list) else [value], start=1):
            if not isinstance(row, dict):
                raise Refusal(
                    "bad-json",
                    f"{path.name} holds rows that are not JSON objects",
                    why=[f"{path.name}: row {at}"],
                )
            yield row
        return
    for at, data in _lines(path):
        yield strict.parse_object(data, f"{path.name}: line {at}")


def _is_object(line: bytes) -> bool:
    import json

    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their numbers; the last one needs no LF."""
    for number, line in enumerate(journal.stream(path, whole=False), start=1):
        if line.strip():
            yield number, line
