"""The writing commands that the sweep goes over, each with a small project to work in."""

from __future__ import annotations

import json
from pathlib import Path

from evh.project import datasets, labels
from evh.project.find import Project
from evh.records.dataset import Dataset, Item
from evh.records.labelset import LabelItem, LabelSet
from evh.store.hashing import sha256
from tests.faults.sweep import NOW, Family

RECORDS = [
    {"record_id": f"r{n}", "ts": f"2026-10-0{n}T00:00:00Z", "item": f"report {n}", "output": answer}
    for n, answer in enumerate(["file", "escalate", "file", "ignore"], start=1)
]
TEXTS = {f"i{n}": f"report {n}".encode() for n in range(1, 5)}
ANSWERS = {"i1": b"file", "i2": b"escalate", "i3": b"file", "i4": b"ignore"}
ARM = "config_id: echo_v1\ndataset_id: d\nparams:\n  provider: echo\n"
RULES = """version: 1
kind: labels
rules:
  - {name: said, when: {output: [file, escalate, ignore]}, label: $output}
"""


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _records(project: Project) -> None:
    _put(project.root / "in.jsonl", "".join(json.dumps(row) + "\n" for row in RECORDS))


def _evh(project: Project, *words: str) -> None:
    from tests.faults.sweep import run

    done = run(project.root, words)
    assert done.returncode == 0, done.stderr.decode()


def _capture(project: Project) -> None:
    _records(project)
    _evh(project, "capture", "--as", "c", "--from-file", "in.jsonl")


def _dataset(project: Project) -> None:
    items = tuple(Item(item_id=key, sha256="") for key in TEXTS)
    datasets.write_new(project, Dataset(dataset_id="d", items=items, created_at=NOW), TEXTS)


def _labels(project: Project) -> None:
    _dataset(project)
    items = {key: LabelItem(sha256=sha256(text)) for key, text in TEXTS.items()}
    made = LabelSet(
        dataset_id="d",
        set="ana",
        source={"kind": "person", "by": "ana"},
        items=items,
        labels_sha256="",
        created_at=NOW,
    )
    labels.write_new(project, made, ANSWERS)


def _folder_of_labels(project: Project) -> None:
    _dataset(project)
    for key, text in ANSWERS.items():
        _put(project.root / "filled" / f"{key}.txt", text.decode())


def _arm(project: Project) -> None:
    _labels(project)
    _put(project.data / "configs" / "echo_v1.yaml", ARM)


def _run(project: Project) -> None:
    _arm(project)
    _evh(project, "run", "--config", "echo_v1")


def _made_of_capture(project: Project) -> None:
    _capture(project)
    _evh(project, "dataset-from-capture", "--capture", "c", "--dataset-id", "d")
    _put(project.data / "rules" / "said.yaml", RULES)


RUN = "data/runs/echo_v1_20261101T080232Z"
FAMILIES = (
    Family("capture", _records, ("capture", "--as", "c", "--from-file", "in.jsonl"), ("data/captures/c",)),
    Family(
        "split",
        _capture,
        ("split", "--capture", "c", "--at", "2026-10-03", "--into", "a,b"),
        ("data/captures/a", "data/captures/b"),
    ),
    Family(
        "dataset-from-capture",
        _capture,
        ("dataset-from-capture", "--capture", "c", "--dataset-id", "d"),
        ("data/sources/d",),
    ),
    Family(
        "label-from-capture",
        _made_of_capture,
        (
            "label-from-capture",
            "--dataset-id",
            "d",
            "--capture",
            "c",
            "--map",
            "data/rules/said.yaml",
            "--set",
            "s",
        ),
        ("data/labels/d/s",),
    ),
    Family(
        "label-import",
        _folder_of_labels,
        ("label-import", "filled", "--dataset-id", "d", "--set", "ana", "--by", "ana"),
        ("data/labels/d/ana",),
    ),
    Family(
        "reference-promote",
        _labels,
        (
            "reference-promote",
            "--dataset-id",
            "d",
            "--labels",
            "ana",
            "--tier",
            "silver",
            "--reason",
            "checked",
        ),
        ("data/references/silver/d",),
    ),
    Family(
        "run",
        _arm,
        ("run", "--config", "echo_v1"),
        (),
        (f"{RUN}/",),
        ("run", "--config", "echo_v1", "--resume"),
    ),
    Family(
        "rescore",
        _run,
        ("rescore", "--dataset-id", "d", "--labels", "d/ana"),
        (f"data/runs-labels-d-ana/{RUN.rpartition('/')[2]}",),
    ),
    Family(
        "pick",
        _dataset,
        ("pick", "--dataset-id", "d", "--item", "i1", "--item", "i2"),
        (),
        ("data/picks.jsonl",),
    ),
)
