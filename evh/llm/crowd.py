"""Many requests at once: workers on one queue of jobs, as many of them busy as the pace allows.

The event loop runs in a thread of its own; whoever asked takes the answers, one by one, in the order in which
they come, and keeps each before it takes the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import signal
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from evh.llm.client import Client, carrier
from evh.llm.reply import Failure, Reply
from evh.llm.retry import Breaker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
    from types import FrameType

    from httpx import AsyncBaseTransport

    from evh.llm.client import Server
    from evh.llm.pace import Pace

GRACE_S = 5.0
"""How long Ctrl-C waits for what is in flight."""
IDLE_S = 0.05
_GATHER_S = 0.005

J = TypeVar("J")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answered(Generic[J, T]):
    """A job, and what came of it."""

    job: J
    found: T


class Crowd(Generic[J, T]):
    """Asks a server about many jobs.

    Args:
        server: where to ask.
        ask: what is done for one job with a worker's client.
        judge: what a finished job says of the server: a `Reply`, the `Failure` that it ended with, or None:
            nothing.
        pace: how many may be in flight.
        may_send: asked before every try of a request, in the loop's thread.

    Attributes:
        stopped: why it stopped before the jobs were done; None where it did not.
    """

    def __init__(
        self,
        server: Server,
        ask: Callable[[Client, J], Awaitable[T]],
        *,
        judge: Callable[[T], Reply | Failure | None],
        pace: Pace,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        self._server, self._ask, self._judge, self._pace = server, ask, judge, pace
        self._may_send = may_send
        self._breaker = Breaker()
        self._results: queue.SimpleQueue[Answered[J, T] | BaseException | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._in_loop = 0
        self._halted = asyncio.Event()
        self._interrupted = asyncio.Event()
        self._exhausted = False
        self.stopped: str | None = None

    def stop(self, reason: str) -> None:
        """Begin no further job and no further try; what is in flight still comes. From any thread."""
        self.stopped = self.stopped or reason
        self._set(self._halted)

    def interrupt(self) -> None:
        """Stop as Ctrl-C does: what is in flight after `GRACE_S` is given up."""
        self.stop(INTERRUPTED)
        self._set(self._interrupted)

    def _set(self, event: asyncio.Event) -> None:
        loop = self._loop
        if loop is None or self._in_loop == threading.get_ident():
            event.set()  # nobody waits yet, or whoever waits is of this thread
        else:
            with contextlib.suppress(RuntimeError):  # it has ended just now
                loop.call_soon_threadsafe(event.set)

    def run(
        self, jobs: Iterable[J], *, idle: Callable[[], None] | None = None
    ) -> Generator[Answered[J, T], None, None]:
        """Give each job with what came of it, in the order in which they come.

        ``idle`` is called, where the answers are taken, whenever none has come for `IDLE_S`.

        Ctrl-C stops sending, waits `GRACE_S` for what is in flight, gives it, and then raises
        KeyboardInterrupt; a second one does not wait.
        """
        thread = threading.Thread(target=self._serve, args=(iter(jobs),), name="evh-llm", daemon=True)
        with _interrupts(self) as interrupted:
            thread.start()
            try:
                while True:
                    # A wait without an end keeps some systems from delivering Ctrl-C.
                    try:
                        found = self._taken(IDLE_S if idle else 0.5)
                    except queue.Empty:
                        if idle:
                            idle()
                        continue
                    if found is None:
                        break
                    if isinstance(found, BaseException):
                        raise found
                    yield found
            finally:
                self._abandon()
                thread.join(GRACE_S)
        if interrupted.is_set():
            raise KeyboardInterrupt

    def _taken(self, timeout_s: float) -> Answered[J, T] | BaseException | None:
        """Return the next answer. Where none waits a few are let gather: each wake-up stops the loop."""
        with contextlib.suppress(queue.Empty):
            return self._results.get_nowait()
        time.sleep(_GATHER_S)
        return self._results.get(timeout=timeout_s)

    # --- in the loop's thread

    def _serve(self, jobs: Iterator[J]) -> None:
        try:
            asyncio.run(self._all(jobs))
        except BaseException as error:  # noqa: BLE001 - it is raised again where the answers are taken
            self._results.put(error)
        else:
            self._results.put(None)

    async def _all(self, jobs: Iterator[J]) -> None:
        self._loop, self._in_loop = asyncio.get_running_loop(), threading.get_ident()
        shared = carrier(self._server)
        turn = asyncio.Condition()
        workers = [
            asyncio.create_task(self._work(place, jobs, shared, turn)) for place in range(self._pace.most)
        ]
        watch = asyncio.create_task(self._watch(workers, turn))
        try:
            await asyncio.gather(*workers)
        except asyncio.CancelledError:
            pass
        finally:
            watch.cancel()
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, watch, return_exceptions=True)
            if shared is not None:
                await shared.aclose()

    async def _work(
        self, place: int, jobs: Iterator[J], shared: AsyncBaseTransport | None, turn: asyncio.Condition
    ) -> None:
        """Take job after job while there are any, and while this worker is one of those that may."""
        client = Client(
            self._server,
            shared,
            stopped=self._halted.is_set,
            sleep=self._nap,
            may_send=self._may_send,
        )
        async with client:
            while not self._ended():
                if place >= self._pace.limit:
                    async with turn:
                        await turn.wait_for(lambda: place < self._pace.limit or self._ended())
                    continue
                try:
                    job = next(jobs)
                except StopIteration:
                    self._exhausted = True
                    await self._wake(turn)
                    return
                found = await self._ask(client, job)
                self._results.put(Answered(job, found))
                if self._note(self._judge(found)):
                    await self._wake(turn)

    def _ended(self) -> bool:
        return self._exhausted or self._halted.is_set()

    async def _nap(self, seconds: float) -> None:
        """Wait between two tries, or until nothing further is asked."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._halted.wait()

    def _note(self, found: Reply | Failure | None) -> bool:
        """Take note of how the server took one request; tell whether workers must look up."""
        if found is None:
            return False
        if isinstance(found, Failure):
            self._breaker.saw(found)
            if self._breaker.reason is not None:
                self.stop(self._breaker.reason)
                return True
            return self._pace.throttled() if found.status == 429 or found.kind == "timeout" else False
        self._breaker.saw(None)
        # A reply that took several tries was held up: its own time says nothing, the tries do.
        return self._pace.throttled() if found.tries > 1 else self._pace.took(found.latency_ms)

    @staticmethod
    async def _wake(turn: asyncio.Condition) -> None:
        async with turn:
            turn.notify_all()

    async def _watch(self, workers: list[asyncio.Task[None]], turn: asyncio.Condition) -> None:
        """Once it was stopped, wake who waits; after Ctrl-C, give up what is still in flight."""
        await self._halted.wait()
        await self._wake(turn)
        await self._interrupted.wait()
        await asyncio.sleep(GRACE_S)
        for worker in workers:
            worker.cancel()

    def _abandon(self) -> None:
        """End what is in flight where nobody takes the answers any more."""
        loop = self._loop
        if loop is not None and loop.is_running():
            with contextlib.suppress(RuntimeError):  # it ended just now
                loop.call_soon_threadsafe(_cancel_all, loop)


INTERRUPTED = "interrupted"


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()


@contextlib.contextmanager
def _interrupts(crowd: Crowd[J, T]) -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an orderly stop; outside the main thread there is none to turn."""
    seen = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's form
        if seen.is_set():
            raise KeyboardInterrupt
        seen.set()
        crowd.interrupt()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
