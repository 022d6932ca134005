"""What a long-lived process read before, kept while the files it was read from are as they were.

A command reads a project once and ends. A server builds again and again, and reads what changed: the shelves
ask a `Memory`, where the project has one, before they read a record's files.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from typing import TYPE_CHECKING, TypeVar, cast

from evh.store.atomic import is_tmp
from evh.store.hashing import sha256_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from pathlib import Path

T = TypeVar("T")
SETTLED_S = 2.0
"""A file younger than this may change again without a change of its times, which some systems count in
seconds: what was read from it is not kept."""
LOOKS = 100
DEPTH = 40
UNSETTLED = "/unsettled/"
"""Begins a stamp that no later one equals; no file has a ``/`` in its name."""
PASSED_OVER = frozenset({"__pycache__", ".git", ".locks"})


class Memory:
    """Values by key, each with the stamp of the files that it was made of.

    A value that is kept is handed out again as the same object: nobody changes it.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[object, object]] = {}
        self._stamps: dict[str, str] = {}
        self._look_at = 0
        self._asked: dict[Hashable, int] = {}

    def look_again(self) -> None:
        """Begin another look at the files: within one look each is looked at once.

        What nobody asked for in the last hundred looks is forgotten: its record is gone.
        """
        self._stamps.clear()
        self._look_at += 1
        for key in [key for key, last in self._asked.items() if self._look_at - last > LOOKS]:
            del self._asked[key]
            self._kept.pop(key, None)

    def kept(self, key: Hashable, places: Iterable[Path], make: Callable[[], T], *more: object) -> T:
        """Return what ``make`` gave before, if the files are as they were; else what it gives now.

        Args:
            key: names the value.
            places: every file and folder that ``make`` reads; one that is not there counts too.
            make: reads it. What it raises is raised, and nothing is kept.
            more: what else the value depends on, compared as values.

        Cost: a ``stat`` a file, the first time in each look.
        """
        # The stamp is taken before the reading: what changes in between is read again the next time.
        stamp = (tuple((str(place), self.stamp(place)) for place in places), more)
        self._asked[key] = self._look_at
        held = self._kept.get(key)
        if held is not None and held[0] == stamp:
            return cast("T", held[1])
        self._kept.pop(key, None)
        made = make()
        self._kept[key] = (stamp, made)
        return made

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read yet."""
        return not self._kept

    def forget(self, key: Hashable) -> None:
        """Forget a value: it is made anew when it is asked for again."""
        self._kept.pop(key, None)

    def stamp(self, place: Path) -> str:
        """Return the stamp of a file, or of a folder with all that it holds; links are followed."""
        return self._stamp(str(place), DEPTH)

    def _stamp(self, path: str, depth: int) -> str:
        if path not in self._stamps:
            self._stamps[path] = self._look(path, depth)
        return self._stamps[path]

    def _look(self, path: str, depth: int) -> str:
        try:
            found = os.stat(path)  # noqa: PTH116 - a str: tens of thousands of paths a look
        except OSError:
            return "none"
        if not stat.S_ISDIR(found.st_mode):
            return self._line(found)
        if depth == 0:  # a link that leads back up
            return self._never()
        try:
            with os.scandir(path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return self._never()
        lines = []
        for entry in listed:
            if entry.name in PASSED_OVER or is_tmp(entry.name):
                continue
            lines.append(f"{entry.name} {self._entry(entry, depth)}")
        return self._never() if any(UNSETTLED in line for line in lines) else sha256_lines(lines)

    def _entry(self, entry: os.DirEntry[str], depth: int) -> str:
        try:
            if entry.is_symlink():
                here = entry.stat(follow_symlinks=False)
                return f"{here.st_ino} {here.st_ctime_ns} {self._stamp(entry.path, depth - 1)}"
            if entry.is_dir():
                return self._stamp(entry.path, depth - 1)
            return self._line(entry.stat())
        except OSError:
            return self._never()

    def _line(self, found: os.stat_result) -> str:
        newest = max(found.st_mtime_ns, found.st_ctime_ns)
        young = time.time_ns() - newest < SETTLED_S * 1e9
        line = f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
        return self._never() if young else line

    def _never(self) -> str:
        """Return what no other stamp equals, of this process or of another."""
        return f"{UNSETTLED}{secrets.token_hex(8)}"
