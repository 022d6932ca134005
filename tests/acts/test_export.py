"""A run and a set in each tool's form; private data stays unless that is said; what went out comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.project import labels, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from evh.store import parquet, spreadsheet
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

TEXTS = {"i1": "=report 1", "i2": "report\n2", "i3": "report 3"}
LABELS = {"i1": "file", "i2": '{"accept": ["close", "file"]}'}


@pytest.fixture
def d(project: Project) -> Builder:
    """A public dataset of three items, two labels, and a run with a failure."""
    build = Builder(project)
    build.dataset("d", TEXTS, visibility="public")
    build.labels("d", "ann", LABELS)
    rows = [
        Prediction(
            "i1",
            output="=file",
            decision="=file",
            scores={"correct": 1.0, "judge": 0.25},
            latency_ms=1500.0,
            tokens_in=7,
            tokens_out=2,
        ),
        Prediction("i2", output="close\n", decision="close", scores={"correct": 0.0}),
        Prediction("i3", error="no answer"),
    ]
    run = Run(
        "arm_20261001T000000Z",
        "arm",
        "d",
        created_at="2026-10-01T00:00:00Z",
        params={"model": "m1"},
        n_items=3,
        n_errors=1,
        scores={"correct": 0.5, "judge": 0.25},
        reference_id="labels/d/ann",
        reference_tier="labels",
    )
    runs.write_scored(project, run, rows)
    return build


def export(evh: CommandLine, kind: str, *what: str, name: str = "out") -> Path:
    """Write an export and return its file."""
    out = evh.root / name
    made = evh.ok("export", *what, "--format", kind, "--out", out, "--json").json
    check(made, "export")
    return out


RUN = ("--run", "arm_20261001T000000Z")
SET = ("--set", "d/ann")


def test_a_run_for_inspect_is_a_log_with_its_scores(d: Builder, evh: CommandLine) -> None:
    """EvalLog of version 2: what inspect_ai's read_eval_log needs, and the scores as they stand."""
    log = json.loads(export(evh, "inspect", *RUN).read_bytes())
    assert (log["version"], log["status"], log["eval"]["model"]) == (2, "success", "m1")
    assert {"created", "task", "dataset", "config"} <= log["eval"].keys()
    first, second, third = log["samples"]
    assert first["scores"] == {
        "correct": {"value": 1.0, "answer": "=file"},
        "judge": {"value": 0.25, "answer": "=file"},
    }
    assert (first["id"], first["epoch"], first["input"], first["target"]) == ("i1", 1, "=report 1", "file")
    assert first["output"]["choices"][0]["message"]["content"] == "=file"
    assert first["output"]["usage"] == {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    assert (second["target"], second["output"]["completion"]) == (["close", "file"], "close\n")
    assert (third["error"]["message"], third["output"]["choices"]) == ("no answer", [])
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == 0.5


def test_a_set_for_inspect_is_a_dataset(d: Builder, evh: CommandLine) -> None:
    """What json_dataset reads: input, target, id, metadata."""
    lines = [json.loads(line) for line in export(evh, "inspect", *SET).read_text().splitlines()]
    assert lines[1]["target"] == ["close", "file"]
    assert [line["input"] for line in lines] == ["=report 1", "report\n2"]
    assert lines[0]["metadata"]["item_id"] == "i1"


@pytest.mark.parametrize(
    ("what", "said"), [(RUN, [["=file"], ["close"], None]), (SET, [["file"], ["close", "file"]])]
)
def test_label_studio_gets_tasks_with_predictions(
    what: tuple[str, ...], said: list[Any], d: Builder, evh: CommandLine
) -> None:
    """The form of labelstud.io/guide/predictions: data and predictions with model_version and result."""
    tasks = json.loads(export(evh, "label-studio", *what).read_bytes())
    found: list[Any] = []
    for task in tasks:
        if "predictions" not in task:
            found.append(None)
            continue
        (prediction,) = task["predictions"]
        (result,) = prediction["result"]
        assert (result["from_name"], result["to_name"], result["type"]) == ("label", "text", "choices")
        found.append(result["value"]["choices"])
    assert found == said
    assert tasks[0]["data"]["text"] == "=report 1"
    assert tasks[0]["data"]["item_id"] == "i1"


def test_what_label_studio_corrected_comes_back(d: Builder, project: Project, evh: CommandLine) -> None:
    """The tasks, annotated, are a label set of the same items: their ids and hashes went along."""
    tasks = json.loads(export(evh, "label-studio", *SET).read_bytes())
    for task in tasks:
        result = task.pop("predictions")[0]["result"]
        task["annotations"] = [{"id": 1, "completed_by": {"email": "bo"}, "result": result}]
    path = evh.root / "back.json"
    path.write_text(json.dumps(tasks))
    evh.ok(
        "label-import", path, "--format", "label-studio", "--dataset-id", "d", "--set", "x", "--by", "me",
        "--several", "any",
    )  # fmt: skip
    made = labels.read(project, "d", "x.bo")
    assert labels.texts(project, made) == LABELS


def test_long_answers_are_a_text_area(d: Builder, evh: CommandLine) -> None:
    """What is no choice is text; the configuration that fits is told."""
    d.labels("d", "long", {"i1": "a long\nanswer"})
    out = evh.root / "t.json"
    made = evh.ok("export", "--set", "d/long", "--format", "label-studio", "--out", out, "--json").json
    assert '<TextArea name="label" toName="text"/>' in made["files"][0]["labeling_config"]
    result = json.loads(out.read_bytes())[0]["predictions"][0]["result"][0]
    assert (result["type"], result["value"]) == ("textarea", {"text": ["a long\nanswer"]})


def test_openai_evals_gets_events_or_samples(d: Builder, evh: CommandLine) -> None:
    """A spec, events of each sample and a final report; of a set input and ideal."""
    lines = [json.loads(line) for line in export(evh, "openai-evals", *RUN).read_text().splitlines()]
    assert lines[0]["spec"]["completion_fns"] == ["m1"]
    assert lines[-1] == {"final_report": {"correct": 0.5, "judge": 0.25}}
    mine = [(line["type"], line["data"]) for line in lines[1:-1] if line["sample_id"] == "i1"]
    assert mine[1] == (
        "sampling",
        {"prompt": [{"role": "user", "content": "=report 1"}], "sampled": ["=file"]},
    )
    assert mine[2] == ("match", {"correct": True, "expected": "file", "picked": "=file"})
    assert mine[3] == ("metrics", {"judge": 0.25})
    samples = [
        json.loads(line) for line in export(evh, "openai-evals", *SET, name="s").read_text().splitlines()
    ]
    assert samples[1]["ideal"] == ["close", "file"]


def test_csv_is_guarded_and_parquet_is_not(d: Builder, evh: CommandLine) -> None:
    """A cell that a spreadsheet would run has a mark before it; Parquet holds the text itself."""
    sheet = spreadsheet.read(export(evh, "csv", *RUN).read_bytes(), "x")
    assert sheet.rows[0].cells["output"] == "'=file"
    assert sheet.rows[0].cells["item"] == "'=report 1"
    assert sheet.rows[2].cells["error"] == "no answer"
    out = export(evh, "parquet", *RUN, name="p")
    rows = parquet.read_rows(out, {"item_id": "text", "scores": "scores", "output": "text"})
    assert (rows[0]["output"], rows[0]["scores"]) == ("=file", {"correct": 1.0, "judge": 0.25})
    rows = parquet.read_rows(export(evh, "parquet", *SET, name="q"), {"item_id": "text", "label": "text"})
    assert [row["label"] for row in rows] == list(LABELS.values())


@pytest.mark.parametrize("kind", ["csv", "openai-evals", "inspect"])
def test_a_run_that_went_out_comes_back(kind: str, d: Builder, project: Project, evh: CommandLine) -> None:
    """The same outputs and the same scores of each item, byte for byte, as another arm."""
    path = export(evh, kind, *RUN)
    back = ["import-run", "--from-file", str(path), "--format", kind, "--dataset-id", "d", "--as", "back"]
    run_id = evh.ok(*back, "--json").json["runs"][0]["run_id"]
    old, new = runs.read(project, RUN[1]), runs.read(project, run_id)
    rows = [runs.predictions(project, one) for one in (old, new)]
    assert runs.outputs(project, new, rows[1]) == runs.outputs(project, old, rows[0])
    assert [row.scores for row in rows[1]] == [row.scores for row in rows[0]]
    assert rows[1][2].error == "no answer"


def test_a_private_dataset_is_refused(d: Builder, project: Project, evh: CommandLine) -> None:
    """Private, and not to be given on: both reasons; said, both are told."""
    d.dataset("p", {"i1": "secret"}, redistributable=False)
    d.labels("p", "ann", {"i1": "x"})
    before = tree_bytes(project.root)
    words = ["export", "--set", "p/ann", "--format", "csv", "--out", str(project.root / "out.csv")]
    assert len(evh.refused("private-dataset", *words).json["refused"]["why"]) == 2
    assert tree_bytes(project.root) == before
    assert evh.ok(*words, "--private-ok").err.count("written because of --private-ok") == 2


def test_nothing_is_overwritten(d: Builder, project: Project, evh: CommandLine) -> None:
    """A file in the way is refused; both or neither of a run and a set too; --dry-run writes nothing."""
    out = project.root / "out.csv"
    words = ["export", *SET, "--format", "csv", "--out", str(out)]
    evh.ok(*words, "--dry-run")
    assert not out.exists()
    out.write_bytes(b"mine")
    evh.refused("existing-file", *words)
    assert out.read_bytes() == b"mine"
    evh.refused("which-one", "export", "--format", "csv", "--out", "x")
    evh.refused("which-one", "export", *SET, *RUN, "--format", "csv", "--out", "x")


def test_an_edited_set_does_not_leave(d: Builder, project: Project, evh: CommandLine) -> None:
    """What is given on is what was labelled."""
    (project.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"close")
    evh.refused("edited-set", "export", *SET, "--format", "csv", "--out", "x.csv")


@pytest.mark.parametrize("out", ["data/x.csv", "data/labels/d/x.csv", "link/x.csv", "data/../data/x.csv"])
def test_nothing_is_exported_into_the_records(
    d: Builder, project: Project, evh: CommandLine, out: str
) -> None:
    """A file that readers would take for a record, or for litter, is refused; by a link too."""
    (project.root / "link").symlink_to(project.data)
    before = tree_bytes(project.root)
    words = ("export", "--set", "d/ann", "--format", "csv", "--out", project.root / out)
    told = evh.refused("in-data", *words).json["refused"]
    assert told["why"] == [f"{project.root / out}: what lies there is the project's own records"]
    assert tree_bytes(project.root) == before
