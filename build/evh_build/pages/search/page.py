"""The search page, and the files that the search box reads. Without scripts it lists what there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.guide import topics
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.search import site_files
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.page import File
    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class Shelf:
    """A kind of record: its name, the page that lists it, and the records."""

    name: str
    path: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The search page.

    Attributes:
        shelves: what there is, kind by kind; items are in their dataset's sheet.
    """

    shelves: tuple[Shelf, ...]


def make(source: Source) -> Iterator[Leaf | File]:
    """Give the page and the files beside it."""
    yield Leaf(
        urls.SEARCH,
        Context(
            title="Search",
            section="search",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(command("ask the tables instead", "sql", "--tables"),),
            shelves=tuple(shelf for shelf in _shelves(source) if shelf.links),
        ),
    )
    yield from site_files(source)


def _shelves(source: Source) -> Iterator[Shelf]:
    held, paths = source.gathered, source.urls
    yield Shelf("Datasets", urls.DATASETS, _links((name, paths.dataset(name)) for name in held.datasets))
    yield Shelf("Their sheets", urls.DATASETS, _links((name, paths.sheet(name)) for name in held.datasets))
    yield Shelf("Captures", urls.CAPTURES, _links((name, paths.capture(name)) for name in held.captures))
    yield Shelf("Label sets", urls.LABELS, _links((ref, paths.label_set(ref)) for ref in held.label_sets))
    refs = ((ref, paths.reference(ref)) for ref in held.references)
    yield Shelf("Reference sets", urls.REFERENCES, _links(refs))
    arms = sorted({*held.configs, *(run.config_id for run in held.runs.values())})
    yield Shelf("Arms", urls.ARMS, _links((name, paths.arm(name)) for name in arms))
    yield Shelf("The guide", urls.GUIDE, _links((one.page.title, paths.guide(one.name)) for one in topics()))


def _links(found: Iterator[tuple[str, str | None]]) -> tuple[Link, ...]:
    return tuple(Link(name, path) for name, path in found if path is not None)


PAGE = Page("search", Context, make)
