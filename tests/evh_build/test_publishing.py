"""A build beside its pages: what it sees of a change, its manifest and stamp, checking, themes, downloads."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from evh.errors import Refusal
from evh.project.find import Project
from evh.store import atomic
from evh_build import downloads, incremental, manifest, site
from evh_build.verify import verify
from evh_build.watch import Workshop
from tests.evh_build.projects import small
from tests.helpers import Builder, tree_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "evh" / "guide" / "catalog.md"


def build(project: Project, **options: object) -> site.Built:
    """Build the catalog of a project."""
    return site.commit(project, site.plan(project, **options))  # type: ignore[arg-type]


def stat_of(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the inode and time of every file, to show that none was touched."""
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def edited_in_place(path: Path, text: str) -> None:
    """Write other bytes into a file as an editor does that leaves its folder's time alone."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text)


@pytest.mark.parametrize(
    ("edit", "seen"),
    [
        (lambda data: edited_in_place(data / "sources" / "d" / "i1.txt", "other\n"), (True, True)),
        (lambda data: edited_in_place(data / "configs" / "cheap.yaml", "config_id: cheap\n"), (True, True)),
        (lambda data: (data / "labels" / "d" / "ann" / "new.txt").write_text("x"), (True, True)),
        (lambda data: (data / "labels" / "d" / "ann" / "i1.txt").unlink(), (True, True)),
        (lambda data: edited_in_place(data / "labels" / "d" / "ann" / "labels.json", "{}"), (True, True)),
        (lambda data: edited_in_place(data / "picks.jsonl", ""), (True, True)),
        (lambda data: shutil.rmtree(data / "captures" / "c"), (True, True)),
        (lambda data: edited_in_place(data / "labels" / "d" / "ann" / "i1.txt", "no!"), (False, True)),
        (lambda _data: None, (False, False)),
    ],
)
def test_what_the_stamps_see(
    project: Project, edit: Callable[[Path], object], seen: tuple[bool, bool]
) -> None:
    """(default, --verify): files of a finished record are trusted by default; all else is seen by both."""
    small(project)
    before = [incremental.stamp(project, [], deep=deep) for deep in (False, True)]
    edit(project.data)
    after = [incremental.stamp(project, [], deep=deep) for deep in (False, True)]
    assert tuple(a != b for a, b in zip(before, after, strict=True)) == seen


def test_a_run_that_has_not_finished_is_asked_file_by_file(project: Project) -> None:
    """Without its metrics.json a run's folder is no record yet: a row that is appended is seen."""
    folder = project.data / "runs" / "a_20261001T000000Z"
    folder.mkdir(parents=True)
    (folder / "predictions.jsonl").write_text("{}\n")
    before = incremental.stamp(project, [])
    edited_in_place(folder / "predictions.jsonl", "{}\n{}\n")
    assert incremental.stamp(project, []) != before


def test_verify_finds_an_edit_that_the_default_trusts(project: Project) -> None:
    """A label edited by hand is passed over by default; with --verify the pages say what the file says."""
    out = build(small(project)).index.parent
    edited_in_place(project.data / "labels" / "d" / "ann" / "i1.txt", "no!")
    assert build(project).nothing_changed
    page = out / "labels" / "d" / "ann" / "index.html"
    assert "no!" not in page.read_text()
    assert not build(project, verify=True).nothing_changed
    assert "no!" in page.read_text()


def test_what_a_watching_process_built_is_known_to_one_that_verifies(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a --watch the first --verify makes nothing where nothing changed; an edit it still sees."""
    small(project)
    Workshop(project, site.plan).build()
    with monkeypatch.context() as patched:
        patched.delattr(site, "_build")  # it would have to be called
        assert build(project, verify=True).nothing_changed
        assert build(project).nothing_changed
    edited_in_place(project.data / "labels" / "d" / "ann" / "i1.txt", "no!")
    assert not build(project, verify=True).nothing_changed


def test_a_page_edited_with_its_time_kept_is_found_by_verify(project: Project) -> None:
    """Same size, same time: the default trusts it; --verify reads it, and makes it again."""
    out = build(small(project), verify=True).index.parent
    page = out / "arms" / "index.html"
    good, times = page.read_bytes(), page.stat()
    page.write_bytes(good.replace(b"Arms", b"Axes"))
    os.utime(page, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert build(project).nothing_changed
    assert not build(project, verify=True).nothing_changed
    assert page.read_bytes() == good


def test_without_the_cache_the_same_site_is_not_touched(project: Project) -> None:
    """The cache is never truth: without it every page is made again, and none is written."""
    out = build(small(project)).index.parent
    before = stat_of(out)
    shutil.rmtree(project.root / ".cache")
    assert build(project).nothing_changed
    assert stat_of(out) == before


def test_a_page_taken_over_still_has_its_links_checked(project: Project) -> None:
    """A page that was not made anew is refused too, where a page went that its template names by hand."""
    small(project)
    own = project.root / "site_templates" / "pages"
    own.mkdir(parents=True)
    text = (ROOT / "site_templates" / "pages" / "captures.html").read_text()
    link = '<a href="../arms/cheap/index.html">x</a>'
    (own / "captures.html").write_text(text.replace("{% endblock %}", link + "{% endblock %}"))
    out = build(project).index.parent
    before = tree_bytes(out)
    for name in ("runs", "runs-rescored"):
        shutil.rmtree(project.data / name / "cheap_20261002T000000Z")
    (project.data / "configs" / "cheap.yaml").unlink()
    with pytest.raises(Refusal) as refused:
        build(project)
    told = "captures/index.html: ../arms/cheap/index.html: there is no such file in the site"
    assert told in refused.value.why
    assert tree_bytes(out) == before


def test_where_links_and_the_exchange_fail_the_site_is_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without hard links files are copied; without renameat2 the folders change places by two renames."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(1, "Operation not permitted")

    small(project)
    other = build(project, out=project.root / "other").index.parent
    build(project)
    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr(atomic, "_exchange", lambda _one, _other: False)
    config = project.data / "configs" / "cheap.yaml"
    config.write_text(config.read_text().replace("params:\n", "params:\n  temperature: 0.5\n"))
    out = build(project).index.parent
    monkeypatch.undo()
    build(project, out=other)
    assert tree_bytes(out) == tree_bytes(other)
    assert build(project).nothing_changed
    assert not [path for path in out.parent.iterdir() if path.name.startswith(".tmp-")]


def test_a_swap_that_was_killed_between_its_renames_is_mended(project: Project) -> None:
    """The old site set aside, the new one not yet in place: the next build puts a whole one there first."""
    out = build(small(project)).index.parent
    before = stat_of(out)
    out.rename(out.with_name(f".tmp-{out.name}-1-aa"))
    half = out.with_name(f".tmp-{out.name}-1-bb")
    half.mkdir()
    (half / "index.html").write_text("half")
    assert build(project).nothing_changed
    assert stat_of(out) == before
    assert not half.exists()


def test_the_manifest_and_the_stamp_name_the_build(project: Project) -> None:
    """Versions, commit and digest are in both as catalog readers expect, and on no page but About."""
    small(project)
    git = project.root / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    commit = "0123456789abcdef0123456789abcdef01234567"
    (git / "refs" / "heads" / "main").write_text(commit + "\n")
    out = build(project).index.parent
    told = json.loads((out / "manifest.json").read_bytes())
    assert told["commit"] == commit
    assert set(told["versions"]) == {"evh", "duckdb", "jinja2", "markdown-it-py", "markupsafe", "pyarrow"}
    stamp = (out / "stamp.js").read_text()
    held = json.loads(re.fullmatch(r"evhStamp\((.*)\);\n", stamp)[1])  # type: ignore[index]
    assert held["commit"] == commit
    assert held["data_sha256"] == told["data_sha256"]
    named = [path for path, data in tree_bytes(out).items() if commit.encode() in data]
    assert sorted(named) == ["about/index.html", "manifest.json", "stamp.js"]
    before = stat_of(out)
    (git / "refs" / "heads" / "main").write_text(commit[::-1] + "\n")
    assert build(project).n_rendered == 1
    changed = {
        path.relative_to(out).as_posix()
        for path, was in before.items()
        if path.is_file() and path.stat().st_ino != was[0]
    }
    assert changed == {"about/index.html", "manifest.json", "stamp.js"}


@pytest.mark.parametrize("form", ["loose", "packed", "detached", "worktree", "none"])
def test_the_commit_is_read_as_git_tells_it(tmp_path: Path, form: str) -> None:
    """A real repository in each of its forms gives what `git rev-parse HEAD` gives; no repository none."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
            cwd=place, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    place = tmp_path / "repository"
    place.mkdir()
    if form == "none":
        assert manifest.commit_of(place / "below") is None
        return
    git("init", "-q")
    (place / "a").write_text("a")
    git("add", "a")
    git("commit", "-qm", "a")
    if form == "packed":
        git("pack-refs", "--all")
    elif form == "detached":
        git("checkout", "-q", "--detach")
    elif form == "worktree":
        git("worktree", "add", "-q", str(tmp_path / "second"))
        assert manifest.commit_of(tmp_path / "second") == git("rev-parse", "HEAD")
    assert manifest.commit_of(place / "below") == git("rev-parse", "HEAD")


def test_a_site_is_checked_against_its_manifest(project: Project) -> None:
    """A changed file, one replaced by a link, a missing and an extra one are each told by their path."""
    out = build(small(project)).index.parent
    assert verify(out).good
    (out / "arms" / "index.html").write_text("changed")
    (out / "runs" / "index.html").unlink()
    (out / "runs" / "index.html").symlink_to(out / "index.html")
    (out / "about" / "index.html").unlink()
    (out / "left.txt").write_text("x")
    found = verify(out)
    assert found.changed == ("arms/index.html", "runs/index.html")
    assert found.missing == ("about/index.html",)
    assert found.extra == ("left.txt",)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a//b", "a\\b", "./a", ""])
def test_a_manifest_that_leads_out_of_the_site_is_refused(project: Project, name: str) -> None:
    """A manifest is a file that anybody may have written: its paths lead nowhere else."""
    out = build(small(project)).index.parent
    raw = json.loads((out / "manifest.json").read_bytes())
    raw["files"] = {name: "0" * 64}
    (out / "manifest.json").write_text(json.dumps(raw))
    with pytest.raises(Refusal) as refused:
        verify(out)
    assert refused.value.code == "bad-manifest"


def test_the_theme_of_the_guide_is_a_theme(project: Project) -> None:
    """The style sheet that the guide shows is loaded after evh's own, under its hash."""
    small(project)
    plain = (build(project).index).read_text()
    assert len(re.findall(r'rel="stylesheet"', plain)) == 1
    css = re.search(r"```css\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert css is not None
    static = project.root / "site_templates" / "static"
    static.mkdir(parents=True)
    (static / "slate.css").write_text(css[1])
    (project.root / "evh.toml").write_text('[catalog]\ntheme = "slate"\n')
    built = build(Project.find(home=project.root))
    sheets = re.findall(r'<link rel="stylesheet" href="([^"]*)">', built.index.read_text())
    assert [re.sub(r"\.[0-9a-f]{12}\.", ".", one) for one in sheets] == [
        "assets/site.css",
        "assets/slate.css",
    ]
    assert (built.index.parent / sheets[1]).read_text() == css[1]
    own = (ROOT / "site_templates" / "static" / "site.css").read_text()
    for variable in re.findall(r"(--[a-z-]+):", css[1]):
        assert f"{variable}:" in own, variable


@pytest.mark.parametrize("name", ["nowhere", "../site", "copy.js", "."])
def test_a_theme_that_is_not_there_is_refused(project: Project, name: str) -> None:
    """The refusal names the file that it looked for."""
    (project.root / "evh.toml").write_text(f'[catalog]\ntheme = "{name}"\n')
    with pytest.raises(Refusal) as refused:
        site.plan(Project.find(home=project.root))
    assert refused.value.code == "no-such-theme"


def test_downloads_say_what_the_records_say(project: Project) -> None:
    """CSV, Parquet and schema.json of a table have the same columns and rows; figures are the runs' own."""
    out = build(small(project)).index.parent
    schema = json.loads((out / "downloads" / "schema.json").read_bytes())
    assert sorted(schema["tables"]) == sorted(table.name for table in downloads.TABLES)
    for name, told in schema["tables"].items():
        names = [column["name"] for column in told["columns"]]
        table = pq.read_table(out / "downloads" / told["parquet"])
        rows = list(csv.DictReader(io.StringIO((out / "downloads" / told["csv"]).read_text())))
        assert table.column_names == names
        assert (table.num_rows, len(rows)) == (told["rows"], told["rows"]), name
        assert all(column["meaning"] for column in told["columns"])
    figures = pq.read_table(out / "downloads" / "figures.parquet").to_pylist()
    cheap = [row for row in figures if row["run"] == "runs-rescored/cheap_20261002T000000Z"]
    assert {row["metric"]: row["value"] for row in cheap} == {"balanced_accuracy": 0.75, "correct": 2 / 3}
    pairs = pq.read_table(out / "downloads" / "agreement.parquet").to_pylist()
    pair = next(row for row in pairs if {row["a"], row["b"]} == {"d/ann", "d/outcome"})
    assert (pair["n"], pair["n_same"]) == (3, 2)  # i1 and i3 alike, i2 not


def test_a_cell_that_a_spreadsheet_would_run_is_guarded(project: Project) -> None:
    """A reason that starts with = is text in the CSV, and as it is in the Parquet file."""
    made = Builder(project)
    made.dataset("d", {"i1": "x"})
    made.reference("gold/r", made.labels("d", "s", {"i1": "yes"}), reason="=HYPERLINK(1)")
    out = build(project).index.parent
    rows = list(csv.DictReader(io.StringIO((out / "downloads" / "reference_sets.csv").read_text())))
    assert rows[0]["reason"] == "'=HYPERLINK(1)"
    assert pq.read_table(out / "downloads" / "reference_sets.parquet")["reason"].to_pylist() == [
        "=HYPERLINK(1)"
    ]


def test_a_public_build_gives_the_same_bytes_anywhere(project: Project, tmp_path: Path) -> None:
    """Another folder, hash seed, zone, locale, umask and day give the same files, downloads among them."""
    small(project)
    for path in (project.data / "datasets").glob("*.json"):
        path.write_text(path.read_text().replace('"private"', '"public"'))
    first = build(project, public=True, base_url="https://example.org/").index.parent
    script = (
        "import os, sys; os.umask(0o077); from evh.project.find import Project; from evh_build import site; "
        "p = Project.find(home=sys.argv[1]); "
        "site.commit(p, site.plan(p, public=True, base_url='https://example.org'))"
    )
    other = tmp_path / "elsewhere"
    shutil.copytree(project.data, other / "data")
    shutil.copy(project.root / "evh.toml", other)
    environ = {
        "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'build'}", "PYTHONHASHSEED": "7",
        "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "EVH_NOW": "1999-01-01T00:00:00Z",
        "HOME": str(tmp_path),
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", script, str(other)], check=True, env=environ)
    assert tree_bytes(other / ".build" / "public") == tree_bytes(first)
