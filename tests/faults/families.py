"""The writing commands that the sweep goes over, each with a small project to work in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from evh.project import datasets, labels, runs
from evh.project.find import Project
from evh.records.dataset import Dataset, Item
from evh.records.labelset import LabelItem, LabelSet
from evh.records.run import Prediction, Run
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


def _exported(project: Project) -> None:
    _dataset(project)
    rows = [
        {"text": text.decode(), "accept": [answer], "answer": "accept", "_session_id": name}
        for name, answer in (("ann", "file"), ("bob", "ignore"))
        for text in TEXTS.values()
    ]
    _put(project.root / "out.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


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


def _judged_by_a_model(project: Project) -> None:
    """A run of a committed build, whichever evh the tests run."""
    _dataset(project)
    build = {"ref": "0123abcd", "source": "checkout", "dirty": False}
    rows = [Prediction(key, output=text.decode(), decision=text.decode()) for key, text in ANSWERS.items()]
    runs.write_scored(project, Run("judge_1", "judge", "d", n_items=len(rows), build=build), rows)


def _two_sets(project: Project) -> None:
    _labels(project)
    ana = labels.read(project, "d", "ana")
    said = {**ANSWERS, "i2": b"file", "i4": b"escalate"}
    labels.write_new(project, replace(ana, set="bo", source={"kind": "person", "by": "bo"}), said)


def _adjudicated(project: Project) -> None:
    _two_sets(project)
    _evh(project, "adjudicate", "--dataset-id", "d", "--sets", "ana,bo", "--out", "s.csv")
    sheet = project.root / "s.csv"
    sheet.write_text(sheet.read_text(encoding="utf-8").replace(",,,\n", ",A,,\n"), encoding="utf-8")


def _sheet(project: Project) -> None:
    _dataset(project)
    for name in ("arm_a", "arm_b"):
        _put(project.data / "configs" / f"{name}.yaml", ARM.replace("echo_v1", name))
        said = [Prediction(key, output=f"{name} of {key}", decision=key) for key in TEXTS]
        run = Run(f"{name}_20261001T000000Z", name, "d", n_items=len(said))
        runs.write_scored(project, run, said)


def _filled_sheet(project: Project) -> None:
    _sheet(project)
    fills = ("--fill", "label", "--fill", "pick")
    _evh(project, "inspect", "--sheet", "--dataset-id", "d", "--csv", "s.csv", *fills)
    sheet = project.root / "s.csv"
    text = sheet.read_text(encoding="utf-8")
    empty = ",,,,"  # pick, label, also right, note
    filled = text.replace(f"{empty}\n", ",A,file,,\n")
    head, _, rest = filled.partition("\n")
    sheet.write_text(head + "\n" + rest.replace(",A,file,,\n", ",,,,\n", 1), encoding="utf-8")


def _picked(project: Project) -> None:
    _dataset(project)
    texts = {f"p{n}": f"production {n}".encode() for n in range(1, 3)}
    items = tuple(Item(item_id=key, sha256="") for key in texts)
    datasets.write_new(project, Dataset(dataset_id="prod", items=items, created_at=NOW), texts)
    _evh(project, "pick", "--dataset-id", "prod", "--item", "p1", "--item", "p2", "--for", "d")


def _promoted(project: Project) -> None:
    """Two scored runs and a goal, for which the first is the baseline."""
    _labels(project)
    for name, right in (("first", ("i1",)), ("second", ("i1", "i2"))):
        rows = [
            Prediction(key, output="x", decision="x", scores={"correct": float(key in right)})
            for key in ANSWERS
        ]
        run = Run(
            f"{name}_1", name, "d", n_items=len(rows), primary_metric="correct",
            scores={"correct": len(right) / len(rows)}, reference_id="labels/d/ana", reference_tier="labels",
        )  # fmt: skip
        runs.write_scored(project, run, rows)
    _put(project.data / "goals" / "g.yaml", "datasets: [d]\n")
    _evh(project, "promote", "--run", "runs/first_1", "--goal", "g", "--reason", "first")


def _old_references(project: Project) -> None:
    _dataset(project)
    for tier in ("gold", "silver"):
        place = f"references/{tier}/d"
        _put(project.data / place / "manifest.json", json.dumps({"dataset_id": "d", "tier": tier}))
        _put(project.data / place / "i1.txt", "file")


def _transcript(project: Project) -> None:
    rows = [{"text": f"chunk {n} of the red harbour lantern"} for n in range(4)]
    _put(project.root / "in.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def _log(project: Project) -> None:
    _transcript(project)
    _evh(project, "log-import", "in.jsonl", "--project", "p")


def _asked(project: Project) -> None:
    _log(project)
    _evh(project, "query-add", "--project", "p", "--query", "q", "--question", "Where is the lantern?")


def _evidence(project: Project) -> None:
    _asked(project)
    _evh(project, *OVERLAP)


OVERLAP = ("label-evidence", "--project", "p", "--query", "q", "--provider", "overlap")


def _log_of_another_tool(project: Project) -> None:
    _dataset(project)
    rows = [f"{key},{answer.decode()},1" for key, answer in ANSWERS.items()]
    _put(project.root / "scores.csv", "\n".join(["item_id,output,m", *rows]) + "\n")


def _to_scrub(project: Project) -> None:
    _capture(project)
    _put(
        project.root / "scrub.yaml",
        "version: 1\nkind: scrub\nrules:\n  - {name: n, pattern: report, token: A}\n",
    )


def _to_carry(project: Project) -> None:
    _labels(project)
    _put(project.root / "map.jsonl", "")


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
        "label-import of another tool's export",
        _exported,
        ("label-import", "out.jsonl", "--dataset-id", "d", "--set", "x", "--by", "me", "--format", "prodigy"),
        ("data/labels/d/x.ann", "data/labels/d/x.bob"),
        ("data/labels/d/",),  # one set after the other: each is whole or absent, and a second try goes on
    ),
    Family(
        "label-from-run",
        _judged_by_a_model,
        ("label-from-run", "--run", "judge_1", "--set", "judge"),
        ("data/labels/d/judge",),
    ),
    Family(
        "adjudicate",
        _two_sets,
        ("adjudicate", "--dataset-id", "d", "--sets", "ana,bo", "--out", "data/s.csv"),
        (),
        ("data/s.csv", "data/s.key.json"),
    ),
    Family(
        "label-import of what was adjudicated",
        _adjudicated,
        ("label-import", "s.csv", "--dataset-id", "d", "--set", "c", "--by", "cy", "--adjudicates", "ana,bo"),
        ("data/labels/d/c",),
    ),
    Family(
        "inspect --sheet --fill",
        _sheet,
        ("inspect", "--sheet", "--dataset-id", "d", "--csv", "s.csv", "--fill", "pick"),
        (),
        ("s.csv", "s.key.json"),
    ),
    Family(
        "sheet-import of labels and picks",
        _filled_sheet,
        ("sheet-import", "s.csv", "--dataset-id", "d", "--by", "ann", "--set", "s", "--scorer", "ann"),
        ("data/labels/d/s", "data/runs-judged/ann"),  # the set first: a second try finds it as its own
    ),
    Family(
        "migrate-references",
        _old_references,
        ("migrate-references",),
        ("data/labels/d/gold_d", "data/labels/d/silver_d"),
        ("data/labels/d/",),  # one reference after the other: each is old or new, and a second try goes on
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
        "import-run",
        _log_of_another_tool,
        ("import-run", "--from-file", "scores.csv", "--format", "csv", "--dataset-id", "d", "--as", "x"),
        ("data/runs/x_20261101T080232Z",),
    ),
    Family(
        "capture-scrub",
        _to_scrub,
        ("capture-scrub", "--capture", "c", "--as", "clean", "--scrub", "scrub.yaml"),
        ("data/captures/clean",),
    ),
    Family(
        "label-carry",
        _to_carry,
        ("label-carry", "--dataset-id", "d", "--set", "d/ana", "--map", "map.jsonl", "--as", "carried"),
        ("data/labels/d/carried",),
    ),
    Family(
        "export", _labels, ("export", "--set", "d/ana", "--format", "csv", "--private-ok", "--out", "s.csv")
    ),
    Family("pack of a label set", _labels, ("pack", "labels:d/ana"), ("data/labels/d/ana",)),
    Family("pack of a dataset", _dataset, ("pack", "dataset:d")),
    Family(
        "promote",
        _promoted,
        ("promote", "--run", "runs/second_1", "--goal", "g", "--reason", "better"),
        (),
        (
            "data/baselines/superseded/",
        ),  # the archive is written first: its copy may outlast the old one's end
    ),
    Family(
        "pick",
        _dataset,
        ("pick", "--dataset-id", "d", "--item", "i1", "--item", "i2"),
        (),
        ("data/picks.jsonl",),
    ),
    Family(
        "dataset-extend",
        _picked,
        ("dataset-extend", "d", "--dataset-id", "d2", "--picks"),
        ("data/sources/d2",),
    ),
    Family("log-import", _transcript, ("log-import", "in.jsonl", "--project", "p"), ("data/logs/p",)),
    Family(
        "query-add",
        _log,
        ("query-add", "--project", "p", "--query", "q", "--question", "Where is the lantern?"),
        (),
        ("data/logs/p/queries.jsonl",),
    ),
    Family("label-evidence", _asked, OVERLAP, (), ("data/label/",)),
    Family(
        "evidence-freeze",
        _evidence,
        ("evidence-freeze", "--project", "p", "--query", "q", "--set", "s"),
        ("data/labels/p.q/s", "data/sources/p.q"),
        ("data/datasets/p.q.json",),
    ),
)
