"""What the tests of the sheet's rows share: three arms side by side, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from evh.acts.sheet import Sheet
from evh.project.find import Project
from tests.acts.sheets import compared
from tests.helpers import Builder

# The items, their fields and the truth are those of tests/acts/sheets.py; counted by hand:
#   item   fields       truth  production  a      b
#   one    kind=x n=1   yes    yes         yes    no
#   two    kind=y n=2   no     yes         no     no
#   three  kind=x n=3   yes    no          yes    yes
#   four   kind=z       —      yes         yes    yes
#   five   kind=x       no     no          failed no
DECISIONS: dict[str, dict[str, str | None]] = {
    "production": {"one": "yes", "two": "yes", "three": "no", "four": "yes", "five": "no"},
    "a": {"one": "yes", "two": "no", "three": "yes", "four": "yes", "five": None},
    "b": {"one": "no", "two": "no", "three": "yes", "four": "yes", "five": "no"},
}


@pytest.fixture
def built(project: Project) -> Builder:
    """The project of the hand count: one dataset, one set, a recorded arm and two candidates."""
    return compared(project, DECISIONS)


def by_item(sheet: Sheet) -> dict[str, Any]:
    """Return the rows by their item."""
    return {row.item_id: row for row in sheet.rows}
