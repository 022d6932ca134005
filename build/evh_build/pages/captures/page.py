"""The list of captures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.capture import Capture
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class Link:
    """A name and the page it leads to, where it has one."""

    name: str
    path: str | None


@dataclass(frozen=True, slots=True)
class CaptureView:
    """A capture in the list: the datasets made of it, the label sets over it, the arms that replay it."""

    capture_id: str
    path: str | None
    created_at: str
    n_records: int
    time_range: tuple[str, str] | None
    parent: Link | None
    datasets: tuple[Link, ...]
    sets: tuple[Mark, ...]
    arms: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of captures.

    Attributes:
        captures: a capture a row, by id.
    """

    captures: tuple[CaptureView, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    yield Leaf(
        urls.CAPTURES,
        Context(
            title="Captures",
            section="captures",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("bring production records in", "capture", "--as", "NAME", "--from-file", "FILE"),
                command(
                    "split one by time",
                    "split", "--capture", known.a_capture(source, whole=True), "--at", "TIME",
                    "--into", "A,B",
                ),
            ),
            captures=tuple(view(source, one) for one in source.gathered.captures.values()),
        ),
    )  # fmt: skip


def view(source: Source, one: Capture) -> CaptureView:
    """Return a capture as lists show it."""
    held = source.gathered
    datasets = [
        row["dataset_id"] for row in source.rows_of("captures", "datasets", capture_id=one.capture_id)
    ]
    arms = [
        name
        for name, config in sorted(held.configs.items())
        if config.recorded and config.params.get("capture") == one.capture_id
    ]
    return CaptureView(
        capture_id=one.capture_id,
        path=source.urls.capture(one.capture_id),
        created_at=one.created_at,
        n_records=one.n_records,
        time_range=one.time_range,
        parent=Link(one.parent, source.urls.capture(one.parent)) if one.parent else None,
        datasets=tuple(Link(name, source.urls.dataset(name)) for name in datasets),
        sets=tuple(
            source.mark_of_ref(f"labels/{ref}")
            for ref, label_set in held.label_sets.items()
            if label_set.source.get("capture") == one.capture_id
        ),
        arms=tuple(Link(name, source.urls.arm(name)) for name in arms),
    )


PAGE = Page("captures", Context, make, queries=("datasets",))
