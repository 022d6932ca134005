"""No record is read through a link that leads out of the project; through one within it every record is."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import baselines, captures, datasets, labels, picks, references, runs
from evh.project.find import Project
from evh_build import site
from evh_build.gather import Gathered
from tests.conftest import CommandLine
from tests.helpers import Builder

RECORDS = (
    "datasets", "datasets/d.json", "captures", "captures/c", "captures/c/capture.json", "labels/d/s",
    "labels/d/s/labels.json", "references/gold/r", "references/gold/r/manifest.json", "runs",
    "runs/arm_20261001T000000Z", "runs/arm_20261001T000000Z/metrics.json", "picks.jsonl",
)  # fmt: skip


@pytest.fixture
def whole(project: Project) -> Project:
    """A project with a record on each shelf."""
    made = Builder(project)
    made.capture("c", [{"record_id": "r1"}])
    made.dataset("d", {"one": "1"}, lineage={"one": {"capture": "c", "record_id": "r1"}})
    made.reference("gold/r", made.labels("d", "s", {"one": "yes"}))
    made.run("arm", "d", {"one": "yes"})
    made.pick("d", "one")
    return project


def move_out(place: Path, outside: Path) -> None:
    """Leave a link where a file or folder was."""
    place.rename(outside / "moved")
    place.symlink_to(outside / "moved")


def refusals(project: Project) -> list[Refusal]:
    """Return how the records are refused that the shelves list."""
    found: list[Refusal] = []
    for shelf in (captures, datasets, labels, references, runs, baselines):
        shelf.read_all(project, found)
    try:
        picks.read_state(project)
    except Refusal as refusal:
        found.append(refusal)
    return found


@pytest.mark.parametrize("name", RECORDS)
def test_no_record_is_read_through_a_link_out(
    whole: Project, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """It is refused by its place, and what a catalog is made of passes it over with a word."""
    move_out(whole.data / name, tmp_path_factory.mktemp("outside"))
    assert {one.code for one in refusals(whole)} == {"outside"}
    gathered = Gathered(whole)
    assert len(gathered.captures) + len(gathered.datasets) <= 2
    told = {reason for one in gathered.problems for reason in one.why}
    assert any(f"data/{name}" in reason and "a link leads to" in reason for reason in told), told


def test_the_bytes_behind_a_record_are_not_read_through_one(
    whole: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A capture's records and a run's rows, moved out alone, are refused where they are read."""
    folder = whole.data / "captures" / "c"
    move_out(folder / "records.jsonl", tmp_path_factory.mktemp("outside"))
    with pytest.raises(Refusal) as told:
        captures.records(whole, captures.read(whole, "c"))
    assert told.value.code == "outside"
    run = runs.read_all(whole)[0]
    rows = next((whole.data / "runs" / run.run_id).glob("predictions.*"))
    move_out(rows, tmp_path_factory.mktemp("outside"))
    with pytest.raises(Refusal) as told:
        runs.predictions(whole, run)
    assert told.value.code == "outside"


@pytest.mark.parametrize("name", RECORDS)
def test_a_link_within_the_project_is_followed(whole: Project, name: str) -> None:
    """A record that lies elsewhere in the project is read as if it lay there."""
    elsewhere = whole.root / "elsewhere"
    elsewhere.mkdir()
    move_out(whole.data / name, elsewhere)
    assert refusals(whole) == []


def test_data_on_another_disk_is_the_projects_own(
    whole: Project, evh: CommandLine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """``data/`` may be a link: a team may keep it elsewhere. All of it is read, a link out of it is not."""
    disk = tmp_path_factory.mktemp("disk")
    move_out(whole.data, disk)
    found = Project.find(home=whole.root)
    assert refusals(found) == []
    assert site.commit(found, site.plan(found)).problems == ()
    move_out(disk / "moved" / "captures" / "c", tmp_path_factory.mktemp("outside"))
    assert [one.code for one in refusals(found)] == ["outside"]
    for words in (("captures",), ("catalog-build",)):
        told = evh(*words)
        assert told.code == 0
        assert "data/captures/c" in told.err
