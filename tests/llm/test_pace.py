"""The pace: it finds what a server can take, and gives way when the server does."""

from __future__ import annotations

import heapq
import random

import pytest

from evh.llm.pace import LEAST, MOST, Pace


def simulate(capacity: int, *, service_ms: float = 50.0, requests: int = 4_000) -> list[int]:
    """Return the limits over time against a server that takes ``capacity`` requests, and queues the rest."""
    pace, draw = Pace(), random.Random(3)
    slots = [0.0] * capacity
    heapq.heapify(slots)
    now, sent = 0.0, 0
    going: list[tuple[float, float]] = []
    limits = []
    while sent < requests or going:
        while sent < requests and len(going) < pace.limit:
            start = max(now, heapq.heappop(slots))
            end = start + service_ms * draw.uniform(0.9, 1.1)
            heapq.heappush(slots, end)
            heapq.heappush(going, (end, now))
            sent += 1
        now, began = heapq.heappop(going)
        pace.took(now - began)
        limits.append(pace.limit)
    return limits


@pytest.mark.parametrize("capacity", [8, 16, 24])
def test_it_finds_the_capacity_of_a_server(capacity: int) -> None:
    """The limit settles between the capacity and the point where everything takes over twice as long."""
    settled = simulate(capacity)[1_000:]
    assert capacity * 0.8 <= sum(settled) / len(settled) <= capacity * 2.2


def test_a_large_server_gets_all_there_is() -> None:
    """Against 1,000 slots the limit doubles to the top and stays there."""
    limits = simulate(1_000)
    assert limits[0] == LEAST
    assert limits[-1] == MOST
    assert limits.index(MOST) < 4 + 8 + 16 + 32 + 64


def test_a_round_that_is_turned_away_cuts_once() -> None:
    """However many 429 one round brings, the limit falls to four fifths, and never below the least."""
    pace = Pace()
    for _ in range(4 + 8 + 16):
        pace.took(50.0)
    assert pace.limit == 32
    for _ in range(32):
        pace.throttled()
    assert pace.limit == 25
    for _ in range(1_000):
        pace.throttled()
    assert pace.limit == LEAST


def test_a_fixed_pace_never_moves() -> None:
    """What a person asked for is kept."""
    pace = Pace(7)
    assert not any(pace.took(9.0) for _ in range(100))
    assert not any(pace.throttled() for _ in range(100))
    assert (pace.limit, pace.most) == (7, 7)
