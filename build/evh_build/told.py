"""What a page's context says, as text: of what two pages or two builds share it is made once."""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, cast

from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Hashable

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
        kind = type(value)
        if isinstance(value, str) and len(value) < LEAST:  # most of what a context holds
            return repr(value)
        names = _names(cast("Hashable", kind))
        if names is None and kind is not tuple and kind is not str:
            return repr(value)
        held = self._known.get(id(value)) or self._before.get(id(value))
        if held is not None and held[0] is value:
            self._known[id(value)] = held
            return held[1]
        text = self._parts(value, names, depth) if depth and kind is not str else repr(value)
        if len(text) < LEAST:
            return text
        text = f"<{kind.__qualname__} {sha256_text(text)}>"
        self._known[id(value)] = (value, text)
        return text

    def _parts(self, value: object, names: tuple[str, ...] | None, depth: int) -> str:
        if names is not None:
            parts = [f"{name}={self.told(getattr(value, name), depth - 1)}" for name in names]
        elif isinstance(value, tuple) and len(value) <= MOST:
            parts = [self.told(one, depth - 1) for one in value]
        else:
            return repr(value)
        return f"{type(value).__qualname__}({', '.join(parts)})"


@functools.cache
def _names(kind: Hashable) -> tuple[str, ...] | None:
    """Return the names of a dataclass's fields that are told, or None: the type is no dataclass."""
    return tuple(one.name for one in fields(kind) if one.repr) if is_dataclass(kind) else None
