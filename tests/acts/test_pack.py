"""Records change their form and nothing that they say: there and back gives the same bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evh.project import captures, datasets, labels, references, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from evh.store.hashing import sha256
from evh.store.names import item_stems
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

TEXTS = {"i1": "report 1", "Ünï/2": "zwei\r\n", "i3": ""}
RECORDS: list[dict[str, Any]] = [
    {"record_id": "r1", "ts": "2026-07-01T09:00:00Z", "item": "a", "foreign": {"x": [1, 2.5, None]}},
    {"record_id": "r2", "ts": None, "item": None},
]
ALL = ("dataset:d", "capture:c", "run:arm_20261001T000000Z", "labels:d/ann", "reference:gold/g")


@pytest.fixture
def tree(project: Project, evh: CommandLine) -> Builder:
    """One record of each kind that has two forms, as commands make them."""
    build = Builder(project)
    build.dataset("d", TEXTS, fields={"i1": {"queue": "cards"}}, lineage={"i1": {"record_id": "r1"}})
    build.capture("c", RECORDS)
    made = build.labels("d", "ann", {"i1": "file", "Ünï/2": "close\n"})
    (project.data / "labels" / "d" / "ann" / "~guideline.txt").write_bytes(b"how")
    build.reference("gold/g", made)
    rows = [
        Prediction(
            "i1",
            output="file\r\n",
            scores={"m": 0.5},
            tokens_in=7,
            latency_ms=1.25,
            decision="file",
            hidden={"_x": {"a": 1}},
        ),
        Prediction("Ünï/2", error="no answer"),
    ]
    run = Run("arm_20261001T000000Z", "arm", "d", created_at="2026-10-01T00:00:00Z", n_items=2, n_errors=1)
    runs.finish(project, run, rows, item_stems([row.item_id for row in rows]))
    return build


def bytes_of(project: Project) -> dict[str, bytes]:
    """Every file below data/, but for the locks."""
    return {name: data for name, data in tree_bytes(project.data).items() if not name.startswith(".locks")}


def said(project: Project) -> object:
    """What the records say, whichever form they have."""
    dataset = datasets.read(project, "d")
    run = runs.read(project, "arm_20261001T000000Z")
    rows = runs.predictions(project, run)
    made = labels.read(project, "d", "ann")
    reference = references.read(project, "gold/g")
    capture = captures.read(project, "c")
    return (
        [(item.item_id, item.sha256, item.fields, item.lineage) for item in dataset.items],
        datasets.texts(project, dataset),
        datasets.digest(dataset),
        captures.records(project, capture),
        capture.records_sha256,
        [replace(row, output=None) for row in rows],
        runs.outputs(project, run, rows, verify=True),
        labels.texts(project, made, verify=True),
        made.labels_sha256,
        labels.guideline(project, made),
        references.texts(project, reference),
        reference.labels_sha256,
        reference.items,
    )


def test_there_and_back_gives_the_same_bytes(tree: Builder, project: Project, evh: CommandLine) -> None:
    """Packed, every record says the same under the same digests; unpacked, every file is what it was."""
    before, meaning = bytes_of(project), said(project)
    made = evh.ok("pack", *ALL, "--json").json
    check(made, "pack")
    assert [row["ref"] for row in made["records"]] == list(ALL)
    packed = bytes_of(project)
    assert sorted(name for name in packed if name.endswith(".parquet")) == [
        "captures/c/records.parquet",
        "datasets/d.items.parquet",
        "labels/d/ann/labels.parquet",
        "references/gold/g/labels.parquet",
        "runs/arm_20261001T000000Z/predictions.parquet",
    ]
    assert not [name for name in packed if name.startswith("sources/") or "/outputs/" in name]
    assert said(project) == meaning
    evh.ok("validate")
    check(evh.ok("unpack", *ALL, "--json").json, "unpack")
    assert bytes_of(project) == before


def test_a_capture_keeps_the_digest_it_was_made_with(
    tree: Builder, project: Project, evh: CommandLine
) -> None:
    """Arms name it; the file that is there now has a hash of its own, and a changed byte in it is found."""
    digest = captures.read(project, "c").records_sha256
    evh.ok("pack", "capture:c")
    manifest = json.loads((project.data / "captures" / "c" / "capture.json").read_bytes())
    assert manifest["records_sha256"] == digest
    assert manifest["stored"]["file"] == "records.parquet"
    path = project.data / "captures" / "c" / "records.parquet"
    path.write_bytes(path.read_bytes() + b"x")
    evh.refused("changed-bytes", "unpack", "capture:c")


def test_what_is_packed_already_is_refused(tree: Builder, project: Project, evh: CommandLine) -> None:
    """All reasons at once, and no record has changed."""
    evh.ok("pack", "labels:d/ann")
    before = bytes_of(project)
    told = evh.refused("cannot-repack", "pack", "labels:d/ann", "label:x", "dataset:d").json["refused"]
    assert len(told["why"]) == 2
    evh.refused("same-form", "unpack", "dataset:d")
    evh.refused("which-records", "unpack")
    evh.refused("no-such-dataset", "pack", "dataset:x")
    evh.refused("bad-options", "pack", "--all", "dataset:d")
    assert bytes_of(project) == before


def test_pack_alone_takes_only_what_is_large(
    tree: Builder, project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over 5,000 rows as the layout has it; here over 2 rows, so the dataset alone."""
    assert evh.ok("pack", "--json").json["records"] == []
    monkeypatch.setattr("evh.store.parquet.ROWS_AS_TEXT", 2)
    assert [row["ref"] for row in evh.ok("pack", "--json").json["records"]] == ["dataset:d"]
    made = evh.ok("pack", "--all", "--dry-run", "--json").json["records"]
    assert [row["ref"] for row in made] == [ALL[1], "run:runs/arm_20261001T000000Z", *ALL[3:]]


def test_what_parquet_has_no_place_for_stays_text(tree: Builder, project: Project, evh: CommandLine) -> None:
    """A key that somebody else put on an item or a row: named, with --all told and left."""
    path = project.data / "datasets" / "d.json"
    raw = json.loads(path.read_bytes())
    raw["items"][0]["theirs"] = 1
    path.write_text(json.dumps(raw))
    told = evh.refused("would-lose", "pack", "dataset:d").json["refused"]
    assert told["why"] == ["datasets/d.json: i1: theirs"]
    assert "left as it is: datasets/d.json: i1: theirs" in evh.ok("pack", "--all").err


def test_texts_that_lie_elsewhere_are_left_alone(tree: Builder, project: Project, evh: CommandLine) -> None:
    """A dataset over files of one's own: Parquet gets a copy, the files stay."""
    own: Path = project.data / "raw"
    own.mkdir()
    (own / "a.txt").write_bytes(b"mine")
    item = {"item_id": "a", "source_path": "raw/a.txt", "source_sha256": sha256(b"mine")}
    raw = {"dataset_id": "e", "source_dir": "raw", "items": [item]}
    (project.data / "datasets" / "e.json").write_text(json.dumps(raw))
    evh.ok("pack", "dataset:e")
    assert (own / "a.txt").read_bytes() == b"mine"
    assert datasets.texts(project, datasets.read(project, "e")) == {"a": b"mine"}


def test_an_edited_set_is_not_packed(tree: Builder, project: Project, evh: CommandLine) -> None:
    """A changed label is found first: packing would make it look untouched."""
    (project.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"close")
    evh.refused("edited-set", "pack", "labels:d/ann")


def test_a_packed_run_is_scored_again(tree: Builder, project: Project, evh: CommandLine) -> None:
    """Readers take both forms: the outputs are in the Parquet now."""
    evh.ok("pack", "run:arm_20261001T000000Z")
    evh.ok("rescore", "--run", "arm_20261001T000000Z", "--labels", "d/ann")
    scored = next(run for run in runs.read_all(project) if run.labels == "d/ann")
    assert scored.scores["correct"] == 0.0  # "file" with a CR is not "file"
