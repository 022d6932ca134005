"""What every shelf does alike: list names, read each record, and tell which could not be read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from evh.errors import Refusal
from evh.store.atomic import is_tmp
from evh.store.names import possible_stems
from evh.store.regular import open_file

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

    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    listed = near or names[:10]
    hint = f"there is {', '.join(listed)}" if listed else f"there is no {kind} here yet"
    return Refusal(f"no-such-{kind.replace(' ', '-')}", f"there is no {kind} {name!r}", why=[hint], next=next)


def read_item_files(place: Path, item_ids: Iterable[str], record: str) -> dict[str, bytes]:
    """Return the bytes of each item's ``.txt`` in a folder, in the order of the ids; no link is followed.

    Args:
        place: the folder. It is opened once: thousands of files are read without resolving a path for each.
        item_ids: the items.
        record: what names the folder in a reason, such as ``labels/d/s``.

    Raises:
        Refusal: the folder cannot be opened, or every item whose file is missing.
    """
    try:
        descriptor = os.open(place, os.O_RDONLY)
    except OSError as error:
        raise Refusal("cannot-read", f"cannot read {place}", why=[f"{place}: {error.strerror}"]) from error
    try:
        found = {item_id: _read_item_file(descriptor, item_id) for item_id in item_ids}
    finally:
        os.close(descriptor)
    reasons = [f"{record}: {item_id}: its file is missing" for item_id, data in found.items() if data is None]
    if reasons:
        raise Refusal(
            "missing-label", f"{record} lacks texts", why=reasons, next="restore the folder (git checkout)"
        )
    return {item_id: data for item_id, data in found.items() if data is not None}


def _read_item_file(folder: int, item_id: str) -> bytes | None:
    for stem in possible_stems(item_id):
        try:
            with open_file(f"{stem}.txt", folder=folder, follow=False) as file:
                return file.read()
        except OSError:
            continue
    return None


def _visible(path: Path) -> bool:
    return not is_tmp(path.name) and not path.name.startswith(".")
