"""The shelf of goals: where they lie, how they are found, and the levels that they set."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import goals
from evh.project.find import Project


def put(project: Project, files: dict[str, str]) -> None:
    """Write goal files."""
    place = project.data / "goals"
    place.mkdir(exist_ok=True)
    for name, text in files.items():
        (place / name).write_text(text)


def test_the_levels_of_the_goals_on_a_dataset(project: Project) -> None:
    """By id; a goal of another dataset or without a level has no say."""
    put(
        project,
        {
            "a.yaml": "goal_id: keep\ndatasets: [c, d]\nalpha: 0.01\n",
            "b.yml": "datasets: d\nalpha: 0.1\n",
            "c.yaml": "goal_id: other\ndatasets: [c]\nalpha: 0.02\n",
            "e.yaml": "goal_id: silent\ndatasets: [d]\n",
        },
    )
    assert goals.levels(project, "d") == {"keep": 0.01, "b": 0.1}
    assert goals.levels(project, "x") == {}
    assert [one.goal_id for one in goals.on_dataset(project, "d")] == ["keep", "b", "silent"]


def test_a_goal_that_cannot_be_read_is_told(project: Project) -> None:
    """It does not hide the others; nor does one with a level that is none."""
    put(
        project,
        {
            "a.yaml": "goal_id: [\n",
            "b.yaml": "goal_id: keep\ndatasets: [d]\nalpha: 0.01\n",
            "c.yaml": "goal_id: loud\ndatasets: [d]\nalpha: 0.9\n",
        },
    )
    problems: list[Refusal] = []
    assert goals.levels(project, "d", problems) == {"keep": 0.01}
    assert len(problems) == 2


def test_a_goal_is_read_by_its_id(project: Project) -> None:
    """Whatever its file is called; an unknown one names those there are, a broken one its reasons."""
    put(project, {"a.yaml": "goal_id: keep_up\ndatasets: [d]\n", "b.yaml": "datasets: []\n"})
    assert goals.read(project, "keep_up").datasets == ("d",)
    with pytest.raises(Refusal) as unknown:
        goals.read(project, "keepup")
    assert (unknown.value.code, unknown.value.why) == ("no-such-goal", ("there is keep_up",))
    with pytest.raises(Refusal) as broken:
        goals.read(project, "b")
    assert broken.value.why == (
        "data/goals/b.yaml: datasets: names none: a goal is about at least one dataset",
    )


def test_two_goals_of_one_name_are_a_problem(project: Project) -> None:
    """The first by file name counts."""
    put(project, {"a.yaml": "goal_id: g\ndatasets: [d]\n", "b.yaml": "goal_id: g\ndatasets: [e]\n"})
    problems: list[Refusal] = []
    assert [one.datasets for one in goals.read_all(project, problems)] == [("d",)]
    assert [one.code for one in problems] == ["two-goals"]


def test_the_folder_that_the_environment_names_is_read(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """``EVAL_GOALS_DIR`` stands for ``data/goals``."""
    place: Path = tmp_path_factory.mktemp("goals")
    (place / "a.yaml").write_text("goal_id: keep\ndatasets: [d]\nalpha: 0.01\n")
    there = Project.find(home=project.root, environ={"EVAL_GOALS_DIR": str(place)})
    assert goals.levels(there, "d") == {"keep": 0.01}
