"""A fence around text that is judged: a word that the text cannot hold, for it was made after the text."""

from __future__ import annotations

import hmac
from functools import lru_cache

_LENGTH = 16


def nonce(salt: str, chunk_sha: str, text: str) -> str:
    """Return the fence of a chunk: HMAC-SHA256(salt, chunk_sha), the next one where the text holds it.

    Args:
        salt: hex, drawn once a journal.
        chunk_sha: the sha256 of the text.
        text: what is fenced.
    """
    number = 0
    while True:
        keyed = _keyed(salt).copy()
        keyed.update((chunk_sha if not number else f"{chunk_sha} {number}").encode())
        made = keyed.hexdigest()[:_LENGTH]
        if made not in text:
            return made
        number += 1


@lru_cache(maxsize=64)
def _keyed(salt: str) -> hmac.HMAC:
    """Return what every HMAC of a salt begins with (`hmac.digest` lets another thread in each time)."""
    return hmac.new(bytes.fromhex(salt), digestmod="sha256")
