"""A sheet's data as its page's scripts read it: columns inline or packed, and the rows in full in chunks."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from array import array
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from evh.store.hashing import sha256
from evh_build.page import File

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evh_build.sheet_columns import Column

INLINE_ROWS = 2_000
"""Up to this many rows the columns stand in the page; above, in a file of their own."""
CHUNK = 400
"""How many rows in full one file has."""
MOST_CODES = 60_000

# What could end a script or an element, and what cannot be seen or would reorder what can.
_UNSAFE = re.compile(
    "[<>&\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class Data:
    """What a page and its files hold: ``inline`` or, of a large sheet, ``script`` has the columns."""

    inline: Markup | None
    script: str | None
    files: tuple[File, ...]


def embedded(value: object) -> str:
    r"""Return a value as compact JSON that is inert inside a page or a script.

    ``< > &``, U+2028/2029 and hidden characters are ``\uXXXX``; half a surrogate pair, which no file holds,
    is ``?``.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(_escaped, text).encode("utf-8", "replace").decode()


def data(
    folder: str,
    columns: Sequence[Column],
    about: dict[str, Any],
    full: Iterable[str],
    n_rows: int,
) -> Data:
    """Return a sheet's columns and the files that hold its rows in full.

    Args:
        folder: the page's folder in the site.
        columns: its columns.
        about: what else the scripts read: JSON values.
        full: gives each row in full, as `embedded` JSON.
        n_rows: how many rows there are.

    Cost: the rows in full are made one chunk at a time; their names hold their digest, so that a browser
    never mixes two builds.
    """
    rows = iter(full)
    files = []
    names = []
    for number in range(-(-n_rows // CHUNK)):
        chunk = ",".join(islice(rows, CHUNK))
        file = _script(folder, f"rows-{number}", f"evhSheet.chunk({number},[{chunk}])")
        files.append(file)
        names.append(file.path.rpartition("/")[2])
    head = {**about, "n": n_rows, "chunk": CHUNK, "chunks": names}
    if n_rows <= INLINE_ROWS:
        text = embedded({**head, "columns": [_described(one, _listed(one)) for one in columns]})
        return Data(Markup(text), None, tuple(files))  # noqa: S704 - made inert just before
    raw = packed(head, columns)
    name = f"data.{sha256(raw)[:12]}.js"

    def make() -> bytes:
        text = base64.b64encode(gzip.compress(raw, compresslevel=6, mtime=0)).decode()
        return f'"use strict";evhSheet.data("{text}")'.encode()

    return Data(None, name, (*files, File(f"{folder}/{name}", name, make)))


def packed(head: dict[str, Any], columns: Sequence[Column]) -> bytes:
    """Return columns as bytes: the length of a JSON head, the head, then each column at a multiple of 8.

    Numbers are float64 (NaN for none), codes the narrowest of uint8, 16 and 32, texts UTF-8 lines; all are
    little-endian. A column's part of the head says where it begins and how many bytes it has.
    """
    parts: list[bytes] = []
    described = []
    at = 0
    for column in columns:
        form, body, more = _packed(column)
        described.append(_described(column, {"form": form, "at": at, "bytes": len(body), **more}))
        parts += [body, bytes(-len(body) % 8)]
        at += len(body) + len(parts[-1])
    text = embedded({**head, "columns": described}).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _script(folder: str, stem: str, text: str) -> File:
    raw = f'"use strict";{text}'.encode()
    name = f"{stem}.{sha256(raw)[:12]}.js"
    return File(f"{folder}/{name}", name, lambda: raw)


def _described(column: Column, more: dict[str, Any]) -> dict[str, Any]:
    told = {
        "key": column.key,
        "title": column.title,
        "role": column.role,
        "arm": column.arm,
        "set": column.place,
        "on": column.on,
        "higher": column.higher,
        "flags": list(column.flags),
        "foot": [list(line) for line in column.foot],
    }
    empty: tuple[Any, ...] = (None, "", [])
    return {key: value for key, value in told.items() if value not in empty} | more


def _listed(column: Column) -> dict[str, Any]:
    if column.number:
        return {"form": "number", "values": [_short(value) for value in column.values]}
    coded = _codes(column)
    if coded is None:
        return {"form": "text", "values": [value or "" for value in column.values]}
    return {"form": "codes", "names": coded.names, "values": coded.codes}


def _packed(column: Column) -> tuple[str, bytes, dict[str, Any]]:
    if column.number:
        nan = float("nan")
        return "number", _little(array("d", (nan if one is None else one for one in column.values))), {}
    coded = _codes(column)
    if coded is None:
        text = "\n".join(str(value or "") for value in column.values)
        return "text", text.encode("utf-8", "replace"), {}
    width = 1 if len(coded.names) <= 256 else 2
    return (
        "codes",
        _little(array("B" if width == 1 else "H", coded.codes)),
        {"names": coded.names, "width": width},
    )


@dataclass(frozen=True, slots=True)
class _Coded:
    """A column as codes: the names, the most frequent first, and for each row its name's place."""

    names: list[str | None]
    codes: list[int]


def _codes(column: Column) -> _Coded | None:
    """Return a column as codes, or None where its texts hardly repeat: an id, a text."""
    counts = Counter(column.values)
    if column.role in ("item", "text") or len(counts) > min(max(64, len(column.values) // 4), MOST_CODES):
        return None
    names = sorted(counts, key=lambda name: (-counts[name], name is None, str(name)))
    code = {name: at for at, name in enumerate(names)}
    return _Coded(
        [None if name is None else str(name) for name in names], [code[value] for value in column.values]
    )


def _short(value: object) -> object:
    """Return a number without a needless ``.0``."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _little(values: array[Any]) -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()
