"""Validation of goals and of the baselines before the one in force."""

from __future__ import annotations

import json

from evh.acts.validate import validate
from evh.project.find import Project
from tests.helpers import Builder


def test_goals_are_checked(project: Project) -> None:
    """A broken one and a doubled id are findings, a dataset that is not here is a note."""
    Builder(project).dataset("d", {"i": "x"})
    place = project.data / "goals"
    place.mkdir()
    (place / "a.yaml").write_text("goal_id: g\ndatasets: [d]\n")
    (place / "b.yaml").write_text("goal_id: g\ndatasets: [gone]\n")
    (place / "c.yaml").write_text("datasets: [d]\nalpha: 7\n")
    found = validate(project)
    assert [(one.file, one.reason) for one in found.findings] == [
        ("data/goals/b.yaml", "'g' is the goal of data/goals/a.yaml too"),
        ("data/goals/c.yaml", "alpha: is 7; it lies above 0 and below 0.5"),
    ]
    assert any("the dataset 'gone' that it names is not here" in one.reason for one in found.notes)
    assert found.checked["goals"] == 2


def test_earlier_baselines_are_checked(project: Project) -> None:
    """One that cannot be read is a finding; one that is named and not here is a note."""
    place = project.data / "baselines" / "superseded"
    place.mkdir(parents=True)
    (place / "g_1.json").write_text("[]")
    baseline = {"dataset_id": "d", "promoted_from": "r", "supersedes": "g_0"}
    (place.parent / "g.json").write_text(json.dumps(baseline))
    found = validate(project)
    assert [one.file for one in found.findings] == ["data/baselines/superseded/g_1.json"]
    assert any("'g_0', which it supersedes, is not here" in one.reason for one in found.notes)
