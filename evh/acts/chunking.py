"""Packing the turns of transcripts into chunks: the same turns give the same chunks, anywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.records import chunk as record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evh.records.chunk import Chunk

CHUNK_TOKENS = 5_000
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|\n+")  # noqa: RUF001 - full stops of other scripts


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a transcript as text, with who spoke in it; ``source`` names the transcript."""

    text: str
    source: str


def pack(turns: Iterable[Turn], limit: int = CHUNK_TOKENS) -> Iterator[Chunk]:
    """Yield chunks of whole turns, in order, up to a size; turns of two transcripts never share one.

    A longer turn is split at paragraphs, then sentences, then between characters, and its pieces are packed
    as turns are.

    Args:
        turns: in order.
        limit: tokens of a chunk, ceil(bytes / 4).
    """
    most = limit * 4
    t = 0
    held: list[str] = []
    size = 0
    source = ""
    for turn in turns:
        pieces = [turn.text] if _size(turn.text) <= most else split(turn.text, most)
        for piece in pieces:
            length = _size(piece)
            if held and (turn.source != source or size + 1 + length > most):
                yield record.made(t, "\n".join(held), source)
                t, held, size = t + 1, [], 0
            source = turn.source
            size += length + (1 if held else 0)
            held.append(piece)
    if held:
        yield record.made(t, "\n".join(held), source)


def by_turn(turns: Iterable[Turn]) -> Iterator[Chunk]:
    """Yield a chunk a turn."""
    for t, turn in enumerate(turns):
        yield record.made(t, turn.text, turn.source)


def split(text: str, most: int) -> list[str]:
    """Return a text in pieces of at most ``most`` bytes, cut at the coarsest place that does.

    White space at a cut is dropped; everything else is kept, in order.
    """
    pieces = _packed(_PARAGRAPH, text, most, "\n\n")
    pieces = [
        part
        for one in pieces
        for part in ([one] if _size(one) <= most else _packed(_SENTENCE, one, most, " "))
    ]
    return [part for one in pieces for part in ([one] if _size(one) <= most else _hard(one, most))]


def _packed(mark: re.Pattern[str], text: str, most: int, joint: str) -> list[str]:
    """Return the parts of a text between marks, neighbours joined again as long as they fit."""
    made: list[str] = []
    for part in _parts(mark, text):
        if made and _size(made[-1]) + len(joint) + _size(part) <= most:
            made[-1] += joint + part
        else:
            made.append(part)
    return made


def _parts(mark: re.Pattern[str], text: str) -> list[str]:
    made = []
    start = 0
    for found in mark.finditer(text):
        made.append(text[start : found.start()] + found.group().rstrip())
        start = found.end()
    made.append(text[start:])
    return [part for part in (one.strip() for one in made) if part]


def _hard(text: str, most: int) -> list[str]:
    """Cut between characters, at a blank where the last tenth of a piece has one."""
    made = []
    at = 0
    while at < len(text):
        end = _end(text, at, most)
        if end < len(text):
            blank = text.rfind(" ", at + (end - at) * 9 // 10, end)
            end = blank if blank > at else end
        piece = text[at:end].strip()
        if piece:
            made.append(piece)
        at = end
    return made


def _end(text: str, start: int, most: int) -> int:
    """Return the end of the longest piece from ``start`` of at most ``most`` bytes, one sign or more."""
    end = min(len(text), start + most)
    data = text[start:end].encode("utf-8", "surrogatepass")
    if len(data) > most:
        kept = data[:most]
        while kept and data[len(kept)] & 0xC0 == 0x80:  # in the middle of a character
            kept = kept[:-1]
        end = start + max(1, len(kept.decode("utf-8", "surrogatepass")))
    return end


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
