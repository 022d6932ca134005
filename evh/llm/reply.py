"""One reply of a chat server: what it says, or why it is none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: the answer.
        reasoning: what it thought, where the server keeps that apart.
        finish_reason: why it ended: ``stop``, ``length``, …; None where the server does not say.
        tokens_in: of the prompt, as the server counts.
        tokens_out: of the answer and the thought, as the server counts.
        model: the model's name by the server.
        system_fingerprint: the server's own word for its build.
        cost_usd: what the server itself says that it costs, where it does.
        latency_ms: from sending to the whole reply.
        tries: how often it was asked.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    cost_usd: float | None = None
    latency_ms: float = 0.0
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer.

    Attributes:
        kind: ``unreachable``, ``timeout``, ``broken-off``, ``too-large``, ``redirect``, ``refused`` (a 4xx),
            ``failing`` (a 5xx), ``too-long`` (the prompt does not fit), ``not-json``, ``no-choices``,
            ``empty``, ``unfinished``, ``stopped``.
        says: one line for a person; it never holds the key.
        status: of the HTTP reply, None without one.
        retry_after_s: what the server asks for.
        tries: how often it was asked.
        tokens_in: of the prompt: a reply without an answer is paid for too.
        tokens_out: of what was thought or left blank.
        cost_usd: what the server itself says that it costs.
    """

    kind: str
    says: str
    status: int | None = None
    retry_after_s: float | None = None
    tries: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


def read(data: bytes, *, latency_ms: float = 0.0) -> Reply | Failure:
    """Return what the body of a 200 says: the first choice's message.

    A lone half of a surrogate pair, and bytes that are no UTF-8, become U+FFFD: the text is what a file can
    hold. ``reasoning`` and ``reasoning_content`` are kept apart and never read as the answer.
    """
    try:
        raw = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Failure("not-json", f"the reply is not JSON: {shown(data)}", 200)
    choices = raw.get("choices") if isinstance(raw, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        return Failure("no-choices", f"the reply has no message: {shown(data)}", 200)
    text, finish = _text(message.get("content")), _text(first.get("finish_reason"))
    usage = raw.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    if text is None or not text.strip():
        kind, says = "empty", "the reply is empty"
        if finish == "length":
            kind, says = "unfinished", "the reply ended at max_tokens before it answered"
        return Failure(
            kind,
            says,
            200,
            tokens_in=_count(counts.get("prompt_tokens")),
            tokens_out=_count(counts.get("completion_tokens")),
            cost_usd=_money(counts.get("cost")),
        )
    return Reply(
        text=text,
        reasoning=_text(message.get("reasoning")) or _text(message.get("reasoning_content")),
        finish_reason=finish,
        tokens_in=_count(counts.get("prompt_tokens")),
        tokens_out=_count(counts.get("completion_tokens")),
        model=_text(raw.get("model")),
        system_fingerprint=_text(raw.get("system_fingerprint")),
        cost_usd=_money(counts.get("cost")),
        latency_ms=latency_ms,
    )


def error_text(data: bytes) -> str:
    """Return what the body of an error says, on one line: its ``message``, or its beginning."""
    try:
        raw = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return shown(data)
    return _one_line(_message(raw)) or shown(data)


def shown(data: bytes) -> str:
    """Return the beginning of a body, on one line."""
    return _one_line(data[: _SHOWN * 4].decode("utf-8", "replace"))


def _message(raw: Any) -> str:  # noqa: ANN401 - whatever the server sent
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list):  # FastAPI's list of what is wrong
        return "; ".join(filter(None, map(_message, raw[:5])))
    if isinstance(raw, dict):
        for key in ("error", "message", "detail", "msg"):
            if raw.get(key):
                return _message(raw[key])
    return ""


def _one_line(text: str) -> str:
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"


def _text(value: Any) -> str | None:  # noqa: ANN401 - whatever the server sent
    if isinstance(value, list):  # content in parts
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        value = "".join(part for part in parts if isinstance(part, str)) or None
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _count(value: Any) -> int | None:  # noqa: ANN401 - whatever the server sent
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _money(value: Any) -> float | None:  # noqa: ANN401 - whatever the server sent
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e9 else None
