"""Transcripts → a log: ``data/logs/<project>/chunks.jsonl``. The same input gives the same chunks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import chunking, otlp, transcripts
from evh.errors import SHOWN, Refusal
from evh.project import logs
from evh.project.shelf import read_each
from evh.store.hashing import sha256_lines
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evh.acts.chunking import Turn
    from evh.project.find import Project
    from evh.records.chunk import Chunk

MOST_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What `commit` would write.

    Attributes:
        log: the log's name.
        files: what is read, each with its format.
        chunk_tokens: the size of a chunk.
        by_turn: a chunk a turn.
        n_chunks: how many there are; ``n_distinct`` by their content.
        n_turns: turns that were packed; None where the files held chunks.
        n_tokens: of all chunks together.
        chunks_sha256: of the (t, chunk_sha) of all chunks.
        unchanged: the log holds these chunks already.
        n_before: chunks that the log has now, None: it is new.
        dropped: of each file what was left out of its traces and how much: why → count.
        warnings: what a person should know, a sentence each.
    """

    log: str
    files: tuple[tuple[Path, str], ...]
    chunk_tokens: int
    by_turn: bool
    n_chunks: int
    n_distinct: int
    n_turns: int | None
    n_tokens: int
    chunks_sha256: str
    unchanged: bool
    n_before: int | None
    dropped: tuple[Mapping[str, int], ...]
    warnings: tuple[str, ...]


def plan(
    project: Project,
    log: str,
    files: Sequence[Path],
    *,
    format: str = "auto",  # noqa: A002 - as its option is named
    chunk_tokens: int = chunking.CHUNK_TOKENS,
    by_turn: bool = False,
    replace: bool = False,
) -> Plan:
    """Return the chunks that files become, in the order in which the files are named.

    Args:
        project: the project.
        log: the log's name.
        files: transcripts, anywhere on this machine.
        format: one of `transcripts.FORMATS`; ``auto`` looks at each file's beginning.
        chunk_tokens: the size of a chunk, ceil(bytes / 4).
        by_turn: a chunk a turn, whatever its size.
        replace: let other chunks take the place of those that the log has. Labels stay with their texts.

    Raises:
        Refusal: files that cannot be read, rows that are no turns, formats that do not go together, nothing
            said, or a log that holds other chunks; all reasons at once.
    """
    logs.path_of(project, log)
    if not 1 <= chunk_tokens <= MOST_TOKENS:
        raise Refusal(
            "bad-options",
            "that is no size of a chunk",
            why=[f"--chunk-tokens {chunk_tokens}: from 1 to {MOST_TOKENS:,}"],
            next=f"--chunk-tokens {chunking.CHUNK_TOKENS}",
        )
    named = tuple((path, transcripts.format_of(path) if format == "auto" else format) for path in files)
    ready = [path.name for path, kind in named if kind == "jsonl"]
    if ready and (len(ready) < len(named) or by_turn):
        raise Refusal(
            "bad-options",
            "ready chunks go with nothing else",
            why=[f"{name}: its lines are chunks already" for name in ready],
            next="import them alone, without --by",
        )
    reasons: list[str] = []
    counted = _Counted(len(named))
    shas = [
        f"{chunk.t}\t{chunk.chunk_sha}"
        for chunk in counted.over(_chunks(named, chunk_tokens, counted, reasons, by_turn=by_turn))
    ]
    if reasons:
        raise Refusal(
            "bad-transcripts",
            "there are transcripts that cannot be read",
            why=[*reasons, *([f"(the first {SHOWN} are told)"] if len(reasons) >= SHOWN else [])],
            next="mend them, or name their --format",
        )
    if not shas:
        raise Refusal(
            "nothing-said",
            "the transcripts hold no turn",
            why=[f"{path.name}: nothing is said in it" for path, _ in named],
            next="name files that hold transcripts",
        )
    digest = sha256_lines(shas)
    cut = replace and len(logs.forms(project, log)) > 1  # an import was killed at its end: this one ends it
    there = None if cut else logs.chunks_path(project, log)
    broken: list[Refusal] = []
    held = read_each([log] if there else [], lambda name: _known(project, name), broken if replace else None)
    before = held[0] if held else None
    unchanged = before is not None and sha256_lines(before) == digest
    if before is not None and not unchanged and not replace:
        raise Refusal(
            "existing-log",
            f"there is a log {log!r} already, and it holds other chunks",
            why=[f"logs/{log}: {plural(len(before), 'chunk')} there, {plural(len(shas), 'chunk')} here"],
            next="choose another --project, or --replace: labels stay with their texts",
        )
    return Plan(
        log,
        named,
        chunk_tokens,
        by_turn,
        len(shas),
        counted.distinct,
        None if ready else counted.turns,
        counted.tokens,
        digest,
        unchanged,
        None if before is None else len(before),
        tuple(dict(sorted(one.items())) for one in counted.dropped),
        (
            *(
                f"{path.name}: not taken: {otlp.counted(left)}"
                for (path, _), left in zip(named, counted.dropped, strict=True)
                if left
            ),
            *(f"{one.what}: what is imported takes its place" for one in broken),
            *counted.warnings(),
        ),
    )


def _known(project: Project, log: str) -> list[str]:
    return [f"{one.t}\t{one.chunk_sha}" for one in logs.chunks(project, log)]


def commit(project: Project, plan: Plan) -> None:
    """Write the log's chunks; where they are the same, not a byte changes."""
    if plan.unchanged:
        return
    counted = _Counted(len(plan.files))
    made = _chunks(plan.files, plan.chunk_tokens, counted, [], by_turn=plan.by_turn)
    logs.write_chunks(project, plan.log, made, plan.n_chunks)


class _Counted:
    """Counts what passes, and what each of the files holds that is not taken."""

    def __init__(self, n_files: int) -> None:
        self.turns = self.tokens = self.n = 0
        self.dropped: list[Counter[str]] = [Counter() for _ in range(n_files)]
        self._shas: set[bytes] = set()

    @property
    def distinct(self) -> int:
        return len(self._shas)

    def over(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self.n += 1
            self.tokens += chunk.n_tokens
            self._shas.add(bytes.fromhex(chunk.chunk_sha))
            yield chunk

    def turn(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        for one in turns:
            self.turns += 1
            yield one

    def warnings(self) -> tuple[str, ...]:
        same = self.n - len(self._shas)
        if not same:
            return ()
        return (
            f"{plural(same, 'chunk')} with the text of another one: equal texts are one call and one label",
        )


def _chunks(
    named: Sequence[tuple[Path, str]],
    limit: int,
    counted: _Counted,
    reasons: list[str],
    *,
    by_turn: bool,
) -> Iterator[Chunk]:
    if named[0][1] == "jsonl":
        start = 0
        for path, _ in named:
            for chunk in transcripts.ready(path, reasons, start):
                yield chunk
                start = chunk.t + 1
                if len(reasons) >= SHOWN:
                    return
        return
    turns = counted.turn(_turns(named, counted, reasons))
    yield from chunking.by_turn(turns) if by_turn else chunking.pack(turns, limit)


def _turns(named: Sequence[tuple[Path, str]], counted: _Counted, reasons: list[str]) -> Iterator[Turn]:
    for (path, kind), dropped in zip(named, counted.dropped, strict=True):
        for turn in transcripts.turns(path, kind, reasons, dropped):
            yield turn
            if len(reasons) >= SHOWN:
                return
