"""The five signals, each by the sentence of the sheet's contract that it carries out."""

from __future__ import annotations

import pytest

from evh.measure.signals import Signals, disagree, is_wrong, new_fields, seen_values, split

NONE_OR_POC = '{"accept": ["none", "poc"]}'


def same_letters(a: str, b: str) -> bool:
    """Compare as an adapter that ignores case does."""
    return a.casefold() == b.casefold()


def within_one(a: str, b: str) -> bool:
    """Compare numbers as an adapter that allows a distance of one does: not transitive."""
    return abs(int(a) - int(b)) <= 1


def test_count_is_how_many_of_the_five_hold() -> None:
    """Two sets it is wrong against are one signal; so are two new fields."""
    assert Signals().count == 0
    assert Signals(wrong=("x", "y"), new=("f", "g")).count == 2
    assert Signals(("x",), disagree=True, split=True, new=("f",), unlabelled=True).count == 5


@pytest.mark.parametrize(
    ("decision", "correct", "label", "wrong"),
    [
        ("poc", 0.0, "poc", True),  # the metric is 0, whatever the texts say
        ("poc", 1.0, "none", False),  # the metric is not 0
        ("poc", 0.5, "none", False),  # partly right is not wrong
        ("poc", None, "none", True),  # no metric: the decisions differ
        ("poc", None, "poc", False),
        ("poc", None, NONE_OR_POC, False),  # one of the accepted answers
        ("active", None, NONE_OR_POC, True),
        (None, 0.0, "poc", True),  # no decision, but scored 0
        (None, None, "poc", False),  # it gave no decision: failed, not wrong
        ("poc", 0.0, None, False),  # an unlabelled item is never wrong
    ],
)
def test_wrong_is_the_metric_else_the_decision(
    decision: str | None, correct: float | None, label: str | None, *, wrong: bool
) -> None:
    """A ``correct`` of 0 is wrong; without one, a decision that is none of the label's answers is."""
    assert is_wrong(decision, correct, label) is wrong


def test_wrong_compares_by_the_adapters_same() -> None:
    """PoC is poc for an adapter that ignores case."""
    assert is_wrong("PoC", None, NONE_OR_POC)
    assert not is_wrong("PoC", None, NONE_OR_POC, same_letters)


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([], False),
        (["a"], False),
        (["a", "a", "a"], False),
        (["a", "a", "b"], True),
        (["a", None, "a"], False),
        ([None, "a", "b"], False),  # the first run gave nothing to disagree with
        (["a", None, None], False),
    ],
)
def test_disagree_is_the_first_against_any_other_that_answered(
    decisions: list[str | None], *, expected: bool
) -> None:
    """Runs that gave no decision neither agree nor disagree."""
    assert disagree(decisions) is expected


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([], False),
        (["a", "b"], False),  # one candidate cannot differ from itself
        (["a", "b", "b"], False),  # both differ from the first, not among themselves
        (["a", "a", "b"], True),
        ([None, "a", "b"], True),
        (["a", None, "b"], False),
        (["a", None, "b", "c"], True),
    ],
)
def test_split_is_among_the_candidates_alone(decisions: list[str | None], *, expected: bool) -> None:
    """The first run is no candidate; two or more must have answered and differ."""
    assert split(decisions) is expected


def test_disagree_and_split_compare_by_the_adapters_same() -> None:
    """Spelling is no difference for an adapter that ignores case."""
    assert not disagree(["A", "a"], same_letters)
    assert not split(["x", "A", "a"], same_letters)


def test_split_holds_when_same_is_not_transitive() -> None:
    """1 and 3 differ though 2 is near both: looking only at neighbours, or at the first, would miss it."""
    assert split(["0", "1", "2", "3"], within_one)
    assert split(["0", "2", "1", "3"], within_one)


def test_a_field_value_is_new_when_the_dataset_never_had_it() -> None:
    """Only the value that was not there is named; names come sorted."""
    seen = seen_values([{"z": "x", "b": "linux"}, {"z": "y", "b": "mac"}])
    assert new_fields({"z": "x", "b": "linux"}, seen) == ()
    assert new_fields({"z": "q", "b": "bsd"}, seen) == ("b", "z")


def test_field_values_compare_by_type_and_value() -> None:
    """1, "1" and True are three values; 1 and 1.0 are one number."""
    for had, others in ((1, ["1", True]), ("1", [1, True]), (True, [1, "true", "True"]), (False, [0, ""])):
        seen = seen_values([{"f": had}])
        assert new_fields({"f": had}, seen) == ()
        assert [new_fields({"f": other}, seen) for other in others] == [("f",)] * len(others)
    assert new_fields({"f": 1.0}, seen_values([{"f": 1}])) == ()
    assert new_fields({"f": 1}, seen_values([{"f": 1.0}])) == ()
    assert new_fields({"f": 1.5}, seen_values([{"f": 1}])) == ("f",)


def test_a_field_with_over_thirty_values_is_never_new() -> None:
    """30 values are few enough to have a new one; 31 are not."""
    thirty = seen_values([{"f": number} for number in range(30)] * 2)
    more = seen_values([{"f": number} for number in range(31)])
    assert new_fields({"f": "other"}, thirty) == ("f",)
    assert new_fields({"f": "other"}, more) == ()


def test_a_field_the_dataset_lacks_and_a_null_are_never_new() -> None:
    """Else a dataset without fields would mark every row, and a missing value would be a finding."""
    seen = seen_values([{"f": "x", "empty": None}])
    assert new_fields({"other": "x", "f": None, "empty": "x"}, seen) == ()
