"""Whether a prompt fits: bytes, then the server's own count, then an estimate."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from evh.llm.budget import Fit, Ladder, context_of, root
from evh.llm.client import Client, Server, carrier
from tests.servers.replies import http
from tests.servers.scripted import Play, Request, Scripted


def fits(script: Callable[[Request], Play], *sizes: int, context: int = 1_000) -> tuple[list[Fit], Scripted]:
    """Return how prompts of some bytes fit, with 100 tokens to answer."""

    async def go(url: str) -> list[Fit]:
        ladder = Ladder(context, url)
        async with Client(Server(url)) as client:
            return [
                await ladder.fit(client, "m", [{"role": "user", "content": "x" * one}], 100) for one in sizes
            ]

    with Scripted(script) as server:
        return asyncio.run(go(server.base_url)), server


def test_few_bytes_fit_without_asking() -> None:
    """Tokens never outnumber bytes: 836 bytes, 64 of the template and 100 of the answer are 1,000."""
    (at, over), server = fits(lambda _: http(404, b""), 836, 837)
    assert at == Fit(900, "bytes", fits=True)
    assert over.rung == "estimate"
    assert [one.path for one in server.requests] == ["/tokenize"]


@pytest.mark.parametrize(("count", "fit"), [(900, True), (901, False)])
def test_the_servers_count_decides(count: int, fit: bool) -> None:
    """``/tokenize`` beside ``/v1`` is asked with the messages; the same prompt is counted once."""
    found, server = fits(lambda _: http(200, {"count": count}), 5_000, 5_000)
    assert found == [Fit(count, "tokenize", fits=fit)] * 2
    (asked,) = server.requests
    assert asked.body["messages"] == [{"role": "user", "content": "x" * 5_000}]


def test_a_server_that_does_not_count_is_asked_once() -> None:
    """Then half the bytes is the estimate."""
    (one, two), server = fits(lambda _: http(404, {"detail": "Not Found"}), 1_672, 1_674)
    assert (one, two) == (Fit(900, "estimate", fits=True), Fit(901, "estimate", fits=False))
    assert len(server.requests) == 1


@pytest.mark.parametrize(("reply", "n"), [(http(404, b"", wait_s=0.05), 1), (http(200, {"count": 7}), 6)])
def test_many_at_once_wait_until_it_is_known_whether_the_server_counts(reply: Play, n: int) -> None:
    """Six prompts: a server that does not count is asked for one of them, one that does for each."""

    async def go(url: str) -> list[Fit]:
        ladder, server = Ladder(1_000, url), Server(url)
        shared = carrier(server)
        assert shared is not None
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(shared.aclose)
            clients = [await stack.enter_async_context(Client(server, shared)) for _ in range(6)]
            asked = [
                ladder.fit(client, "m", [{"role": "user", "content": f"{number}" * 1_000}], 100)
                for number, client in enumerate(clients)
            ]
            return await asyncio.gather(*asked)

    with Scripted([reply]) as server:
        found = asyncio.run(go(server.base_url))
    assert found == [Fit(564, "estimate", fits=True) if n == 1 else Fit(7, "tokenize", fits=True)] * 6
    assert [one.path for one in server.requests] == ["/tokenize"] * n


@pytest.mark.parametrize("own_httpx", [False, True], ids=["loop", "httpx"])
def test_the_servers_context_of_a_model(own_httpx: bool) -> None:
    """``max_model_len`` of the model that is asked; None where the server has no such model or key."""

    async def go(url: str, model: str) -> int | None:
        shared = None if own_httpx else carrier(Server(url))
        try:
            async with Client(Server(url), shared) as client:
                return await context_of(client, url, model)
        finally:
            if shared is not None:
                await shared.aclose()

    body = {"data": [{"id": "a", "max_model_len": 4_096}, {"id": "b"}]}
    with Scripted([http(200, body)]) as server:
        assert asyncio.run(go(server.base_url, "a")) == 4_096
        assert asyncio.run(go(server.base_url, "b")) is None
        assert asyncio.run(go(server.base_url, "c")) is None
    with Scripted([http(500, b"oops")]) as server:
        assert asyncio.run(go(server.base_url, "a")) is None


def test_the_root_of_a_server() -> None:
    """What lies beside ``/v1`` is asked without it."""
    assert root("http://h:8000/v1/") == "http://h:8000"
    assert root("http://h/api") == "http://h/api"
