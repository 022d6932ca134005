"""What the tests of repeats share: an arm that ran three times beside those of the hand count."""

from __future__ import annotations

import pytest

from evh.project.find import Project
from evh.records.run import Run
from tests.acts.sheets import TRUTH, hand_counted
from tests.helpers import Builder, correct

# thrice, counted by hand against the truth (production, arm_a and arm_b are those of `sheets`):
#   item   truth  1      2       3      right in    mean
#   one    yes    yes    yes     no     1 and 2     2/3
#   two    no     yes    no      yes    2           1/3
#   three  yes    no     no      no     none        0
#   four   —      yes    no      yes
#   five   no     no     failed  no     1 and 3     1
# Over the items 2/3 + 1/3 + 0 + 1 of 4 is 0.5; the runs alone have 2/4, 2/3 and 1/4.
SAID: tuple[dict[str, str | None], ...] = (
    {"one": "yes", "two": "yes", "three": "no", "four": "yes", "five": "no"},
    {"one": "yes", "two": "no", "three": "no", "four": "no", "five": None},
    {"one": "no", "two": "yes", "three": "no", "four": "yes", "five": "no"},
)
IDS = tuple(f"thrice_2026100{day}T000000Z" for day in (1, 2, 3))
AGAINST = "labels/d/truth"


def run_thrice(built: Builder, *, scored: tuple[int, ...] = (0, 1, 2)) -> list[Run]:
    """Write the three runs of the arm, and score those that are named against the truth."""
    runs = []
    for at, said in enumerate(SAID):
        stamp = IDS[at].removeprefix("thrice_")
        run = built.run("thrice", "d", said, at=stamp, repeat_group="g", adapter="classification")
        if at in scored:
            built.rescored(run, said, correct(said, TRUTH), against=AGAINST)
        runs.append(run)
    return runs


@pytest.fixture
def thrice(project: Project) -> Builder:
    """The project of the hand count with the arm that ran three times."""
    built = hand_counted(project)
    built.config("thrice", adapter="classification")
    run_thrice(built)
    return built
