"""What a reader of traces gives: records as `capture` takes them, and what it left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evh.records.shape import is_number


@dataclass(frozen=True, slots=True)
class Captured:
    """Records with evh's own keys, and why → how much of the file was not taken."""

    records: tuple[dict[str, Any], ...]
    dropped: Mapping[str, int]


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping without what is None."""
    return {key: value for key, value in values.items() if value is not None}


def scalars(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields among some values: texts, finite numbers and booleans."""
    return {
        key: value
        for key, value in values.items()
        if isinstance(value, str | bool) or (value is not None and is_number(value))
    }
