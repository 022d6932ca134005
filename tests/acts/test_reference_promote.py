"""``reference-promote`` and ``references``: bytes copied exactly, and everything that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from evh.project import labels, references
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check


@pytest.fixture
def builder(project: Project) -> Builder:
    """A dataset ``d`` of three items and a set ``a`` of a person on two of them."""
    made = Builder(project)
    made.dataset("d", {"i1": "one", "i2": "two", "i3": "three"})
    made.labels("d", "a", {"i1": "y", "i2": "n\n"})
    return made


def promote(*more: str, labels: str = "a") -> list[str]:
    """Return the words that promote a set of ``d`` to gold."""
    words = ["reference-promote", "--dataset-id", "d", "--labels", labels, "--tier", "gold"]
    return [*words, *(() if "--reason" in more else ("--reason", "two people agree")), *more]


def test_the_bytes_of_the_labels_are_copied_exactly(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A trailing newline stays; the record names the set, its source and digest, why and who."""
    document = evh.ok(*promote("--by", "ann", "--json")).json
    row = check(document, "reference-promote")["references"][0]
    assert (row["reference"], row["n_items"], row["of"], row["written"]) == ("gold/d", 2, 3, True)
    made = references.read(project, "gold/d")
    source = labels.read(project, "d", "a")
    assert references.raw_texts(project, made) == {"i1": b"y", "i2": b"n\n"}
    assert made.promoted_from == {
        "labels": ["d/a"],
        "source": [{"kind": "person", "by": "ann"}],
        "labels_sha256": [source.labels_sha256],
    }
    assert (made.reason, made.promoted_by, made.created_at) == (
        "two people agree",
        "ann",
        "2026-11-01T08:02:32Z",
    )
    assert made.items == {key: item.sha256 for key, item in source.items.items()}


def test_people_are_told_the_next_step(builder: Builder, evh: CommandLine) -> None:
    """One clear line, and how to score against it."""
    builder.run("c", "d", {})
    out = evh.ok(*promote()).out
    assert "promoted 2 of 3 items of d from d/a to gold/d" in out
    assert "evh rescore --dataset-id d --reference gold/d" in out


def test_chosen_items_alone_are_promoted(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Any
) -> None:
    """``--item`` and ``--items-from`` are united."""
    builder.labels("d", "b", {"i1": "y", "i2": "n", "i3": "n"})
    (tmp_path / "ids.txt").write_text("i3\n\n")
    evh.ok(*promote("--item", "i1", "--items-from", str(tmp_path / "ids.txt"), labels="b"))
    assert list(references.read(project, "gold/d").items) == ["i1", "i3"]


def test_two_sets_fill_each_other_and_one_of_another_dataset_counts_by_bytes(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """The first named set's bytes count where both say the same."""
    builder.dataset("d0", {"x": "three", "y": "two"})
    builder.labels("d0", "b", {"x": "y", "y": "n"})
    evh.ok(*promote("--labels", "d0/b"))
    made = references.read(project, "gold/d")
    assert references.raw_texts(project, made) == {"i1": b"y", "i2": b"n\n", "i3": b"y"}
    assert made.label_refs == ("d/a", "d0/b")


def test_a_dry_run_writes_nothing(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The plan is told and no byte changes."""
    before = tree_bytes(project.root)
    row = evh.ok(*promote("--dry-run", "--json")).json["references"][0]
    assert row["written"] is False
    assert tree_bytes(project.root) == before


def test_one_answer_only_is_said(builder: Builder, evh: CommandLine) -> None:
    """A reference with one answer measures the recall of that answer."""
    assert "recall of that answer only" in evh.ok(*promote("--item", "i1")).err


def test_what_the_labels_lack_is_written_into_the_caveat(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A rule set whose outcomes came first says so in the reference too."""
    rules = ({"name": "r", "n_preceding": 1, "n_timed": 2},)
    builder.labels("d", "r", {"i1": "y", "i2": "n"}, source={"kind": "rule", "capture": "c"}, rules=rules)
    evh.ok(*promote(labels="r"))
    assert "for 1 of 2 labels the outcome came before" in references.read(project, "gold/d").caveat


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("no-reason", promote("--reason", " ")),
        ("no-such-label-set", promote(labels="x")),
        ("no-such-label-set", promote(labels="d9/a")),
        ("no-such-label", promote("--item", "i3")),
        ("no-such-label", promote("--item", "nowhere")),
        ("bad-id", promote("--name", "a b")),
        ("bad-id", promote(labels="../a")),
        ("cannot-read", promote("--items-from", "nowhere.txt")),
    ],
)
def test_what_is_not_there_is_refused(
    project: Project, builder: Builder, evh: CommandLine, code: str, words: list[str]
) -> None:
    """No reason, no such set, no such item, no label of it, and a bad name."""
    evh.refused(code, *words)
    assert not (project.data / "references").exists()


def test_every_missing_label_is_told_at_once(builder: Builder, evh: CommandLine) -> None:
    """Two wrong items are two reasons."""
    why = evh.refused("no-such-label", *promote("--item", "i3", "--item", "x")).json["refused"]["why"]
    assert len(why) == 2


def test_sets_that_answer_an_item_differently_are_refused(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Each item is named with what each set says; naming the items that agree is a way out."""
    builder.labels("d", "b", {"i1": "y", "i2": "y"})
    told = evh.refused("sets-differ", *promote("--labels", "b")).json["refused"]
    assert told["why"] == ["d/i2: d/a says 'n'; d/b says 'y'"]
    assert "evh adjudicate --dataset-id d --sets d/a,d/b" in told["next"]
    evh.ok(*promote("--labels", "b", "--item", "i1"))


def test_an_existing_name_is_refused_with_the_way_out(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """The second promotion needs a name; a dataset has one reference of its own name a tier."""
    evh.ok(*promote())
    before = tree_bytes(project.data / "references")
    told = evh.refused("existing-reference", *promote()).json["refused"]
    assert "--name" in told["next"]
    assert tree_bytes(project.data / "references") == before
    evh.ok(*promote("--name", "second"))


def test_an_edited_label_is_refused(project: Project, builder: Builder, evh: CommandLine) -> None:
    """One byte of a label changed after the set was made."""
    (project.data / "labels/d/a/i1.txt").write_bytes(b"n")
    evh.refused("edited-set", *promote())


def test_an_item_whose_bytes_changed_is_refused(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The item's file no longer holds the bytes that the dataset recorded."""
    (project.data / "sources/d/i1.txt").write_bytes(b"other")
    evh.refused("item-bytes", *promote())


def test_a_label_of_other_bytes_is_refused(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The dataset was made anew with another text under i1: its label is of other bytes."""
    path = project.data / "datasets/d.json"
    old = labels.read(project, "d", "a").items["i1"].sha256
    path.write_text(path.read_text().replace(old, "0" * 64))
    told = evh.refused("no-such-label", *promote()).json["refused"]
    assert told["why"] == ["d/a: i1: it labelled other bytes than the item has now"]


def test_a_file_without_items_is_refused(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Any
) -> None:
    """An empty file of ids chooses nothing; it is never read as "all"."""
    (tmp_path / "ids.txt").write_text("\n")
    evh.refused("no-items", *promote("--items-from", str(tmp_path / "ids.txt")))
    assert not (project.data / "references").exists()


def test_a_set_that_answers_equal_bytes_differently_is_refused(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A set made elsewhere says two things of one text: which is promoted would be chance."""
    builder.dataset("d2", {"x": "same", "y": "same"})
    builder.labels("d2", "b", {"x": "y", "y": "n"})
    words = ["reference-promote", "--dataset-id", "d2", "--labels", "b", "--tier", "gold", "--reason", "r"]
    assert "x and y" in evh.refused("two-answers", *words).json["refused"]["why"][0]


def test_sets_under_different_guidelines_are_never_pooled_without_a_word(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """It is a note, and it stands in the reference's caveat."""
    builder.labels("d", "b", {"i3": "n"}, guideline={"file": "~guideline.md", "sha256": "0" * 64})
    assert "made by different guidelines" in evh.ok(*promote("--labels", "b")).err
    assert "made by different guidelines" in references.read(project, "gold/d").caveat


def test_an_adjudicated_set_is_the_way_out(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Any
) -> None:
    """The command that the refusal names makes the sheet; the set made of it is promoted."""
    builder.labels("d", "b", {"i1": "y", "i2": "y"})
    told = evh.refused("sets-differ", *promote("--labels", "b")).json["refused"]["next"]
    command = told.partition("(evh ")[2].partition(")")[0].replace("differ.csv", str(tmp_path / "s.csv"))
    evh.ok(*command.split())
    sheet = tmp_path / "s.csv"
    sheet.write_text(sheet.read_text(encoding="utf-8-sig").replace(",,,\n", ",maybe,,\n"), encoding="utf-8")
    evh.ok(
        "label-import", str(sheet), "--dataset-id", "d", "--set", "c", "--by", "cy", "--adjudicates", "a,b"
    )
    evh.ok(*promote(labels="c"))
    assert references.raw_texts(project, references.read(project, "gold/d")) == {"i1": b"y", "i2": b"maybe"}


def test_sets_of_two_tasks_are_refused(builder: Builder, evh: CommandLine) -> None:
    """Labels of two tasks are never one reference."""
    builder.labels("d", "b", {"i3": "high"}, task="severity")
    evh.refused("two-tasks", *promote("--labels", "b"))


def test_a_set_that_labels_nothing_here_is_refused(builder: Builder, evh: CommandLine) -> None:
    """A set of another dataset without common bytes gives nothing to promote."""
    builder.dataset("d0", {"x": "elsewhere"})
    builder.labels("d0", "b", {"x": "y"})
    evh.refused("no-such-label", *promote(labels="d0/b"))


def test_references_are_listed_with_their_promotion(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """One promoted here, one of a tree that promotes otherwise."""
    evh.ok(*promote())
    foreign = project.data / "references/silver/old"
    foreign.mkdir(parents=True)
    (foreign / "manifest.json").write_text('{"dataset_id": "e", "tier": "silver", "n_items": 1}')
    rows = check(evh.ok("references", "--json").json, "references")["references"]
    assert [(one["reference"], one["labels"], one["source"], one["promotion_on_record"]) for one in rows] == [
        ("gold/d", ["d/a"], ["person"], True),
        ("silver/old", [], [], False),
    ]
    out = evh.ok("references").out
    assert "two people agree" in out
    assert "no promotion on record" in out
    assert len(evh.ok("references", "--dataset-id", "d", "--json").json["references"]) == 1


def test_no_reference_yet(evh: CommandLine) -> None:
    """An empty project lists none and says how to make one."""
    assert "no reference set yet" in evh.ok("references").out
