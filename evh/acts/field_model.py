"""A field as values: arms on one dataset ranked by one metric against one set, with how sure each word is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.power import ALPHA

if TYPE_CHECKING:
    from evh.acts.figures import Against, Spread
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
class JudgedBy:
    """The judge whose metric arms are ranked by: its name, who or what judged, and of which kind it is.

    ``validated`` tells that it was measured against people.
    """

    scorer: str
    by: str
    by_kind: str
    validated: bool


@dataclass(frozen=True, slots=True)
class FieldPair:
    """Two arms of a field, ``a`` ranked before ``b``.

    ``difference``, ``low`` and ``high`` are the first minus the second on the ``n`` items that both have,
    turned so that more is better. ``p`` is the paired test's, ``p_holm`` that corrected for every pair of the
    field; each is None where no test can be made. ``apart`` tells that the corrected p is below the level.
    """

    a: str
    b: str
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    apart: bool


@dataclass(frozen=True, slots=True)
class FieldArm:
    """One arm in a field.

    Attributes:
        name: the config's id, or the run's that was asked for.
        run: the run that holds the scores; a judged run where a judge gave them.
        to_promote: the key of the run that is promoted where the arm is chosen.
        recorded: it replays production's own decisions.
        value: its mean, or its figure; of repeats the mean.
        low, high: the 95 % interval; None where there is too little to draw from.
        n, of: items that it was scored on, of the dataset's.
        errors: items that failed: they are in no mean.
        to_score: how many items it can be scored on: those that the set labels, all where there is no set.
        covered: those of them that it was scored on. failed: those that failed and were never scored.
        verdict: ``leader``, ``contender`` or ``behind``; None for an arm that may not lead, and where no
            verdict may be given.
        leader: the leader that it is told against; None for a leader, and where there is none.
        why: of a contender that the paired test tells apart from the leader: how, in words; else empty.
        n_both: items that it and the leader were both scored on; None for a leader.
        difference: the leader minus it, over those, turned so that more is better.
        difference_low, difference_high: its interval.
        p: of the paired test against the leader, as it is.
        corrected: that p, corrected for every arm that could have led.
        smallest: the smallest difference that so many items would show, where the arm is a contender that
            they do not tell apart; None where none would.
        majority: what an arm that always says the same scores as right, on the items that it was scored on.
        own: measured on labels made from its own outputs. fitted: fitted on some of these items. Either
            keeps it from leading.
        floor: its config says that it only shows what is easy. It never leads, whatever its figure.
        trial: over how many of the items its run was a trial (``--limit``), which keeps it from leading; None
            for a whole run.
        spread: of its repeats; None for a single run.
        inside_spread: the difference is no larger than its own or the leader's spread.
        cost_usd, latency_ms: an item's mean cost and median time; None where not recorded.
    """

    name: str
    run: Run
    to_promote: str
    recorded: bool
    value: float | None
    low: float | None
    high: float | None
    n: int
    of: int
    errors: int
    verdict: str | None
    leader: str | None
    why: str
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
    trial: int | None
    spread: Spread | None
    inside_spread: bool
    cost_usd: float | None
    latency_ms: float | None
    to_score: int
    covered: int
    failed: int

    @property
    def coverage(self) -> float:
        """The share of the items that it can be scored on that it was scored on."""
        return self.covered / self.to_score if self.to_score else 0.0

    @property
    def flagged(self) -> bool:
        """Whether its figure says less than it seems: it never leads."""
        return self.own or self.fitted or self.trial is not None


@dataclass(frozen=True, slots=True)
class Field:
    """Arms ranked by one metric against one set.

    Attributes:
        dataset_id: the dataset.
        metric: what they are ranked by.
        against: what the scores were made against; None for scores that name no set.
        judge: whose metric it is; None for a run's own.
        higher: whether more is better.
        rules: the level and whose it is.
        arms: the best first; flagged ones last.
        pairs: every two of the arms that may lead, in that order.
        leaders: the names of the arms with the best figure: two or more tie. Empty where no leader is drawn,
            as among fewer than two that may lead.
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
    judge: JudgedBy | None
    higher: bool
    rules: Rules
    arms: tuple[FieldArm, ...]
    pairs: tuple[FieldPair, ...]
    leaders: tuple[str, ...]
    competing: int
    alone: bool
    method: str
    correction: str
    clusters: int | None
    majority: Majority | None
    distinct: int | None
    notes: tuple[str, ...]

    @property
    def only(self) -> FieldArm | None:
        """The arm that alone may lead; None where none, or more than one, may."""
        if self.competing != 1:
            return None
        able = (one for one in self.arms if not one.flagged and not one.floor and one.value is not None)
        return next(able, None)

    @property
    def better(self) -> tuple[FieldArm, ...]:
        """The contenders that the paired test puts before the leader, on the items both have."""
        return tuple(one for one in self.arms if one.why and (one.difference or 0.0) < 0)

    def arm(self, name: str) -> FieldArm | None:
        """Return the arm of that name, or None."""
        return next((one for one in self.arms if one.name == name), None)
