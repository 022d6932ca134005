"""Every link and fragment of a built site, checked before anybody sees it."""

from __future__ import annotations

import html
import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# Attribute values are escaped, so a quote ends one and text can never hold `href="`.
_TARGET = re.compile(r'\s(?:href|src|data-src|action|formaction|xlink:href)="([^"]*)"')
_ID = re.compile(r'\sid="([^"]*)"')
_OUTWARD = ("http://", "https://", "mailto:")


def broken(pages: Mapping[str, bytes], files: Collection[str]) -> list[str]:
    """Return a line for each link that leads nowhere.

    Args:
        pages: each HTML page's path below the site → its bytes.
        files: every path of the site, pages included.

    Cost: one pass over the bytes.
    """
    texts = {path: data.decode("utf-8") for path, data in pages.items()}
    anchors: dict[str, set[str]] = {}
    found: list[str] = []
    for path, text in sorted(texts.items()):
        for target in dict.fromkeys(_TARGET.findall(text)):
            reason = _wrong(path, html.unescape(target), texts, files, anchors)
            if reason:
                found.append(f"{path}: {target}: {reason}")
    return found


def _wrong(
    page: str,
    target: str,
    texts: Mapping[str, str],
    files: Collection[str],
    anchors: dict[str, set[str]],
) -> str | None:
    if target.startswith(_OUTWARD):
        return None
    if ":" in target.split("/", 1)[0] or target.startswith("/"):
        return "neither a relative link nor http, https or mailto"
    place, _, fragment = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(place))) if place else page
    if path.startswith("..") or path not in files:
        return "there is no such file in the site"
    if fragment:
        if path not in anchors:
            anchors[path] = {html.unescape(one) for one in _ID.findall(texts.get(path, ""))}
        if unquote(fragment) not in anchors[path]:
            return "there is no such place on that page"
    return None
