"""A chat server on loopback that plays a script: each request gets the next reply, or a function's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

Play = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """A request as it came: its headers in lower case, its JSON, and which one it was, from 0."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int


@dataclass
class Scripted:
    """The server; a context manager.

    ``script`` is a list of replies (the last one repeats) or a function from a request to its reply.
    ``requests`` holds what came; ``most_at_once`` how many were in work together.
    """

    script: Sequence[Play] | Callable[[Request], Play]
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    port: int = 0
    _now: int = 0

    @property
    def base_url(self) -> str:
        """What a config names."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        """Start it."""
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(10)

    def close_all(self) -> None:
        """Break every connection, as a server that dies does."""
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        server = await asyncio.start_server(self._client, "127.0.0.1", self.port, limit=1 << 22)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._done.wait()
        server.close()
        self._abort()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while not writer.is_closing():
                    await self._one(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        pairs = [line.split(":", 1) for line in head[1:] if line]
        headers = {name.strip().lower(): value.strip() for name, value in pairs}
        data = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(method, path, headers, json.loads(data or b"{}"), len(self.requests))
        self.requests.append(request)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            await self._play(request)(request, writer)
            await writer.drain()
        finally:
            self._now -= 1

    def _play(self, request: Request) -> Play:
        if callable(self.script):
            return self.script(request)
        return self.script[min(request.number, len(self.script) - 1)]
