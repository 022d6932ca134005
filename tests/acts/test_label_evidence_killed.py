"""The evidence labeler is killed, interrupted and run twice at once: no label is lost, none stands twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from tests.acts.labeling import (
    chats,
    chunk_of,
    label,
    log,
    rows,
)
from tests.conftest import CommandLine
from tests.servers.replies import fine, http
from tests.servers.scripted import Play, Request, Scripted


def kill_and_resume(project: Project, evh: CommandLine, rounds: int) -> None:
    """Kill a labelling process at random instants; resume each time; the journal is one row a chunk."""
    n = 40
    log(
        evh,
        [f"user: turn {number}, {'I want a refund' if number % 5 == 0 else 'hello'}." for number in range(n)],
    )
    draw = random.Random(7)
    root = Path(__file__).resolve().parents[2]
    environ = {**os.environ, "PYTHONPATH": f"{root}:{root / 'build'}"}
    command = [sys.executable, "-c", "from evh.cli.main import main; main()", "-C", str(project.root)]
    command += ["label-evidence", "--project", "p", "--query", "q", "--repeat", "2", "--concurrency", "8"]
    journal = project.data / "label" / "p" / "q.jsonl"
    with Scripted(_slow) as server:
        command += ["--base-url", server.base_url]
        for number in range(rounds):
            if number % 5 == 4 and journal.parent.exists():  # begin anew: every part of a run is met
                shutil.rmtree(journal.parent)
            sent = len(server.requests)
            process = subprocess.Popen(command, env=environ, stdout=-3, stderr=-3)
            while process.poll() is None and len(server.requests) == sent:
                time.sleep(0.005)
            time.sleep(draw.uniform(0.0, 0.4))
            process.send_signal(signal.SIGKILL)
            process.wait()
            shas = [one["chunk_sha"] for one in _whole_rows(journal)]
            assert len(shas) == len(set(shas))
        label(evh, server, "--repeat", "2")
        sent = len(chats(server))
        label(evh, server, "--repeat", "2")
        assert len(chats(server)) == sent
    labels = rows(project)
    assert len(labels) == len({one["chunk_sha"] for one in labels}) == n
    assert sum(one["label"] for one in labels) == n // 5


def _slow(request: Request) -> Play:
    if not request.path.endswith("completions"):
        return http(404, b"")
    yes = "want a refund" in chunk_of(request)
    return fine("Yes, it does." if yes else "No, it does not.", wait_s=0.02)


def _whole_rows(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


@pytest.mark.slow
def test_killed_and_resumed_nothing_is_lost_or_doubled(project: Project, evh: CommandLine) -> None:
    """20 kills at random instants: one label a chunk, each the right one; the proofs do 500."""
    kill_and_resume(project, evh, int(os.environ.get("EVH_KILL_ROUNDS", "20")))


def test_ctrl_c_keeps_what_is_in_flight(project: Project, evh: CommandLine) -> None:
    """Nothing more is sent, what was asked is written, and the exit code is 130."""
    log(evh, [f"chunk {number}" for number in range(60)])
    root = Path(__file__).resolve().parents[2]
    environ = {**os.environ, "PYTHONPATH": f"{root}:{root / 'build'}"}
    command = [sys.executable, "-c", "from evh.cli.main import main; main()", "-C", str(project.root)]
    command += ["label-evidence", "--project", "p", "--query", "q", "--concurrency", "4"]
    with Scripted(lambda _: fine("no, none", wait_s=0.3)) as server:
        process = subprocess.Popen(
            [*command, "--base-url", server.base_url], env=environ, stdout=-3, stderr=-3
        )
        while not chats(server):
            time.sleep(0.01)
        time.sleep(0.4)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert 4 <= len(chats(server)) < 60
        assert len(rows(project)) == len(chats(server))


def test_two_runs_at_once_do_not_mix(project: Project, evh: CommandLine) -> None:
    """A second process that labels into the same journal is refused."""
    from evh.project import evidence
    from evh.store.locks import held

    log(evh)
    at = evidence.place(project, "p", "q")
    at.folder.mkdir(parents=True)
    with held(project.locks, at.journal):
        evh.refused("locked", "label-evidence", "--project", "p", "--query", "q", "--provider", "overlap")
