"""Every kind of page in a real browser, from disk, with scripts on and off: no error, no foreign request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import site
from tests.evh_build.projects import hostile, small
from tests.site.browsing import chromium

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small project's site and a hostile one's."""
    made = {}
    for name, fill in (("small", small), ("hostile", hostile)):
        root = tmp_path_factory.mktemp(name)
        (root / "data").mkdir()
        (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
        project = fill(Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}))
        made[name] = site.commit(project, site.plan(project)).index.parent
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    with chromium() as started:
        yield started


def _kinds(folder: Path) -> list[Path]:
    """Return one page of each kind, and each item of the hostile project."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.html")):
        parts = path.relative_to(folder).parts
        key = "/".join(parts) if parts[0] == "items" else f"{parts[0]}{len(parts)}"
        found.setdefault(key, path)
    return list(found.values())


def _failed(request: Any) -> list[str]:
    """Return a line for a request that failed; an icon given up for the next page did not."""
    return [] if request.failure == "net::ERR_ABORTED" else [f"failed: {request.url}: {request.failure}"]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts-on", "scripts-off"])
@pytest.mark.parametrize("name", ["small", "hostile"])
def test_pages_open_from_disk(name: str, scripts: bool, sites: dict[str, Path], browser: Any) -> None:
    """No console message or failed request, none outside the site, nothing of the data ran, no overflow."""
    folder = sites[name]
    told: list[str] = []
    asked: list[str] = []
    for width in (390, 1280):
        context = browser.new_context(java_script_enabled=scripts, viewport={"width": width, "height": 800})
        page = _watched(context, told, asked)
        for path in _kinds(folder):
            page.goto(path.as_uri())
            assert page.locator("h1").count() == 1, path
            if scripts:
                assert page.evaluate("window.ran") is None, path
                wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
                assert not wide, f"{path} is wider than {width} px"
        context.close()
    assert told == []
    assert [url for url in asked if not url.startswith(folder.as_uri() + "/")] == []


def _watched(context: Any, told: list[str], asked: list[str]) -> Any:
    """Return a page whose messages, errors and failed requests go to ``told``, its requests to ``asked``."""
    page = context.new_page()
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("requestfailed", lambda request: told.extend(_failed(request)))
    page.on("request", lambda request: asked.append(request.url))
    return page


def test_what_is_read_needs_no_script(sites: dict[str, Path], browser: Any) -> None:
    """With scripts off the figure of the matrix and the rows of the sheet can still be chosen."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((sites["small"] / "datasets/d/index.html").as_uri())
    first = page.locator(".tabs").first
    assert first.locator(".p-kappa").is_visible()
    first.get_by_label("Gwet’s AC1", exact=True).check()
    assert first.locator(".p-ac1").is_visible()
    assert not first.locator(".p-kappa").is_visible()
    page.goto((sites["small"] / "sheets/d/index.html").as_uri())
    assert page.locator(".sheet tbody tr:visible").count() == 4
    page.locator("#f-wrong").check()
    assert page.locator(".sheet tbody tr:visible").count() == 2
    context.close()


def test_a_command_is_copied(sites: dict[str, Path], browser: Any) -> None:
    """The button copies the command's text as it stands."""
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto((sites["small"] / "items/d/i2.html").as_uri())
    box = page.locator(".next .command").first
    box.get_by_role("button").click()
    assert page.evaluate("navigator.clipboard.readText()") == box.locator("code").text_content()
    context.close()


def test_the_first_key_reaches_the_content(sites: dict[str, Path], browser: Any) -> None:
    """Tab shows the skip link, Enter moves to the main part; the navigation marks where one is."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((sites["small"] / "arms/index.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.locator("nav [aria-current=page]").first.text_content() == "Arms"
    context.close()


def test_a_link_to_a_folded_pair_opens_it(sites: dict[str, Path], browser: Any) -> None:
    """A cell of the matrix leads to its confusion matrix, unfolded."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((sites["small"] / "datasets/d/index.html").as_uri())
    assert page.locator("#pair-0-0").get_attribute("open") is None
    page.locator(".p-kappa .cell a[href='#pair-0-0']").first.click()
    assert page.locator("#pair-0-0").get_attribute("open") is not None
    context.close()


def test_the_menu_opens_without_scripts_and_by_keyboard(sites: dict[str, Path], browser: Any) -> None:
    """Enter opens the Data menu, scripts or not; with scripts Escape or a click elsewhere closes it."""
    for scripts in (False, True):
        context = browser.new_context(java_script_enabled=scripts, viewport={"width": 390, "height": 800})
        page = context.new_page()
        page.goto((sites["small"] / "labels/d/ann/index.html").as_uri())
        inside = page.locator(".menu .group a").first
        assert not inside.is_visible()
        assert page.locator(".menu summary").text_content() == "Data, you are here"
        page.locator(".menu summary").focus()
        page.keyboard.press("Enter")
        assert inside.is_visible()
        assert page.locator(".menu .group a[aria-current]").text_content() == "Labels"
        if scripts:
            page.keyboard.press("ArrowDown")
            assert page.evaluate("document.activeElement.textContent") == "Datasets"
            page.keyboard.press("Escape")
            assert not inside.is_visible()
            assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
            page.keyboard.press("Enter")
            page.locator(".bottom").click()
            assert not inside.is_visible()
        context.close()


def test_recorded_arms_are_filtered_without_scripts(sites: dict[str, Path], browser: Any) -> None:
    """The small project has a recorded arm and one that calls: each choice shows its own."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((sites["small"] / "arms/index.html").as_uri())
    rows = page.locator("table.arms tbody tr:visible")
    assert rows.count() == 2
    page.get_by_label("recorded", exact=True).check()
    assert rows.all_text_contents()[0].strip().startswith("production")
    assert rows.count() == 1
    page.get_by_label("run by calls").check()
    assert rows.all_text_contents()[0].strip().startswith("cheap")
    context.close()


def test_search_finds_by_name_prefix_and_text(sites: dict[str, Path], browser: Any) -> None:
    """`/` reaches the box, which asks for its file then; arrows, Enter and Escape work; the count is told."""
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto((sites["small"] / "items/d/i2.html").as_uri())
    assert "data.js" not in asked
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search-box"
    page.keyboard.type("i2")
    links = page.locator(".top .results a")
    links.first.wait_for()
    assert asked.count("data.js") == 1
    assert links.all_text_contents()[0].startswith("i2 item of d")
    page.locator("#search-box").fill("report 3")
    page.wait_for_function("document.querySelector('.top .results a').textContent.startsWith('i3')")
    assert page.locator(".top [role=status]").text_content() == "1 result"
    page.locator("#search-box").fill("outcome")
    page.wait_for_function("document.querySelectorAll('.top .results a').length >= 2")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('li') !== null")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "search-box"
    page.keyboard.press("Escape")
    assert not page.locator(".top .results").is_visible()
    page.locator("#search-box").fill("cheap")
    page.wait_for_function("document.querySelector('.top .results a').textContent.startsWith('cheap arm')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/arms/cheap/index.html")
    context.close()


def test_the_search_page_keeps_its_words_in_the_address(sites: dict[str, Path], browser: Any) -> None:
    """A link with `#q=` shows its results; typing changes the address; scripts off: what there is."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((sites["small"] / "search/index.html").as_uri() + "#q=i1")
    page.locator(".whole .results a").first.wait_for()
    assert page.locator("#search-whole").input_value() == "i1"
    page.locator("#search-whole").fill("zzz")
    page.wait_for_function("location.hash === '#q=zzz'")
    assert page.locator(".whole [role=status]").text_content() == "Nothing found"
    context.close()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((sites["small"] / "search/index.html").as_uri())
    assert not page.locator("form.search").first.is_visible()
    assert page.get_by_role("link", name="silver/outcome").is_visible()
    context.close()


def test_every_result_of_a_hostile_project_leads_to_its_page(sites: dict[str, Path], browser: Any) -> None:
    """Each of the fourteen items is found by the whole of its text's start, shown as text, and opened."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((sites["hostile"] / "search/index.html").as_uri() + "#q=index.html")
    links = page.locator(".whole .results a")
    links.first.wait_for()
    targets = links.evaluate_all("all => all.filter(a => a.textContent.includes('item of')).map(a => a.href)")
    assert page.evaluate("window.ran") is None
    for target in targets:
        page.goto(target)
        assert page.locator("h1").count() == 1
        assert page.evaluate("window.ran") is None
    page.goto((sites["hostile"] / "search/index.html").as_uri() + "#q=drop%20table")
    links.first.wait_for()
    assert "DROP TABLE" in links.all_text_contents()[0]
    links.first.click()
    page.wait_for_url("**/items/**")
    assert "DROP TABLE" in page.locator("h1").text_content()
    context.close()


def test_a_large_index_is_searched_by_its_shards(tmp_path: Path, browser: Any) -> None:
    """60,000 items in files of words and parts: one is found by its number, and by a word of its text."""
    from evh_build import search

    made = search.Index()
    made.add("dataset", "d", "index.html")
    for n in range(60_000):
        made.add("item", f"item-{n:06}", f"items/d/item-{n:06}.html", f"about w{n % 997} tea")
    for file in search.files(made):
        path = tmp_path / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.make())
    script = Path(search.__file__).parents[2] / "site_templates" / "static" / "search.js"
    (tmp_path / "search.js").write_bytes(script.read_bytes())
    (tmp_path / "index.html").write_text(
        '<!doctype html><title>x</title><h1>x</h1><form class="search whole" hidden data-src="search/data.js"'
        ' data-page="x.html"><input type="search"><p role="status"></p><div class="results"></div></form>'
        '<script src="search.js"></script>'
    )
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    for words, first in (("item-012345", "item-012345"), ("012345", "item-012345"), ("w996 059", "item-059")):
        page.locator("input").fill(words)
        page.wait_for_function(
            "first => ((document.querySelector('.results a') || {}).textContent || '').startsWith(first)",
            arg=first,
        )
    context.close()


def test_ticked_picks_make_the_command(tmp_path: Path, browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ticked: --picks. One taken off: the others by name. Scripts off: the command with all, no boxes."""
    from evh_build import known
    from tests.helpers import Builder

    monkeypatch.setattr(known, "can", lambda _: True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / ".gitattributes").write_bytes(b"* -text\n")
    project = small(Project.find(home=tmp_path, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}))
    Builder(project).pick("d", "i4", targets=("v1",))
    folder = site.commit(project, site.plan(project)).index.parent
    context = browser.new_context()
    page = context.new_page()
    page.goto((folder / "datasets/v1/index.html").as_uri())
    code = page.locator(".choose .command code")
    assert code.text_content() == "evh dataset-extend v1 --dataset-id v2 --picks"
    page.get_by_label("Take i2").uncheck()
    assert code.text_content() == "evh dataset-extend v1 --dataset-id v2 --pick i4"
    assert page.locator(".chosen").text_content() == "1 of 2 chosen"
    context.close()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "datasets/v1/index.html").as_uri())
    assert page.locator(".choose .command code").text_content().endswith("--picks")
    assert page.locator(".choose input:visible").count() == 0
    context.close()


def test_pills_and_chips_differ_in_forced_colours(sites: dict[str, Path], browser: Any) -> None:
    """In forced colours too a tier is filled and a source is not."""
    context = browser.new_context(forced_colors="active")
    page = context.new_page()
    page.goto((sites["small"] / "items/d/i2.html").as_uri())
    ground = "one => getComputedStyle(one).backgroundColor"
    pill = page.locator(".pill").first.evaluate(ground)
    chip = page.locator(".chip").first.evaluate(ground)
    assert pill != chip
    assert pill not in ("rgba(0, 0, 0, 0)", page.evaluate("getComputedStyle(document.body).backgroundColor"))
    context.close()


def test_a_page_prints_its_content_alone(sites: dict[str, Path], browser: Any) -> None:
    """On paper there is no menu, search, button or next command; tables are whole."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((sites["small"] / "datasets/d/index.html").as_uri())
    page.emulate_media(media="print")
    for gone in (".menu", ".search", ".next", ".copy"):
        assert page.locator(f"{gone}:visible").count() == 0, gone
    assert page.locator("h1").is_visible()
    context.close()
