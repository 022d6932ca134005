"""A folder that may not be read is a finding of its own and hides nothing else."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evh.acts.sources import Sources
from evh.project.find import Project
from tests.helpers import Builder
from tests.whole import RUN, found, whole

NOBODY = 65534


@pytest.fixture
def built() -> Iterator[Builder]:
    """A small whole project in a folder that anybody may enter, with a label that was edited in it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "data").mkdir()
        (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
        made = whole(Project.find(home=root, environ={}))
        made.labels("d", "other", {"one": "yes"})
        (root / "data/labels/d/truth/one.txt").write_text("no")
        assert found(made.project) == [("error", "edited-set", "data/labels/d/truth")]  # imports all it needs
        yield made
        for at, folders, _ in os.walk(root):
            for name in folders:
                (Path(at) / name).chmod(0o755)


def as_nobody(project: Project) -> list[tuple[str, str, str]]:
    """Return what a user without rights finds: root may read everything."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        return found(project)
    finally:
        os.seteuid(me)


@pytest.mark.parametrize(
    "closed",
    ["labels/d/other", "captures/cap", "configs", "sources/d", "baselines", "references/silver", "../" + RUN],
)
@pytest.mark.parametrize("mode", [0o000, 0o444], ids=["closed", "not entered"])
def test_a_folder_that_may_not_be_read_hides_nothing_else(built: Builder, closed: str, mode: int) -> None:
    """It is told by its path, and so is the label that somebody edited elsewhere."""
    path = Path(os.path.normpath(built.project.data / closed))
    path.chmod(mode)
    told = as_nobody(built.project)
    assert ("error", "cannot-read", built.project.show(path)) in told
    assert ("error", "edited-set", "data/labels/d/truth") in told


def test_the_other_commands_go_on_too(built: Builder) -> None:
    """What reads every record notes the one that may not be read, and has the others."""
    (built.project.data / "labels/d/other").chmod(0)
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        held = Sources(built.project)
    finally:
        os.seteuid(me)
    assert sorted(held.sets) == ["d/truth"]
    assert [one.code for one in held.problems] == ["cannot-read"]
