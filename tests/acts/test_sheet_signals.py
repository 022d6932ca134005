"""Which sets a sheet's signals go by, who wins nothing, in what order the arms stand, and what a floor is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evh.acts.sheet import Filters, Sheet, build_sheet
from evh.project.find import Project
from tests.acts.sheets import cells_of
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
    made.dataset("d", TEXTS, fields={name: {"kind": "k"} for name in TEXTS})
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


def test_rows_asked_for_by_a_set_carry_the_signal_of_that_set(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Four is wrong by the model's set alone: asked for by it, the mark, the CSV and the counts say so."""
    words = ("inspect", "--sheet", "--dataset-id", "d", "--wrong-against", "guess", "--against", "ann")
    document = evh.ok(*words, "--by", "kind", "--json").json
    assert [(row["item_id"], row["signals"]["wrong"]) for row in document["rows"]] == [
        ("four", ["labels/d/guess"])
    ]
    assert [(one["n"], one["signals"]["wrong"]) for one in document["by"]] == [(1, 1)]
    assert "wrong (guess)" in evh.ok(*words).out
    evh.ok(*words, "--csv", tmp_path / "s.csv")
    header, row, *_ = cells_of(tmp_path / "s.csv")
    assert row[header.index("wrong")] == "labels/d/guess"
    everything = rows(build_sheet(built.project, "d"))["four"].signals
    asked = build_sheet(built.project, "d", wrong_against="d/guess").rows[0].signals
    assert (everything.count, asked.count) == (2, 3)


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


def scored_twice(project: Project) -> Builder:
    """Two arms, scored against a_few, that labels two items, and z_all, that labels all four."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    sets = {"a_few": {"one": "yes", "two": "no"}, "z_all": {**ANN, "four": "no"}}
    for name, texts in sets.items():
        made.labels("d", name, texts)
    for name in ("production", "good"):
        run = made.run(name, "d", DECISIONS[name])
        for ref, texts in sets.items():
            made.rescored(run, DECISIONS[name], correct(DECISIONS[name], texts), against=f"labels/d/{ref}")
    return made


def drawn_by(sheet: Sheet) -> str | None:
    """Return the set that draws the winner."""
    return sheet.against.ref if sheet.against else None


def test_of_two_sets_the_one_that_labels_more_draws_the_winner(project: Project) -> None:
    """Both scored the same arms: two items against four, not the alphabet, decide; a name still does."""
    scored_twice(project)
    assert drawn_by(build_sheet(project, "d")) == "labels/d/z_all"
    assert drawn_by(build_sheet(project, "d", against="a_few")) == "labels/d/a_few"


def test_the_set_that_errors_are_looked_for_by_draws_the_winner(project: Project) -> None:
    """Unless another is named, by option or by the goal; or the set can tell no two answers apart."""
    made = scored_twice(project)
    assert drawn_by(build_sheet(project, "d", wrong_against="a_few")) == "labels/d/a_few"
    named = build_sheet(project, "d", wrong_against="a_few", against="z_all")
    assert drawn_by(named) == "labels/d/z_all"
    one = {"one": "no", "two": "no"}
    made.labels("d", "one_word", one)
    for arm in build_sheet(project, "d").arms:
        said = DECISIONS[arm.name]
        made.rescored(arm.run, said, correct(said, one), against="labels/d/one_word")
    assert drawn_by(build_sheet(project, "d", wrong_against="one_word")) == "labels/d/z_all"
    (project.data / "goals").mkdir()
    goal = "question: Which?\ndatasets: [d]\nmetric: correct\nagainst: labels/d/z_all\n"
    (project.data / "goals" / "g.yaml").write_text(goal, encoding="utf-8")
    assert drawn_by(build_sheet(project, "d", wrong_against="a_few")) == "labels/d/z_all"
