"""Two trees say the same but for what a second run measures anew; anything else is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evh.acts.same_as import PATHS, Difference, compare
from evh.errors import Refusal
from evh.project import runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from evh.store import parquet
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

RUN = "runs/arm_20261001T000000Z"


def fingerprint(host: str) -> dict[str, Any]:
    """Return a fingerprint in which only what a machine decides differs."""
    return {
        "version": 1,
        "hash": f"hash of {host}",
        "host": {"name": host},
        "instrument": {"harness": host, "libraries": {"numpy": host}, "scorer": "s"},
        "system_under_test": {"libraries": {"click": host}, "model": "m"},
    }


def write_run(project: Project, host: str, latency: float) -> None:
    """Write a run as some machine measured it."""
    run = Run(
        "arm_20261001T000000Z", "arm", "d", created_at="2026-10-01T00:00:00Z", scores={"correct": 1.0},
        build={"ref": host}, warmup_ms=latency, fingerprint=fingerprint(host),
    )  # fmt: skip
    runs.write_scored(project, run, [Prediction("one", {"correct": 1.0}, latency_ms=latency, output="x")])


@pytest.fixture
def other(project: Project, tmp_path: Path) -> Path:
    """Another machine's project: the same data, the run measured again."""
    Builder(project).dataset("d", {"one": "1"})
    there = tmp_path / "there"
    shutil.copytree(project.data, there / "data")
    write_run(project, "here", 12.5)
    write_run(Project.find(home=there), "there", 99.0)
    return there


def test_what_is_measured_anew_is_not_compared(project: Project, other: Path) -> None:
    """Latency, warm-up, build, and the fingerprint's hash, host, harness and libraries may differ."""
    made = compare(project, other)
    assert made.differences == ()
    assert made.n_files == 5  # .gitattributes, the dataset, its text, metrics and predictions
    assert compare(project, other / "data").differences == ()


def test_locks_and_the_cache_are_passed_over(project: Project, other: Path) -> None:
    """What is rebuilt or held by a process is no record."""
    (project.data / "adapters" / "__pycache__").mkdir(parents=True)
    (project.data / "adapters" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"compiled")
    (project.data / ".locks").mkdir(exist_ok=True)
    (project.data / ".locks" / "x.lock").write_text("1")
    (project.root / ".cache").mkdir()
    (project.root / ".cache" / "x").write_text("1")
    assert compare(project, other).differences == ()


@pytest.mark.parametrize(
    ("key", "value", "where"),
    [
        (("scores",), {"correct": 0.5}, "scores.correct: 1.0 and 0.5"),
        (("fingerprint", "version"), 2, "fingerprint.version: 1 and 2"),
        (("fingerprint", "instrument", "scorer"), "t", 'fingerprint.instrument.scorer: "s" and "t"'),
        (("fingerprint", "system_under_test", "model"), "n", "fingerprint.system_under_test.model"),
        (("n_errors",), 1, "n_errors: 0 and 1"),
        (("predictions", "rows"), 2, "predictions.rows: 1 and 2"),
        (("more",), 1, "more: only in one of them"),
    ],
)
def test_any_other_key_of_a_run_is_compared(
    project: Project, other: Path, key: tuple[str, ...], value: object, where: str
) -> None:
    """The difference names the key and both values."""
    path = other / "data" / RUN / "metrics.json"
    whole = json.loads(path.read_text())
    at = whole
    for part in key[:-1]:
        at = at[part]
    at[key[-1]] = value
    path.write_text(json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    (found,) = compare(project, other).differences
    assert (found.file, found.kind) == (f"{RUN}/metrics.json", "differs")
    assert found.where.startswith(where)


def test_a_manifest_in_another_form_differs(project: Project, other: Path) -> None:
    """Equal values in other bytes are a difference: the form of a manifest is a promise."""
    path = other / "data" / RUN / "metrics.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert compare(project, other).differences == (
        Difference(f"{RUN}/metrics.json", "differs", "its form: true and false"),
    )


def test_a_prediction_is_compared_but_for_its_latency(project: Project, other: Path) -> None:
    """A changed score or output names the row and the key."""
    path = other / "data" / RUN / "predictions.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"correct":1.0', b'"correct":0.0'))
    (found,) = compare(project, other).differences
    assert found == Difference(f"{RUN}/predictions.jsonl", "differs", "row 1.correct: 1.0 and 0.0")


def test_predictions_in_parquet_are_compared_by_row(project: Project, other: Path) -> None:
    """Latency may differ there too; a decision may not."""
    columns = {"item_id": "text", "latency_ms": "number", "decision": "text"}
    for root, latency in ((project.root, 1.0), (other, 2.0)):
        rows = [{"item_id": "one", "latency_ms": latency, "decision": "x"}]
        (root / "data" / RUN / "predictions.parquet").write_bytes(parquet.dump_rows(rows, columns))
    assert compare(project, other).differences == ()
    rows = [{"item_id": "one", "latency_ms": 2.0, "decision": "y"}]
    (other / "data" / RUN / "predictions.parquet").write_bytes(parquet.dump_rows(rows, columns))
    (found,) = compare(project, other).differences
    assert found.where == 'row 1.decision: "x" and "y"'


def test_files_of_one_side_and_changed_bytes_are_named(project: Project, other: Path) -> None:
    """A file only here, one only there, and the line where two texts part."""
    (project.data / "sources" / "d" / "mine.txt").write_text("x")
    (other / "data" / "sources" / "d" / "theirs.txt").write_text("x")
    (other / "data" / "sources" / "d" / "one.txt").write_text("2")
    assert compare(project, other).differences == (
        Difference("sources/d/mine.txt", "only-here"),
        Difference("sources/d/one.txt", "differs", "line 1 (byte 0; 1 and 1 bytes)"),
        Difference("sources/d/theirs.txt", "only-there"),
    )


def test_a_dataset_may_say_nothing_else(project: Project, other: Path) -> None:
    """Masks are for runs alone: a key of that name in a dataset is compared."""
    path = other / "data" / "datasets" / "d.json"
    path.write_bytes(path.read_bytes().replace(b'"created_at"', b'"build": 1, "created_at"'))
    assert [one.file for one in compare(project, other).differences] == ["datasets/d.json"]


def test_a_run_that_cannot_be_read_is_compared_as_bytes(project: Project, other: Path) -> None:
    """A broken manifest is a difference, never a crash."""
    (other / "data" / RUN / "metrics.json").write_text("{")
    (found,) = compare(project, other).differences
    assert found.kind == "differs"


def test_links_are_compared_by_where_they_point(project: Project, other: Path) -> None:
    """No link is followed."""
    (project.data / "l").symlink_to("a")
    (other / "data" / "l").symlink_to("a")
    assert compare(project, other).differences == ()
    (other / "data" / "l").unlink()
    (other / "data" / "l").symlink_to("b")
    assert [one.file for one in compare(project, other).differences] == ["l"]


def test_the_masked_keys_are_those_of_the_contract() -> None:
    """Nothing else may be left out of a comparison."""
    assert {".".join(path) for path in PATHS} == {
        "latency_ms",
        "warmup_ms",
        "build",
        "fingerprint.hash",
        "fingerprint.host",
        "fingerprint.instrument.harness",
        "fingerprint.instrument.libraries",
        "fingerprint.system_under_test.libraries",
        "predictions.sha256",
    }


def test_a_folder_that_is_no_project_is_refused(project: Project, tmp_path: Path, evh: CommandLine) -> None:
    """A missing folder and one without data/."""
    (tmp_path / "empty").mkdir()
    for name in ("missing", "empty"):
        with pytest.raises(Refusal) as refused:
            compare(project, tmp_path / name)
        assert refused.value.code == "no-project"
    evh.refused("no-project", "validate", "--same-as", str(tmp_path / "missing"))


def test_same_as_at_the_door(project: Project, other: Path, evh: CommandLine) -> None:
    """Exit 0 when the trees say the same, 1 and the file when not; nothing is written."""
    before = tree_bytes(project.data)
    assert "5 files: 5 the same, 0 not" in evh.ok("validate", "--same-as", str(other)).out
    (other / "data" / "sources" / "d" / "one.txt").write_text("2")
    shown = evh("validate", "--same-as", str(other))
    assert shown.code == 1
    assert "sources/d/one.txt: differs: line 1" in shown.out
    document = evh("validate", "--same-as", str(other), "--json")
    assert check(document.json, "validate")["differences"][0]["file"] == "sources/d/one.txt"
    assert tree_bytes(project.data) == before
    assert evh("validate", "--same-as", str(other), "--clean").code == 2
