"""`evh run`: what is kept of a run, where, and against what it is scored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evh.acts import run as act
from evh.project import configs, runs
from evh.project.find import Project
from tests.acts.running import (
    TEXTS,
    adapter,
    rows_of,
    three_items,
)
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check


@pytest.fixture
def build(project: Project) -> Builder:
    """The project of `three_items`."""
    return three_items(project)


def test_echo_answers_with_the_items_own_text(build: Builder, evh: CommandLine) -> None:
    """The output of each item is its bytes, kept under outputs/, and its decision stands in the row."""
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    folder = build.project.data / "runs" / row["run_id"]
    assert row["run_id"] == "c_20261101T080232Z"
    assert {path.name: path.read_bytes() for path in (folder / "outputs").iterdir()} == {
        "one.txt": b"alpha",
        "two.txt": b"beta",
        "three.txt": b"gamma",
    }
    assert [one.decision for one in rows_of(build.project, row).values()] == ["alpha", "beta", "gamma"]
    assert sorted(path.name for path in folder.iterdir()) == ["metrics.json", "outputs", "predictions.jsonl"]


def test_the_document_is_what_the_schema_says(build: Builder, evh: CommandLine) -> None:
    """`run --json` gives the documented keys and no others, dry or not."""
    build.config("c", dataset_id="d", labels="d/s")
    for words in ([], ["--dry-run"]):
        check(evh.ok("run", "--config", "c", "--json", *words).json, "run")


def test_a_dry_run_writes_nothing(build: Builder, evh: CommandLine) -> None:
    """--dry-run says what would be written and leaves every file as it was."""
    build.config("c", dataset_id="d")
    before = tree_bytes(build.project.root)
    said = evh.ok("run", "--config", "c", "--dry-run").out
    assert "3 items of d" in said
    assert tree_bytes(build.project.root) == before


def test_items_without_a_label_are_not_scored(build: Builder, evh: CommandLine) -> None:
    """Of three items two are labelled, one of them right: the mean is 1 of 2; the third is decided."""
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    assert (row["against"], row["source"], row["n_scored"], row["n_items"]) == ("labels/d/s", "person", 2, 3)
    assert row["scores"]["correct"] == 0.5
    rows = rows_of(build.project, row)
    assert {item: one.scores.get("correct") for item, one in rows.items()} == {
        "one": 1.0,
        "two": 0.0,
        "three": None,
    }
    assert rows["three"].decision == "gamma"


def test_a_run_against_labels_lives_apart(build: Builder, evh: CommandLine) -> None:
    """A run measured against a label set goes to runs-labels-…, with its outputs and an id of its own."""
    build.config("c", dataset_id="d")
    first = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    row = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    assert row["folder"] == "runs-labels-d-s"
    assert (build.project.data / row["folder"] / row["run_id"] / "outputs" / "one.txt").exists()
    assert row["run_id"] == f"{first['run_id']}-2"


def test_items_of_equal_bytes_share_a_label(project: Project, evh: CommandLine) -> None:
    """Two items of the same bytes are both scored by the one label."""
    build = Builder(project)
    build.dataset("d", {"a": "same", "b": "same", "c": "other"})
    build.labels("d", "s", {"a": "same"})
    build.config("c", dataset_id="d", labels="s")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert (row["n_scored"], row["scores"]["correct"]) == (2, 1.0)


def test_the_configs_reference_is_the_default(build: Builder, evh: CommandLine) -> None:
    """A run against the reference that its config names stays in runs/ and records the tier."""
    build.reference("gold/g", build.labels("d", "t", {"three": "gamma"}))
    build.config("c", dataset_id="d", reference="gold/g")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert (row["folder"], row["against"], row["tier"], row["scores"]["correct"]) == (
        "runs",
        "gold/g",
        "gold",
        1.0,
    )


def test_a_configs_labels_of_another_dataset_are_not_used(build: Builder, evh: CommandLine) -> None:
    """The labels that a config names score their own dataset; on another the run says they do not."""
    build.dataset("e", {"x": "y"})
    build.config("c", dataset_id="d", labels="d/s")
    document = evh.ok("run", "--config", "c", "--dataset-id", "e", "--json").json
    assert document["runs"][0]["against"] is None
    assert document["warnings"] == ["c names the labels d/s, of another dataset: not used"]


def test_what_it_was_fitted_on_is_kept_and_flagged(build: Builder, evh: CommandLine) -> None:
    """fitted_on goes into metrics.json, and the run says that its score there is no evidence."""
    build.config("c", dataset_id="d", labels="d/s", fitted_on=("d",))
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert row["fitted_here"] is True
    metrics = json.loads(
        (build.project.data / row["folder"] / row["run_id"] / "metrics.json").read_text("utf-8")
    )
    assert metrics["fitted_on"] == ["d"]


def test_the_first_items_alone(build: Builder, evh: CommandLine) -> None:
    """--limit 2 asks the first two items, and the fingerprint says so."""
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--limit", "2", "--json").json["runs"][0]
    assert list(rows_of(build.project, row)) == ["one", "two"]
    assert runs.read(build.project, row["run_id"]).fingerprint["data"]["limit"] == 2


def test_repeats_share_a_group(build: Builder, evh: CommandLine) -> None:
    """--repeat 3 writes three runs with ids of their own and one repeat_group."""
    build.config("c", dataset_id="d")
    rows = evh.ok("run", "--config", "c", "--repeat", "3", "--json").json["runs"]
    base = "c_20261101T080232Z"
    assert [row["run_id"] for row in rows] == [base, f"{base}-2", f"{base}-3"]
    assert {row["repeat_group"] for row in rows} == {base}


def test_two_runs_of_one_clock_are_equal_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the clock fixed, the same project gives the same files wherever it lies, measured times aside."""
    trees = []
    for name in ("here", "there"):
        root = tmp_path / name
        (root / "data").mkdir(parents=True)
        project = Project.find(home=root)
        build = Builder(project)
        build.dataset("d", TEXTS)
        build.labels("d", "s", {"one": "alpha"})
        code = "def call_system(text, params):\n    return text.upper()\n"
        build.config("c", dataset_id="d", adapter=adapter(project, code), params={"provider": "python"})
        act.commit(project, act.plan(project, configs.read(project, "c"), labels_ref="d/s"))
        kept = tree_bytes(root)
        trees.append({path: _unmeasured(data) for path, data in kept.items() if ".locks" not in path})
    assert trees[0] == trees[1]
    assert str(tmp_path).encode() not in b"".join(trees[0].values())


def _unmeasured(data: bytes) -> bytes:
    return re.sub(
        rb'"(?:latency_ms|p50|p95)":[^,}]*|"sha256": "[^"]*"', b"", data
    )  # the hash follows from the latencies


def test_a_prompt_is_part_of_the_fingerprint(build: Builder, evh: CommandLine) -> None:
    """The prompt file's sha256 stands in the run's settings."""
    (build.project.data / "prompts").mkdir()
    (build.project.data / "prompts" / "p.txt").write_bytes(b"")
    build.config("c", dataset_id="d", params={"provider": "echo", "prompt_file": "../prompts/p.txt"})
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    # sha256 of no bytes, as published everywhere
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert runs.read(build.project, row["run_id"]).params["prompt_sha256"] == empty


def test_many_items_are_parquet_with_their_outputs(project: Project, evh: CommandLine) -> None:
    """Over 5,000 rows the predictions are Parquet and hold the outputs; scoring again reads them."""
    build = Builder(project)
    build.dataset("d", {f"i{number}": f"t{number}" for number in range(5_001)})
    build.labels("d", "s", {"i7": "t7", "i8": "no"})
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    folder = project.data / "runs" / row["run_id"]
    assert sorted(path.name for path in folder.iterdir()) == ["metrics.json", "predictions.parquet"]
    again = evh.ok("rescore", "--run", row["run_id"], "--labels", "d/s", "--json").json["runs"][0]
    assert (again["n_scored"], again["scores"]["correct"], again["n_errors"]) == (2, 0.5, 0)
    third = evh.ok("rescore", "--run", f"runs-labels-d-s/{row['run_id']}", "--labels", "d/s", "--json").json
    assert third["runs"][0]["derived"]["from"] == f"runs/{row['run_id']}"
