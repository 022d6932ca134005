"""What changed between two runs of an arm, as the later run's page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.store import strict
from evh.store.text import one_line
from evh_build.pages.captures.page import Link

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evh.acts.runs_diff import Diff
    from evh.project.fingerprint import Difference
    from evh.records.run import Run
    from evh_build.source import Source

MOST_ITEMS = 50
LONG = 160


@dataclass(frozen=True, slots=True)
class Changed:
    """A key of two runs with both values, as text."""

    key: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Since:
    """What differs from the run before.

    Attributes:
        run: the run before.
        same: whether both are made of the same; None where one does not say.
        made_of: keys that move the fingerprint.
        beside: keys that do not.
        figures: scores that differ.
        n_both: items that both answered.
        items: those that were decided otherwise, the first ones.
        n_changed: how many were.
        only_before: how many items the run before alone answered.
        only_now: how many this one alone answered.
    """

    run: Link
    same: bool | None
    made_of: tuple[Changed, ...]
    beside: tuple[Changed, ...]
    figures: tuple[Changed, ...]
    n_both: int
    items: tuple[Link, ...]
    n_changed: int
    only_before: int
    only_now: int


def since(source: Source, run: Run) -> Since | None:
    """Return what differs from an arm's run before this one; None for the first."""
    found = source.gathered.deciding.diff(run)
    return None if found is None else _since(source, found)


def _since(source: Source, found: Diff) -> Since:
    name = found.other.dataset_id
    return Since(
        run=Link(found.one.run_id, source.urls.run(found.one.key)),
        same=found.same,
        made_of=_keys(found.made_of),
        beside=_keys(found.beside),
        figures=tuple(Changed(one.name, _number(one.one), _number(one.other)) for one in found.figures),
        n_both=found.n_both,
        items=tuple(Link(item, source.urls.full(name, item)) for item in found.changed[:MOST_ITEMS]),
        n_changed=len(found.changed),
        only_before=len(found.only_one),
        only_now=len(found.only_other),
    )


def _keys(differences: Iterable[Difference]) -> tuple[Changed, ...]:
    return tuple(Changed(one.key, _value(one.one), _value(one.other)) for one in differences)


def _value(value: object) -> str:
    if value is None:
        return "nothing"
    return one_line(value if isinstance(value, str) else strict.compact(value), LONG)


def _number(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}".replace("-", "−")
