"""What a reader of traces gives: records as `capture` takes them, and what it left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evh.records.shape import is_number
from evh.store import strict


@dataclass(frozen=True, slots=True)
class Captured:
    """Records with evh's own keys, and why → how much of the file was not taken."""

    records: tuple[dict[str, Any], ...]
    dropped: Mapping[str, int]


def read_values(path: Path) -> Any:  # noqa: ANN401 - a JSON value
    """Return what an export holds: its one JSON value, or the objects on its lines as a list.

    Raises:
        Refusal: it is no strict JSON, with the place.
    """
    data = strict.read_bytes(path)
    lines = [line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if len(lines) > 1 and all(line[:1] == b"{" and line.rstrip().endswith(b"}") for line in lines):
        return list(strict.parse_jsonl(data, path))
    return strict.parse_json(data, path)


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
