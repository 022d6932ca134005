"""What a page's context says, as text: of what two pages or two builds share it is made once."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from evh.store.hashing import sha256_text

LEAST = 500
"""What is told in so few characters is not worth a digest."""
DEPTH = 4
"""How deep a context is looked into for what is shared: a group of arms lies in a list in a part of it."""
MOST = 100
"""A longer list of values is told at once, not one by one."""


class Teller:
    """Tells what values are, as their ``repr`` does, with a digest in place of long parts.

    A part is known by the object: nobody changes a context, and what is kept is handed out as the same object
    again. So two texts are equal only where two contexts say the same.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, str]] = {}
        self._before = self._known

    def begin(self) -> None:
        """Begin another build: what the last one did not tell is forgotten."""
        self._before, self._known = self._known, {}

    def told(self, value: object, depth: int = DEPTH) -> str:
        """Return a text that another value has only where it cannot be told apart from this one."""
        whole = is_dataclass(value) and not isinstance(value, type)
        if not whole and not isinstance(value, tuple | str):
            return repr(value)
        held = self._known.get(id(value)) or self._before.get(id(value))
        if held is not None and held[0] is value:
            self._known[id(value)] = held
            return held[1]
        text = self._parts(value, depth) if depth and not isinstance(value, str) else repr(value)
        if len(text) < LEAST:
            return text
        text = f"<{type(value).__qualname__} {sha256_text(text)}>"
        self._known[id(value)] = (value, text)
        return text

    def _parts(self, value: object, depth: int) -> str:
        if isinstance(value, tuple):
            if len(value) > MOST:
                return repr(value)
            parts = [self.told(one, depth - 1) for one in value]
        else:
            parts = [
                f"{one.name}={self.told(getattr(value, one.name), depth - 1)}"
                for one in fields(value)  # type: ignore[arg-type]
                if one.repr
            ]
        return f"{type(value).__qualname__}({', '.join(parts)})"
