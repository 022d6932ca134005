"""Many requests at once: each job once, as many together as allowed, stopped in order."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from evh.llm.client import Client, Server
from evh.llm.crowd import Crowd
from evh.llm.pace import Pace
from evh.llm.reply import Failure, Reply
from tests.servers import replies
from tests.servers.replies import error, fine
from tests.servers.scripted import Play, Request, Scripted


async def _ask(client: Client, job: int) -> Reply | Failure:
    return await client.ask({"model": "m", "messages": [{"role": "user", "content": str(job)}]})


def _crowd(server: Scripted, limit: int | None = 8) -> Crowd[int, Reply | Failure]:
    return Crowd(Server(server.base_url), _ask, judge=lambda found: found, pace=Pace(limit))


def _answer(request: Request) -> Play:
    return fine(f"re {request.body['messages'][0]['content']}", wait_s=0.005)


def test_every_job_once_and_each_answer_its_own() -> None:
    """200 jobs, 8 at once: each is asked once and gets the answer to its own question."""
    with Scripted(_answer) as server:
        found = {one.job: one.found for one in _crowd(server).run(range(200))}
    assert len(server.requests) == 200
    assert 2 <= server.most_at_once <= 8
    assert all(isinstance(reply, Reply) and reply.text == f"re {job}" for job, reply in found.items())
    assert sorted(found) == list(range(200))


def test_the_pace_opens() -> None:
    """Without a limit of one's own it begins with four and goes up to 64."""
    with Scripted(lambda request: fine(str(request.number), wait_s=0.03)) as server:
        assert len(list(_crowd(server, None).run(range(600)))) == 600
    assert 32 <= server.most_at_once <= 64


def test_jobs_are_taken_as_they_are_needed() -> None:
    """A long list is not drawn at once: what is in flight is all that was taken."""
    taken = 0

    def jobs() -> Iterator[int]:
        nonlocal taken
        for number in range(100_000):
            taken += 1
            yield number

    with Scripted(_answer) as server:
        answers = _crowd(server, 4).run(jobs())
        for _ in range(10):
            next(answers)
        answers.close()
    assert taken < 1_000


def test_a_refused_key_stops_the_run() -> None:
    """After the first 401 no more is asked than was in flight; the reason is told."""
    with Scripted([error(401, "bad key")]) as server:
        crowd = _crowd(server, 1)
        found = list(crowd.run(range(50)))
    assert len(found) == len(server.requests) == 1
    assert crowd.stopped == "the server refused the first request: HTTP 401: bad key"


def test_the_last_jobs_are_tried_again_too() -> None:
    """That no job is left does not end the tries of those in flight."""
    with Scripted([replies.http(503, b"", retry_after="0.05"), fine("yes")]) as server:
        found = list(_crowd(server, 4).run([0]))
    assert isinstance(found[0].found, Reply)
    assert len(server.requests) == 2


def test_a_stop_ends_waits_between_tries() -> None:
    """A budget that is spent does not wait two minutes for a server that asked for it."""
    began = time.monotonic()
    with Scripted([replies.http(503, b"", retry_after="100")]) as server:
        crowd = _crowd(server, 1)
        threading.Timer(0.3, crowd.stop, ["the budget is spent"]).start()
        found = list(crowd.run(range(3)))
    assert time.monotonic() - began < 5
    assert [type(one.found) for one in found] == [Failure]
    assert crowd.stopped == "the budget is spent"


def test_ctrl_c_gives_what_is_in_flight_and_then_ends() -> None:
    """Answers that come within the grace are given; nothing more is sent; KeyboardInterrupt comes last."""
    found: list[int] = []
    with Scripted(lambda request: fine(str(request.number), wait_s=0.4)) as server:
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            found.extend(one.job for one in _crowd(server, 4).run(range(100)))
    assert sorted(found) == [0, 1, 2, 3]
    assert len(server.requests) == 4


def test_an_error_in_what_is_done_for_a_job_is_raised_where_answers_are_taken() -> None:
    """A bug is not swallowed by the thread that it happens in."""

    async def broken(client: Client, job: int) -> Reply | Failure:
        raise RuntimeError(f"job {job}")

    with Scripted([fine()]) as server:
        crowd = Crowd(Server(server.base_url), broken, judge=lambda found: found, pace=Pace(2))
        with pytest.raises(RuntimeError, match="job 0"):
            list(crowd.run(range(5)))
