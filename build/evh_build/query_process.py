"""A user's SELECT in a process of its own, which the kernel ends when it takes too long or too much memory.

DuckDB looks at its own limits only between the pieces of its work: one call of one function can run for
hours, or ask for more memory than there is. A process can always be ended, and nothing is lost with it.
"""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evh.project.find import Project
    from evh_build.gather import Problem
    from evh_build.query import Column

SECONDS = 30.0
MOST_SECONDS = 3_600.0
ROOM = 3 * 2**30
"""Bytes of address space that a query may take beside what the tables take: DuckDB's memory and the answer."""
_CHILD = "import sys; sys.path[:] = sys.argv[2:]; from evh_build.query_process import serve; serve(sys.argv[1])"


@dataclass(frozen=True, slots=True)
class Question:
    """What the process is asked. The answer comes as rows, or as the bytes of one Parquet file."""

    project: Project
    sql: str
    seconds: float
    parquet: bool


@dataclass(frozen=True, slots=True)
class Head:
    """The first thing that an answer says: its columns, how many rows follow, and what could not be read."""

    columns: tuple[Column, ...]
    n_rows: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer on its way: ``rows`` come one by one and are not kept. ``file`` gives the Parquet bytes."""

    head: Head
    rows: Iterator[tuple[Any, ...]]
    file: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class _Refused:
    code: str
    what: str
    why: tuple[str, ...]
    next: str | None


@contextmanager
def ask(project: Project, sql: str, *, seconds: float = SECONDS, parquet: bool = False) -> Iterator[Reply]:
    """Give the answer to one SELECT; the process that makes it ends with the block.

    Args:
        project: the project.
        sql: the query.
        seconds: after so long it is ended; the reading of the records is not counted.
        parquet: whether a Parquet file is wanted, not rows.

    Raises:
        Refusal: the query is not exactly one SELECT, does not run, or takes longer or more memory.
    """
    if not (math.isfinite(seconds) and 0 < seconds <= MOST_SECONDS):
        raise Refusal(
            "bad-options",
            f"a query cannot have {seconds:g} seconds",
            why=[f"--seconds {seconds:g}: it is more than 0 and at most {MOST_SECONDS:,.0f}"],
            next="evh sql --help",
        )
    ours, theirs = Pipe()
    child = subprocess.Popen(  # noqa: S603 - this Python, this module
        [sys.executable, "-P", "-c", _CHILD, str(theirs.fileno()), *sys.path],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # what DuckDB says when it dies is no message for people
    )
    theirs.close()

    def heard(receive: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `serve` sends
        try:
            return receive()
        except (EOFError, ConnectionError):
            raise _ended(child.wait(), seconds) from None

    def rows(n_rows: int) -> Iterator[tuple[Any, ...]]:
        while n_rows:
            batch = heard(ours.recv)
            n_rows -= len(batch)
            yield from batch

    try:
        heard(lambda: ours.send(Question(project, sql, seconds, parquet)))
        head = heard(ours.recv)
        if isinstance(head, _Refused):
            raise Refusal(head.code, head.what, why=head.why, next=head.next)
        if isinstance(head, Exception):
            raise head
        yield Reply(head, rows(head.n_rows), lambda: heard(ours.recv_bytes))
    finally:
        ours.close()
        child.kill()
        child.wait()
        _remove_spill(project, child.pid)


def serve(descriptor: str) -> None:
    """Answer the one question that comes through an open socket: what the process does."""
    connection = Connection(int(descriptor))
    try:
        _answer(connection)
    except BrokenPipeError:  # nobody listens any more
        return
    except OSError as error:
        connection.send(error)
    except Exception as error:  # noqa: BLE001 - told by the one who asked
        connection.send(
            _Refused(error.code, error.what, error.why, error.next)
            if isinstance(error, Refusal)
            else RuntimeError(traceback.format_exc())
        )


def _answer(connection: Connection) -> None:
    question: Question = connection.recv()
    from evh_build import query
    from evh_build.gather import Gathered

    @contextmanager
    def limited() -> Iterator[None]:
        with _memory(ROOM), _time(question.seconds):
            yield

    gathered = Gathered(question.project)
    types = query.PARQUET if question.parquet else query.ROWS
    answer = query.select(gathered, question.sql, types=types, limited=limited)
    head = Head(answer.columns, answer.table.num_rows, gathered.problems)
    if question.parquet:
        data = _parquet(answer.table)
        connection.send(head)
        connection.send_bytes(data)
        return
    connection.send(head)
    for batch in answer.batches():
        connection.send(batch)


def _parquet(table: Any) -> memoryview:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return memoryview(sink.getvalue())


@contextmanager
def _time(seconds: float) -> Iterator[None]:
    """End this process after ``seconds``, by a signal that no Python code has to handle."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _memory(room: int) -> Iterator[None]:
    """Let this process take ``room`` bytes more than it has, where the system tells how much that is."""
    import resource

    statm = Path("/proc/self/statm")
    if not statm.is_file():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = int(statm.read_text("ascii").split()[0]) * resource.getpagesize() + room
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _ended(code: int, seconds: float) -> Refusal:
    """Return the Refusal for a process that ended without an answer."""
    from evh_build.query import too_large

    if code == -signal.SIGALRM:
        return Refusal(
            "too-slow",
            f"the query was stopped after {seconds:g} seconds",
            why=["it was still running"],
            next="ask for less, or allow more with --seconds",
        )
    return too_large()


def _remove_spill(project: Project, pid: int) -> None:
    """Remove what a query that was ended left in the cache."""
    from evh.store import atomic
    from evh_build.spill import folder

    place = folder(project, pid)
    if place is not None and place.is_dir():
        atomic.remove(place)
