"""What the browser's tests share: Chromium, a site built of a project, a page that is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evh.project.find import Project
from evh_build import site
from tests.tools import require_tool

NOW = "2026-11-01T08:02:32Z"


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium, headless."""
    program = require_tool("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def built(root: Path, fill: Callable[[Project], Project]) -> Path:
    """Return the folder of the site of a project that ``fill`` writes into a folder."""
    (root / "data").mkdir()
    (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
    project = fill(Project.find(home=root, environ={"EVH_NOW": NOW}))
    return site.commit(project, site.plan(project)).index.parent


@dataclass
class Sheet:
    """A sheet's page in a browser: what it said and asked for is kept."""

    page: Any
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, place: Path, fragment: str = "") -> Sheet:
        """Open a page from disk and wait until its scripts drew the table."""
        self.page.goto("about:blank")
        self.page.goto(place.as_uri() + fragment)
        self.page.wait_for_selector(".sheet-ready", state="attached")
        return self

    def key(self, *keys: str) -> Sheet:
        """Press keys, one after the other."""
        for one in keys:
            self.page.keyboard.press(one)
        return self

    @property
    def ids(self) -> list[str]:
        """The items of the rows shown, in their order."""
        found: list[str] = self.page.evaluate(
            "Array.from(evhSheet.view.rows, (i) => evhSheet.view.model.id(i))"
        )
        return found

    @property
    def drawn(self) -> list[str]:
        """The items of the rows that are in the page."""
        found: list[str] = self.page.locator("#sheet tbody th.item a").all_text_contents()
        return found

    @property
    def selected(self) -> list[str]:
        """The items that are selected, in the sheet's order."""
        found: list[str] = self.page.evaluate("evhSheet.view.bar.ids()")
        return found

    @property
    def hash(self) -> str:
        """The page's address after ``#``, once it is written."""
        self.page.wait_for_timeout(250)
        found: str = self.page.evaluate("location.hash.slice(1)")
        return found

    def text(self, selector: str) -> str:
        """Return what an element says."""
        found: str = self.page.locator(selector).first.text_content()
        return found

    def clipboard(self) -> str:
        """Return what was copied."""
        self.page.wait_for_timeout(200)
        found: str = self.page.evaluate("navigator.clipboard.readText()")
        return found


def watched(browser: Any, **more: Any) -> Sheet:
    """Return a page that may copy and whose messages, errors and requests are kept."""
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 860}} | more))
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    made = Sheet(context.new_page())
    made.page.on("console", lambda message: made.told.append(message.text))
    made.page.on("pageerror", lambda error: made.told.append(str(error)))
    made.page.on("requestfailed", lambda request: made.told.append(f"failed: {request.url}"))
    made.page.on("request", lambda request: made.asked.append(request.url))
    return made


def kinds(folder: Path) -> list[Path]:
    """Return one page of each kind: the first of each folder and depth, and of datasets each."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.html")):
        parts = path.relative_to(folder).parts
        key = "/".join(parts) if parts[0] in {"datasets", "guide"} else f"{parts[0]}{len(parts)}"
        found.setdefault(key, path)
    return list(found.values())
