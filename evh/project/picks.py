"""The shelf of picks: the project's one list, ``data/picks.jsonl``, append-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.records import pick as record
from evh.store import journal
from evh.store.atomic import make_folder
from evh.store.locks import held

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.pick import Pick


def path_of(project: Project) -> Path:
    """Return the path of the list."""
    return project.data / "picks.jsonl"


def read_lines(project: Project) -> list[Pick]:
    """Return every line of the list, oldest first; a last line that a crash cut is passed over."""
    path = path_of(project)
    rows = journal.read(path).rows
    return [
        record.parse(row, f"{project.show(path)}: line {number}") for number, row in enumerate(rows, start=1)
    ]


def read_state(project: Project) -> dict[tuple[str, str], Pick]:
    """Return the state of every (dataset, item) that was ever picked: its latest line."""
    return record.latest(read_lines(project))


def append(project: Project, lines: Sequence[Pick]) -> bytes | None:
    """Append lines, all or none; return the torn last line that was dropped, if there was one."""
    path = project.writable(path_of(project))
    return journal.append(path, [record.dump(line) for line in lines], locks=project.locks)


def update(
    project: Project, make: Callable[[Mapping[tuple[str, str], Pick]], Sequence[Pick]]
) -> tuple[tuple[Pick, ...], bytes | None]:
    """Append the lines that ``make`` gives for the list's state, which nobody changes in between.

    Returns:
        The lines written, and the torn last line that was dropped, if there was one.
    """
    path = project.writable(path_of(project))
    make_folder(path.parent)
    with held(project.locks, path):
        lines = tuple(make(read_state(project)))
        torn = journal.append_held(path, [record.dump(line) for line in lines])
    return lines, torn
