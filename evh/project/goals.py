"""The shelf of goals, written by people: ``data/goals/*.yaml``, or what ``EVAL_GOALS_DIR`` names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project.shelf import listed, missing, read_each, yaml_files
from evh.records import goal as record
from evh.store import strict
from evh.store.names import check_id

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh.records.goal import Goal


def place_of(project: Project) -> Path:
    """Return the folder of the goals."""
    named = project.environ.get("EVAL_GOALS_DIR")
    return Path(named).absolute() if named else project.data / "goals"


def paths(project: Project) -> list[Path]:
    """Return the goal files, by name."""
    return yaml_files(place_of(project))


def read_file(project: Project, path: Path) -> Goal:
    """Return the goal in a file; its ``goal_id`` is the file's stem where it names none."""
    project.readable(path, place_of(project))

    def read() -> Goal:
        raw = strict.parse_yaml(strict.read_bytes(path), project.show(path))
        return record.parse({"goal_id": path.stem, **raw}, project.show(path))

    return project.kept(("goal", path), [path], read)


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Goal]:
    """Return every goal, by file name; see `shelf.read_each` for ``problems``.

    Of two files that name one goal the second is a problem.
    """
    made: dict[str, Goal] = {}

    def read(path: Path) -> Goal:
        goal = read_file(project, path)
        if goal.goal_id in made:
            raise Refusal(
                "two-goals",
                f"there are two goals {goal.goal_id!r}",
                why=[f"{project.show(path)}: goal_id: another file in {place_of(project)} names it too"],
                next="give one of them another goal_id",
            )
        made[goal.goal_id] = goal
        return goal

    return read_each(listed(lambda: paths(project), problems), read, problems)


def read(project: Project, goal_id: str) -> Goal:
    """Return a goal, or raise a Refusal that names those that are here."""
    check_id(goal_id, "goal")
    problems: list[Refusal] = []
    known = read_all(project, problems)
    for goal in known:
        if goal.goal_id == goal_id:
            return goal
    broken = next((path for path in paths(project) if path.stem == goal_id), None)
    if broken is not None:
        return read_file(project, broken)  # raises what is wrong with it
    place = project.show(place_of(project))
    raise missing("goal", goal_id, [goal.goal_id for goal in known], next=f"write {place}/{goal_id}.yaml")


def on_dataset(project: Project, dataset_id: str, problems: list[Refusal] | None = None) -> list[Goal]:
    """Return the goals that name a dataset; see `shelf.read_each` for ``problems``."""
    return [goal for goal in read_all(project, problems) if dataset_id in goal.datasets]


def levels(project: Project, dataset_id: str, problems: list[Refusal] | None = None) -> dict[str, float]:
    """Return goal id → the level ``alpha`` of its tests, of the goals that name a dataset and set one."""
    found = on_dataset(project, dataset_id, problems)
    return {goal.goal_id: goal.alpha for goal in found if goal.alpha is not None}
