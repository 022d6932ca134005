"""Times as the data layout writes them. The clock itself is passed in, from ``EVH_NOW`` or the machine."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from evh.errors import Refusal

_TIME = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*(Z|z|[+-]\d{2}:?\d{2})?)?"
)


def now(environ_now: str | None) -> datetime:
    """Return the time: ``environ_now`` (the value of ``EVH_NOW``) where it is set, else the machine's."""
    if environ_now:
        return parse_time(environ_now, "EVH_NOW")
    return datetime.now(UTC)


def stamp(time: datetime) -> str:
    """Return a time in UTC as ``2026-11-01T08:02:32Z``."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def precise(time: datetime) -> str:
    """Return a time in UTC as `stamp` does, its fraction of a second kept: ``2026-11-01T08:02:32.5Z``."""
    text = time.astimezone(UTC).replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0')}Z" if "." in text else f"{text}Z"


def run_stamp(time: datetime) -> str:
    """Return a time in UTC as ``20261101T080232Z``, the form that a run's id ends in."""
    return time.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def parse_time(text: str, place: str) -> datetime:
    """Return an ISO 8601 date or time as UTC; without a zone it is UTC, without a time it is midnight."""
    time = _parsed(text)
    if time is None:
        raise Refusal(
            "bad-time",
            f"{place} is not a time",
            why=[f"{place}: {text!r}"],
            next="write it as 2026-11-01T08:02:32Z",
        )
    return time


def is_time(text: object) -> bool:
    """Tell whether `parse_time` reads a value."""
    return isinstance(text, str) and _parsed(text) is not None


def _parsed(text: str) -> datetime | None:
    iso = text.strip().replace(" ", "T", 1).replace("z", "Z")
    try:
        time = datetime.fromisoformat(iso) if _TIME.fullmatch(text.strip()) else None
        if time is not None:
            time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):  # a 13th month, a 25th hour; an hour before the year 1
        return None
    return time
