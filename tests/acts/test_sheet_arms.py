"""The order of a sheet's arms, and which governed dataset *new* compares with."""

from __future__ import annotations

from evh.acts.sheet import build_sheet
from evh.project.find import Project
from evh.store import strict
from tests.helpers import Builder


def test_recorded_arms_come_first_then_the_baseline_then_the_rest(project: Project) -> None:
    """By name a, m, z: m is recorded and z promoted, so the order is m, z, a; named arms keep their order."""
    made = Builder(project)
    made.dataset("d", {"one": "1"})
    made.run("a", "d", {"one": "yes"})
    made.run("m", "d", {"one": "yes"}, params={"provider": "recorded"})
    run = made.run("z", "d", {"one": "yes"})
    folder = project.data / "baselines"
    folder.mkdir()
    record = {"baseline_id": "b", "dataset_id": "d", "promoted_from": run.run_id, "scores": {}}
    (folder / "b.json").write_bytes(strict.dump_manifest(record))
    assert [arm.name for arm in build_sheet(project, "d").arms] == ["m", "z", "a"]
    assert [arm.name for arm in build_sheet(project, "d", ("a", "m")).arms] == ["a", "m"]


def test_of_several_governed_datasets_the_picks_target_is_compared_with(project: Project) -> None:
    """Two governed datasets: none until a pick names one; with picks for both none again."""
    made = Builder(project)
    made.dataset("d", {"one": "1", "two": "2"}, fields={"one": {"kind": "x"}, "two": {"kind": "y"}})
    made.dataset("g1", {"a": "a"}, fields={"a": {"kind": "x"}}, governed=True)
    made.dataset("g2", {"b": "b"}, fields={"b": {"kind": "y"}}, governed=True)
    assert build_sheet(project, "d").new_vs is None
    made.pick("d", "one", targets=("g2", "not_yet"))
    sheet = build_sheet(project, "d")
    assert sheet.new_vs == "g2"
    assert {row.item_id: row.signals.new for row in sheet.rows} == {"one": ("kind",), "two": ()}
    made.pick("d", "two", targets=("g1",))
    assert build_sheet(project, "d").new_vs is None
