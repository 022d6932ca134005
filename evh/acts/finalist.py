"""Which arm a group suggests for a goal, by the goal's strategy and limits, with the reason in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field_notes
from evh.measure.verdicts import CONTENDER, LEADER
from evh.records.goal import CHEAPEST, FASTEST, FRONTIER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.field_model import Field, FieldArm
    from evh.records.goal import Goal


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A leader or contender that cannot be the finalist, and why."""

    arm: str
    why: str


@dataclass(frozen=True, slots=True)
class Finalist:
    """What a group suggests.

    Attributes:
        arm: the arm's name; None where none is suggested.
        reason: why, or why none.
        frontier: for the strategy ``frontier``: the arms that no other one beats in all of figure, cost and
            time.
        left_out: leaders and contenders that cannot be it.
    """

    arm: str | None
    reason: str
    frontier: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def suggest(field: Field, goal: Goal) -> Finalist:
    """Return the finalist of a group; none on a tie, where no leader may be drawn, or where it is in doubt.

    Only the leader and contenders come into question: they are the arms that nothing tells apart from the
    best, or not by enough to matter. An arm that alone may lead is suggested as such, though it beats nobody.
    A recorded arm replays production, so there is nothing of it to deploy. An arm over a limit, or one of
    which the limited measure is not recorded, is left out; so is one that was scored on less than nine tenths
    of what the best-covered arm was. Where the paired test puts an arm before a leader that is not left out,
    they were scored on different items, and nothing is suggested.

    Args:
        field: the group, from `field.verdicts` with the goal's rules.
        goal: the goal.
    """
    alone = field.only
    if not field.leaders and alone is None:
        return Finalist(None, _why_none(field))
    able = [alone] if alone else [arm for arm in field.arms if arm.verdict in (LEADER, CONTENDER)]
    left_out = tuple(LeftOut(arm.name, why) for arm in able if (why := _barred(arm, goal, field)))
    barred = {one.arm for one in left_out}
    left = [arm for arm in able if arm.name not in barred]
    if len(field.leaders) > 1:
        return Finalist(None, f"{', '.join(field.leaders)} tie for the lead: you choose", (), left_out)
    doubt = [one for one in field.better if one.leader not in barred]
    if doubt:
        told = "; ".join(f"{one.name} is {one.why}" for one in doubt)
        return Finalist(None, f"{told}: compare them on common items, and you choose", (), left_out)
    if not left:
        told = "; ".join(f"{one.arm} {one.why}" for one in left_out)
        return Finalist(None, f"no leader or contender can be it: {told}", (), left_out)
    if goal.strategy == FRONTIER:
        return _frontier(field, left, left_out)
    if goal.strategy in (CHEAPEST, FASTEST):
        return _least(field, left, left_out, goal.strategy)
    best = _best(field, left)
    if len(best) > 1:
        return Finalist(None, f"{', '.join(one.name for one in best)} tie: you choose", (), left_out)
    return Finalist(best[0].name, _why_best(field, best[0], left_out), (), left_out)


def _why_none(field: Field) -> str:
    if field.distinct is not None and field.distinct < 2:
        return "the labels tell fewer than two answers apart: no finalist is drawn from them"
    if field.arms and all(arm.flagged or arm.floor for arm in field.arms):
        words = {
            "measured on its own labels": [arm for arm in field.arms if arm.own],
            "fitted on some of these items": [arm for arm in field.arms if arm.fitted],
            "a trial over some of the items": [arm for arm in field.arms if arm.trial is not None],
            "a floor": [arm for arm in field.arms if arm.floor],
        }
        return f"every arm is {' or '.join(word for word, arms in words.items() if arms)}"
    return "no leader can be told here"


def _barred(arm: FieldArm, goal: Goal, field: Field) -> str | None:
    if arm.recorded:
        return "replays what was recorded: there is nothing of it to deploy"
    thin = field_notes.thin(arm, field.arms)
    if thin:
        return thin
    limits = goal.limits
    for name, value, most, unit in (
        ("cost", arm.cost_usd, limits.cost_usd_per_item, "USD an item"),
        ("time", arm.latency_ms, limits.latency_ms, "ms an item"),
    ):
        if most is not None and value is None:
            return f"has no {name} on record, and the goal limits it"
        if most is not None and value is not None and value > most:
            return f"takes {value:.6g} {unit}, over the limit of {most:g}"
    if goal.strategy == CHEAPEST and arm.cost_usd is None:
        return "has no cost on record"
    if goal.strategy == FASTEST and arm.latency_ms is None:
        return "has no time on record"
    return None


def _best(field: Field, arms: Sequence[FieldArm]) -> list[FieldArm]:
    sign = 1 if field.higher else -1
    top = max(sign * (arm.value or 0.0) for arm in arms)
    return [arm for arm in arms if sign * (arm.value or 0.0) == top]


def _why_best(field: Field, arm: FieldArm, left_out: Sequence[LeftOut]) -> str:
    if field.only is not None:
        return f"it is alone by {field.metric}"
    if arm.verdict == LEADER:
        others = [one for one in field.arms if one.verdict == CONTENDER]
        near = ", ".join(one.name for one in others if not one.why)
        said = [f"not told apart from {near}"] if near else []
        said += [f"{one.name} is {one.why}" for one in others if one.why]
        return f"it leads by {field.metric}; {'; '.join(said) or 'every other arm is behind it'}"
    first = next((one for one in left_out if one.arm in field.leaders), None)
    passed = f"; {first.arm} leads and {first.why}" if first else ""
    return f"the best contender by {field.metric}{passed}"


def _least(field: Field, arms: Sequence[FieldArm], left_out: tuple[LeftOut, ...], strategy: str) -> Finalist:
    cost = strategy == CHEAPEST
    word, unit = ("cheapest", "USD an item") if cost else ("fastest", "ms an item")
    values = {arm.name: (arm.cost_usd if cost else arm.latency_ms) or 0.0 for arm in arms}
    least = min(values.values())
    found = [name for name, value in values.items() if value == least]
    if len(found) > 1:
        return Finalist(
            None, f"{', '.join(found)} tie for the {word} at {least:.6g} {unit}: you choose", (), left_out
        )
    arm = field.arm(found[0])
    if field.only is not None:
        told = "alone"
    elif arm is not None and arm.verdict == LEADER:
        told = "it leads"
    elif arm is not None and arm.why:
        return Finalist(
            found[0], f"the {word} at {least:.6g} {unit}; by {field.metric} it is {arm.why}", (), left_out
        )
    else:
        told = f"not told apart from the leader {field.leaders[0]}"
    return Finalist(found[0], f"the {word} at {least:.6g} {unit}; {told} by {field.metric}", (), left_out)


def _frontier(field: Field, arms: Sequence[FieldArm], left_out: tuple[LeftOut, ...]) -> Finalist:
    """Return the arms that none beats: no worse in figure, cost and time, and better in one of them.

    Only what both arms have on record is compared.
    """
    sign = 1 if field.higher else -1

    def beats(one: FieldArm, other: FieldArm) -> bool:
        pairs = [
            (-sign * (one.value or 0.0), -sign * (other.value or 0.0)),
            (one.cost_usd, other.cost_usd),
            (one.latency_ms, other.latency_ms),
        ]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        return all(a <= b for a, b in known) and any(a < b for a, b in known)

    kept = tuple(arm.name for arm in arms if not any(beats(other, arm) for other in arms))
    of = f"on the frontier of {_measured(arms)}"
    if len(kept) == 1:
        return Finalist(kept[0], f"it alone is {of}", kept, left_out)
    return Finalist(None, f"{', '.join(kept)} are {of}: you choose", kept, left_out)


def _measured(arms: Sequence[FieldArm]) -> str:
    """Return what a frontier weighs, in words: the figure, and what two of its arms have on record."""
    least = min(len(arms), 2)
    cost = sum(one.cost_usd is not None for one in arms) >= least
    time = sum(one.latency_ms is not None for one in arms) >= least
    names = ["figure", *(["cost"] if cost else []), *(["time"] if time else [])]
    if len(names) == 1:
        return "the figure alone, for no two arms have a cost or time on record"
    return f"{', '.join(names[:-1])} and {names[-1]}"
