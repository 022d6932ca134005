"""What every shelf does alike: list names, read each record, and tell which could not be read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from evh.errors import Refusal
from evh.store.atomic import is_tmp
from evh.store.names import possible_stems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

T = TypeVar("T")
K = TypeVar("K")


def folders(place: Path) -> list[Path]:
    """Return the folders in ``place`` in the order of their names; unfinished ones are passed over."""
    if not place.is_dir():
        return []
    return sorted(path for path in place.iterdir() if _visible(path) and path.is_dir())


def files(place: Path, suffix: str) -> list[Path]:
    """Return the files in ``place`` that end in ``suffix``, in the order of their names."""
    if not place.is_dir():
        return []
    return sorted(
        path for path in place.iterdir() if _visible(path) and path.name.endswith(suffix) and path.is_file()
    )


def read_each(keys: Iterable[K], read: Callable[[K], T], problems: list[Refusal] | None) -> list[T]:
    """Return ``read(key)`` of each key.

    Args:
        keys: what to read.
        read: reads one record, or raises a Refusal.
        problems: where the Refusals of unreadable records are put; None raises the first.
    """
    made = []
    for key in keys:
        try:
            made.append(read(key))
        except Refusal as refusal:
            if problems is None:
                raise
            problems.append(refusal)
    return made


def missing(kind: str, name: str, known: Iterable[str], *, next: str | None = None) -> Refusal:
    """Return the Refusal for a record that is not there, with the names that are, the likeliest first."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    listed = near or names[:10]
    hint = f"there is {', '.join(listed)}" if listed else f"there is no {kind} here yet"
    return Refusal(f"no-such-{kind.replace(' ', '-')}", f"there is no {kind} {name!r}", why=[hint], next=next)


def read_item_file(folder: int, item_id: str) -> bytes | None:
    """Return the bytes of an item's ``.txt`` in an open folder, or None; no link is followed.

    Args:
        folder: the folder's descriptor: thousands of files are read without resolving a path for each.
        item_id: the item.
    """
    for stem in possible_stems(item_id):
        try:
            descriptor = os.open(f"{stem}.txt", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        except OSError:
            continue
        try:
            chunks = []
            while chunk := os.read(descriptor, 65536):
                chunks.append(chunk)
            return b"".join(chunks)
        finally:
            os.close(descriptor)
    return None


def _visible(path: Path) -> bool:
    return not is_tmp(path.name) and not path.name.startswith(".")
