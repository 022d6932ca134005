"""What every shelf does alike: list names, read each record, and tell which could not be read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from evh.errors import Refusal
from evh.store import atomic
from evh.store.atomic import is_tmp
from evh.store.locks import held
from evh.store.names import bad_new_id, item_stems, possible_stems
from evh.store.regular import read_file
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from evh.project.find import Project

T = TypeVar("T")
K = TypeVar("K")
MOST_LEFT_OUT = 10


def folders(place: Path) -> list[Path]:
    """Return the folders in ``place`` in the order of their names; unfinished ones are passed over.

    Raises:
        Refusal: the folder may not be read.
    """
    return _asked(place, lambda: [path for path in _visible(place) if path.is_dir()])


def files(place: Path, suffix: str) -> list[Path]:
    """Return the files in ``place`` that end in ``suffix``, in the order of their names; see `folders`."""
    return _asked(
        place, lambda: [path for path in _visible(place) if path.name.endswith(suffix) and path.is_file()]
    )


def yaml_files(place: Path) -> list[Path]:
    """Return the YAML files in ``place``, which people write, in the order of their names; see `folders`."""
    return sorted([*files(place, ".yaml"), *files(place, ".yml")])


def yaml_of(place: Path, name: str, read_name: Callable[[Path], str]) -> Path:
    """Return where the record of a name lies: under its own name, else in the file that says so.

    Args:
        place: the folder.
        name: the record's name.
        read_name: reads the name that a file gives itself. One that cannot be read is its own trouble.

    Returns:
        The file; where there is none, the one that it would be in.
    """
    own = place / f"{name}.yaml"
    if own.exists():
        return own
    return next((path for path in yaml_files(place) if read_each([path], read_name, []) == [name]), own)


def holding(places: Iterable[Path], name: str, problems: list[Refusal] | None) -> list[Path]:
    """Return the folders in each of ``places`` that hold a file called ``name``: those that are a record.

    Args:
        places: folders of folders.
        name: the record's manifest.
        problems: as in `read_each`: what may not be read does not hide the rest.
    """
    return [
        path
        for within in read_each(places, folders, problems)
        for there in read_each(within, lambda path: _asked(path, lambda: _with(path, name)), problems)
        for path in there
    ]


def listed(read: Callable[[], list[T]], problems: list[Refusal] | None) -> list[T]:
    """Return the list that ``read`` gives; empty where it is refused, as ``problems`` then tells."""
    return [one for made in read_each([None], lambda _: read(), problems) for one in made]


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


def left_out(problems: Iterable[Refusal]) -> list[str]:
    """Return a sentence for each record that could not be read, the first ten, the rest counted."""
    told = {(one.what, one.why): one for one in problems}  # found twice, it is still one
    lines = [
        f"left out: {refusal.what}" + (f" ({refusal.why[0]})" if refusal.why else "")
        for refusal in list(told.values())[:MOST_LEFT_OUT]
    ]
    if len(told) > len(lines):
        more = plural(len(told) - len(lines), "more record")
        lines.append(f"left out: {more} (evh validate lists them)")
    return lines


def missing(kind: str, name: str, known: Iterable[str], *, next: str | None = None) -> Refusal:
    """Return the Refusal for a record that is not there, with the names that are, the likeliest first."""
    import difflib

    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    listed = near or names[:10]
    hint = f"there is {', '.join(listed)}" if listed else f"there is no {kind} here yet"
    return Refusal(f"no-such-{kind.replace(' ', '-')}", f"there is no {kind} {name!r}", why=[hint], next=next)


def check_new(place: Path, kind: str) -> None:
    """Refuse a new record whose id some other system could not keep beside those that are there.

    Args:
        place: where it goes: a folder, or a manifest whose stem is the id.
        kind: what it is, for the message.
    """
    taken = _asked(place.parent, lambda: _visible(place.parent))
    reason = bad_new_id(place.name, [path.name for path in taken])
    if reason is not None:
        raise Refusal(
            "bad-id", f"that cannot be the name of a new {kind}", why=[reason], next="choose another name"
        )


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


def write_item_files(
    project: Project,
    place: Path,
    raw: Mapping[str, bytes],
    *,
    last: Mapping[str, bytes],
    kind: str,
    already: Refusal,
) -> None:
    """Write a new folder with a text an item, in files that `read_item_files` finds; it is renamed in whole.

    Args:
        project: the project.
        place: the folder.
        raw: item id → the text's bytes; empty where they lie in a file among ``last``.
        last: name → bytes of the files that are written after them, in this order: the manifest at the end.
        kind: what the folder is, in a Refusal of its name.
        already: what is raised where there is such a folder.
    """
    with held(project.locks, project.writable(place)):
        if place.exists():
            raise already
        check_new(place, kind)
        stems = item_stems(list(raw))
        try:
            with atomic.new_folder(place) as writer:
                for item_id, text in raw.items():
                    writer.add(f"{stems[item_id]}.txt", text)
                for name, data in last.items():
                    writer.add(name, data)
        except FileExistsError:
            raise already from None


def _read_item_file(folder: int, item_id: str) -> bytes | None:
    for stem in possible_stems(item_id):
        try:
            return read_file(f"{stem}.txt", folder=folder, follow=False)
        except OSError:
            continue
    return None


def _asked(place: Path, ask: Callable[[], list[Path]]) -> list[Path]:
    try:
        return ask()
    except OSError as error:
        raise Refusal(
            "cannot-read",
            f"cannot read {place}",
            why=[f"{place}: {error.strerror or error}"],
            next="mend the permissions (chmod u+rx)",
        ) from error


def _with(folder: Path, name: str) -> list[Path]:
    return [folder] if (folder / name).exists() else []


def _visible(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    return sorted(path for path in place.iterdir() if not is_tmp(path.name) and path.name[0] != ".")
