"""Which folder a command works in, and that it says so when that is elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project.find import Project


def lay(root: Path, settings: str = "") -> Path:
    """Lay the files of a project."""
    (root / "data").mkdir(parents=True)
    if settings:
        (root / "evh.toml").write_text(settings)
    return root


def test_the_nearest_folder_upward_with_data_is_the_project(tmp_path: Path) -> None:
    """From a folder deep in it, and from inside data/ itself; a nested project hides the outer one."""
    outer = lay(tmp_path / "outer")
    inner = lay(outer / "a" / "inner")
    (outer / "x" / "y").mkdir(parents=True)
    assert Project.find(outer / "x" / "y", environ={}).root == outer
    assert Project.find(outer / "data", environ={}).root == outer
    assert Project.find(inner, environ={}).root == inner


def test_home_wins_over_the_variable_and_the_variable_over_the_folder(tmp_path: Path) -> None:
    """-C, then EVAL_HOME, then the folder; only the variable gives a note."""
    a, b, c = (lay(tmp_path / name) for name in "abc")
    environ = {"EVAL_HOME": str(b)}
    assert Project.find(c, home=a, environ=environ).root == a
    assert Project.find(c, home=a, environ=environ).notes == ()
    found = Project.find(c, environ=environ)
    assert found.root == b
    assert found.notes == (f"note: EVAL_HOME points to {b}, away from the folder you are in",)
    assert Project.find(b, environ=environ).notes == ()


def test_the_data_folder_can_lie_elsewhere(tmp_path: Path) -> None:
    """EVAL_DATA_DIR names it, and a note says so."""
    root, other = lay(tmp_path / "root"), tmp_path / "store"
    other.mkdir()
    found = Project.find(root, environ={"EVAL_DATA_DIR": str(other)})
    assert (found.root, found.data, found.locks) == (root, other, other / ".locks")
    assert "EVAL_DATA_DIR" in found.notes[0]


def test_what_points_away_is_told_in_one_line(tmp_path: Path) -> None:
    """Every variable that leads out of the project one stands in, and none that leads into it."""
    a, b = (lay(tmp_path / name) for name in "ab")
    away = "note: EVAL_HOME points to {0}, EVAL_DATA_DIR to {0}/data and EVAL_RUNS_DIR to {0}/runs, "
    away += "away from {1}"
    environ = {"EVAL_HOME": str(b), "EVAL_DATA_DIR": f"{b}/data", "EVAL_RUNS_DIR": f"{b}/runs"}
    assert Project.find(a / "data", environ=environ).notes == (away.format(b, "the folder you are in"),)
    assert Project.find(b, environ=environ).notes == ()
    (b / "deep").mkdir()
    assert Project.find(b / "deep", environ=environ).notes == ()
    goals = {"EVAL_GOALS_DIR": f"{tmp_path}/goals"}
    assert Project.find(a, environ=goals).notes == (
        f"note: EVAL_GOALS_DIR points to {tmp_path}/goals, away from the folder you are in",
    )


def test_the_project_that_was_named_may_lie_anywhere_but_its_parts_are_told(tmp_path: Path) -> None:
    """With -C the folder one stands in does not matter; a data folder out of the named project does."""
    a, b = (lay(tmp_path / name) for name in "ab")
    assert Project.find(a, home=b, environ={"EVAL_HOME": str(a), "EVAL_RUNS_DIR": f"{b}/runs"}).notes == ()
    found = Project.find(a, home=b, environ={"EVAL_DATA_DIR": f"{a}/data"})
    assert found.notes == (f"note: EVAL_DATA_DIR points to {a}/data, away from {b}",)


def test_a_nested_project_is_another_one(tmp_path: Path) -> None:
    """EVAL_HOME at a project within this one, or around it, points away; a link to this one does not."""
    outer = lay(tmp_path / "outer")
    inner = lay(outer / "inner")
    assert len(Project.find(outer, environ={"EVAL_HOME": str(inner)}).notes) == 1
    assert len(Project.find(inner, environ={"EVAL_HOME": str(outer)}).notes) == 1
    (tmp_path / "link").symlink_to(outer)
    assert Project.find(outer, environ={"EVAL_HOME": str(tmp_path / "link")}).notes == ()


def test_no_project_is_refused_with_how_to_make_one(tmp_path: Path) -> None:
    """Here, above, and where -C points."""
    for home in (None, tmp_path):
        with pytest.raises(Refusal) as caught:
            Project.find(tmp_path, home=home, environ={})
        assert caught.value.code == "no-project"
        assert "evh init" in str(caught.value.next)


def test_settings_are_read_and_bad_ones_refused(tmp_path: Path) -> None:
    """Unknown tables are kept; every wrong key is told."""
    good = lay(tmp_path / "good", '[project]\nname = "n"\nvisibility = "public"\n[ours]\nx = 1\n')
    found = Project.find(good, environ={})
    assert (found.name, found.settings.visibility, found.settings.extra) == (
        "n",
        "public",
        {"ours": {"x": 1}},
    )
    assert Project.find(lay(tmp_path / "bare"), environ={}).name == "evh project"
    bad = lay(tmp_path / "bad", '[project]\nname = 5\nvisibility = "secret"\n[statistics]\nseed = "x"\n')
    with pytest.raises(Refusal) as caught:
        Project.find(bad, environ={})
    assert len(caught.value.why) == 3
    with pytest.raises(Refusal) as caught:
        Project.find(lay(tmp_path / "torn", "[project\n"), environ={})
    assert caught.value.code == "bad-toml"


def test_a_path_is_inside_only_with_its_links_resolved(tmp_path: Path) -> None:
    """A link that leads out is outside, and so is `..`."""
    found = Project.find(lay(tmp_path / "p"), environ={})
    (tmp_path / "out.txt").write_text("x")
    (found.data / "link").symlink_to(tmp_path / "out.txt")
    assert found.inside(found.data / "x")
    assert not found.inside(found.data / "link")
    assert not found.inside(found.data / ".." / ".." / "out.txt")
    assert found.show(found.data / "x") == "data/x"
    assert found.show(tmp_path / "out.txt") == str(tmp_path / "out.txt")


def test_the_clock_is_evh_now(tmp_path: Path) -> None:
    """Records are stamped with it."""
    found = Project.find(lay(tmp_path / "p"), environ={"EVH_NOW": "2026-11-01T08:02:32Z"})
    assert found.stamp() == "2026-11-01T08:02:32Z"
