"""Paper, a narrow phone, forced colours and landmarks: what a reader has who has no wide screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.evh_build.projects import small
from tests.site.browsing import built, chromium, kinds

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
LEGEND = "getComputedStyle(document.querySelector('.legend %s'))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site in which every kind of page has something to show."""
    return built(tmp_path_factory.mktemp("media"), small)


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[Any]:
    """A page 360 px wide."""
    del folder
    with chromium() as browser:
        yield browser.new_page(viewport={"width": 360, "height": 780})


def test_no_page_scrolls_sideways_and_landmarks_differ(folder: Path, page: Any) -> None:
    """At 360 px each kind of page is as wide as the screen; no two landmarks have one role and one name."""
    wide, same = {}, {}
    for path in kinds(folder):
        name = str(path.relative_to(folder))
        page.goto(path.as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 360:
            wide[name] = width
        found = axe.Axe().run(page, options={"runOnly": ["landmark-unique"]}).response["violations"]
        if found:
            same[name] = [node["html"] for one in found for node in one["nodes"]]
    assert (wide, same) == ({}, {})


def test_forced_colours_leave_the_legend(folder: Path, page: Any) -> None:
    """Each step of the ramp keeps its own colour with an edge; the hatch keeps its lines, in dashes."""
    page.emulate_media(forced_colors="active")
    page.goto((folder / "datasets/v1/index.html").as_uri())
    ramp = [page.evaluate(LEGEND % f".r{step}" + ".backgroundColor") for step in range(9)]
    assert len(set(ramp)) == 9
    assert page.evaluate(LEGEND % ".r0" + ".borderTopStyle") == "solid"
    assert page.evaluate(LEGEND % ".few" + ".borderTopStyle") == "dashed"
    assert "repeating-linear-gradient" in page.evaluate(LEGEND % ".few" + ".backgroundImage")
    page.emulate_media(forced_colors="none")


def test_a_printed_sheet_can_be_read(folder: Path, page: Any) -> None:
    """Landscape; every arm's column is at least 13 mm (49 px) wide, and holds what it says in whole words."""
    page.set_viewport_size({"width": 1055, "height": 720})
    page.goto((folder / "sheets/d/index.html").as_uri())
    page.wait_for_selector(".sheet-ready", state="attached")
    boxes = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", page.pdf(prefer_css_page_size=True))
    assert boxes
    assert all(float(width) > float(height) for width, height in boxes)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    widths = page.evaluate(
        "Array.from(document.querySelectorAll('#sheet thead .decision'), (one) => one.clientWidth)"
    )
    assert widths
    assert min(widths) >= 48
    assert page.evaluate("document.documentElement.scrollWidth") == 1055
    cells = "Array.from(document.querySelectorAll('#sheet tbody .decision'))"
    assert page.evaluate(f"{cells}.filter((one) => one.scrollWidth > one.clientWidth).length") == 0
    page.emulate_media(media="screen")
