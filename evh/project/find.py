"""Finding the project that a command works in, with its settings and its clock."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evh.errors import Refusal
from evh.records import settings as settings_record
from evh.records.settings import Settings
from evh.store import clock, strict

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping
    from datetime import datetime

    from evh.project.memory import Memory

T = TypeVar("T")
SETTINGS = "evh.toml"
OVERRIDES = ("EVAL_HOME", "EVAL_DATA_DIR", "EVAL_RUNS_DIR", "EVAL_GOALS_DIR")


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a ``data/``. Paths, settings and the clock; the shelves do the reading and writing.

    ``notes`` are lines that every command shows on stderr: which settings point away from the folder
    that the user stands in. ``memory`` keeps what was read, in a process that reads the project again and
    again; None in every other.
    """

    root: Path
    data: Path
    settings: Settings = field(default_factory=Settings)
    environ: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    memory: Memory | None = field(default=None, compare=False, repr=False)

    @classmethod
    def find(
        cls,
        start: Path | str | None = None,
        *,
        home: Path | str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Project:
        """Return the project: ``home``, else ``EVAL_HOME``, else the nearest folder upward with ``data/``.

        Args:
            start: the folder to look upward from; the current one by default.
            home: the project's folder, named outright (``-C``).
            environ: the environment; the process's own by default.

        Raises:
            Refusal: there is no project there, or its settings cannot be read.
        """
        environ = dict(os.environ if environ is None else environ)
        start = Path(start or Path.cwd()).absolute()
        named = (
            Path(home).absolute()
            if home
            else Path(environ["EVAL_HOME"]).absolute()
            if environ.get("EVAL_HOME")
            else None
        )
        root = named or _upward(start)
        data = Path(environ["EVAL_DATA_DIR"]).absolute() if environ.get("EVAL_DATA_DIR") else root / "data"
        if not data.is_dir():
            raise Refusal(
                "no-project",
                f"there is no evh project in {root}",
                why=[f"{data}: no such folder"],
                next="evh init --name NAME, or evh -C DIR … with the folder that holds data/",
            )
        path = root / SETTINGS
        settings = (
            settings_record.parse(strict.parse_toml(strict.read_bytes(path), path), path)
            if path.is_file()
            else Settings()
        )
        notes = _notes(start, environ, home=root if home else None)
        return cls(root=root, data=data, settings=settings, environ=environ, notes=notes)

    @property
    def name(self) -> str:
        """The project's name, for people; "evh project" where ``evh.toml`` gives none."""
        return self.settings.name or "evh project"

    @property
    def locks(self) -> Path:
        """The folder of lock files."""
        return self.writable(self.data / ".locks")

    @property
    def cache(self) -> Path:
        """What can be deleted at any time: never truth."""
        return self.writable(self.root / ".cache")

    def now(self) -> datetime:
        """Return the time in UTC: ``EVH_NOW`` where it is set, else the machine's."""
        return clock.now(self.environ.get("EVH_NOW"))

    def stamp(self) -> str:
        """Return the time as records write it, ``2026-11-01T08:02:32Z``."""
        return clock.stamp(self.now())

    def show(self, path: Path) -> str:
        """Return a path as people read it: relative to the project where it lies in it."""
        try:
            return str(path.relative_to(self.root))
        except ValueError:
            return str(path)

    def kept(self, key: Hashable, places: Iterable[Path], make: Callable[[], T], *more: object) -> T:
        """Return what ``make`` gives, or gave when the files in ``places`` were as now; see `Memory.kept`.

        The shelves ask this where reading costs. Without a memory it is ``make()``.
        """
        return make() if self.memory is None else self.memory.kept(key, places, make, *more)

    def inside(self, path: Path) -> bool:
        """Tell whether a path, links resolved, lies in the project, its data folder or ``EVAL_RUNS_DIR``."""
        if _no_link_below(path, self.data):
            return True
        bases = [self.root, self.data]
        if self.environ.get("EVAL_RUNS_DIR"):
            bases.append(Path(self.environ["EVAL_RUNS_DIR"]))
        real = os.path.realpath(path)
        return any(Path(real).is_relative_to(os.path.realpath(base)) for base in bases)

    def readable(self, path: Path, *bases: Path) -> Path:
        """Return a path that is about to be read, or refuse one that a link leads out of the project.

        ``bases`` are folders that it may lie in too, where the user named one.
        """
        real = Path(os.path.realpath(path))
        if not self.inside(path) and not any(real.is_relative_to(os.path.realpath(one)) for one in bases):
            raise Refusal(
                "outside",
                f"{self.show(path)} leads out of the project",
                why=[f"{self.show(path)}: a link leads to {real}; it is not read"],
                next="replace the link by a file of the project's own",
            )
        return path

    def writable(self, path: Path) -> Path:
        """Return a path that is about to be written, or refuse one that a link leads out of the project.

        Every shelf asks before it writes, and so does whoever takes a lock.
        """
        if not self.inside(path):
            raise Refusal(
                "outside",
                f"{self.show(path)} leads out of the project",
                why=[
                    f"{self.show(path)}: a link leads to {os.path.realpath(path)}; nothing is written there"
                ],
                next="replace the link by a folder or a file of the project's own",
            )
        return path


def _upward(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / "data").is_dir():
            return folder
    raise Refusal(
        "no-project",
        f"there is no evh project in {start} or above it",
        why=[f"{start}: neither it nor a folder above it holds data/"],
        next="evh init --name NAME, or evh -C DIR … with the folder that holds data/",
    )


def _notes(start: Path, environ: Mapping[str, str], *, home: Path | None) -> tuple[str, ...]:
    """Return, in one line, which variables point away from the project that the user stands in or named.

    The project is the nearest one upward of ``start``; ``start`` itself where there is none.
    """
    here = next((one for one in (start, *start.parents) if (one / "data").is_dir()), None)
    named = {name: Path(environ[name]).absolute() for name in OVERRIDES if environ.get(name)}
    away: list[str] = []
    for name, path in named.items():
        if name == "EVAL_HOME":
            fits = home is not None or (_within(start, path) if here is None else _same(path, here))
        else:
            fits = _within(path, home or here or start)
        if not fits:
            away.append(f"{name} {'to' if away else 'points to'} {environ[name]}")
    if not away:
        return ()
    told = away[0] if len(away) == 1 else f"{', '.join(away[:-1])} and {away[-1]}"
    return (f"note: {told}, away from {home or 'the folder you are in'}",)


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _no_link_below(path: Path, base: Path) -> bool:
    """Tell whether a path lies below a folder with no link on the way: one look a part of it."""
    if not path.is_relative_to(base) or ".." in path.parts:
        return False
    while path != base:
        if path.is_symlink():
            return False
        path = path.parent
    return True


def _within(path: Path, base: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(base))
