"""Changing a dataset's flags, and nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import datasets

if TYPE_CHECKING:
    from evh.acts.dataset_create import Flags
    from evh.project.find import Project
    from evh.records.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Change:
    """One flag, before and after; ``changed`` is False where it already was so."""

    flag: str
    before: object
    after: object

    @property
    def changed(self) -> bool:
        """Whether the two differ."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Plan:
    """The flags that were asked for, each with what it is now."""

    dataset_id: str
    flags: Flags
    changes: tuple[Change, ...]


def plan(project: Project, dataset_id: str, flags: Flags) -> Plan:
    """Return what would change.

    Raises:
        Refusal: there is no such dataset, no flag was given, or no item has the cluster field.
    """
    dataset = datasets.read(project, dataset_id)
    if not flags.given:
        raise Refusal(
            "bad-options",
            "nothing to change",
            why=[
                (
                    "give at least one of --governed, --visibility, --redistribute, --task, "
                    "--cluster-field, --description"
                )
            ],
            next="evh dataset-set --help",
        )
    flags.check(dataset.items)
    return Plan(dataset_id, flags, _changes(dataset, flags))


def commit(project: Project, plan: Plan) -> Plan:
    """Write the manifest where something changes; return what changed, as it was at the writing."""
    if not any(change.changed for change in plan.changes):
        return plan
    seen: list[tuple[Change, ...]] = []

    def change(dataset: Dataset) -> Dataset:
        seen.append(_changes(dataset, plan.flags))
        return replace(dataset, **plan.flags.given)

    datasets.amend(project, plan.dataset_id, change)
    return replace(plan, changes=seen[0])


def _changes(dataset: Dataset, flags: Flags) -> tuple[Change, ...]:
    return tuple(Change(name, getattr(dataset, name), value) for name, value in flags.given.items())
