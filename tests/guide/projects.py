"""The projects in which the pages of the guide run: the sample, an empty folder, or what a page speaks of."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from evh.acts import capture, dataset_create, dataset_from_capture
from evh.acts.capture import Options
from evh.project import samples
from evh.project.find import Project
from tests.guide.blocks import blocks
from tests.helpers import Builder, correct

TICKETS = [
    {
        "ticket": f"t{number}",
        "closed_at": f"2026-07-0{number}T09:00:00Z",
        "subject": subject,
        "body": body,
        "queue": "cards",
        "decision": decision,
        "model": "m1",
        "reopened_at": "2026-08-02T09:00:00Z" if number == 1 else None,
    }
    for number, (subject, body, decision) in enumerate(
        [
            ("Lost", "My card is lost.", "close"),
            ("Fee", "Why a fee?", "answer"),
            ("Limit", "Raise my limit.", "close"),
        ],
        start=1,
    )
]


def empty(root: Path) -> Path:
    """Give an empty folder: the page makes its project."""
    root.mkdir(parents=True)
    return root


def sample(root: Path) -> Path:
    """Give a copy of the sample project: links to its files, which evh replaces and never edits."""
    found = samples.find("triage")
    for one in found.files():
        target = root / "data" / one.name
        target.parent.mkdir(parents=True, exist_ok=True)
        _link(str(one.path), str(target))
    (root / "evh.toml").write_bytes(found.settings())
    return root


def small(root: Path) -> Path:
    """Give a project of four items with labels and two arms: enough for a catalog."""
    made = Builder(_new(root))
    made.dataset("d", {"a": "one", "b": "two", "c": "three", "e": "four"}, visibility="public", task="t")
    right = {"a": "yes", "b": "no", "c": "no", "e": "yes"}
    made.labels("d", "ann", right)
    for arm, answers in (("arm_a", right), ("arm_b", {**right, "a": "no"})):
        made.config(arm)
        run = made.run(arm, "d", answers)
        made.rescored(run, answers, correct(answers, right), against="labels/d/ann")
    return root


def judged(root: Path) -> Path:
    """Give the tickets with two arms that answered one of them differently, and a rubric."""
    tickets(root)
    made = Builder(Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:00:00Z"}))
    judge = next(one for one in blocks("judges") if one.language == "yaml")
    _write(root / "data/judges/helpful.yaml", judge.text)
    _write(root / "data/judges/helpful.md", "Which answer would help the customer more?\n")
    for arm, first in (("production_v1", "close"), ("candidate_v2", "answer")):
        made.run(arm, "july", {"july-t1": first, "july-t2": "answer", "july-t3": "close"})
    return root


def bare(root: Path) -> Path:
    """Give a project with nothing in it."""
    _new(root)
    return root


def tickets(root: Path) -> Path:
    """Give the project that the pages about adapters, configs and rules speak of: tickets of two months."""
    project = _new(root)
    adapter = next(one for one in blocks("adapters") if one.language == "python")
    rules = next(one for one in blocks("label-rules") if one.language == "yaml")
    _write(
        root / "data/adapters/tickets.py",
        f"{adapter.text}\n\ndef my_model(text, model):\n    return 'close'\n",
    )
    _write(root / "data/rules/outcomes.yaml", rules.text)
    config = next(one for one in blocks("configs") if one.language == "yaml")
    _write(root / "data/configs/candidate_v2.yaml", config.text)
    for name in ("july", "august"):
        rows = [
            {**row, "ticket": f"{name}-{row['ticket']}", "body": f"{name}: {row['body']}"} for row in TICKETS
        ]
        _write(root / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        options = Options(adapter="data/adapters/tickets.py")
        plan = capture.plan(project, name, root / f"{name}.jsonl", options)
        capture.commit(project, plan)
        dataset_create.commit(project, dataset_from_capture.plan(project, name, name))
    return root


PROJECTS: dict[str, Callable[[Path], Path]] = {
    "tutorial": empty,
    "data": empty,
    "catalog": small,
    "adapters": tickets,
    "configs": tickets,
    "evidence": bare,
    "importing": bare,
    "judges": judged,
    "label-rules": tickets,
}
"""Where each page runs; a page that is not here runs in the sample."""


def _new(root: Path) -> Project:
    (root / "data").mkdir(parents=True)
    (root / "data" / ".gitattributes").write_text("* -text\n")
    (root / "evh.toml").write_text('[project]\nname = "the guide"\n')
    return Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:00:00Z"})


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
