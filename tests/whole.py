"""A small whole project that breaks no promise, and what breaking one is told as: for tests of `validate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evh.acts.validate import validate
from evh.project.find import Project
from tests.helpers import Builder, correct

TRUTH = {"one": "yes", "two": "no"}
RUN = "data/runs/arm_20261001T000000Z"
TWIN = "data/runs-labels-d-truth/arm_20261001T000000Z"


def whole(project: Project) -> Builder:
    """A small whole project: capture, dataset, config, run, labels, reference, pick, baseline."""
    made = Builder(project)
    made.capture("cap", [{"record_id": "one", "item": "1"}, {"record_id": "two", "item": "2"}])
    made.dataset("d", {"one": "text one", "two": "text two"}, lineage={"one": {"capture": "cap"}})
    made.config("arm")
    truth = made.labels("d", "truth", TRUTH)
    decisions: dict[str, str | None] = {"one": "yes", "two": "yes"}
    run = made.run("arm", "d", decisions)
    made.rescored(run, decisions, correct(decisions, TRUTH), against="labels/d/truth")
    made.reference("silver/ref", truth)
    made.pick("d", "one", targets=("v2",))
    place = project.data / "baselines"
    place.mkdir()
    baseline = {"baseline_id": "b", "dataset_id": "d", "promoted_from": run.run_id, "scores": {}}
    (place / "b.json").write_text(json.dumps(baseline))
    return made


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    """Change a manifest in place, as somebody with an editor would."""
    value = json.loads(path.read_text())
    made = change(value)
    path.write_text(json.dumps(value if made is None else made))


def found(project: Project) -> list[tuple[str, str, str]]:
    """Return (severity, code, file) of each finding."""
    return [(one.severity, one.code, one.file) for one in validate(project).findings]
