"""Checks of the folder itself: git's rule for bytes, leftovers, links, and files that only grow."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evh.project import logs
from evh.project.find import SETTINGS
from evh.project.memory import PASSED_OVER
from evh.store import journal
from evh.store.atomic import is_tmp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evh.acts.findings import Findings
    from evh.project.find import Project

GIT_RULE = "* -text"
FOLDERS = [
    "adapters",
    "baselines",
    "captures",
    "configs",
    "datasets",
    "guidelines",
    "judges",
    "labels",
    "references",
    "rules",
    "runs",
    "sources",
]
FILES = {"adapters": (".py",), "baselines": (".json",), "configs": (".yaml", ".yml"), "datasets": (".json",)}
"""The endings of the files that each of these folders holds."""
_WRITER = re.compile(r"\.tmp-.*-(\d+)-[0-9a-f]{8}", re.DOTALL)


def check(found: Findings) -> None:
    """Check what concerns no single record."""
    _check_gitattributes(found)
    _check_kinds(found)
    _check_links(found)
    _check_journals(found)


def leftovers(project: Project) -> list[Path]:
    """Return what unfinished writes left: every ``.tmp-*`` under ``data/``, sorted; nothing inside of one."""
    return sorted(path for path in walk(project.data) if is_tmp(path.name))


def writer_of(path: Path) -> int | None:
    """Return the process that may still be writing a leftover, or None: it is gone, or none is named."""
    named = _WRITER.fullmatch(path.name)
    if named is None or int(named[1]) == os.getpid():
        return None
    pid = int(named[1])
    try:
        os.kill(pid, 0)  # sends nothing: it asks whether there is such a process
    except PermissionError:
        return pid
    except (ProcessLookupError, OverflowError):
        return None
    return pid


def walk(folder: Path, *, unreadable: Callable[[Path, OSError], object] | None = None) -> Iterator[Path]:
    """Yield every path below a folder in order; links are named and not followed, leftovers not entered.

    Folders that are nobody's record, of locks, of Python's compiled files and of git, are passed over.

    Args:
        folder: where to start.
        unreadable: called with each folder that may not be read, and why; it is not entered.
    """
    if not folder.is_dir():
        return
    try:
        os.stat(os.path.join(folder, "."))  # noqa: PTH116, PTH118 - a Path drops the dot: may it be entered?
        entries = sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError as error:
        if unreadable is not None:
            unreadable(folder, error)
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.name in PASSED_OVER and entry.is_dir(follow_symlinks=False):
            continue
        yield path
        if entry.is_dir(follow_symlinks=False) and not is_tmp(entry.name):
            yield from walk(path, unreadable=unreadable)


def _check_gitattributes(found: Findings) -> None:
    path = found.project.data / ".gitattributes"
    fix = f"write {GIT_RULE!r} into it, or git changes bytes on some clones"
    if not path.is_file():
        found.error("gitattributes", path, f"it is missing: {fix}")
        return
    lines = [line.strip() for line in path.read_bytes().decode("utf-8", "replace").splitlines()]
    rules = [" ".join(line.split()) for line in lines if line and not line.startswith("#")]
    if GIT_RULE not in rules:
        found.error("gitattributes", path, f"it does not say {GIT_RULE!r}: {fix}")
        return
    for rule in rules[rules.index(GIT_RULE) + 1 :]:
        if any(
            word.split("=")[0].lstrip("!") in {"text", "eol", "crlf", "filter"} for word in rule.split()[1:]
        ):
            found.error("gitattributes", path, f"{rule!r} undoes {GIT_RULE!r} for some files")


def _check_kinds(found: Findings) -> None:
    """Find what lists of a shelf pass over: a file where a folder belongs, and the reverse."""
    data = found.project.data
    entries = sorted(data.iterdir())
    for path in entries:
        if (path.name in FOLDERS or path.name.startswith("runs-")) and not path.is_dir():
            found.error("wrong-kind", path, f"it is {_kind(path)}, where a folder belongs")
    files = [found.project.root / SETTINGS, data / "picks.jsonl"]
    for name, endings in FILES.items():
        place = data / name
        files += found.attempt(place, _no_files, place, endings) or []
    for path in files:
        if os.path.lexists(path) and not path.is_file():
            found.error("wrong-kind", path, f"it is {_kind(path)}, where a file belongs")


def _no_files(place: Path, endings: Sequence[str]) -> list[Path]:
    """Return what is no file in a folder, but is named like one."""
    if not place.is_dir():
        return []
    named = [path for path in sorted(place.iterdir()) if path.suffix in endings and path.name[0] != "."]
    return [path for path in named if not path.is_file()]


def _kind(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    if path.is_file():
        return "a file"
    return "a link that leads nowhere" if path.is_symlink() else "a pipe or a device"


def _check_links(found: Findings) -> None:
    def unreadable(path: Path, error: OSError) -> None:
        found.error("cannot-read", path, error.strerror or str(error))

    for path in walk(found.project.data, unreadable=unreadable):
        if path.is_symlink() and not found.project.inside(path):
            found.error(
                "outside", path, f"a link that leads out of the project, to {path.readlink()}; not followed"
            )
        elif path.name == ".gitattributes" and path.parent != found.project.data:
            found.warning(
                "gitattributes", path, "it may undo the rule of data/.gitattributes for this folder"
            )


def _check_journals(found: Findings) -> None:
    data = found.project.data
    for folder in (data / "logs", data / "label"):
        for path in walk(folder):
            grows = path.suffix == ".jsonl" and path.name != logs.CHUNKS  # a log's chunks are written whole
            if grows and path.is_file() and found.project.inside(path):
                check_journal(found, path)


def check_journal(found: Findings, path: Path) -> None:
    """Check an append-only file: whole lines, each one JSON object; a torn last line is a warning."""
    held = found.attempt(path, journal.read, path)
    if held is not None and held.torn is not None:
        found.warning(
            "torn-line",
            path,
            f"the last line was cut by a crash ({len(held.torn)} bytes); the next writer drops it",
        )
