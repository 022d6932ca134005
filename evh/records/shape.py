"""Reading typed keys out of a raw mapping, with every problem collected before the first is raised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.store.names import bad_id, bad_item_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Scalar = str | int | float | bool
"""What a field of an item may be. ``bool`` is told from ``int``: True and 1 are different values."""


class Shape:
    """A raw mapping being read: each getter returns the typed value, or its default after noting why not.

    Args:
        raw: the mapping as it was parsed.
        place: what names it in a reason: mostly a path, with a line or an item.
    """

    def __init__(self, raw: Mapping[str, Any], place: object) -> None:
        self.raw = raw
        self.place = place
        self.reasons: list[str] = []
        self._read: set[str] = set()

    def problem(self, key: str, message: str) -> None:
        """Note one reason about ``key``."""
        self.reasons.append(f"{self.place}: {key}: {message}")

    def take(self, key: str) -> Any:  # noqa: ANN401 - a raw JSON value
        """Return the raw value of ``key``, or None; the key counts as known from now on."""
        self._read.add(key)
        return self.raw.get(key)

    def text(self, key: str, default: str = "", *, required: bool = False) -> str:
        """Return a text."""
        value = self.take(key)
        if value is None:
            if required:
                self.problem(key, "is missing")
            return default
        if not isinstance(value, str):
            self.problem(key, f"is {kind(value)}, not a text")
            return default
        return value

    def maybe_text(self, key: str) -> str | None:
        """Return a text, or None where the key is absent or null."""
        return self.text(key) if self.take(key) is not None else None

    def identifier(self, key: str, *, length: int = 100, default: str | None = None) -> str:
        """Return a checked id; without ``default`` it must be there."""
        value = self.take(key)
        if value is None and default is not None:
            return default
        reason = "is missing" if value is None else bad_id(value, length=length)
        if reason is not None:
            self.problem(key, reason)
            return "invalid"
        return str(value)

    def item_identifier(self, key: str = "item_id") -> str:
        """Return a checked item id."""
        value = self.take(key)
        reason = "is missing" if value is None else bad_item_id(value)
        if reason is not None:
            self.problem(key, reason)
            return "invalid"
        return str(value)

    def whole(self, key: str, default: int = 0) -> int:
        """Return a whole number."""
        value = self.maybe_number(key)
        if value is None:
            return default
        if value != int(value):
            self.problem(key, f"{value} is not a whole number")
            return default
        return int(value)

    def count(self, key: str, default: int = 0) -> int:
        """Return how many there are of something: a whole number from 0 to below 2**53, as JSON keeps it."""
        value = self.whole(key, default)
        if not 0 <= value < 2**53:
            self.problem(key, f"{float(value):g} is no count")
            return default
        return value

    def maybe_number(self, key: str) -> float | None:
        """Return a finite number, or None where the key is absent or null."""
        value = self.take(key)
        if value is None:
            return None
        if not is_number(value):
            self.problem(key, f"is {kind(value)}, not a finite number")
            return None
        return value  # type: ignore[no-any-return]

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return true or false."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.problem(key, f"is {kind(value)}, not true or false")
            return default
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a mapping; absent is an empty one."""
        value = self.take(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.problem(key, f"is {kind(value)}, not a mapping")
            return {}
        return value

    def maybe_mapping(self, key: str) -> dict[str, Any] | None:
        """Return a mapping, or None where the key is absent or null."""
        return self.mapping(key) if self.take(key) is not None else None

    def listing(self, key: str) -> list[Any]:
        """Return a list; absent is an empty one."""
        value = self.take(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.problem(key, f"is {kind(value)}, not a list")
            return []
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text alone is a list of one."""
        value = self.take(key)
        if isinstance(value, str):
            return (value,)
        items = self.listing(key)
        if not all(isinstance(item, str) for item in items):
            self.problem(key, "holds something that is not a text")
            return ()
        return tuple(items)

    def choice(self, key: str, allowed: Collection[str], default: str) -> str:
        """Return one of ``allowed``."""
        value = self.text(key, default)
        if value not in allowed:
            self.problem(key, f"is {value!r}; it can be {', '.join(sorted(allowed))}")
            return default
        return value

    def rest(self) -> dict[str, Any]:
        """Return the keys that nothing has read: they are kept and written back as they are."""
        return {key: value for key, value in self.raw.items() if key not in self._read}

    def finish(self, what: str, *, next: str | None = None) -> None:
        """Raise a Refusal with every reason noted, if there is one."""
        if self.reasons:
            raise Refusal("bad-record", what, why=self.reasons, next=next)


def is_number(value: object) -> bool:
    """Tell whether ``value`` is a finite number that a float can hold; true and false are not numbers."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of more than 308 digits
        return False


def bad_scalar(value: object) -> str | None:
    """Return why ``value`` cannot be a field of an item, or None where it can."""
    if isinstance(value, str):
        return None if is_character_text(value) else "holds a lone surrogate, which is no character"
    if isinstance(value, bool) or is_number(value):
        return None
    return f"is {kind(value)}, not a text, a number or true or false"


def is_character_text(text: str) -> bool:
    """Tell whether ``text`` is made of characters: half of a surrogate pair is none, and has no UTF-8."""
    return text.isascii() or not any("\ud800" <= one <= "\udfff" for one in text)


def scalars(shape: Shape, key: str) -> dict[str, Scalar]:
    """Return a mapping of texts, numbers and booleans: an item's fields. Nulls are left out."""
    made: dict[str, Scalar] = {}
    for name, value in shape.mapping(key).items():
        if value is None:
            continue
        reason = bad_scalar(value)
        if not is_character_text(name):
            reason = "its name holds a lone surrogate, which is no character"
        if reason is None:
            made[name] = value
        else:
            shape.problem(f"{key}.{name}", reason)
    return made


def without_empty(values: dict[str, Any]) -> dict[str, Any]:
    """Return ``values`` without the keys whose value is None: absent keys mean "none"."""
    return {key: value for key, value in values.items() if value is not None}


def kind(value: object) -> str:
    """Return what a JSON value is, in words, its beginning with it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:40]}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else type(value).__name__
