"""What the tests of `run` share: a dataset of three items, arms, and a run that a kill left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from evh.acts import run as act
from evh.acts.run_keep import Answer, Keeper
from evh.project import configs, runs
from evh.project.find import Project
from evh.records.run import Prediction
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

TEXTS = {"one": "alpha", "two": "beta", "three": "gamma"}
PYTHON = Path(sys.executable)


SLOW = """
import os, sys, time
item = sys.stdin.read()
with open("calls.log", "a") as log:
    log.write(item + "\\n")
while item.endswith("9") and not os.path.exists("go"):
    time.sleep(0.02)
print(item.upper(), end="")
"""


def three_items(project: Project) -> Builder:
    """A project with the dataset ``d`` of three items and a person's labels of two of them."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    made.labels("d", "s", {"one": "alpha", "two": "something else"})
    return made


def adapter(project: Project, text: str, name: str = "mine.py") -> str:
    """Write an adapter and return how a config names it."""
    folder = project.data / "adapters"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return f"../adapters/{name}"


def command(build: Builder, code: str, **params: Any) -> None:
    """Write the arm ``c``: a command that runs ``code`` for each item."""
    (build.project.root / "answer.py").write_text(code, "utf-8")
    words = [str(PYTHON), "answer.py"]
    build.config("c", dataset_id="d", params={"provider": "command", "command": words, **params})


def rows_of(project: Project, row: dict[str, Any]) -> dict[str, Any]:
    """Return a run's predictions by item."""
    run = runs.read(project, row["run_id"], folder=row["folder"])
    return {one.item_id: one for one in runs.predictions(project, run)}


def begun_run(build: Builder, answered: dict[str, str]) -> Path:
    """Begin a run of the arm ``c`` on ``d`` as a kill would leave it, with some items answered."""
    project = build.project
    plan = act.plan(project, configs.read(project, "c"))
    run = act._begin(project, plan, 1, None)
    with Keeper(project, run, plan.dataset, plan.items) as keeper:
        for item in plan.items:
            if item.item_id in answered:
                keeper.keep(item, Answer(Prediction(item.item_id), answered[item.item_id]))
    return runs.path_of(project, run)


def unchanged(build: Builder, evh: CommandLine, code: str, *words: str) -> str:
    """Run a command line that must be refused, see that nothing was written, and return what it told."""
    before = tree_bytes(build.project.root)
    outcome = evh.refused(code, *words)
    assert tree_bytes(build.project.root) == before
    return outcome.out
