"""About: how the numbers are made, with which versions, what could not be read, and what evh does not do."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from evh import __version__
from evh_build import urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.gather import Problem
    from evh_build.source import Source

LIBRARIES = ("duckdb", "jinja2", "markdown-it-py", "pyarrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The About page.

    Attributes:
        versions: the tool and the libraries that made the pages, with their versions.
        digest: the digest of the data that the pages were made of.
        min_overlap: below so many common items the agreement of two sets is "too few to say".
        problems: records that could not be read.
    """

    versions: tuple[tuple[str, str], ...]
    digest: str
    min_overlap: int
    problems: tuple[Problem, ...]


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
            versions=(("evh", __version__), ("Python", python), *libraries),
            digest=held.digest,
            min_overlap=held.project.settings.min_overlap,
            problems=held.problems,
        ),
    )


PAGE = Page("about", Context, make)
