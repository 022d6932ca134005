"""The shelf of baselines: ``data/baselines/*.json``, and the earlier ones of each goal in ``superseded/``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project.shelf import files, listed, read_each
from evh.records import baseline as record
from evh.store import atomic, strict
from evh.store.locks import held
from evh.store.names import check_id

if TYPE_CHECKING:
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.baseline import Baseline

SUPERSEDED = "superseded"


def path_of(project: Project, goal_id: str) -> Path:
    """Return where the baseline of a goal lies."""
    return project.data / "baselines" / f"{check_id(goal_id, 'goal')}.json"


def read_file(project: Project, path: Path) -> Baseline:
    """Return the baseline in a file."""
    return record.parse(strict.read_object(project.readable(path)), project.show(path), stem=path.stem)


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Baseline]:
    """Return every baseline, by file name; see `shelf.read_each` for ``problems``."""
    paths = listed(lambda: files(project.data / "baselines", ".json"), problems)
    return read_each(paths, lambda path: read_file(project, path), problems)


def of_goal(project: Project, goal_id: str) -> Baseline | None:
    """Return the baseline of a goal, or None: nothing was promoted for it yet."""
    path = path_of(project, goal_id)
    return read_file(project, path) if path.is_file() else None


def superseded(
    project: Project, goal_id: str | None = None, problems: list[Refusal] | None = None
) -> list[Baseline]:
    """Return the earlier baselines of a goal, or of all, oldest first."""
    paths = listed(lambda: files(project.data / "baselines" / SUPERSEDED, ".json"), problems)
    paths.sort(key=lambda path: (len(path.stem), path.stem))  # of one second's, the first before the second
    made = read_each(paths, lambda path: read_file(project, path), problems)
    kept = [one for one in made if goal_id in (None, one.goal)]
    return sorted(kept, key=lambda one: one.promoted_at)


def put(project: Project, goal_id: str, baseline: Baseline, *, before: Baseline | None) -> Baseline:
    """Write a goal's baseline in place of the one before it, which goes to ``superseded/`` first.

    A kill between the two leaves the old baseline in force, with its copy in the archive under the very name
    that the next try gives it.

    Args:
        project: the project.
        goal_id: the goal.
        baseline: the new one.
        before: what the caller saw in force, or None.

    Returns:
        The baseline as written: ``supersedes`` names the archived file.

    Raises:
        Refusal: another command promoted in between.
    """
    path = project.writable(path_of(project, goal_id))
    with held(project.locks, path):
        there = of_goal(project, goal_id)
        if there != before:
            raise Refusal(
                "other-baseline",
                f"the baseline of {goal_id!r} changed meanwhile",
                why=[f"{project.show(path)}: it is now {there.promoted_from if there else 'gone'}"],
                next=f"evh goals --goal {goal_id}, then decide again",
            )
        made = replace(baseline, supersedes=None)
        if there is not None:
            made = replace(baseline, supersedes=_archive(project, goal_id, path, there))
        atomic.write_file(path, strict.dump_manifest(record.dump(made)))
    return made


def _archive(project: Project, goal_id: str, path: Path, there: Baseline) -> str:
    """Copy the baseline in force into the archive, by the time of its promotion; return its name there."""
    data = strict.read_bytes(path)
    stamp = "".join(sign for sign in there.promoted_at if sign.isalnum()) or "unknown"
    place = path.parent / SUPERSEDED
    name, number = f"{goal_id}_{stamp[:40]}", 1
    while (place / f"{name}.json").exists():
        if strict.read_bytes(place / f"{name}.json") == data:  # an earlier try came as far as this
            return name
        number += 1
        name = f"{goal_id}_{stamp[:40]}-{number}"
    atomic.write_new_file(project.writable(place / f"{name}.json"), data)
    return name
