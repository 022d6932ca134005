"""What the pages say of picks that a version took, and of the version that comes next."""

from __future__ import annotations

from evh.project.find import Project
from tests.evh_build.pages_of import build, commands, words
from tests.helpers import Builder


def test_a_taken_pick_is_told_by_its_version(project: Project) -> None:
    """old_v2 took i1: its page says so, and the sheet counts i2 alone, which still waits for old."""
    made = Builder(project)
    made.dataset("old", {"g": "0"}, governed=True)
    made.dataset("prod", {"i1": "1", "i2": "2"})
    made.dataset("old_v2", {"g": "0", "i1": "1"}, parent="old", lineage={"i1": {"pick": "prod/i1"}})
    used = ({"for": "old", "in": "old_v2"},)
    made.pick("prod", "i1", targets=("old",), op="used", used=used)
    made.pick("prod", "i2", targets=("old",))
    out = build(project)
    pages = {name: words(out / "items" / "prod" / f"{name}.html") for name in ("i1", "i2")}
    assert "Picked in old_v2" in pages["i1"]
    assert "Picked for old" in pages["i2"]
    sheet = words(out / "sheets" / "prod" / "index.html")
    assert sheet.count("picked: old") == 1
    assert "evh dataset-extend old --dataset-id old_v3 --picks" in commands(out / "datasets/old/index.html")
