"""One reply of a chat server: what it says, or why it is none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from evh.llm.mask import NO_MASK, Mask

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST_TOKENS = 10**9
"""A count from here on is no count of one call."""
KEY_TAKEN_OUT = "the reply held the API key: it was taken out"
AS_IF = "as if it were not reported"
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
        notes: what of the reply was not taken as it came: a count that is none, the key.
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
    notes: tuple[str, ...] = ()


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
        notes: what of the reply was not taken as it came.
    """

    kind: str
    says: str
    status: int | None = None
    retry_after_s: float | None = None
    tries: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()


def read(data: bytes, *, latency_ms: float = 0.0, mask: Mask = NO_MASK) -> Reply | Failure:
    """Return what the body of a 200 says: the first choice's message.

    A lone half of a surrogate pair, and bytes that are no UTF-8, become U+FFFD: the text is what a file can
    hold. ``reasoning`` and ``reasoning_content`` are kept apart and never read as the answer. A count or a
    cost that cannot be one is as if it were not there, and noted.

    Args:
        data: the body.
        latency_ms: from sending to the whole reply.
        mask: takes the key out of every text.
    """
    try:
        raw = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Failure("not-json", f"the reply is not JSON: {shown(data, mask)}", 200)
    choices = raw.get("choices") if isinstance(raw, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        return Failure("no-choices", f"the reply has no message: {shown(data, mask)}", 200)
    taken = _Taken(mask)
    text, finish = taken.text(message.get("content")), taken.text(first.get("finish_reason"))
    usage = raw.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    tokens_in = taken.number("prompt_tokens", counts.get("prompt_tokens"), _count)
    tokens_out = taken.number("completion_tokens", counts.get("completion_tokens"), _count)
    cost = taken.number("cost", counts.get("cost"), _money)
    if text is None or not text.strip():
        kind, says = "empty", "the reply is empty"
        if finish == "length":
            kind, says = "unfinished", "the reply ended at max_tokens before it answered"
        return Failure(
            kind, says, 200, tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost, notes=taken.notes()
        )
    return Reply(
        text=text,
        reasoning=taken.text(message.get("reasoning")) or taken.text(message.get("reasoning_content")),
        finish_reason=finish,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        model=taken.text(raw.get("model")),
        system_fingerprint=taken.text(raw.get("system_fingerprint")),
        cost_usd=cost,
        latency_ms=latency_ms,
        notes=taken.notes(),
    )


def error_text(data: bytes, mask: Mask = NO_MASK) -> str:
    """Return what the body of an error says, on one line: its ``message``, or its beginning."""
    try:
        raw = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return shown(data, mask)
    return one_line(_message(raw), mask) or shown(data, mask)


def shown(data: bytes, mask: Mask = NO_MASK) -> str:
    """Return the beginning of a body, on one line."""
    return one_line(data.decode("utf-8", "replace"), mask)


def one_line(text: str, mask: Mask = NO_MASK) -> str:
    """Return a text's beginning on one line.

    The key is taken out before the text is cut, for half of a key is still a secret; and before and after its
    blanks are folded, for either can bring one about.
    """
    masked = mask(text)[: _SHOWN * 4]
    flat = mask(" ".join("".join(sign if sign.isprintable() else " " for sign in masked).split()))
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"


class _Taken:
    """What is taken out of a reply, with notes of what was not taken as it came."""

    def __init__(self, mask: Mask) -> None:
        self._mask, self._notes = mask, dict[str, None]()

    def text(self, value: Any) -> str | None:  # noqa: ANN401 - whatever the server sent
        plain = _text(value)
        if plain is None:
            return None
        masked = self._mask(plain)
        if masked != plain:
            self._notes[KEY_TAKEN_OUT] = None
        return masked

    def number(self, name: str, value: Any, read: Callable[[Any], T | None]) -> T | None:  # noqa: ANN401
        made = read(value)
        if made is None and value is not None:
            self._notes[f"usage.{name} is no {'amount' if name == 'cost' else 'count'}: {AS_IF}"] = None
        return made

    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)


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


def _text(value: Any) -> str | None:  # noqa: ANN401 - whatever the server sent
    if isinstance(value, list):  # content in parts
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        value = "".join(part for part in parts if isinstance(part, str)) or None
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _count(value: Any) -> int | None:  # noqa: ANN401 - whatever the server sent
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < MOST_TOKENS else None


def _money(value: Any) -> float | None:  # noqa: ANN401 - whatever the server sent
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e9 else None
