"""A killed run of a model server loses nothing: a sample of the 100 kills of `make proofs`."""

from __future__ import annotations

from pathlib import Path

from tests.faults.killed_runs import kill

SAMPLE = 8


def test_a_killed_run_goes_on_with_no_call_twice(tmp_path: Path) -> None:
    """Killed at random moments: every item answered once, none lost, calls at most items + in flight."""
    assert kill(SAMPLE, tmp_path) == {}
