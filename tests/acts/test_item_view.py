"""One item in full, and what moved between two arms."""

from __future__ import annotations

import pytest

from evh.acts.compare_runs import compare_runs
from evh.acts.item_view import Place, view_item
from evh.acts.sheet import build_sheet
from evh.errors import Refusal
from evh.project.find import Project
from evh.records.labelset import LabelItem, LabelSet
from tests.conftest import CommandLine
from tests.helpers import Builder, correct
from tests.schema import check

TRUTH = {"one": "yes", "two": "no", "three": "yes"}
A: dict[str, str | None] = {"one": "yes", "two": "yes", "three": "yes"}
B: dict[str, str | None] = {"one": "yes", "two": "no", "three": None}


@pytest.fixture
def built(project: Project) -> Builder:
    """Three items with lineage; a is wrong on two, b fails on three."""
    made = Builder(project)
    made.dataset(
        "d",
        {"one": "first\ntext", "two": "second", "three": "third"},
        fields={"one": {"kind": "x"}},
        lineage={"one": {"capture": "cap", "record_id": "r1"}},
    )
    made.labels("d", "truth", TRUTH)
    for name, decisions in (("a", A), ("b", B)):
        run = made.run(name, "d", decisions)
        made.rescored(run, decisions, correct(decisions, TRUTH), against="labels/d/truth")
    return made


def test_an_item_has_its_text_outputs_labels_and_lineage(built: Builder) -> None:
    """Everything recorded of one item stands in its view."""
    view = view_item(built.project, "d", "one")
    assert view.text == "first\ntext"
    assert view.fields == {"kind": "x"}
    assert view.lineage == {"capture": "cap", "record_id": "r1"}
    assert [(one.column.ref, one.text, one.column.source_kind) for one in view.labels] == [
        ("labels/d/truth", "yes", "person")
    ]
    assert [(one.name, one.cell.output, one.cell.scores) for one in view.arms] == [
        ("a", "yes", (1.0,)),
        ("b", "yes", (1.0,)),
    ]


def test_the_item_and_its_row_say_the_same(built: Builder) -> None:
    """For each item the view's cells and labels equal those of the sheet's row."""
    for row in build_sheet(built.project, "d").rows:
        view = view_item(built.project, "d", row.item_id)
        assert tuple(one.cell for one in view.arms) == row.cells
        assert [one.text for one in view.labels] == [text for text in row.labels if text is not None]
        assert view.sha256 == row.sha256


def test_an_item_says_where_else_its_bytes_occur(built: Builder) -> None:
    """Equal bytes in another dataset, and under another id of the same one, are named."""
    built.dataset("e", {"copy": "second", "twin": "second", "other": "no"})
    assert view_item(built.project, "d", "two").elsewhere == (Place("e", "copy"), Place("e", "twin"))
    assert view_item(built.project, "e", "copy").elsewhere == (Place("d", "two"), Place("e", "twin"))


def test_a_label_keeps_its_note(built: Builder) -> None:
    """A set's note and slice on an item stand beside the label."""
    from evh.project import datasets, labels

    sha = datasets.read(built.project, "d").by_id["one"].sha256
    noted = LabelSet(
        "d", "noted", {"kind": "person", "by": "bo"}, {"one": LabelItem(sha, note="hard", slice="random")}, ""
    )
    labels.write_new(built.project, noted, {"one": b"yes"})
    view = view_item(built.project, "d", "one")
    assert [(one.note, one.slice) for one in view.labels] == [("hard", "random"), (None, None)]


def test_an_item_whose_text_is_gone_is_still_shown(built: Builder) -> None:
    """The text is None and a note says why; the rest is there."""
    (built.project.data / "sources" / "d" / "two.txt").unlink()
    view = view_item(built.project, "d", "two")
    assert view.text is None
    assert len(view.arms) == 2
    assert any("two.txt" in note or "not here" in note for note in view.notes)


def test_inspect_item_prints_it(built: Builder, evh: CommandLine) -> None:
    """The text, every label with its source and every decision are printed."""
    shown = evh.ok("inspect", "--dataset-id", "d", "--item", "two")
    for words in ("second", "labels/d/truth", "person", "decision: yes", "decision: no", "correct against"):
        assert words in shown.out


def test_inspect_item_prints_no_control_characters(project: Project, evh: CommandLine) -> None:
    """Escape sequences of an item, an output and a label never reach the terminal."""
    built = Builder(project)
    built.dataset("d", {"one": "a\x1b[31mred\u202e"})
    built.labels("d", "s", {"one": "l\x1b]0;title\x07"})
    built.run("a", "d", {"one": "o\x1b[2J"})
    shown = evh.ok("inspect", "--dataset-id", "d", "--item", "one")
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out
    assert "ared" in shown.out


def test_an_unknown_item_is_refused(built: Builder, evh: CommandLine) -> None:
    """The likeliest items are named."""
    refused = evh.refused("no-such-item", "inspect", "--dataset-id", "d", "--item", "tow")
    assert "two" in refused.json["refused"]["why"][0]


def test_the_documents_are_what_the_schema_says(built: Builder, evh: CommandLine) -> None:
    """Both documents hold to the schema of inspect."""
    one = check(evh.ok("inspect", "--dataset-id", "d", "--item", "one", "--json").json, "inspect")
    assert one["items"][0]["labels"][0]["answers"] == ["yes"]
    two = check(evh.ok("inspect", "--dataset-id", "d", "--runs", "a,b", "--json").json, "inspect")
    assert two["n_better"] == [0, 1]


def test_what_moved_is_counted_item_by_item(built: Builder) -> None:
    """Both decided one and two, alike on one; two is better with b; three moved because b failed."""
    made = compare_runs(built.project, "d", ("a", "b"))
    assert (made.n_items, made.n_both, made.n_same, made.n_better) == (3, 2, 1, (0, 1))
    assert [(row.item_id, row.scores, row.better) for row in made.rows] == [
        ("two", (0.0, 1.0), "b"),
        ("three", (1.0, None), None),
    ]
    only = compare_runs(built.project, "d", ("a", "b"), disagree=True)
    assert [row.item_id for row in only.rows] == ["two"]
    assert only.n_better == (0, 1)


def test_a_floor_that_is_named_is_compared(built: Builder, evh: CommandLine) -> None:
    """The sheet's *disagree* leaves floors out; of two arms that are named each is one of the two.

    a says no, b yes on one and two, and c, a floor, yes on all: with a alike on none of the two, with b on
    both that b decided.
    """
    built.dataset("e", {"one": "1", "two": "2", "three": "3"})
    said: dict[str, dict[str, str | None]] = {
        "a": {"one": "no", "two": "no", "three": None},
        "b": {"one": "yes", "two": "yes", "three": None},
        "c": dict.fromkeys(("one", "two", "three"), "yes"),
    }
    for name, decisions in said.items():
        built.run(name, "e", decisions)
    built.config("c", floor=True)
    for names, same, moved in ((("a", "c"), 0, 3), (("c", "a"), 0, 3), (("b", "c"), 2, 1)):
        made = compare_runs(built.project, "e", names)
        assert (made.n_both, made.n_same, len(made.rows)) == (2, same, moved)
    only = compare_runs(built.project, "e", ("a", "c"), disagree=True)
    assert [(row.item_id, row.decided_otherwise) for row in only.rows] == [("one", True), ("two", True)]
    told = evh.ok("inspect", "--dataset-id", "e", "--runs", "a,c")
    assert "e: a and c decided 0 of 2 items alike" in told.out


def test_the_other_order_mirrors_the_counts(built: Builder) -> None:
    """Comparing b with a turns the counts round."""
    assert compare_runs(built.project, "d", ("b", "a")).n_better == (1, 0)


@pytest.mark.parametrize("runs", [("a",), ("a", "a"), ("a", "b", "c")])
def test_a_comparison_takes_two_arms(built: Builder, runs: tuple[str, ...]) -> None:
    """One arm, the same twice, or three are refused."""
    with pytest.raises(Refusal) as refused:
        compare_runs(built.project, "d", runs)
    assert refused.value.code == "two-arms"


def test_inspect_runs_prints_what_moved(built: Builder, evh: CommandLine) -> None:
    """The counts, the item that moved, and the command that shows it in full."""
    shown = evh.ok("inspect", "--dataset-id", "d", "--runs", "a,b", "--disagree")
    assert "a and b decided 1 of 2 items alike" in shown.out
    assert "correct against labels/d/truth: a better on 0, b better on 1" in shown.out
    assert "evh inspect --dataset-id d --item two" in shown.out


def test_fields_and_ids_are_shown_as_they_are(project: Project, evh: CommandLine) -> None:
    """2022 is a year: no separators, no rounding."""
    fields = {"one": {"year": 2022, "share": 0.12345, "kept": True}}
    Builder(project).dataset("d", {"one": "x"}, fields=fields, lineage={"one": {"record_id": "1234567"}})
    said = evh.ok("inspect", "--dataset-id", "d", "--item", "one").out
    assert "year: 2022\n" in said
    assert "share: 0.12345\n" in said
    assert "kept: true\n" in said
    assert "record_id 1234567\n" in said


def test_without_an_item_scored_by_both_nobody_is_better(project: Project, evh: CommandLine) -> None:
    """a is scored on one, b on two: no count, and null in JSON."""
    made = Builder(project)
    made.dataset("d", {"one": "x", "two": "y"})
    made.labels("d", "truth", {"one": "yes", "two": "yes"})
    for name, decisions in (("a", {"one": "yes", "two": None}), ("b", {"one": None, "two": "yes"})):
        run = made.run(name, "d", decisions)
        made.rescored(
            run, decisions, correct(decisions, {"one": "yes", "two": "yes"}), against="labels/d/truth"
        )
    words = ("inspect", "--dataset-id", "d", "--runs", "a,b")
    assert check(evh.ok(*words, "--json").json, "inspect")["n_better"] is None
    assert "a better on —, b better on —" in evh.ok(*words).out
