"""The sample projects that `evh init --sample` copies: the checkout's own, else the installed ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import evh
from evh.errors import Refusal
from evh.project.find import SETTINGS
from evh.project.shelf import missing
from evh.store import strict
from evh.store.atomic import is_tmp

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("triage",)
_NOT_COPIED = frozenset([".locks", "__pycache__"])


@dataclass(frozen=True, slots=True)
class SampleFile:
    """One file of a sample: where it goes under ``data/``, and where it lies now."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample project: a folder with ``evh.toml`` and ``data/``."""

    name: str
    root: Path

    def settings(self) -> bytes:
        """Return the bytes of its ``evh.toml``."""
        return strict.read_bytes(self.root / SETTINGS)

    def files(self) -> Iterator[SampleFile]:
        """Yield its data files in the order of their names, without locks, leftovers and links."""
        yield from _below(self.root / "data", "")


def find(name: str, *, package: Path | None = None) -> Sample:
    """Return a sample by its name.

    Args:
        name: one of `NAMES`.
        package: the folder of the ``evh`` package; the imported one by default.

    Raises:
        Refusal: there is no such sample, or it was not installed.
    """
    if name not in NAMES:
        raise missing("sample", name, NAMES, next="evh init --sample triage")
    folder = package or Path(evh.__file__).resolve().parent
    checkout = folder.parent
    for root in [checkout] if _is_checkout(checkout) else [folder / "_samples" / name]:
        if (root / "data").is_dir() and (root / SETTINGS).is_file():
            return Sample(name, root)
    raise Refusal(
        "no-such-sample",
        f"the sample {name!r} was not installed",
        why=[f"{folder / '_samples' / name}: no such folder"],
        next="install evh again: pip install --force-reinstall evh",
    )


def _is_checkout(folder: Path) -> bool:
    """Tell whether a folder is evh's own source tree: its pyproject.toml names evh, data/ lies beside it."""
    described = folder / "pyproject.toml"
    if not (described.is_file() and (folder / "data").is_dir() and (folder / SETTINGS).is_file()):
        return False
    return re.search(rb'(?m)^name = "evh"\s*$', strict.read_bytes(described)) is not None


def _below(folder: Path, at: str) -> Iterator[SampleFile]:
    for path in sorted(folder.iterdir()):
        if path.name in _NOT_COPIED or is_tmp(path.name) or path.is_symlink():
            continue
        if path.is_dir():
            yield from _below(path, f"{at}{path.name}/")
        else:
            yield SampleFile(f"{at}{path.name}", path)
