"""A capture: where its records came from, what was made of them, and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh_build import urls
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import CaptureView, Link, view
from evh_build.source import command, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.capture import Capture
    from evh_build.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A capture's page.

    Attributes:
        view: the capture as lists show it.
        facts: the manifest's other values, key by key.
        n_no_item: records without an item: in no dataset.
        n_no_time: records without a time: in no half of a split.
        parts: the captures it was split into.
    """

    view: CaptureView
    facts: tuple[tuple[str, str], ...]
    n_no_item: int
    n_no_time: int
    parts: tuple[Link, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a capture."""
    held = source.gathered.captures
    for name, one in held.items():
        path = source.urls.capture(name)
        if path is None:
            continue
        parts = [part.capture_id for part in held.values() if part.parent == name]
        seen = view(source, one)
        yield Leaf(
            path,
            Context(
                title=name,
                section="captures",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Captures", urls.CAPTURES)),
                commands=_commands(name, seen),
                view=seen,
                facts=_facts(one),
                n_no_item=one.n_no_item,
                n_no_time=one.n_no_time,
                parts=tuple(Link(part, source.urls.capture(part)) for part in parts),
            ),
        )


def _commands(name: str, seen: CaptureView) -> tuple[Command, ...]:
    """Return what makes more of a capture: first a dataset, then labels over it and production's arm."""
    if not seen.datasets:
        return (
            command(
                "make a dataset of it", "dataset-from-capture", "--capture", name, "--dataset-id", "NAME"
            ),
        )
    on = ("--dataset-id", seen.datasets[0].name, "--capture", name)
    rules = command(
        "labels by rule from its outcomes", "label-from-capture", *on, "--map", "RULES", "--set", "NAME"
    )
    if seen.arms:
        return (command("what is in it", "captures"), rules)
    return (command("make production an arm", "arm-from-capture", *on, "--as", "production"), rules)


def _facts(one: Capture) -> tuple[tuple[str, str], ...]:
    told: dict[str, Any] = {
        "source": dict(one.source),
        "adapter": dict(one.adapter or {}),
        "split": dict(one.split or {}),
        "sample": dict(one.sample or {}),
        "scrub": dict(one.scrub or {}),
        "since_capture": one.since_capture,
        "records_sha256": one.records_sha256,
    }
    return flat(told)


PAGE = Page("capture", Context, make)
