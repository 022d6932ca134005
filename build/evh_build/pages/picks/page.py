"""The picks: what waits for the next version of each dataset, and what versions took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.picked import PickGroup, UsedPick, groups, used
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The picks.

    Attributes:
        groups: what waits, by the dataset that it waits for; those that name none yet last.
        used: the picks that a version took.
    """

    groups: tuple[PickGroup, ...]
    used: tuple[UsedPick, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    name = known.a_dataset(source)
    target = known.a_target(source, name)
    words = ("inspect", "--sheet", "--dataset-id", name, *(("--new-vs", target) if target else ()))
    aim = ("--for", target) if target else ()
    yield Leaf(
        urls.PICKS,
        Context(
            title="Picks",
            section="picks",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("list them", "picks"),
                command("look for more", *words),
                command("mark an item", "pick", "--dataset-id", name, "--item", "ITEM", *aim),
            ),
            groups=groups(source),
            used=used(source),
        ),
    )


PAGE = Page("picks", Context, make)
