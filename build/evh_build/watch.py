"""Building again whenever what the pages are made of changes, in one process that keeps what it read.

The watcher is told of changes by the system. It looks at the files itself too, each time it is told of one:
a build reads every file's size and times, so that a change which nobody reported is built with the next.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project.find import SETTINGS, Project
from evh.project.memory import PASSED_OVER, Memory
from evh.project.shelf import read_each
from evh.store.atomic import is_tmp
from evh_build import site
from evh_build.assets import template_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from threading import Event

    from evh_build.site import Built, Plan

STEP_MS = 50
"""How long nothing must change before a build begins; `MOST_MS` is how long changes may keep it waiting."""
MOST_MS = 800
TICK_MS = 500
"""How often files are looked at that the system does not report: ``evh.toml``, a folder that is new."""
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What one round gave: the build, or why there is none and the old site stays.

    ``changed`` are the paths that were reported, relative to the project; none for the first round.
    """

    built: Built | None
    refusal: Refusal | None
    changed: tuple[str, ...]
    seconds: float

    @property
    def cause(self) -> str:
        """The changed paths in a few words: the first ones, the others counted."""
        more = len(self.changed) - SHOWN
        return ", ".join(self.changed[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


class Workshop:
    """One project whose site is built again and again: it keeps what was read while its files stay.

    Args:
        project: the project; its settings are read anew for each build.
        make_plan: gives the plan of a build.
    """

    def __init__(self, project: Project, make_plan: Callable[[Project], Plan]) -> None:
        self._memory = Memory()
        self._make_plan = make_plan
        self._environ: Mapping[str, str] = project.environ
        self.project = replace(project, memory=self._memory)

    def build(self) -> Built:
        """Build the site as the files are now.

        Raises:
            Refusal: the settings cannot be read, or the build is refused; the old site stays.
        """
        self._memory.look_again()
        found = Project.find(home=self.project.root, environ=self._environ)
        self.project = replace(found, memory=self._memory, notes=self.project.notes)
        gc.disable()  # it would go through all that is kept, again and again
        try:
            return site.commit(self.project, self._make_plan(self.project))
        finally:
            gc.enable()

    def warm(self) -> None:
        """Read what a build reads, where nothing is kept of it yet: the next one then reads what changed.

        Nothing is where the last build had nothing to do. Of a file that is younger than two seconds nothing
        is kept either, for it may change again and look the same: it is read once more when it is older.
        """
        if not (self._memory.is_empty or self._memory.has_settled):
            return
        self._memory.look_again()
        gc.disable()
        try:
            with contextlib.suppress(OSError):  # a file went away meanwhile: the next build sees it
                read_each([self.project], self._look, [])
        finally:
            gc.enable()

    def _look(self, project: Project) -> None:
        site.look(project, self._make_plan(project))

    def places(self) -> list[Path]:
        """Return the folders that are watched: those that are there now."""
        named = [self.project.environ.get(name) for name in ("EVAL_RUNS_DIR", "EVAL_GOALS_DIR")]
        every = [self.project.data, *template_folders(self.project), *(Path(one) for one in named if one)]
        made: list[Path] = []
        for one in every:
            real = Path(os.path.realpath(one))
            if real.is_dir() and not any(real.is_relative_to(other) for other in made):
                made.append(real)
        return made

    def settings(self) -> tuple[int, ...]:
        """Return what tells of a change of the settings, which lie beside what is watched."""
        try:
            held = (self.project.root / SETTINGS).stat()
        except OSError:
            return ()
        return (held.st_size, held.st_mtime_ns, held.st_ino)


def rounds(workshop: Workshop, stop: Event) -> Iterator[Rebuilt]:
    """Build, and build again at each change, until ``stop`` is set; give what each round did.

    A round that is refused leaves the old site; the next change is another try. Rounds that change nothing
    and that nobody caused are not given.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    settings = workshop.settings()
    yield _round(workshop, ())
    while not stop.is_set():
        watched = _known(workshop.places())
        began = False
        for paths in _changes([path for path, _ in watched], stop):
            changed = _names(workshop, paths)
            if settings != (settings := workshop.settings()):
                changed = (*changed, SETTINGS)
            if changed or not began:
                # What changed before the watch began was reported to nobody: its first round looks for it.
                made = _round(workshop, changed)
                if changed or not (made.built and made.built.nothing_changed):
                    yield made
                gc.collect()
            workshop.warm()
            began = True
            if watched != _known(workshop.places()):
                break


def _changes(places: list[Path], stop: Event) -> Iterator[set[str]]:
    """Give the paths that changed, and an empty set at each tick."""
    from watchfiles import watch

    for changes in watch(
        *places,
        watch_filter=_wanted,
        debounce=MOST_MS,
        step=STEP_MS,
        stop_event=stop,
        rust_timeout=TICK_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    ):
        yield {path for _, path in changes}


def _known(places: list[Path]) -> list[tuple[Path, int]]:
    """Return folders with what tells one from another that was put in its place."""
    made = []
    for one in places:
        with contextlib.suppress(OSError):
            made.append((one, one.stat().st_ino))
    return made


def _round(workshop: Workshop, changed: tuple[str, ...]) -> Rebuilt:
    began = time.monotonic()
    refused: list[Refusal] = []
    made: list[Built] = []
    try:
        made = read_each([workshop], Workshop.build, refused)
    except OSError as error:  # a file that went away while it was read
        place = error.filename or "the project"
        why = [f"{place}: {error.strerror or error}"]
        refused.append(Refusal("io-error", f"{place} could not be read or written", why=why))
    seconds = time.monotonic() - began
    return Rebuilt(made[0] if made else None, refused[0] if refused else None, changed, seconds)


def _wanted(_: object, path: str) -> bool:
    """Tell whether a change of a path is one of what pages are made of."""
    return not any(part in PASSED_OVER or is_tmp(part) for part in Path(path).parts)


def _names(workshop: Workshop, paths: set[str]) -> tuple[str, ...]:
    """Return paths relative to the project, or as they are where they lie elsewhere, sorted."""
    root = os.path.realpath(workshop.project.root)
    return tuple(sorted(os.path.relpath(one, root) if one.startswith(f"{root}/") else one for one in paths))
