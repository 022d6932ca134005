"""Taking a key out of what a server sends back: servers quote requests, and what they say goes into files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from urllib.parse import quote

MASK = "[api key]"
SHORTEST = 8
"""A shorter key, as ``none`` or ``EMPTY`` for a server that wants any, is a word that answers may hold."""


@dataclass(frozen=True, slots=True)
class Mask:
    """Replaces a key by `MASK`, as it is and as JSON and addresses write it.

    Args:
        key: the key; None or one shorter than `SHORTEST` leaves every text as it is.
    """

    key: str | None = field(default=None, repr=False)
    _forms: tuple[str, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out how the key may be written."""
        if self.key and len(self.key) >= SHORTEST:
            forms = (json.dumps(self.key)[1:-1], quote(self.key, safe=""), self.key)
            object.__setattr__(self, "_forms", tuple(sorted(set(forms), key=len, reverse=True)))

    def __call__(self, text: str) -> str:
        """Return the text without the key."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text


NO_MASK = Mask()
