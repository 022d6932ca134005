"""The promises of the statistics on a few simulated fields; `make proofs` holds them against thousands."""

from __future__ import annotations

from tests.faults.chance import promises

FIELDS = 100
SLACK = 0.12
"""Of so few fields: three standard errors of a share of 0.8, five of one of 0.95."""


def test_every_promise_is_kept_or_nearly() -> None:
    """A leader by chance, coverage and power, each within the noise of 100 fields."""
    for promise in promises(FIELDS):
        assert promise.low - SLACK <= promise.share <= promise.high + SLACK, promise
