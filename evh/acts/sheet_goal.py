"""The goal by which a dataset's sheet is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import goals

if TYPE_CHECKING:
    from evh.acts.sources import Sources
    from evh.records.goal import Goal


def goal_of(sources: Sources, dataset_id: str, named: str | None) -> Goal | None:
    """Return the goal that is named, else the one that names the dataset where there is exactly one.

    Raises:
        Refusal: there is no such goal, or it is about other datasets.
    """
    if named is None:
        found = goals.on_dataset(sources.project, dataset_id, sources.problems)
        return found[0] if len(found) == 1 else None
    goal = goals.read(sources.project, named)
    if dataset_id not in goal.datasets:
        raise Refusal(
            "other-dataset",
            f"the goal {named!r} is not about {dataset_id}",
            why=[f"--goal {named}: it names {', '.join(goal.datasets)}"],
            next=f"evh goals; or add {dataset_id} to the datasets of the goal",
        )
    return goal
