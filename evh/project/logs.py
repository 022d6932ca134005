"""The shelf of transcript logs: ``data/logs/<project>/``, its chunks, questions and recorded decisions.

Chunks are streamed: a log may be larger than memory. Each ``chunk_sha`` is held against its text on reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.errors import SHOWN, Refusal
from evh.project.shelf import check_new, folders, missing
from evh.records import chunk as record
from evh.records.chunk import Chunk, Query, Update
from evh.store import atomic, journal, parquet, strict
from evh.store.locks import held
from evh.store.names import check_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from evh.project.find import Project

CHUNKS = "chunks.jsonl"
LARGE = "chunks.parquet"
QUERIES = "queries.jsonl"
UPDATES = "updates"
_MEND = "restore it (git checkout), or import it again: evh log-import FILE --project {} --replace"
_GROUP_BYTES = 2 << 20
_GROUP_ROWS = 5_000


def path_of(project: Project, name: str) -> Path:
    """Return the folder of a log."""
    return project.data / "logs" / check_id(name, "log")


def names(project: Project) -> list[str]:
    """Return the names of the logs, sorted."""
    return [path.name for path in folders(project.data / "logs") if chunks_path(project, path.name)]


def forms(project: Project, name: str) -> list[Path]:
    """Return the files that hold a log's chunks: one; none where there is no log; two after a cut import."""
    folder = path_of(project, name)
    return [path for path in (folder / CHUNKS, folder / LARGE) if path.exists()]


def chunks_path(project: Project, name: str) -> Path | None:
    """Return the file of a log's chunks, or None: there is none.

    Raises:
        Refusal: there are both forms, or a link leads out of the project.
    """
    folder, found = path_of(project, name), forms(project, name)
    if len(found) > 1:
        raise Refusal(
            "two-forms",
            f"{project.show(folder)} has its chunks twice",
            why=[f"{project.show(path)}: one of two forms" for path in found],
            next=f"import the transcripts again: evh log-import … --project {name} --replace",
        )
    for path in found:
        if not project.inside(path):
            raise Refusal("outside", f"{project.show(path)} leads out of the project", why=["not followed"])
        return path
    return None


def check(project: Project, name: str) -> Path:
    """Return the file of a log's chunks, or refuse a log that is not there."""
    path = chunks_path(project, name)
    if path is None:
        raise missing("log", name, names(project), next=f"evh log-import FILE --project {name}")
    return path


def chunks(project: Project, name: str) -> Iterator[Chunk]:
    """Yield a log's chunks in their order, each checked against its ``chunk_sha``.

    Raises:
        Refusal: no such log; one that was cut off or holds nothing; a row that is no chunk or whose
            ``chunk_sha`` is not that of its text; the first reasons, as they are met.
    """
    path = check(project, name)
    place = project.show(path)
    cut = journal.torn(path) if path.name == CHUNKS else 0
    if cut:
        raise Refusal(
            "cut-log",
            f"the log {name!r} is cut off",
            why=[f"{place}: its last line has no end ({cut:,} bytes): what stood behind it is lost"],
            next=_MEND.format(name),
        )
    reasons: list[str] = []
    seen = _Seen()
    number = 0
    for number, raw in enumerate(_rows(path, place), start=1):
        found = record.parse_chunk(raw, f"{place}: row {number}", reasons)
        if raw.get("t") == found.t and seen.again(found.t):  # a row without a place has none twice
            reasons.append(f"{place}: row {number}: t {found.t} stands twice")
        if len(reasons) >= SHOWN:
            break
        if not reasons:
            yield found
    if not number:
        raise Refusal(
            "cut-log",
            f"the log {name!r} holds no chunk",
            why=[f"{place}: it is empty, and no import writes it so"],
            next=_MEND.format(name),
        )
    if reasons:
        raise Refusal(
            "bad-chunks",
            f"the log {name!r} holds rows that are not what they say",
            why=reasons,
            next=_MEND.format(name),
        )


class _Seen:
    """The places met so far, a bit each: a log may be long."""

    _MOST = 1 << 26

    def __init__(self) -> None:
        self._bits = bytearray()
        self._far: set[int] = set()

    def again(self, t: int) -> bool:
        """Tell whether a place was met before; from now on it was."""
        if t >= self._MOST:
            met = t in self._far
            self._far.add(t)
            return met
        at, bit = divmod(t, 8)
        if at >= len(self._bits):
            self._bits.extend(bytes(at + 1 - len(self._bits)))
        met = bool(self._bits[at] >> bit & 1)
        self._bits[at] |= 1 << bit
        return met


def _rows(path: Path, place: str) -> Iterator[dict[str, Any]]:
    if path.name == LARGE:
        yield from parquet.stream_rows(path, record.COLUMNS, place=place)
        return
    for number, line in enumerate(journal.stream(path), start=1):
        if line.strip():
            yield strict.parse_object(line, f"{place}: line {number}")


def write_chunks(project: Project, name: str, made: Iterable[Chunk], n: int) -> Path:
    """Write a log's chunks whole, in place of what is there; over 5,000 as Parquet.

    Args:
        project: the project.
        name: the log.
        made: its chunks in order.
        n: how many they are.
    """
    folder = project.writable(path_of(project, name))
    if not folder.exists():
        check_new(folder, "log")
    large = n > parquet.ROWS_AS_TEXT
    path, other = (folder / LARGE, folder / CHUNKS) if large else (folder / CHUNKS, folder / LARGE)
    rows = (record.dump_chunk(chunk) for chunk in made)
    with held(project.locks, folder / CHUNKS):
        if large:
            atomic.write_parts(path, parquet.dump_stream(_groups(rows), record.COLUMNS))
        else:
            atomic.write_parts(path, map(strict.dump_line, rows))
        if other.exists():  # a kill before this leaves both forms: the same import again ends it
            atomic.remove(other)
    return path


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row["text"])
        if size >= _GROUP_BYTES or len(group) >= _GROUP_ROWS:
            yield group
            group, size = [], 0
    if group:
        yield group


# --- questions


def queries(project: Project, name: str) -> list[Query]:
    """Return the questions asked of a log, in the order in which they came.

    Raises:
        Refusal: no such log; rows that are no questions; two rows of one query.
    """
    check(project, name)
    path = path_of(project, name) / QUERIES
    place = project.show(path)
    reasons: list[str] = []
    found = [
        record.parse_query(row, f"{place}: line {number}", reasons)
        for number, row in enumerate(journal.read(path).rows, start=1)
    ]
    ids = [one.query_id for one in found]
    reasons += [
        f"{place}: the query {one!r} stands twice" for one in dict.fromkeys(ids) if ids.count(one) > 1
    ]
    if reasons:
        raise Refusal(
            "bad-queries", f"{place} holds rows that are no questions", why=reasons, next=f"mend {place}"
        )
    return found


def query(project: Project, name: str, query_id: str) -> Query:
    """Return one question of a log."""
    found = {one.query_id: one for one in queries(project, name)}
    if query_id not in found:
        told = missing(
            "query",
            query_id,
            found,
            next=f'evh query-add --project {name} --query {query_id} --question "…"',
        )
        path = path_of(project, name) / QUERIES
        if journal.torn(path):
            lost = f"{project.show(path)}: a torn last line is left out: a question may have stood there"
            told = Refusal(told.code, told.what, why=[*told.why, lost], next=told.next)
        raise told
    return found[query_id]


def add_queries(project: Project, name: str, made: Sequence[Query]) -> bytes | None:
    """Append questions, all or none; return the torn last line that was dropped, if there was one."""
    path = project.writable(path_of(project, name) / QUERIES)
    return journal.append(path, [record.dump_query(one) for one in made], locks=project.locks)


# --- what a controller decided


def updates_path(project: Project, name: str, query_id: str) -> Path:
    """Return where a controller's decisions for a question lie."""
    return path_of(project, name) / UPDATES / f"{check_id(query_id, 'query')}.jsonl"


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a controller decided about a question.

    Attributes:
        last: its decisions in their order, the last one of each place.
        n_again: earlier ones about a place that was decided again: they do not count.
        torn: bytes of a last line that a crash cut; it does not count.
    """

    last: tuple[Update, ...] = ()
    n_again: int = 0
    torn: int = 0


def updates(project: Project, name: str, query_id: str) -> Decisions:
    """Return a controller's decisions for a question; the last one of a place counts.

    Raises:
        Refusal: rows that are no decisions.
    """
    path = updates_path(project, name, query_id)
    if path.exists() and not project.inside(path):
        raise Refusal("outside", f"{project.show(path)} leads out of the project", why=["not followed"])
    place = project.show(path)
    reasons: list[str] = []
    found: dict[int, Update] = {}
    n = 0
    for number, line in enumerate(journal.stream(path), start=1):
        if not line.strip():
            continue
        n += 1
        one = record.parse_update(
            strict.parse_object(line, f"{place}: line {number}"), f"{place}: line {number}", reasons
        )
        found[one.t] = one
    if reasons:
        raise Refusal(
            "bad-updates", f"{place} holds rows that are no decisions", why=reasons, next=f"mend {place}"
        )
    return Decisions(tuple(found.values()), n - len(found), journal.torn(path))
