"""New ids are portable, and no row of a large set silently wins over another."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evh.errors import Refusal
from evh.project import captures, datasets, labels, references, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from evh.store import parquet
from tests.helpers import Builder, tree_bytes

N = 5_001


@pytest.fixture
def built(project: Project) -> Builder:
    """A record of each kind, called ``d``."""
    made = Builder(project)
    made.dataset("d", {"one": "1"})
    made.capture("d", [{"record_id": "1"}])
    made.config("d")
    made.reference("gold/d", made.labels("d", "d", {"one": "yes"}))
    return made


NEW: dict[str, Callable[[Builder, str], object]] = {
    "dataset": lambda built, name: built.dataset(name, {"x": "1"}),
    "capture": lambda built, name: built.capture(name, [{"record_id": "1"}]),
    "config": lambda built, name: built.config(name),
    "label set": lambda built, name: built.labels("d", name, {"one": "yes"}),
    "reference set": lambda built, name: built.reference(
        f"gold/{name}", labels.read(built.project, "d", "d")
    ),
}


@pytest.mark.parametrize("name", ["D", "con", "NUL", "Lpt1", "aux.v2"])
@pytest.mark.parametrize("kind", NEW)
def test_a_new_id_that_another_system_could_not_keep_is_refused(built: Builder, kind: str, name: str) -> None:
    """An id that differs by case alone from one that is there, and a Windows device's; nothing is written."""
    before = tree_bytes(built.project.data / ("." if kind != "config" else "configs"))
    with pytest.raises(Refusal) as caught:
        NEW[kind](built, name)
    assert caught.value.code == "bad-id"
    assert caught.value.what == f"that cannot be the name of a new {kind}"
    after = tree_bytes(built.project.data / ("." if kind != "config" else "configs"))
    assert {path: data for path, data in after.items() if not path.startswith(".locks")} == {
        path: data for path, data in before.items() if not path.startswith(".locks")
    }


@pytest.mark.parametrize("kind", NEW)
def test_ids_that_only_look_alike_are_taken(built: Builder, kind: str) -> None:
    """A console and a second version are no device and no twin."""
    NEW[kind](built, "console")
    NEW[kind](built, "d2")


def test_a_record_that_is_there_is_read_whatever_its_id(built: Builder) -> None:
    """A foreign tree may hold both: only creation refuses."""
    (built.project.data / "captures" / "d").rename(built.project.data / "captures" / "con")
    assert captures.ids(built.project) == ["con"]


def double(path: Path) -> None:
    """Write a Parquet file again with its first row twice."""
    import pyarrow as pa

    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), path)


def test_doubled_rows_are_refused_wherever_a_row_is_one_thing(project: Project) -> None:
    """Items, labels, reference texts, records and the predictions of a finished run."""
    built = Builder(project)
    ids = [f"i{n}" for n in range(N)]
    built.dataset("d", {name: name for name in ids})
    truth = built.labels("d", "s", dict.fromkeys(ids, "yes"))
    reference = built.reference("gold/r", truth)
    capture = built.capture("c", [{"record_id": name} for name in ids])
    run = built.run("arm", "d", dict.fromkeys(ids, "yes"))
    data = project.data
    cases: list[tuple[Path, Callable[[], object]]] = [
        (
            data / "captures/c/records.parquet",
            lambda: captures.records(project, replace(capture, records_sha256="")),
        ),
        (
            data / "runs" / run.run_id / "predictions.parquet",
            lambda: runs.predictions(project, replace(run, predictions=None)),
        ),
        (data / "references/gold/r/labels.parquet", lambda: references.read(project, "gold/r")),
        (data / "references/gold/r/labels.parquet", lambda: references.raw_texts(project, reference)),
        (data / "labels/d/s/labels.parquet", lambda: labels.read(project, "d", "s")),
        (data / "labels/d/s/labels.parquet", lambda: labels.raw_texts(project, truth)),
        (data / "datasets/d.items.parquet", lambda: datasets.read(project, "d")),
    ]
    for path in dict.fromkeys(path for path, _ in cases):
        double(path)
    for path, read in cases:
        with pytest.raises(Refusal) as caught:
            read()
        assert caught.value.code == "doubled-rows", path
        assert "'i0' stands in several rows" in caught.value.why[0]


def test_a_full_disk_at_its_start_leaves_no_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder that holds the id goes with the write that failed; its id is free again."""
    run_id = runs.new_run_id(project, "arm")
    folder = project.data / "runs" / run_id
    assert folder.is_dir()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(Refusal) as caught:
            runs.begin(project, Run(run_id, "arm", "d"), {})
    assert caught.value.code == "cannot-write"
    assert not folder.exists()
    assert runs.new_run_id(project, "arm") == run_id


def test_item_rows_of_other_kinds_are_refused(project: Project) -> None:
    """Fields that are no JSON object, and a label set whose hash is none."""
    built = Builder(project)
    ids = [f"i{n}" for n in range(N)]
    built.dataset("d", {name: name for name in ids})
    built.labels("d", "s", dict.fromkeys(ids, "yes"))
    for path, columns, change, read in (
        (
            project.data / "labels/d/s/labels.parquet",
            labels.LABEL_COLUMNS,
            {"item_sha256": "ABC"},
            lambda: labels.read(project, "d", "s"),
        ),
        (
            project.data / "datasets/d.items.parquet",
            datasets.ITEM_COLUMNS,
            {"fields": "["},
            lambda: datasets.read(project, "d"),
        ),
    ):
        rows = parquet.read_rows(path, columns)
        path.write_bytes(parquet.dump_rows([{**rows[0], **change}, *rows[1:]], columns))
        with pytest.raises(Refusal) as caught:
            read()
        assert caught.value.code in ("bad-record", "bad-json")
        assert "i0" in caught.value.why[0]


def test_a_prediction_twice_in_text_is_refused_too(project: Project) -> None:
    """Only a run that still goes on may have tried an item again."""
    run = Builder(project).run("arm", "d", {"one": "yes"})
    path = project.data / "runs" / run.run_id / "predictions.jsonl"
    path.write_bytes(path.read_bytes() * 2)
    foreign = Run(run.run_id, "arm", "d")
    with pytest.raises(Refusal) as caught:
        runs.predictions(project, foreign)
    assert caught.value.code == "doubled-rows"
    assert runs.running_rows(project, foreign) == (Prediction("one", output="yes", decision="yes"),)
