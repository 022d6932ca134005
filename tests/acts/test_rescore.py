"""`evh rescore`: stored outputs scored again by the code that `run` uses, and every refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate

import evh as package
from evh.project import arms, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from evh.store import strict
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

SCHEMA = json.loads((Path(package.__file__).parent / "schemas" / "rescore.json").read_text("utf-8"))


@pytest.fixture
def build(project: Project) -> Builder:
    """Three items, labels of two of them, a reference of one, and an echo arm that has run unscored."""
    made = Builder(project)
    made.dataset("d", {"one": "alpha", "two": "beta", "three": "gamma"})
    made.labels("d", "s", {"one": "alpha", "two": "no"})
    made.reference("gold/g", made.labels("d", "t", {"three": "gamma"}))
    made.config("c", dataset_id="d")
    return made


@pytest.fixture
def run_id(build: Builder, evh: CommandLine) -> str:
    """The id of the echo arm's run."""
    return str(evh.ok("run", "--config", "c", "--json").json["runs"][0]["run_id"])


def scored(project: Project, row: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return each item's scores in a run."""
    run = runs.read(project, row["run_id"], folder=row["folder"])
    return {one.item_id: dict(one.scores) for one in runs.predictions(project, run)}


def test_scoring_again_is_scoring(build: Builder, evh: CommandLine, run_id: str) -> None:
    """A rescored run and a run measured against the same labels have the same rows and the same figures."""
    again = evh.ok("rescore", "--run", run_id, "--labels", "d/s", "--json").json["runs"][0]
    measured = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    assert again["scores"] == measured["scores"] == {"correct": 0.5, "text_f1": 0.5}
    assert scored(build.project, again) == scored(build.project, measured)
    assert (again["n_scored"], again["n_items"], again["n_errors"]) == (2, 3, 0)


def test_it_says_what_it_was_made_of(build: Builder, evh: CommandLine, run_id: str) -> None:
    """The same run id in a folder of the set, derived from the run, which is not touched."""
    before = tree_bytes(build.project.data / "runs")
    document = evh.ok("rescore", "--run", run_id, "--labels", "d/s", "--json").json
    validate(document, SCHEMA)
    row = document["runs"][0]
    assert (row["run_id"], row["folder"], row["against"]) == (run_id, "runs-labels-d-s", "labels/d/s")
    assert row["derived"] == {"kind": "rescored", "from": f"runs/{run_id}"}
    assert tree_bytes(build.project.data / "runs") == before
    run = runs.read(build.project, run_id, folder="runs-labels-d-s")
    assert runs.outputs(build.project, run, runs.predictions(build.project, run))["two"] == "beta"


def test_against_a_reference(build: Builder, evh: CommandLine, run_id: str) -> None:
    """It goes to runs-rescored, which stands in for the run."""
    row = evh.ok("rescore", "--run", run_id, "--reference", "gold/g", "--json").json["runs"][0]
    assert (row["folder"], row["against"], row["tier"]) == ("runs-rescored", "gold/g", "gold")
    assert scored(build.project, row) == {"one": {}, "two": {}, "three": {"correct": 1.0, "text_f1": 1.0}}


def test_every_arm_of_a_dataset(build: Builder, evh: CommandLine, run_id: str) -> None:
    """--dataset-id takes the latest run of each arm, and one scoring of an arm does not hide another."""
    latest = evh.ok("run", "--config", "c", "--json").json["runs"][0]["run_id"]
    build.config("other")
    other = evh.ok("run", "--config", "other", "--dataset-id", "d", "--json").json["runs"][0]["run_id"]
    for words in (["--labels", "d/s"], ["--labels", "d/t"], ["--reference", "gold/g"]):
        document = evh.ok("rescore", "--dataset-id", "d", *words, "--json").json
        assert [row["run_id"] for row in document["runs"]] == [latest, other]
    arm = arms.of_dataset(build.project, "d", ["c"])[0]
    assert {arms.scored_against(run) for run in arm.scored} == {"gold/g", "labels/d/s", "labels/d/t"}


def test_again_by_a_changed_scorer(build: Builder, evh: CommandLine) -> None:
    """Without a target it is what the config names; a new scorer is another fingerprint."""
    adapter = build.project.data / "adapters" / "a.py"
    adapter.parent.mkdir()
    adapter.write_text("def score(output, reference):\n    return {'correct': 0.0}\n", "utf-8")
    build.config("k", dataset_id="d", adapter="../adapters/a.py", reference="gold/g", labels="s")
    first = evh.ok("run", "--config", "k", "--json").json["runs"][0]
    assert (first["against"], first["value"]) == ("gold/g", 0.0)
    adapter.write_text("def score(output, reference):\n    return {'correct': 1.0}\n", "utf-8")
    rows = evh.ok("rescore", "--run", first["run_id"], "--json").json["runs"]
    assert [(row["against"], row["value"]) for row in rows] == [("gold/g", 1.0), ("labels/d/s", 1.0)]
    assert rows[0]["fingerprint"] != first["fingerprint"]


def test_without_a_config_it_is_what_it_was_scored_against(
    build: Builder, evh: CommandLine, run_id: str
) -> None:
    """A rescored run scored again takes the outputs of the run it came from, against the same labels."""
    evh.ok("rescore", "--run", run_id, "--labels", "d/s")
    measured = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    row = evh.ok("rescore", "--run", measured["run_id"], "--json").json["runs"][0]
    assert row["against"] == "labels/d/s"


def test_a_measured_run_against_labels_is_never_written_over(build: Builder, evh: CommandLine) -> None:
    """Its outputs lie in runs-labels-…: scored again against the same set, the result goes beside."""
    measured = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    before = tree_bytes(build.project.data / "runs-labels-d-s")
    row = evh.ok("rescore", "--run", measured["run_id"], "--labels", "d/s", "--json").json["runs"][0]
    assert row["folder"] == "runs-rescored-labels-d-s"
    assert row["scores"] == measured["scores"]
    assert tree_bytes(build.project.data / "runs-labels-d-s") == before
    arm = arms.of_dataset(build.project, "d", ["c"])[0]
    assert [run.folder for run in arm.scored] == ["runs-rescored-labels-d-s"]


def test_what_was_measured_stays(build: Builder, evh: CommandLine) -> None:
    """Latency, tokens, cost, extra metrics and fitted_on are the run's; they are carried over."""
    code = (
        "from evh.adapters import Result\n"
        "def call_system(text, params):\n"
        "    return Result(text, tokens_in=3, cost_usd=0.5, latency_ms=7, extra={'steps': 2})\n"
    )
    (build.project.data / "adapters").mkdir()
    (build.project.data / "adapters" / "a.py").write_text(code, "utf-8")
    params = {"provider": "python"}
    build.config("p", dataset_id="d", adapter="../adapters/a.py", params=params, fitted_on=("d",))
    name = evh.ok("run", "--config", "p", "--json").json["runs"][0]["run_id"]
    row = evh.ok("rescore", "--run", name, "--labels", "d/s", "--json").json["runs"][0]
    assert row["fitted_here"] is True
    assert row["scores"]["steps"] == 2
    run = runs.read(build.project, name, folder=row["folder"])
    one = runs.predictions(build.project, run)[0]
    assert (one.latency_ms, one.tokens_in, one.cost_usd) == (7, 3, 0.5)
    assert one.scores == {"correct": 1.0, "steps": 2, "text_f1": 1.0}


def test_a_scorer_may_read_the_item(build: Builder, evh: CommandLine, run_id: str) -> None:
    """score(output, reference, source) gets the item's text; run and rescore agree."""
    code = (
        "def score(output, reference, source):\n"
        "    return {'correct': float(source == output), 'n': len(source)}\n"
    )
    (build.project.data / "adapters").mkdir()
    (build.project.data / "adapters" / "a.py").write_text(code, "utf-8")
    build.config("k", dataset_id="d", adapter="../adapters/a.py", labels="s")
    row = evh.ok("run", "--config", "k", "--json").json["runs"][0]
    again = evh.ok("rescore", "--run", row["run_id"], "--json").json["runs"][0]
    assert row["scores"] == again["scores"] == {"correct": 1.0, "n": 4.5}  # alpha and beta: 5 and 4 letters


def test_own_labels_are_flagged(build: Builder, evh: CommandLine, run_id: str) -> None:
    """An arm scored against labels made from its own run is flagged; through a reference made of them too."""
    made = build.labels(
        "d", "m", {"one": "alpha"}, source={"kind": "model", "run_id": run_id, "config_id": "c"}
    )
    build.reference("silver/own", made)
    row = evh.ok("rescore", "--run", run_id, "--labels", "d/m", "--json").json["runs"][0]
    assert (row["own_labels"], row["source"]) == (True, "model")
    row = evh.ok("rescore", "--run", run_id, "--reference", "silver/own", "--json").json["runs"][0]
    assert row["own_labels"] is True
    assert "own labels" in evh.ok("rescore", "--run", run_id, "--labels", "d/m").out
    row = evh.ok("rescore", "--run", run_id, "--labels", "d/s", "--json").json["runs"][0]
    assert row["own_labels"] is False


def test_a_failed_item_stays_failed(build: Builder, evh: CommandLine) -> None:
    """An item that got no answer has none now; the rest is scored, and nothing failed just now."""
    build.run("x", "d", {"one": "alpha", "two": None, "three": "gamma"})
    outcome = evh.ok("rescore", "--run", "x_20261001T000000Z", "--labels", "d/s", "--json")
    row = outcome.json["runs"][0]
    assert (row["n_errors"], row["n_scored"], row["scores"]["correct"]) == (1, 1, 1.0)
    assert outcome.json["failed"] == []


def test_a_second_reference_keeps_the_scores_against_the_first(
    project: Project, build: Builder, evh: CommandLine
) -> None:
    """Each reference has its scores; scoring against one again replaces those alone."""
    build.run("x", "d", {"one": "alpha", "two": "beta", "three": "gamma"})
    for tier in ("silver", "gold"):
        evh.ok(
            "reference-promote", "--dataset-id", "d", "--labels", "s", "--tier", tier, "--reason", "checked"
        )
        evh.ok("rescore", "--run", "x_20261001T000000Z", "--reference", f"{tier}/d")
        evh.ok("rescore", "--run", "x_20261001T000000Z", "--reference", f"{tier}/d")
    (arm,) = arms.of_dataset(project, "d")
    assert [arms.scored_against(run) for run in arm.scored] == ["gold/d", "silver/d"]
    assert {run.folder for run in arm.scored} == {"runs-rescored", "runs-rescored-gold-d"}


def test_a_run_made_elsewhere(project: Project, evh: CommandLine) -> None:
    """A run of an unknown provider, without a config here, can be scored from its outputs."""
    build = Builder(project)
    build.dataset("d", {"a/b c": "x"})
    build.labels("d", "s", {"a/b c": "yes"})
    folder = project.data / "runs" / "theirs"
    folder.mkdir(parents=True)
    metrics = {
        "run_id": "theirs",
        "config_id": "gone",
        "dataset_id": "d",
        "scores": {"f1": 0.1},
        "params": {"provider": "martian"},
        "fingerprint": {"hash": None},
    }
    (folder / "metrics.json").write_bytes(strict.dump_manifest(metrics))
    (folder / "predictions.jsonl").write_bytes(b'{"item_id":"a/b c","f1":0.1}\n')
    (folder / "outputs").mkdir()
    (folder / "outputs" / "a%2Fb%20c.txt").write_bytes(b"yes\n")
    row = evh.ok("rescore", "--run", "theirs", "--labels", "d/s", "--json").json["runs"][0]
    assert (row["scores"], row["n_scored"]) == ({"correct": 1.0, "text_f1": 1.0}, 1)


def test_a_foreign_reference_is_joined_by_its_files(build: Builder, evh: CommandLine, run_id: str) -> None:
    """A reference that lists no items is read by its files' names."""
    folder = build.project.data / "references" / "gold" / "old"
    folder.mkdir()
    (folder / "manifest.json").write_bytes(b'{"dataset_id": "d", "tier": "gold"}\n')
    (folder / "two.txt").write_bytes(b"beta\n")
    row = evh.ok("rescore", "--run", run_id, "--reference", "gold/old", "--json").json["runs"][0]
    assert (row["n_scored"], row["scores"]["correct"]) == (1, 1.0)


def test_a_dry_run_writes_nothing(build: Builder, evh: CommandLine, run_id: str) -> None:
    """--dry-run names every folder it would write."""
    before = tree_bytes(build.project.root)
    said = evh.ok("rescore", "--run", run_id, "--labels", "d/s", "--dry-run").out
    assert f"data/runs-labels-d-s/{run_id}" in said
    assert tree_bytes(build.project.root) == before
    validate(evh.ok("rescore", "--run", run_id, "--labels", "d/s", "--dry-run", "--json").json, SCHEMA)


# --- refusals ---


def unchanged(build: Builder, evh: CommandLine, code: str, *words: str) -> str:
    """Run a command line that must be refused, see that nothing was written, and return what it told."""
    before = tree_bytes(build.project.root)
    out = evh.refused(code, *words).out
    assert tree_bytes(build.project.root) == before
    return out


def test_labels_of_another_dataset_are_refused(build: Builder, evh: CommandLine, run_id: str) -> None:
    """Promote them first: the command is given."""
    build.dataset("e", {"one": "alpha"})
    build.labels("e", "t", {"one": "alpha"})
    out = unchanged(build, evh, "other-dataset", "rescore", "--run", run_id, "--labels", "e/t")
    assert "evh reference-promote --dataset-id d --labels e/t" in out
    build.reference("gold/e", build.labels("e", "u", {"one": "alpha"}))
    unchanged(build, evh, "other-dataset", "rescore", "--run", run_id, "--reference", "gold/e")


def test_an_edited_set_is_refused(build: Builder, evh: CommandLine, run_id: str) -> None:
    """The digest is recomputed before anything is scored."""
    (build.project.data / "labels" / "d" / "s" / "two.txt").write_bytes(b"edited")
    unchanged(build, evh, "edited-set", "rescore", "--run", run_id, "--labels", "d/s")


def test_what_to_score_and_against_what_must_be_said(build: Builder, evh: CommandLine, run_id: str) -> None:
    """Neither runs nor a dataset, both, both targets, or no target anywhere: each is refused."""
    unchanged(build, evh, "which-runs", "rescore")
    unchanged(build, evh, "which-runs", "rescore", "--run", run_id, "--dataset-id", "d")
    two = ["--labels", "d/s", "--reference", "gold/g"]
    unchanged(build, evh, "two-targets", "rescore", "--run", run_id, *two)
    unchanged(build, evh, "no-target", "rescore", "--run", run_id)


def test_unknown_names_are_refused_at_once(build: Builder, evh: CommandLine, run_id: str) -> None:
    """Two runs that are not there are both told, and the one that is there is not scored."""
    words = ["--run", "gone_1", "--run", run_id, "--run", "gone_2"]
    out = unchanged(build, evh, "cannot-rescore", "rescore", *words, "--labels", "d/s")
    assert "gone_1" in out
    assert "gone_2" in out
    unchanged(build, evh, "no-such-dataset", "rescore", "--dataset-id", "x", "--labels", "d/s")
    unchanged(build, evh, "no-such-label-set", "rescore", "--run", run_id, "--labels", "d/x")
    unchanged(build, evh, "no-such-reference-set", "rescore", "--run", run_id, "--reference", "gold/x")


def test_a_dataset_without_runs_is_refused(build: Builder, evh: CommandLine) -> None:
    """There is nothing to score yet: the command that runs an arm is given."""
    assert "evh run" in unchanged(build, evh, "no-runs", "rescore", "--dataset-id", "d", "--labels", "d/s")


def test_changed_predictions_are_refused(build: Builder, evh: CommandLine, run_id: str) -> None:
    """Rows that are not those metrics.json names are not scored."""
    path = build.project.data / "runs" / run_id / "predictions.jsonl"
    path.write_bytes(path.read_bytes() + b'{"item_id":"four"}\n')
    evh.refused("changed-bytes", "rescore", "--run", run_id, "--labels", "d/s")


def test_judgements_are_not_scored_again(build: Builder, evh: CommandLine) -> None:
    """A judged run holds what somebody thought of outputs, not outputs."""
    run = Run("j_20261001T000000Z", "c", "d", folder="runs-judged/me", judged={"scorer": "me"})
    runs.write_scored(build.project, run, [Prediction("one", scores={"judge_score": 1})])
    unchanged(build, evh, "judged-run", "rescore", "--run", f"runs-judged/me/{run.run_id}", "--labels", "d/s")


def test_an_unfinished_run_is_refused(build: Builder, evh: CommandLine, run_id: str) -> None:
    """Without metrics.json it is not finished: resume it."""
    (build.project.data / "runs" / run_id / "metrics.json").unlink()
    unchanged(build, evh, "unfinished-run", "rescore", "--run", run_id, "--labels", "d/s")


def test_an_edited_reference_is_not_scored_against(
    project: Project, build: Builder, evh: CommandLine
) -> None:
    """A text that somebody changed after the promotion is found when it is read to score."""
    build.run("x", "d", {"one": "alpha", "two": "beta", "three": "gamma"})
    evh.ok("reference-promote", "--dataset-id", "d", "--labels", "s", "--tier", "gold", "--reason", "checked")
    evh.ok("rescore", "--run", "x_20261001T000000Z", "--reference", "gold/d")
    (project.data / "references" / "gold" / "d" / "one.txt").write_bytes(b"other")
    evh.refused("edited-reference", "rescore", "--run", "x_20261001T000000Z", "--reference", "gold/d")


def test_an_edited_output_is_not_scored(project: Project, build: Builder, evh: CommandLine) -> None:
    """An output that is not what the run recorded is found when it is read to score, by its file."""
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    (project.data / "runs" / row["run_id"] / "outputs" / "two.txt").write_bytes(b"other")
    told = evh.refused("changed-bytes", "rescore", "--run", row["run_id"], "--labels", "d/s").json["refused"]
    assert told["why"] == [f"data/runs/{row['run_id']}/outputs/two.txt: not the bytes that the run recorded"]


def test_a_run_that_is_not_here_is_told_with_each_run_once(
    build: Builder, evh: CommandLine, run_id: str
) -> None:
    """A run that was scored twice more is one run."""
    evh.ok("rescore", "--run", run_id, "--labels", "d/s")
    evh.ok("rescore", "--run", run_id, "--reference", "gold/g")
    told = evh.refused("no-such-run", "rescore", "--run", "nope", "--labels", "d/s").json["refused"]["why"]
    assert told == [f"there is {run_id}"]


def test_a_reference_is_named_with_its_tier(build: Builder, evh: CommandLine, run_id: str) -> None:
    """A tier alone is no reference: what there is, is told."""
    for name in ("gold", "gold/", "/g"):
        refused = evh.refused("bad-ref", "rescore", "--run", run_id, "--reference", name).json["refused"]
        assert refused["why"] == ["write it as TIER/NAME; there is gold/g"]


def test_a_run_measured_against_one_set_is_scored_against_others(build: Builder, evh: CommandLine) -> None:
    """``run --labels d/s``, then d/t and gold/g, each in its folder, again and again: every view reads all.

    The echo arm says alpha, beta, gamma: right on one of the two labels of s, on the one of t and of g.
    """
    measured = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    name = measured["run_id"]
    before = tree_bytes(build.project.data / "runs-labels-d-s")
    for chosen in (["--run", name], ["--run", f"runs-labels-d-s/{name}"], ["--dataset-id", "d"]):
        for words, folder in (
            (["--labels", "d/t"], "runs-labels-d-t"),
            (["--reference", "gold/g"], "runs-rescored"),
        ):
            (row,) = evh.ok("rescore", *chosen, *words, "--json").json["runs"]
            assert (row["folder"], row["derived"]["from"]) == (folder, f"runs-labels-d-s/{name}")
    assert tree_bytes(build.project.data / "runs-labels-d-s") == before
    wanted = {"labels/d/s": 0.5, "labels/d/t": 1.0, "gold/g": 1.0}
    for against, value in wanted.items():
        words = ["leaderboard", "--dataset-id", "d", "--against", against.removeprefix("labels/"), "--json"]
        assert [arm["value"] for arm in evh.ok(*words).json["arms"]] == [value]
    sheet = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    figures = {one["against"]: one["scores"]["correct"] for one in sheet["footer"][0]["figures"]}
    assert figures == wanted
    goals = build.project.data / "goals"
    goals.mkdir()
    (goals / "g.yaml").write_text("datasets: [d]\nmetric: correct\n")
    (goal,) = evh.ok("goals", "--json").json["goals"]
    assert {one["against"]: one["arms"][0]["value"] for one in goal["groups"]} == wanted
    evh.ok("validate")


def test_a_measured_run_that_keeps_its_outputs_in_its_rows_is_never_written_over(
    build: Builder, evh: CommandLine
) -> None:
    """A foreign or a large run has no folder of outputs: what says so is that it was not scored again."""
    run = build.run("c", "d", {"one": "alpha", "two": "beta", "three": "gamma"})
    place = build.project.data / "runs-labels-d-s" / run.run_id
    place.mkdir(parents=True)
    (place / "metrics.json").write_text(
        json.dumps({"run_id": run.run_id, "config_id": "c", "dataset_id": "d", "scores": {"correct": 0.25}})
    )
    (place / "predictions.jsonl").write_text('{"item_id": "one", "correct": 0.25, "output": "x"}\n')
    before = tree_bytes(place)
    (row,) = evh.ok("rescore", "--run", f"runs/{run.run_id}", "--labels", "d/s", "--json").json["runs"]
    assert row["folder"] == "runs-rescored-labels-d-s"
    assert tree_bytes(place) == before


def test_a_run_that_cannot_be_read_is_told_where_a_dataset_is_scored(
    build: Builder, evh: CommandLine, run_id: str
) -> None:
    """Every arm of a dataset is scored but the one whose record is damaged, and that one is named."""
    build.run("other", "d", {"one": "alpha", "two": "beta", "three": "gamma"})
    damaged = build.project.data / "runs" / run_id / "metrics.json"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    told = evh.ok("rescore", "--dataset-id", "d", "--labels", "d/s", "--json").json
    assert [one["config_id"] for one in told["runs"]] == ["other"]
    assert any(one.startswith("left out:") and run_id in one for one in told["warnings"]), told["warnings"]
