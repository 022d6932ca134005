"""The sheet's page by keys in a real browser: moving, help, selection, and the commands copied from it."""

from __future__ import annotations

import random
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evh.project import picks
from evh.project.find import Project
from tests.site import five
from tests.site.browsing import Sheet
from tests.site.five import FIVE, FOUR, IDS, ONE, THREE, TWO, project_of_five

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

browser, folder, sheet = five.browser, five.folder, five.sheet


def test_j_and_k_and_the_arrows_move_the_one_cell_that_tab_reaches(sheet: Sheet) -> None:
    """Rows by j, k, up, down; cells by left, right; arms by [ and ]; the head is above the first row."""
    page = sheet.page

    def here() -> tuple[str | None, str]:
        cell = page.evaluate(
            "(() => { const c = document.activeElement.closest('td, th'); return [c.parentNode.getAttribute("
            "'aria-rowindex'), c.className.split(' ')[0]] })()"
        )
        return cell[0], cell[1]

    sheet.key("j")
    assert here() == ("3", "select")
    sheet.key("ArrowRight", "ArrowDown")
    assert here() == ("4", "item")
    sheet.key("k", "]")
    assert here() == ("3", "decision")
    sheet.key("]")
    assert page.evaluate("evhSheet.view.columns[evhSheet.view.cursor.column - 1].key") == "a"
    sheet.key("[")
    assert page.evaluate("evhSheet.view.columns[evhSheet.view.cursor.column - 1].key") == "production"
    sheet.key("Home", "ArrowUp")
    assert here() == ("1", "decision")
    sheet.key("Enter")
    assert page.evaluate("evhSheet.view.state.sort.key") == "production"
    sheet.key("ArrowDown", "End")
    assert here()[0] == "6"
    assert page.locator("#sheet [tabindex='0']").count() == 1


def test_no_key_acts_with_a_modifier_or_while_typing(sheet: Sheet) -> None:
    """Ctrl, Alt and Meta leave every key to the browser; in a field the letters are letters."""
    for modifier in ("Control", "Alt", "Meta"):
        for key in ("x", "1", "o", "j"):
            sheet.key(f"{modifier}+{key}")
    assert (sheet.selected, sheet.ids, sheet.hash) == ([], list(IDS), "")
    sheet.key("/")
    sheet.page.keyboard.type("x1oj?")
    assert sheet.page.input_value("#sheet-q") == "x1oj?"
    assert sheet.page.locator("#sheet-help[open], #sheet-open:visible").count() == 0
    assert sheet.selected == []


def test_help_opens_and_escape_closes_what_is_open(sheet: Sheet) -> None:
    """? shows the keys; Esc closes them, then a menu, then the opened row."""
    page = sheet.page
    sheet.key("?")
    assert page.locator("#sheet-help").is_visible()
    assert page.locator("#sheet-help kbd").count() >= 15
    sheet.key("Escape")
    assert not page.locator("#sheet-help").is_visible()
    sheet.key("o")
    page.locator("#sheet-columns summary").click()
    sheet.key("Escape")
    assert page.locator(".sheet-menu[open]").count() == 0
    assert page.locator("#sheet-open").is_visible()
    sheet.key("Escape")
    assert not page.locator("#sheet-open").is_visible()
    assert sheet.hash == ""


def test_selection_by_keys_and_mouse(sheet: Sheet) -> None:
    """x selects and Shift-x the range to here; a click on a box does, and with Shift the rows between."""
    sheet.key("x", "j", "j", "X")
    assert sheet.selected == [ONE, TWO, THREE]
    sheet.key("x")
    assert sheet.selected == [ONE, TWO]
    sheet.page.get_by_role("button", name="Clear", exact=True).click()
    assert sheet.selected == []
    boxes = sheet.page.locator("#sheet tbody input")
    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    sheet.page.wait_for_timeout(250)
    assert sheet.selected == [TWO, THREE, FOUR, FIVE]
    assert sheet.page.locator("#sheet tr[aria-selected=true]").count() == 4
    assert sheet.page.locator("#sheet tbody input:checked").count() == 4
    sheet.key("5")
    sheet.page.locator("#sheet-all").click()
    assert sheet.text("#sheet-bar b") == "4 rows selected"


def test_the_copied_commands_do_what_they_say(
    sheet: Sheet, tmp_path: Path, evh: Any, project: Project
) -> None:
    """The pick command, copied and read as a shell does, picks the selected items, hostile ids too."""
    project_of_five(project)
    page = sheet.page
    page.locator("#sheet-all").click()
    page.fill("#sheet-bar [name=targets]", "gov, gov2")
    page.fill("#sheet-bar [name=tags]", "case=it's, why=$HOME")
    page.fill("#sheet-bar [name=note]", "-look at `this`")
    page.locator("#sheet-bar .command button").first.click()
    command = sheet.clipboard()
    words = shlex.split(command)
    assert words == [
        "evh", "pick", "--dataset-id", "d", "--item", ONE, "--item", TWO, "--item", THREE, f"--item={FOUR}",
        "--item", FIVE, "--for", "gov", "--for", "gov2", "--tag", "case=it's", "--tag", "why=$HOME",
        "--note=-look at `this`",
    ]  # fmt: skip
    evh.ok(*words[1:])
    state = picks.read_state(project)
    assert {key[1] for key, one in state.items() if one.targets == ("gov", "gov2")} == set(IDS)
    assert state["d", FOUR].note == "-look at `this`"
    assert dict(state["d", FOUR].tags) == {"case": "it's", "why": "$HOME"}
    page.locator("#sheet-bar .command button").nth(1).click()
    words = shlex.split(sheet.clipboard())
    assert words[-2:] == ["--out", "d-labels.csv"]
    assert evh.ok(*words[1:-1], tmp_path / "out.csv", "--json").json["sheets"][0]["n_items"] == 5


def test_words_are_quoted_so_that_a_shell_reads_them_back(sheet: Sheet) -> None:
    """Two thousand seeded words of what shells mean something by come back from bash as they were."""
    draw = random.Random(5)
    alphabet = "ab-=$`'\"\\!#&|;<>(){}[]*?~ \t%^é日,.:/_@+"
    words = ["".join(draw.choices(alphabet, k=draw.randrange(1, 9))) for _ in range(2_000)]
    quoted = sheet.page.evaluate("(words) => words.map((word) => evhSheet.quote(word))", words)
    said = subprocess.run(
        ["bash"], input=f"printf '%s\\0' {' '.join(quoted)}", capture_output=True, text=True, check=True
    )
    assert said.stdout.split("\0") == [*words, ""]
