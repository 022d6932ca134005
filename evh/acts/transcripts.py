"""Reading transcripts: chat messages, OpenTelemetry traces, plain text, or chunks that are ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.acts import log_otlp, otlp, turn_text
from evh.acts.chunking import Turn
from evh.errors import Refusal
from evh.records import chunk as record
from evh.records.shape import is_character_text
from evh.store import journal, strict

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evh.records.chunk import Chunk

FORMATS = ("auto", "messages", "otlp", "jsonl", "text")
TURNS = ("messages", "turns", "conversation", "conversations")
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
    if row.keys() & otlp.REQUESTS:
        return "otlp"
    if any(isinstance(row.get(key), list) for key in TURNS) or turn_text.is_turn(row):
        return "messages"
    if isinstance(row.get("text"), str):
        return "jsonl"
    raise Refusal(
        "unknown-format",
        f"{path.name} is of no format that evh knows",
        why=[f"{path.name}: its first row has {', '.join(map(repr, list(row)[:12])) or 'no keys'}"],
        next="rows with a list under messages, a role and content each, a trace, or a text each; or --format",
    )


def turns(path: Path, kind: str, reasons: list[str], dropped: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of a file in their order; what cannot be read goes to ``reasons``.

    Args:
        path: the file.
        kind: ``messages``, ``otlp`` or ``text``.
        reasons: a line each.
        dropped: where what is no turn, or no text of one, is counted by its kind.
    """
    if kind == "text":
        text = strict.decode(strict.read_bytes(path), path.name).replace("\r\n", "\n")
        for part in text.split("\n\n"):
            if part.strip():
                yield Turn(part.strip("\n"), path.name)
    elif kind == "otlp":
        for one in log_otlp.conversations(path, dropped, reasons):
            place = f"{path.name}: trace {one.trace}"
            yield from _said(one.messages, f"{path.name}#{one.trace}", place, reasons, dropped)
    else:
        yield from _messages(path, reasons, dropped)


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


def _messages(path: Path, reasons: list[str], dropped: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of conversations, one a row; rows that are turns themselves are one conversation."""
    for number, row in enumerate(_rows(path), start=1):
        place = f"{path.name}: row {number}"
        said = next((row[key] for key in TURNS if isinstance(row.get(key), list)), None)
        if said is not None:
            yield from _said(said, _named(path, row, number), place, reasons, dropped)
        elif turn_text.is_turn(row):
            yield from _said([row], path.name, place, reasons, dropped)
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


def _said(
    said: Sequence[Any], source: str, place: str, reasons: list[str], dropped: Counter[str]
) -> Iterator[Turn]:
    for at, one in enumerate(said):
        if not isinstance(one, dict):
            reasons.append(f"{place}: turn {at}: is not an object")
            continue
        if not turn_text.says(one):
            reasons.append(f"{place}: turn {at}: nothing that is said: it has {', '.join(map(repr, one))}")
            continue
        problems: list[str] = []
        text = turn_text.turn_text(one, dropped, problems)
        reasons += [f"{place}: turn {at}: {problem}" for problem in problems]
        if problems:
            continue
        if not is_character_text(text):
            reasons.append(f"{place}: turn {at}: holds a lone surrogate, which is no character")
        elif text:
            yield Turn(text, source)


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
