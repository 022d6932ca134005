"""Text from the data as a page shows it: what cannot be seen, or would reorder what can, is named instead."""

from __future__ import annotations

import json
import re
import shlex

# Controls but tab and LF, bidi marks, what hides in an id for it takes no space, tags, lone surrogates.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_IN_SHELL = re.compile(f"[\t\n]|{_HIDDEN.pattern}")
_IN_SHELL_QUOTES = re.compile(f"['\\\\\t\n]|{_HIDDEN.pattern}")
_NO_ARGUMENT = re.compile("[\x00\ud800-\udfff]")
_IN_SCRIPT = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def visible(text: str) -> str:
    """Return ``text`` with each hidden character named as ``⟨U+202E⟩``; line ends become LF."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def shell_word(text: str) -> str:
    r"""Return a word as bash and zsh read it back: what cannot be seen, or would end a line, by its bytes.

    A word with such a character is written ``$'…'``, the bytes of its UTF-8 as ``\xNN``. NUL and lone
    surrogates, which no argument can hold, become ``�``.

    >>> print(shell_word("a\u202eb's"))
    $'a\xe2\x80\xaeb\'s'
    """
    if not _IN_SHELL.search(text):
        return shlex.quote(text)
    told = _NO_ARGUMENT.sub("\ufffd", text)
    return f"$'{_IN_SHELL_QUOTES.sub(_by_bytes, told)}'"


def _by_bytes(found: re.Match[str]) -> str:
    char = found[0]
    return f"\\{char}" if char in "'\\" else "".join(f"\\x{one:02x}" for one in char.encode())


def script_json(value: object) -> str:
    """Return a value as JSON that a script or a page can hold: no ``<``, ``>``, ``&`` or line separator.

    Keys keep their order. Text must be free of lone surrogates, as `visible` leaves it.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_IN_SCRIPT)
