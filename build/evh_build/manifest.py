"""What a built site says of itself: ``manifest.json`` and ``stamp.js``, which an open page looks at again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evh import __version__
from evh.errors import Refusal
from evh.store import strict
from evh.store.hashing import is_sha256, sha256_lines
from evh_build.text import script_json

if TYPE_CHECKING:
    from collections.abc import Mapping

MANIFEST = "manifest.json"
STAMP = "stamp.js"
FORM = "evh catalog/1"
LIBRARIES = ("duckdb", "jinja2", "markdown-it-py", "markupsafe", "pyarrow")
"""The locked libraries that the bytes of a page depend on."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LARGEST = 1 << 26


@dataclass(frozen=True, slots=True)
class Manifest:
    """A site's manifest: whether it was built to be published, and each file's sha256 by its path."""

    public: bool
    files: Mapping[str, str]


def versions() -> dict[str, str]:
    """Return the versions of evh and of the locked libraries that make the bytes."""
    from importlib import metadata

    return {"evh": __version__} | {name: metadata.version(name) for name in LIBRARIES}


def installed() -> int:
    """Return the time of the folder that the libraries are installed in: it moves when one is exchanged.

    Asking each for its version takes longer than a build that changes nothing.
    """
    found = find_spec("jinja2")
    return Path(found.origin).parents[1].stat().st_mtime_ns if found and found.origin else 0


def manifest(files: Mapping[str, str], *, data_sha256: str, commit: str | None, public: bool) -> bytes:
    """Return the bytes of ``manifest.json``.

    Args:
        files: each file's sha256 by its path, ``stamp.js`` among them.
        data_sha256: the digest of the data that the pages were made of.
        commit: the commit that the project's folder is at.
        public: whether the site was built to be published.
    """
    return strict.dump_manifest(
        {
            "form": FORM,
            "versions": versions(),
            "commit": commit,
            "data_sha256": data_sha256,
            "public": public,
            "files": dict(files),
        }
    )


def stamp(files: Mapping[str, str], *, data_sha256: str, commit: str | None) -> bytes:
    """Return the bytes of ``stamp.js``: a script that hands the build's name to the page that asked for it.

    Args:
        files: each file's sha256 by its path, all but ``stamp.js`` and the manifest: they name the build.
        data_sha256: as in the manifest.
        commit: as in the manifest.
    """
    told = {
        "build": sha256_lines(f"{path} {digest}" for path, digest in files.items())[:16],
        "commit": commit,
        "data_sha256": data_sha256,
        "evh": __version__,
    }
    return f"evhStamp({script_json(told)});\n".encode()


def read(site: Path) -> Manifest | None:
    """Return the manifest of a site; None where there is none.

    Raises:
        Refusal: there is one, and it cannot be read or names a file outside the site.
    """
    path = site / MANIFEST
    if not path.is_file():
        return None
    raw = strict.parse_object(strict.read_bytes(path), path)
    files = raw.get("files")
    reasons = []
    if raw.get("form") != FORM:
        reasons.append(f"{path}: form is {raw.get('form')!r}, not {FORM!r}")
    if not isinstance(files, dict):
        reasons.append(f"{path}: files is not a mapping")
        files = {}
    for name, digest in files.items():
        parts = name.split("/")
        if name.startswith("/") or "\\" in name or "\0" in name or not set(parts).isdisjoint({"", ".", ".."}):
            reasons.append(f"{path}: files: {name!r} is no path in the site")
        if not is_sha256(digest):
            reasons.append(f"{path}: files: {name!r}: no sha256")
    if reasons:
        raise Refusal(
            "bad-manifest",
            f"{path} is not the manifest of a catalog",
            why=reasons,
            next="build the catalog again: evh catalog-build",
        )
    return Manifest(raw.get("public") is True, files)


def commit_of(folder: Path) -> str | None:
    """Return the commit that a folder's repository is at; None where it is in none. Git is not called."""
    for at in (folder, *folder.parents):
        place = at / ".git"
        if place.exists():
            return _head(place)
    return None


def _head(place: Path) -> str | None:
    if place.is_file():  # a worktree or a submodule: the file names the folder
        named = _read(place).removeprefix("gitdir:").strip()
        place = (place.parent / named) if named else place
    head = _read(place / "HEAD").strip()
    if not head.startswith("ref:"):
        return head if _COMMIT.fullmatch(head) else None
    ref = head.removeprefix("ref:").strip()
    shared = _read(place / "commondir").strip()
    bases = [place, (place / shared)] if shared else [place]
    if ".." in ref.split("/") or not ref.startswith("refs/"):
        return None
    for base in bases:
        found = _read(base / ref).strip()
        if _COMMIT.fullmatch(found):
            return found
    for base in bases:
        for line in _read(base / "packed-refs").splitlines():
            commit, _, name = line.partition(" ")
            if name == ref and _COMMIT.fullmatch(commit):
                return commit
    return None


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
