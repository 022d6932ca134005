"""Where a run goes, and which unfinished one it goes on with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import fingerprint, runs
from evh.records.config import MOST_REPEATS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.run import Run

OTHERS_SHOWN = 5


def unfinished(project: Project, config: Config, dataset_id: str) -> Run | None:
    """Return the latest unfinished run of an arm on a dataset, or None."""
    begun = [runs.running(project, path) for path in runs.unfinished(project)]
    mine = [run for run in begun if run and (run.config_id, run.dataset_id) == (config.config_id, dataset_id)]
    return max(mine, key=lambda run: (run.created_at, run.run_id), default=None)


def to_go_on(unfinished: Run | None, config: Config, dataset_id: str) -> Run:
    """Return the run that is to go on, or refuse: there is none."""
    if unfinished is not None:
        return unfinished
    again = f"evh run --config {config.config_id} --dataset-id {dataset_id}"
    raise Refusal(
        "nothing-to-resume",
        f"there is no unfinished run of {config.config_id} on {dataset_id}",
        why=["every run of it that began has finished; a finished run is never added to"],
        next=f"{again}; only what failed in the last one: {again} --retry-failed",
    )


def refuse_other(unfinished: Run, made: Mapping[str, Any]) -> None:
    """Refuse to go on with a run that began as another arm: both fingerprints are named."""
    began, now = unfinished.fingerprint.get("hash"), made["hash"]
    if began != now:
        raise Refusal(
            "other-fingerprint",
            f"{unfinished.run_id} cannot go on: it began as another arm than the one that is here now",
            why=[
                f"{unfinished.key}: it began with fingerprint {began}; now it is {now}",
                *fingerprint.differences(unfinished.fingerprint, made),
            ],
            next="put back what changed, or start anew: the same command without --resume",
        )


def begun_repeats(unfinished: Run) -> tuple[int, int]:
    """Return which of how many runs an unfinished one is, as its ``running.json`` says."""
    repeated = unfinished.extra.get("repeat")
    if repeated is None:
        return 1, 1
    number, of = (repeated.get(key) if isinstance(repeated, dict) else None for key in ("number", "of"))
    if not (type(number) is int and type(of) is int and 1 <= number <= of <= MOST_REPEATS):
        raise Refusal(
            "bad-record",
            f"{unfinished.run_id} cannot go on",
            why=[
                f"{unfinished.key}: {runs.RUNNING}: repeat: is not {{number, of}} of 1 to {MOST_REPEATS} runs"
            ],
            next="start anew: the same command without --resume",
        )
    return number, of


def refuse_other_folder(project: Project) -> None:
    """Refuse an ``EVAL_RUNS_DIR`` that holds anything but runs: nothing is written among a user's files."""
    place = runs.place_of(project, runs.MEASURED)
    if not project.environ.get("EVAL_RUNS_DIR") or not os.path.lexists(place):
        return
    if not place.is_dir():
        what, others = "names a file", [place]
    else:
        entries = sorted(path for path in place.iterdir() if not path.name.startswith("."))
        what, others = "names a folder of other things", [path for path in entries if not _is_run(path)]
    if others:
        more = len(others) - OTHERS_SHOWN
        raise Refusal(
            "not-a-runs-folder",
            f"EVAL_RUNS_DIR {what}: nothing is written there",
            why=[
                *(f"{path}: is no folder of a run" for path in others[:OTHERS_SHOWN]),
                *([f"{place}: and {more} more"] if more > 0 else []),
            ],
            next="name an empty folder or one of runs, or unset EVAL_RUNS_DIR",
        )


def _is_run(path: Path) -> bool:
    """Tell whether an entry is a run's folder: one that began, or one that is about to and still empty."""
    if path.is_symlink() or not path.is_dir():
        return False
    kept = {one.name for one in path.iterdir()}
    return not kept or not kept.isdisjoint({runs.METRICS, runs.RUNNING, runs.ROWS, runs.ROWS_LARGE})
