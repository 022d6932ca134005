"""Plain HTTP/1.1 beneath httpx: one small connection a request in flight, kept for the next one.

httpx's own pool looks at every connection for every request; with many at once that takes more time than the
requests. This transport keeps idle connections in a stack. It serves plain ``http://`` to the host itself;
for TLS and proxies httpx's own transport is used.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_REPLY = 4 * 1024 * 1024
"""The most bytes of a reply that are read."""
_MOST_HEAD = 64 * 1024
_MOST_LINE = 4 * 1024
# Bounded: Python refuses to read a number of more than 4,300 digits, and a server may send one.
_STATUS = re.compile(rb"[1-9][0-9]{2}")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_CHUNK = re.compile(rb"[0-9A-Fa-f]{1,15}")


class TooLarge(httpx.TransportError):
    """A reply is larger than is read."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A reply as it came: its status, its headers in their order, its body still encoded."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return a header by its name in lower case, several joined by commas; None without one."""
        found = [value for key, value in self.headers if key.lower() == name.encode("ascii")]
        return b", ".join(found).decode("utf-8", "replace") if found else None


class LoopTransport(httpx.AsyncBaseTransport):
    """HTTP/1.1 over asyncio, without TLS. A reply is read whole, up to a limit.

    Args:
        connect_s: seconds to wait for a connection.
        read_s: seconds to wait for a whole reply.
        most: bytes of a reply that are read.
    """

    def __init__(self, *, connect_s: float, read_s: float, most: int = MOST_REPLY) -> None:
        self._connect_s, self._read_s, self._most = connect_s, read_s, most
        self._idle: dict[tuple[str, int], list[_Connection]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return its reply, whole.

        Raises:
            httpx.TransportError: no connection, none in time, a reply that breaks off or is too large.
        """
        place = (request.url.host, request.url.port or 80)
        found = await self.send(place, head_of(request), await request.aread())
        return httpx.Response(found.status, headers=_plain(found.headers), content=found.body)

    async def send(self, place: tuple[str, int], head: bytes, body: bytes) -> Raw:
        """Send a request that is bytes already: what `handle_async_request` does, without httpx around it.

        Args:
            place: host and port.
            head: from `head_of`, with the body's length in it.
            body: what follows the head.
        """
        idle = self._idle.setdefault(place, [])
        while idle:
            connection = idle.pop()
            if connection.open:
                try:
                    return await self._ask(connection, head, body, idle)
                except httpx.RemoteProtocolError:
                    # The server closed it while it lay idle: nothing of a reply came, a new one is asked.
                    if connection.heard:
                        raise
        return await self._ask(await self._connect(place), head, body, idle)

    async def aclose(self) -> None:
        """Close the idle connections."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    async def _connect(self, place: tuple[str, int]) -> _Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_s):
                _, connection = await loop.create_connection(lambda: _Connection(self._most), *place)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"no connection within {self._connect_s:g} s") from error
        except OSError as error:
            raise httpx.ConnectError(error.strerror or str(error)) from error
        except UnicodeError as error:  # a name with a part of more than 63 signs
            raise httpx.ConnectError(f"no network can look up {place[0]!r}: {error}") from error
        return connection

    async def _ask(self, connection: _Connection, head: bytes, body: bytes, idle: list[_Connection]) -> Raw:
        try:
            reply = await connection.ask(head, body, self._read_s)
        except BaseException:
            connection.close()
            raise
        if connection.reusable:
            idle.append(connection)
        else:
            connection.close()
        return reply


def head_of(request: httpx.Request) -> bytes:
    """Return a request's head as it is sent, with the blank line that ends it."""
    first = b"%s %s HTTP/1.1\r\n" % (request.method.encode("ascii"), request.url.raw_path)
    return first + b"".join(b"%s: %s\r\n" % pair for pair in request.headers.raw) + b"\r\n"


def _plain(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a body that is here whole, still encoded: httpx must not decode it itself."""
    left_out = (b"content-encoding", b"transfer-encoding", b"content-length")
    kept = [(name, value) for name, value in headers if name.lower() not in left_out]
    encodings = [value for name, value in headers if name.lower() == b"content-encoding"]
    return [*kept, *((b"x-evh-encoding", value) for value in encodings)]


class _Connection(asyncio.Protocol):
    """One connection: sends a request, gathers its reply."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._buffer = bytearray()
        self._waiting: asyncio.Future[Raw] | None = None
        self._transport: asyncio.Transport | None = None
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: Callable[[], bytes | None] | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._need = 0
        self.open = False
        self.heard = False
        self.reusable = False

    # --- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        self.open = True

    def data_received(self, data: bytes) -> None:
        """Take what came, and end the wait when the reply is whole."""
        self.heard = True
        self._buffer += data
        try:
            self._advance()
        except httpx.TransportError as error:
            self._fail(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait: with the reply where the end of the connection is its end."""
        self.open = False
        self.reusable = False
        if self._body == self._until_closed and exc is None:
            self._parts.append(bytes(self._buffer))
            self._buffer.clear()
            self._finish(b"".join(self._parts))
            return
        said = "broke off in the middle of a reply" if self.heard else "closed without a reply"
        self._fail(httpx.RemoteProtocolError(f"the connection {said}"))

    # --- the transport's side

    async def ask(self, head: bytes, body: bytes, within_s: float) -> Raw:
        """Send a request and wait for its reply, whole, for so many seconds."""
        if self._transport is None:  # pragma: no cover - create_connection has made it
            raise httpx.ConnectError("not connected")
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        self._body, self._parts, self._size, self.heard, self.reusable = None, [], 0, False, False
        late = loop.call_later(within_s, self._late, within_s)
        try:
            self._transport.write(head + body)
            return await self._waiting
        finally:
            late.cancel()

    def _late(self, within_s: float) -> None:
        self._fail(httpx.ReadTimeout(f"no whole reply within {within_s:g} s"))

    def close(self) -> None:
        """Close the connection."""
        self.open = False
        if self._transport is not None:
            self._transport.abort()

    # --- reading a reply

    def _advance(self) -> None:
        while self._body is None:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > _MOST_HEAD:
                    raise httpx.RemoteProtocolError("a reply's head is longer than 64 kB")
                return
            head = bytes(self._buffer[:end])
            del self._buffer[: end + 4]
            self._read_head(head)
        found = self._body()
        if found is not None:
            self._finish(found)

    def _read_head(self, head: bytes) -> None:
        first, *lines = head.split(b"\r\n")
        parts = first.split(b" ", 2)
        if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not _STATUS.fullmatch(parts[1]):
            raise httpx.RemoteProtocolError("the reply is not HTTP/1.1")
        self._status = int(parts[1])
        if 100 <= self._status < 200:
            return  # an interim reply: the real one follows
        self._headers = []
        for line in lines:
            name, colon, value = line.partition(b":")
            if not colon:
                raise httpx.RemoteProtocolError("a line of the reply's head has no colon")
            self._headers.append((name.strip(), value.strip()))
        known = {name.lower(): value for name, value in self._headers}
        self.reusable = parts[0] == b"HTTP/1.1" and b"close" not in known.get(b"connection", b"").lower()
        if self._status in (204, 304):
            self._need, self._body = 0, self._of_length
        elif b"chunked" in known.get(b"transfer-encoding", b"").lower():
            self._body = self._chunked
        elif b"content-length" in known:
            if not _LENGTH.fullmatch(known[b"content-length"]):
                raise httpx.RemoteProtocolError("the reply's content-length is no number of bytes")
            self._need, self._body = int(known[b"content-length"]), self._of_length
            if self._need > self._most:
                raise self._too_large()
        else:
            self.reusable, self._body = False, self._until_closed

    def _of_length(self) -> bytes | None:
        if len(self._buffer) < self._need:
            return None
        data = bytes(self._buffer[: self._need])
        del self._buffer[: self._need]
        return data

    def _chunked(self) -> bytes | None:
        while True:
            end = self._buffer.find(b"\r\n")
            if end < 0:
                if len(self._buffer) > _MOST_LINE:
                    raise httpx.RemoteProtocolError("a chunk of the reply has no length")
                return None
            said = bytes(self._buffer[:end]).split(b";")[0].strip()
            if not _CHUNK.fullmatch(said):  # `int` alone would take "-5" and "0x_5"
                raise httpx.RemoteProtocolError("a chunk of the reply has no length")
            size = int(said, 16)
            if self._size + size > self._most:
                raise self._too_large()
            if len(self._buffer) < end + 2 + size + 2:
                return None
            if size == 0:
                del self._buffer[: end + 4]
                return b"".join(self._parts)
            self._parts.append(bytes(self._buffer[end + 2 : end + 2 + size]))
            self._size += size
            del self._buffer[: end + 2 + size + 2]

    def _until_closed(self) -> bytes | None:
        if len(self._buffer) > self._most:
            raise self._too_large()
        return None

    def _too_large(self) -> TooLarge:
        return TooLarge(f"the reply is larger than {self._most // 1024 // 1024} MB")

    def _finish(self, data: bytes) -> None:
        if self._buffer:
            self.reusable = False  # it says more than was asked
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(Raw(self._status, self._headers, data))

    def _fail(self, error: httpx.TransportError) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_exception(error)
        if self._transport is not None:
            self._transport.abort()
