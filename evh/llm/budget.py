"""Whether a prompt fits a model's context, found out without the model's own tokenizer."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeGuard

from evh.llm.reply import MOST_TOKENS
from evh.store import strict
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.llm.client import Client

CONTEXT_TOKENS = 16_384
OVERHEAD = 64
"""Tokens that a chat template adds to one message, reckoned high."""
_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class Fit:
    """How a prompt fits.

    Attributes:
        tokens: of the prompt: never fewer than it has on the rungs ``bytes`` and ``tokenize``.
        rung: ``bytes``: it certainly fits, tokens never outnumber bytes; ``tokenize``: the server counted;
            ``estimate``: bytes / 2, and the server decides.
        fits: whether the prompt and ``max_tokens`` are within the context.
    """

    tokens: int
    rung: str
    fits: bool


@dataclass(slots=True)
class Ladder:
    """The first rung that answers: bytes, the server's ``/tokenize``, an estimate.

    Until it is known whether the server counts at all, one prompt asks it and the others wait.

    Args:
        context: tokens of prompt and answer together.
        base_url: of the server, with the version.
    """

    context: int
    base_url: str
    _counts: OrderedDict[str, int] = field(default_factory=OrderedDict)
    _counts_at_all: bool | None = None
    _first: asyncio.Lock | None = field(default=None, repr=False)

    async def fit(
        self, client: Client, model: str, messages: Sequence[Mapping[str, str]], max_tokens: int
    ) -> Fit:
        """Return how a prompt and its answer fit the context."""
        size = sum(len(one["content"].encode("utf-8", "replace")) for one in messages)
        if size + OVERHEAD + max_tokens <= self.context:
            return Fit(size + OVERHEAD, "bytes", fits=True)
        counted = await self._count(client, model, messages)
        if counted is not None:
            return Fit(counted, "tokenize", counted + max_tokens <= self.context)
        reckoned = size // 2 + OVERHEAD
        return Fit(reckoned, "estimate", reckoned + max_tokens <= self.context)

    async def _count(self, client: Client, model: str, messages: Sequence[Mapping[str, str]]) -> int | None:
        if self._counts_at_all is None:
            self._first = self._first or asyncio.Lock()
            async with self._first:
                if self._counts_at_all is None:
                    return await self._ask(client, model, messages)
        return await self._ask(client, model, messages) if self._counts_at_all else None

    async def _ask(self, client: Client, model: str, messages: Sequence[Mapping[str, str]]) -> int | None:
        asked = [dict(one) for one in messages]
        key = sha256_text(strict.compact(asked))
        if key in self._counts:
            return self._counts[key]
        body = {"model": model, "messages": asked, "add_generation_prompt": True}
        found = await client.look(f"{root(self.base_url)}/tokenize", body)
        count = found.get("count") if isinstance(found, dict) else None
        if not _is_count(count):
            self._counts_at_all = False  # this server does not count: it is asked no more
            return None
        self._counts_at_all = True
        self._counts[key] = count
        while len(self._counts) > _KEPT:
            self._counts.popitem(last=False)
        return count


async def context_of(client: Client, base_url: str, model: str) -> int | None:
    """Return the context that a server gives a model (``/models``: ``max_model_len``), or None."""
    found = await client.look(f"{base_url.rstrip('/')}/models")
    listed = found.get("data") if isinstance(found, dict) else None
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and one.get("id") == model:
            length = one.get("max_model_len")
            return length if _is_count(length) else None
    return None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST_TOKENS


def root(base_url: str) -> str:
    """Return a server's address without the version: where vLLM's own ways begin."""
    return base_url.rstrip("/").removesuffix("/v1")
