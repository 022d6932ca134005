"""The sheet's page in a real browser: keys, filters, sorts, address, selection, opened row; hand-counted."""

from __future__ import annotations

import random
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project import picks, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from tests.helpers import Builder, correct
from tests.site.browsing import Sheet, built, chromium, watched

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

# Counted by hand; an id is data, so it may look like a command or an option:
#   item       kind n  truth other production a      b     signals                              winners
#   one        x    1  yes   no    yes        yes    no    disagree split new (n)                production a
#   it's two   y    2  no          yes        no     no    wrong (truth) disagree new (kind)    a b
#   $(three)   x    3  yes         no         yes    yes   wrong (truth) disagree new (n)       a b
#   -four      z                   yes        yes    yes   new (kind) unlabelled
#   `five`     x       no          no         failed no                                         production b
ONE, TWO, THREE, FOUR, FIVE = IDS = ("one", "it's two", "$(three)", "-four", "`five`")
TRUTH = {ONE: "yes", TWO: "no", THREE: "yes", FIVE: "no"}
DECISIONS: dict[str, dict[str, str | None]] = {
    "production": {ONE: "yes", TWO: "yes", THREE: "no", FOUR: "yes", FIVE: "no"},
    "a": {ONE: "yes", TWO: "no", THREE: "yes", FOUR: "yes", FIVE: None},
    "b": {ONE: "no", TWO: "no", THREE: "yes", FOUR: "yes", FIVE: "no"},
}
QUALITY = {
    "production": {ONE: 0.5, TWO: 0.2, THREE: 0.9, FIVE: 0.4},
    "a": {ONE: 0.625, TWO: 0.1, THREE: 0.95},
    "b": {ONE: 0.5, TWO: 0.8, THREE: 0.3, FIVE: 0.4},
}
FIELDS: dict[str, dict[str, Any]] = {
    ONE: {"kind": "x", "n": 1},
    TWO: {"kind": "y", "n": 2},
    THREE: {"kind": "x", "n": 3},
    FOUR: {"kind": "z"},
    FIVE: {"kind": "x"},
}
OUTPUTS = {
    "production": "The parser reads past its buffer, so act now.\nyes",
    "a": "The parser writes past its buffer, so act later.\nyes",
    "b": "The parser reads past its buffer, so act now.\nyes",
}


def project_of_five(project: Project) -> Project:
    """Write the dataset of the hand count, two governed ones, and a pick for the first of them."""
    made = Builder(project)
    made.dataset("d", {item_id: f"the text of {item_id}\n" for item_id in IDS}, fields=FIELDS, task="triage")
    governed: dict[str, dict[str, Any]] = {"g1": {"kind": "x", "n": 4}, "g2": {"n": 2}}
    made.dataset("gov", {"g1": "1", "g2": "2"}, fields=governed, governed=True, task="triage")
    made.dataset("gov2", {"h": "3"}, fields={"h": {"kind": "z"}}, governed=True, task="triage")
    made.labels("d", "truth", TRUTH)
    made.labels("d", "other", {ONE: "no"})
    for name, decisions in DECISIONS.items():
        run = Run(
            f"{name}_20261001T000000Z", name, "d",
            created_at="2026-10-01T00:00:00Z", n_items=5,
            params={"provider": "recorded" if name == "production" else "echo"},
        )  # fmt: skip
        rows = [
            Prediction(item_id, error="failed: no answer")
            if decision is None
            else Prediction(item_id, output=OUTPUTS[name] if item_id == ONE else decision, decision=decision)
            for item_id, decision in decisions.items()
        ]
        run = runs.write_scored(project, run, rows)
        right = correct(decisions, TRUTH)
        scores = {item_id: {**one, "quality": QUALITY[name][item_id]} for item_id, one in right.items()}
        made.rescored(run, decisions, scores, against="labels/d/truth", primary_metric="correct")
    made.pick("d", TWO, targets=("gov",), tags={"case": "missed"}, note="look <b>here</b>")
    return project


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the hand count."""
    return built(tmp_path_factory.mktemp("five"), project_of_five)


@pytest.fixture
def sheet(browser: Any, folder: Path) -> Iterator[Sheet]:
    """Its sheet, opened; nothing may be said on the console, and nothing asked for beside the site."""
    made = watched(browser).open(folder / "sheets/d/index.html")
    yield made
    made.page.context.close()
    assert made.told == []
    assert [url for url in made.asked if not url.startswith((folder.as_uri(), "about:"))] == []


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


@pytest.mark.parametrize("fragment", ["#i3", "#row=%24%28three%29", "#row=$(three)"])
def test_a_link_to_a_row_opens_it(fragment: str, browser: Any, folder: Path) -> None:
    """The item's place and its id, however they are written, open the row and bring it into sight."""
    made = watched(browser).open(folder / "sheets/d/index.html", fragment)
    assert made.text("#sheet-open h2") == THREE
    assert made.page.locator("#sheet tr.opened th").text_content() == THREE
    made.page.context.close()


def test_a_changed_address_is_followed(sheet: Sheet) -> None:
    """A link on the page, or an edited address, changes what is shown without loading anew."""
    sheet.page.evaluate("location.hash = '#f=split&row=' + encodeURIComponent('`five`')")
    sheet.page.locator("#sheet-open h2").wait_for(state="visible")
    assert sheet.text("#sheet-open h2") == FIVE  # opened, though the filter hides its row
    assert sheet.ids == [ONE]
    sheet.page.evaluate("location.hash = ''")
    sheet.page.locator("#sheet-open").wait_for(state="hidden")
    assert sheet.ids == list(IDS)


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


def test_without_scripts_it_is_a_table(browser: Any, folder: Path) -> None:
    """Every row, filters by signal, a link to a row, the command for the rest; no tool that needs scripts."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.goto((folder / "sheets/d/index.html").as_uri() + "#row=%24%28three%29")
    assert page.locator("#sheet tbody tr:visible").count() == 5
    assert page.locator("#sheet tbody tr:has(:target) th a").text_content() == THREE
    page.locator("#f-unlabelled").check()
    assert page.locator("#sheet tbody tr:visible th").all_text_contents() == [FOUR]
    assert (
        page.locator("#sheet-tools, #sheet-bar, #sheet-open, #sheet-line").locator("visible=true").count()
        == 0
    )
    assert "evh inspect --sheet --dataset-id d --csv d.csv" in page.locator(".next").text_content()
    for place in (1, 2, 3, 4, 5):
        assert page.locator(f"#i{place}").count() == 1
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_can_use_it(scheme: str, browser: Any, folder: Path) -> None:
    """At 390 px nothing is wider than the screen, rows are 44 px high, and an opened row fills it."""
    made = watched(browser, viewport={"width": 390, "height": 800}, color_scheme=scheme, has_touch=True)
    made.open(folder / "sheets/d/index.html")
    page = made.page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#sheet tbody tr[data-at]").first.bounding_box()["height"] == pytest.approx(44, abs=1)
    assert not page.locator("#sheet-signals").is_visible()
    page.locator("#sheet-fold > summary").tap()
    page.locator(".toggle.s-split").tap()
    assert made.ids == [ONE]
    page.locator("#sheet tbody a").first.tap()
    assert page.locator("#sheet-open").bounding_box()["width"] == 390
    page.get_by_role("button", name="Close the row").tap()
    assert not page.locator("#sheet-open").is_visible()
    assert made.told == []
    page.context.close()


def test_paper_has_the_rows(sheet: Sheet) -> None:
    """Printing puts the rows into the page and hides the tools; afterwards the window is back."""
    sheet.page.emulate_media(media="print")
    sheet.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert sheet.page.locator("#sheet tbody tr").count() == 5
    assert not sheet.page.locator("#sheet-tools").is_visible()
    sheet.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    sheet.page.emulate_media(media="screen")
    assert sheet.drawn == list(IDS)


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, browser: Any, folder: Path) -> None:
    """With a row opened, a diff shown and a row selected, no rule of axe-core is broken."""
    from axe_playwright_python.sync_playwright import Axe

    made = watched(browser, color_scheme=scheme, bypass_csp=True).open(folder / "sheets/d/index.html")
    made.key("x", "d")
    made.page.wait_for_selector(".open-diff")
    found = Axe().run(made.page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    made.page.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_picked_badge_and_its_id_are_whole(width: int, browser: Any, folder: Path) -> None:
    """Neither is cut: each is as wide as what it says, and inside its cell."""
    made = watched(browser, viewport={"width": width, "height": 800}).open(folder / "sheets/d/index.html")
    cell = made.page.locator("#sheet tbody th.item", has_text="picked")
    outer = cell.bounding_box()
    for inner in (cell.locator("a"), cell.locator(".badge")):
        box = inner.bounding_box()
        assert box["x"] >= outer["x"]
        assert box["x"] + box["width"] <= outer["x"] + outer["width"] + 0.5
        assert box["y"] + box["height"] <= outer["y"] + outer["height"] + 0.5
        assert inner.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1 || one.clientWidth === 0")
    made.page.context.close()


def test_on_a_phone_the_bar_is_a_line_that_unfolds(browser: Any, folder: Path) -> None:
    """One selected row takes a line of the screen; the commands come when asked for, and go again."""
    made = watched(browser, viewport={"width": 390, "height": 800}).open(folder / "sheets/d/index.html")
    bar = made.page.locator("#sheet-bar")
    made.page.locator("#sheet tbody td.select").first.click()
    bar.wait_for()
    assert bar.bounding_box()["height"] < 64
    assert not bar.locator(".command").first.is_visible()
    bar.locator(".bar-fold").click()
    assert bar.locator(".command").first.is_visible()
    assert bar.locator(".bar-fold").get_attribute("aria-expanded") == "true"
    bar.locator(".bar-fold").click()
    assert bar.bounding_box()["height"] < 64
    made.page.context.close()
