"""What the last build was made of, so that the next does only what changed: in ``.cache/``, never truth."""

from __future__ import annotations

import functools
import json
import os
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evh.project.memory import PASSED_OVER, Memory
from evh.store import atomic
from evh.store.hashing import sha256, sha256_lines, sha256_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.project.find import Project

RECORDS = {"labels": (2, "labels.json"), "references": (2, "manifest.json"), "captures": (1, "capture.json")}
"""Folders of ``data/`` that hold records which no command edits: how deep those lie, and their manifest."""
FINISHED = "metrics.json"
OUTPUTS = "outputs"
OVERRIDES = ("EVAL_RUNS_DIR", "EVAL_GOALS_DIR")


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of the last build: the digest of what it was made of, its bytes' sha256, size and time.

    ``inputs`` is empty for a file that is made anew at each build: an asset, the manifest.
    """

    inputs: str
    sha256: str
    size: int = -1
    mtime_ns: int = -1


@dataclass(frozen=True, slots=True)
class State:
    """The last build of one site.

    Attributes:
        tree: the stamp of all that it read, with the times of finished records' folders trusted.
        deep: the stamp with every file asked for; empty where the last build did not ask.
        guard: what a public build's files were held against; empty for a local one.
        files: every file of the site by its path.
    """

    tree: str = ""
    deep: str = ""
    guard: str = ""
    files: Mapping[str, Kept] = field(default_factory=dict)


def read(project: Project, out: Path) -> State:
    """Return the state of the last build into ``out``; an empty one where there is none that can be read."""
    try:
        raw = json.loads(_place(project, out).read_bytes())
        files = {
            path: Kept(str(one[0]), str(one[1]), int(one[2]), int(one[3]))
            for path, one in raw["files"].items()
        }
        return State(str(raw["tree"]), str(raw["deep"]), str(raw["guard"]), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return State()


def write(project: Project, out: Path, state: State) -> None:
    """Keep the state of a build into ``out``."""
    raw = {
        "tree": state.tree,
        "deep": state.deep,
        "guard": state.guard,
        "files": {
            path: [one.inputs, one.sha256, one.size, one.mtime_ns]
            for path, one in sorted(state.files.items())
        },
    }
    place = _place(project, out)
    atomic.make_folder(place.parent)
    atomic.write_unflushed(place, json.dumps(raw, separators=(",", ":")).encode())


def found(out: Path) -> dict[str, tuple[int, int]]:
    """Return the size and time of every file of a site by its path; empty where there is none.

    A link is no file of a site: it counts as one of an impossible size. Cost: one ``stat`` a file.
    """
    made: dict[str, tuple[int, int]] = {}
    waiting = [(str(out), "")] if out.is_dir() else []
    while waiting:
        place, below = waiting.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, f"{below}{entry.name}/"))
                    continue
                held = entry.stat(follow_symlinks=False)
                size = -2 if entry.is_symlink() else held.st_size
                made[f"{below}{entry.name}"] = (size, held.st_mtime_ns)
    return made


def stamp(project: Project, folders: Iterable[Path], *more: object, deep: bool = False) -> str:
    """Return a stamp of everything that a build reads: paths, sizes and times, and ``more``.

    A record that no command edits (a label set, a reference set, a capture, a finished run) is taken by its
    folder's time and its manifest's: files in it are asked for one by one only with ``deep``. An edit by
    hand inside such a file is then not seen, and ``evh validate`` finds it.

    Args:
        project: the project.
        folders: where the templates lie.
        more: whatever else the pages depend on.
        deep: ask for every file.

    Cost: one ``stat`` a file that is asked for, two a record that is not; only evh's own code is opened. A
    project's memory asks for every file once: what a build makes of them goes by the same look, and a process
    without one looks in the same way, so that each knows what the other has built.
    """
    lines = [f"{part!r}" for part in more] + [code()]
    named = [(name, project.environ.get(name)) for name in OVERRIDES]
    others = [(name, place) for name, place in named if place and Path(place).is_dir()]
    if deep:
        memory = project.memory or Memory()
        every = [project.data, *(Path(place).absolute() for _, place in others), *folders]
        lines += [f"{place} {memory.seen(place)}" for place in every]
    else:
        lines += _files(str(project.data), "", trusting=True)
        for name, place in others:
            lines += _files(place, "runs" if name == "EVAL_RUNS_DIR" else "", trusting=True)
        for base in folders:
            lines += _files(str(base), "", trusting=False)
    settings = project.root / "evh.toml"
    if settings.is_file():
        lines.append(_line(str(settings), settings.stat()))
    return sha256_text("\n".join(lines))


@functools.cache
def code() -> str:
    """Return the digest of what makes pages: evh's own code and guide, read once a process."""
    import evh

    bases = [Path(__file__).parent, Path(evh.__file__).parent]
    endings = ("*.py", "*.sql", "*.md")
    paths = sorted(path for base in bases for ending in endings for path in base.rglob(ending))
    return sha256_lines(f"{path.parent.name}/{path.name} {sha256(path.read_bytes())}" for path in paths)


def inputs_of(closure: str, code_digest: str, told: str) -> str:
    """Return the digest of what a page is made of: its templates, the code, the digest of its context."""
    return sha256_text(f"{closure}\0{code_digest}\0{told}")


def _place(project: Project, out: Path) -> Path:
    return project.cache / "catalog" / f"{sha256_text(os.path.realpath(out))[:16]}.json"


def _files(base: str, below: str, *, trusting: bool) -> list[str]:
    """Return a line a folder, or a finished record, below ``base``; a folder's tells of its files.

    Args:
        base: the folder.
        below: its own path below ``data/``, by which records are known.
        trusting: whether a finished record is taken by its folder and its manifest.
    """
    lines: list[str] = []
    waiting = [(base, below)]
    while waiting:
        place, at = waiting.pop()
        manifest = _manifest_of(at) if trusting else None
        taken = _record(place, manifest) if manifest is not None else None
        if taken is not None:
            lines.append(taken)
            continue
        digest, folders = _folder(place)
        lines.append(f"{place} {digest}")
        waiting += [(f"{place}/{name}", f"{at}/{name}" if at else name) for name in folders]
    return lines


def _folder(place: str) -> tuple[str, list[str]]:
    """Return the digest of a folder's own files, by name, size and times, and the names of its folders.

    This is the loop that a hundred thousand files go through: names and numbers are gathered apart, and each
    file is asked for by its name in the open folder, not by its whole path.
    """
    names: list[str] = []
    numbers = array("q")
    folders: list[str] = []
    named, counted = names.append, numbers.extend
    descriptor = os.open(place, os.O_RDONLY)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                name = entry.name
                if name in PASSED_OVER or name.startswith(".tmp-"):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                else:
                    held = entry.stat(follow_symlinks=False)
                    named(name)
                    counted((held.st_size, held.st_mtime_ns, held.st_ctime_ns))
    finally:
        os.close(descriptor)
    folders.sort()
    told = "\0".join([*folders, "", *names]).encode("utf-8", "surrogateescape")
    return sha256(told + numbers.tobytes()), folders


def _manifest_of(at: str) -> str | None:
    """Return the name of the manifest of a folder that may be a record, by its path below ``data/``."""
    kind, _, rest = at.partition("/")
    if not rest:
        return None
    if kind.startswith("runs"):
        return FINISHED if "/" not in rest else None
    depth, manifest = RECORDS.get(kind, (0, ""))
    return manifest if rest.count("/") + 1 == depth else None


def _record(place: str, manifest: str) -> str | None:
    """Return the line of a finished record; None without its manifest: it is walked like any folder."""
    try:
        held = Path(place, manifest).lstat()
    except OSError:
        return None
    folder = Path(place).stat()
    line = f"{_line(place, folder)} {held.st_size} {held.st_mtime_ns} {held.st_ctime_ns}"
    if manifest == FINISHED:
        try:
            line += f" {Path(place, OUTPUTS).lstat().st_mtime_ns}"
        except OSError:
            return line
    return line


def _line(path: str, held: os.stat_result) -> str:
    return f"{path} {held.st_size} {held.st_mtime_ns} {held.st_ctime_ns}"
