"""``label-import``: every way in which a filled sheet or a folder is refused, with its row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evh.project import labels
from evh.project.find import Project
from tests.acts import filling
from tests.acts.filling import (
    COLUMNS,
    Rows,
    fill,
    refusal,
    save,
    texts,
    words,
)
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

builder, sheet = filling.builder, filling.sheet


def put(of: str, **cells: str) -> Callable[[Rows], None]:
    """Return a change of one row's cells; ``label`` stands for the label's column."""

    def change(rows: Rows) -> None:
        for row in rows:
            if row["item_id"] == of:
                row.update({COLUMNS.get(key, key): value for key, value in cells.items()})

    return change


def add(**cells: str) -> Callable[[Rows], None]:
    """Return the change that adds a row."""
    return lambda rows: rows.append({COLUMNS.get(key, key): value for key, value in cells.items()})


@pytest.mark.parametrize(
    ("code", "change", "words_told"),
    [
        ("unknown-item", add(item_id="i9", label="yes"), "row 7: there is no item 'i9' in d"),
        ("unknown-item", add(item_id="", label="yes"), "row 7: a label without an item_id"),
        ("mangled-cell", put("007", item_id="7", label="yes"), "'007'"),
        ("mangled-cell", put("i1", item_id="#NAME?", label="yes"), "probably changed 'i1'"),
        ("mangled-cell", put("i1", label="#NAME?"), "bad formula"),
        ("mangled-cell", put("i1", label="YES"), "row 3: i1: 'YES' was probably 'yes'"),
        ("off-choices", put("i1", label="maybe"), "row 3: i1: 'maybe' is not one of yes, no, a|b"),
        ("off-choices", put("i1", label="yes", also_right="perhaps"), "'perhaps'"),
        ("no-label", put("i1", also_right="yes"), "row 3"),
        ("changed-text", put("i1", label="yes", item="uno"), "row 3: i1: the cell item was edited"),
        ("changed-item", put("i1", label="yes", item_sha256="0" * 64), "row 3: i1"),
        ("two-answers", add(item_id="i3", label="no"), "row 7: i3 is 'no' here and 'yes' in row 5"),
    ],
)
def test_a_bad_row_is_refused_with_its_number(
    *,
    project: Project,
    evh: CommandLine,
    sheet: Path,
    code: str,
    change: Callable[[Rows], None],
    words_told: str,
) -> None:
    """Each fault has its code and names its row; nothing is written."""
    rows = fill(sheet, {"i3": "yes"})
    change(rows)
    save(sheet, rows)
    why = refusal(evh, code, sheet)
    assert len(why) == 1
    assert words_told in why[0]
    assert not (project.data / "labels").exists()


def test_all_bad_rows_are_told_at_once(evh: CommandLine, sheet: Path) -> None:
    """Three faults of three kinds: one refusal, three reasons."""
    rows = fill(sheet, {"i1": "maybe", "i2": "yes"})
    put("i2", item="edited")(rows)
    add(item_id="i9", label="yes")(rows)
    save(sheet, rows)
    assert len(refusal(evh, "bad-sheet", sheet)) == 3


def test_long_numbers_and_dates_are_traced_to_the_choice(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A spreadsheet made a choice of digits 1.23457E+15 and the choice 1-2 a date."""
    path = tmp_path / "p.csv"
    path.write_text("item_id,label (1234567890123456|1-2)\ni1,1.23457E+15\ni2,02.01.2024\n")
    why = refusal(evh, "mangled-cell", path)
    assert "row 2: i1: '1.23457E+15' was probably '1234567890123456'" in why[0]
    assert "row 3: i2: '02.01.2024' was probably '1-2'" in why[1]
    path.write_text("item_id,label\ni1,1.23457E+15\n")
    assert "long number" in refusal(evh, "mangled-cell", path)[0]


def test_equal_bytes_with_two_answers_are_refused(project: Project, evh: CommandLine) -> None:
    """A person who answers one text in two ways is asked again."""
    Builder(project).dataset("d", {"p": "same", "q": "same"})
    path = project.root / "p.csv"
    path.write_text("item_id,label\np,yes\nq,no\n")
    assert "equal bytes: p" in refusal(evh, "two-answers", path)[0]
    path.write_text("item_id,label\np,yes\nq,yes\np,yes\n")
    evh.ok(*words(path))


def test_another_guideline_is_refused(
    project: Project, evh: CommandLine, sheet: Path, tmp_path: Path
) -> None:
    """The guideline given is not the sheet's; the sheet's own is taken."""
    fill(sheet, {"i1": "yes"})
    (tmp_path / "other.md").write_bytes(b"Say no.\n")
    refusal(evh, "other-guideline", sheet, "--guideline", str(tmp_path / "other.md"))
    evh.ok(*words(sheet, "--guideline", str(tmp_path / "g.md")))


def test_another_datasets_sheet_is_refused(builder: Builder, evh: CommandLine, sheet: Path) -> None:
    """The key is of a sheet of d; so is its task."""
    builder.dataset("e", {"i1": "one"})
    fill(sheet, {"i1": "yes"})
    outcome: list[str | Path] = ["label-import", sheet, "--dataset-id", "e", "--set", "s", "--by", "ann"]
    evh.refused("other-sheet", *outcome)
    refusal(evh, "other-sheet", sheet, "--task", "severity")


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("nothing-filled", b"item_id,label\ni1,\n"),
        ("bad-sheet", b"item_id,answer\ni1,yes\n"),
        ("bad-sheet", b"id,label\ni1,yes\n"),
        ("bad-sheet", b"item_id,label,label (a|b)\ni1,yes,a\n"),
        ("bad-sheet", b""),
        ("bad-encoding", "item_id,label\ni1,né\n".encode("cp1252")),
    ],
)
def test_what_is_no_filled_sheet_is_refused(
    project: Project, builder: Builder, evh: CommandLine, code: str, data: bytes
) -> None:
    """Nothing filled, no such column, two of them, no header, an unnamed encoding."""
    path = project.root / "p.csv"
    path.write_bytes(data)
    refusal(evh, code, path)


def test_other_refusals(project: Project, builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """A missing file, a spreadsheet's own format, no name, an existing set, a key that is none."""
    refusal(evh, "cannot-read", tmp_path / "nowhere.csv")
    path = tmp_path / "p.csv"
    path.write_text("item_id,label\ni1,yes\n")
    (tmp_path / "p.xlsx").write_bytes(b"PK")
    refusal(evh, "bad-format", tmp_path / "p.xlsx")
    evh.refused("no-name", "label-import", path, "--dataset-id", "d", "--set", "s", "--by", " ")
    (tmp_path / "k.json").write_text('{"kind": "judge"}')
    refusal(evh, "bad-record", path, "--key", str(tmp_path / "k.json"))
    evh.ok(*words(path))
    before = tree_bytes(project.data)
    refusal(evh, "existing-set", path)
    assert tree_bytes(project.data) == before


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("unknown-item", {"i9.txt": b"yes"}),
        ("unknown-item", {"i1.md": b"yes"}),
        ("no-label", {"i1.txt": b""}),
        ("bad-encoding", {"i1.txt": b"\xff"}),
        ("nothing-filled", {}),
    ],
)
def test_a_bad_folder_is_refused(
    *,
    project: Project,
    builder: Builder,
    evh: CommandLine,
    tmp_path: Path,
    code: str,
    files: dict[str, bytes],
) -> None:
    """A file of no item, an empty one, one that is not UTF-8, and none."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    refusal(evh, code, folder)


def test_a_link_in_a_folder_is_not_followed(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A link is no answer."""
    folder = tmp_path / "answers"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "i1.txt").symlink_to(tmp_path / "secret")
    refusal(evh, "no-label", folder)


def test_a_renamed_sheet_is_not_read_without_its_key(
    project: Project, builder: Builder, evh: CommandLine, sheet: Path
) -> None:
    """The key beside it knows the rows: it is named, and nothing is written until --no-key says so."""
    fill(sheet, {"i2": "yes"})
    renamed = sheet.rename(sheet.with_name("s-filled.csv"))
    key = sheet.with_suffix(".key.json")
    refused = evh.refused("other-key", *words(renamed)).json["refused"]
    assert refused["why"] == [f"{key}: it is the key of a sheet of these items"]
    assert refused["next"].startswith(f"--key {key};")
    assert not labels.exists(project, "d", "s")
    evh.ok(*words(renamed, "--key", str(key), name="keyed"))
    assert labels.read(project, "d", "keyed").items["i2"].slice == "selected"
    evh.ok(*words(renamed, "--no-key", name="bare"))
    assert labels.read(project, "d", "bare").items["i2"].slice is None
    evh.refused("bad-options", *words(renamed, "--key", str(key), "--no-key"))


def test_an_accept_list_of_choices_is_held_against_them(
    project: Project, evh: CommandLine, sheet: Path
) -> None:
    """Each of its answers is a choice, or the row is refused."""
    fill(sheet, {"i1": '{"accept": ["yes", "no"]}'})
    evh.ok(*words(sheet))
    assert texts(project) == {"i1": '{"accept": ["no", "yes"]}'}
    fill(sheet, {"i1": '{"accept": ["yes", "maybe"]}'})
    assert (
        "row 3: i1: 'maybe'" in evh.refused("off-choices", *words(sheet, name="t")).json["refused"]["why"][0]
    )


MALFORMED = [
    '{"accept": []}',
    '{"accept": [1]}',
    '{"accept":["a"],"accept":["b"]}',
    '{"accept": ' + "[" * 9_000,
]


@pytest.mark.parametrize("cell", MALFORMED)
def test_a_malformed_accept_list_is_refused_with_its_place(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path, cell: str
) -> None:
    """In a sheet with its row, in a folder with its file; nothing is written."""
    path = tmp_path / "s.csv"
    save(path, [{"item_id": "i1", "label": cell}])
    assert "row 2: i1: the accept-list is malformed" in refusal(evh, "bad-label", path)[0]
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "i1.txt").write_text(cell)
    assert "i1.txt: the accept-list is malformed" in refusal(evh, "bad-label", folder)[0]
    assert not (project.data / "labels").exists()
