"""Who leads, who may be as good, who is behind: the words that a ranking may say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.power import ALPHA
from evh.measure.significance import bonferroni

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEADER = "leader"
CONTENDER = "contender"
BEHIND = "behind"

BETTER = "better"
"""A contender that the paired test puts before the leader: they were scored on different items."""
SMALL = "small"
"""A contender that is surely behind the leader, by less than the least effect."""
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired test of two arms on the items both have: its two-sided p, and first minus second.

    Each is None where none can be made.
    """

    p: float | None = None
    difference: float | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One arm's place in a field.

    Attributes:
        verdict: ``leader`` (the best mean, or one that ties with it), ``contender`` (not told apart from the
            leader), ``behind``; None for an arm that does not compete, has no mean, or competes with none.
        p: of the test against the leader, as it is; None for a leader and where none was made.
        corrected: that p times the arms that could have led but one (Bonferroni).
        against: the place of the leader that it is told against; None where it is against none.
        why: what makes a contender of an arm that the test does tell apart: `BETTER` or `SMALL`; else None.
    """

    verdict: str | None
    p: float | None = None
    corrected: float | None = None
    against: int | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A field of arms, decided.

    Attributes:
        standings: one an arm, in their order.
        leaders: the places of the best arms: two or more tie; empty where fewer than two compete.
        arms: how many compete; the correction is for all of them but one.
        alone: one arm leads and every other is behind.
    """

    standings: tuple[Standing, ...]
    leaders: tuple[int, ...]
    arms: int
    alone: bool


def decide(
    means: Sequence[float | None],
    test: Callable[[int, int], Paired],
    *,
    higher: bool = True,
    competes: Sequence[bool] | None = None,
    alpha: float = ALPHA,
    min_effect: float = 0.0,
) -> Decision:
    """Return the verdict on each arm.

    The leader was picked because it did best, so its p against each other arm is corrected for every arm that
    it could have been: with no true difference an arm leads alone in at most alpha of such fields. An arm is
    behind where the corrected p is below alpha and the paired difference speaks for the leader and is no
    smaller than the least effect. A mean is over an arm's own items and the test over those that both have,
    so the test can speak for the other arm: that one is a contender, and `BETTER`.

    An arm against several that tie for the lead is behind only where it is behind each; else it is told
    against one that it is better than, then one that it is not told apart from, of these the one with the
    largest p.

    Args:
        means: one an arm; None where it was scored on nothing.
        test: gives the paired test of two arms, by place, as measured.
        higher: whether more is better.
        competes: which arms may lead; all by default. The others get no verdict.
        alpha: the level.
        min_effect: a paired difference from the leader below this does not put an arm behind.
    """
    allowed = competes or [True] * len(means)
    sign = 1.0 if higher else -1.0
    values = {
        place: sign * mean
        for place, (mean, may) in enumerate(zip(means, allowed, strict=True))
        if may and mean is not None
    }
    if len(values) < 2:  # an arm that competes with none beats none
        return Decision(tuple(Standing(None) for _ in means), (), len(values), alone=False)
    best = max(values.values())
    leaders = tuple(place for place, value in values.items() if value == best)

    def against(leader: int, place: int) -> Standing:
        found = test(leader, place)
        corrected = None if found.p is None else bonferroni(found.p, len(values) - 1)
        verdict, why = CONTENDER, None
        if corrected is not None and corrected < alpha and found.difference is not None:
            ahead = round(sign * found.difference, _DIGITS)
            if ahead < 0:
                why = BETTER
            elif ahead < min_effect:
                why = SMALL
            else:
                verdict = BEHIND
        return Standing(verdict, found.p, corrected, leader, why)

    standings = []
    for place in range(len(means)):
        if place not in values:
            standings.append(Standing(None))
        elif place in leaders:
            standings.append(Standing(LEADER))
        else:
            standings.append(min((against(leader, place) for leader in leaders), key=_told_first))
    alone = len(leaders) == 1 and all(one.verdict in (LEADER, BEHIND, None) for one in standings)
    return Decision(tuple(standings), leaders, len(values), alone=alone)


def _told_first(one: Standing) -> tuple[int, bool, float]:
    """Return what orders an arm's standings against leaders that tie: the one that is told comes first."""
    order = {BETTER: 0, None: 1, SMALL: 2}
    return (3 if one.verdict == BEHIND else order[one.why], one.p is not None, -(one.p or 0.0))
