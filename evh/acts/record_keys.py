"""Telling which keys production records have and which evh reads, and many like reasons as one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.adapters.hooks import Adapter
    from evh.records.capture import Record

SHOWN = 20
KEYS = ("record_id", "ts", "item", "output", "fields", "outcomes")
"""The keys of a record that evh reads where the adapter does not say otherwise."""
_PLACE = re.compile(r"(?P<file>.*): record (?P<number>\d+): (?P<said>.*)", re.DOTALL)


def keys_told(raw: Sequence[Record], adapter: Adapter) -> str:
    """Return which keys the first record has, and which evh reads."""
    keys = list(raw[0]) if raw else []
    more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
    reads = f"evh reads {', '.join(KEYS)}" if not adapter.path else f"{adapter.name} reads it"
    return f"the first record has the keys {', '.join(keys[:SHOWN]) or '(none)'}{more}; {reads}"


def collapsed(reasons: Sequence[str], most: int = 3) -> list[str]:
    """Return reasons with those that differ by the record's number alone as one, where they are many."""
    groups: dict[object, list[str]] = {}
    numbers: dict[object, list[str]] = {}
    for reason in reasons:
        found = _PLACE.fullmatch(reason)
        key: object = (found["file"], found["said"]) if found else reason
        groups.setdefault(key, []).append(reason)
        if found:
            numbers.setdefault(key, []).append(found["number"])
    made = []
    for key, group in groups.items():
        if len(group) <= most or not isinstance(key, tuple):
            made += group
            continue
        file, said = key
        first = ", ".join(numbers[key][:most])
        made.append(f"{file}: {plural(len(group), 'record')} ({first}, …): {said}")
    return made
