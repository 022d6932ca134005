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
from evh.store import atomic
from evh_build.question import Head, Question, Refused, spill, too_large, too_slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evh.project.find import Project

SECONDS = 30.0
MOST_SECONDS = 3_600.0
ROOM = 3 * 2**30
"""Bytes of address space that a query may take beside what is there before it: DuckDB's, and the answer's."""
_CHILD = (
    "import sys; sys.path[:] = sys.argv[2:]; from evh_build.query_process import serve; serve(sys.argv[1])"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer on its way: ``rows`` come one by one and are not kept. ``file`` gives the Parquet bytes."""

    head: Head
    rows: Iterator[tuple[Any, ...]]
    file: Callable[[], bytes]


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
    child = subprocess.Popen(
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
            late = child.wait() == -signal.SIGALRM
            raise (too_slow(seconds) if late else too_large()) from None

    def rows(n_rows: int) -> Iterator[tuple[Any, ...]]:
        while n_rows:
            batch = heard(ours.recv)
            n_rows -= len(batch)
            yield from batch

    try:
        heard(lambda: ours.send(Question(project, sql, seconds, parquet)))
        head = heard(ours.recv)
        if isinstance(head, Refused):
            raise head.refusal()
        if isinstance(head, Exception):
            raise head
        yield Reply(head, rows(head.n_rows), lambda: heard(ours.recv_bytes))
    finally:
        ours.close()
        child.kill()
        child.wait()
        atomic.remove(spill(project, child.pid))  # what a process that was ended left there


def serve(descriptor: str) -> None:
    """Answer the one question that comes through an open socket: what the process does."""
    connection = Connection(int(descriptor))
    try:
        _answer(connection)
    except BrokenPipeError:  # nobody listens any more
        return
    except OSError as error:
        connection.send(error)
    except MemoryError:
        connection.send(Refused.of(too_large()))
    except Exception as error:  # noqa: BLE001 - raised where it was asked
        told = Refused.of(error) if isinstance(error, Refusal) else RuntimeError(traceback.format_exc())
        connection.send(told)


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
        data = answer.parquet()
        connection.send(head)
        connection.send_bytes(data)
        return
    connection.send(head)
    for batch in answer.batches():
        connection.send(batch)


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
