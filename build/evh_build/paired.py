"""The paired test of two arms, as the page that compares them shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.power import POWER
from evh_build.forest import p_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from evh.acts.pair_test import PairArm, PairTest
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class TestView:
    """Two arms, first minus second, turned so that more is better.

    ``how`` says how p was made and at which level it is read, ``power`` what so few items can show.
    """

    metric: str
    higher: bool
    against: Mark | None
    arms: tuple[PairArm, PairArm]
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p: str
    significant: bool
    how: str
    power: tuple[str, ...]
    notes: tuple[str, ...]


def test_view(source: Source, found: PairTest, unread: Collection[str]) -> TestView:
    """Return a paired test as a page shows it; ``unread`` notes are told elsewhere."""
    goal = f" (goal {found.rules.goal})" if found.rules.goal else ""
    how = "no test can be made"
    if found.p is not None:
        made = "all sign patterns counted" if found.counted else f"by {found.method}"
        word = "significant" if found.significant else "not significant"
        how = f"{made}; {word} at {found.rules.alpha:g}{goal}; not corrected: it is the p of this pair alone"
    power = []
    if found.p is not None and not found.significant:
        least = "no difference" if found.smallest is None else f"a difference of {found.smallest:.3f} or more"
        power.append(f"So many items would show {least} at {POWER:.0%} power.")
    if found.power is not None and found.difference:
        needed = f"; {found.needed:,} items would have {POWER:.0%}" if found.needed else ""
        power.append(f"Power for a difference like this one: {found.power:.0%}{needed}.")
    if found.mcnemar is not None:
        power.append(f"Exact McNemar: p = {p_text(found.mcnemar)}.")
    if found.inside_spread:
        power.append("The difference is inside the spread of the arms’ own repeats.")
    return TestView(
        metric=found.metric,
        higher=found.higher,
        against=source.mark(found.against) if found.against else None,
        arms=found.arms,
        n=found.n,
        difference=found.difference,
        low=found.low,
        high=found.high,
        p=p_text(found.p),
        significant=found.significant,
        how=how,
        power=tuple(power),
        notes=tuple(note for note in found.notes if note not in unread),
    )
