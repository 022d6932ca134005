"""Files, folders and pipes in each other's places are found, and nobody waits for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evh.acts.validate import validate
from evh.project.find import Project
from tests.helpers import Builder
from tests.whole import found, whole


@pytest.fixture
def built(project: Project) -> Builder:
    """A small whole project."""
    return whole(project)


RENAMED: list[tuple[str, str]] = [
    *[(name, "a file") for name in ("labels", "captures", "references", "configs", "datasets", "runs")],
    *[(name, "a file") for name in ("adapters", "sources", "baselines", "runs-labels-d-truth")],
    *[(name, "a folder") for name in ("picks.jsonl", "configs/arm.yaml", "datasets/d.json", "../evh.toml")],
    *[(name, "a folder") for name in ("adapters/a.py", "baselines/b.json")],
]


@pytest.mark.parametrize(("name", "kind"), RENAMED, ids=[one[0] for one in RENAMED])
def test_a_file_in_a_folders_place_is_found_and_the_reverse(built: Builder, name: str, kind: str) -> None:
    """Nothing of a shelf is read when it is of the wrong kind: that is an error, not an empty shelf."""
    path = Path(os.path.normpath(built.project.data / name))
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        path.rename(path.with_name("kept"))
    if kind == "a file":
        path.write_bytes(b"")
    else:
        path.mkdir()
    told = [one for one in validate(built.project).findings if one.code == "wrong-kind"]
    assert [(one.severity, one.file) for one in told] == [("error", built.project.show(path))]
    assert told[0].reason.startswith(f"it is {kind}, where a")


def test_pipes_and_links_that_lead_nowhere_are_found_at_once(built: Builder) -> None:
    """Validate waits for nobody."""
    data = built.project.data
    (data / "picks.jsonl").unlink()
    os.mkfifo(data / "picks.jsonl")
    os.mkfifo(data / "configs" / "pipe.yaml")
    (data / "labels").rename(data / "elsewhere")
    (data / "labels").symlink_to("gone")
    (data / "captures" / "cap" / "records.jsonl").unlink()
    os.mkfifo(data / "captures" / "cap" / "records.jsonl")
    told = set(found(built.project))
    for file in ("picks.jsonl", "configs/pipe.yaml", "labels"):
        assert ("error", "wrong-kind", f"data/{file}") in told
    assert ("error", "cannot-read", "data/captures/cap") in told


def test_an_emptied_list_of_picks_is_no_finding(built: Builder) -> None:
    """No line is no pick."""
    (built.project.data / "picks.jsonl").write_bytes(b"")
    assert found(built.project) == []
