"""sha256 of bytes and files, as lower-case hex: the one hash that evh uses."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from evh.store.regular import open_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SHA256 = re.compile(r"[0-9a-f]{64}")


def sha256(data: bytes) -> str:
    """Return the sha256 of ``data`` as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """Return the sha256 of ``text`` encoded as UTF-8."""
    return sha256(text.encode("utf-8", "surrogatepass"))


def sha256_file(path: Path) -> str:
    """Return the sha256 of a file's bytes, read in blocks (a capture may be larger than memory)."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_sha256(value: object) -> bool:
    """Tell whether a value is what these functions return: 64 lower-case hex digits."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def sha256_lines(lines: Iterable[str]) -> str:
    """Return the sha256 of the lines, sorted, each ended by LF: a digest that no order changes."""
    return sha256_text("".join(f"{line}\n" for line in sorted(lines)))
