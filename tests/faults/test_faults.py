"""No fault leaves a record half written: a sample of the sweep that `make proofs` runs whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.families import FAMILIES
from tests.faults.sweep import Family, Sweep
from tests.tools import require_tool

SAMPLE = 9


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_no_fault_leaves_half_a_record(family: Family, tmp_path: Path) -> None:
    """Killed or failing at a sample of the calls that touch the project, the tree is old or new and goes on.

    The points are spread evenly over the trace, so that the first and the last calls are always among them.
    """
    require_tool("strace")
    sweep = Sweep.ready(family, tmp_path)
    assert len(sweep.points) >= SAMPLE, "the command was seen to write nothing"
    step = (len(sweep.points) - 1) / (SAMPLE - 1)
    wrong = {}
    for number in range(SAMPLE):
        point = sweep.points[round(number * step)]
        found = sweep.fail_at(point, tmp_path / "work")
        if found:
            wrong[point] = found
    assert not wrong
