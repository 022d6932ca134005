"""Ids for the commands of pages that speak of no one record: a real one where the project has it.

A command that names what is there can be copied and run as it stands; a word in capitals is for the reader to
replace.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evh_build.source import Source


def a_dataset(source: Source) -> str:
    """Return the newest dataset with labels and runs, else one with runs, else with labels, else ``D``."""
    held = source.gathered
    labelled = {one.dataset_id for one in held.label_sets.values()}
    ran = {run.dataset_id for run in held.runs.values()}

    def key(name: str) -> tuple[object, ...]:
        told = name in labelled and name in ran, name in ran, name in labelled
        return (*told, held.datasets[name].created_at)

    return max(sorted(held.datasets), key=key, default="D")


def a_capture(source: Source, *, whole: bool = False) -> str:
    """Return the newest capture's id, else ``C``; with ``whole`` one that is no part of another."""
    held = source.gathered.captures
    names = [name for name in sorted(held) if not whole or held[name].parent is None]
    return max(names, key=lambda name: held[name].created_at, default="C")


def a_set(source: Source, dataset_id: str) -> str:
    """Return the newest label set of a dataset that no arm made, else ``S``."""
    held = [
        one
        for one in source.gathered.label_sets.values()
        if one.dataset_id == dataset_id and not (one.from_arm or one.reads_output)
    ]
    return max(held, key=lambda one: (one.created_at, one.set)).set if held else "S"


def an_arm(source: Source) -> str:
    """Return the first arm that is run by calling something, else ``ARM``."""
    configs = source.gathered.configs
    return next((name for name in sorted(configs) if not configs[name].recorded), "ARM")


def its_capture(source: Source, dataset_id: str) -> str:
    """Return the capture that a dataset's items came from, else the newest one, else ``C``."""
    dataset = source.gathered.datasets.get(dataset_id)
    named = (
        (str(item.lineage["capture"]) for item in dataset.items if item.lineage.get("capture"))
        if dataset
        else ()
    )
    return next(iter(named), "") or a_capture(source)


def a_target(source: Source, dataset_id: str) -> str:
    """Return the one governed dataset beside this one, that its items may be picked for; empty for none."""
    governed = [name for name, one in source.gathered.datasets.items() if one.governed and name != dataset_id]
    return governed[0] if len(governed) == 1 else ""


def can(act: str) -> bool:
    """Tell whether evh has an act yet, and so the command of the same name."""
    return find_spec(f"evh.acts.{act.replace('-', '_')}") is not None
