"""What a page is: a name, a template, a documented Context, and the function that fills it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.store.hashing import sha256_text
from evh_build.told import Teller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the way from the home page: its title and path."""

    title: str
    path: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a reader may copy: what it does, and the line, safely quoted for a shell."""

    does: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every page has.

    Attributes:
        title: the page's heading and title.
        crumbs: the way from the home page.
        section: the entry of the navigation that is current.
        commands: the commands for the next step.
    """

    title: str
    crumbs: tuple[Crumb, ...] = ()
    section: str = ""
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page to be rendered: its path below the site's folder, and its context."""

    path: str
    context: Frame
    _digest: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def digest(self, teller: Teller) -> str:
        """Return the digest of all that the context says: made once, for a page that is kept."""
        if not self._digest:
            self._digest.append(sha256_text(teller.told(self.context)))
        return self._digest[0]


@dataclass(frozen=True, slots=True)
class File:
    """A file beside the pages: data that a script reads, or a download.

    Attributes:
        path: its path below the site's folder.
        inputs: tells all that the bytes are made of; where it is as at the last build, they are taken over.
        make: gives the bytes; called only where they are not taken over.
    """

    path: str
    inputs: str
    make: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Page:
    """A kind of page.

    ``name`` is the folder under ``pages/`` and the template ``pages/<name>.html``. ``queries`` name its
    ``.sql`` files; each is run once for the whole site. ``make`` gives every page of the kind, and the files
    that lie beside them.
    """

    name: str
    context: type[Frame]
    make: Callable[[Source], Iterator[Leaf | File]]
    queries: tuple[str, ...] = ()
