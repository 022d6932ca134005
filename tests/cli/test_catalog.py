"""``evh catalog-build`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.project.find import Project
from tests import schema
from tests.conftest import CommandLine
from tests.evh_build.projects import small
from tests.helpers import tree_bytes


@pytest.fixture(autouse=True)
def _filled(project: Project) -> None:
    small(project)


def test_it_says_what_was_made_and_where_to_open_it(evh: CommandLine) -> None:
    """The counts and the page to open are on stdout, the seconds on stderr alone."""
    made = evh.ok("catalog-build")
    index = evh.root / ".build" / "catalog" / "index.html"
    assert index.is_file()
    assert made.out.splitlines()[-1] == f"open {index}"
    n = len(list(index.parent.rglob("*.html")))
    assert made.out.splitlines()[0] == f"{n} pages: {n} rendered, 0 unchanged"
    assert made.err.strip().endswith(" s")
    again = evh.ok("catalog-build")
    assert again.out.splitlines()[0] == f"nothing changed: {n} pages as they were"


def test_json_is_as_its_schema_says(evh: CommandLine, tmp_path: Path) -> None:
    """A build, a build that changes nothing, a dry run and a build with a broken record fit the schema."""
    (evh.root / "data" / "datasets" / "bad.json").write_text("{")
    dry = schema.check(evh.ok("catalog-build", "--dry-run", "--json").json, "catalog-build")
    assert dry["built"] is None
    first = schema.check(evh.ok("catalog-build", "--json").json, "catalog-build")
    assert first["built"]["rendered"] == first["built"]["pages"] > 0
    assert "datasets/bad.json" in first["findings"][0]["what"] + str(first["findings"][0]["why"])
    again = schema.check(evh.ok("catalog-build", "--json").json, "catalog-build")
    assert again["built"]["nothing_changed"]


def test_a_dry_run_writes_nothing(evh: CommandLine) -> None:
    """No site, no cache, no lock."""
    before = tree_bytes(evh.root)
    assert "would build" in evh.ok("catalog-build", "--dry-run").out
    assert tree_bytes(evh.root) == before


def test_a_site_in_data_is_refused(evh: CommandLine) -> None:
    """`--out data/site` is refused and nothing is written."""
    before = tree_bytes(evh.root)
    evh.refused("bad-out", "catalog-build", "--out", evh.root / "data" / "site")
    assert tree_bytes(evh.root) == before


def test_a_folder_of_something_else_is_refused(evh: CommandLine, tmp_path: Path) -> None:
    """A folder that is no catalog keeps its files."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    evh.refused("not-a-catalog", "catalog-build", "--out", tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "x"


def test_texts_are_cut_where_it_is_asked(evh: CommandLine, tmp_path: Path) -> None:
    """`--max-item-text` cuts an item's text and the page says by how much; zero is refused."""
    evh.ok("catalog-build", "--out", tmp_path / "site", "--max-item-text", "6")
    page = (tmp_path / "site" / "items" / "d" / "i1.html").read_text()
    assert ">report</pre>" in page
    assert "3 more characters" in page
    evh.refused("bad-option", "catalog-build", "--max-item-text", "0")


def test_a_public_build_says_what_it_does_not_show(evh: CommandLine) -> None:
    """The counts by noun, the missing sitemap, and with --json each record with its reason."""
    assert evh.root.joinpath("data/datasets/d.json").read_text().count('"private"') == 1
    dry = evh.ok("catalog-build", "--public", "--dry-run")
    assert (
        "not shown: 2 datasets, 1 capture, 3 label sets, 1 reference set, 4 runs, 2 arms, 1 pick" in dry.out
    )
    assert not (evh.root / ".build").exists()
    made = evh.ok("catalog-build", "--public")
    assert "not shown: 2 datasets" in made.out
    assert "there is no sitemap.xml" in made.err
    document = schema.check(evh.ok("catalog-build", "--public", "--dry-run", "--json").json, "catalog-build")
    assert document["public"]
    assert {"noun": "dataset", "name": "d", "why": "private"} in document["left_out"]


def test_a_site_is_verified(evh: CommandLine) -> None:
    """Good: exit 0 and the number of files. Touched: exit 1, each difference, also as JSON."""
    evh.ok("catalog-build")
    out = evh.root / ".build" / "catalog"
    assert "each as the manifest says" in evh.ok("catalog-verify").out
    good = schema.check(evh.ok("catalog-verify", out, "--json").json, "catalog-verify")
    assert good["differences"] == []
    (out / "index.html").write_text("x")
    (out / "arms" / "index.html").unlink()
    (out / "more.txt").write_text("x")
    told = evh("catalog-verify", "--json")
    assert told.code == 1
    assert schema.check(told.json, "catalog-verify")["differences"] == [
        {"path": "index.html", "how": "changed"},
        {"path": "arms/index.html", "how": "missing"},
        {"path": "more.txt", "how": "extra"},
    ]
    plain = evh("catalog-verify")
    assert plain.code == 1
    assert "changed: index.html" in plain.out
    assert "not in the manifest: more.txt" in plain.out


def test_a_folder_without_a_catalog_cannot_be_verified(evh: CommandLine, tmp_path: Path) -> None:
    """The refusal names the manifest that is not there."""
    evh.refused("no-catalog", "catalog-verify", tmp_path)
