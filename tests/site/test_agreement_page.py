"""The agreement matrix in a browser: tabs without scripts, sorting with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import site
from tests.helpers import Builder
from tests.site.browsing import chromium

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset's page with three sets, of which the first agrees least with the others."""
    root = tmp_path_factory.mktemp("agreement")
    (root / "data").mkdir()
    (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
    project = Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"})
    made = Builder(project)
    items = {f"i{n:02}": f"text {n}" for n in range(20)}
    made.dataset("d", items, task="t")
    true = {item: "xy"[n % 2] for n, item in enumerate(items)}
    odd = {item: "x" if n < 10 else "y" for n, item in enumerate(items)}
    for name, labels in (("a", odd), ("b", true), ("c", true | {"i00": "y"})):
        made.labels("d", name, labels, source={"kind": "person", "by": name})
    return site.commit(project, site.plan(project)).index.parent / "datasets/d/index.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    with chromium() as started:
        yield started


def names(page: Any, part: str) -> list[str]:
    """Return the names of the sets in a part of the matrix that is seen."""
    found = page.locator(f".p-alpha table.matrix {part} .mark a").all_text_contents()
    return [name.strip() for name in found]


def test_alpha_can_be_chosen_without_scripts(page_path: Path, browser: Any) -> None:
    """Every figure is a tab by style alone; what cannot work without scripts is not there."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_path.as_uri())
    box = page.locator(".agreement").first
    assert not box.locator(".p-alpha").is_visible()
    box.get_by_label("Krippendorff’s alpha", exact=True).check()
    assert box.locator(".p-alpha").is_visible()
    assert not box.locator(".p-kappa").is_visible()
    assert box.locator(".sorting").count() == 0
    context.close()


def test_sets_are_sorted_by_their_mean_agreement_and_back(page_path: Path, browser: Any) -> None:
    """Rows and columns move together: b and c before a; each cell stays with its row and column."""
    page = browser.new_page()
    page.goto(page_path.as_uri())
    box = page.locator(".agreement").first
    box.get_by_label("Krippendorff’s alpha", exact=True).check()
    before = page.locator(".p-alpha tbody tr").all_inner_texts()
    assert names(page, "thead") == names(page, "tbody") == ["a", "b", "c"]
    box.get_by_label("Sort by mean agreement").check()
    assert names(page, "thead") == names(page, "tbody") == ["b", "c", "a"]
    rows = page.locator(".p-alpha tbody tr")
    for at in range(3):  # the diagonal moved along
        assert "diagonal" in rows.nth(at).locator("td").nth(at).get_attribute("class")
    box.get_by_label("Sort by mean agreement").uncheck()
    assert page.locator(".p-alpha tbody tr").all_inner_texts() == before
    page.close()
