"""Text from the data as a page shows it: what cannot be seen, or would reorder what can, is named instead."""

from __future__ import annotations

import json
import re

# Controls but tab and LF, bidi marks, what hides in an id for it takes no space, tags, lone surrogates.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_IN_SCRIPT = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def visible(text: str) -> str:
    """Return ``text`` with each hidden character named as ``⟨U+202E⟩``; line ends become LF."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def script_json(value: object) -> str:
    """Return a value as JSON that a script or a page can hold: no ``<``, ``>``, ``&`` or line separator.

    Keys keep their order. Text must be free of lone surrogates, as `visible` leaves it.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_IN_SCRIPT)
