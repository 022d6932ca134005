"""Text from outside, made safe to show: no control characters, no escape sequences, no bidi marks."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


def clean(text: str) -> str:
    """Return ``text`` without what could move a terminal's cursor, colour it or reorder it.

    Escape sequences go whole; other control characters, bidi marks and Unicode's own line ends become ``�``.
    Tabs and LF stay.
    """
    return _UNSAFE.sub("\ufffd", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str, width: int | None = None) -> str:
    """Return ``text`` cleaned, with white space folded to single spaces, cut to ``width`` characters."""
    folded = " ".join(clean(text).split())
    if width is not None and len(folded) > width:
        return folded[: max(width - 1, 0)].rstrip() + "…"
    return folded


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """Return ``1 item`` or ``2 items``: the count, with thousands separated, and the noun that fits it."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
