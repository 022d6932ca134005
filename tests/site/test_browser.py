"""Every kind of page in a real browser, from disk, with scripts on and off: no error, no foreign request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import site
from tests.evh_build.projects import hostile, small
from tests.tools import require_tool

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small project's site and a hostile one's."""
    made = {}
    for name, fill in (("small", small), ("hostile", hostile)):
        root = tmp_path_factory.mktemp(name)
        (root / "data").mkdir()
        (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
        project = fill(Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}))
        made[name] = site.commit(project, site.plan(project)).index.parent
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    program = require_tool("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def _kinds(folder: Path) -> list[Path]:
    """Return one page of each kind, and each item of the hostile project."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.html")):
        parts = path.relative_to(folder).parts
        key = "/".join(parts) if parts[0] == "items" else f"{parts[0]}{len(parts)}"
        found.setdefault(key, path)
    return list(found.values())


def _failed(request: Any) -> list[str]:
    """Return a line for a request that failed; an icon given up for the next page did not."""
    return [] if request.failure == "net::ERR_ABORTED" else [f"failed: {request.url}: {request.failure}"]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts-on", "scripts-off"])
@pytest.mark.parametrize("name", ["small", "hostile"])
def test_pages_open_from_disk(name: str, scripts: bool, sites: dict[str, Path], browser: Any) -> None:
    """No console message or failed request, none outside the site, nothing of the data ran, no overflow."""
    folder = sites[name]
    told: list[str] = []
    asked: list[str] = []
    for width in (390, 1280):
        context = browser.new_context(java_script_enabled=scripts, viewport={"width": width, "height": 800})
        page = _watched(context, told, asked)
        for path in _kinds(folder):
            page.goto(path.as_uri())
            assert page.locator("h1").count() == 1, path
            if scripts:
                assert page.evaluate("window.ran") is None, path
                wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
                assert not wide, f"{path} is wider than {width} px"
        context.close()
    assert told == []
    assert [url for url in asked if not url.startswith(folder.as_uri() + "/")] == []


def _watched(context: Any, told: list[str], asked: list[str]) -> Any:
    """Return a page whose messages, errors and failed requests go to ``told``, its requests to ``asked``."""
    page = context.new_page()
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("requestfailed", lambda request: told.extend(_failed(request)))
    page.on("request", lambda request: asked.append(request.url))
    return page


def test_what_is_read_needs_no_script(sites: dict[str, Path], browser: Any) -> None:
    """With scripts off the figure of the matrix and the rows of the sheet can still be chosen."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((sites["small"] / "datasets/d/index.html").as_uri())
    first = page.locator(".tabs").first
    assert first.locator(".p-kappa").is_visible()
    first.get_by_label("Gwet’s AC1", exact=True).check()
    assert first.locator(".p-ac1").is_visible()
    assert not first.locator(".p-kappa").is_visible()
    page.goto((sites["small"] / "sheets/d/index.html").as_uri())
    assert page.locator(".sheet tbody tr:visible").count() == 4
    page.locator("#f-wrong").check()
    assert page.locator(".sheet tbody tr:visible").count() == 2
    context.close()


def test_a_command_is_copied(sites: dict[str, Path], browser: Any) -> None:
    """The button copies the command's text as it stands."""
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto((sites["small"] / "items/d/i2.html").as_uri())
    box = page.locator(".next .command").first
    box.get_by_role("button").click()
    assert page.evaluate("navigator.clipboard.readText()") == box.locator("code").text_content()
    context.close()


def test_the_first_key_reaches_the_content(sites: dict[str, Path], browser: Any) -> None:
    """Tab shows the skip link, Enter moves to the main part; the navigation marks where one is."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((sites["small"] / "arms/index.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.locator("nav [aria-current=page]").first.text_content() == "Arms"
    context.close()


def test_a_link_to_a_folded_pair_opens_it(sites: dict[str, Path], browser: Any) -> None:
    """A cell of the matrix leads to its confusion matrix, unfolded."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((sites["small"] / "datasets/d/index.html").as_uri())
    assert page.locator("#pair-0-0").get_attribute("open") is None
    page.locator(".p-kappa .cell a[href='#pair-0-0']").first.click()
    assert page.locator("#pair-0-0").get_attribute("open") is not None
    context.close()
