"""`evh arm-from-capture`: production's own decisions as an arm, and every refusal."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from jsonschema import validate

import evh as package
from evh.acts import arm_from_capture as act
from evh.errors import Refusal
from evh.project import configs, runs
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

SCHEMAS = Path(package.__file__).parent / "schemas"
ADAPTER = """
def recorded_output(record):
    return record["decision"]

def fingerprint(params):
    return {"model": params["model"]}
"""


@pytest.fixture
def build(project: Project) -> Builder:
    """A capture of three decisions, one of them missing, and two datasets of it."""
    (project.data / "adapters").mkdir()
    (project.data / "adapters" / "a.py").write_text(ADAPTER, "utf-8")
    (project.root / "evh.toml").write_text('[project]\nname = "t"\nadapter = "data/adapters/a.py"\n', "utf-8")
    made = Builder(Project.find(home=project.root))
    made.capture(
        "k",
        [
            {"record_id": "1", "item": "aa", "decision": "yes"},
            {"record_id": "2", "item": "bb", "decision": None},
            {"record_id": "3", "item": "cc", "decision": "no"},
        ],
    )
    made.dataset("d", {"a": "aa", "b": "bb"})
    made.dataset("e", {"c": "cc"})
    return made


def make(evh: CommandLine, *words: str) -> dict[str, object]:
    """Make the arm ``p`` and return its run's row."""
    words = ("arm-from-capture", "--dataset-id", "d", "--capture", "k", "--as", "p", *words)
    row: dict[str, object] = evh.ok(*words, "--json").json["runs"][0]
    return row


def test_it_writes_a_config_and_runs_it(build: Builder, evh: CommandLine) -> None:
    """The config is an ordinary one, with the project's adapter, and its run is derived from the capture."""
    words = ["arm-from-capture", "--dataset-id", "d", "--capture", "k", "--as", "p", "--json"]
    document = evh.ok(*words).json
    validate(document, json.loads((SCHEMAS / "arm-from-capture.json").read_text("utf-8")))
    config = configs.read(build.project, "p")
    assert (config.dataset_id, config.adapter) == ("d", "../adapters/a.py")
    assert config.params == {"provider": "recorded", "capture": "k"}
    row = document["runs"][0]
    assert row["derived"] == {"kind": "recorded", "from": "k"}
    run = runs.read(build.project, row["run_id"])
    assert run.params["capture_sha256"] == run.fingerprint["system_under_test"]["capture_sha256"]
    assert run.warmup_ms is None
    assert [(one.decision, one.error, one.latency_ms) for one in runs.predictions(build.project, run)] == [
        ("yes", None, None),
        (None, "not recorded", None),
    ]
    assert document["failed"] == [{"run_id": row["run_id"], "item_id": "b", "error": "not recorded"}]


def test_a_record_that_cannot_be_read_is_a_failure(build: Builder, evh: CommandLine) -> None:
    """The adapter breaks on one record: exit 3, as of `run`; what was never recorded is none."""
    broken = ADAPTER.replace(
        'return record["decision"]', 'return record["decision"] if record["item"] != "aa" else 1 / 0'
    )
    (build.project.data / "adapters" / "a.py").write_text(broken, "utf-8")
    words = ["--dataset-id", "d", "--json"]
    first = evh("arm-from-capture", "--capture", "k", "--as", "p", *words)
    again = evh("run", "--config", "p", *words)
    for outcome in (first, again):
        assert outcome.code == 3
        failed = {one["item_id"]: one["error"] for one in outcome.json["failed"]}
        assert failed["b"] == "not recorded"
        assert "division by zero" in failed["a"]


def test_one_config_serves_another_dataset(build: Builder, evh: CommandLine) -> None:
    """`run --config p` reads the same capture for the other half's items."""
    make(evh)
    row = evh.ok("run", "--config", "p", "--dataset-id", "e", "--json").json["runs"][0]
    assert [
        one.decision for one in runs.predictions(build.project, runs.read(build.project, row["run_id"]))
    ] == ["no"]


def test_like_gives_the_adapter_and_the_goal(build: Builder, evh: CommandLine) -> None:
    """--like CONFIG takes these two and nothing else."""
    build.config(
        "base", adapter="classification", goal="g", labels="s", params={"provider": "echo", "model": "m"}
    )
    make(evh, "--like", "base", "--field", "decision")
    config = configs.read(build.project, "p")
    assert (config.adapter, config.goal, config.labels) == ("classification", "g", None)
    assert config.params == {"provider": "recorded", "capture": "k", "field": "decision"}


def test_a_set_made_by_rule_from_the_decision_is_its_own(build: Builder, evh: CommandLine) -> None:
    """Labels that a rule took from the recorded decision flag the arm that replays it; other rules do not."""
    run_id = str(make(evh)["run_id"])
    source = {"kind": "rule", "capture": "k", "rules_file": "r.yaml", "rules_sha256": "0"}
    build.labels("d", "own", {"a": "yes"}, source=source, rules=({"name": "r", "reads_output": True},))
    build.labels("d", "time", {"a": "yes"}, source=source, rules=({"name": "r", "reads_output": False},))
    flags = [
        evh.ok("rescore", "--run", run_id, "--labels", f"d/{name}", "--json").json["runs"][0]["own_labels"]
        for name in ("own", "time")
    ]
    assert flags == [True, False]


def test_a_second_try_after_a_kill_succeeds(build: Builder, evh: CommandLine) -> None:
    """A kill between the config and its run leaves the same config without a run: the command finishes it."""
    make(evh)
    for path in sorted((build.project.data / "runs").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert make(evh)["config_id"] == "p"


def test_a_dry_run_writes_nothing(build: Builder, evh: CommandLine) -> None:
    """--dry-run names the config and the run."""
    before = tree_bytes(build.project.root)
    words = ["arm-from-capture", "--dataset-id", "d", "--capture", "k", "--as", "p", "--dry-run"]
    assert "data/configs/p.yaml" in evh.ok(*words).out
    assert tree_bytes(build.project.root) == before


def unchanged(build: Builder, evh: CommandLine, code: str, **words: str) -> str:
    """Make an arm that must be refused, see that nothing was written, and return what was told."""
    options = {"dataset_id": "d", "capture": "k", "as": "p", **words}
    line = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", value)]
    before = tree_bytes(build.project.root)
    out = evh.refused(code, "arm-from-capture", *line).out
    assert tree_bytes(build.project.root) == before
    return out


def test_an_existing_name_is_refused(build: Builder, evh: CommandLine) -> None:
    """A config is never overwritten, whether it is another one or this one with a run."""
    build.config("p")
    unchanged(build, evh, "existing-config")
    make_it = ["arm-from-capture", "--dataset-id", "d", "--capture", "k", "--as", "q"]
    evh.ok(*make_it)
    unchanged(build, evh, "existing-config", **{"as": "q"})


def test_unknown_names_are_told_at_once(build: Builder, evh: CommandLine) -> None:
    """Dataset, capture and --like: all three reasons in one refusal."""
    out = unchanged(build, evh, "cannot-make-arm", dataset_id="x", capture="y", like="z")
    assert all(f"'{name}'" in out for name in "xyz")
    unchanged(build, evh, "bad-id", **{"as": "../p"})
    unchanged(build, evh, "no-such-capture", capture="y")


def test_a_capture_of_other_items_is_refused(build: Builder, evh: CommandLine) -> None:
    """Nothing of the dataset was recorded there: no config is left behind."""
    build.capture("other", [{"record_id": "9", "item": "zz", "decision": "x"}])
    unchanged(build, evh, "nothing-recorded", capture="other")


def test_no_config_is_left_when_the_run_is_refused(
    build: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk during the run: the config that was written for it is taken back."""
    from evh.errors import Refusal
    from evh.project import runs as shelf

    def full(*_: object) -> None:
        raise Refusal("cannot-write", "no space")

    monkeypatch.setattr(shelf, "begin", full)
    evh.refused("cannot-write", "arm-from-capture", "--dataset-id", "d", "--capture", "k", "--as", "p")
    assert not configs.exists(build.project, "p")


def test_a_capture_that_recorded_no_output_makes_no_arm(build: Builder, evh: CommandLine) -> None:
    """The keys that the records have and the ways out are told; no config and no run is left behind."""
    build.capture("q", [{"record_id": "1", "item": "aa", "verdict": "yes", "decision": None}])
    before = tree_bytes(build.project.root)
    words = ("arm-from-capture", "--dataset-id", "d", "--capture", "q", "--as", "p")
    for more in ((), ("--field", "answer")):
        refused = evh.refused("not-recorded", *words, *more).json["refused"]
        assert "the records have the keys decision, item, record_id, verdict" in refused["why"][1]
        assert "--field KEY" in refused["next"]
        assert "recorded_output" in refused["next"]
    assert tree_bytes(build.project.root) == before
    assert evh.ok(*words, "--field", "verdict", "--json").json["runs"][0]["n_errors"] == 1


def test_the_next_steps_name_what_is_here(build: Builder, evh: CommandLine) -> None:
    """The one label set of the dataset; no other dataset was made of these records, so none is proposed."""
    build.labels("d", "s", {"a": "yes"})
    out = evh.ok("arm-from-capture", "--dataset-id", "d", "--capture", "k", "--as", "p").out
    assert "--labels d/s" in out
    assert "OTHER" not in out


def test_of_five_at_once_one_makes_the_arm(build: Builder) -> None:
    """All planned before any began: one config, one run, and four are refused."""
    project = build.project
    plans = [act.plan(project, "d", "k", "p") for _ in range(5)]
    refused: list[str] = []

    def commit(plan: act.Plan) -> None:
        try:
            act.commit(project, plan)
        except Refusal as refusal:
            refused.append(refusal.code)

    threads = [threading.Thread(target=commit, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 4
    assert set(refused) <= {"locked", "existing-config"}
    assert [run.config_id for run in runs.read_all(project)] == ["p"]
    assert configs.read(project, "p").recorded
