"""The sheet's page where its data is a file of its own, where its texts are hostile, and at 100,000 rows."""

from __future__ import annotations

import resource
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import sheet_data, site
from tests.conftest import CommandLine
from tests.evh_build.projects import HOSTILE_IDS, hostile
from tests.site.browsing import Sheet, built, chromium, watched
from tests.site.sheets import generated

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

FRAME = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    with chromium() as started:
        yield started


def test_packed_data_says_what_inline_data_says(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same 450 rows, once in the page and once gzipped in a file, give the same rows, sorts and finds."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    inline = built(tmp_path / "a", lambda project: generated(project, 450))
    monkeypatch.setattr(sheet_data, "INLINE_ROWS", 100)
    packed = built(tmp_path / "b", lambda project: generated(project, 450))
    assert list((packed / "sheets/big").glob("data.*.js"))
    assert not list((inline / "sheets/big").glob("data.*.js"))
    dump = (
        "(() => { const m = evhSheet.view.model; return m.columns.map((c) => [c.key, c.form,"
        "Array.from({length: m.n}, (_, i) => c.get(i))]) })()"
    )
    found = []
    for folder in (inline, packed):
        made = watched(browser).open(
            folder / "sheets/big/index.html", "#f=wrong&q=acme&s=-candidate_a.quality"
        )
        found.append((made.ids, made.page.evaluate(dump)))
        made.page.evaluate("evhSheet.view.reset()")
        made.page.evaluate("evhSheet.view.openRow(430)")  # in the second chunk
        made.page.wait_for_selector("#sheet-open .open-arm")
        assert made.page.locator("#sheet-open .open-arm").count() == 8
        assert made.told == []
        made.page.context.close()
    assert found[0] == found[1]
    assert len(found[0][0]) > 5


def test_the_first_200_rows_are_html_and_the_rest_is_told(browser: Any, tmp_path: Path) -> None:
    """Of 450 rows 200 stand in the page with scripts off, which says how many more there are."""
    folder = built(tmp_path, lambda project: generated(project, 450))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "sheets/big/index.html").as_uri())
    assert page.locator("#sheet tbody tr").count() == 200
    assert "250 more rows" in page.locator("#sheet-rest").text_content()
    context.close()
    made = watched(browser).open(folder / "sheets/big/index.html")
    assert not made.page.locator("#sheet-rest").is_visible()
    assert len(made.drawn) < 100
    assert len(made.ids) == 450
    # A filter chosen far down begins at the top again: else nothing would be in sight.
    made.page.evaluate("document.getElementById('sheet').scrollTop = 1e6")
    made.key("1")
    assert made.page.evaluate("document.getElementById('sheet').scrollTop") == 0
    assert made.drawn[0] == made.ids[0]
    # A link to a row that is no HTML opens it.
    last = made.page.evaluate("evhSheet.view.model.id(449)")
    made.open(folder / "sheets/big/index.html", f"#row={last}")
    assert last in made.drawn
    assert made.text("#sheet-open h2") == last
    made.page.context.close()


def test_more_than_200_selected_items_go_by_a_file(
    browser: Any, tmp_path: Path, evh: CommandLine, project: Project
) -> None:
    """201 ids are copied one a line, and the command that names their file picks each of them."""
    (tmp_path / "site").mkdir()
    folder = built(tmp_path / "site", lambda one: generated(one, 201))
    generated(project, 201)
    made = watched(browser).open(folder / "sheets/big/index.html")
    made.page.locator("#sheet-all").click()
    made.page.get_by_role("button", name="Copy the ids, one a line").click()
    ids = made.clipboard()
    assert sorted(ids.split()) == sorted(made.ids)
    words = shlex.split(made.text("#sheet-bar code"))
    assert words == ["evh", "pick", "--dataset-id", "big", "--items-from", "items.txt"]
    (tmp_path / "items.txt").write_text(ids, encoding="utf-8")
    told = evh.ok(*words[1:-1], tmp_path / "items.txt", "--json").json
    assert len(told["picks"]) == 201
    made.page.context.close()


def test_hostile_data_is_text(browser: Any, tmp_path: Path) -> None:
    """Every row of a project whose texts are scripts, markup, hidden characters opens; nothing runs."""
    folder = built(tmp_path, hostile)
    made = watched(browser).open(folder / "sheets/index%2Ehtml/index.html")
    page = made.page
    assert set(made.ids) == {*HOSTILE_IDS, "huge"}
    for n, item_id in enumerate(made.ids):
        page.evaluate(f"evhSheet.view.openRow({n})")
        page.wait_for_selector("#sheet-open .open-arm")
        made.key("d", "d")
        shown = made.text("#sheet-open h2")
        assert shown == item_id.replace("\u202e", "⟨U+202E⟩")
        assert "\u202e" not in made.text("#sheet-open")
    page.locator("#sheet-all").click()
    assert "--items-from" in made.text("#sheet-bar code")  # one id holds a character that cannot be seen
    page.evaluate("evhSheet.view.clearSelection()")
    for n, item_id in enumerate(made.ids):
        if "\u202e" in item_id:
            line = page.evaluate("(id) => evhSheet.quote(id)", item_id)
            assert line.isascii()
            read = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True)
            assert read.stdout.decode() == item_id
            continue
        page.evaluate(f"evhSheet.view.toggle({n})")
        words = shlex.split(made.text("#sheet-bar code"))
        assert words[4:] == ["--item", item_id] or words[4:] == [f"--item={item_id}"]
        page.evaluate("evhSheet.view.clearSelection()")
    for summary in page.locator(".sheet-menu > summary").all():
        summary.click()
    assert page.evaluate("window.ran") is None
    assert made.told == []
    assert [url for url in made.asked if not url.startswith((folder.as_uri(), "about:"))] == []
    page.context.close()


def _timed(sheet: Sheet, does: str) -> float:
    """Return how many milliseconds something takes until it is on the screen."""
    took: float = sheet.page.evaluate(
        f"(async () => {{ const t = performance.now(); {does}; {FRAME}; return performance.now() - t }})()"
    )
    return took


@pytest.mark.slow
def test_a_hundred_thousand_rows(browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """100,000 × 24: built, ready, filtered, sorted, opened; figures are printed beside those to reach."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / ".gitattributes").write_bytes(b"* -text\n")
    project = generated(Project.find(home=tmp_path, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}), 100_000)
    start = time.perf_counter()
    folder = site.commit(project, site.plan(project)).index.parent
    build = time.perf_counter() - start
    made = watched(browser)
    made.page.set_default_timeout(120_000)
    start = time.perf_counter()
    made.open(folder / "sheets/big/index.html")
    ready = time.perf_counter() - start
    assert len(made.ids) == 100_000
    assert len(made.drawn) < 100
    view = "evhSheet.view"
    signal = _timed(made, f"{view}.toggleSignal('wrong')")
    assert 0 < len(made.ids) < 100_000
    _timed(made, f"{view}.reset()")
    _timed(made, f"{view}.state.q = 'first'; {view}.apply()")  # folds the texts' case, once
    text = _timed(made, f"{view}.state.q = 'gateway lets'; {view}.apply()")
    assert 0 < len(made.ids) < 100_000
    _timed(made, f"{view}.reset()")
    sort = _timed(made, f"{view}.sort('candidate_a.quality')")
    made.page.evaluate(f"{view}.openRow(99999)")
    made.page.wait_for_selector("#sheet-open .open-arm")
    assert (
        made.page.locator("#sheet-open a", has_text="The item’s page").count() == 0
    )  # too many for a page each
    session = made.page.context.new_cdp_session(made.page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    held = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    buffers = made.page.evaluate(
        "evhSheet.view.model.all.reduce((n, c) => n + (c.numbers || c.codes || { byteLength: 0 })"
        ".byteLength, 0)"
    )
    memory = (held["JSHeapUsedSize"] + buffers) / 1e6
    assert made.told == []
    made.page.context.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    with capsys.disabled():
        print(
            f"\n100,000 × 24: built in {build:.0f} s (peak {peak:,} MB; reach 120 s, 2,000 MB);"
            f" ready in {ready:.1f} s (reach 2–3); a signal filters in {signal:.0f} ms, a text in"
            f" {text:.0f} ms (reach 100–200), sorted in {sort:.0f} ms;"
            f" {memory:.0f} MB of heap and columns, {held['Nodes']:.0f} nodes (reach 300 MB)"
        )
    assert ready < 30
    assert memory < 600
