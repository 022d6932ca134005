"""What the last build was made of, so that the next does only what changed: in ``.cache/``, never truth."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evh.store import atomic
from evh.store.hashing import sha256, sha256_lines, sha256_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.project.find import Project

PASSED_OVER = {".locks", "__pycache__", ".git"}


@dataclass(frozen=True, slots=True)
class Kept:
    """One page of the last build: the digest of what it was made of, and of its bytes."""

    inputs: str
    sha256: str


@dataclass(frozen=True, slots=True)
class State:
    """The last build of one site: the stamp of the tree, the digest of its manifest, its pages by path."""

    tree: str = ""
    manifest: str = ""
    pages: Mapping[str, Kept] = field(default_factory=dict)


def read(project: Project, out: Path) -> State:
    """Return the state of the last build into ``out``; an empty one where there is none that can be read."""
    try:
        raw = json.loads(_place(project, out).read_bytes())
        pages = {path: Kept(str(one[0]), str(one[1])) for path, one in raw["pages"].items()}
        return State(str(raw["tree"]), str(raw["manifest"]), pages)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return State()


def write(project: Project, out: Path, state: State) -> None:
    """Keep the state of a build into ``out``."""
    raw = {
        "tree": state.tree,
        "manifest": state.manifest,
        "pages": {path: [one.inputs, one.sha256] for path, one in sorted(state.pages.items())},
    }
    place = _place(project, out)
    atomic.make_folder(place.parent)
    atomic.write_unflushed(place, json.dumps(raw, indent=0).encode())


def stamp(project: Project, folders: Iterable[Path], *more: object) -> str:
    """Return a stamp of everything that a build reads: each file's path, size and times, and ``more``.

    Cost: one ``stat`` a file; no file is opened but evh's own code.
    """
    lines = [f"{part!r}" for part in more] + [code()]
    for base in (project.data, *folders):
        lines += _files(base)
    settings = project.root / "evh.toml"
    if settings.is_file():
        lines.append(_line(settings, settings.stat()))
    return sha256_lines(lines)


def code() -> str:
    """Return the digest of the code that makes pages."""
    here = Path(__file__).parent
    paths = sorted([*here.rglob("*.py"), *here.rglob("*.sql")])
    return sha256_lines(f"{path.relative_to(here)} {sha256(path.read_bytes())}" for path in paths)


def inputs_of(closure: str, code_digest: str, context: object) -> str:
    """Return the digest of what a page is made of: its templates, the code, its context's values."""
    return sha256_text(f"{closure}\0{code_digest}\0{context!r}")


def _place(project: Project, out: Path) -> Path:
    return project.cache / "catalog" / f"{sha256_text(os.path.realpath(out))[:16]}.json"


def _files(base: Path) -> list[str]:
    lines: list[str] = []
    waiting = [str(base)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name in PASSED_OVER or atomic.is_tmp(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    lines.append(_line(Path(entry.path), entry.stat(follow_symlinks=False)))
    return lines


def _line(path: Path, found: os.stat_result) -> str:
    return f"{path} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
