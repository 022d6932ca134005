"""Checking every promise that the records of a project's folder make, by reading alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import (
    validate_evidence,
    validate_figures,
    validate_goals,
    validate_judges,
    validate_labels,
    validate_records,
    validate_tree,
)
from evh.acts.findings import Finding, Findings, Note
from evh.store import atomic

if TYPE_CHECKING:
    from evh.project.find import Project

__all__ = ["Finding", "Note", "Report", "validate"]

CHECKS = (
    validate_tree.check,
    validate_records.check_datasets,
    validate_records.check_captures,
    validate_records.check_configs,
    validate_records.check_runs,
    validate_figures.check,
    validate_labels.check_sets,
    validate_labels.check_references,
    validate_records.check_baselines,
    validate_goals.check_goals,
    validate_goals.check_superseded,
    validate_judges.check,
    validate_records.check_picks,
    validate_evidence.check,
)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found. ``checked`` counts the records read, by noun; ``cleaned`` are the leftovers removed."""

    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    checked: Mapping[str, int]
    cleaned: tuple[str, ...]


def validate(project: Project, *, clean: bool = False, dry_run: bool = False) -> Report:
    """Return what breaks the promises of the data layout in a project. Nothing of the project's code is run.

    Args:
        project: the project.
        clean: remove what unfinished writes left (``.tmp-*``); nothing else is ever touched.
        dry_run: with ``clean``, name what would be removed and leave it.

    Cost: every record, item, label and output is read once.
    """
    found = Findings(project)
    leftovers = validate_tree.leftovers(project)
    cleaned = []
    for path in leftovers:
        holder = validate_tree.writer_of(path)
        if clean and holder is None:
            if not dry_run:
                atomic.remove(path)
            cleaned.append(project.show(path))
        else:
            reason = (
                "an unfinished write left it" if holder is None else f"process {holder} may be writing it"
            )
            found.warning("leftover", path, f"{reason}; evh validate --clean removes it")
    for check in CHECKS:
        found.attempt(project.data, check, found)
    order = {"error": 0, "warning": 1}
    return Report(
        findings=tuple(
            sorted(set(found.findings), key=lambda one: (order[one.severity], one.file, one.reason))
        ),
        notes=tuple(sorted(found.notes, key=lambda one: (one.code, one.file, one.reason))),
        checked=found.checked,
        cleaned=tuple(cleaned),
    )
