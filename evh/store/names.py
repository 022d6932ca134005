"""Names that are safe to build a path from. A path is only ever made of a checked id."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))]
)
ID_LENGTH = 100
RUN_ID_LENGTH = 140
ITEM_ID_LENGTH = 200
STEM_LENGTH = 120


def bad_id(value: object, *, length: int = ID_LENGTH) -> str | None:
    """Return why ``value`` cannot be an id (``[A-Za-z0-9][A-Za-z0-9._-]*``), or None when it can."""
    if not isinstance(value, str) or not value:
        return "an id is a text of at least one character"
    if len(value) > length:
        return f"an id has at most {length} characters; this one has {len(value)}"
    if not _ID.fullmatch(value):
        return f"{value!r} is not an id: it starts with a letter or digit and holds only A-Z a-z 0-9 . _ -"
    return None


def check_id(value: object, kind: str, *, length: int = ID_LENGTH) -> str:
    """Return ``value`` when it can be an id; ``kind`` (``dataset``, ``run``, …) names it in the Refusal."""
    reason = bad_id(value, length=length)
    if reason is not None:
        raise Refusal(
            "bad-id", f"that cannot be the name of a {kind}", why=[reason], next="choose another name"
        )
    return str(value)


def bad_new_id(value: str, taken: Iterable[str]) -> str | None:
    """Return why a new record cannot have an id, though one that is there may: it would not be portable.

    Args:
        value: the id.
        taken: the ids beside it.
    """
    if value.split(".", maxsplit=1)[0].lower() in _DEVICES:
        return f"{value!r} is the name of a device on Windows, where no file can have it"
    same = sorted(one for one in taken if one != value and one.lower() == value.lower())
    if same:
        return f"{value!r} and {same[0]!r} are one name on a file system that ignores case"
    return None


def bad_item_id(value: object) -> str | None:
    """Return why ``value`` cannot be an item's id, or None when it can."""
    if not isinstance(value, str) or not value:
        return "an item id is a text of at least one character"
    if len(value) > ITEM_ID_LENGTH:
        return f"an item id has at most {ITEM_ID_LENGTH} characters; this one has {len(value)}"
    if value.startswith("#"):
        return f"{value!r} starts with '#', which marks the rows of a sheet that are not items"
    if not value.isprintable() and any(unicodedata.category(char) in {"Cc", "Cs"} for char in value):
        return f"{value!r} holds a control character"
    return None


def item_stem(item_id: str) -> str:
    """Return the file stem of an item id, unique on a file system that ignores case.

    Every byte outside ``A-Za-z0-9._-`` and a leading dot are percent-encoded. A stem that is too long,
    that a Windows device would take, or that another id could equal when case is ignored (`clashing`)
    ends in ``~`` and 12 hex digits of the id's sha256.
    """
    stem = _encode(item_id)
    if len(stem) > STEM_LENGTH or stem.split(".")[0].lower() in _DEVICES:
        return _with_digest(stem, item_id)
    return stem


def item_stems(item_ids: list[str]) -> dict[str, str]:
    """Return the stem of each id of one folder; ids whose stems differ only by case get a digest each."""
    stems = {item_id: item_stem(item_id) for item_id in item_ids}
    seen: dict[str, list[str]] = {}
    for item_id, stem in stems.items():
        seen.setdefault(stem.lower(), []).append(item_id)
    for ids in seen.values():
        if len(ids) > 1:
            for item_id in ids:
                stems[item_id] = _with_digest(_encode(item_id), item_id)
    return stems


def possible_stems(item_id: str) -> Iterator[str]:
    """Yield every stem under which a reader may find an item's file, ours first, a foreign raw id last."""
    encoded = _encode(item_id)
    ours = item_stem(item_id)
    yield ours
    if ours == encoded:
        yield _with_digest(encoded, item_id)
    if item_id != ours and not {"/", "\\"} & set(item_id) and item_id not in {".", ".."}:
        yield item_id


def _encode(item_id: str) -> str:
    if _PLAIN.fullmatch(item_id):  # most ids: nothing to encode
        return item_id
    raw = item_id.encode("utf-8", "surrogatepass")
    stem = "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in raw)
    return f"%2E{stem[1:]}" if stem.startswith(".") else stem


def _with_digest(stem: str, item_id: str) -> str:
    return f"{stem[: STEM_LENGTH - 13]}~{sha256_text(item_id)[:12]}"
