"""The guide: its pages, as ``evh help`` has them on the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import guide, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.guide import Topic
    from evh_build.markdown import Document
    from evh_build.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The guide's list of pages, or one of them.

    Attributes:
        document: the page's text and sections; None for the list.
        topics: every page of the guide, in the order in which they are read.
        leads: what each is about, one a topic.
        here: this page's own path.
        previous: the page before it.
        following: the page after it.
    """

    document: Document | None
    topics: tuple[Link, ...]
    leads: tuple[str, ...]
    here: str
    previous: Link | None
    following: Link | None


def make(source: Source) -> Iterator[Leaf]:
    """Give the list, and a page a topic."""
    found = guide.topics()
    links = tuple(Link(one.page.title, source.urls.guide(one.name)) for one in found)
    leads = tuple(one.page.lead for one in found)
    yield Leaf(urls.GUIDE, _context(links, leads, urls.GUIDE, None, None))
    for at, one in enumerate(found):
        path = source.urls.guide(one.name)
        yield Leaf(path, _context(links, leads, path, one, at))


def _context(
    links: tuple[Link, ...], leads: tuple[str, ...], path: str, topic: Topic | None, at: int | None
) -> Context:
    home = Crumb("Home", urls.HOME)
    return Context(
        title=topic.page.title if topic else "The guide",
        section="guide",
        crumbs=(home, Crumb("Guide", urls.GUIDE)) if topic else (home,),
        commands=(command("the same on the terminal", "help", *((topic.name,) if topic else ())),),
        document=topic.page if topic else None,
        topics=links,
        leads=leads,
        here=path,
        previous=links[at - 1] if at else None,
        following=links[at + 1] if at is not None and at + 1 < len(links) else None,
    )


PAGE = Page("guide", Context, make)
