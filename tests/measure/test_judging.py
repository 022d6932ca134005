"""Several verdicts on one question, against hand counts and the package krippendorff."""

from __future__ import annotations

import math

import krippendorff
import pytest

from evh.measure.judging import TIED, combined, disagreement, noise, vote_of, voted


def test_the_majority_of_judges_decides() -> None:
    """Two judges say a, one b: a wins. One each: a tie. A judge without a verdict has no say."""
    a, b = {"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}
    assert combined([[a], [a], [b]], majority=True) == a
    assert combined([[a], [b]], majority=True) == {"a": 0.5, "b": 0.5}
    assert combined([[a], [b], []], majority=True) == {"a": 0.5, "b": 0.5}
    assert combined([[], []], majority=True) is None


def test_a_judge_asked_often_has_one_vote() -> None:
    """Repeats are averaged before the vote: b, b, a is a vote for b; and judges weigh alike."""
    a, b = {"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}
    assert combined([[b, b, a]], majority=True) == b
    assert combined([[b, b, b], [a], [a]], majority=True) == a


def test_the_mean_keeps_how_much() -> None:
    """Shares are averaged: 1 and 0.5 and 0 are 0.5; 1 and 1 and 0.5 are 5/6."""
    tie = {"a": 0.5, "b": 0.5}
    a, b = {"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}
    assert combined([[a], [tie], [b]], majority=False) == tie
    found = combined([[a], [a], [tie]], majority=False)
    assert found is not None
    assert math.isclose(found["a"], 5 / 6)


def test_a_shared_best_is_a_shared_vote() -> None:
    """Three answers, two of them best: half a vote each."""
    assert voted({"a": 0.4, "b": 0.4, "c": 0.2}) == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert vote_of([{"a": 0.4, "b": 0.4, "c": 0.2}]) == TIED
    assert vote_of([{"a": 0.4, "b": 0.6}]) == "b"
    assert vote_of([]) is None


def test_noise_is_what_changes_when_asked_again() -> None:
    """Three questions asked twice or more, one changed: a third. A question asked once says nothing."""
    found = noise([["a", "a"], ["a", "b", "a"], ["b", "b"], ["a"]])
    assert (found.questions, found.changed, found.sd) == (3, 1, None)
    assert found.share == 1 / 3


def test_noise_of_grades_is_a_pooled_deviation() -> None:
    """Grades 3,5 and 4,4,4: squares 2 over (1 + 2) degrees of freedom, √(2/3)."""
    found = noise([[3.0, 5.0], [4.0, 4.0, 4.0], [1.0]], graded=True)
    assert found.sd == pytest.approx(math.sqrt(2 / 3))
    assert (found.questions, found.changed) == (2, 1)
    assert noise([]).share is None


def test_disagreement_of_judges() -> None:
    """Three judges, five questions, counted by hand; alpha is the package krippendorff's."""
    votes: dict[str, list[str | None]] = {
        "x": ["a", "a", "b", None, "b"],
        "y": ["a", "b", "b", "a", "b"],
        "z": ["a", "b", None, None, "a"],
    }
    found = disagreement(votes)
    assert (found.questions, found.split) == (4, 2)
    assert found.share == 0.5
    assert [(one.one, one.other, one.n, one.same) for one in found.pairs] == [
        ("x", "y", 4, 3),
        ("x", "z", 3, 1),
        ("y", "z", 3, 2),
    ]
    code = {"a": 1, "b": 2, None: float("nan")}
    table = [[code[vote] for vote in line] for line in votes.values()]
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert found.alpha == pytest.approx(expected, abs=1e-12)
