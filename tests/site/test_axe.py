"""axe-core over every kind of page: no serious or critical finding, light and dark, on a phone and a desk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import site
from tests.evh_build.projects import decided, small
from tests.helpers import Builder
from tests.site.browsing import chromium, kinds

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
SERIOUS = {"serious", "critical"}
DECISIONS = (
    "goals", "goals/answers", "judges", "judges/helpful", "judges/tone", "models", "arms/best",
    "runs/runs/best_20261001T000000Z", "compare/d/best/far",
)  # fmt: skip
"""Pages of the project with a decision: each has what the small project's page of its kind lacks."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project's site in which every kind of page has something to show."""
    root = tmp_path_factory.mktemp("axe")
    (root / "data").mkdir()
    (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
    project = small(Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}))
    lineage = {"i2": {"capture": "c", "dataset": "d", "item_id": "i2", "pick": True}}
    made = Builder(project)
    made.dataset(
        "v2", {"own": "only here\n", "i2": "report 2\n"}, parent="v1", lineage=lineage, task="triage"
    )
    made.pick("d", "i4", targets=("v1",), tags={"case": "missed"}, note="look")
    return site.commit(project, site.plan(project)).index.parent


@pytest.fixture(scope="module")
def decisions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project's site with a goal that has a baseline, a deploy sheet, a judge and a model record."""
    root = tmp_path_factory.mktemp("decided")
    (root / "data").mkdir()
    project = decided(Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}))
    return site.commit(project, site.plan(project)).index.parent


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    with chromium() as started:
        yield started


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_finding(scheme: str, width: int, folder: Path, decisions: Path, browser: Any) -> None:
    """Every rule that axe-core runs by default, on each kind of page; in the dark, those of colour.

    What it finds is told with its place.
    """
    options = {"runOnly": ["color-contrast"]} if scheme == "dark" else None
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    told = []
    whole = [decisions / f"{one}/index.html" for one in DECISIONS]
    for path in (*kinds(folder), *whole):
        page.goto(path.as_uri())
        for one in axe.Axe().run(page, options=options).response["violations"]:
            if one["impact"] in SERIOUS:
                places = [node["html"][:120] for node in one["nodes"][:3]]
                told.append((path.as_posix()[-60:], one["id"], places))
    context.close()
    assert not told, json.dumps(told, indent=1)


def test_open_menus_and_results_have_no_serious_finding(folder: Path, browser: Any) -> None:
    """The Data menu open and a search answered, on one page, in both schemes."""
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto((folder / "arms/index.html").as_uri())
        page.locator(".menu summary").click()
        page.locator("#search-box").fill("i")
        page.locator(".results a").first.wait_for()
        page.evaluate("document.querySelector('.menu details').open = true")
        found = axe.Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in SERIOUS] == []
        context.close()
