"""Which runs stand for an arm on a dataset, and against what each was scored."""

from __future__ import annotations

import pytest

from evh.errors import Refusal
from evh.project import arms
from evh.project.find import Project
from tests.helpers import Builder

SCORES = {"a": {"correct": 1.0}}


@pytest.fixture
def build(project: Project) -> Builder:
    """A dataset with one item and a label set."""
    made = Builder(project)
    made.dataset("d", {"a": "aa"})
    made.labels("d", "s", {"a": "x"})
    return made


def test_recorded_arms_come_first_then_by_name(build: Builder) -> None:
    """Left out, --runs means all arms, production's first."""
    for name, provider in (("zeta", "recorded"), ("beta", "echo"), ("alpha", "echo")):
        build.run(name, "d", {"a": "x"}, params={"provider": provider})
    found = arms.of_dataset(build.project, "d")
    assert [(arm.name, arm.recorded) for arm in found] == [("zeta", True), ("alpha", False), ("beta", False)]


def test_a_config_means_its_latest_run_and_a_run_itself(build: Builder) -> None:
    """By created_at; a run id names that run; the order asked for is kept."""
    old = build.run("c", "d", {"a": "x"}, at="20261001T000000Z")
    new = build.run("c", "d", {"a": "y"}, at="20261002T000000Z")
    build.run("b", "d", {"a": "y"})
    found = arms.of_dataset(build.project, "d", ["c", old.run_id, "b"])
    assert [arm.run.run_id for arm in found] == [new.run_id, old.run_id, "b_20261001T000000Z"]


def test_a_scored_twin_never_stands_for_the_run(build: Builder) -> None:
    """Scored again later, the outputs are still the measured run's, and each scoring is a column of it."""
    run = build.run("c", "d", {"a": "x"})
    build.rescored(run, {"a": "x"}, SCORES, against="labels/d/s", created_at="2026-10-09T00:00:00Z")
    build.rescored(run, {"a": "x"}, SCORES, against="gold/g", created_at="2026-10-09T00:00:00Z")
    arm = arms.of_dataset(build.project, "d")[0]
    assert (arm.run.folder, arm.name) == ("runs", "c")
    assert [arms.scored_against(one) for one in arm.scored] == ["gold/g", "labels/d/s"]
    found = arm.against("labels/d/s")
    assert found is not None
    assert found.folder == "runs-labels-d-s"
    assert arm.against("labels/d/other") is None


def test_the_twin_stands_in_for_the_runs_own_scoring(build: Builder) -> None:
    """Scored again against what it was scored against, the newer figures are read."""
    run = build.run("c", "d", {"a": "x"}, scores=SCORES, against="gold/g")
    build.rescored(run, {"a": "x"}, {"a": {"correct": 0.0}}, against="gold/g")
    assert [one.scores["correct"] for one in arms.of_dataset(build.project, "d")[0].scored] == [0.0]


def test_judged_runs_are_no_arms(build: Builder) -> None:
    """What a judge thought of outputs is not an arm."""
    build.run("c", "d", {"a": "x"}, folder="runs-judged/me", judged={"scorer": "me"})
    assert arms.of_dataset(build.project, "d") == []


def test_an_arm_of_another_dataset_is_refused(build: Builder) -> None:
    """Every name at once, with where it did run."""
    build.dataset("e", {"b": "bb"})
    build.run("c", "e", {"b": "x"})
    with pytest.raises(Refusal) as told:
        arms.of_dataset(build.project, "d", ["c", "gone"])
    assert told.value.why == ("c: it ran on e", "gone: no such run or config has run")
