"""A run of a model server is killed at a random moment and goes on: every item once, and no call twice."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

from evh.acts import run as act
from evh.project import configs, runs
from evh.project.find import Project
from evh.records.run import Run
from tests.faults.sweep import command, environment
from tests.helpers import Builder
from tests.servers.replies import fine
from tests.servers.scripted import Play, Request, Scripted

ITEMS = 120
AT_ONCE = 8
LASTS_S = 1.2
"""How long after the first request a kill can come: a little longer than the run takes on a free machine."""


def _answer(request: Request) -> Play:
    text = request.body["messages"][-1]["content"]
    return fine(f"re {text}", wait_s=random.Random(text).uniform(0.0, 0.08))


def kill_once(seed: int, root: Path) -> list[str]:
    """Kill a run at the moment that the seed draws, let it go on, and give what is wrong afterwards."""
    draw = random.Random(seed)
    (root / "data").mkdir(parents=True)
    project = Project.find(home=root, environ={})
    build = Builder(project)
    build.dataset("d", {f"i{number:03}": f"text {number}" for number in range(ITEMS)})
    with Scripted(_answer) as server:
        build.config(
            "c", dataset_id="d", params={"provider": "openai", "model": "m", "base_url": server.base_url}
        )
        words = ("run", "--config", "c", "--concurrency", str(AT_ONCE))
        with subprocess.Popen(
            command(root, words),
            env=environment(),
            cwd=root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            deadline = time.monotonic() + 60
            while not server.requests and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(draw.uniform(0.0, LASTS_S))
            process.send_signal(signal.SIGKILL)
        time.sleep(0.1)  # what was in flight has reached the server
        return _go_on(project, server)


def _go_on(project: Project, server: Scripted) -> list[str]:
    asked_before = [_text(request) for request in server.requests]
    begun = runs.unfinished(project)
    kept: set[str] = set()
    wrong: list[str] = []
    if begun:
        half = runs.running(project, begun[0])
        if half is None:
            return ["the run that was killed cannot be read"]
        kept = {row.item_id for row in runs.running_rows(project, half)}
        done = act.commit(project, act.plan(project, configs.read(project, "c"), resume=True))
        run: Run = done.runs[0]
    else:
        (run,) = runs.read_all(project)
        kept = {f"i{number:03}" for number in range(ITEMS)}
    rows = runs.predictions(project, run)
    outputs = runs.outputs(project, run, rows, verify=True)
    if [row.item_id for row in rows] != [f"i{number:03}" for number in range(ITEMS)]:
        wrong.append(f"{len(rows)} rows, not each item once in its order")
    wrong += [
        f"{row.item_id}: {row.error or outputs.get(row.item_id)!r}"
        for row in rows
        if outputs.get(row.item_id) != f"re text {int(row.item_id[1:])}"
    ]
    after = [_text(request) for request in server.requests[len(asked_before) :]]
    again = sorted(text for text in after if f"i{int(text.split()[1]):03}" in kept)
    if again:
        wrong.append(f"asked again though kept: {again[:5]}")
    if len(server.requests) > ITEMS + AT_ONCE:
        wrong.append(f"{len(server.requests)} calls for {ITEMS} items, {AT_ONCE} at once")
    if len(set(after)) != len(after) or len(set(asked_before)) != len(asked_before):
        wrong.append("an item was asked twice in one attempt")
    return wrong


def _text(request: Request) -> str:
    return str(request.body["messages"][-1]["content"])


def kill(times: int, folder: Path, *, first: int = 0) -> dict[int, list[str]]:
    """Kill so many runs; give seed → what was wrong, for those where anything was."""
    found = {seed: kill_once(seed, folder / str(seed)) for seed in range(first, first + times)}
    return {seed: wrong for seed, wrong in found.items() if wrong}
