"""Golden pages: what a small fixed project's pages are, byte for byte, but for what the scrubbers name.

``EVH_GOLD=1 python -m pytest tests/evh_build/test_pages_gold.py`` writes them again; look at the difference
before it is kept.
"""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

import pytest

from evh.project.find import Project
from evh_build import site
from tests.evh_build.projects import small

GOLD = Path(__file__).with_name("gold")
PAGES = (
    "index.html",
    "datasets/d/index.html",
    "items/d/i2.html",
    "labels/d/outcome/index.html",
    "references/silver/outcome/index.html",
    "captures/c/index.html",
    "arms/index.html",
    "arms/production/index.html",
    "runs/runs-rescored/production_20261001T000000Z/index.html",
    "compare/d/production/cheap/index.html",
    "picks/index.html",
    "search/index.html",
)

SCRUBBERS = {
    "the hash in an asset's name": (r"(assets/[\w-]+)\.[0-9a-f]{12}\.", r"\1.HASH."),
    "the pages of the guide": (r'<li><a href="[./]*guide/[a-z-]+\.html">.*?</a></li>\n', ""),
}
"""What may differ without a page being another: the name says what, the pair how it is told apart."""


def scrubbed(text: str) -> str:
    """Return a page without what may differ."""
    for pattern, replacement in SCRUBBERS.values():
        text = re.sub(pattern, replacement, text)
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small project's site."""
    root = tmp_path_factory.mktemp("gold")
    (root / "data").mkdir()
    (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
    (root / "evh.toml").write_bytes(b'[project]\nname = "golden project"\n')
    project = small(Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}))
    return site.commit(project, site.plan(project)).index.parent


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_as_it_was_kept(path: str, folder: Path) -> None:
    """The page equals the kept one; where not, the difference is shown line by line."""
    made = scrubbed((folder / path).read_text(encoding="utf-8"))
    kept = GOLD / path.replace("/", "~")
    if os.environ.get("EVH_GOLD"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(made, encoding="utf-8")
    assert kept.is_file(), f"{kept.name} is not kept yet: EVH_GOLD=1 writes it"
    lines = difflib.unified_diff(
        kept.read_text(encoding="utf-8").splitlines(), made.splitlines(), "kept", "made", lineterm="", n=1
    )
    difference = "\n".join(lines)
    assert not difference, f"{path}\n{difference}"


def test_nothing_is_kept_that_is_not_compared() -> None:
    """Every kept page is one of those that are compared."""
    assert {path.name for path in GOLD.glob("*")} == {path.replace("/", "~") for path in PAGES}


def test_a_scrubber_hides_no_more_than_it_names() -> None:
    """An asset's hash goes, its name stays; a link beside the guide's stays."""
    assert scrubbed('href="../assets/site.0123456789ab.css"') == 'href="../assets/site.HASH.css"'
    line = '<li><a href="../arms/index.html">Arms</a></li>\n'
    assert scrubbed(line + '<li><a href="../guide/adapters.html">A</a></li>\n') == line
