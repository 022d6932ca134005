"""The guide's pages, as ``evh help`` has them: the Markdown files of ``evh/guide``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from evh_build.markdown import Document, document

ORDER = (
    "tutorial",
    "project",
    "data",
    "configs",
    "adapters",
    "runs",
    "labels",
    "label-rules",
    "sheet",
    "goals",
    "judges",
    "versions",
    "evidence",
    "importing",
    "catalog",
)
"""The order in which the pages are read; what is not here follows by name."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One page of the guide: the name that ``evh help`` knows it by, and what it says."""

    name: str
    page: Document


@cache
def topics() -> tuple[Topic, ...]:
    """Return the pages of the guide, in the order in which they are read."""
    from importlib.resources import files

    made = [
        Topic(path.name.removesuffix(".md"), document(path.read_text(encoding="utf-8")))
        for path in files("evh").joinpath("guide").iterdir()
        if path.name.endswith(".md")
    ]
    places = {name: at for at, name in enumerate(ORDER)}
    return tuple(sorted(made, key=lambda one: (places.get(one.name, len(ORDER)), one.name)))
