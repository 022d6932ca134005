"""The sheet says where an arm's column is of several repeats, or of some of the items: that wins nothing."""

from __future__ import annotations

from evh.acts.sheet import build_sheet
from evh.project.find import Project
from tests.acts.sheets import TRUTH, hand_counted
from tests.helpers import correct


def test_several_repeats_say_so_and_which_is_shown(project: Project) -> None:
    """The last of two runs is shown, by name; an arm with one run says nothing."""
    built = hand_counted(project)
    for at in ("20261002T000000Z", "20261002T000001Z"):
        built.run("twice", "d", TRUTH, at=at, scores=correct(TRUTH, TRUTH), repeat_group="g")
    told = [note for note in build_sheet(project, "d").notes if "repeat" in note]
    (note,) = told
    assert note == (
        "twice ran 2 times: output of repeat 2 of 2; scores are means over 2; the repeat shown is "
        "twice_20261002T000001Z"
    )


def test_a_trial_says_over_how_many_items_it_ran(project: Project) -> None:
    """Two of five; a limit that leaves nothing out is no trial."""
    built = hand_counted(project)
    two = {name: TRUTH[name] for name in ("one", "two")}
    built.run("tried", "d", two, scores=correct(two, TRUTH), extra={"limit": 2})
    built.run("whole", "d", TRUTH, scores=correct(TRUTH, TRUTH), extra={"limit": 5})
    told = [note for note in build_sheet(project, "d").notes if "trial" in note]
    assert told == [
        "tried is a trial over 2 of 5 items: its figures are of those, it wins no row and never leads"
    ]


def test_a_trial_wins_no_row_and_has_no_share(project: Project) -> None:
    """Right on both of its rows: its cells are shown, and the rows are won by who ran over all of them."""
    built = hand_counted(project)
    two = {name: TRUTH[name] for name in ("one", "two")}
    run = built.run("tried", "d", two, extra={"limit": 2})
    built.rescored(run, two, correct(two, TRUTH), against="labels/d/truth")
    sheet = build_sheet(project, "d")
    at = [arm.name for arm in sheet.arms].index("tried")
    assert (at, sheet.arms[at].trial) == (3, 2)
    rows = {row.item_id: row for row in sheet.rows}
    assert [rows[name].cells[at].scores for name in ("one", "two", "three")] == [(1.0,), (1.0,), (None,)]
    assert {name: row.winners for name, row in rows.items()} == {
        "one": ("production", "arm_a"),
        "two": ("arm_a",),
        "three": ("arm_a", "arm_b"),
        "four": (),
        "five": ("production", "arm_b"),
    }
    footer = {one.arm: one for one in sheet.footer}["tried"]
    assert (footer.win_rate, footer.means, footer.counts) == (None, (1.0,), (2,))


def test_a_trial_stands_for_production_only_where_it_is_named_first(project: Project) -> None:
    """By name it would be first; of two arms that nobody recorded the whole run is."""
    built = hand_counted(project)
    built.dataset("e", {"one": "1", "two": "2"})
    built.run("a", "e", {"one": "yes"}, extra={"limit": 1})
    built.run("b", "e", {"one": "yes", "two": "no"})
    assert [arm.name for arm in build_sheet(project, "e").arms] == ["b", "a"]
    assert [arm.name for arm in build_sheet(project, "e", ("a", "b")).arms] == ["a", "b"]
