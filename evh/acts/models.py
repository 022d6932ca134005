"""The list of model records: which model each is, which arms name it, and when it last answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.project import configs, models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.model import Model


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One model record, the configs that name it, and its latest smoke call (None: there was none)."""

    model: Model
    arms: tuple[str, ...]
    smoke: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The model records by id. ``lacking``: record that is not here → the configs that name it."""

    lines: tuple[ModelLine, ...]
    lacking: Mapping[str, tuple[str, ...]]
    problems: tuple[Refusal, ...]


def listing(project: Project) -> Listing:
    """Return the model records of a project."""
    problems: list[Refusal] = []
    named: dict[str, list[str]] = {}
    for config in configs.read_all(project, problems):
        if config.model_record:
            named.setdefault(config.model_record, []).append(config.config_id)
    here = models.read_all(project, problems)
    lines = [
        ModelLine(one, tuple(sorted(named.get(one.model_id, ()))), one.smokes[-1] if one.smokes else None)
        for one in here
    ]
    gone = {
        key: tuple(sorted(arms)) for key, arms in sorted(named.items()) if not models.exists(project, key)
    }
    return Listing(tuple(lines), gone, tuple(problems))
