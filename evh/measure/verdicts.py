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


@dataclass(frozen=True, slots=True)
class Standing:
    """One arm's place in a field.

    Attributes:
        verdict: ``leader`` (the best mean, or one that ties with it), ``contender`` (not told apart from the
            leader), ``behind``; None for an arm that does not compete or has no mean.
        p: of the test against the leader, as it is; None for a leader and where none was made.
        corrected: that p times the arms that could have led but one (Bonferroni).
    """

    verdict: str | None
    p: float | None = None
    corrected: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A field of arms, decided.

    Attributes:
        standings: one an arm, in their order.
        leaders: the places of the best arms: two or more tie.
        arms: how many compete; the correction is for all of them but one.
        alone: one arm leads and every other is behind.
    """

    standings: tuple[Standing, ...]
    leaders: tuple[int, ...]
    arms: int
    alone: bool


def decide(
    means: Sequence[float | None],
    p: Callable[[int, int], float | None],
    *,
    higher: bool = True,
    competes: Sequence[bool] | None = None,
    alpha: float = ALPHA,
    min_effect: float = 0.0,
) -> Decision:
    """Return the verdict on each arm.

    The leader was picked because it did best, so its p against each other arm is corrected for every arm that
    it could have been: with no true difference an arm leads alone in at most alpha of such fields. An arm
    against several that tie for the lead has the largest of its p values.

    Args:
        means: one an arm; None where it was scored on nothing.
        p: gives the two-sided p of the paired test of two arms, by place; None where none can be made.
        higher: whether more is better.
        competes: which arms may lead; all by default. The others get no verdict.
        alpha: the level.
        min_effect: a difference from the leader below this does not put an arm behind.
    """
    allowed = competes or [True] * len(means)
    sign = 1.0 if higher else -1.0
    values = {
        place: sign * mean
        for place, (mean, may) in enumerate(zip(means, allowed, strict=True))
        if may and mean is not None
    }
    if not values:
        return Decision(tuple(Standing(None) for _ in means), (), 0, alone=False)
    best = max(values.values())
    leaders = tuple(place for place, value in values.items() if value == best)
    standings = []
    for place in range(len(means)):
        if place not in values:
            standings.append(Standing(None))
        elif place in leaders:
            standings.append(Standing(LEADER))
        else:
            found = [p(leader, place) for leader in leaders]
            largest = None if None in found else max(one for one in found if one is not None)
            corrected = None if largest is None else bonferroni(largest, len(values) - 1)
            behind = corrected is not None and corrected < alpha and best - values[place] >= min_effect
            standings.append(Standing(BEHIND if behind else CONTENDER, largest, corrected))
    alone = len(leaders) == 1 and all(one.verdict in (LEADER, BEHIND, None) for one in standings)
    return Decision(tuple(standings), leaders, len(values), alone=alone and len(values) > 1)
