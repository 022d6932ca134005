"""Five items of the sample read by hand: their pages say what the raw records say."""

from __future__ import annotations

import csv
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evh.project.find import Project
from evh_build import site
from tests.sample.by_hand import FIVE, ROOT


class _Tables(HTMLParser):
    """Reads every table row of a page as a list of cell texts."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._in_cell:
            self.rows[-1][-1] += data


def _read(path: Path) -> _Tables:
    page = _Tables()
    page.feed(path.read_text(encoding="utf-8"))
    return page


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's catalog, built aside."""
    project = Project.find(home=ROOT)
    return site.commit(
        project, site.plan(project, out=tmp_path_factory.mktemp("catalog") / "site")
    ).index.parent


@pytest.mark.xdist_group("sample-catalog")
@pytest.mark.parametrize("item_id", FIVE)
def test_the_pages_say_what_was_read_by_hand(item_id: str, catalog: Path) -> None:
    """The sheet, its CSV and the item's page show the decision, whether it was right, and the label."""
    half, decision, label = FIVE[item_id]
    shown = "none or poc" if label.startswith("{") else label
    right = decision in (["active"] if label == "active" else ["none", "poc"])
    mark = "✓" if right else "✗"

    folder = catalog / "sheets" / half
    with (folder / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = next(row for row in csv.DictReader(file) if row["item_id"] == item_id)
    reference = f"silver/{half}_known_exploited"
    assert cells["production_v1: decision"] == decision
    assert cells[f"production_v1: correct ({reference})"] == str(float(right))
    assert cells[f"label: labels/{half}/known_exploited"] == shown
    assert cells[f"label: labels/{half}/cisa"] == decision
    assert (reference in cells["wrong by"].split()) == (not right)

    sheet = _read(folder / "index.html")
    head = next(row for row in sheet.rows if row[:1] == ["Item"])
    found = next((row for row in sheet.rows if row[0] == item_id), None)
    if found is not None:  # one of the first rows, which are there without scripts
        row = dict(zip(head, found, strict=True))
        assert row["production_v1 recorded"].split() == [mark, decision]
        assert row["rule known_exploited"].removeprefix("✗ ") == shown
        assert row["rule cisa"] == decision
        assert ("wrong" in row["Signals"]) == (not right)

    page = _read(catalog / "items" / half / f"{item_id}.html")
    arm = next(row for row in page.rows if row[0].split()[0] == "production_v1")
    assert arm[1].split()[0] == decision
    assert mark in arm[-1]
    labels = {row[0].strip(): row[1] for row in page.rows if len(row) > 3}
    assert labels["rule known_exploited"] == shown
    assert labels["rule cisa"] == decision
    assert any(f"\n{item_id}\n" in f"\n{text}" for text in page.text)
