"""The shelf of runs: ids, commit points, both forms of the rows, outputs wherever they lie, foreign runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.project import runs
from evh.project.find import Project
from evh.records import run as record
from evh.records.run import Prediction, Run
from evh.store import parquet, strict
from tests.helpers import Builder

ROWS = [Prediction("a", output="x", decision="x", scores={"m": 1.0}), Prediction("b", error="no")]


def wrote(project: Project, **more: object) -> Run:
    """Write a run of two rows."""
    run = Run("c_1", "c", "d", created_at="2026-10-01T00:00:00Z")
    return runs.write_scored(project, replace(run, **more), ROWS)  # type: ignore[arg-type]


def test_ids_are_never_given_twice(project: Project) -> None:
    """The clock's time, then -2, -3: whatever folder a run of that id lies in."""
    base = "c_20261101T080232Z"
    assert runs.new_run_id(project, "c") == base
    assert runs.new_run_id(project, "c", folder="runs-labels-d-s") == f"{base}-2"
    assert runs.new_run_id(project, "c") == f"{base}-3"
    assert runs.new_run_id(project, "other") == "other_20261101T080232Z"


def test_what_is_written_is_read_back(project: Project) -> None:
    """A run and its rows, by id, by folder and id; in the list; its outputs."""
    run = wrote(project)
    assert runs.read(project, "c_1") == runs.read(project, "runs/c_1") == run
    assert runs.read_all(project) == [run]
    rows = runs.predictions(project, run)
    assert list(rows) == ROWS
    assert runs.outputs(project, run, rows) == {"a": "x"}
    assert (run.predictions or {})["rows"] == 2


def test_the_measured_run_is_preferred(project: Project) -> None:
    """A bare id of a run that was scored again means the run that was measured."""
    wrote(project)
    wrote(project, folder="runs-rescored", derived={"kind": "rescored", "from": "runs/c_1"})
    assert runs.read(project, "c_1").folder == "runs"
    assert runs.read(project, "c_1", folder="runs-rescored").folder == "runs-rescored"
    with pytest.raises(Refusal) as told:
        runs.read(project, "c_2")
    assert "c_1" in told.value.why[0]


def test_outputs_are_found_in_the_run_it_derives_from(project: Project) -> None:
    """A scored-again run has no outputs of its own; a chain that bites its tail ends."""
    run = wrote(project)
    twin = wrote(project, folder="runs-rescored", derived={"kind": "rescored", "from": "runs/c_1"})
    bare = [replace(row, output=None) for row in ROWS]
    (runs.path_of(project, run) / "outputs").mkdir()
    (runs.path_of(project, run) / "outputs" / "a.txt").write_bytes(b"from the file")
    assert runs.outputs(project, twin, bare) == {"a": "from the file"}
    assert runs.output(project, twin, bare[0]) == "from the file"
    loop = wrote(project, folder="runs-x", derived={"kind": "rescored", "from": "runs-x/c_1"})
    assert runs.source_of(project, loop) is None


def test_rows_in_both_forms_are_the_same_rows(project: Project) -> None:
    """Over 5,000 rows Parquet is written, and reads as JSONL would: metrics, hidden keys, errors, nulls."""
    many = [
        Prediction(
            f"i{at}", scores={"m": at / 2} if at % 2 else {}, latency_ms=0.5, output="x", hidden={"_k": [at]}
        )
        for at in range(5_001)
    ]
    run = runs.write_scored(project, Run("c_1", "c", "d"), many)
    assert (run.predictions or {})["file"] == "predictions.parquet"
    assert list(runs.predictions(project, run)) == many


def test_odd_rows_of_a_parquet_file_are_read_as_jsonl_would_be(project: Project) -> None:
    """Scores of a reserved or hidden name, no numbers, keys in ``_meta``: as `parse_prediction` does."""
    odd: list[dict[str, Any]] = [
        {"item_id": "plain", "scores": {"m": 1.0}, "output": "x", "decision": "x"},
        {"item_id": "reserved", "scores": {"latency_ms": 2.0, "m": 1.0}},
        {"item_id": "hidden", "scores": {"_m": 2.0}},
        {"item_id": "wrong", "scores": {"m": float("nan"), "n": float("inf")}, "latency_ms": float("nan")},
        {"item_id": "negative", "latency_ms": -1.0, "tokens_in": 3.0},
        {"item_id": "meta", "_meta": {"note": "hm", "_k": [1], "m2": 4}},
        {"item_id": "meta2", "scores": {"m": 0.5}, "_meta": {"_letter": "A"}},
        {"item_id": "failed", "error": "no answer"},
    ]
    run = wrote(project)
    folder = runs.path_of(project, run)
    table = [
        {
            **row,
            "scores": row.get("scores") or {},
            "_meta": json.dumps(row["_meta"]) if "_meta" in row else None,
        }
        for row in odd
    ]
    data = parquet.dump_rows(table, runs.PREDICTION_COLUMNS)
    (folder / "predictions.jsonl").unlink()
    (folder / "predictions.parquet").write_bytes(data)
    found = runs.predictions(project, replace(run, predictions=None))
    for row, raw in zip(found, odd, strict=True):
        flat = {key: value for key, value in raw.items() if key not in {"scores", "_meta"}}
        expected = record.parse_prediction({**raw.get("_meta", {}), **flat, **raw.get("scores", {})}, "row")
        assert repr(row) == repr(expected)  # by their texts: NaN equals nothing


def test_both_forms_at_once_are_refused_save_beside_a_commit_point(project: Project) -> None:
    """metrics.json names the form that counts; where it names none, the error names both files."""
    run = wrote(project)
    (runs.path_of(project, run) / "predictions.parquet").write_bytes(b"litter")
    assert len(runs.predictions(project, run)) == 2
    with pytest.raises(Refusal) as told:
        runs.predictions(project, replace(run, predictions=None))
    assert told.value.why == ("predictions.jsonl and predictions.parquet",)


def test_changed_rows_are_refused(project: Project) -> None:
    """A row that was edited by hand is found by the hash in metrics.json."""
    run = wrote(project)
    path = runs.path_of(project, run) / "predictions.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"m":1.0', b'"m":0.0'))
    with pytest.raises(Refusal) as told:
        runs.predictions(project, run)
    assert told.value.code == "changed-bytes"


def test_a_run_without_its_commit_point_is_unfinished(project: Project) -> None:
    """No metrics.json: not in the list, told as unfinished, and refused when it is named."""
    run = wrote(project)
    path = runs.path_of(project, run)
    (path / "metrics.json").unlink()
    assert runs.read_all(project) == []
    assert runs.unfinished(project) == [path]
    assert runs.running(project, path) is None
    with pytest.raises(Refusal) as told:
        runs.read(project, "c_1")
    assert told.value.code == "unfinished-run"


def test_a_foreign_run_needs_four_keys(project: Project) -> None:
    """The reference falls back to the fingerprint's, derived to rescored_from; unknown keys are kept."""
    folder = project.data / "runs-rescored" / "theirs"
    folder.mkdir(parents=True)
    raw = {
        "run_id": "theirs",
        "config_id": "k",
        "dataset_id": "d",
        "scores": {"f1": 0.5, "note": "text", "none": None},
        "reference_tier": "gold",
        "rescored_from": "runs/theirs",
        "fingerprint": {"hash": None, "data": {"reference_id": "references/gold/old"}},
        "custom": {"x": 1},
    }
    (folder / "metrics.json").write_bytes(strict.dump_manifest(raw))
    (folder / "predictions.jsonl").write_bytes(b'{"item_id":"a/b","f1":0.5,"resumed":1,"_x":2,"extra":"y"}\n')
    run = runs.read(project, "theirs")
    assert (run.reference, run.scores, run.extra["custom"]) == ("gold/old", {"f1": 0.5}, {"x": 1})
    assert run.derived == {"kind": "rescored", "from": "runs/theirs"}
    assert runs.predictions(project, run)[0].scores == {"f1": 0.5}


def test_the_last_row_of_an_item_counts(project: Project) -> None:
    """An item that was tried again has two rows in a running run; the later one is read."""
    folder = project.data / "runs" / "c_1"
    folder.mkdir(parents=True)
    lines = [
        b'{"item_id":"a","error":"no"}\n',
        b'{"item_id":"b"}\n',
        b'{"item_id":"a","decision":"x"}\n',
        b'{"item',
    ]
    (folder / "predictions.jsonl").write_bytes(b"".join(lines))
    rows = runs.running_rows(project, Run("c_1", "c", "d"))
    assert [(row.item_id, row.decision, row.error) for row in rows] == [("a", "x", None), ("b", None, None)]


def test_items_that_differ_by_case_alone_keep_their_outputs(project: Project, tmp_path: Path) -> None:
    """`a` and `A` are two items on every file system."""
    from evh.store.names import item_stems

    run = Run("c_1", "c", "d")
    stems = item_stems(["a", "A"])
    assert stems["a"].lower() != stems["A"].lower()
    runs.finish(project, run, [Prediction(item_id, output=item_id) for item_id in stems], stems)
    assert [runs.kept_output(project, run, item_id) for item_id in ("a", "A")] == [b"a", b"A"]


def test_a_link_out_of_the_project_is_not_followed(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An output that links to a file elsewhere is no output."""
    secret = tmp_path_factory.mktemp("outside") / "secret"
    secret.write_text("secret", "utf-8")
    run = wrote(project)
    folder = runs.path_of(project, run) / "outputs"
    folder.mkdir()
    (folder / "b.txt").symlink_to(secret)
    assert runs.outputs(project, run, [Prediction("b")]) == {}
    assert runs.output(project, run, Prediction("b")) is None
    assert runs.kept_output(project, run, "b") is None


def test_judged_runs_lie_by_scorer(project: Project) -> None:
    """runs-judged/<scorer> is a folder of runs of its own."""
    Builder(project)
    wrote(project, folder="runs-judged/me")
    assert runs.folder_names(project) == ["runs-judged/me"]
    assert runs.read(project, "runs-judged/me/c_1").key == "runs-judged/me/c_1"


NUMBERS = st.floats(-1e150, 1e150, allow_nan=False)
MEASURES = st.integers(0, 2**53 - 1) | st.floats(0, 2**53 - 1, allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
KEYS = TEXTS.filter(lambda key: bool(key) and not key.startswith("_")).filter(
    lambda key: key not in {*record.MEASURES, "item_id", "output", "decision", "error", "scores"}
)


@given(
    scores=st.dictionaries(KEYS, NUMBERS, max_size=3),
    output=st.none() | TEXTS,
    decision=st.none() | TEXTS,
    latency=st.none() | MEASURES,
    hidden=st.dictionaries(TEXTS.map(lambda key: f"_{key}"), st.integers() | TEXTS, max_size=2),
)
def test_any_row_survives_being_written(
    scores: dict[str, float],
    output: str | None,
    decision: str | None,
    latency: float | None,
    hidden: dict[str, object],
) -> None:
    """Any metrics, texts and hidden keys are read back as they were."""
    row = Prediction("a", scores=scores, output=output, decision=decision, latency_ms=latency, hidden=hidden)
    line = strict.dump_line(record.dump_prediction(row))
    assert record.parse_prediction(json.loads(line), "p") == row


@pytest.mark.parametrize(
    ("named", "tiers", "expected"),
    [
        ("old", ["gold"], "gold/old"),
        ("gold/old", ["gold", "silver"], "gold/old"),
        ("old", ["gold", "silver"], None),
        ("../old", ["gold"], None),
    ],
)
def test_a_foreign_run_that_names_its_reference_alone_gets_its_tier(
    project: Project, named: str, tiers: list[str], expected: str | None
) -> None:
    """The tier is that of the one reference set of the name; where two tiers have it, nothing is guessed."""
    for tier in tiers:
        path = project.data / "references" / tier / "old" / "manifest.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"dataset_id": "d", "tier": tier}), encoding="utf-8")
    folder = project.data / "runs" / "r"
    folder.mkdir(parents=True)
    metrics = {"run_id": "r", "config_id": "c", "dataset_id": "d", "scores": {"correct": 1}}
    metrics["fingerprint"] = {"data": {"reference_id": named}}
    (folder / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    assert runs.read(project, "r").reference == expected
