"""A served catalog in a real browser: every kind of page without an error, and an open page rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import serve, site
from evh_build.serve import Server
from evh_build.watch import Workshop
from tests.evh_build.projects import small
from tests.site.browsing import chromium

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture
def workshop(project: Project) -> Workshop:
    """A built site that is built again on demand."""
    made = Workshop(small(project), site.plan)
    made.build()
    return made


@pytest.fixture
def server(workshop: Workshop) -> Iterator[Server]:
    """The site, served on a free port."""
    root = workshop.project.root
    made = serve.listening(root / ".build" / "catalog", name="test project", root=root, port=0)
    made.begin()
    yield made
    made.end()


@pytest.fixture
def page() -> Iterator[Any]:
    """A page of a headless Chromium."""
    with chromium() as started:
        yield started.new_page()


def test_served_pages_have_no_error_and_ask_nobody_else(server: Server, page: Any) -> None:
    """One page of each kind: no console message, no foreign request; the line says which project it is."""
    told: list[str] = []
    asked: set[str] = set()
    page.on("console", lambda message: told.append(f"{page.url}: {message.text}"))
    page.on("pageerror", lambda error: told.append(f"{page.url}: {error}"))
    page.on("request", lambda request: asked.add(request.url))
    kinds: dict[str, Path] = {}
    for path in sorted(server.out.rglob("*.html")):
        kinds.setdefault(path.relative_to(server.out).parts[0], path)
    for path in kinds.values():
        page.goto(server.url + path.relative_to(server.out).as_posix())
        bar = page.locator(".evh-served")
        assert bar.is_visible()
        assert bar.inner_text().split("\n")[0].startswith("test project")
    assert told == []
    assert {url[: len(server.url)] for url in asked} == {server.url}


def test_an_open_page_loads_itself_anew(workshop: Workshop, server: Server, page: Any) -> None:
    """Its own page was rebuilt: it is loaded; another page was: it stays as it is."""
    page.goto(server.url + "items/d/i1.html")
    label = workshop.project.data / "labels" / "d" / "ann"
    page.evaluate("window.mark = 1")
    (label / "i2.txt").write_bytes(b"not of this page")
    workshop.build()
    page.wait_for_timeout(2_500)
    assert page.evaluate("window.mark") == 1
    (label / "i1.txt").write_bytes(b"quite another")
    workshop.build()
    page.get_by_text("quite another").first.wait_for(state="attached", timeout=20_000)
    assert page.evaluate("window.mark") is None


def test_what_a_reader_has_marked_is_not_lost(workshop: Workshop, server: Server, page: Any) -> None:
    """With text selected the page says that it was rebuilt, with a link, and waits."""
    page.goto(server.url + "items/d/i1.html")
    page.evaluate("document.getSelection().selectAllChildren(document.querySelector('h1'))")
    (workshop.project.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"quite another")
    workshop.build()
    news = page.locator(".evh-served-news")
    news.get_by_role("link", name="Reload").wait_for(timeout=20_000)
    assert news.inner_text() == "This page was rebuilt. Reload"
    news.get_by_role("link").click()
    page.get_by_text("quite another").first.wait_for(state="attached", timeout=20_000)


def test_a_server_that_answers_no_more_is_told(server: Server, page: Any) -> None:
    """The page stays, and says so."""
    page.goto(server.url)
    page.context.set_offline(True)
    page.get_by_text("The server has stopped").wait_for(timeout=30_000)
