"""The list of label sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.labelset import LabelSet
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class SetView:
    """A label set in the list: its mark, dataset, task, coverage, guideline and what was promoted from it."""

    mark: Mark
    dataset_id: str
    dataset: str | None
    task: str
    created_at: str
    n_items: int
    of: int | None
    guideline: str | None
    conflicts: int
    promoted: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of label sets.

    Attributes:
        sets: a set a row, by dataset, then name.
    """

    sets: tuple[SetView, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    yield Leaf(
        urls.LABELS,
        Context(
            title="Label sets",
            section="labels",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command(
                    "a sheet for a person to fill", "label-sheet", "--dataset-id", "D", "--out", "sheet.csv"
                ),
                command(
                    "read it back",
                    "label-import",
                    "sheet.csv",
                    "--dataset-id",
                    "D",
                    "--set",
                    "S",
                    "--by",
                    "NAME",
                ),
            ),
            sets=tuple(view(source, one) for one in source.gathered.label_sets.values()),
        ),
    )


def view(source: Source, one: LabelSet) -> SetView:
    """Return a set as lists show it."""
    dataset = source.gathered.datasets.get(one.dataset_id)
    guideline = one.guideline or {}
    return SetView(
        mark=source.mark_of_ref(f"labels/{one.ref}"),
        dataset_id=one.dataset_id,
        dataset=source.urls.dataset(one.dataset_id),
        task=source.gathered.sources.task_of(one),
        created_at=one.created_at,
        n_items=one.n_items,
        of=len(dataset.items) if dataset else None,
        guideline=str(guideline["file"]) if guideline.get("file") else None,
        conflicts=len(one.conflicts),
        promoted=tuple(
            source.mark_of_ref(ref)
            for ref, reference in source.gathered.references.items()
            if one.ref in reference.label_refs
        ),
    )


PAGE = Page("labels", Context, make)
