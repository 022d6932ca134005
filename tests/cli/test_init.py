"""`evh init` as it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.cli.main import main
from tests.conftest import CommandLine
from tests.schema import check


def test_init_says_what_it_made_and_what_is_next(evh: CommandLine) -> None:
    """DIR is relative to -C; the next commands start with going there."""
    out = evh.ok("init", "new", "--name", "p").out
    assert f"made the project 'p' in {evh.root / 'new'}" in out
    assert "cd new\n  evh capture" in out
    assert (evh.root / "new" / "data").is_dir()


def test_init_reports_as_json_and_writes_nothing_when_dry(evh: CommandLine) -> None:
    """The document is the same but for `written`; after --dry-run the folder is not there."""
    dry = check(evh.ok("init", "new", "--name", "p", "--dry-run", "--json").json, "init")
    assert not (evh.root / "new").exists()
    wet = check(evh.ok("init", "new", "--name", "p", "--json").json, "init")
    assert (dry.pop("written"), wet.pop("written")) == (False, True)
    assert dry == wet
    files = [".gitignore", "AGENTS.md", "data/.gitattributes", "evh.toml"]
    assert wet["projects"] == [
        {"files": files, "n_sample_files": 0, "name": "p", "root": str(evh.root / "new"), "sample": None}
    ]


def test_a_dry_copy_of_the_sample_counts_its_files(evh: CommandLine) -> None:
    """The sample brings its name; nothing is written."""
    document = check(evh.ok("init", "new", "--sample", "triage", "--dry-run", "--json").json, "init")
    assert document["projects"][0]["name"] == "CVE triage"
    assert document["projects"][0]["n_sample_files"] >= 18
    assert not (evh.root / "new").exists()


def test_init_refuses_a_folder_with_data(evh: CommandLine) -> None:
    """The project of the fixture is one already."""
    evh.refused("existing-project", "init", "--name", "p")
    where = str(evh.root / "new")
    assert evh.refused("no-name", "init", "new").json["refused"]["next"] == f"evh init {where} --name NAME"
    told = evh.refused("existing-project", "init", "--name", "p").json["refused"]["next"]
    assert told.startswith(f"evh -C {evh.root} overview")


def test_init_works_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without DIR and -C it is the folder one stands in."""
    monkeypatch.chdir(tmp_path)
    main(["init", "--name", "p"])
    assert (tmp_path / "data").is_dir()
