"""The sheet's page without scripts, on a phone, on paper and for a screen reader, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.site import five
from tests.site.browsing import Sheet, watched
from tests.site.five import FOUR, IDS, ONE, THREE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

browser, folder, sheet = five.browser, five.folder, five.sheet


def test_without_scripts_it_is_a_table(browser: Any, folder: Path) -> None:
    """Every row, filters by signal, a link to a row, the command for the rest; no tool that needs scripts."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.goto((folder / "sheets/d/index.html").as_uri() + "#row=%24%28three%29")
    assert page.locator("#sheet tbody tr:visible").count() == 5
    assert page.locator("#sheet tbody tr:has(:target) th a").text_content() == THREE
    page.locator("#f-unlabelled").check()
    assert page.locator("#sheet tbody tr:visible th").all_text_contents() == [FOUR]
    assert (
        page.locator("#sheet-tools, #sheet-bar, #sheet-open, #sheet-line").locator("visible=true").count()
        == 0
    )
    assert "evh inspect --sheet --dataset-id d --csv d.csv" in page.locator(".next").text_content()
    for place in (1, 2, 3, 4, 5):
        assert page.locator(f"#i{place}").count() == 1
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_can_use_it(scheme: str, browser: Any, folder: Path) -> None:
    """At 390 px nothing is wider than the screen, rows are 44 px high, and an opened row fills it."""
    made = watched(browser, viewport={"width": 390, "height": 800}, color_scheme=scheme, has_touch=True)
    made.open(folder / "sheets/d/index.html")
    page = made.page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#sheet tbody tr[data-at]").first.bounding_box()["height"] == pytest.approx(44, abs=1)
    assert not page.locator("#sheet-signals").is_visible()
    page.locator("#sheet-fold > summary").tap()
    page.locator(".toggle.s-split").tap()
    assert made.ids == [ONE]
    page.locator("#sheet tbody a").first.tap()
    assert page.locator("#sheet-open").bounding_box()["width"] == 390
    page.get_by_role("button", name="Close the row").tap()
    assert not page.locator("#sheet-open").is_visible()
    assert made.told == []
    page.context.close()


def test_on_a_phone_the_bar_is_a_line_that_unfolds(browser: Any, folder: Path) -> None:
    """One selected row takes a line of the screen; the commands come when asked for, and go again."""
    made = watched(browser, viewport={"width": 390, "height": 800}).open(folder / "sheets/d/index.html")
    bar = made.page.locator("#sheet-bar")
    made.page.locator("#sheet tbody td.select").first.click()
    bar.wait_for()
    assert bar.bounding_box()["height"] < 64
    assert not bar.locator(".command").first.is_visible()
    bar.locator(".bar-fold").click()
    assert bar.locator(".command").first.is_visible()
    assert bar.locator(".bar-fold").get_attribute("aria-expanded") == "true"
    bar.locator(".bar-fold").click()
    assert bar.bounding_box()["height"] < 64
    made.page.context.close()


def test_paper_has_the_rows(sheet: Sheet) -> None:
    """Printing puts the rows into the page and hides the tools; afterwards the window is back."""
    sheet.page.emulate_media(media="print")
    sheet.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert sheet.page.locator("#sheet tbody tr").count() == 5
    assert not sheet.page.locator("#sheet-tools").is_visible()
    sheet.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    sheet.page.emulate_media(media="screen")
    assert sheet.drawn == list(IDS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, browser: Any, folder: Path) -> None:
    """With a row opened, a diff shown and a row selected, no rule of axe-core is broken."""
    from axe_playwright_python.sync_playwright import Axe

    made = watched(browser, color_scheme=scheme, bypass_csp=True).open(folder / "sheets/d/index.html")
    made.key("x", "d")
    made.page.wait_for_selector(".open-diff")
    found = Axe().run(made.page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    made.page.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_picked_badge_and_its_id_are_whole(width: int, browser: Any, folder: Path) -> None:
    """Neither is cut: each is as wide as what it says, and inside its cell."""
    made = watched(browser, viewport={"width": width, "height": 800}).open(folder / "sheets/d/index.html")
    cell = made.page.locator("#sheet tbody th.item", has_text="picked")
    outer = cell.bounding_box()
    for inner in (cell.locator("a"), cell.locator(".badge")):
        box = inner.bounding_box()
        assert box["x"] >= outer["x"]
        assert box["x"] + box["width"] <= outer["x"] + outer["width"] + 0.5
        assert box["y"] + box["height"] <= outer["y"] + outer["height"] + 0.5
        assert inner.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1 || one.clientWidth === 0")
    made.page.context.close()
