"""The list of reference sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.reference import Reference
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """A reference in the list; ``promoted`` is empty where no promotion is on record."""

    mark: Mark
    dataset_id: str
    dataset: str | None
    n_items: int
    of: int | None
    created_at: str
    promoted: tuple[Mark, ...]
    reason: str | None
    promoted_by: str | None
    caveat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of reference sets.

    Attributes:
        references: a reference a row, by tier, then name.
    """

    references: tuple[ReferenceView, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    name = known.a_dataset(source)
    yield Leaf(
        urls.REFERENCES,
        Context(
            title="Reference sets",
            section="references",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command(
                    "promote labels",
                    "reference-promote", "--dataset-id", name, "--labels", known.a_set(source, name),
                    "--tier", "silver", "--reason", "WHY",
                ),
                command("list them", "references"),
            ),
            references=tuple(view(source, one) for one in source.gathered.references.values()),
        ),
    )  # fmt: skip


def view(source: Source, one: Reference) -> ReferenceView:
    """Return a reference as lists show it."""
    dataset = source.gathered.datasets.get(one.dataset_id)
    return ReferenceView(
        mark=source.mark_of_ref(one.ref),
        dataset_id=one.dataset_id,
        dataset=source.urls.dataset(one.dataset_id),
        n_items=one.n_items,
        of=len(dataset.items) if dataset else None,
        created_at=one.created_at,
        promoted=tuple(source.mark_of_ref(f"labels/{ref}") for ref in one.label_refs),
        reason=one.reason,
        promoted_by=one.promoted_by,
        caveat=one.caveat,
    )


PAGE = Page("references", Context, make)
