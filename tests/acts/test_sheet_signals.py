"""Which sets a sheet's signals go by, who wins nothing, in what order the arms stand, and what a floor is."""

from __future__ import annotations

from typing import Any

import pytest

from evh.acts.sheet import Filters, Sheet, build_sheet
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, correct

# Counted by hand. `ann` is a person's set, `guess` a model's, made from what `good` answered.
#   item  ann   guess  production  good  poor  always
#   one   yes   yes    yes         yes   no    yes
#   two   no    yes    yes         yes   yes   yes
#   three yes   no     no          no    yes   yes
#   four  —     no     yes         no    no    yes
TEXTS = {name: f"the text of {name}" for name in ("one", "two", "three", "four")}
ANN = {"one": "yes", "two": "no", "three": "yes"}
DECISIONS: dict[str, dict[str, str | None]] = {
    "production": {"one": "yes", "two": "yes", "three": "no", "four": "yes"},
    "good": {"one": "yes", "two": "yes", "three": "no", "four": "no"},
    "poor": {"one": "no", "two": "yes", "three": "yes", "four": "no"},
    "always": dict.fromkeys(TEXTS, "yes"),
}


@pytest.fixture
def built(project: Project) -> Builder:
    """The project of the hand count; `always` is a floor."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    made.labels("d", "ann", ANN)
    for name, decisions in DECISIONS.items():
        recorded = name == "production"
        run = made.run(name, "d", decisions, params={"provider": "recorded" if recorded else "echo"})
        made.rescored(run, decisions, correct(decisions, ANN), against="labels/d/ann")
    made.labels(
        "d",
        "guess",
        {k: v for k, v in DECISIONS["good"].items() if v},
        source={"kind": "model", "config_id": "good"},
    )
    made.config("always", floor=True)
    return made


def rows(sheet: Sheet) -> dict[str, Any]:
    """Return the rows by their item."""
    found = {row.item_id: row for row in sheet.rows}
    return {name: found[name] for name in TEXTS}


def test_wrong_goes_by_the_set_that_draws_the_winner(built: Builder) -> None:
    """Production is wrong by ann on two and three, by the model's set on four: told by name only."""
    found = rows(build_sheet(built.project, "d"))
    assert {name: row.signals.wrong for name, row in found.items()} == {
        "one": (), "two": ("labels/d/ann",), "three": ("labels/d/ann",), "four": (),
    }  # fmt: skip
    assert found["four"].signals.wrong_by == ("labels/d/guess",)
    kept = build_sheet(built.project, "d", filters=Filters(wrong=True))
    assert {row.item_id for row in kept.rows} == {"two", "three"}
    by_name = build_sheet(built.project, "d", wrong_against="d/guess")
    assert [row.item_id for row in by_name.rows] == ["four"]


def test_labels_made_from_an_arm_that_is_shown_label_nothing(built: Builder) -> None:
    """Four has the model's label alone: unlabelled beside `good`, labelled where `good` is not shown."""
    shown = rows(build_sheet(built.project, "d"))
    assert [name for name, row in shown.items() if row.signals.unlabelled] == ["four"]
    others = rows(build_sheet(built.project, "d", ("production", "poor")))
    assert not any(row.signals.unlabelled for row in others.values())


def test_nobody_wins_a_row_that_no_arm_is_right_on(built: Builder, evh: CommandLine) -> None:
    """All are wrong on two: the terminal, the JSON and the CSV say "none right"."""
    found = rows(build_sheet(built.project, "d"))
    assert {name: (row.winners, row.none_right) for name, row in found.items()} == {
        "one": (("production", "good"), False),
        "two": ((), True),
        "three": (("poor",), False),
        "four": ((), False),
    }
    assert "none right" in evh.ok("inspect", "--sheet", "--dataset-id", "d").out


def test_a_floor_is_a_column_that_counts_in_nothing(built: Builder, evh: CommandLine) -> None:
    """Without `always` the others agree on two; with it as an ordinary arm it would win one and three."""
    sheet = build_sheet(built.project, "d")
    assert [(arm.name, arm.floor) for arm in sheet.arms][-1] == ("always", True)
    found = rows(sheet)
    assert [name for name, row in found.items() if row.signals.disagree] == ["one", "three", "four"]
    assert [name for name, row in found.items() if row.signals.split] == ["one", "three"]
    assert sheet.footer[-1].win_rate is None
    assert any("always: floors" in note for note in sheet.notes)
    assert evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json["arms"][-1]["floor"] is True


def test_candidates_stand_by_their_figure(project: Project) -> None:
    """Production first, then the best of the candidates, whatever their names: 3, 2 and 1 of 3."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    made.labels("d", "ann", ANN)
    wanted: dict[str, dict[str, str | None]] = {
        "production": dict.fromkeys(TEXTS, "no"),
        "a_low": {"one": "yes", "two": "yes", "three": "no", "four": "no"},
        "b_top": {**ANN, "four": "no"},
        "c_mid": {"one": "yes", "two": "yes", "three": "yes", "four": "no"},
    }
    for name, decisions in wanted.items():
        recorded = name == "production"
        run = made.run(name, "d", decisions, params={"provider": "recorded" if recorded else "echo"})
        made.rescored(run, decisions, correct(decisions, ANN), against="labels/d/ann")
    sheet = build_sheet(project, "d")
    assert [arm.name for arm in sheet.arms] == ["production", "b_top", "c_mid", "a_low"]
    assert [line.means[0] for line in sheet.footer] == [1 / 3, 1.0, 2 / 3, 1 / 3]
    named = build_sheet(project, "d", ("a_low", "b_top"))
    assert [arm.name for arm in named.arms] == ["a_low", "b_top"]
