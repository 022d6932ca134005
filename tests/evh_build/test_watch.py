"""A site that is built again and again in one process is the one that a clean build makes, each time."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evh.project import memory
from evh.project.find import Project
from evh_build import site
from evh_build.assets import own_templates
from evh_build.gather import Gathered
from evh_build.pages.item.page import PAGE as ITEM
from evh_build.source import Source
from evh_build.watch import Rebuilt, Workshop, rounds
from tests.evh_build.edits import DECIDED_EDITS, EDITS, NUMBERS, Edit
from tests.evh_build.projects import decided, small
from tests.helpers import Builder, tree_bytes


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's files are all young; here they count as old, so that what is kept is what is tested."""
    monkeypatch.setattr(memory, "SETTLED_S", 0.0)


def _workshop(project: Project) -> Workshop:
    return Workshop(project, site.plan)


def _clean(project: Project, out: Path) -> dict[str, bytes]:
    """Return the files of a clean build of the project as it is now, with nothing kept from before."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(project.root / ".cache" / "tables", ignore_errors=True)
    found = Project.find(home=project.root)
    site.commit(found, site.plan(found, out=out))
    return tree_bytes(out)


def _with(template: str, words: str) -> str:
    """Return a page's template with a paragraph more."""
    at = template.rindex("{% endblock")
    return f"{template[:at]}<p>{words}</p>\n{template[at:]}"


@pytest.mark.parametrize("kind", EDITS | NUMBERS)
def test_one_changed_file_gives_the_site_of_a_clean_build(
    project: Project, tmp_path_factory: pytest.TempPathFactory, kind: str, settled: None
) -> None:
    """Changed, and put back: both times byte for byte the clean build's, and the page of it is another."""
    edit, elsewhere = (EDITS | NUMBERS)[kind], tmp_path_factory.mktemp("clean")
    workshop = _workshop(small(project))
    workshop.build()
    assert workshop.build().nothing_changed
    first = tree_bytes(project.root / ".build" / "catalog")
    assert first == _clean(project, elsewhere / "site")
    path = project.root / edit.path
    held = path.read_bytes()
    path.write_bytes(edit.change(held))
    assert path.read_bytes() != held
    workshop.build()
    second = tree_bytes(project.root / ".build" / "catalog")
    assert second == _clean(project, elsewhere / "site")
    if edit.page is not None:
        assert second[edit.page] != first[edit.page]
    path.write_bytes(held)
    workshop.build()
    assert tree_bytes(project.root / ".build" / "catalog") == first


@pytest.mark.parametrize(("make", "edits"), [(small, tuple(EDITS.values())), (decided, DECIDED_EDITS)])
def test_one_edit_after_the_other_gives_the_site_of_a_clean_build(
    project: Project,
    tmp_path_factory: pytest.TempPathFactory,
    make: Callable[[Project], Project],
    edits: tuple[Edit, ...],
    settled: None,
) -> None:
    """One process builds after each edit, on top of what it kept from all before: never a page of old."""
    out, clean = project.root / ".build" / "catalog", tmp_path_factory.mktemp("clean") / "site"
    workshop = _workshop(make(project))
    workshop.build()
    before = tree_bytes(out)
    for number, edit in enumerate(edits):
        path = project.root / edit.path
        held = path.read_bytes()
        path.write_bytes(edit.change(held))
        workshop.build()
        after = tree_bytes(out)
        assert after == _clean(project, clean), (number, edit.path)
        if edit.page is not None:
            assert after.get(edit.page) != before.get(edit.page), (number, edit.path)
        before = after


CHANGED = {"items/d/i1.html", "items/v1/old.html", "items/d/i2.html"}
"""The pages of the bytes that a label of `i1` is about: another dataset has them too. `i2` has a pick, and
the list of picks is read whole each time."""


def test_one_changed_label_leaves_the_pages_of_other_items(settled: None, project: Project) -> None:
    """What nothing of is changed is not made again: it is the same object, and costs a comparison."""
    workshop = _workshop(small(project))

    def leaves() -> dict[str, object]:
        workshop.build()
        most = workshop.project.settings.max_item_text
        source = Source(Gathered(workshop.project, with_outputs=False), max_item_text=most)
        made: dict[str, object] = {leaf.path: leaf for leaf in ITEM.make(source)}
        source.close()
        return made

    first = leaves()
    (project.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"no")
    second = leaves()
    assert {path for path in first if second[path] is not first[path]} == CHANGED


def test_a_comment_in_a_config_makes_no_sheet_anew(settled: None, project: Project) -> None:
    """The dataset's sheet is the same object after a comment, and another one after the arm is a floor."""
    del settled
    workshop = _workshop(small(project))

    def sheet() -> object:
        workshop.build()
        return Gathered(workshop.project).sheet("d")

    first = sheet()
    config = min((project.data / "configs").glob("*.yaml"))
    text = config.read_text(encoding="utf-8")
    config.write_text(text + "# nothing\n", encoding="utf-8")
    assert sheet() is first
    config.write_text(text + "floor: true\n", encoding="utf-8")
    assert sheet() is not first


def test_new_and_removed_records_give_the_site_of_a_clean_build(
    project: Project, tmp_path_factory: pytest.TempPathFactory, settled: None
) -> None:
    """A label set, a guideline, a run, a reference, a dataset, a pick come; a run, a set, a dataset go."""
    out, clean = project.root / ".build" / "catalog", tmp_path_factory.mktemp("clean") / "site"
    workshop, made = _workshop(small(project)), Builder(project)
    workshop.build()
    data = project.data

    def reference() -> None:
        from evh.project import labels

        made.reference("gold/bob", labels.read(project, "d", "bob"))

    steps: list[Callable[[], object]] = [
        lambda: made.labels("d", "bob", {"i1": "no", "i4": "yes"}),
        reference,
        lambda: made.run("third", "d", {"i1": "no", "i2": "yes"}, at="20261003T000000Z"),
        lambda: made.dataset("e", {"x": "report 2\n", "y": "new"}, task="triage"),
        lambda: made.pick("e", "y", targets=("v1",)),
        lambda: made.capture("c2", [{"record_id": "z"}]),
        lambda: shutil.rmtree(data / "runs" / "third_20261003T000000Z"),
        lambda: shutil.rmtree(data / "labels" / "d" / "ann"),
        (data / "datasets" / "e.json").unlink,
        lambda: (data / "labels" / "d" / "outcome" / "labels.json").write_bytes(b"{"),
    ]
    for number, step in enumerate(steps):
        step()
        workshop.build()
        assert tree_bytes(out) == _clean(project, clean), number


def test_a_broken_record_is_told_in_each_build_and_forgotten_when_it_is_mended(
    project: Project, settled: None
) -> None:
    """What could not be read is no reading that is kept: two builds say so, the third has nothing to say."""
    workshop = _workshop(small(project))
    workshop.build()
    path = project.data / "labels" / "d" / "ann" / "labels.json"
    held = path.read_bytes()
    path.write_bytes(b"{")
    assert len(workshop.build().problems) == 1
    (project.data / "configs" / "cheap.yaml").write_bytes(b"a: [")
    assert len(workshop.build().problems) == 2
    (project.data / "configs" / "cheap.yaml").unlink()
    path.write_bytes(held)
    assert workshop.build().problems == ()


def test_a_template_and_a_style_of_the_projects_own_are_built_at_once(
    project: Project, tmp_path_factory: pytest.TempPathFactory, settled: None
) -> None:
    """A template that comes, changes and goes, and a static file: each time the clean build's site."""
    out, clean = project.root / ".build" / "catalog", tmp_path_factory.mktemp("clean") / "site"
    workshop = _workshop(small(project))
    workshop.build()
    theirs = project.root / "site_templates"
    (theirs / "pages").mkdir(parents=True)
    (theirs / "static").mkdir()
    about = (own_templates() / "pages" / "about.html").read_text()
    css = (own_templates() / "static" / "site.css").read_text()
    for words, style in (("one", css), ("two", css + "p {}"), (None, css + "b {}")):
        if words is None:
            (theirs / "pages" / "about.html").unlink()
        else:
            (theirs / "pages" / "about.html").write_text(_with(about, words))
        (theirs / "static" / "site.css").write_text(style)
        workshop.build()
        assert (f"<p>{words}</p>".encode() in (out / "about" / "index.html").read_bytes()) == bool(words)
        assert tree_bytes(out) == _clean(project, clean)


def test_a_trusted_adapter_is_asked_anew(
    project: Project, tmp_path_factory: pytest.TempPathFactory, settled: None
) -> None:
    """Code of the project tells which decisions are the same: with other code there are other pages."""
    (project.root / "evh.toml").write_text('[project]\nname = "n"\ntrust_adapters = true\n')
    adapters = project.data / "adapters"
    adapters.mkdir()
    text = "from evh.adapters import Adapter\n\n\nclass Ours(Adapter):\n    def same(self, a, b):\n"
    text += "        return {}\n"
    (adapters / "ours.py").write_text(text.format("a == b"))
    made = Builder(project)
    made.dataset("d", {"a": "x", "b": "y"}, task="t")
    made.run("one", "d", {"a": "yes", "b": "no"}, adapter="ours.py")
    made.run("two", "d", {"a": "no", "b": "no"}, adapter="ours.py", at="20261002T000000Z")
    workshop = _workshop(project)
    workshop.build()
    out, clean = project.root / ".build" / "catalog", tmp_path_factory.mktemp("clean") / "site"
    assert tree_bytes(out) == _clean(project, clean)
    (adapters / "ours.py").write_text(text.format("True"))
    workshop.build()
    assert tree_bytes(out) == _clean(project, clean)


@pytest.fixture
def watched(project: Project) -> Iterator[Callable[[], Rebuilt]]:
    """The rounds of a watch that runs: each call gives the next one, within ten seconds."""
    import queue

    given: queue.Queue[Rebuilt] = queue.Queue()
    stop = threading.Event()
    workshop = _workshop(small(project))

    def run() -> None:
        for one in rounds(workshop, stop):
            given.put(one)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield lambda: given.get(timeout=20)
    finally:
        stop.set()
        thread.join(timeout=20)
        assert not thread.is_alive()


def test_a_watch_builds_what_changes_and_says_what_it_was(
    project: Project, watched: Callable[[], Rebuilt]
) -> None:
    """A label, the settings, broken ones (the old site stays), mended ones, a new template."""
    index = project.root / ".build" / "catalog" / "index.html"
    first = watched()
    assert first.built is not None
    assert (first.built.n_rendered, first.changed) == (first.built.n_pages, ())
    (project.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"no")
    second = watched()
    if not second.changed:  # it was changed before the watch began
        assert second.cause == ""
    else:
        assert second.changed == ("data/labels/d/ann/i1.txt",)
    assert second.built is not None
    assert 0 < second.built.n_rendered < second.built.n_pages
    (project.root / "evh.toml").write_text('[project]\nname = "renamed"\n')
    third = watched()
    assert third.changed == ("evh.toml",)
    assert b"renamed" in index.read_bytes()
    before = index.read_bytes()
    (project.root / "evh.toml").write_text("[project\n")
    fourth = watched()
    assert fourth.refusal is not None
    assert (fourth.refusal.code, fourth.built) == ("bad-toml", None)
    assert index.read_bytes() == before
    (project.root / "evh.toml").write_text('[project]\nname = "mended"\n')
    assert watched().refusal is None
    assert b"mended" in index.read_bytes()
    theirs = project.root / "site_templates" / "pages"
    theirs.mkdir(parents=True)
    text = (own_templates() / "pages" / "about.html").read_text()
    (theirs / "about.html").write_text(_with(text, "ours"))
    while b"<p>ours</p>" not in (index.parent / "about" / "index.html").read_bytes():
        assert watched().refusal is None


def test_the_cause_names_three_and_counts_the_rest() -> None:
    """What changed in a line."""
    made = Rebuilt(None, None, ("a", "b", "c", "d", "e"), 0.1)
    assert made.cause == "a, b, c and 2 more"
    assert replace(made, changed=("a",)).cause == "a"


def test_a_cached_table_is_read_only_while_its_files_are_as_they_were(
    project: Project, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between processes the tables lie in .cache: a changed label, a torn file, another's file are seen."""
    from evh_build import arrow, query
    from evh_build.gather import Gathered

    monkeypatch.setattr(arrow, "LEAST", 1)
    small(project)
    sql = "SELECT item_id, label FROM labels WHERE label_set = 'd/ann' ORDER BY item_id"

    def rows() -> list[list[object]]:
        return json.loads(json.dumps(query.select(Gathered(project), sql).rows))

    want = [["i1", "yes"], ["i2", "no"], ["i3", "no"]]
    assert rows() == want
    kept = sorted((project.root / ".cache" / "tables").glob("labels-*.parquet"))
    assert len(kept) == 3
    assert rows() == want
    (project.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"no")
    assert rows()[0] == ["i1", "no"]
    for path in kept:
        path.write_bytes(b"torn")
    assert rows()[0] == ["i1", "no"]
    one, other = sorted((project.root / ".cache" / "tables").glob("labels-*.parquet"))[:2]
    other.write_bytes(one.read_bytes())
    assert rows() == [["i1", "no"], *want[1:]]
