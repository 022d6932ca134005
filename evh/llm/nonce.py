"""A fence around text that is judged: a word that the text cannot hold, for it was made after the text."""

from __future__ import annotations

import hmac

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
        message = chunk_sha if not number else f"{chunk_sha} {number}"
        made = hmac.digest(bytes.fromhex(salt), message.encode(), "sha256").hex()[:_LENGTH]
        if made not in text:
            return made
        number += 1
