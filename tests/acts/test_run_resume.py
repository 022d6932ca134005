"""`evh run --resume`: a run that was killed goes on, asks nothing twice, and stays the arm that it was."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import evh as package
from evh.acts import run as act
from evh.acts.run_budget import Budget
from evh.project import configs, runs
from evh.project.find import Project
from tests.acts.running import (
    PYTHON,
    SLOW,
    adapter,
    begun_run,
    command,
    rows_of,
    three_items,
    unchanged,
)
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes


@pytest.fixture
def build(project: Project) -> Builder:
    """The project of `three_items`."""
    return three_items(project)


def test_a_killed_run_goes_on_and_asks_nothing_twice(project: Project, evh: CommandLine) -> None:
    """SIGKILL in the middle of a run: --resume asks only what had no answer, and the end is a whole run.

    The command hangs on every tenth item, so that at the kill some items are answered, some are being asked
    and some are not begun. Only those being asked may be asked again.
    """
    build = Builder(project)
    build.dataset("d", {f"i{number:02}": f"t{number:02}" for number in range(40)})
    command(build, SLOW)
    log = project.root / "calls.log"
    words = [str(PYTHON), "-c", "from evh.cli.main import main; main()", "-C", str(project.root)]
    environ = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    process = subprocess.Popen([*words, "run", "--config", "c", "--concurrency", "2"], env=environ)
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_text("utf-8").count("9\n") < 2:  # both askers hang
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (project.root / "go").touch()
    begun = runs.unfinished(project)
    assert len(begun) == 1
    half = runs.running(project, begun[0])
    assert half is not None
    answered = {row.item_id for row in runs.running_rows(project, half)}
    assert 0 < len(answered) < 40

    listed = evh.ok("runs", "--json").json
    assert [one["n_answered"] for one in listed["unfinished"]] == [len(answered)]

    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert (row["run_id"], row["n_items"], row["n_errors"]) == (half.run_id, 40, 0)
    assert [one.decision for one in rows_of(project, row).values()] == [f"T{n:02}" for n in range(40)]
    calls = log.read_text("utf-8").split()
    twice = {text for text in calls if calls.count(text) > 1}
    assert twice <= {"t09", "t19"}  # asked when the kill came, and never answered
    assert {text.replace("t", "i") for text in twice}.isdisjoint(answered)
    assert len(set(calls)) == 40


def test_a_resumed_run_keeps_what_was_answered(build: Builder, evh: CommandLine) -> None:
    """An answer that is on the disk is taken as it is; the others are asked."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"two": "answered before"})
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert row["run_id"] == folder.name
    assert [one.decision for one in rows_of(build.project, row).values()] == [
        "alpha",
        "answered before",
        "gamma",
    ]
    assert not (folder / "running.json").exists()


def test_an_output_that_is_not_the_one_recorded_is_asked_again(build: Builder, evh: CommandLine) -> None:
    """A changed output is no answer: its row names another hash."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "kept", "two": "lost"})
    rows = (folder / "predictions.jsonl").read_bytes()
    (folder / "predictions.jsonl").write_bytes(rows.replace(b'"output":"lost"', b'"output":"changed"'))
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert [one.decision for one in rows_of(build.project, row).values()] == ["kept", "beta", "gamma"]


def test_outputs_in_files_are_taken_too(build: Builder, evh: CommandLine) -> None:
    """A run that was scored and killed before its commit point has its outputs in files, named by hash.

    The output that is no longer the one is asked again.
    """
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "kept", "two": "lost"})
    lines = (folder / "predictions.jsonl").read_bytes()
    (folder / "outputs").mkdir()
    for stem, text in (("one", b"kept"), ("two", b"")):
        (folder / "outputs" / f"{stem}.txt").write_bytes(text)
    bare = re.sub(rb'"output":"[a-z]*",?', b"", lines).replace(b",}", b"}")
    (folder / "predictions.jsonl").write_bytes(bare)
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert [one.decision for one in rows_of(build.project, row).values()] == ["kept", "beta", "gamma"]


def test_a_torn_last_row_is_passed_over(build: Builder, evh: CommandLine) -> None:
    """predictions.jsonl cut at every byte of its last line: the run goes on, and that item is asked again."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "kept", "two": "lost"})
    whole = (folder / "predictions.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    state = tree_bytes(build.project.data)
    for cut in range(first, len(whole), 7):
        (folder / "predictions.jsonl").write_bytes(whole[:cut])
        row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
        assert [one.decision for one in rows_of(build.project, row).values()] == ["kept", "beta", "gamma"]
        (folder / "metrics.json").unlink()
        for path, data in state.items():
            (build.project.data / path).write_bytes(data)


def test_a_kill_before_the_commit_point_loses_nothing(build: Builder, evh: CommandLine) -> None:
    """Final rows without metrics.json are an unfinished run: it goes on and asks nothing."""
    code = """
def call_system(text, params):
    with open(params["log"], "a") as log:
        log.write(text + ";")
    return text
"""
    log = build.project.root / "log"
    params = {"provider": "python", "log": str(log)}
    build.config("c", dataset_id="d", adapter=adapter(build.project, code), params=params)
    plan = act.plan(build.project, configs.read(build.project, "c"))
    run = act._begin(build.project, plan, 1, None)
    beginning = (runs.path_of(build.project, run) / "running.json").read_bytes()
    act._run(build.project, plan, run, Budget(None))
    (runs.path_of(build.project, run) / "metrics.json").unlink()
    (runs.path_of(build.project, run) / "running.json").write_bytes(beginning)
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert row["run_id"] == run.run_id
    assert log.read_text("utf-8") == "alpha;beta;gamma;"


def test_a_run_that_is_going_on_is_not_taken_over(build: Builder, evh: CommandLine) -> None:
    """While one process runs, another's --resume is refused and told who holds it."""
    from evh.store.locks import held

    build.config("c", dataset_id="d")
    folder = begun_run(build, {})
    with held(build.project.locks, folder / "predictions.jsonl"):
        outcome = evh.refused("locked", "run", "--config", "c", "--resume")
    assert str(os.getpid()) in outcome.out


def test_an_unfinished_run_is_told_of(build: Builder, evh: CommandLine) -> None:
    """Without --resume a new run begins, and the unfinished one is named."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "x"})
    document = evh.ok("run", "--config", "c", "--json").json
    assert document["runs"][0]["run_id"] == f"{folder.name}-2"
    assert folder.name in document["warnings"][0]
    assert "evh run --config c --dataset-id d --resume" in evh.ok("runs").out


def test_a_resumed_repeat_makes_the_rest(build: Builder, evh: CommandLine) -> None:
    """Killed in the second of three repeats: --resume finishes it and makes the third, in the same group."""
    build.config("c", dataset_id="d", repeats=3)
    plan = act.plan(build.project, configs.read(build.project, "c"))
    ended = act._run(build.project, plan, act._begin(build.project, plan, 1, None), Budget(None))
    first = ended.run
    act._begin(build.project, plan, 2, first.repeat_group)
    rows = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"]
    assert [row["run_id"] for row in rows] == [f"{first.run_id}-2", f"{first.run_id}-3"]
    assert {row["repeat_group"] for row in rows} == {first.run_id}


def test_an_interrupted_run_goes_on(project: Project, evh: CommandLine) -> None:
    """Ctrl-C ends the commands that still run, exits 130 at once, and leaves a run that can go on."""
    build = Builder(project)
    build.dataset("d", {f"i{number:02}": f"t{number:02}" for number in range(20)})
    command(build, SLOW)
    log = project.root / "calls.log"
    words = [str(PYTHON), "-c", "from evh.cli.main import main; main()", "-C", str(project.root)]
    environ = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    process = subprocess.Popen([*words, "run", "--config", "c"], env=environ, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_text("utf-8").count("9\n") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=120) == 130
    finally:
        process.kill()
        process.wait()
    (project.root / "go").touch()
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert (row["n_items"], row["n_errors"]) == (20, 0)


def test_resume_with_nothing_to_resume_is_refused(build: Builder, evh: CommandLine) -> None:
    """A finished run is never added to."""
    build.config("c", dataset_id="d")
    evh.ok("run", "--config", "c")
    unchanged(build, evh, "nothing-to-resume", "run", "--config", "c", "--resume")
    unchanged(build, evh, "resume-as-begun", "run", "--config", "c", "--resume", "--limit", "1")


def test_resume_as_another_arm_is_refused_with_both_named(build: Builder, evh: CommandLine) -> None:
    """A config that changed since the run began: both fingerprints are told, and where they differ."""
    build.config("c", dataset_id="d", params={"provider": "echo", "temperature": 0})
    folder = begun_run(build, {"one": "x"})
    path = build.project.data / "configs" / "c.yaml"
    path.write_bytes(path.read_bytes().replace(b"temperature: 0", b"temperature: 1"))
    before = json.loads((folder / "running.json").read_bytes())["fingerprint"]["hash"]
    out = unchanged(build, evh, "other-fingerprint", "run", "--config", "c", "--resume")
    assert before in out
    assert "system_under_test.params.temperature: 0 → 1" in out
