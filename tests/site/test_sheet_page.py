"""The sheet's page in a real browser: rows, filters, sorts, columns, the address; hand-counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from tests.site import five
from tests.site.browsing import Sheet, watched
from tests.site.five import FIVE, FOUR, IDS, ONE, THREE, TWO, project_of_five

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

browser, folder, sheet = five.browser, five.folder, five.sheet


def test_the_table_has_every_row_and_says_its_size(sheet: Sheet) -> None:
    """Five rows in the order of their signals; a grid that tells a screen reader its size."""
    assert sheet.ids == sheet.drawn == [ONE, TWO, THREE, FOUR, FIVE]
    table = sheet.page.locator("#sheet table")
    assert table.get_attribute("role") == "grid"
    assert table.get_attribute("aria-rowcount") == "9"  # the head, five rows, three lines of the footer
    # select, item, signals, three arms with a score each, winner, two sets, kind, n, text
    assert table.get_attribute("aria-colcount") == "15"
    assert sheet.page.locator("tbody tr[aria-rowindex='2'] th").text_content() == ONE
    assert sheet.page.locator("#sheet [tabindex='0']").count() == 1
    assert sheet.text("#sheet-count") == "5 rows"


def test_a_row_says_what_was_counted(sheet: Sheet) -> None:
    """Marks, winner, labels and the picked badge of each row; a failed arm says so."""
    rows = [[" ".join(cell.split()) for cell in row] for row in sheet.page.evaluate(
        "[...document.querySelectorAll('#sheet tbody tr[data-at]')].map("
        "(tr) => [...tr.cells].slice(1).map((td) => td.textContent))"
    )]  # fmt: skip
    assert rows[0] == [
        "one", "disagreesplitnew", "✓ yes", "0.500", "✓ yes", "0.625", "✗ no", "0.500",
        "production, a", "✗ no", "yes", "x", "1", "the text of one",
    ]  # fmt: skip
    assert rows[1][0] == "it's two picked: gov"
    assert rows[1][8:11] == ["a, b", "", "✗ no"]
    assert rows[4][4:6] == ["failed", ""]


@pytest.mark.parametrize(
    ("key", "name", "kept"),
    [
        ("1", "wrong", [TWO, THREE]),
        ("2", "disagree", [ONE, TWO, THREE]),
        ("3", "split", [ONE]),
        ("4", "new", [ONE, TWO, THREE, FOUR]),
        ("5", "unlabelled", [FOUR]),
    ],
)
def test_a_digit_filters_by_a_signal(key: str, name: str, kept: list[str], sheet: Sheet) -> None:
    """Each key keeps the rows of the hand count, is in the address, and takes itself back."""
    sheet.key(key)
    assert sheet.ids == kept
    assert sheet.hash == f"f={name}"
    assert sheet.text("#sheet-count") == f"{len(kept)} of 5 rows"
    assert sheet.page.locator(f".toggle.s-{name}[aria-pressed=true]").count() == 1
    sheet.key(key)
    assert sheet.ids == list(IDS)
    assert sheet.hash == ""


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("f=wrong:d/truth", [TWO, THREE]),
        ("f=wrong:d/other", [ONE]),
        ("f=new:gov", [ONE, TWO, THREE, FOUR]),
        ("f=new:gov2", [ONE, TWO, THREE, FIVE]),
        ("f=new:gov2,wrong", [TWO, THREE]),
        ("f=picked", [TWO]),
        ("f=worse&b=production", [ONE]),
        ("f=worse:b&b=production", [ONE]),
        ("f=worse:a&b=production", []),
        ("w=field:kind~x", [ONE, THREE, FIVE]),
        ("w=field:kind~y~z", [TWO, FOUR]),
        ("w=labels/d/truth~no", [TWO, FIVE]),
        ("w=labels/d/truth~", [FOUR]),
        ("w=b~no", [ONE, TWO, FIVE]),
        ("r=field:n~2~", [TWO, THREE]),
        ("r=a.quality~0.5~0.7", [ONE]),
        ("h=text~FIVE", [FIVE]),
        ("q=$(THREE", [THREE]),
        ("q=nothing like it", []),
        ("f=nonsense&w=nothing~x&s=nobody&cols=zzz&row=absent", list(IDS)),
        ("%", list(IDS)),
        ("w=%E0%A4%A~~~&r=field:n~a~b&f=,,", [ONE, TWO, THREE]),
    ],
)
def test_an_address_filters(address: str, kept: list[str], browser: Any, folder: Path) -> None:
    """By signal and set, governed dataset, label, decision, range and text; nonsense filters nothing."""
    made = watched(browser).open(folder / "sheets/d/index.html", f"#{address}")
    assert made.ids == kept
    assert made.told == []
    made.page.context.close()


@pytest.mark.parametrize(
    ("key", "rising", "falling"),
    [
        ("item", [THREE, FOUR, FIVE, TWO, ONE], [ONE, TWO, FIVE, FOUR, THREE]),
        ("field:n", [ONE, TWO, THREE, FOUR, FIVE], [THREE, TWO, ONE, FOUR, FIVE]),
        ("a.quality", [TWO, ONE, THREE, FOUR, FIVE], [THREE, ONE, TWO, FOUR, FIVE]),
        ("field:kind", [ONE, THREE, FIVE, TWO, FOUR], [FOUR, TWO, ONE, THREE, FIVE]),
        ("signals", [FIVE, FOUR, ONE, TWO, THREE], [ONE, TWO, THREE, FOUR, FIVE]),
    ],
)
def test_a_column_sorts_up_down_and_not(
    key: str, rising: list[str], falling: list[str], sheet: Sheet
) -> None:
    """First up, then down, then not; what has no value comes last; ties keep the sheet's order."""
    head = sheet.page.locator(f"#sheet thead th[data-key='{key}']")
    head.locator("button").click()
    assert (sheet.ids, head.get_attribute("aria-sort")) == (rising, "ascending")
    assert sheet.hash == f"s={key}"
    head.locator("button").click()
    assert (sheet.ids, head.get_attribute("aria-sort")) == (falling, "descending")
    head.locator("button").click()
    assert (sheet.ids, head.get_attribute("aria-sort")) == (list(IDS), "none")


def test_a_whole_state_is_restored_from_its_address(sheet: Sheet, folder: Path) -> None:
    """Filters, sort, columns, pin, baseline and opened row, chosen by hand, come back from the address."""
    page = sheet.page
    sheet.key("1", "/")
    page.keyboard.type("the text")
    page.locator("#sheet-columns summary").click()
    page.get_by_label("b quality", exact=True).uncheck()
    page.get_by_label("Pin a", exact=True).click()
    sheet.key("Escape")
    page.select_option("#sheet-base", "production")
    page.locator("#sheet thead th[data-key='field:n'] button").click()
    page.locator("#sheet thead th[data-key='field:n'] button").click()
    page.locator("#sheet tbody a").first.click()
    address = sheet.hash
    assert sheet.ids == [THREE, TWO]
    heads = page.locator("#sheet thead th").all_text_contents()
    sheet.open(folder / "sheets/d/index.html", f"#{address}")
    assert sheet.ids == [THREE, TWO]
    assert page.locator("#sheet thead th").all_text_contents() == heads
    assert page.input_value("#sheet-q") == "the text"
    assert page.input_value("#sheet-base") == "production"
    assert (
        page.locator("#sheet thead th[data-key='a']").get_attribute("class") == "decision pinned last-pinned"
    )
    assert sheet.text("#sheet-open h2") == THREE
    assert sheet.hash == address


def test_the_filter_menu_adds_what_chips_take_away(sheet: Sheet) -> None:
    """A value, a range and a text are added by the menu; each chip says its filter and removes it."""
    page = sheet.page
    page.locator("#sheet-filter summary").click()
    page.select_option("#sheet-filter-column", label="kind")
    page.select_option(".filter-value select", label="x")
    page.get_by_role("button", name="Add the filter").click()
    assert sheet.ids == [ONE, THREE, FIVE]
    page.select_option("#sheet-filter-column", label="n")
    page.fill(".filter-value [name=low]", "2")
    page.locator(".filter-value [name=low]").press("Enter")
    assert sheet.ids == [THREE]
    page.select_option("#sheet-filter-column", label="Text")
    page.fill(".filter-value [name=holds]", "three")
    page.get_by_role("button", name="Add the filter").click()
    assert sheet.ids == [THREE]
    assert page.locator(".sheet-chip").all_text_contents() == [
        "kind: x ×",
        "n: from 2  ×",
        "Text holds “three” ×",
    ]
    sheet.key("Escape")
    for left in (2, 1, 0):
        page.locator(".sheet-chip").first.click()
        assert page.locator(".sheet-chip").count() == left
    assert sheet.ids == list(IDS)


def test_columns_are_chosen_and_pinned(sheet: Sheet) -> None:
    """A column goes and comes back; a pinned one stands beside the item and stays while others scroll."""
    page = sheet.page

    def heads() -> list[str]:
        found: list[str] = page.evaluate(
            "[...document.querySelectorAll('#sheet thead th[data-key]')].map((th) => th.dataset.key)"
        )
        return found

    usual = heads()
    assert usual == [
        "item", "signals", "production", "production.quality", "a", "a.quality", "b", "b.quality", "winner",
        "labels/d/other", "labels/d/truth", "field:kind", "field:n", "text",
    ]  # fmt: skip
    page.locator("#sheet-columns summary").click()
    page.get_by_label("Signals", exact=True).uncheck()
    assert heads() == [key for key in usual if key != "signals"]
    page.get_by_label("production correct", exact=True).check()
    assert "production.correct" in heads()
    page.get_by_role("button", name="Pin kind", exact=True).click()
    assert heads()[:2] == ["item", "field:kind"]
    sheet.key("Escape")
    page.evaluate("document.getElementById('sheet').scrollLeft = 400")
    box = page.locator("#sheet thead th[data-key='field:kind']").bounding_box()
    edge = page.locator("#sheet").bounding_box()
    item = page.locator("#sheet thead th[data-key='item']").bounding_box()
    assert box["x"] - edge["x"] == pytest.approx(38 + item["width"], abs=2)
    page.locator("#sheet-columns summary").click()
    page.get_by_role("button", name="The usual ones").click()
    assert set(heads()) == set(usual)


def test_arms_are_compared_to_a_baseline(sheet: Sheet) -> None:
    """Beside production: b is worse on one, better on two and three; a better on two and three."""
    page = sheet.page
    page.select_option("#sheet-base", "production")
    told = page.evaluate(
        "[...document.querySelectorAll('#sheet tbody tr[data-at]')].map("
        "(tr) => [...tr.querySelectorAll('td.decision')].map((td) => td.textContent))"
    )
    assert told == [
        ["✓ yes", "✓ yes", "✗ no ▼1"],
        ["✗ yes", "✓ no ▲1", "✓ no ▲1"],
        ["✗ no", "✓ yes ▲1", "✓ yes ▲1"],
        ["yes", "yes", "yes"],
        ["✓ no", "failed", "✓ no"],
    ]
    page.get_by_role("button", name="worse than it").click()
    assert sheet.ids == [ONE]
    assert sheet.hash == "f=worse&b=production"


def test_a_changed_address_is_followed(sheet: Sheet) -> None:
    """A link on the page, or an edited address, changes what is shown without loading anew."""
    sheet.page.evaluate("location.hash = '#f=split&row=' + encodeURIComponent('`five`')")
    sheet.page.locator("#sheet-open h2").wait_for(state="visible")
    assert sheet.text("#sheet-open h2") == FIVE  # opened, though the filter hides its row
    assert sheet.ids == [ONE]
    sheet.page.evaluate("location.hash = ''")
    sheet.page.locator("#sheet-open").wait_for(state="hidden")
    assert sheet.ids == list(IDS)


def test_the_page_the_csv_and_the_json_say_the_same(
    sheet: Sheet, folder: Path, evh: Any, project: Project
) -> None:
    """Decisions, scores, labels, winners and signals are the terminal's; the CSV is so byte for byte."""
    project_of_five(project)
    evh.ok("inspect", "--sheet", "--dataset-id", "d", "--csv", project.root / "terminal.csv")
    assert (project.root / "terminal.csv").read_bytes() == (folder / "sheets/d/sheet.csv").read_bytes()
    told = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    page = sheet.page.evaluate(
        "(() => { const m = evhSheet.view.model; return Array.from({length: m.n}, (_, i) => ({"
        "id: m.id(i), wrong: m.wrongBy(i).map((s) => m.sets[s].ref), bits: m.bits[i],"
        "winners: m.winners(i).map((a) => m.arms[a].name),"
        "decisions: m.arms.map((a) => m.byKey.get(a.name).get(i)),"
        "labels: m.sets.map((s) => m.byKey.get(s.ref).get(i)).filter((text) => text !== null),"
        "scores: m.columns.filter((c) => c.role === 'score').map((c) => c.get(i))})) })()"
    )
    assert len(page) == len(told["rows"]) == 5
    for mine, theirs in zip(page, told["rows"], strict=True):
        held = theirs["signals"]
        names = ("wrong", "disagree", "split", "new", "unlabelled")
        mine["scores"] = [score for score in mine["scores"] if score is not None]
        assert mine == {
            "id": theirs["item_id"],
            "wrong": held["wrong_by"],
            "bits": sum(1 << at for at, name in enumerate(names) if held[name]),
            "winners": theirs["winners"],
            "decisions": [arm["decision"] for arm in theirs["arms"]],
            "labels": [" or ".join(one["answers"]) for one in theirs["labels"]],
            "scores": [score["value"] for arm in theirs["arms"] for score in arm["scores"]],
        }
