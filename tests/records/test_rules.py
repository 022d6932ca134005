"""Label rules: what is read, what is refused, and which rules match."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.records import rules as record
from evh.records.rules import Facts


def made(*rules: dict[str, Any], **more: Any) -> record.Rules:
    """Return rules that need only their conditions and label said."""
    whole = [{"name": f"r{at}", **rule} for at, rule in enumerate(rules, start=1)]
    return record.parse({"version": 1, "kind": "labels", "rules": whole, **more}, "rules.yaml")


def names(rules: record.Rules, facts: Facts) -> list[str]:
    """Return the names of the rules that match."""
    return [match.rule.name for match in record.apply(rules, facts)]


KEV = {"kind": "kev", "value": "2024-03-01", "ts": "2024-03-01"}


@pytest.mark.parametrize(
    ("when", "facts", "holds"),
    [
        ({}, Facts(), True),
        ({"outcome": "kev"}, Facts(outcomes=[KEV]), True),
        ({"outcome": "kev"}, Facts(outcomes=[{"kind": "other"}]), False),
        ({"outcome": {"sev": "high"}}, Facts(outcomes=[{"kind": "sev", "value": "high"}]), True),
        ({"outcome": {"sev": ["low", "high"]}}, Facts(outcomes=[{"kind": "sev", "value": "high"}]), True),
        ({"outcome": {"sev": "High"}}, Facts(outcomes=[{"kind": "sev", "value": "high"}]), False),
        ({"no_outcome": "kev"}, Facts(), True),
        ({"no_outcome": "kev"}, Facts(outcomes=[KEV]), False),
        ({"field": {"year": 2024}}, Facts(fields={"year": 2024}), True),
        ({"field": {"year": 2024}}, Facts(fields={"year": 2024.0}), True),
        ({"field": {"year": "2024"}}, Facts(fields={"year": 2024}), False),
        ({"field": {"year": 2024}}, Facts(fields={"year": "2024"}), False),
        ({"field": {"flag": True}}, Facts(fields={"flag": True}), True),
        ({"field": {"flag": 1}}, Facts(fields={"flag": True}), False),
        ({"field": {"cna": ["a", "b"]}}, Facts(fields={"cna": "b"}), True),
        ({"field": {"cna": "a"}}, Facts(), False),
        ({"output": ["PoC", "poc"]}, Facts(output="PoC"), True),
        ({"output": "poc"}, Facts(output="PoC"), False),
        ({"output": "poc"}, Facts(), False),
        ({"decided_before": "2024-03-02"}, Facts(ts="2024-03-01T23:59:59Z"), True),
        ({"decided_before": "2024-03-02"}, Facts(ts="2024-03-02T00:00:00Z"), False),
        ({"decided_before": "2024-03-02"}, Facts(), False),
        ({"outcome": "kev", "output": "poc"}, Facts(output="poc", outcomes=[KEV]), True),
        ({"outcome": "kev", "output": "poc"}, Facts(output="none", outcomes=[KEV]), False),
    ],
)
def test_a_rule_matches_when_all_its_conditions_hold(when: dict[str, Any], facts: Facts, holds: bool) -> None:
    """Texts equal texts, numbers equal by value, true is not 1, and every key must hold."""
    assert names(made({"when": when, "label": "x"}), facts) == (["r1"] if holds else [])


def test_answers_are_one_many_or_the_output() -> None:
    """A text, a list of texts, and the recorded decision become the label's canonical text."""
    rules = made(
        {"when": {}, "label": "a"}, {"when": {}, "label": ["c", "b"]}, {"when": {}, "label": "$output"}
    )
    texts = [match.text for match in record.apply(rules, Facts(output="PoC"))]
    assert texts == ["a", '{"accept": ["b", "c"]}', "PoC"]
    assert [rule.reads_output for rule in rules.rules] == [False, False, True]


def test_casefold_levels_labels_and_not_conditions() -> None:
    """With ``normalise: casefold`` the label is lower case; ``output`` is still compared as recorded."""
    rules = made({"when": {"output": "PoC"}, "label": "$output"}, normalise="casefold")
    assert [match.text for match in record.apply(rules, Facts(output="PoC"))] == ["poc"]
    assert record.apply(rules, Facts(output="poc")) == ()


def test_a_missing_output_gives_no_answer() -> None:
    """A rule that takes the decision matches a record without one and answers nothing."""
    (match,) = record.apply(made({"when": {}, "label": "$output"}), Facts())
    assert match.answers == ()


@pytest.mark.parametrize(
    ("outcome", "decision", "expected"),
    [
        ("2024-03-01", "2024-03-01T08:00:00Z", True),  # only a day: days are compared
        ("2024-03-02", "2024-03-01T23:00:00Z", False),
        ("2024-02-29", "2024-03-01T00:00:00Z", True),
        ("2024-03-01T09:00:00Z", "2024-03-01T08:00:00Z", False),
        ("2024-03-01T08:00:00Z", "2024-03-01T08:00:00Z", True),
        ("2024-03-01T09:00:00+02:00", "2024-03-01T08:00:00Z", True),
        ("2024-03-01T09:00:00Z", "2024-03-01", True),
    ],
)
def test_an_outcome_precedes_when_it_is_not_after_the_decision(
    outcome: str, decision: str, expected: bool
) -> None:
    """Times compare as instants, a bare day by its day."""
    rules = made({"when": {"outcome": "kev"}, "label": "x"})
    facts = Facts(ts=decision, outcomes=[{"kind": "kev", "value": 1, "ts": outcome}])
    assert [match.precedes for match in record.apply(rules, facts)] == [expected]


def test_without_times_nothing_is_said_about_precedence() -> None:
    """A rule without an outcome, and an outcome or decision without a time, give None."""
    rules = made({"when": {"outcome": "kev"}, "label": "x"}, {"when": {}, "label": "y"})
    told = [match.precedes for match in record.apply(rules, Facts(outcomes=[{"kind": "kev", "value": 1}]))]
    assert told == [None, None]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"version": 2}, "version"),
        ({"kind": "scrub"}, "kind"),
        ({"rules": []}, "there is no rule"),
        ({"rules": ["x"]}, "rules[1]"),
        ({"normalise": "upper"}, "normalise"),
        ({"on_conflict": "last"}, "on_conflict"),
        ({"on_conflicts": "first"}, "on_conflict is"),
        ({"rules": [{"when": {}, "label": "x"}]}, "name"),
        ({"rules": [{"name": "a", "label": "x"}]}, "when: is missing"),
        ({"rules": [{"name": "a", "when": [], "label": "x"}]}, "is not a mapping"),
        ({"rules": [{"name": "a", "when": {"outcomes": "k"}, "label": "x"}]}, "when.outcomes"),
        ({"rules": [{"name": "a", "when": {"outcome": 3}, "label": "x"}]}, "when.outcome"),
        ({"rules": [{"name": "a", "when": {"outcome": None}, "label": "x"}]}, "when.outcome: is empty"),
        ({"rules": [{"name": "a", "when": {"field": "cna"}, "label": "x"}]}, "when.field"),
        ({"rules": [{"name": "a", "when": {"field": {"cna": []}}, "label": "x"}]}, "lists no value"),
        ({"rules": [{"name": "a", "when": {"output": {"a": 1}}, "label": "x"}]}, "when.output"),
        ({"rules": [{"name": "a", "when": {"decided_before": "soon"}, "label": "x"}]}, "decided_before"),
        ({"rules": [{"name": "a", "when": {}}]}, "label: is missing"),
        ({"rules": [{"name": "a", "when": {}, "label": 1}]}, "needs quotes"),
        ({"rules": [{"name": "a", "when": {}, "label": ["x", True]}]}, "needs quotes"),
        ({"rules": [{"name": "a", "when": {}, "label": ["x", "$output"]}]}, "stands alone"),
        ({"rules": [{"name": "a", "when": {}, "label": "x"}] * 2}, "stands twice"),
    ],
)
def test_a_bad_rule_file_is_refused_with_its_place(raw: dict[str, Any], words: str) -> None:
    """Each thing that is wrong is told with the rule and the key."""
    good = {"version": 1, "kind": "labels", "rules": [{"name": "a", "when": {}, "label": "x"}]}
    with pytest.raises(Refusal) as told:
        record.parse({**good, **raw}, "rules.yaml")
    assert told.value.code == "bad-rules"
    assert any(words in reason for reason in told.value.why), told.value.why


def test_every_reason_is_told_at_once() -> None:
    """A file with three faults is refused with three reasons."""
    with pytest.raises(Refusal) as told:
        record.parse({"version": 2, "kind": "labels", "rules": [{"name": "a", "when": {}}, 3]}, "r.yaml")
    assert len(told.value.why) == 3


def test_unknown_keys_are_let_be() -> None:
    """A key that is no near miss of a known one is no error."""
    assert len(made({"when": {}, "label": "x", "author": "ann"}, description="y").rules) == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    )
)
def test_whatever_a_file_holds_is_read_or_refused(value: Any) -> None:
    """No rule body whatsoever ends in anything but rules or a Refusal."""
    raw = {"version": 1, "kind": "labels", "rules": [{"name": "a", "when": value, "label": value}]}
    with contextlib.suppress(Refusal):
        record.parse(raw, "r.yaml")


def test_a_recorded_output_of_white_space_is_no_answer() -> None:
    """``$output`` then gives nothing, as it does where nothing was recorded; nor is a blank text a label."""
    rules = made({"when": {}, "label": "$output"})
    for output in (None, "", " \n"):
        assert [match.answers for match in record.apply(rules, Facts(output=output))] == [()]
    with pytest.raises(Refusal) as refused:
        made({"when": {}, "label": " "})
    assert "not a text" in refused.value.why[0]
