"""Times are UTC in one form, whatever form they came in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.store import clock


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-01T08:02:32Z", "2026-11-01T08:02:32Z"),
        ("2026-11-01t08:02:32z".upper(), "2026-11-01T08:02:32Z"),
        ("2026-11-01", "2026-11-01T00:00:00Z"),
        ("2026-11-01 08:02", "2026-11-01T08:02:00Z"),
        ("2026-11-01T08:02:32", "2026-11-01T08:02:32Z"),
        ("2026-11-01T08:02:32+02:00", "2026-11-01T06:02:32Z"),
        ("2026-11-01T00:30:00+0130", "2026-10-31T23:00:00Z"),
        (" 2026-11-01T08:02:32.5Z ", "2026-11-01T08:02:32.5Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("2024-07-01T00:00:00.123456789Z", "2024-07-01T00:00:00.123456Z"),
    ],
)
def test_a_time_is_read_as_utc(text: str, utc: str) -> None:
    """With a zone, without one, a day alone, with a fraction (to the microsecond)."""
    assert clock.precise(clock.parse_time(text, "x")) == utc


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "May 1",
        "2026-13-01",
        "2023-02-29",
        "2026-11-01T25:00Z",
        "01.11.2026",
        "1714550400",
        "2026-11-01T08:02:32+99:00",
        "0001-01-01T00:00:00+05:00",
        "\uff19999-01-01",
        "2026-W01-1",
        "20261101",
        "2026-11-01Z",
    ],
)
def test_what_is_no_time_is_refused(bad: str) -> None:
    """Nothing is guessed: other orders, week dates and numbers of seconds are no times."""
    with pytest.raises(Refusal) as caught:
        clock.parse_time(bad, "row 3: ts")
    assert caught.value.code == "bad-time"
    assert caught.value.why == (f"row 3: ts: {bad!r}",)


def test_the_clock_is_passed_in() -> None:
    """EVH_NOW where it is set, else the machine's time."""
    assert clock.now("2026-11-01T08:02:32Z") == datetime(2026, 11, 1, 8, 2, 32, tzinfo=UTC)
    assert abs((clock.now(None) - datetime.now(UTC)).total_seconds()) < 5
    with pytest.raises(Refusal):
        clock.now("yesterday")


def test_stamps_are_as_the_layout_writes_them() -> None:
    """Whole seconds, and the form that a run's id ends in."""
    moment = clock.parse_time("2026-11-01T08:02:32.9Z", "x")
    assert clock.stamp(moment) == "2026-11-01T08:02:32Z"
    assert clock.run_stamp(moment) == "20261101T080232Z"


@given(st.datetimes(timezones=st.timezones(), min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29)))  # noqa: DTZ001 - given a zone
def test_a_precise_stamp_reads_back_as_the_same_moment(moment: datetime) -> None:
    """Any year and zone, to the microsecond."""
    assert clock.parse_time(clock.precise(moment), "x") == moment.astimezone(UTC)
