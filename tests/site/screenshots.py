"""Takes the pictures of the catalog that the documents show: ``make screenshots``, or a folder named."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from evh.project.find import Project
from evh_build import site
from evh_build.urls import Urls, href
from tests.tools import require_tool

ROOT = Path(__file__).resolve().parents[2]
SIZE = (1280, 860)
SCALE = 1.5


def pages(project: Project) -> dict[str, str]:
    """Return the pages to show: the home page, and of the newest dataset its page, its sheet and an item."""
    from evh_build.gather import Gathered

    gathered = Gathered(project)
    urls = Urls(gathered)
    newest = max(gathered.datasets.values(), key=lambda one: (one.created_at, one.dataset_id))
    sheet = gathered.sheet(newest.dataset_id)
    first = sheet.rows[0].item_id if sheet else newest.items[0].item_id
    found = {
        "home": "index.html",
        "agreement": f"{urls.dataset(newest.dataset_id)}#labels-heading",
        "sheet": urls.sheet(newest.dataset_id),
        "item": urls.item(newest.dataset_id, first),
    }
    return {name: path for name, path in found.items() if path}


def main(folder: Path) -> None:
    """Build the catalog aside and write ``<page>-light.png`` and ``<page>-dark.png`` into a folder."""
    from playwright.sync_api import sync_playwright

    project = Project.find(home=ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as aside, sync_playwright() as play:
        built = site.commit(project, site.plan(project, out=Path(aside) / "site"))
        browser = play.chromium.launch(executable_path=require_tool("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": SIZE[0], "height": SIZE[1]},
                color_scheme="light" if scheme == "light" else "dark",
                device_scale_factor=SCALE,
            )
            for name, path in pages(project).items():
                page.goto(built.index.parent.as_uri() + "/" + href(path))
                page.screenshot(path=folder / f"{name}-{scheme}.png")
                print(folder / f"{name}-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
