"""Checks of goals, and of the baselines before the one in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project import baselines, datasets, goals
from evh.project.shelf import files

if TYPE_CHECKING:
    from evh.acts.findings import Findings


def check_goals(found: Findings) -> None:
    """Check that each goal can be read, that no two have one id, and that their datasets are here."""
    project = found.project
    known = set(datasets.ids(project))
    seen: dict[str, str] = {}
    for path in found.attempt(goals.place_of(project), goals.paths, project) or []:
        goal = found.attempt(path, goals.read_file, project, path)
        if goal is None:
            continue
        found.count("goals", 1)
        if goal.goal_id in seen:
            found.error("two-goals", path, f"{goal.goal_id!r} is the goal of {seen[goal.goal_id]} too")
        seen.setdefault(goal.goal_id, project.show(path))
        for name in goal.datasets:
            if name not in known:
                found.note("unknown-dataset", path, f"the dataset {name!r} that it names is not here")


def check_superseded(found: Findings) -> None:
    """Check that each earlier baseline can be read, and that what a baseline supersedes is here."""
    project = found.project
    place = project.data / "baselines" / baselines.SUPERSEDED
    kept = found.attempt(place, files, place, ".json") or []
    for path in kept:
        found.attempt(path, baselines.read_file, project, path)
    names = {path.stem for path in kept}
    for one in baselines.read_all(project, []):
        if one.supersedes and one.supersedes not in names:
            path = project.data / "baselines" / f"{one.baseline_id}.json"
            found.note("unknown-baseline", path, f"{one.supersedes!r}, which it supersedes, is not here")
