"""The sheet says where an arm's column is one of several repeats, or of some of the items only."""

from __future__ import annotations

from evh.acts.sheet import build_sheet
from evh.project.find import Project
from tests.acts.sheets import TRUTH, hand_counted
from tests.helpers import correct


def test_one_of_several_repeats_says_so_and_where_the_mean_is(project: Project) -> None:
    """The last of two runs is shown, by name; an arm with one run says nothing."""
    built = hand_counted(project)
    for at in ("20261002T000000Z", "20261002T000001Z"):
        built.run("twice", "d", TRUTH, at=at, scores=correct(TRUTH, TRUTH), repeat_group="g")
    told = [note for note in build_sheet(project, "d").notes if "repeats" in note]
    (note,) = told
    assert note.startswith(
        "twice shows twice_20261002T000001Z, one of 2 repeats: evh leaderboard --dataset-id d"
    )


def test_a_trial_says_over_how_many_items_it_ran(project: Project) -> None:
    """Two of five; a limit that leaves nothing out is no trial."""
    built = hand_counted(project)
    two = {name: TRUTH[name] for name in ("one", "two")}
    built.run("tried", "d", two, scores=correct(two, TRUTH), extra={"limit": 2})
    built.run("whole", "d", TRUTH, scores=correct(TRUTH, TRUTH), extra={"limit": 5})
    told = [note for note in build_sheet(project, "d").notes if "trial" in note]
    assert told == ["tried is a trial over 2 of 5 items: its figures are of those"]
