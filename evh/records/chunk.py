"""A transcript log: its chunks, the questions asked of it, and what a controller decided at each chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape
from evh.store.hashing import is_sha256, sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = {"t": "whole", "text": "text", "chunk_sha": "text", "source": "text", "n_tokens": "whole"}
"""The columns of ``chunks.parquet``."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a transcript.

    Attributes:
        t: its place in the log, from 0.
        text: what it says.
        chunk_sha: the sha256 of the text's UTF-8 bytes: what a label keys on.
        source: where it comes from, such as ``meetings/Bed016.json``.
        n_tokens: ceil(bytes / 4): an estimate that is the same everywhere.
    """

    t: int
    text: str
    chunk_sha: str
    source: str = ""
    n_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """A question asked of a log."""

    query_id: str
    question: str

    @property
    def question_sha(self) -> str:
        """The sha256 of the question."""
        return sha256_text(self.question)

    def item_text(self, chunk_text: str) -> str:
        """Return a chunk as an item: its identity is (question, content)."""
        return f"Question: {self.question}\n\n{chunk_text}"


@dataclass(frozen=True, slots=True)
class Update:
    """What a controller decided at one place of a log: whether it updated its memory."""

    chunk_sha: str
    t: int
    update: bool
    raw: str = ""


def tokens(text: str) -> int:
    """Return ceil(UTF-8 bytes / 4)."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def made(t: int, text: str, source: str) -> Chunk:
    """Return the chunk of a text at a place."""
    return Chunk(t, text, sha256_text(text), source, tokens(text))


def parse_chunk(raw: Mapping[str, Any], place: str, reasons: list[str]) -> Chunk:
    """Return the chunk in a row, its ``chunk_sha`` held against the text; faults go to ``reasons``."""
    text, t, sha = raw.get("text"), raw.get("t"), raw.get("chunk_sha")
    if type(text) is str and type(t) is int and t >= 0:
        found = sha256_text(text)
        if sha == found:
            source, n_tokens = raw.get("source"), raw.get("n_tokens")
            return Chunk(
                t,
                text,
                found,
                source if isinstance(source, str) else "",
                n_tokens if isinstance(n_tokens, int) else tokens(text),
            )
        if is_sha256(sha):
            reasons.append(
                f"{place}: t {t}: chunk_sha {str(sha)[:12]}… is not that of its text ({found[:12]}…)"
            )
            return Chunk(t, text, found)
    shape = Shape(raw, place)
    made_of = Chunk(shape.count("t"), shape.text("text", required=True), _sha(shape), shape.text("source"))
    if "t" not in raw:
        shape.problem("t", "is missing")
    reasons += shape.reasons
    return made_of


def dump_chunk(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk's row."""
    return {
        "t": chunk.t,
        "text": chunk.text,
        "chunk_sha": chunk.chunk_sha,
        "source": chunk.source,
        "n_tokens": chunk.n_tokens,
    }


def parse_query(raw: Mapping[str, Any], place: str, reasons: list[str]) -> Query:
    """Return the question in a row; what is wrong goes to ``reasons``."""
    shape = Shape(raw, place)
    found = Query(shape.identifier("query_id"), shape.text("question", required=True))
    if not shape.reasons and not found.question.strip():
        shape.problem("question", "is empty")
    reasons += shape.reasons
    return found


def dump_query(query: Query) -> dict[str, Any]:
    """Return a question's row."""
    return {"query_id": query.query_id, "question": query.question}


def parse_update(raw: Mapping[str, Any], place: str, reasons: list[str]) -> Update:
    """Return a controller's decision; what is wrong goes to ``reasons``."""
    shape = Shape(raw, place)
    if not isinstance(raw.get("update"), bool):
        shape.problem("update", "is missing" if raw.get("update") is None else "is not true or false")
        shape.take("update")
        update = False
    else:
        update = shape.flag("update")
    if "t" not in raw:
        shape.problem("t", "is missing")
    found = Update(_sha(shape), shape.count("t"), update, shape.text("raw"))
    reasons += shape.reasons
    return found


def _sha(shape: Shape) -> str:
    value = shape.text("chunk_sha", required=True)
    if value and not is_sha256(value):
        shape.problem("chunk_sha", f"{value[:80]!r} is not 64 lower-case hex digits")
    return value
