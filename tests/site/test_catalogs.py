"""Every page of the three catalogs in a real browser: no error, nothing foreign, nothing that the CSP stops.

The catalogs are the sample's and those of the two examples, some 2,600 pages. Every page is opened from disk
with scripts on. In the other three ways (from disk with scripts off, over HTTP with scripts on and off) every
kind of page is opened and one in `EVERY` of all, each time others of them: pages of one kind come from one
template.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import site
from tests.examples.built import NAMES, ROOT, built
from tests.tools import require_tool

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# The sample's pages are half of all: another process goes through them than through the examples'.
CATALOGS = [
    pytest.param("sample", marks=pytest.mark.xdist_group("sample-pages")),
    *(pytest.param(name, marks=pytest.mark.xdist_group("examples")) for name in NAMES),
]
EVERY = 12
# Nothing is looked at here: what only draws faster or keeps pages that were left is left out.
LEAN = ["--disable-gpu", "--disable-software-rasterizer", "--disable-features=BackForwardCache"]
# Told by the browser wherever a page breaks its own policy, even where it prints nothing.
WATCH = """addEventListener("securitypolicyviolation", (event) =>
  console.error("CSP", event.violatedDirective, event.blockedURI, event.sourceFile));"""


@dataclass
class Seen:
    """What a browser told while it went through pages, each line with the page that it was on."""

    base: str
    page: str = ""
    told: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def tell(self, line: str) -> None:
        """Keep a line."""
        self.told.append(f"{self.page}: {line}")

    def ask(self, request: Any) -> None:
        """Keep a request that leaves the site."""
        if not request.url.startswith((self.base, "data:")):
            self.foreign.append(f"{self.page}: {request.url}")

    def failed(self, request: Any) -> None:
        """Keep a request that failed; one that was given up for the next page did not."""
        if request.failure != "net::ERR_ABORTED":
            self.tell(f"{request.url}: {request.failure}")

    def answered(self, response: Any) -> None:
        """Keep an answer that is an error."""
        if response.status >= 400:
            self.tell(f"{response.url}: {response.status}")


@cache
def catalog_of(name: str, base: Path) -> Path:
    """Return the folder of a project's catalog below ``base``, built at the first call of this process."""
    project = Project.find(home=ROOT if name == "sample" else built(name, base))
    return site.commit(project, site.plan(project, out=base / f"{name}-catalog" / "site")).index.parent


@pytest.fixture
def catalog(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one project's catalog, built aside."""
    return catalog_of(request.param, tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    program = require_tool("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=program, args=["--no-sandbox", *LEAN])
        yield started
        started.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Give a folder's address over HTTP, by the standard library's server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def pages(folder: Path) -> list[str]:
    """Return the path of every page of a catalog, in order."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


def some(paths: list[str], start: int) -> list[str]:
    """Return one page of each kind (a folder's, at its depth) and one in `EVERY` of all from ``start``."""
    kinds: dict[tuple[str, ...], str] = {}
    for path in paths:
        parts = path.split("/")
        kinds.setdefault((*parts[: 2 if parts[0] == "items" else 1], str(len(parts))), path)
    return sorted({*kinds.values(), *paths[start::EVERY]})


def walk(
    browser: Any, base: str, paths: list[str], *, scripts: bool, look: Callable[[Any, str], None]
) -> Seen:
    """Open each page in one tab and return what the browser told; ``look`` gets the tab at each page."""
    from urllib.parse import quote

    seen = Seen(base)
    context = browser.new_context(java_script_enabled=scripts, viewport={"width": 1280, "height": 800})
    if scripts:
        context.add_init_script(WATCH)
    tab = context.new_page()
    tab.on("console", lambda message: seen.tell(message.text))
    tab.on("pageerror", lambda error: seen.tell(str(error)))
    tab.on("requestfailed", seen.failed)
    tab.on("request", seen.ask)
    tab.on("response", seen.answered)
    for path in paths:
        seen.page = path
        tab.goto(base + quote(path))
        look(tab, path)
    context.close()
    return seen


def _nothing(_tab: Any, _path: str) -> None:
    """Look at nothing."""


def _has_one_heading(tab: Any, path: str) -> None:
    assert tab.locator("h1").count() == 1, path
    assert tab.locator("main").is_visible(), path


@pytest.mark.parametrize("catalog", CATALOGS, indirect=True)
def test_every_page_opens_from_disk(catalog: Path, browser: Any) -> None:
    """All pages with scripts on: no console message, no failed or foreign request, no CSP report."""
    paths = pages(catalog)
    assert len(paths) > 400
    seen = walk(browser, catalog.as_uri() + "/", paths, scripts=True, look=_nothing)
    assert seen.told == []
    assert seen.foreign == []


@pytest.mark.parametrize("way", ["disk, scripts off", "http, scripts on", "http, scripts off"])
@pytest.mark.parametrize("catalog", CATALOGS, indirect=True)
def test_pages_open_in_the_other_ways(catalog: Path, way: str, browser: Any) -> None:
    """Every kind of page and one in twelve of all: the same, and each has its heading and its content."""
    over_http, scripts = way.startswith("http"), way.endswith("on")
    paths = some(pages(catalog), 4 * over_http + 2 * scripts)
    with served(catalog) if over_http else nullcontext(catalog.as_uri() + "/") as base:
        seen = walk(browser, base, paths, scripts=scripts, look=_has_one_heading)
    assert seen.told == []
    assert seen.foreign == []


@pytest.mark.xdist_group("examples")
def test_a_broken_page_is_told(tmp_path: Path, browser: Any) -> None:
    """What the other tests rest on: a foreign image, an inline script and a missing file are each seen."""
    csp = "default-src 'none'; script-src 'self'; img-src 'self'"
    (tmp_path / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{csp}">'
        '<link rel="icon" href="data:,"><h1>x</h1><img src="missing.png"><img src="http://127.0.0.1:9/x.png">'
        "<script>window.ran = 1</script>",
        encoding="utf-8",
    )
    told = "\n".join(walk(browser, tmp_path.as_uri() + "/", ["index.html"], scripts=True, look=_nothing).told)
    assert "missing.png" in told
    assert "CSP script-src-elem inline" in told
    assert "CSP img-src http://127.0.0.1:9/x.png" in told
    off = "\n".join(walk(browser, tmp_path.as_uri() + "/", ["index.html"], scripts=False, look=_nothing).told)
    assert "missing.png" in off
    assert "http://127.0.0.1:9/x.png" in off
