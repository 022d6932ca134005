"""Label rules: what a recorded outcome says is right, written by people in YAML. No expressions.

``{version: 1, kind: labels, rules: [{name, when, label, because}], normalise, on_conflict}``
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.records.answers import canonical
from evh.records.shape import Shape, is_number
from evh.store.clock import is_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evh.records.shape import Scalar

OUTPUT = "$output"
"""The label that is the recorded decision itself."""

_KEYS = ("outcome", "no_outcome", "field", "output", "decided_before")
_DAY = len("2024-01-01")


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing compared: a kind of outcome or a field, and the values that hold (None: any value)."""

    name: str
    values: tuple[Scalar, ...] | None

    def holds(self, value: object) -> bool:
        """Tell whether a value is among those that hold: text equals text, numbers equal by value."""
        return self.values is None or any(_equal(value, one) for one in self.values)


@dataclass(frozen=True, slots=True)
class When:
    """The conditions of a rule: all of them hold, or the rule does not match."""

    outcomes: tuple[Condition, ...] = ()
    no_outcomes: tuple[Condition, ...] = ()
    fields: tuple[Condition, ...] = ()
    output: tuple[Scalar, ...] | None = None
    decided_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``label`` holds the answers that it accepts; None stands for the recorded decision."""

    name: str
    when: When
    label: tuple[str, ...] | None
    because: str = ""

    @property
    def reads_output(self) -> bool:
        """Whether the answer comes from the recorded decision: such labels are production's own."""
        return self.label is None or self.when.output is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """A rule file: its rules in order, and what becomes of spelling and of conflicts."""

    rules: tuple[Rule, ...]
    casefold: bool = False
    first_wins: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What rules read of one record: the recorded decision, its time, its fields, what happened later."""

    output: str | None = None
    ts: str | None = None
    fields: Mapping[str, Scalar] = field(default_factory=dict)
    outcomes: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that matched a record.

    ``answers`` are those that it accepts, in the form that they are stored; empty where it takes the recorded
    decision and there is none. ``precedes`` tells whether an outcome that it matched came no later than the
    decision; None where it compares no outcome or a time is missing.
    """

    rule: Rule
    answers: tuple[str, ...]
    precedes: bool | None

    @property
    def text(self) -> str:
        """The label's text; only where there are answers."""
        return canonical(self.answers)


def parse(raw: Mapping[str, Any], place: object) -> Rules:
    """Return the rules in a mapping, or raise a Refusal with every key that is wrong.

    Args:
        raw: the mapping as YAML gave it.
        place: names the file in a reason.
    """
    shape = Shape(raw, place)
    if shape.take("version") != 1:
        shape.problem("version", f"is {raw.get('version')!r}; this evh reads version 1")
    if shape.take("kind") != "labels":
        shape.problem("kind", f"is {raw.get('kind')!r}; a file of label rules says 'labels'")
    made: list[Rule] = []
    entries = shape.listing("rules")
    if not entries and not shape.reasons:
        shape.problem("rules", "there is no rule")
    for position, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            shape.problem(f"rules[{position}]", "is not a mapping")
            continue
        one = Shape(entry, f"{place}: rule {entry.get('name') or position}")
        rule = _rule(one)
        if any(rule.name == other.name for other in made):
            one.problem("name", f"{rule.name!r} stands twice")
        made.append(rule)
        shape.reasons.extend(one.reasons)
    normalise = shape.choice("normalise", ("none", "casefold"), "none")
    on_conflict = shape.choice("on_conflict", ("refuse", "first"), "refuse")
    _no_typos(shape, ("version", "kind", "rules", "normalise", "on_conflict"))
    if shape.reasons:
        raise Refusal(
            "bad-rules",
            f"{place} holds no rules that evh can follow",
            why=shape.reasons,
            next=f"mend {place}",
        )
    return Rules(tuple(made), casefold=normalise == "casefold", first_wins=on_conflict == "first")


def apply(rules: Rules, facts: Facts) -> tuple[Match, ...]:
    """Return the rules that match a record, in the file's order, each with what it answers.

    Raises:
        Refusal: a time that a rule compares is not a time.
    """
    return tuple(
        Match(rule, _answers(rules, rule, facts), _precedes(rule, facts))
        for rule in rules.rules
        if _holds(rule.when, facts)
    )


def not_after(outcome: str, decision: str) -> bool:
    """Tell whether an outcome came no later than a decision; where one is only a day, days are compared.

    Args:
        outcome: an ISO 8601 date or time.
        decision: likewise.
    """
    one, other = parse_time(outcome, "an outcome's ts"), parse_time(decision, "the decision's ts")
    if min(len(outcome.strip()), len(decision.strip())) <= _DAY:
        return one.date() <= other.date()
    return one <= other


def _holds(when: When, facts: Facts) -> bool:
    if when.output is not None and not any(_equal(facts.output, one) for one in when.output):
        return False
    if when.decided_before is not None and not (
        facts.ts and parse_time(facts.ts, "the decision's ts") < when.decided_before
    ):
        return False
    return (
        all(test.name in facts.fields and test.holds(facts.fields[test.name]) for test in when.fields)
        and all(_of(test, facts) for test in when.outcomes)
        and not any(_of(test, facts) for test in when.no_outcomes)
    )


def _of(test: Condition, facts: Facts) -> list[Mapping[str, Any]]:
    return [one for one in facts.outcomes if one.get("kind") == test.name and test.holds(one.get("value"))]


def _answers(rules: Rules, rule: Rule, facts: Facts) -> tuple[str, ...]:
    # A recorded output of white space alone is no answer.
    output = (facts.output,) if facts.output is not None and facts.output.strip() else ()
    found = rule.label if rule.label is not None else output
    return tuple(sorted({one.casefold() if rules.casefold else one for one in found}))


def _precedes(rule: Rule, facts: Facts) -> bool | None:
    times = [
        str(one["ts"]) for test in rule.when.outcomes for one in _of(test, facts) if one.get("ts") is not None
    ]
    if not times or not facts.ts:
        return None
    return any(not_after(time, facts.ts) for time in times)


def _equal(value: object, wanted: Scalar) -> bool:
    if isinstance(wanted, bool) or isinstance(value, bool):
        return value is wanted
    if isinstance(wanted, str):
        return value == wanted
    return is_number(value) and value == wanted


def _rule(shape: Shape) -> Rule:
    name = shape.identifier("name")
    because = shape.text("because")
    label = _label(shape)
    raw_when = shape.take("when")
    when = When()
    if raw_when is None:
        shape.problem("when", "is missing; a rule that always holds says 'when: {}'")
    elif not isinstance(raw_when, dict):
        shape.problem("when", f"is not a mapping of {', '.join(_KEYS)}")
    else:
        when = _when(shape, raw_when)
    _no_typos(shape, ("name", "when", "label", "because"))
    return Rule(name, when, label, because)


def _when(shape: Shape, raw: Mapping[str, Any]) -> When:
    for key in raw.keys() - set(_KEYS):
        shape.problem(f"when.{key}", f"is not known; it can be {', '.join(_KEYS)}")
    before = None
    if (time := raw.get("decided_before")) is not None:
        if isinstance(time, str) and is_time(time):
            before = parse_time(time, f"{shape.place}: when.decided_before")
        else:
            shape.problem("when.decided_before", f"{time!r} is not a time: write 2026-11-01T08:02:32Z")
    return When(
        outcomes=_tests(shape, "outcome", raw, bare=True),
        no_outcomes=_tests(shape, "no_outcome", raw, bare=True),
        fields=_tests(shape, "field", raw, bare=False),
        output=_values(shape, "output", raw["output"]) if raw.get("output") is not None else None,
        decided_before=before,
    )


def _tests(shape: Shape, key: str, raw: Mapping[str, Any], *, bare: bool) -> tuple[Condition, ...]:
    value = raw.get(key)
    if value is None:
        if key in raw:
            shape.problem(f"when.{key}", "is empty")
        return ()
    if bare and isinstance(value, str) and value:
        return (Condition(value, None),)
    if not isinstance(value, dict) or not value:
        form = "a kind, or {kind: value or [values]}" if bare else "{name: value or [values]}"
        shape.problem(f"when.{key}", f"is not {form}")
        return ()
    return tuple(Condition(name, _values(shape, f"{key}.{name}", one)) for name, one in value.items())


def _values(shape: Shape, key: str, value: object) -> tuple[Scalar, ...]:
    listed = value if isinstance(value, list) else [value]
    if not listed:
        shape.problem(f"when.{key}", "lists no value")
    made: list[Scalar] = []
    for one in listed:
        if isinstance(one, str | bool | int | float) and (isinstance(one, str | bool) or is_number(one)):
            made.append(one)
        else:
            shape.problem(f"when.{key}", f"{one!r} is not a text, a number or true or false")
    return tuple(made)


def _label(shape: Shape) -> tuple[str, ...] | None:
    value = shape.take("label")
    if value == OUTPUT:
        return None
    listed = value if isinstance(value, list) else [value]
    wrong = [one for one in listed if not isinstance(one, str) or not one.strip()]
    if value is None or not listed:
        shape.problem("label", "is missing")
    elif wrong:
        shape.problem("label", f"{', '.join(map(repr, wrong))}: not a text; a number or true needs quotes")
    elif OUTPUT in listed:
        shape.problem("label", f"{OUTPUT} stands alone, never in a list")
    else:
        return tuple(listed)
    return ("invalid",)


def _no_typos(shape: Shape, known: Sequence[str]) -> None:
    """Note keys that are nearly known ones. Others are let be: unknown keys are never an error."""
    import difflib

    for key in shape.rest():
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.75)
        if near:
            shape.problem(key, f"is not known; {near[0]} is")
