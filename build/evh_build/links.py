"""Every link and fragment of a built site, checked before anybody sees it."""

from __future__ import annotations

import functools
import html
import posixpath
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evh.store.hashing import sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

# Attribute values are escaped, so a quote ends one and text can never hold `href="`.
_TARGET = re.compile(rb'\s(?:href|src|data-src|data-stamp|action|formaction|xlink:href)="([^"]*)"')
_ID = re.compile(rb'\sid="([^"]*)"')
_OUTWARD = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class _Looked:
    """What a page leads to, as it is written there, and the fragments that it has."""

    targets: tuple[str, ...]
    ids: frozenset[str]


_LOOKED: dict[str, _Looked] = {}
_MOST = 20_000
"""How many pages a process remembers the links of: one that builds again looks at each page's bytes once."""


def _looked_at(digest: str, read: Callable[[], bytes]) -> _Looked:
    found = _LOOKED.get(digest)
    if found is None:
        data = read()
        raw = dict.fromkeys(_TARGET.findall(data))
        targets = tuple(sys.intern(html.unescape(one.decode("utf-8"))) for one in raw)
        found = _Looked(targets, ids(data))
        if len(_LOOKED) >= _MOST:
            _LOOKED.clear()
        _LOOKED[digest] = found
    return found


@dataclass(frozen=True, slots=True)
class _Leads:
    """Where a page leads to: paths below the site with their fragments, and targets that no site may have."""

    looked: _Looked
    places: frozenset[str]
    wrong: tuple[str, ...]


_LEADS: dict[tuple[str, str], _Leads] = {}


def _leads(page: str, digest: str, read: Callable[[], bytes]) -> _Leads:
    found = _LEADS.get((page, digest))
    if found is None:
        looked = _looked_at(digest, read)
        held = [(target, _place(page, target)) for target in looked.targets]
        places = frozenset(place for _, place in held if place)
        found = _Leads(looked, places, tuple(target for target, place in held if place is None))
        if len(_LEADS) >= _MOST:
            _LEADS.clear()
        _LEADS[page, digest] = found
    return found


class Links:
    """The links of the pages that were made anew, and what must hold of those that were taken over.

    A page is read once, when it is added, and its bytes are not kept: what stays is where it leads to.
    """

    def __init__(self) -> None:
        self._pages: dict[str, _Leads] = {}
        self._places: set[str] = set()

    def add(self, page: str, digest: str, read: Callable[[], bytes]) -> None:
        """Note where a page leads to.

        Args:
            page: its path below the site.
            digest: the sha256 of its bytes.
            read: gives its bytes; not called where a page of these bytes was looked at before.

        Cost: one pass over the bytes, once a process.
        """
        found = self._pages[page] = _leads(page, digest, read)
        self._places |= found.places

    def broken(self, files: Mapping[str, str], read: Callable[[str], bytes]) -> list[str]:
        """Return a line for each link that leads nowhere.

        Args:
            files: every path of the site → the sha256 of its bytes.
            read: gives the bytes of a page of the site: those that a fragment leads to may be read.

        Cost: a look-up a place, whatever leads there; the pages are gone through where one is not there.
        """

        def anchors(path: str) -> frozenset[str]:
            return _looked_at(files[path], lambda: read(path)).ids if path.endswith(".html") else frozenset()

        told = "neither a relative link nor http, https or mailto"
        found = [f"{page}: {one}: {told}" for page, leads in self._pages.items() for one in leads.wrong]
        reasons: dict[str, str] = {}
        for place in self._places:
            path, _, fragment = place.partition("#")
            if path not in files:
                reasons[place] = "there is no such file in the site"
            elif fragment and not _state(path, fragment) and fragment not in anchors(path):
                reasons[place] = "there is no such place on that page"
        for page, leads in self._pages.items() if reasons else ():
            for target in leads.looked.targets:
                place = _place(page, target) or ""
                if place in reasons:
                    found.append(f"{page}: {target}: {reasons[place]}")
        return sorted(found)


def gone(before: bytes, after: bytes) -> set[str]:
    """Return the fragments that a page had and has no more."""
    return set(ids(before)) - set(ids(after))


def ids(data: bytes) -> frozenset[str]:
    """Return the fragments that a page has."""
    return frozenset(html.unescape(one.decode("utf-8")) for one in _ID.findall(data))


def broken(pages: Iterable[tuple[str, bytes]], files: Collection[str]) -> list[str]:
    """Return a line for each link that leads nowhere, of pages that are all at hand: (path, bytes)."""
    held = dict(pages)
    digests = {path: sha256(held.get(path, b"")) for path in files}
    links = Links()
    for path, data in held.items():
        links.add(path, sha256(data), lambda data=data: data)  # type: ignore[misc]
    return links.broken(digests, lambda path: held.get(path, b""))


def _state(path: str, fragment: str) -> bool:
    """Tell whether a fragment is a state of a sheet's page: its scripts find every row, shown or not."""
    return path.startswith("sheets/") and fragment.startswith(("row=", "f="))


def _place(page: str, target: str) -> str | None:
    """Return where a target on a page leads to; see `_resolved`."""
    if target.startswith("#") or not target:
        return _fragment(page, target[1:])
    return _resolved(posixpath.dirname(page), target)


@functools.lru_cache(maxsize=100_000)
def _resolved(folder: str, target: str) -> str | None:
    """Return the path below the site, with its fragment, that a link on a page of ``folder`` leads to.

    It is empty for a link to the web, and None for one that no site may have.
    """
    if target.startswith(_OUTWARD):
        return ""
    if ":" in target.split("/", 1)[0] or target.startswith("/"):
        return None
    place, _, fragment = target.partition("#")
    path = posixpath.normpath(posixpath.join(folder, unquote(place)))
    return _fragment(path, fragment)


def _fragment(path: str, fragment: str) -> str:
    return f"{path}#{unquote(fragment)}" if fragment else path
