"""``label-import``: what a filled sheet or a folder of texts becomes, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.project import labels
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.acts import filling
from tests.acts.filling import (
    LABEL,
    TEXTS,
    fill,
    load,
    save,
    texts,
    words,
)
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

builder, sheet = filling.builder, filling.sheet


def test_a_filled_sheet_becomes_a_persons_set(project: Project, evh: CommandLine, sheet: Path) -> None:
    """Labels, notes and several answers; the guideline, the sheet's digest and the selection are recorded."""
    rows = load(sheet)
    by_id = {row["item_id"]: row for row in rows}
    by_id["i1"].update({LABEL: "yes", "note": " sure "})
    by_id["i2"].update({LABEL: "no", "also right": r"a\|b | yes"})
    save(sheet, rows)
    row = check(evh.ok(*words(sheet, "--json")).json, "label-import")["label_sets"][0]
    assert [row[key] for key in ("n_items", "of", "n_empty", "n_comments", "guideline")] == [2, 4, 2, 1, True]
    made = labels.read(project, "d", "s")
    assert texts(project) == {"i1": "yes", "i2": '{"accept": ["a|b", "no", "yes"]}'}
    assert (made.source, made.task, made.sheet_sha256) == (
        {"kind": "person", "by": "ann"},
        "t",
        sha256(sheet.read_bytes()),
    )
    assert made.items["i1"].note == "sure"
    assert made.items["i1"].slice == "selected"
    assert made.selection == {"items": "all"}
    assert labels.guideline(project, made) == b"Say yes.\n"
    assert (made.guideline or {})["file"] == "~guideline.md"


@pytest.mark.parametrize(
    ("encoding", "delimiter"), [("utf-8", ";"), ("utf-8-sig", "\t"), ("utf-16", "|"), ("utf-8-sig", ",")]
)
def test_what_a_spreadsheet_does_to_the_form_changes_nothing(
    project: Project, evh: CommandLine, sheet: Path, encoding: str, delimiter: str
) -> None:
    """Re-sorted rows, an extra column and row, other line ends in cells, another encoding and delimiter."""
    rows = load(sheet)
    for row in rows:
        row[LABEL] = "" if row["item_id"].startswith("#") else "yes"
        row["item"] = row["item"].replace("\r\n", "\n")
        row["mine"] = "x"
    rows.append({"item_id": "# done", "mine": "by hand"})
    save(sheet, rows[::-1], encoding=encoding, delimiter=delimiter)
    evh.ok(*words(sheet))
    assert texts(project) == dict.fromkeys(TEXTS, "yes")


def test_hidden_proposals_and_slices_come_from_the_key(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Both hidden: the set says what was proposed and that nobody saw it."""
    builder.labels("d", "p", {"i1": "yes", "i2": "no"})
    path = tmp_path / "p.csv"
    evh.ok(
        "label-sheet", "--dataset-id", "d", "--out", path, "--item", "i1", "--plus-random", "4",
        "--propose", "p", "--hide-share", "1",
    )  # fmt: skip
    rows = load(path)
    assert not any(row["proposal"] for row in rows)
    for row in rows:
        row["label"] = "free text"
    save(path, rows)
    evh.ok(*words(path))
    item = labels.read(project, "d", "s").items["i1"]
    assert (item.proposal, item.slice) == ({"text": "yes", "shown": False}, "random")


def test_a_sheet_without_its_key_is_checked_by_its_own_columns(
    project: Project, evh: CommandLine, sheet: Path
) -> None:
    """Choices and guideline are read from the sheet, the text cell is held against the item."""
    sheet.with_suffix(".key.json").unlink()
    fill(sheet, {"i2": "yes"})
    evh.ok(*words(sheet))
    made = labels.read(project, "d", "s")
    assert made.items["i2"].slice is None
    assert labels.guideline(project, made) == b"Say yes.\n"


def test_a_plain_sheet_of_two_columns_is_enough(project: Project, builder: Builder, evh: CommandLine) -> None:
    """``item_id`` and ``label``; a free text is kept exactly, white space too."""
    path = project.root / "p.csv"
    path.write_bytes(b'ITEM_ID;Label\ni1;" two words "\ni2;\n')
    evh.ok(*words(path))
    assert texts(project) == {"i1": " two words "}


def test_a_shortened_cell_is_never_an_edit(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """A text over a cell's size comes back as it was shown, with and without the key."""
    Builder(project).dataset("d", {"i1": "x" * 40_000})
    path = tmp_path / "s.csv"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", path)
    rows = load(path)
    rows[0]["label"] = "yes"
    save(path, rows)
    evh.ok(*words(path))
    path.with_suffix(".key.json").unlink()
    evh.ok(*words(path, name="t"))
    assert texts(project, "t") == {"i1": "yes"}


def test_a_named_encoding_is_read(project: Project, builder: Builder, evh: CommandLine) -> None:
    """``--encoding cp1252``."""
    path = project.root / "p.csv"
    path.write_bytes("item_id,label\ni1,né\n".encode("cp1252"))
    evh.ok(*words(path, "--encoding", "cp1252"))
    assert texts(project) == {"i1": "né"}


def test_a_dry_run_writes_nothing(project: Project, builder: Builder, evh: CommandLine, sheet: Path) -> None:
    """The plan is told and no byte of the data changes."""
    fill(sheet, {"i1": "yes"})
    before = tree_bytes(project.data)
    assert "would label 1 of 4 items" in evh.ok(*words(sheet, "--dry-run")).out
    assert tree_bytes(project.data) == before


def test_a_note_without_a_label_is_told(project: Project, builder: Builder, evh: CommandLine) -> None:
    """It is not kept, and that is said."""
    path = project.root / "p.csv"
    path.write_text("item_id,label,note\ni1,yes,\ni2,,hm\n")
    assert "row 3: i2: a note without a label is not kept" in evh.ok(*words(path)).err


def test_a_folder_is_taken_text_for_text(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """Bytes as they are, newline too, an accept-list in its one form; stems are ours or the raw id."""
    Builder(project).dataset("d", {"a/b": "one", "c d": "two"})
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "a%2Fb.txt").write_bytes(b"yes\n")
    (folder / "c d.txt").write_bytes('{"accept": ["é", "n"]}'.encode())
    (folder / "~guideline.md").write_bytes(b"passed over")
    evh.ok(*words(folder))
    made = labels.read(project, "d", "s")
    assert labels.raw_texts(project, made) == {"a/b": b"yes\n", "c d": '{"accept": ["n", "é"]}'.encode()}
    assert made.sheet_sha256 is None


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4, unique_by=lambda one: one[0]))
def test_any_text_goes_out_and_any_label_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: Sequence[tuple[str, str]]
) -> None:
    """Whatever the items' texts are, an untouched sheet is no edit; whatever is filled in is what is kept."""
    from evh.acts import label_import, label_sheet
    from evh.store import mangled

    root = tmp_path_factory.mktemp("p")
    (root / "data").mkdir()
    project = Project.find(home=root)
    Builder(project).dataset("d", {f"i{at}": text for at, (text, _) in enumerate(rows)})
    path = root / "s.csv"
    label_sheet.commit(label_sheet.plan(project, "d", path, label_sheet.Options()))
    sheet = load(path)
    answers = {f"i{at}": label for at, (_, label) in enumerate(rows) if label.strip()}
    answers = {
        key: label
        for key, label in answers.items()
        if not mangled.formatted_number(label) and label.strip() not in mangled.ERRORS
    }
    for row in sheet:
        row["label"] = answers.get(row["item_id"], "")
    save(path, sheet)
    if not answers:
        return
    plan = label_import.plan(project, dataset_id="d", source=path, name="s", by="ann")
    assert {key: text.decode() for key, text in plan.texts.items()} == answers


def test_without_its_key_a_sheet_says_what_is_lost(
    builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """One note; and the rows that say nothing are counted in plain words."""
    path = tmp_path / "bare.csv"
    path.write_text("item_id,label\ni1,yes\ni3,\n#mean,1\n")
    done = evh.ok("label-import", path, "--dataset-id", "d", "--set", "s", "--by", "ann")
    assert "(1 row empty, 1 row that is no item)" in done.out
    assert done.err.count("read without a key (bare.key.json is not beside it, no --key is given)") == 1


def test_the_choices_of_a_sheet_stay_with_its_set(project: Project, evh: CommandLine, sheet: Path) -> None:
    """yes, no and a|b, from the key; and from the header where there is no key."""
    fill(sheet, {"i2": "yes"})
    evh.ok(*words(sheet))
    evh.ok(*words(sheet, "--no-key", name="bare"))
    for name in ("s", "bare"):
        assert labels.read(project, "d", name).choices == ("yes", "no", "a|b")


def test_a_folder_of_texts_has_no_key_to_miss(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """No note: there never was a sheet."""
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "i1.txt").write_text("yes")
    done = evh.ok("label-import", tmp_path / "f", "--dataset-id", "d", "--set", "s", "--by", "ann")
    assert "key" not in done.err


def test_a_label_that_looks_guarded_is_what_was_typed(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Label cells are empty when the sheet is written, so nothing in them is ours; the item's cell is."""
    path = tmp_path / "s.csv"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", path)
    rows = load(path)
    assert {row["item_id"]: row["item"] for row in rows}["i2"].startswith("'=two")
    typed = {"i1": "'=x", "i2": "=x", "i3": "''-1"}
    for row in rows:
        row["label"] = typed.get(row["item_id"], "")
        row["note"] = row["label"]
    save(path, rows)
    evh.ok(*words(path))
    assert texts(project) == typed
    assert {key: one.note for key, one in labels.read(project, "d", "s").items.items()} == typed


def test_an_accept_list_in_a_cell_is_canonical(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Sorted, without repeats; of one answer it is that answer; with what is also right it is one list."""
    path = tmp_path / "s.csv"
    save(
        path,
        [
            {"item_id": "i1", "label": '{"accept":["n","a","n"]}', "also right": ""},
            {"item_id": "i2", "label": ' {"accept": ["y"]}', "also right": ""},
            {"item_id": "i3", "label": '{"accept": ["y", "m"]}', "also right": "b"},
            {"item_id": "007", "label": '{"a": 1}', "also right": ""},
        ],
    )
    evh.ok(*words(path))
    assert texts(project) == {
        "i1": '{"accept": ["a", "n"]}',
        "i2": "y",
        "i3": '{"accept": ["b", "m", "y"]}',
        "007": '{"a": 1}',
    }


def test_a_deeply_nested_label_bricks_no_reader(project: Project, builder: Builder, evh: CommandLine) -> None:
    """A set that holds one already is listed, compared, shown and validated."""
    builder.labels("d", "s", {"i1": '{"accept": ' + "[" * 9_000, "i3": '{"x":' * 9_000})
    builder.run("a", "d", dict.fromkeys(TEXTS, "yes"))
    evh.ok("labels", "--dataset-id", "d")
    evh.ok("inspect", "--dataset-id", "d", "--item", "i1")
    evh.ok("inspect", "--dataset-id", "d", "--sheet")
    evh.ok("rescore", "--dataset-id", "d", "--labels", "d/s")
    evh.ok("validate")


def test_a_sheet_that_was_cut_off_is_told(evh: CommandLine, sheet: Path) -> None:
    """The key knows four rows; two are not in the file, and one lacks its last cells."""
    fill(sheet, {"i1": "yes", "i2": "no"})
    lines = sheet.read_bytes().split(b"\r\n")
    whole = b"\r\n".join(line for line in lines if not line.startswith((b"i3", b"007")))
    assert whole.endswith(b"no,,\r\n")
    sheet.write_bytes(whole.removesuffix(b",,\r\n"))
    told = evh.ok(*words(sheet, "--json")).json["warnings"]
    assert told == [
        f"{sheet}: 2 of 4 rows of the sheet are not in the file: 007, i3",
        f"{sheet}: 1 row with fewer cells than the header: 4",
    ]


def test_a_name_with_a_slash_is_told_whole(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Who labelled is a name, not a path."""
    path = tmp_path / "p.csv"
    path.write_text("item_id,label\ni1,yes\n")
    done = evh.ok("label-import", path, "--dataset-id", "d", "--set", "s", "--by", "ana/bob")
    assert "by ana/bob (" in done.out
    assert "ana/bob" in evh.ok("labels", "--dataset-id", "d").out
