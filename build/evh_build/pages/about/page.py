"""About: how the numbers are made, with which versions, what could not be read, and what evh does not do."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from evh import __version__
from evh_build import urls
from evh_build.manifest import commit_of
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.gather import Problem
    from evh_build.source import Source

LIBRARIES = ("duckdb", "jinja2", "markdown-it-py", "pyarrow")


@dataclass(frozen=True, slots=True)
class Proof:
    """A command that writes: at how many system calls it was stopped, and how often that did harm."""

    command: str
    points: int
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The About page.

    Attributes:
        versions: the tool and the libraries that made the pages, with their versions.
        digest: the digest of the data that the pages were made of.
        min_overlap: below so many common items the agreement of two sets is "too few to say".
        problems: records that could not be read.
        proofs: what was proved of the commands that write, as ``make proofs`` last found it; none where this
            evh was installed without them.
    """

    versions: tuple[tuple[str, str], ...]
    digest: str
    min_overlap: int
    problems: tuple[Problem, ...]
    proofs: tuple[Proof, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    held = source.gathered
    libraries = tuple((name, metadata.version(name)) for name in LIBRARIES)
    python = ".".join(platform.python_version_tuple()[:2])
    yield Leaf(
        urls.ABOUT,
        Context(
            title="About these pages",
            section="about",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("check every promise of the data", "validate"),
                command("build these pages again", "catalog-build"),
            ),
            versions=(("evh", __version__), ("Python", python), *libraries, *_commit(source)),
            digest=held.digest,
            min_overlap=held.project.settings.min_overlap,
            problems=held.problems,
            proofs=proofs(),
        ),
    )


def _commit(source: Source) -> tuple[tuple[str, str], ...]:
    """Return the commit that the project's folder is at, where it is in a repository."""
    found = commit_of(source.gathered.project.root)
    return (("the project’s commit", found),) if found else ()


@cache
def proofs() -> tuple[Proof, ...]:
    """Return the table of ``PROOFS.md``: the checkout's, else the one that was installed with evh.

    Its seconds are left out: no page tells how long something took on the machine that made it.
    """
    here = Path(__file__).resolve()
    places = (here.parents[4] / "tests" / "faults" / "PROOFS.md", here.parents[2] / "PROOFS.md")
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        return ()
    rows = re.findall(r"^\| ([\w -]+?) \| (\d+) \| (\d+) \|", found.read_text(encoding="utf-8"), re.MULTILINE)
    return tuple(Proof(name, int(points), int(failures)) for name, points, failures in rows)


PAGE = Page("about", Context, make)
