"""A sheet that adjudicates comes back: letters become answers, the new set says how each item was settled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.acts import adjudicated
from evh.project import datasets, labels
from evh.project.find import Project
from evh.records.sheet_key import KeyRow
from tests.acts.adjudicating import ANN, bring_back, fill, letter_of, two_sets, write
from tests.acts.filling import load
from tests.conftest import CommandLine
from tests.helpers import Builder


@pytest.fixture
def builder(project: Project) -> Builder:
    """The project of `two_sets`."""
    return two_sets(project)


def test_the_new_set_names_its_parents_and_how_each_item_was_settled(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A letter is chosen, another answer is new, what both said is agreed; one set's own items stay out."""
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    fill(
        sheet,
        {
            "i2": {"label": letter_of(sheet, "i2", "close").lower(), "note": "it repeats"},
            "i3": {"label": "escalate"},
        },
    )
    bring_back(evh, sheet)
    made = labels.read(project, "d", "settled")
    assert labels.texts(project, made, verify=True) == {"i1": "file", "i2": "close", "i3": "escalate"}
    assert {key: one.settled for key, one in made.items.items()} == {
        "i1": "agreed",
        "i2": "chosen",
        "i3": "new",
    }
    assert made.items["i2"].note == "it repeats"
    assert made.parents == tuple(
        {"set": f"d/{name}", "labels_sha256": labels.read(project, "d", name).labels_sha256}
        for name in ("ann", "bo")
    )
    assert (made.task, made.by) == ("triage", "cy")
    assert evh.ok("validate").code == 0


def test_two_letters_accept_both_answers(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """``also right`` takes letters too; a label of both answers is none of the sets' own: new."""
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    fill(sheet, {"i2": {"label": "A", "also right": "B"}})
    bring_back(evh, sheet)
    made = labels.read(project, "d", "settled")
    assert labels.texts(project, made)["i2"] == '{"accept": ["close", "file"]}'
    assert made.items["i2"].settled == "new"


def test_a_letter_that_is_not_on_its_row_is_refused(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Only A and B stand there; C is no answer."""
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    fill(sheet, {"i2": {"label": "C"}})
    words = ["label-import", str(sheet), "--dataset-id", "d", "--set", "x", "--by", "cy"]
    assert "'C'" in evh.refused("no-letter", *words).json["refused"]["why"][0]


def test_settled_items_leave_until_a_parent_changes(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """i2 is settled and i3 stays; then a parent is another set by its digest and both are back."""
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    fill(sheet, {"i2": {"label": "A"}})
    bring_back(evh, sheet)
    row = write(evh, tmp_path / "t.csv")
    assert (row["n_items"], row["n_settled"]) == (1, 1)
    assert [one["item_id"] for one in load(tmp_path / "t.csv")] == ["i3"]
    fill(tmp_path / "t.csv", {"i3": {"label": "B"}})
    bring_back(evh, tmp_path / "t.csv", name="rest")
    why = evh.refused(
        "nothing-differs",
        "adjudicate",
        "--dataset-id",
        "d",
        "--sets",
        "bo,ann",
        "--out",
        str(tmp_path / "u.csv"),
    ).json["refused"]["why"]
    assert [one.rpartition(" ")[2] for one in why[1:]] == ["d/settled", "d/rest"]
    # The set is made anew with the same name and one more label: it is another set.
    import shutil

    shutil.rmtree(project.data / "labels/d/ann")
    builder.labels("d", "ann", {**ANN, "i6": "file"})
    assert write(evh, tmp_path / "v.csv")["n_items"] == 2


def test_what_settles_is_told_by_the_sets_alone(project: Project, builder: Builder) -> None:
    """A set of three parents settles what two of them differ on; agreed items settle nothing."""
    from evh.records.labelset import LabelItem, LabelSet

    builder.labels("d", "cy", {"i2": "close"})
    sets = labels.read_all(project)
    parents = tuple({"set": one.ref, "labels_sha256": one.labels_sha256} for one in sets)
    known = datasets.read(project, "d").by_id
    made = LabelSet(
        "d",
        "all",
        {"kind": "person", "by": "x"},
        {
            "i1": LabelItem(known["i1"].sha256, settled="agreed"),
            "i2": LabelItem(known["i2"].sha256, settled="chosen"),
        },
        "",
        parents=parents,
    )
    assert labels.settled([*sets, made], ["d/ann", "d/bo"]) == {known["i2"].sha256: "d/all"}
    assert labels.settled([*sets, made], ["d/ann", "d/nowhere"]) == {}
    assert labels.settled([*sets, made], []) == {}
    assert labels.settled(sets, ["d/ann", "d/bo"]) == {}


def test_a_workbook_comes_back_alike(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The .xlsx has the same columns; a letter typed into it is read as in the CSV."""
    import openpyxl

    path = tmp_path / "s.xlsx"
    write(evh, path)
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    head = [cell.value for cell in sheet[1]]
    column = {name: at + 1 for at, name in enumerate(head)}
    assert head[-5:] == ["A", "B", "label", "also right", "note"]
    letter = next(name for name in ("A", "B") if sheet.cell(2, column[name]).value == "close")
    sheet.cell(2, column["label"]).value = letter
    book.save(path)
    bring_back(evh, path)
    assert labels.texts(project, labels.read(project, "d", "settled")) == {"i1": "file", "i2": "close"}


@pytest.mark.parametrize(
    ("cell", "meant"),
    [
        ("A", "yes"), ("a", "yes"), (" b ", '{"accept": ["no", "never"]}'), ("C", None), ("z", None),
        ("yes", "yes"), ("maybe", "maybe"), ("AB", "AB"), ("pick A", "pick A"),
    ],
)  # fmt: skip
def test_a_cell_means_a_letters_answer_or_itself(cell: str, meant: str | None) -> None:
    """A letter of the row is its answer, any other single letter is a slip, all else is a new answer."""
    row = KeyRow("0" * 64, letters={"A": {"text": "yes"}, "B": {"text": '{"accept": ["no", "never"]}'}})
    assert adjudicated.resolve(row, cell) == meant


@pytest.mark.parametrize(("cell", "meant"), [("pick a", "A"), ("PICK  B", "c"), ("A", "A"), ("pick C", None)])
def test_a_mark_before_the_letter_is_part_of_it(cell: str, meant: str | None) -> None:
    """Where letters are answers, the marks are ``pick A`` and ``pick B``, and A is the answer A."""
    row = KeyRow("0" * 64, letters={"pick A": {"text": "A"}, "pick B": {"text": "c"}})
    assert adjudicated.resolve(row, cell) == meant


def test_a_row_without_letters_is_as_typed() -> None:
    """A sheet that adjudicates nothing has no letters: A is A."""
    assert adjudicated.resolve(KeyRow("0" * 64), "A") == "A"


@pytest.mark.parametrize("slip", ["File", " file", "fi le"])
def test_an_answer_that_is_a_slip_of_the_hand_is_refused(
    builder: Builder, evh: CommandLine, tmp_path: Path, slip: str
) -> None:
    """``File`` beside ``file`` would be a class of its own; ``fi le`` is another word, and stays one."""
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    fill(sheet, {"i2": {"label": slip}})
    words = ["label-import", str(sheet), "--dataset-id", "d", "--set", "settled", "--by", "cy"]
    if slip == "fi le":
        evh.ok(*words)
        return
    why = evh.refused("off-choices", *words).json["refused"]["why"]
    assert why == [f"{sheet}: row 2: i2: {slip!r} is no answer of the sets, and they use 'file'"]


def test_an_answer_column_that_was_edited_is_refused(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A letter's cell is what the person read: one that changed or moved is refused."""
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    a = letter_of(sheet, "i2", "file")
    fill(sheet, {"i2": {a: "close", "label": a}})
    line = ["label-import", str(sheet), "--dataset-id", "d", "--set", "settled", "--by", "cy"]
    told = evh.refused("changed-text", *line).json["refused"]["why"]
    assert told == [f"{sheet}: row 2: i2: the cell {a} was edited; the answer goes into the column label"]
    fill(sheet, {"i2": {"A": "close", "B": "file"} if a == "A" else {"A": "file", "B": "close"}})
    evh.refused("changed-text", *line)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda letters, a: letters[a].update(text="escalate"), "is 'escalate' of d/bo, which says 'file'"),
        (lambda letters, a: letters[a].update(sets=["d/ann"]), "is 'file' of d/ann, which says 'close'"),
        (lambda letters, a: letters.pop(a), "the key has no letter for what d/bo says"),
    ],
)
def test_a_key_that_contradicts_its_sets_is_refused(  # noqa: PLR0917 - a table's columns
    project: Project,
    builder: Builder,
    evh: CommandLine,
    tmp_path: Path,
    edit: Any,
    reason: str,
) -> None:
    """The sets are here, so what a letter stands for is known: an edited key decides nothing."""
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    a = letter_of(sheet, "i2", "file")
    key = json.loads((tmp_path / "s.key.json").read_bytes())
    edit(key["rows"]["i2"]["letters"], a)
    (tmp_path / "s.key.json").write_text(json.dumps(key))
    fill(sheet, {"i3": {"label": letter_of(sheet, "i3", "file")}})
    line = ["label-import", str(sheet), "--dataset-id", "d", "--set", "settled", "--by", "cy"]
    told = " ".join(evh.refused("other-key", *line).json["refused"]["why"])
    assert reason in told
    assert not labels.exists(project, "d", "settled")
