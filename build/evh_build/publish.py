"""What a public build has beside its pages: files for hosts and search engines; and no command to label."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from evh.errors import Refusal
from evh_build.page import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh_build.page import Leaf

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'"
)
"""What every page carries; the header adds that no other site may frame it, which a page cannot say."""
HEADERS, ROBOTS, SITEMAP = "_headers", "robots.txt", "sitemap.xml"
MOST_URLS = 50_000
"""How many pages one sitemap may name; more are spread over several, which ``sitemap.xml`` lists."""
_OWN = re.compile(r"evh (?:pick|label-[a-z-]+|adjudicate|picks)(?:\s|$)")
_FIELDS: dict[type, tuple[str, ...]] = {}
"""The fields of each type that was met, asked for once: contexts hold a few types and very many values."""
_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def check_base_url(url: str, *, named_by: str) -> str:
    """Return the address of a public site, ending in ``/``.

    Raises:
        Refusal: it is no http(s) address of a folder.
    """
    reason = None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        reason = "it is no address"
    else:
        if parts.scheme not in ("http", "https") or not host:
            reason = "it does not start with http:// or https:// and a host"
        elif parts.query or parts.fragment or "?" in url or "#" in url:
            reason = "it has a query or a fragment"
        elif parts.username is not None or parts.password is not None:
            reason = "it holds a user's name or password"
        elif (
            not url.isascii() or not url.isprintable() or " " in url or any(char in url for char in "<>\"'\\")
        ):
            reason = "it holds characters that an address must not"
    if reason is not None:
        raise Refusal(
            "bad-base-url",
            "the public site's address cannot be used",
            why=[f"{named_by}: {url!r}: {reason}"],
            next="evh catalog-build --public --base-url https://example.org/catalog/",
        )
    return url.rstrip("/") + "/"


def files(pages: Iterable[str], *, base_url: str, index: bool) -> dict[str, bytes]:
    """Return the files for hosts and search engines by their path.

    Args:
        pages: the site's pages.
        base_url: where the site will lie, ending in ``/``; empty where that is not known: there is then no
            sitemap, for it has to hold whole addresses.
        index: whether search engines may list the site.
    """
    made = {HEADERS: _headers(index=index)}
    if not index:
        made[ROBOTS] = b"User-agent: *\nDisallow: /\n"
        return made
    robots = "User-agent: *\nAllow: /\n"
    if base_url:
        made |= _sitemaps(sorted(pages), base_url)
        robots += f"\nSitemap: {base_url}{SITEMAP}\n"
    made[ROBOTS] = robots.encode()
    return made


def trimmed(leaf: Leaf) -> Leaf:
    """Return a page without the commands to pick and to label, wherever its context holds one.

    A value that is about such a command alone (what waits, with the command that goes on with it) goes too.
    """
    context = _without(leaf.context)
    return leaf if context is leaf.context else dataclasses.replace(leaf, context=context)


def _without(value: Any) -> Any:  # noqa: ANN401 - any value of a context
    if isinstance(value, tuple):
        kept = tuple(_without(one) for one in value if not _goes(one))
        same = len(kept) == len(value) and all(a is b for a, b in zip(kept, value, strict=True))
        return value if same else kept
    changed = {}
    for name in _names(value):
        before = getattr(value, name)
        after = None if _is_own(before) else _without(before)
        if after is not before:
            changed[name] = after
    return dataclasses.replace(value, **changed) if changed else value


def _goes(value: object) -> bool:
    """Tell whether a value of a list is one of our commands, or holds one as a field of its own."""
    if _is_own(value):
        return True
    return any(_is_own(getattr(value, name)) for name in _names(value))


def _is_own(value: object) -> bool:
    return isinstance(value, Command) and _OWN.match(value.line) is not None


def _names(value: object) -> tuple[str, ...]:
    """Return the fields of one of the pages' own dataclasses; none of a record's, or of another value."""
    kind = type(value)
    if kind not in _FIELDS:
        ours = dataclasses.is_dataclass(value) and kind.__module__.startswith("evh_build.")
        _FIELDS[kind] = tuple(field.name for field in dataclasses.fields(value)) if ours else ()  # type: ignore[arg-type]
    return _FIELDS[kind]


def _headers(*, index: bool) -> bytes:
    """Return ``_headers``, which several static hosts read; only what is named by its hash is kept long."""
    lines = [
        "/*",
        f"  Content-Security-Policy: {CSP}; frame-ancestors 'none'",
        "  X-Content-Type-Options: nosniff",
        "  Referrer-Policy: no-referrer",
        "  Cross-Origin-Opener-Policy: same-origin",
    ]
    if not index:
        lines.append("  X-Robots-Tag: noindex, nofollow")
    lines += ["", "/assets/*", "  Cache-Control: public, max-age=31536000, immutable"]
    for path in ("stamp.js", "manifest.json"):
        lines += ["", f"/{path}", "  Cache-Control: no-cache"]
    return ("\n".join(lines) + "\n").encode()


def _sitemaps(pages: list[str], base_url: str) -> dict[str, bytes]:
    parts = [pages[at : at + MOST_URLS] for at in range(0, len(pages), MOST_URLS)]
    if len(parts) <= 1:
        return {SITEMAP: _sitemap("urlset", "url", pages, base_url)}
    names = [f"sitemap-{number}.xml" for number in range(1, len(parts) + 1)]
    made: Mapping[str, bytes] = {
        name: _sitemap("urlset", "url", part, base_url) for name, part in zip(names, parts, strict=True)
    }
    return {**made, SITEMAP: _sitemap("sitemapindex", "sitemap", names, base_url)}


def _sitemap(outer: str, inner: str, paths: list[str], base_url: str) -> bytes:
    lines = [f"<{inner}><loc>{_escaped(base_url + _address(path))}</loc></{inner}>" for path in paths]
    text = "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', f"<{outer} {_SPACE}>", *lines, f"</{outer}>"])
    return f"{text}\n".encode()


def _address(path: str) -> str:
    """Return a page's address below the site: an ``index.html`` is known by its folder."""
    return quote(
        path.removesuffix("index.html") if path == "index.html" or path.endswith("/index.html") else path
    )


def _escaped(url: str) -> str:
    return url.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
