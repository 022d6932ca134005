"""Building the site: what a build promises about its bytes, its links, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project.find import Project
from evh_build import site
from tests.evh_build.projects import BIDI, hostile, small
from tests.helpers import Builder, tree_bytes

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ROOT / "tests" / "foreign" / "tree"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'"
)


def build(project: Project, out: Path | None = None, **options: object) -> site.Built:
    """Build the catalog of a project."""
    return site.commit(project, site.plan(project, out=out, **options))  # type: ignore[arg-type]


def pages_of(folder: Path) -> dict[str, str]:
    """Return the text of every page by its path below the site."""
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.html"))}


class Outline(HTMLParser):
    """What a browser would find in a page: the tags with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def words(page: str) -> str:
    """Return a page's text with single spaces."""
    return " ".join(Outline(page).text.split())


def test_every_noun_has_its_pages(project: Project) -> None:
    """The small project gives these pages and no others, and the manifest has each file's sha256."""
    built = build(small(project))
    found = set(pages_of(built.index.parent))
    lists = ["about", "arms", "captures", "datasets", "downloads", "guide", "labels", "picks", "references"]
    lists += ["runs", "search", "goals", "judges", "models", "evidence"]
    topics = [f"guide/{path.stem}.html" for path in (ROOT / "evh" / "guide").glob("*.md")]
    assert found == {
        "index.html",
        *topics,
        "compare/d/production/cheap/index.html",
        *(f"{name}/index.html" for name in lists),
        *(f"{kind}/{name}/index.html" for kind in ("datasets", "sheets") for name in ("d", "v1")),
        *(f"items/d/i{n}.html" for n in range(1, 5)),
        "items/v1/old.html",
        "items/v1/own.html",
        "captures/c/index.html",
        *(f"labels/d/{name}/index.html" for name in ("ann", "outcome", "tone")),
        "references/silver/outcome/index.html",
        "arms/cheap/index.html",
        "arms/production/index.html",
        *(
            f"runs/{folder}/{run}/index.html"
            for folder in ("runs", "runs-rescored")
            for run in ("production_20261001T000000Z", "cheap_20261002T000000Z")
        ),
    }
    manifest = json.loads((built.index.parent / "manifest.json").read_text())
    files = {path for path in tree_bytes(built.index.parent) if path != "manifest.json"}
    assert set(manifest["files"]) == files
    assert built.n_pages == len(found)


def test_data_is_read_and_never_written(project: Project) -> None:
    """A build leaves every byte and every name below data/ as it was."""
    small(project)
    before = tree_bytes(project.data)
    build(project)
    assert tree_bytes(project.data) == before


def test_nothing_changed_makes_nothing(project: Project) -> None:
    """A second build touches no file: same inodes, same times, and it says so."""
    built = build(small(project))
    out = built.index.parent
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")} | {out: out.stat().st_ino}
    again = build(project)
    assert again.nothing_changed
    assert again.n_rendered == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} | {out: out.stat().st_ino} == before
    assert build(project, rehash=True).nothing_changed


def test_one_changed_record_changes_its_pages_only(project: Project) -> None:
    """A new setting of one arm renders that arm's page alone; the others are the same files as before."""
    built = build(small(project))
    out = built.index.parent
    before = {path: (out / path).stat().st_ino for path in pages_of(out)}
    config = project.data / "configs" / "cheap.yaml"
    config.write_text(config.read_text().replace("params:\n", "params:\n  temperature: 0.5\n"))
    again = build(project)
    changed = {path for path, inode in before.items() if (out / path).stat().st_ino != inode}
    assert changed == {"arms/cheap/index.html"}
    assert (again.n_rendered, again.n_unchanged) == (1, len(before) - 1)
    assert "temperature" in (out / "arms/cheap/index.html").read_text()


def test_a_page_whose_record_went_goes_too(project: Project) -> None:
    """A run that is no longer there has no page, and no page links to it."""
    built = build(small(project))
    shutil.rmtree(project.data / "runs-rescored" / "cheap_20261002T000000Z")
    again = build(project)
    assert again.n_removed == 1
    gone = "runs-rescored/cheap_20261002T000000Z"
    assert not (built.index.parent / "runs" / gone).exists()
    assert all(gone not in text for text in pages_of(built.index.parent).values())


def test_a_page_that_somebody_edited_is_made_again(project: Project) -> None:
    """The site is what the data gives, whatever was done to it since."""
    built = build(small(project))
    page = built.index.parent / "arms" / "index.html"
    good = page.read_bytes()
    page.write_bytes(b"edited")
    again = build(project)
    assert page.read_bytes() == good
    assert again.n_rendered == 1


def test_a_static_file_that_went_comes_back(project: Project) -> None:
    """The style sheet is a part of the site: without it the build is not "nothing changed"."""
    built = build(small(project))
    style = next((built.index.parent / "assets").glob("site.*.css"))
    style.unlink()
    assert not build(project).nothing_changed
    assert style.is_file()


def test_a_row_that_is_no_html_is_linked_all_the_same(project: Project) -> None:
    """203 items: the sheet's page has 200 rows of HTML and says so; every item links to its row by its id."""
    Builder(project).dataset("big", {f"i{n}": "text" + str(n) for n in range(203)})
    out = build(project).index.parent
    page = (out / "sheets/big/index.html").read_text()
    assert "3 more rows are not in this table unless scripts are on" in words(page)
    assert page.count('<th scope="row" class="item" id="row=i') == 200
    for path in (out / "items/big").glob("*.html"):
        assert f'href="../../sheets/big/index.html#row={path.stem}">its row in the sheet' in path.read_text()


def test_the_same_data_gives_the_same_bytes_anywhere(project: Project, tmp_path: Path) -> None:
    """Another folder, hash seed, zone, locale and day give the same manifest: every file's sha256."""
    small(project)
    first = build(project).index.parent / "manifest.json"
    other = tmp_path / "elsewhere"
    shutil.copytree(project.data, other / "data")
    shutil.copy(project.root / "evh.toml", other)
    script = (
        "import sys; from evh.project.find import Project; from evh_build import site; "
        "p = Project.find(home=sys.argv[1]); site.commit(p, site.plan(p))"
    )
    for seed, zone, locale in (("1", "Asia/Kathmandu", "tr_TR.UTF-8"), ("2", "America/Lima", "C")):
        shutil.rmtree(other / ".build", ignore_errors=True)
        shutil.rmtree(other / ".cache", ignore_errors=True)
        environ = {
            "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'build'}", "PYTHONHASHSEED": seed,
            "TZ": zone, "LC_ALL": locale, "EVH_NOW": "1999-01-01T00:00:00Z", "HOME": str(tmp_path),
        }  # fmt: skip
        subprocess.run([sys.executable, "-c", script, str(other)], check=True, env=environ)
        assert (other / ".build" / "catalog" / "manifest.json").read_bytes() == first.read_bytes()


def test_no_page_names_the_folder_it_was_built_in(project: Project) -> None:
    """No absolute path is on any page, not even where a broken record is told."""
    small(project)
    (project.data / "datasets" / "bad.json").write_text('{"dataset_id": ')
    built = build(project)
    for path, data in tree_bytes(built.index.parent).items():
        assert str(project.root).encode() not in data, path


def test_a_broken_record_is_told_and_stops_nothing(project: Project) -> None:
    """Records that cannot be read are listed with their files; everything else is built."""
    small(project)
    (project.data / "datasets" / "bad.json").write_text('{"dataset_id": ')
    (project.data / "labels" / "d" / "ann" / "i1.txt").unlink()
    (project.data / "configs" / "cheap.yaml").write_text("a: &x 1\nb: *x\n")
    (project.data / "runs" / "cheap_20261002T000000Z" / "predictions.jsonl").write_text("{}\n")
    (project.data / "sources" / "d" / "i3.txt").write_text("changed")
    built = build(project)
    out = built.index.parent
    for page in (out / "index.html", out / "about" / "index.html"):
        text = words(page.read_text())
        for name in ("datasets/bad.json", "labels/d/ann: i1", "configs/cheap.yaml", "sources/d/i3.txt"):
            assert name in text, (page, name)
    assert (out / "items" / "d" / "i3.html").exists()
    assert "not the ones that the dataset recorded" in words((out / "items/d/i3.html").read_text())
    assert "report 1" in (out / "items" / "d" / "i1.html").read_text()
    assert built.problems


def test_an_empty_project_says_what_to_do(project: Project) -> None:
    """With no record at all every list names the command that fills it."""
    built = build(project)
    pages = pages_of(built.index.parent)
    topics = len(list((ROOT / "evh" / "guide").glob("*.md")))
    assert len(pages) == 16 + topics
    for name, command in {
        "index.html": "evh capture --as NAME",
        "datasets/index.html": "evh dataset-create",
        "captures/index.html": "evh capture --as NAME",
        "labels/index.html": "evh label-from-capture",
        "references/index.html": "evh reference-promote",
        "arms/index.html": "evh arm-from-capture",
        "runs/index.html": "evh run --config ARM",
    }.items():
        assert command in words(pages[name]), name


def test_the_finding_stands_on_home_and_on_the_dataset(project: Project) -> None:
    """Counted by hand: production said no to i2 (yes) and yes to i4 (maybe or no): wrong on 2 of 4.

    One of the two records that the rule matched had its outcome before the decision.
    """
    built = build(small(project))
    out = built.index.parent
    for page in ("index.html", "datasets/d/index.html"):
        text = words((out / page).read_text())
        assert "production was wrong on 2 of 4 by silver outcome" in text
        assert "1 decided no where the label says yes" in text
        assert "1 decided yes where the label says maybe or no" in text
        assert "For 1 of 2 records of the rule listed the outcome was not after the decision" in text
        assert "production had it in hand" in text
    links = [attributes.get("href") for _, attributes in Outline((out / "index.html").read_text()).tags]
    assert "items/d/i2.html" in links
    assert "sheets/d/index.html#row=i2" in links


def test_against_always_shows_the_pill_or_the_chip(project: Project) -> None:
    """A reference is named with its tier's pill, a label set with its source's chip, never the other way."""
    built = build(small(project))
    text = (built.index.parent / "items/d/i2.html").read_text()
    assert re.search(
        r'<span class="pill silver">silver</span>\s*<a href="[^"]*references/silver/outcome', text
    )
    assert re.search(r'<span class="chip">rule</span>\s*<a href="[^"]*labels/d/outcome', text)
    assert re.search(r'<span class="chip">person</span>\s*<a href="[^"]*labels/d/ann', text)
    for page in pages_of(built.index.parent).values():
        for opened in re.findall(r'<span class="(?:pill|chip)[^"]*">[^<]*</span>\s*<a href="([^"]*)"', page):
            kind = "references/" if "references/" in opened else "labels/"
            before = page[: page.index(f'href="{opened}"')].rpartition("<span class=")[2]
            assert before.startswith('"pill' if kind == "references/" else '"chip'), opened


def test_own_labels_and_fitted_arms_are_flagged_where_the_number_stands(project: Project) -> None:
    """A model set of an arm's own run, and an arm fitted on the dataset, carry their flag on every page."""
    made = Builder(project)
    made.dataset("d", {"a": "x", "b": "y"})
    run = made.run("arm", "d", {"a": "1", "b": "2"})
    made.labels("d", "own", {"a": "1", "b": "2"}, source={"kind": "model", "run_id": run.run_id})
    scores = {"a": {"correct": 1.0}, "b": {"correct": 1.0}}
    made.rescored(run, {"a": "1", "b": "2"}, scores, against="labels/d/own", extra={"fitted_on": ["d"]})
    out = build(project).index.parent
    twin = f"runs/runs-labels-d-own/{run.run_id}/index.html"
    for page in ("datasets/d/index.html", "arms/arm/index.html", "arms/index.html", "runs/index.html", twin,
                 "items/d/a.html"):  # fmt: skip
        text = words((out / page).read_text())
        assert "own labels" in text, page
        assert "fitted here" in text, page


ALLOWED_TAGS = {
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav", "ul", "ol", "li",
    "main", "h1", "h2", "h3", "h4", "h5", "h6", "p", "b", "i", "q", "span", "div", "section", "table",
    "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "dl", "dt", "dd", "code", "pre", "details",
    "summary", "footer", "fieldset", "legend", "label", "input", "svg", "line", "circle", "wbr", "em",
    "strong", "form", "kbd", "article", "small", "button", "dialog", "select", "option", "textarea", "output",
}  # fmt: skip


def test_a_hostile_project_renders_inert(project: Project) -> None:
    """Ids, texts, labels, notes and settings made of HTML, scripts, links, paths and bidi marks stay text."""
    hostile(project)
    built = build(project, max_item_text=10_000)
    out = built.index.parent
    assert built.problems == ()
    pages = pages_of(out)
    assert sum(path.startswith("items/") for path in pages) == 14
    for path, text in pages.items():
        outline = Outline(text)
        assert not {tag for tag, _ in outline.tags} - ALLOWED_TAGS, path
        scripts = [attributes for tag, attributes in outline.tags if tag == "script"]
        for script in scripts:  # evh's own files, and data that runs nothing
            own = re.search(r"assets/[a-z-]+\.[0-9a-f]{12}\.js$", str(script.get("src")))
            assert own or script.get("type") == "application/json", (path, script)
        for tag, attributes in outline.tags:
            assert not any(name.startswith("on") or name in {"style", "srcdoc"} for name in attributes), path
            for name in ("href", "src"):
                target = str(attributes.get(name) or "#")
                assert not re.match(r"\s*(javascript|data|vbscript|file):", target, re.IGNORECASE), (
                    path,
                    tag,
                )
        assert ("meta", {"http-equiv": "Content-Security-Policy", "content": CSP}) in outline.tags
        for mark in set(BIDI) - set("abcfdp.exe") | {"\x1b", "\x00", "\x07"}:
            assert mark not in text, (path, hex(ord(mark)))
    assert "49" not in words(pages["labels/index%2Ehtml/s/index.html"]).split()
    huge = words(pages["items/index%2Ehtml/huge.html"])
    assert "Cut here: 40,031 more characters in the file." in huge


def test_every_path_of_the_site_is_made_of_safe_names(project: Project) -> None:
    """Whatever an id holds, its page's path has only letters, digits and ``. _ % ~ -``."""
    out = build(hostile(project)).index.parent
    for path in tree_bytes(out):
        assert re.fullmatch(r"[A-Za-z0-9._%~/-]+", path), path
        assert ".." not in path.split("/"), path


def test_commands_on_a_page_are_quoted_for_a_shell(project: Project) -> None:
    """An id with a quote, a semicolon and a comment mark is one word of the command."""
    out = build(hostile(project)).index.parent
    page = next(text for path, text in pages_of(out).items() if "DROP%20TABLE" in path)
    line = "evh pick --dataset-id index.html --item ''\"'\"'; DROP TABLE items; --'"
    assert line in Outline(page).text


def test_a_template_with_a_broken_link_leaves_the_old_site(project: Project) -> None:
    """A project's own template is used; one that links nowhere is refused, and nothing changes."""
    out = build(small(project)).index.parent
    before = tree_bytes(out)
    own = project.root / "site_templates" / "pages"
    own.mkdir(parents=True)
    (own / "about.html").write_text(
        '{% extends "base.html" %}{% block content %}<a href="no.html">x</a>{% endblock %}'
    )
    with pytest.raises(Refusal) as refused:
        build(project)
    assert refused.value.code == "broken-links"
    assert "about/index.html: no.html" in refused.value.why[0]
    assert tree_bytes(out) == before
    assert [path.name for path in out.parent.iterdir()] == ["catalog"]
    (own / "about.html").write_text('{% extends "base.html" %}{% block content %}ours{% endblock %}')
    build(project)
    assert "ours" in (out / "about" / "index.html").read_text()


@pytest.mark.parametrize("where", ["data", "data/site", "."])
def test_a_site_in_or_around_data_is_refused(where: str, project: Project) -> None:
    """The catalog never writes into data/, by name or through a link."""
    with pytest.raises(Refusal) as refused:
        site.plan(project, out=project.root / where)
    assert refused.value.code == "bad-out"
    (project.root / "link").symlink_to(project.data)
    with pytest.raises(Refusal) as refused:
        site.plan(project, out=project.root / "link" / "site")
    assert refused.value.code == "bad-out"


def test_a_folder_that_holds_something_else_is_refused(project: Project, tmp_path: Path) -> None:
    """A folder without a catalog's manifest would be replaced whole: it is refused; an empty one is fine."""
    folder = tmp_path / "mine"
    folder.mkdir()
    assert site.plan(project, out=folder).out == folder
    (folder / "thesis.txt").write_text("x")
    (folder / "manifest.json").write_text('{"form": "something"}')
    with pytest.raises(Refusal) as refused:
        site.plan(project, out=folder)
    assert refused.value.code == "not-a-catalog"


def test_what_a_killed_build_left_is_removed(project: Project) -> None:
    """A half-built folder beside the site is litter: the next build removes it."""
    out = build(small(project)).index.parent
    litter = out.parent / ".tmp-catalog-1-0a"
    litter.mkdir()
    (litter / "index.html").write_text("half")
    (project.data / "configs" / "cheap.yaml").unlink()
    build(project)
    assert not litter.exists()


def test_a_foreign_tree_builds_unchanged(tmp_path: Path) -> None:
    """A tree of another harness, gives a site; nothing in it changes, and no code of it runs."""
    root = tmp_path / "foreign"
    shutil.copytree(FOREIGN, root)
    before = tree_bytes(root)
    project = Project.find(home=root)
    built = build(project, out=tmp_path / "site")
    after = {path: data for path, data in tree_bytes(root).items() if not path.startswith(".cache/")}
    assert after == before
    assert built.n_pages > 8
    assert "no promotion on record" in words((tmp_path / "site" / "references" / "index.html").read_text())
