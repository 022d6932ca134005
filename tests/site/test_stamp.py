"""An open page tells that a newer build is here, from disk, and asks nothing of the network."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from evh_build import site
from tests.evh_build.projects import small

if TYPE_CHECKING:
    from evh.project.find import Project

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no browser here")
def test_a_page_from_disk_says_that_a_newer_build_is_here(project: Project) -> None:
    """No bar while the build is the same; after a rebuild and a look at it, a bar whose button reloads it."""
    small(project)
    out = site.commit(project, site.plan(project)).index.parent
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page()
        told: list[str] = []
        page.on("console", lambda message: told.append(message.text))
        page.on("request", lambda request: told.append(request.url) if "file://" not in request.url else None)
        page.goto((out / "arms" / "index.html").as_uri())
        page.wait_for_timeout(1200)
        page.evaluate("dispatchEvent(new Event('focus'))")
        page.wait_for_timeout(300)
        assert page.locator(".newer").count() == 0
        config = project.data / "configs" / "cheap.yaml"
        config.write_text(config.read_text().replace("params:\n", "params:\n  temperature: 0.5\n"))
        assert site.commit(project, site.plan(project)).n_rendered > 0
        page.wait_for_timeout(1200)
        page.evaluate("dispatchEvent(new Event('focus'))")
        bar = page.locator(".newer[role=status]")
        bar.wait_for(timeout=5000)
        assert bar.inner_text().startswith("A newer build of these pages is here.")
        with page.expect_navigation():
            bar.locator("button").click()
        page.wait_for_timeout(300)
        assert page.locator(".newer").count() == 0
        assert told == []
        browser.close()
