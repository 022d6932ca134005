"""Labels follow an item's bytes into other datasets, not its id; and accept several answers everywhere."""

from __future__ import annotations

import pytest

from evh.acts import labels as report
from evh.acts.sheet import build_sheet
from evh.project import references
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder

BOTH = '{"accept": ["escalate", "file"]}'


@pytest.fixture
def builder(project: Project) -> Builder:
    """Two versions of a dataset: i1 stays, i2 is edited, i3 is known by another id; a person labelled v1."""
    made = Builder(project)
    made.dataset("v1", {"i1": "one", "i2": "two", "i3": "three"}, task="triage")
    made.dataset("v2", {"i1": "one", "i2": "two, edited", "other": "three", "i4": "four"}, task="triage")
    made.labels("v1", "ann", {"i1": "file", "i2": "close", "i3": BOTH})
    return made


def test_a_later_version_has_the_labels_of_equal_bytes(project: Project, builder: Builder) -> None:
    """Two of four items of v2 are labelled: i1, and i3 under its new id; the edited i2 is not."""
    found = report.report(project, "v2").tasks[0].sets
    assert [(one.ref, one.covered, one.of, one.own) for one in found] == [("v1/ann", 2, 4, False)]
    rows = {row.item_id: row for row in build_sheet(project, "v2").rows}
    assert {key: row.labels for key, row in rows.items()} == {
        "i1": ("file",),
        "i2": (None,),
        "other": (BOTH,),
        "i4": (None,),
    }
    assert {key for key, row in rows.items() if row.signals.unlabelled} == {"i2", "i4"}


def test_a_sheet_of_what_is_unlabelled_asks_for_the_edited_item(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Two rows: the edited item and the new one."""
    out = project.root / "s.csv"
    row = evh.ok("label-sheet", "--dataset-id", "v2", "--out", str(out), "--json").json["sheets"][0]
    assert row["n_items"] == 2
    shown = out.read_text(encoding="utf-8-sig")
    assert "two, edited" in shown
    assert "three" not in shown


def test_promotion_takes_the_bytes_that_are_labelled(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A reference of v2 from the labels of v1 holds i1 and the renamed item; the edited one is refused."""
    words = [
        "reference-promote",
        "--dataset-id",
        "v2",
        "--labels",
        "v1/ann",
        "--tier",
        "gold",
        "--reason",
        "r",
    ]
    evh.refused("no-such-label", *words, "--item", "i2")
    evh.ok(*words)
    made = references.read(project, "gold/v2")
    assert references.raw_texts(project, made) == {"i1": b"file", "other": BOTH.encode()}


def test_another_task_follows_nowhere(project: Project, builder: Builder) -> None:
    """A set about severity labels the same bytes: it is no label of triage, nor is anything wrong by it."""
    builder.labels("v1", "grave", {"i2": "high", "i1": "low"}, task="severity")
    builder.run("arm", "v2", {"i1": "file", "i2": "close", "other": "close", "i4": "file"})
    tasks = report.report(project, "v2").tasks
    assert [(one.task, [each.ref for each in one.sets]) for one in tasks] == [
        ("triage", ["v1/ann"]),
        ("severity", ["v1/grave"]),
    ]
    rows = {row.item_id: row for row in build_sheet(project, "v2", ["arm"]).rows}
    assert rows["i1"].signals.wrong == ()
    assert rows["other"].signals.wrong == ("labels/v1/ann",)


def test_any_of_several_answers_is_right(project: Project, builder: Builder, evh: CommandLine) -> None:
    """file and escalate are both right on i3 and close is wrong; the terminal says "escalate or file"."""
    said = {"yes": "escalate", "also": "file", "no": "close"}
    for name, answer in said.items():
        builder.run(name, "v1", {"i1": "file", "i2": "close", "i3": answer}, adapter="default")
    evh.ok("rescore", "--dataset-id", "v1", "--labels", "v1/ann")
    sheet = build_sheet(project, "v1", list(said))
    row = next(one for one in sheet.rows if one.item_id == "i3")
    places = [arm.position("correct", sheet.against) for arm in sheet.arms]
    scores = [cell.scores[at] for cell, at in zip(row.cells, places, strict=True) if at is not None]
    assert scores == [1.0, 1.0, 0.0]
    assert set(row.winners) == {"yes", "also"}
    wrong = {arm: build_sheet(project, "v1", [arm]) for arm in said}
    assert [bool(next(r for r in s.rows if r.item_id == "i3").signals.wrong) for s in wrong.values()] == [
        False,
        False,
        True,
    ]
    assert "escalate or file" in evh.ok("inspect", "--sheet", "--dataset-id", "v1", "--runs", "yes,no").out


def test_two_labels_agree_when_they_accept_the_same_answers(project: Project, builder: Builder) -> None:
    """The same list in another order is the same label; one that only meets it is counted apart."""
    builder.labels("v1", "bo", {"i1": "file", "i3": '{"accept":["file","escalate","file"]}'})
    builder.labels("v1", "cy", {"i1": "file", "i3": "file"})
    pairs = {(one.a, one.b): one.agreement for one in report.report(project, "v1").tasks[0].pairs}
    assert pairs["v1/ann", "v1/bo"].same == 2
    assert (pairs["v1/ann", "v1/cy"].same, pairs["v1/ann", "v1/cy"].sharing) == (1, 1)


def test_a_set_that_says_two_things_of_one_text_is_found(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Whoever made it, and however: validate names the items."""
    builder.dataset("twins", {"a": "same", "b": "same"})
    builder.labels("twins", "ann", {"a": "file", "b": "close"})
    found = evh("validate", "--json").json["findings"]
    assert [(one["code"], one["reason"]) for one in found] == [
        ("two-answers", "a, b: equal bytes with different labels")
    ]
