"""The list of datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of datasets.

    Attributes:
        rows: a dataset a row, from ``datasets.sql``, with the paths of its page and sheet.
    """

    rows: tuple[dict[str, Any], ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    rows = tuple(
        {
            **row,
            "path": source.urls.dataset(row["dataset_id"]),
            "sheet": source.urls.sheet(row["dataset_id"]),
            "parent_path": source.urls.dataset(row["parent"] or ""),
        }
        for row in source.rows("datasets", "datasets")
    )
    yield Leaf(
        urls.DATASETS,
        Context(
            title="Datasets",
            section="datasets",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command(
                    "make one of production records",
                    "dataset-from-capture", "--capture", known.a_capture(source), "--dataset-id", "NAME",
                ),
                command(
                    "make one from files",
                    "dataset-create", "--dataset-id", "NAME", "--from-file", "items.jsonl",
                ),
            ),
            rows=rows,
        ),
    )  # fmt: skip


PAGE = Page("datasets", Context, make, queries=("datasets",))
