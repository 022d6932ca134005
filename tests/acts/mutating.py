"""What the hostile tests share: each value of a JSON document, and the document with one of them changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a JSON value."""
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*at, key))


def changed(given: Any, at: tuple[Any, ...], value: Any) -> Any:
    """Return a document with one value changed."""
    made = copy.deepcopy(given)
    holder = made
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = value
    return made
