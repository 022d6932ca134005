"""Taking over what a finished run answered, so that only its failed items are asked again.

A finished run is never added to. A new one takes the answers that stand, asks the items that failed, and
names the run that it took them from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.acts.scoring import OUTPUT_SHA
from evh.errors import Refusal
from evh.project import fingerprint, runs
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.run import Prediction, Run

TAKEN = "taken_over"
"""The key of a run's record that names where its first answers came from, ``{from, n}``."""
SHOWN = 8


@dataclass(frozen=True, slots=True)
class Taken:
    """The run whose answers are taken over, how many those are, and how many items failed in it."""

    run: Run
    n: int
    n_failed: int


def latest(project: Project, config: Config, dataset_id: str) -> Taken:
    """Return the latest finished run of an arm on a dataset, whose failed items are to be asked again.

    Raises:
        Refusal: there is none; no item failed in it; production's record, in which nothing was asked.
    """
    if config.recorded:
        raise Refusal(
            "nothing-to-retry",
            f"{config.config_id} replays what production recorded: there is nobody to ask again",
            why=[f"{config.config_id}: provider: recorded"],
            next=f"evh run --config {config.config_id} --dataset-id {dataset_id}",
        )
    mine = [
        run
        for run in runs.read_all(project, [])
        if (run.config_id, run.dataset_id) == (config.config_id, dataset_id)
        and not run.derived
        and not run.judged
        and not run.extra.get("imported")
    ]
    run = max(mine, key=lambda one: (one.created_at, one.run_id), default=None)
    anew = f"evh run --config {config.config_id} --dataset-id {dataset_id}"
    if run is None:
        raise Refusal(
            "nothing-to-retry",
            f"{config.config_id} has no finished run on {dataset_id}",
            why=["--retry-failed asks the failed items of the latest finished run again"],
            next=f"{anew} --resume, where one is unfinished; else {anew}",
        )
    rows = runs.predictions(project, run)
    n_failed = sum(row.error is not None for row in rows)
    if not n_failed:
        raise Refusal(
            "nothing-to-retry",
            f"no item failed in {run.key}, the latest run of {config.config_id} on {dataset_id}",
            why=[f"{run.key}: {plural(len(rows), 'item')}, none failed"],
            next=f"to ask every item anew: {anew}",
        )
    return Taken(run, len(rows) - n_failed, n_failed)


def refuse_other(taken: Taken, made: Mapping[str, Any], *, asks_model: bool) -> None:
    """Refuse to take over answers of another arm, of other items, or of an adapter that was another then.

    What the answers are scored against may differ: they are scored anew. So may the adapter of an arm that
    asks a model, which does not make its answers.
    """
    began = taken.run.fingerprint
    found = fingerprint.compared(
        _answers(began, asks_model=asks_model), _answers(made, asks_model=asks_model)
    )
    if found:
        raise Refusal(
            "other-fingerprint",
            f"the answers of {taken.run.key} are not those of the arm that is here now: none is taken over",
            why=[f"{one.key}: {one.one!r} → {one.other!r}" for one in found[:SHOWN]],
            next="put back what changed, or ask every item anew: "
            f"evh run --config {taken.run.config_id} --dataset-id {taken.run.dataset_id}",
        )


def answers(project: Project, run: Run) -> Iterator[Prediction]:
    """Give a row, with its output and unscored, for each answer that ``run`` takes over; for most runs none.

    Raises:
        Refusal: an output of the run that they come from is not what it recorded.
    """
    told = run.extra.get(TAKEN)
    origin = str(told.get("from")) if isinstance(told, dict) else ""
    if not origin:
        return
    folder, _, name = origin.rpartition("/")
    source = runs.read(project, name, folder=folder or None)
    rows = runs.predictions(project, source)
    texts = runs.outputs(project, source, rows, verify=True)
    for row in rows:
        text = texts.get(row.item_id)
        if row.error is None and text is not None:
            hidden = {key: value for key, value in row.hidden.items() if key != OUTPUT_SHA}
            yield replace(row, scores={}, decision=None, output=text, hidden=hidden)


def _answers(made: Mapping[str, Any], *, asks_model: bool) -> dict[str, Any]:
    """Return the parts of a fingerprint that make the answers."""
    data = made.get("data") or {}
    instrument = made.get("instrument") or {}
    return {
        "arm": made.get("arm") or {},
        "data": {key: data.get(key) for key in ("dataset", "items_sha256", "limit")},
        "instrument": {}
        if asks_model
        else {key: instrument.get(key) for key in ("adapter", "adapter_sha256", "libraries")},
        "system_under_test": made.get("system_under_test") or {},
    }
