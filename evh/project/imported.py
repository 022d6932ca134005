"""Writing a run that another tool made: whole at once, for no answer of it was ever waited for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evh.project import runs
from evh.records import run as record
from evh.store import atomic, parquet, strict
from evh.store.hashing import sha256
from evh.store.locks import held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.find import Project
    from evh.records.run import Prediction, Run

FLUSHED_EACH = 64
"""Up to so many output files are flushed one by one; more of them with everything else at once."""
KEY = "imported"
"""The key of ``metrics.json`` that says so: ``{tool, version, file_sha256, part, dropped, …}``."""


def of_run(run: Run) -> Mapping[str, object] | None:
    """Return what a run says of the log that it was imported from, or None: it was not."""
    found = run.extra.get(KEY)
    return found if isinstance(found, dict) else None


def write_new(project: Project, run: Run, rows: Sequence[Prediction], stems: Mapping[str, str]) -> Run:
    """Write a run whole: its folder is renamed in with its outputs, its rows and its ``metrics.json``.

    Args:
        project: the project.
        run: the run; its id is free (`runs.new_run_id` made its empty folder).
        rows: its rows, each with its ``output``; over 5,000 they are Parquet and keep the outputs.
        stems: item id → file stem, from `names.item_stems` over the dataset's ids.

    Returns:
        The run as written, with the ``predictions`` that it names.
    """
    place = project.writable(runs.path_of(project, run))
    large = len(rows) > parquet.ROWS_AS_TEXT
    name, data = runs.dump_rows(rows if large else [replace(row, output=None) for row in rows])
    made = replace(run, predictions={"file": name, "sha256": sha256(data), "rows": len(rows)})
    with (
        held(project.locks, place),
        atomic.removed_unless(place / runs.METRICS, place),
        atomic.replaced_folder(place) as writer,
    ):
        for row in () if large else rows:
            if row.output is not None:
                later = len(rows) > FLUSHED_EACH
                writer.add(f"outputs/{stems[row.item_id]}.txt", row.output.encode(), later=later)
        writer.add(name, data)
        writer.add(runs.METRICS, strict.dump_manifest(record.dump(made)))
    return made
