"""What a prediction's numbers can be, and what becomes of those that cannot."""

from __future__ import annotations

from typing import Any

import pytest

from evh.errors import Refusal
from evh.records.run import WrongNumber, dump, dump_prediction, parse, parse_prediction, wrong_numbers


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (-1, "is -1, below 0"),
        (-0.5, "is -0.5, below 0"),
        (2**53, "is 9.0072e+15, more than can be"),
        (1e300, "is 1e+300, more than can be"),
        ("5", "is the text '5', not a finite number"),
        (True, "is true or false, not a finite number"),
        ([1], "is a list, not a finite number"),
    ],
)
@pytest.mark.parametrize("key", ["tokens_in", "tokens_out", "cost_usd", "latency_ms"])
def test_a_measure_that_is_none_counts_as_not_there(key: str, value: object, reason: str) -> None:
    """It is told, and kept as it was read, so that the row is written back the same."""
    raw = {"item_id": "a", key: value, "correct": 1}
    row = parse_prediction(raw, "p")
    assert getattr(row, key) is None
    assert row.scores == {"correct": 1}
    assert wrong_numbers([row], ["correct"]) == (WrongNumber("a", key, reason),)
    assert dump_prediction(row) == raw


@pytest.mark.parametrize("value", [0, 1, 0.25, 2**53 - 1])
def test_a_measure(value: float) -> None:
    """From 0 to below 2 to the 53rd, a fraction too."""
    row = parse_prediction({"item_id": "a", "tokens_in": value}, "p")
    assert row.tokens_in == value
    assert wrong_numbers([row], []) == ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (10**400, f"is the number {'1' + '0' * 39}, not a finite number"),
        (1e151, "is 1e+151: a score is at most 1e+150, either way"),
        (-1e308, "is -1e+308: a score is at most 1e+150, either way"),
        (2**53 + 1, "is 9007199254740993, a whole number that no float holds exactly"),
        ("1", "is the text '1', not a finite number"),
        (False, "is true or false, not a finite number"),
    ],
)
def test_a_score_that_is_none_is_told(value: Any, reason: str) -> None:
    """It is no score of the item; where it stands under no metric's name, it is no concern."""
    row = parse_prediction({"item_id": "a", "correct": value}, "p")
    assert row.scores == {}
    assert wrong_numbers([row], ["correct"]) == (WrongNumber("a", "correct", reason),)
    assert wrong_numbers([row], ["other"]) == ()
    assert dump_prediction(row) == {"item_id": "a", "correct": value}


@pytest.mark.parametrize("value", [0, -3, 1e150, 2**60, 0.1])
def test_a_score(value: float) -> None:
    """Any number that a float holds, up to a size whose square is one too."""
    assert parse_prediction({"item_id": "a", "m": value}, "p").scores == {"m": value}


def test_no_score_is_no_wrong_one() -> None:
    """null stands for a metric that does not apply."""
    assert wrong_numbers([parse_prediction({"item_id": "a", "m": None}, "p")], ["m"]) == ()


IDS = {"run_id": "r", "config_id": "c", "dataset_id": "d", "scores": {}}


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("fitted_on", 5, "is the number 5, not a list of datasets"),
        ("fitted_on", "d", "is the text 'd', not a list of datasets"),
        ("fitted_on", ["d", 5], "is a list, not a list of datasets"),
        ("floor", "yes", "is the text 'yes', not true or false"),
        ("limit", "20", "is the text '20', not a number of items"),
        ("limit", 0, "is the number 0, not a number of items"),
    ],
)
def test_a_warning_is_not_taken_off_by_its_type(key: str, value: object, reason: str) -> None:
    """An arm fitted on these items, a floor, a trial: of another type the record is refused, with the key."""
    with pytest.raises(Refusal) as told:
        parse({**IDS, key: value}, "metrics.json", folder="runs")
    assert told.value.why == (f"metrics.json: {key}: {reason}",)


def test_warnings_are_kept_as_they_are() -> None:
    """They stay with the run, and null is none."""
    raw = {"fitted_on": ["d"], "floor": True, "limit": 20}
    assert dump(parse({**IDS, **raw}, "p", folder="runs")).items() >= raw.items()
    assert parse({**IDS, "fitted_on": None, "floor": None, "limit": None}, "p", folder="runs").run_id == "r"
