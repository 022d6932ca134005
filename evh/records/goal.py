"""A goal: the question that arms are compared for and the rules of it, written by people in YAML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, is_number
from evh.store.names import bad_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BEST = "best"
CHEAPEST = "cheapest-contender"
FASTEST = "fastest-contender"
FRONTIER = "frontier"
STRATEGIES = (BEST, CHEAPEST, FASTEST, FRONTIER)
DIRECTIONS = ("higher", "lower")
LIMITS = ("cost_usd_per_item", "latency_ms")
MOST_ALPHA = 0.5
"""A test at a level from here on would call a coin's toss a finding."""
KEYS = (
    "goal_id",
    "question",
    "datasets",
    "metric",
    "direction",
    "strategy",
    "limits",
    "against",
    "alpha",
    "min_effect",
)
_ALIKE = 0.75


@dataclass(frozen=True, slots=True)
class Limits:
    """What an arm may cost at most: US dollars an item (its mean), milliseconds an item (its median)."""

    cost_usd_per_item: float | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal. Each default is what an absent key means.

    Attributes:
        goal_id: its id; the file's name where the file gives none.
        question: what is to be decided, for people.
        datasets: the datasets that arms are compared on; none in a goal of another harness.
        metric: what they are compared by; None for each scoring's primary metric.
        direction: ``higher`` or ``lower``: which is better; None for what the adapter says.
        strategy: how a finalist is suggested.
        limits: what it may cost.
        against: the group that is shown first: ``labels/<dataset>/<set>`` or ``<tier>/<name>``.
        alpha: the level of the tests; None means the usual 0.05.
        min_effect: a difference below it puts no arm behind.
    """

    goal_id: str
    datasets: tuple[str, ...]
    question: str = ""
    metric: str | None = None
    direction: str | None = None
    strategy: str = BEST
    limits: Limits = field(default_factory=Limits)
    against: str | None = None
    alpha: float | None = None
    min_effect: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def higher(self) -> bool | None:
        """Whether more is better; None where the adapter says."""
        return None if self.direction is None else self.direction == "higher"


def parse(raw: Mapping[str, Any], place: object) -> Goal:
    """Return the goal in a YAML mapping, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    names = shape.texts("datasets")
    if not names and not shape.reasons and "datasets" in raw:  # another harness's goal may name none
        shape.problem("datasets", "names none: a goal is about at least one dataset")
    for name in names:
        reason = bad_id(name)
        if reason is not None:
            shape.problem("datasets", f"{name!r}: {reason}")
    direction = shape.choice("direction", DIRECTIONS, "higher") if raw.get("direction") is not None else None
    goal = Goal(
        goal_id=shape.identifier("goal_id"),
        datasets=tuple(dict.fromkeys(names)),
        question=shape.text("question"),
        metric=_name(shape, "metric"),
        direction=direction,
        strategy=shape.choice("strategy", STRATEGIES, BEST),
        limits=_limits(shape),
        against=_against(shape),
        alpha=_between(shape, "alpha", MOST_ALPHA),
        min_effect=_at_least_0(shape, "min_effect"),
        extra=shape.rest(),
    )
    _no_typos(shape, "", goal.extra, KEYS)
    shape.finish(f"{place} is not a goal that evh can read", next=f"mend {place}")
    return goal


def _name(shape: Shape, key: str) -> str | None:
    text = shape.maybe_text(key)
    if text is not None and not text.strip():
        shape.problem(key, "is empty")
        return None
    return text


def _limits(shape: Shape) -> Limits:
    raw = shape.mapping("limits")
    found: dict[str, float | None] = dict.fromkeys(LIMITS)
    for key, value in raw.items():
        if key not in LIMITS:
            # A limit that is misspelt would limit nothing, in silence.
            shape.problem(f"limits.{key}", f"is not known; it can be {', '.join(LIMITS)}")
        elif value is not None and not (is_number(value) and value > 0):
            shape.problem(f"limits.{key}", f"is {value!r}; a limit is a number above 0")
        else:
            found[key] = value
    return Limits(**found)


def _against(shape: Shape) -> str | None:
    """Return the ref of a label set or a reference set in its full form."""
    text = _name(shape, "against")
    if text is None:
        return None
    parts = text.removeprefix("references/").split("/")
    if len(parts) not in (2, 3) or any(map(bad_id, parts)) or (len(parts) == 3) != (parts[0] == "labels"):
        shape.problem("against", f"is {text!r}; write labels/DATASET/SET or TIER/NAME")
        return None
    return "/".join(parts)


def _between(shape: Shape, key: str, below: float) -> float | None:
    value = shape.maybe_number(key)
    if value is not None and not 0 < value < below:
        shape.problem(key, f"is {value:g}; it lies above 0 and below {below:g}")
        return None
    return value


def _at_least_0(shape: Shape, key: str) -> float:
    value = shape.maybe_number(key)
    if value is not None and value < 0:
        shape.problem(key, f"is {value:g}; it is 0 or more")
    return max(value or 0.0, 0.0)


def _no_typos(shape: Shape, prefix: str, rest: Mapping[str, Any], known: Sequence[str]) -> None:
    """Note keys that are nearly known ones. Others are let be: unknown keys are never an error."""
    import difflib

    for key in rest:
        near = difflib.get_close_matches(key, known, n=1, cutoff=_ALIKE)
        if near:
            shape.problem(f"{prefix}{key}", f"is not known; {near[0]} is")
