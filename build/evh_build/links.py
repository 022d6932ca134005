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


class Links:
    """The links of the pages that were made anew, and what must hold of those that were taken over.

    A page is read once, when it is added, and its bytes are not kept: what stays is where it leads to.
    """

    def __init__(self) -> None:
        self._from: dict[str, list[tuple[str, str]]] = {}
        self._wrong: list[str] = []

    def add(self, page: str, digest: str, read: Callable[[], bytes]) -> None:
        """Note where a page leads to.

        Args:
            page: its path below the site.
            digest: the sha256 of its bytes.
            read: gives its bytes; not called where a page of these bytes was looked at before.

        Cost: one pass over the bytes, once a process.
        """
        folder = posixpath.dirname(page)
        for target in _looked_at(digest, read).targets:
            here = target.startswith("#") or not target
            place = _fragment(page, target[1:]) if here else _resolved(folder, target)
            if place is None:
                told = "neither a relative link nor http, https or mailto"
                self._wrong.append(f"{page}: {target}: {told}")
            elif place:
                self._from.setdefault(place, []).append((page, target))

    def broken(self, files: Mapping[str, str], read: Callable[[str], bytes]) -> list[str]:
        """Return a line for each link that leads nowhere.

        Args:
            files: every path of the site → the sha256 of its bytes.
            read: gives the bytes of a page of the site: those that a fragment leads to may be read.
        """

        def anchors(path: str) -> frozenset[str]:
            return _looked_at(files[path], lambda: read(path)).ids if path.endswith(".html") else frozenset()

        found = list(self._wrong)
        for place, pages in self._from.items():
            path, _, fragment = place.partition("#")
            if path not in files:
                reason = "there is no such file in the site"
            elif fragment and not _state(path, fragment) and fragment not in anchors(path):
                reason = "there is no such place on that page"
            else:
                continue
            found += [f"{page}: {target}: {reason}" for page, target in pages]
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
