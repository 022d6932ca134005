"""What a long-lived process read before, kept while the files it was read from are as they were.

A command reads a project once and ends. A server builds again and again, and reads what changed: the shelves
ask a `Memory`, where the project has one, before they read a record's files.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from evh.store.atomic import is_tmp
from evh.store.hashing import sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
    from pathlib import Path

K = TypeVar("K")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
SETTLED_S = 2.0
"""A file younger than this may change again without a change of its times, which some systems count in
seconds: what was read from it is not kept."""
LOOKS = 100
DEPTH = 40
UNSETTLED = "/unsettled/"
"""Begins a stamp that no later one equals; no file has a ``/`` in its name."""
PASSED_OVER = frozenset({"__pycache__", ".git", ".locks"})


class Same(Generic[T_co]):
    """Stands for an object among values that are compared: two are equal where they stand for one object.

    Two records can be equal and be shown unlike: 1 and 1.0 are equal. The shelves hand out a record as the
    same object while its file stays, so that what was made of it can be known by the object.
    """

    __slots__ = ("held",)

    def __init__(self, held: T_co) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        """Tell whether the other stands for the very same object."""
        return isinstance(other, Same) and self.held is other.held

    def __hash__(self) -> int:
        """Hash the object by what it is, not by what it says."""
        return id(self.held)


@dataclass(frozen=True, slots=True)
class _Look:
    """What a place looked like, whether it is old enough to be known by that, and when it last changed.

    ``newest`` is in nanoseconds; 0 where the times of files are not what makes it unsettled.
    """

    digest: str
    settled: bool
    newest: int = 0


@dataclass(frozen=True, slots=True)
class _Of(Generic[K, T]):
    """The value of one object, and what it was made of beside."""

    one: K
    beside: object
    value: T


class Memory:
    """Values by key, each with the stamp of the files that it was made of.

    A value that is kept is handed out again as the same object: nobody changes it.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[object, object]] = {}
        self._stamps: dict[str, str] = {}
        self._looks: dict[str, _Look] = {}
        self._look_at = 0
        self._asked: dict[Hashable, int] = {}
        self._settles_at = 0

    def look_again(self) -> None:
        """Begin another look at the files: within one look each is looked at once.

        What nobody asked for in the last hundred looks is forgotten: its record is gone.
        """
        self._stamps.clear()
        self._looks.clear()
        self._settles_at = 0
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
            more: what else the value depends on, compared as values; a record as `Same`.

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

    def known(self, key: Hashable, places: Iterable[Path], make: Callable[[], T], *more: object) -> T:
        """Return what `kept` would, and change nothing that is kept: what is made now is forgotten."""
        held = self._kept.get(key)
        if held is None:
            return make()
        self._asked[key] = self._look_at
        stamp = (tuple((str(place), self.stamp(place)) for place in places), more)
        return cast("T", held[1]) if held[0] == stamp else make()

    def steady(self, key: Hashable, made: Mapping[K, T], alike: Callable[[T, T], bool]) -> dict[K, T]:
        """Return values by name, each as the object that was given for it the last time, where it is alike.

        What is made of a record again and again then stays the same object, and `Same` tells that it stayed.

        Args:
            key: names the values.
            made: the values as they are now.
            alike: tells that two values cannot be told apart: equal is not enough, for 1 and 1.0 are equal.
        """
        self._asked[key] = self._look_at
        before = cast("tuple[object, dict[K, T]]", self._kept.get(key, (None, {})))[1]
        now = {
            name: old if (old := before.get(name, value)) is value or alike(old, value) else value
            for name, value in made.items()
        }
        self._kept[key] = (None, now)
        return now

    def each(
        self,
        key: Hashable,
        held: Sequence[K],
        make: Callable[[K], T],
        *more: object,
        own: Callable[[K], object] | None = None,
        keep: bool = True,
    ) -> list[T]:
        """Return what ``make`` gives of each object; of one that was there the last time, what it gave then.

        Args:
            key: names the values.
            held: the objects, known by what they are and not by what they say: none is there twice.
            make: makes a value of one.
            more: what else the values depend on, compared as values; a record as `Same`.
            own: gives what else the value of one object depends on, compared as a value.
            keep: whether what is given now is what a later call compares with.
        """
        self._asked[key] = self._look_at
        stamp, kept = self._kept.get(key, (None, {}))
        before = cast("dict[int, _Of[K, T]]", kept) if stamp == more else {}
        now: dict[int, _Of[K, T]] = {}
        for one in held:
            beside = None if own is None else own(one)
            old = before.get(id(one))
            alike = old is not None and old.one is one and old.beside == beside
            now[id(one)] = old if old is not None and alike else _Of(one, beside, make(one))
        if keep:
            self._kept[key] = (more, now)
        return [of.value for of in now.values()]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read yet."""
        return not self._kept

    @property
    def has_settled(self) -> bool:
        """Whether what was too young to be kept in the last look no longer is: another look keeps it.

        A file whose time lies ahead is waited for by nobody.
        """
        return 0 < self._settles_at <= time.time_ns()

    def forget(self, key: Hashable) -> None:
        """Forget a value: it is made anew when it is asked for again."""
        self._kept.pop(key, None)

    def stamp(self, place: Path) -> str:
        """Return the stamp of a file, or of a folder with all that it holds; links are followed."""
        path = str(place)
        if path not in self._stamps:
            found = self._seen(path, DEPTH)
            self._stamps[path] = found.digest if found.settled else self._never(found)
        return self._stamps[path]

    def seen(self, place: Path) -> str:
        """Return the digest of what a place looks like now, however young: it tells that something changed.

        What changes again within two seconds may keep it, so that nothing is kept by it.
        """
        return self._seen(str(place), DEPTH).digest

    def _seen(self, path: str, depth: int) -> _Look:
        if path not in self._looks:
            self._looks[path] = self._look(path, depth)
        return self._looks[path]

    def _look(self, path: str, depth: int) -> _Look:
        settled = time.time_ns() - int(SETTLED_S * 1e9)
        try:
            found = os.stat(path)  # noqa: PTH116 - a str: tens of thousands of paths a look
        except OSError:
            return _Look("none", settled=True)
        if not stat.S_ISDIR(found.st_mode):
            line = f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
            newest = max(found.st_mtime_ns, found.st_ctime_ns)
            return _Look(line, settled=newest <= settled, newest=newest)
        if depth == 0:  # a link that leads back up
            return _Look("too deep", settled=False)
        try:
            return self._folder(path, depth, settled)
        except OSError:
            return _Look("not read", settled=False)

    def _folder(self, path: str, depth: int, settled: int) -> _Look:
        """Look at a folder: names and numbers apart, for tens of thousands of files go through this loop."""
        names: list[str] = []
        numbers = array("q")
        below: list[_Look] = []
        named, counted = names.append, numbers.extend
        with os.scandir(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        for entry in listed:
            name = entry.name
            if name in PASSED_OVER or is_tmp(name):
                continue
            here = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(here.st_mode):
                named(name)
                counted((here.st_ino, here.st_size, here.st_mtime_ns, here.st_ctime_ns))
                continue
            told = self._seen(entry.path, depth - 1)
            below.append(told)
            linked = f"{here.st_ino} {here.st_ctime_ns}" if stat.S_ISLNK(here.st_mode) else ""
            named(f"{name}/{linked}/{told.digest}")
        newest = max(max(numbers[2::4], default=0), max(numbers[3::4], default=0))
        text = "\0".join(names).encode("utf-8", "surrogateescape")
        return _Look(
            sha256(text + b"\0\0" + numbers.tobytes()),
            settled=newest <= settled and all(one.settled for one in below),
            newest=max([newest, *(one.newest for one in below)]),
        )

    def _never(self, found: _Look) -> str:
        """Return what no other stamp equals, of this process or of another."""
        now = time.time_ns()
        settles_at = found.newest + int(SETTLED_S * 1e9)
        if found.newest <= now < settles_at:
            self._settles_at = max(self._settles_at, settles_at)
        return f"{UNSETTLED}{secrets.token_hex(8)}"
