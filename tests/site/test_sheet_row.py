"""A row opened on the sheet's page, in a real browser: all that is known of it, how two outputs differ."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.site import five
from tests.site.browsing import Sheet, watched
from tests.site.five import ONE, OUTPUTS, THREE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

browser, folder, sheet = five.browser, five.folder, five.sheet


def test_a_row_in_full(sheet: Sheet) -> None:
    """The opened row has fields, text, each whole output with its scores, every label and the pick."""
    page = sheet.page
    page.locator("#sheet tbody a").nth(1).click()
    page.wait_for_selector("#sheet-open .open-arm")
    told = " ".join(sheet.text("#sheet-open").split())
    assert "picked for gov case=missed" in told
    assert sheet.text("#sheet-open .open-about .written p") == "look <b>here</b>"
    assert "the text of it's two" in told
    assert "kind" in told
    assert "truth✗ no" in told.replace(" truth", "truth").replace("truth ", "truth")
    sheet.key("k")
    assert sheet.text("#sheet-open h2") == ONE
    arms = page.locator("#sheet-open .open-arm")
    assert arms.count() == 3
    first = " ".join(arms.first.text_content().split())
    assert first == (
        "production recorded won the rowyesThe parser reads past its buffer, so act now. yes"
        "correct against d/truth 1 why?quality against d/truth 0.500 why?"
    )
    assert (
        page.locator("#sheet-open a", has_text="The item’s page").get_attribute("href")
        == "../../items/d/one.html"
    )
    arms.first.locator("button", has_text="why?").first.click()
    assert sheet.clipboard() == "evh why 'sheet:d/one#production.correct'"
    assert sheet.hash == "row=one"
    sheet.key("c")
    assert sheet.clipboard() == OUTPUTS["production"]
    sheet.key("]", "c")
    assert sheet.clipboard() == OUTPUTS["a"]
    sheet.key("End", "o")
    assert "failed: no answer" in sheet.text("#sheet-open")
    assert "No labels yet." not in sheet.text("#sheet-open")


def test_enter_goes_into_the_opened_row_and_escape_back(sheet: Sheet) -> None:
    """Focus moves to the opened row's heading and returns to the cell it came from."""
    sheet.key("j", "Enter")
    assert sheet.page.evaluate("document.activeElement.id") == "sheet-open-heading"
    sheet.key("Escape")
    assert sheet.page.evaluate("document.activeElement.closest('tr').getAttribute('aria-rowindex')") == "3"


@pytest.mark.parametrize("fragment", ["#i3", "#row=%24%28three%29", "#row=$(three)"])
def test_a_link_to_a_row_opens_it(fragment: str, browser: Any, folder: Path) -> None:
    """The item's place and its id, however they are written, open the row and bring it into sight."""
    made = watched(browser).open(folder / "sheets/d/index.html", fragment)
    assert made.text("#sheet-open h2") == THREE
    assert made.page.locator("#sheet tr.opened th").text_content() == THREE
    made.page.context.close()


def test_differences_between_two_outputs_are_marked_word_by_word(sheet: Sheet) -> None:
    """Two words differ; the arm compared to is chosen; outputs that are alike are said to be."""
    page = sheet.page
    sheet.key("d", "]")
    page.wait_for_selector(".open-diff")
    assert page.locator(".open-diff del").all_text_contents() == ["reads", "now"]
    assert page.locator(".open-diff ins").all_text_contents() == ["writes", "later"]
    page.locator(".open-diff select").nth(1).select_option(label="b")
    assert "The two say the same." in sheet.text(".open-diff")
    sheet.key("d")
    assert page.locator(".open-diff").count() == 0


def test_a_diff_of_any_texts_gives_both_back(sheet: Sheet) -> None:
    """What is kept and taken makes the first text, what is kept and added the second; 100 seeded pairs."""
    draw = random.Random(3)
    alphabet = ["a", "bb", " ", "\n", "é", "日本", "<b>", "😀", ".", "_x1"]
    pairs = [["".join(draw.choices(alphabet, k=draw.randrange(40))) for _ in (0, 1)] for _ in range(100)]
    found = sheet.page.evaluate("(pairs) => pairs.map(([a, b]) => evhSheet.diff(a, b).parts)", pairs)
    for (before, after), parts in zip(pairs, found, strict=True):
        assert "".join(text for kind, text in parts if kind != "ins") == before
        assert "".join(text for kind, text in parts if kind != "del") == after


def test_a_diff_of_hostile_length_ends(sheet: Sheet) -> None:
    """Two texts of a million characters with no word in common are compared in bounded time, and say so."""
    took, whole, cut = sheet.page.evaluate(
        "(() => { const t = performance.now(), d = evhSheet.diff('a '.repeat(5e5), 'b '.repeat(5e5)); "
        "return [performance.now() - t, d.whole, d.cut] })()"
    )
    assert (whole, cut) == (True, True)
    assert took < 5_000
