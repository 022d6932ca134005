"""The replies that a scripted server plays: good ones, and every way in which real servers go wrong."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

from tests.servers.scripted import Play, Request


def message(
    content: object,
    *,
    finish: str = "stop",
    usage: tuple[int, int] | None = (11, 7),
    **more: Any,
) -> dict[str, Any]:
    """Return the JSON of a chat completion."""
    made: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "scripted-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **more},
            }
        ],
    }
    if usage is not None:
        made["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return made


def raw(data: bytes, *, wait_s: float = 0.0, close: bool = False) -> Play:
    """Play bytes as they are."""

    async def play(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(wait_s)
        writer.write(data)
        if close:
            await writer.drain()
            writer.close()

    return play


def http(
    status: int = 200, body: object = b"", *, wait_s: float = 0.0, close: bool = False, **headers: str
) -> Play:
    """Play a reply: ``body`` is bytes, or a value to dump as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json", "content-length": str(len(data))}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return raw(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + data, wait_s=wait_s, close=close)


def fine(content: object = "yes", *, wait_s: float = 0.0, **more: Any) -> Play:
    """Play a good answer."""
    return http(200, message(content, **more), wait_s=wait_s)


def error(status: int, said: object, **headers: str) -> Play:
    """Play an error as OpenAI-compatible servers word it."""
    more: dict[str, Any] = dict(headers)
    return http(status, {"error": {"message": said, "type": "error", "code": None}}, **more)


def chunked(body: object, *, sizes: int = 7) -> Play:
    """Play a good reply in chunks."""
    data = json.dumps(body).encode()
    parts = [data[at : at + sizes] for at in range(0, len(data), sizes)]
    coded = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    return raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + coded)


def reset(after: bytes = b"") -> Play:
    """Play the beginning of a reply, or nothing, then break the connection."""

    async def play(request: Request, writer: asyncio.StreamWriter) -> None:
        if after:
            writer.write(after)
            await writer.drain()
            await asyncio.sleep(0.02)
        writer.transport.abort()

    return play


def silence(wait_s: float = 30.0) -> Play:
    """Say nothing for long."""

    async def play(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(wait_s)
        writer.transport.abort()

    return play


def slowly(body: object, every_s: float) -> Play:
    """Play a good reply one byte at a time."""

    async def play(request: Request, writer: asyncio.StreamWriter) -> None:
        data = json.dumps(body).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(data))
        for at in range(len(data)):
            writer.write(data[at : at + 1])
            await writer.drain()
            await asyncio.sleep(every_s)

    return play


def bomb(size: int) -> Play:
    """Play a small reply that unpacks to ``size`` bytes."""
    return http(200, gzip.compress(b"0" * size), content_encoding="gzip")


def large(size: int) -> Play:
    """Play a reply of ``size`` bytes."""
    return http(200, json.dumps(message("x" * size)).encode())


CONTEXT_ERRORS = """\
This model's maximum context length is 16384 tokens. However, you requested 20000 tokens (19000 in the \
messages, 1000 in the completion). Please reduce the length of the messages or completion.
The decoder prompt (length 20000) is longer than the maximum model length of 16384. Make sure that \
`max_model_len` is no smaller than the number of text tokens.
'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 16384 \
tokens and your request has 19000 input tokens (1000 > 16384 - 19000).
You passed 19000 input tokens and requested 1000 output tokens. However, the model's context length is only \
16384 tokens, resulting in a maximum input length of 15384 tokens.
""".splitlines()
"""vLLM's four wordings, as its versions 0.4, 0.8, 0.9 and 0.13 say them."""
