"""Winners of a row and win rates over rows, by hand-counted tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.measure.winners import win_rates, winners


def test_winners_names_every_arm_tied_for_best() -> None:
    """Two arms share the best score; both win, in the given order."""
    assert winners({"c": 1.0, "a": 0.5, "b": 1.0}) == ("c", "b")


def test_winners_turns_round_when_lower_is_better() -> None:
    """The lowest score wins when lower is better."""
    assert winners({"a": 3.0, "b": 1.0}, higher=False) == ("b",)


def test_an_unscored_arm_never_wins() -> None:
    """None is no score: it is neither high nor low."""
    assert winners({"a": None, "b": 0.0}) == ("b",)
    assert winners({"a": None, "b": 5.0}, higher=False) == ("b",)


@pytest.mark.parametrize("scores", [{}, {"a": None, "b": None}])
def test_a_row_without_scores_has_no_winner(scores: dict[str, float | None]) -> None:
    """Nobody was scored, so nobody won."""
    assert winners(scores) == ()


def test_win_rates_split_a_shared_win_over_the_rows_an_arm_was_scored_on() -> None:
    """Hand-counted: a wins 1, 1/2 and 0 of 3 rows, b 0, 1/2 and 1; c was never scored."""
    rows: list[dict[str, float | None]] = [
        {"a": 1.0, "b": 0.0},
        {"a": 1.0, "b": 1.0},
        {"a": 0.0, "b": 1.0, "c": None},
    ]
    assert win_rates(rows, ["a", "b", "c"]) == {"a": 0.5, "b": 0.5, "c": None}


def test_win_rates_count_only_the_rows_an_arm_was_scored_on() -> None:
    """Arm b was scored on one row of three and won it: its rate is 1, not 1/3."""
    rows: list[dict[str, float | None]] = [{"a": 1.0, "b": None}, {"a": 0.0, "b": 1.0}, {"a": 1.0}]
    assert win_rates(rows, ["a", "b"]) == {"a": 2 / 3, "b": 1.0}


def test_an_arm_that_is_not_shown_takes_no_win() -> None:
    """The hidden arm h is best, but only a and b compete."""
    assert win_rates([{"a": 0.2, "b": 0.1, "h": 0.9}], ["a", "b"]) == {"a": 1.0, "b": 0.0}


def test_three_arms_that_always_tie_get_a_third_each() -> None:
    """Thirds add up exactly: no arm's rate drifts with the number of rows."""
    rows = [{"a": 1.0, "b": 1.0, "c": 1.0}] * 300
    assert win_rates(rows, ["a", "b", "c"]) == {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}


@given(st.lists(st.fixed_dictionaries({arm: st.integers(0, 2) for arm in "abc"}), min_size=1))
def test_win_rates_of_fully_scored_rows_add_up_to_one(rows: list[dict[str, int]]) -> None:
    """Every row's win is given away whole, whoever shares it, and turning the scores turns nothing else."""
    rates = win_rates(rows, ["a", "b", "c"])
    turned = win_rates(
        [{arm: -score for arm, score in row.items()} for row in rows], list("abc"), higher=False
    )
    assert sum(rate for rate in rates.values() if rate is not None) == pytest.approx(1)
    assert rates == turned
