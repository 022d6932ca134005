"""Seeing that nothing changed in 100,000 one-label files, beside ``git status`` over the same tree.

The default trusts a finished record's folder; ``deep`` asks every file, as git does.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.project.find import Project
from evh_build import incremental

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
SETS = 5


def rows(small: bool) -> list[dict[str, Any]]:
    """Time the three in turn on one tree and give their medians; ours must see what changed."""
    n = 500 if small else 100_000
    with tempfile.TemporaryDirectory(prefix="evh-stamp-") as place:
        project = _tree(Path(place), n)
        _git(project.root, "init", "-q")
        _git(project.root, "add", "-A")
        _git(project.root, "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "all")
        times: dict[str, list[float]] = {"trusting": [], "deep": [], "git": []}
        incremental.code()
        for _ in range(2 if small else ROUNDS):
            _timed(lambda: incremental.stamp(project, []), times["trusting"])
            _timed(lambda: incremental.stamp(project, [], deep=True), times["deep"])
            _timed(lambda: _git(project.root, "status", "--porcelain"), times["git"])
        _check(project)
    middle = {name: sorted(one)[len(one) // 2] for name, one in times.items()}
    work = f"unchanged, {n:,} one-label files: "
    return [
        {"work": work + how, "ours_s": middle[name], "peer": "git status", "peer_s": middle["git"]}
        for how, name in (("the default", "trusting"), ("--verify", "deep"))
    ]


def _tree(root: Path, n: int) -> Project:
    for at in range(SETS):
        folder = root / "data" / "labels" / "d" / f"s{at}"
        folder.mkdir(parents=True)
        (folder / "labels.json").write_text("{}")
        for item in range(n // SETS):
            (folder / f"item-{item:06d}.txt").write_text("yes" if item % 3 else "no")
    return Project.find(home=root)


def _check(project: Project) -> None:
    """Fail when an edit in place is not seen by the deep stamp, or a new file not by either."""
    folder = project.data / "labels" / "d" / "s0"
    trusting, deep = incremental.stamp(project, []), incremental.stamp(project, [], deep=True)
    (folder / "item-000001.txt").write_text("changed")
    if incremental.stamp(project, [], deep=True) == deep:
        raise AssertionError("--verify does not see a file that was edited")
    (folder / "new.txt").write_text("x")
    if incremental.stamp(project, []) == trusting:
        raise AssertionError("the default does not see a new file")


def _git(root: Path, *words: str) -> None:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, env=environ)


def _timed(run: Callable[[], object], times: list[float]) -> None:
    start = time.perf_counter()
    run()
    times.append(time.perf_counter() - start)
