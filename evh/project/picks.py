"""The shelf of picks: the project's one list, ``data/picks.jsonl``, append-only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evh.project import datasets
from evh.records import pick as record
from evh.store import journal
from evh.store.atomic import make_folder
from evh.store.locks import held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.pick import Pick


def path_of(project: Project) -> Path:
    """Return the path of the list."""
    return project.data / "picks.jsonl"


def read_lines(project: Project) -> list[Pick]:
    """Return every line of the list, oldest first; a last line that a crash cut is passed over."""
    path = path_of(project)
    rows = journal.read(project.readable(path)).rows
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

    A version that took a pick and was stopped before it could say so here is caught up with first: see
    `unrecorded`.

    Returns:
        The lines that ``make`` gave, and the torn last line that was dropped, if there was one.
    """
    path = project.writable(path_of(project))
    make_folder(path.parent)
    took = taken(project)
    with held(project.locks, path):
        state = read_state(project)
        late = unrecorded(took, state, project.stamp())
        lines = tuple(make({**state, **{line.key: line for line in late}}))
        torn = journal.append_held(path, [record.dump(line) for line in (*late, *lines)])
    return lines, torn


def taken(project: Project) -> dict[tuple[str, str], dict[str, str]]:
    """Return which picks versions took: the key of a pick → the dataset it was used for → the version.

    The versions' lineage says so (``lineage.pick`` is ``<dataset>/<item>``); a ``used`` line of the list only
    repeats it. A dataset that cannot be read is passed over.
    """
    return taken_by(datasets.versions(project, []))


def taken_by(versions: Iterable[Dataset]) -> dict[tuple[str, str], dict[str, str]]:
    """Return what `taken` does, of datasets that the caller has read."""
    made: dict[tuple[str, str], dict[str, str]] = {}
    for version in versions:
        if version.parent is None:
            continue
        for item in version.items:
            told = item.lineage.get("pick")
            origin, _, item_id = str(told or "").partition("/")
            if told and not item_id:  # another harness may only say that it was picked
                origin, item_id = str(item.lineage.get("dataset")), str(item.lineage.get("item_id"))
            if told:
                made.setdefault((origin, item_id), {}).setdefault(version.parent, version.dataset_id)
    return made


def used(pick: Pick, parent: str, version: str, at: str) -> Pick:
    """Return the line that tells that a pick was used for ``parent``, in the dataset ``version``."""
    return replace(pick, op="used", at=at, used=(*pick.used, {"for": parent, "in": version}))


def unrecorded(
    took: Mapping[tuple[str, str], Mapping[str, str]], state: Mapping[tuple[str, str], Pick], at: str
) -> tuple[Pick, ...]:
    """Return the ``used`` lines that the list lacks: a version took a pick, and no line says so."""
    made = []
    for key, versions in took.items():
        pick = state.get(key)
        if pick is None or pick.op == "drop":
            continue
        line = pick
        for parent, version in versions.items():
            if not any(one.get("for") == parent for one in line.used):
                line = used(line, parent, version, at)
        if line is not pick:
            made.append(line)
    return tuple(made)
