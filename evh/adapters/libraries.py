"""Which installed libraries a project's adapter imports, with their versions."""

from __future__ import annotations

import ast
import functools
import sys
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

OWN = frozenset({"evh", "evh_build"})


def libraries_of(files: Iterable[Path]) -> dict[str, str]:
    """Return the name and version of each installed library that these Python files import, by name.

    Read off the files' own import statements, also those inside a function, which run later: nothing is
    imported. What ships with Python, evh itself, and modules that lie beside the files are no libraries.
    A library of which no version is on record is left out, as is one that is imported by a computed name.

    Args:
        files: the adapter's file and the project's files that it imports.

    Cost: a parse a file; where a module's name is not its library's, a look through what is installed, once a
    process.
    """
    given = list(files)
    beside = {name for path in given for name in (path.stem, path.parent.name)}
    names = {name for path in given for name in _imported(path)} - sys.stdlib_module_names - OWN - beside
    found = [pair for name in names for pair in _versions(name)]
    return dict(sorted(found))


def _imported(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return  # the adapter loaded: what cannot be parsed now was changed meanwhile, and its hash tells
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _versions(module: str) -> Iterator[tuple[str, str]]:
    try:
        yield module, metadata.version(module)
    except metadata.PackageNotFoundError:
        for name in _installed().get(module, ()):
            yield name, metadata.version(name)


@functools.cache
def _installed() -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(sorted(set(held))) for name, held in metadata.packages_distributions().items()}
