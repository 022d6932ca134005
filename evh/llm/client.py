"""A chat server, asked one request at a time: tries again what may pass, and says why not.

Nothing here raises for what a server does: a reply or a `Failure` comes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import httpx

from evh.llm import retry
from evh.llm.mask import Mask
from evh.llm.reply import Failure, Reply, error_text, one_line, read
from evh.llm.transport import MOST_REPLY, LoopTransport, TooLarge, head_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from evh.llm.transport import Raw

CONNECT_S = 5.0
READ_S = 600.0
LOOK_S = 15.0
"""How long a server is given for what is only looked up."""
PATH = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model is asked.

    Attributes:
        base_url: with the version, as in ``http://localhost:8000/v1``.
        key: sent as a bearer token; it appears in no ``repr``, message or file.
        read_s: seconds to wait for a whole reply.
    """

    base_url: str
    key: str | None = field(default=None, repr=False)
    read_s: float = READ_S

    @property
    def plain(self) -> bool:
        """Whether it is asked without TLS and without a proxy in between."""
        from urllib.request import getproxies, proxy_bypass

        url = httpx.URL(self.base_url)
        return url.scheme == "http" and (
            not getproxies().get("http") or bool(proxy_bypass(url.host or "")) or _local(url.host)
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """A reply as one transport or the other gives it, its body decoded."""

    status: int
    body: bytes
    header: Callable[[str], str | None]


class Client:
    """One client of a server. A context manager; each worker of many has its own.

    Args:
        server: where to ask.
        transport: what carries requests; shared by all workers where it is given (see `carrier`).
        jitter: how long waits vary.
        stopped: tells whether no further try may begin.
        sleep: waits.
        may_send: asked before every try; one that may not be sent is the failure ``stopped``.
    """

    def __init__(
        self,
        server: Server,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        jitter: random.Random | None = None,
        stopped: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], Any] = asyncio.sleep,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        self._server = server
        self._mask = Mask(server.key)
        self._url: httpx.URL | str = server.base_url.rstrip("/") + PATH
        with contextlib.suppress(httpx.InvalidURL):  # parsed once; a bad one is told when it is asked
            self._url = httpx.URL(self._url)
        self._jitter = jitter or random.Random()
        self._stopped, self._sleep, self._may_send = stopped, sleep, may_send
        self._headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if server.key:
            self._headers["authorization"] = f"Bearer {server.key}"
        timeout = httpx.Timeout(server.read_s, connect=CONNECT_S)
        self._http = httpx.AsyncClient(
            transport=transport,
            timeout=timeout,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
        )
        self._owns = transport is None
        self._extensions = {"timeout": timeout.as_dict()}
        self._sent = httpx.Headers(self._http.headers)
        self._sent.update(self._headers)
        self._loop = transport if isinstance(transport, LoopTransport) else None
        self._place, self._head = ("", 0), b""
        if self._loop is not None and isinstance(self._url, httpx.URL):
            self._place = (self._url.host, self._url.port or 80)
            self._head = _head_without_length(self._request(b""))

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close its connections; a shared transport is closed by whoever made it."""
        if self._owns:
            await self._http.aclose()

    async def ask(self, body: Mapping[str, Any]) -> Reply | Failure:
        """Send a chat request until it is answered, refused, or tried often enough.

        Args:
            body: the request: ``model``, ``messages`` and settings.
        """
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        began = time.monotonic()
        tries = 0
        found: Reply | Failure = Failure("stopped", "it was not sent: no further call may be made", tries=0)
        while True:
            if not self._may_send():
                return found if tries == 0 else replace(found, tries=tries)
            tries += 1
            found = await self._once(content)
            if isinstance(found, Reply) or not retry.is_retried(found) or tries >= retry.TRIES:
                return found if tries == found.tries else replace(found, tries=tries)
            wait = retry.wait_s(tries, found, self._jitter)
            if self._stopped() or time.monotonic() - began + wait > retry.WITHIN_S:
                return replace(found, tries=tries)
            await self._sleep(wait)

    async def look(self, url: str, body: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON that the server gives elsewhere, asked once; None where it gives none in time."""
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        method = "GET" if body is None else "POST"
        try:
            async with asyncio.timeout(LOOK_S):
                request = httpx.Request(
                    method, url, headers=self._sent, content=content, extensions=self._extensions
                )
                if self._loop is not None and request.url.host:
                    place = (request.url.host, request.url.port or 80)
                    found = _told(await self._loop.send(place, head_of(request), content or b""))
                else:
                    found = await self._through_httpx(request)
            return json.loads(found.body) if found.status == 200 else None
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError, RecursionError):
            return None

    async def _once(self, content: bytes) -> Reply | Failure:
        began = time.perf_counter()
        try:
            found = await self._sent_once(content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self._broken(error)
        return self._told(found, (time.perf_counter() - began) * 1000)

    async def _sent_once(self, content: bytes) -> _Told:
        if self._loop is not None and self._head:  # bytes straight to it: most of a call's time is httpx's
            head = b"%scontent-length: %d\r\n\r\n" % (self._head, len(content))
            return _told(await self._loop.send(self._place, head, content))
        # Built here: the client's own way merges and parses anew for each what is always the same.
        return await self._through_httpx(self._request(content))

    async def _through_httpx(self, request: httpx.Request) -> _Told:
        response = await self._http.send(request, stream=True)
        try:
            data = await _body(response)
        finally:
            await response.aclose()
        return _Told(response.status_code, data, response.headers.get)

    def _request(self, content: bytes) -> httpx.Request:
        return httpx.Request(
            "POST", self._url, headers=self._sent, content=content, extensions=self._extensions
        )

    def _told(self, found: _Told, latency_ms: float) -> Reply | Failure:
        status, data = found.status, found.body
        if status == 200:
            return read(data, latency_ms=round(latency_ms, 3), mask=self._mask)
        if 300 <= status < 400:
            return Failure("redirect", f"HTTP {status}: it leads elsewhere, and the key stays here", status)
        said = error_text(data, self._mask) if data else ""
        after = retry.retry_after_s(found.header("retry-after"), found.header("date"))
        if retry.is_too_long(status, said):
            kind = "too-long"
        else:
            kind = "refused" if 400 <= status < 500 else "failing"
        return Failure(kind, f"HTTP {status}: {said}".rstrip(": "), status, after)

    def _broken(self, error: Exception) -> Failure:
        # An error can quote a header, of ours or of theirs, and either can hold the key.
        said = one_line(str(error), self._mask) or type(error).__name__
        if isinstance(error, TooLarge):
            return Failure("too-large", said)
        if isinstance(error, httpx.ConnectError | httpx.UnsupportedProtocol | httpx.InvalidURL):
            return Failure("unreachable", f"no connection to {self._server.base_url}: {said}")
        if isinstance(error, httpx.TimeoutException):
            return Failure("timeout", said)
        return Failure("broken-off", said)


def carrier(server: Server) -> httpx.AsyncBaseTransport | None:
    """Return the transport that all workers share for a plain server; None where each takes httpx's own."""
    if server.plain:
        return LoopTransport(connect_s=CONNECT_S, read_s=server.read_s)
    return None


async def _body(response: httpx.Response) -> bytes:
    """Return a reply's body, decoded, up to the limit: a small body can unpack to a large one."""
    if response.is_stream_consumed:  # `LoopTransport` has read it, within the same limit
        data, encoding = response.content, response.headers.get("x-evh-encoding")
    else:
        parts, size = [], 0
        async for part in response.aiter_raw():
            size += len(part)
            if size > MOST_REPLY:
                raise TooLarge(f"the reply is larger than {MOST_REPLY // 1024 // 1024} MB")
            parts.append(part)
        data, encoding = b"".join(parts), response.headers.get("content-encoding")
    return _decoded(data, encoding)


def _told(raw: Raw) -> _Told:
    return _Told(raw.status, _decoded(raw.body, raw.header("content-encoding")), raw.header)


def _decoded(data: bytes, encoding: str | None) -> bytes:
    return data if encoding in (None, "identity") else _unpacked(data, str(encoding))


def _head_without_length(request: httpx.Request) -> bytes:
    """Return the head of every request of a client, up to its last line: the length of the body."""
    lines = head_of(request).split(b"\r\n")[:-2]
    return b"".join(b"%s\r\n" % one for one in lines if not one.lower().startswith(b"content-length:"))


def _unpacked(data: bytes, encoding: str) -> bytes:
    if encoding not in ("gzip", "deflate"):
        raise httpx.DecodingError(f"the reply is packed as {encoding}, which was not asked for")
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | (16 if encoding == "gzip" else 0))
    try:
        made = unpack.decompress(data, MOST_REPLY + 1)
    except zlib.error as error:
        raise httpx.DecodingError("the reply is packed wrongly") from error
    if len(made) > MOST_REPLY:
        raise TooLarge(f"the reply unpacks to more than {MOST_REPLY // 1024 // 1024} MB")
    return made


def _local(host: str | None) -> bool:
    return host in ("localhost", "127.0.0.1", "::1")
