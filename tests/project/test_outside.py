"""No link leads a write out of the project; a project that is itself reached by a link is written as ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import captures, configs, datasets, labels, picks, references, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

RUN = Run("arm_1", "arm", "d")


def _keep(built: Builder) -> None:
    runs.finish(built.project, RUN, [Prediction("one", output="x")], {"one": "one"})


WRITES: list[tuple[str, Callable[[Builder], object]]] = [
    ("data/datasets", lambda built: built.dataset("e", {"x": "1"})),
    ("data/sources", lambda built: built.dataset("e", {"x": "1"})),
    ("data/sources/e", lambda built: built.dataset("e", {"x": "1"})),
    ("data/datasets/e.json", lambda built: built.dataset("e", {"x": "1"})),
    ("data/captures", lambda built: built.capture("c", [{"record_id": "1"}])),
    ("data/configs", lambda built: built.config("arm")),
    ("data/configs/arm.yaml", lambda built: built.config("arm")),
    ("data/labels", lambda built: built.labels("d", "s", {"one": "yes"})),
    ("data/labels/d", lambda built: built.labels("d", "s", {"one": "yes"})),
    ("data/references", lambda built: built.reference("gold/r", labels.read(built.project, "d", "truth"))),
    ("data/runs", lambda built: built.run("arm", "d", {"one": "yes"})),
    ("data/runs", lambda built: runs.new_run_id(built.project, "arm")),
    ("data/runs", lambda built: runs.begin(built.project, RUN, {})),
    ("data/runs", lambda built: runs.finish(built.project, RUN, [], {})),
    ("data/runs/arm_1/outputs", _keep),
    ("data/runs/arm_1/predictions.jsonl", lambda built: runs.open_rows(built.project, RUN)),
    ("data/picks.jsonl", lambda built: built.pick("d", "one")),
    ("data/picks.jsonl", lambda built: picks.update(built.project, lambda _: [])),
    ("data/.locks", lambda built: built.pick("d", "one")),
    ("data/.locks", lambda built: built.capture("c", [{"record_id": "1"}])),
]


@pytest.fixture
def built(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """A project with a dataset and a label set."""
    made = Builder(project)
    made.dataset("d", {"one": "1"})
    made.labels("d", "truth", {"one": "yes"})
    return made


@pytest.mark.parametrize(("link", "write"), WRITES, ids=[f"{n}-{one[0]}" for n, one in enumerate(WRITES)])
def test_no_write_follows_a_link_out_of_the_project(
    built: Builder, link: str, write: Callable[[Builder], object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Refused as `outside`, and where the link leads nothing is made, whether it is there already or not."""
    root = built.project.root
    place = root / link
    outside = tmp_path_factory.mktemp("outside")
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.rename(outside / "there")
    elif place.suffix:
        (outside / "there").write_bytes(b"")
    else:
        (outside / "there").mkdir()
    place.symlink_to(outside / "there")
    if link == "data/labels":  # the set that a test promotes is elsewhere then
        (outside / "there").mkdir(exist_ok=True)
    before = tree_bytes(outside)
    with pytest.raises(Refusal) as caught:
        write(built)
    assert caught.value.code == "outside"
    assert link in caught.value.what
    assert tree_bytes(outside) == before


def test_a_lock_file_that_is_a_link_is_not_written_through(project: Project, tmp_path: Path) -> None:
    """A lock is emptied when it is taken: not what somebody's link names."""
    from evh.store.hashing import sha256_text

    victim = tmp_path / "victim"
    victim.write_text("precious")
    record = project.data / "picks.jsonl"
    project.locks.mkdir()
    (project.locks / f"{sha256_text(str(record.resolve()))}.lock").symlink_to(victim)
    with pytest.raises(Refusal) as caught:
        picks.update(project, lambda _: [])
    assert caught.value.code == "cannot-write"
    assert victim.read_text() == "precious"


def test_the_cache_and_the_site_stay_in_the_project(
    built: Builder, evh: CommandLine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A catalog is built into a folder that is named, wherever it lies, but through no link by itself."""
    outside = tmp_path_factory.mktemp("outside")
    for name in (".cache", ".build"):
        (built.project.root / name).symlink_to(outside)
        evh.refused("outside", "catalog-build")
        (built.project.root / name).unlink()
    assert list(outside.iterdir()) == []
    evh.ok("catalog-build", "--out", outside / "site")


def test_a_project_reached_by_links_is_written_as_ever(tmp_path: Path) -> None:
    """Its own folder, its data folder, and a folder of runs that EVAL_RUNS_DIR names may lie elsewhere."""
    (tmp_path / "store").mkdir()
    (tmp_path / "far").mkdir()
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "data").symlink_to(tmp_path / "store")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    project = Project.find(home=tmp_path / "link", environ={"EVAL_RUNS_DIR": str(tmp_path / "far")})
    built = Builder(project)
    built.dataset("d", {"one": "1"})
    built.capture("c", [{"record_id": "1"}])
    built.config("arm")
    truth = built.labels("d", "s", {"one": "yes"})
    built.reference("gold/r", truth)
    built.pick("d", "one")
    run = built.run("arm", "d", {"one": "yes"})
    assert (datasets.ids(project), captures.ids(project), references.refs(project)) == (
        ["d"],
        ["c"],
        ["gold/r"],
    )
    assert configs.exists(project, "arm")
    runs.finish(project, run, [Prediction("two", output="kept")], {"two": "two"})
    assert (tmp_path / "far" / run.run_id / "outputs" / "two.txt").read_bytes() == b"kept"
    assert runs.output(project, run, Prediction("two")) == "kept"
