"""A field as values: arms on one dataset ranked by one metric against one set, with how sure each word is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.power import ALPHA

if TYPE_CHECKING:
    from evh.acts.sheet_model import Against
    from evh.measure.scores import Majority
    from evh.records.goal import Goal
    from evh.records.run import Run

BY_FLIPS = "sign flips"
BY_CLASSES = "bootstrap within class"


@dataclass(frozen=True, slots=True)
class Rules:
    """How arms are compared: the level, the least difference that matters, what is better, whose rules."""

    alpha: float = ALPHA
    min_effect: float = 0.0
    higher: bool | None = None
    goal: str | None = None


def rules_of(goal: Goal | None) -> Rules:
    """Return a goal's rules, or the usual ones."""
    if goal is None:
        return Rules()
    return Rules(ALPHA if goal.alpha is None else goal.alpha, goal.min_effect, goal.higher, goal.goal_id)


@dataclass(frozen=True, slots=True)
class Spread:
    """An arm's repeats: how many, and the least and the largest of their figures."""

    runs: tuple[str, ...]
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart the arm's own runs lie."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class FieldArm:
    """One arm in a field.

    Attributes:
        name: the config's id, or the run's that was asked for.
        run: the run that holds the scores.
        recorded: it replays production's own decisions.
        value: its mean, or its figure; of repeats the mean.
        low, high: the 95 % interval; None where there is too little to draw from.
        n, of: items that it was scored on, of the dataset's.
        errors: items that failed: they are in no mean.
        verdict: ``leader``, ``contender`` or ``behind``; None for an arm that may not lead, and where no
            verdict may be given.
        n_both: items that it and the leader were both scored on; None for a leader.
        difference: the leader minus it, over those, turned so that more is better.
        difference_low, difference_high: its interval.
        p: of the paired test against the leader, as it is.
        corrected: that p, corrected for every arm that could have led.
        smallest: the smallest difference that so many items would show, where the arm is a contender; None
            where none would.
        majority: what an arm that always says the same scores as right, on the items that it was scored on.
        own: measured on labels made from its own outputs. fitted: fitted on some of these items. Either
            keeps it from leading.
        floor: its config says that it only shows what is easy. It never leads, whatever its figure.
        spread: of its repeats; None for a single run.
        inside_spread: the difference is no larger than its own or the leader's spread.
        cost_usd, latency_ms: an item's mean cost and median time; None where not recorded.
    """

    name: str
    run: Run
    recorded: bool
    value: float | None
    low: float | None
    high: float | None
    n: int
    of: int
    errors: int
    verdict: str | None
    n_both: int | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    p: float | None
    corrected: float | None
    smallest: float | None
    majority: float | None
    own: bool
    fitted: bool
    floor: bool
    spread: Spread | None
    inside_spread: bool
    cost_usd: float | None
    latency_ms: float | None

    @property
    def flagged(self) -> bool:
        """Whether its figure says less than it seems: it never leads."""
        return self.own or self.fitted


@dataclass(frozen=True, slots=True)
class Field:
    """Arms ranked by one metric against one set.

    Attributes:
        dataset_id: the dataset.
        metric: what they are ranked by.
        against: what the scores were made against; None for scores that name no set.
        higher: whether more is better.
        rules: the level and whose it is.
        arms: the best first; flagged ones last.
        leaders: the names of the arms with the best figure: two or more tie. Empty where no leader is drawn.
        competing: how many arms may lead.
        alone: one arm leads and every other is behind.
        method: ``sign flips``, ``bootstrap within class``, or empty: no test is made.
        correction: how p is corrected, in words; empty where nothing is.
        clusters: in how many clusters the items lie; None where the dataset names no cluster field.
        majority: the commonest answer over all items that the set labels.
        distinct: how many answers the set tells apart; None where there is no set.
        notes: sentences that a reader must see.
    """

    dataset_id: str
    metric: str
    against: Against | None
    higher: bool
    rules: Rules
    arms: tuple[FieldArm, ...]
    leaders: tuple[str, ...]
    competing: int
    alone: bool
    method: str
    correction: str
    clusters: int | None
    majority: Majority | None
    distinct: int | None
    notes: tuple[str, ...]

    def arm(self, name: str) -> FieldArm | None:
        """Return the arm of that name, or None."""
        return next((one for one in self.arms if one.name == name), None)
