"""A sheet with two winners: the metric's and a judge's stand beside each other, on the page as in the CSV."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from evh.acts import sheet_fill, sheet_import
from evh.acts.sheet import build_sheet
from evh.project.find import Project
from tests.acts.sheets import fill, hand_counted, letters
from tests.site.browsing import built, chromium, watched

JUDGE = "ann/judge_won_unvalidated"
BY_JUDGE = {"one": "arm_b", "two": "arm_b, production", "three": "—", "four": "—", "five": "—"}
"""Who fills in the sheet picks b on one, production and b on two, and nothing on the others."""


def picked(project: Project) -> Project:
    """Write the project of the hand count and what ann picked in a filled sheet of it."""
    hand_counted(project)
    out = project.root / "blind.csv"
    plan = sheet_fill.plan(project, build_sheet(project, "d"), out, sheet_fill.Options(("pick",)))
    sheet_fill.commit(plan)
    where = letters(out)
    tie = f"{where['two']['production']}|{where['two']['arm_b']}"
    fill(out, {"one": {"pick": where["one"]["arm_b"]}, "two": {"pick": tie}})
    asked = sheet_import.Asked(out, "d", "ann", scorer="ann")
    sheet_import.commit(project, sheet_import.plan(project, asked))
    return project


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of that project."""
    return built(tmp_path_factory.mktemp("judged"), picked)


def cells(page: str, part: str) -> list[list[str]]:
    """Return the texts of a table's cells, row by row, of ``thead``, ``tbody`` or ``tfoot``."""
    body = re.search(f"<{part}>(.*?)</{part}>", page, re.DOTALL)
    assert body is not None
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body[1], re.DOTALL)
    return [
        [" ".join(re.sub(r"<[^>]+>", "", cell).replace("&shy;", "").replace("\u200b", "").split())
         for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]  # fmt: skip


def test_the_page_without_scripts_has_both_winners(folder: Path) -> None:
    """A column each, side by side, and the judge's win rate below each arm, as the CSV beside it says."""
    page = (folder / "sheets/d/index.html").read_text(encoding="utf-8")
    head = cells(page, "thead")[0]
    at = head.index("Winner")
    assert head[at + 1] == f"Winner by {JUDGE}"
    body = cells(page, "tbody")
    assert {row[0]: row[at + 1] for row in body} == BY_JUDGE
    assert {row[0]: row[at] for row in body} == {
        "one": "production, arm_a", "two": "arm_a", "three": "arm_a, arm_b", "four": "—",
        "five": "production, arm_b",
    }  # fmt: skip
    foot = {row[0]: row for row in cells(page, "tfoot")}
    assert foot[f"Win rateby {JUDGE}"][2:5] == ["0.250", "0.000", "0.750"]
    assert {len(row) for row in [head, *body, *foot.values()]} == {len(head)}
    text = (folder / "sheets/d/sheet.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    told = {row["item_id"]: row[f"winner by {JUDGE}"].replace(" ", ", ") or "—" for row in rows[:5]}
    assert told == BY_JUDGE


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_the_page_with_scripts_has_both_winners(folder: Path) -> None:
    """The table that the scripts draw, the row in full, and the column that can be sorted and left out."""
    with chromium() as browser:
        sheet = watched(browser).open(folder / "sheets/d/index.html")
        texts = "(tr) => [...tr.cells].map((td) => td.textContent)"
        read = f"[...document.querySelectorAll('#sheet {{}}')].map({texts})"
        head = sheet.page.evaluate(read.format("thead tr"))[0]
        at = next(n for n, text in enumerate(head) if f"Winner by {JUDGE}" in text)
        rows: list[list[str]] = sheet.page.evaluate(read.format("tbody tr[data-at]"))
        assert {BY_JUDGE[sheet.ids[n]] == row[at] for n, row in enumerate(rows)} == {True}
        foot: list[list[str]] = sheet.page.evaluate(read.format("tfoot tr"))
        assert any(f"by {JUDGE}" in " ".join(row) and "0.750" in " ".join(row) for row in foot)
        sheet.key("o")
        first = sheet.ids[0]
        opened = " ".join((sheet.page.text_content("#sheet-open") or "").split())
        assert (f"Winner by {JUDGE}: {BY_JUDGE[first]}" in opened) == (BY_JUDGE[first] != "—")
        assert sheet.told == []
