"""A chat server on loopback that answers everything alike after a fixed time, in a process of its own.

    python -m tests.bench.loopback LATENCY_S

It prints its port. A request is read by its content-length alone, so that the server takes little time.
"""

from __future__ import annotations

import asyncio
import json
import sys

_BODY = json.dumps(
    {
        "model": "loopback",
        "choices": [
            {"finish_reason": "stop", "message": {"content": "No. Nothing in it speaks of the question."}}
        ],
        "usage": {"prompt_tokens": 5000, "completion_tokens": 12},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"


class Loopback(asyncio.Protocol):
    """One connection."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._buffer = bytearray()
        self._need = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer a request when it is whole."""
        self._buffer += data
        if not self._need:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            _, found, rest = bytes(self._buffer[: end + 2]).lower().partition(b"\r\ncontent-length: ")
            length = int(rest[: rest.find(b"\r\n")]) if found else 0
            self._need = end + 4 + length
        if len(self._buffer) >= self._need:
            chat = self._buffer.startswith(b"POST /v1/chat")
            del self._buffer[: self._need]
            self._need = 0
            later = self._latency_s if chat else 0.0
            asyncio.get_running_loop().call_later(later, self._transport.write, ANSWER if chat else NOT_FOUND)


async def serve(latency_s: float) -> None:
    """Serve until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Loopback(latency_s), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
