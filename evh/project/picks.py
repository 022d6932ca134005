"""The shelf of picks: the project's one list, ``data/picks.jsonl``, append-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.records import pick as record
from evh.store import journal

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    return journal.append(path_of(project), [record.dump(line) for line in lines], locks=project.locks)
