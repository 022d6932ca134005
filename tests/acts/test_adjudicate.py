"""``adjudicate``: a blind sheet of only the items on which sets differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evh.project import labels
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.acts.adjudicating import bring_back, fill, letter_of, two_sets, write
from tests.acts.filling import load
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes


@pytest.fixture
def builder(project: Project) -> Builder:
    """The project of `two_sets`."""
    return two_sets(project)


def test_only_the_differing_items_are_in_the_sheet_and_it_names_no_set(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """i2 and i3, each with both answers under A and B; neither set's name nor its labeller is there."""
    sheet = tmp_path / "s.csv"
    row = write(evh, sheet)
    assert [row[key] for key in ("n_items", "of", "n_agreed", "n_settled", "n_alone", "written")] == [
        2, 6, 1, 0, 2, True,
    ]  # fmt: skip
    assert row["sets"] == ["d/ann", "d/bo"]
    rows = load(sheet)
    assert [(one["item_id"], one["item"], sorted([one["A"], one["B"]])) for one in rows] == [
        ("i2", "report 2", ["close", "file"]),
        ("i3", "report 3", ["close", "file"]),
    ]
    assert all(one["label"] == one["also right"] == one["note"] == "" for one in rows)
    assert list(rows[0])[-3:] == ["label", "also right", "note"]
    for name in (b"ann", b"bo"):
        assert name not in sheet.read_bytes()
    key = json.loads((tmp_path / "s.key.json").read_bytes())
    assert [one["set"] for one in key["adjudicates"]] == ["d/ann", "d/bo"]
    assert {one["text"] for one in key["rows"]["i2"]["letters"].values()} == {"close", "file"}


def test_the_letters_are_shuffled_row_by_row_by_the_secret(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """Over 60 rows each answer stands first on some; another secret gives another order, one key the same."""
    builder = Builder(project)
    items = [f"i{n}" for n in range(60)]
    builder.dataset("d", {key: f"text {key}" for key in items})
    builder.labels("d", "ann", dict.fromkeys(items, "yes"))
    builder.labels("d", "bo", dict.fromkeys(items, "no"))
    for name in ("one", "two"):
        write(evh, tmp_path / f"{name}.csv")
    firsts = [[row["A"] for row in load(tmp_path / f"{name}.csv")] for name in ("one", "two")]
    assert 10 < firsts[0].count("yes") < 50
    assert firsts[0] != firsts[1]
    before = (tmp_path / "one.csv").read_bytes()
    (tmp_path / "one.csv").unlink()
    write(evh, tmp_path / "one.csv")
    assert (tmp_path / "one.csv").read_bytes() == before


def test_sets_that_say_the_same_share_a_letter(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Of three sets two say close of i2: two letters, and nobody sees which answer has the majority."""
    builder.labels("d", "cy", {"i2": "close", "i1": "ignore"})
    row = write(evh, tmp_path / "s.csv", sets="ann,bo,cy")
    assert row["n_items"] == 3
    rows = {one["item_id"]: one for one in load(tmp_path / "s.csv")}
    assert {rows["i2"]["A"], rows["i2"]["B"]} == {"close", "file"}
    assert {rows["i1"]["A"], rows["i1"]["B"]} == {"file", "ignore"}
    assert "C" not in rows["i2"]
    key = json.loads((tmp_path / "s.key.json").read_bytes())
    assert sorted(one["sets"] for one in key["rows"]["i2"]["letters"].values()) == [
        ["d/ann", "d/cy"],
        ["d/bo"],
    ]


def test_answers_that_are_letters_get_other_marks(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """In a test of choices A to D a letter is an answer: the columns are ``pick A``, ``pick B``."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "one"})
    builder.labels("d", "ann", {"i1": "B"})
    builder.labels("d", "bo", {"i1": "d"})
    write(evh, tmp_path / "s.csv")
    row = load(tmp_path / "s.csv")[0]
    assert {row["pick A"], row["pick B"]} == {"B", "d"}
    fill(tmp_path / "s.csv", {"i1": {"label": "A"}})
    bring_back(evh, tmp_path / "s.csv")
    made = labels.read(project, "d", "settled")
    assert labels.texts(project, made) == {"i1": "A"}
    assert made.items["i1"].settled == "new"


def test_sets_of_other_datasets_count_by_bytes(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A set of d0 that labels the bytes of i4 otherwise; one item's bytes are told once."""
    builder.dataset("d0", {"x": "report 4", "y": "elsewhere"}, task="triage")
    builder.labels("d0", "cy", {"x": "file", "y": "close"})
    row = write(evh, tmp_path / "s.csv", sets="ann,d0/cy")
    assert (row["sets"], row["n_items"]) == (["d/ann", "d0/cy"], 1)
    assert load(tmp_path / "s.csv")[0]["item_id"] == "i4"


def test_equal_bytes_are_asked_once(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """Two items of one text stand in one row: they share their label."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "same", "i2": "same"})
    builder.labels("d", "ann", {"i1": "x"})
    builder.labels("d", "bo", {"i2": "y"})
    assert write(evh, tmp_path / "s.csv")["n_items"] == 1


def test_other_guidelines_are_said(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """Two sets under different guidelines are never pooled without a word."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "one", "i2": "two"})
    for name, text in (("ann", "x"), ("bo", "y")):
        builder.labels(
            "d", name, {"i1": text}, guideline={"file": "~guideline.md", "sha256": sha256(name.encode())}
        )
    outcome = evh.ok("adjudicate", "--dataset-id", "d", "--sets", "ann,bo", "--out", str(tmp_path / "s.csv"))
    assert "different guidelines" in outcome.err


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_the_guideline_of_all_sets_goes_along(
    project: Project, evh: CommandLine, tmp_path: Path, ending: str
) -> None:
    """It stands in the sheet for whoever adjudicates, and the new set is made by it too."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "one", "i2": "two"})
    (tmp_path / "how.md").write_bytes(b"File what is new.\n")
    for name, answer in (("ann", "file"), ("bo", "close")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "i1.txt").write_text(answer)
        words = ["label-import", str(tmp_path / name), "--dataset-id", "d", "--set", name, "--by", name]
        evh.ok(*words, "--guideline", str(tmp_path / "how.md"))
    sheet = tmp_path / f"s.{ending}"
    write(evh, sheet)
    if ending == "csv":
        assert (load(sheet)[0]["item_id"], load(sheet)[0]["item"]) == (
            "#guideline",
            "File what is new.\n",
        )
        fill(sheet, {"i1": {"label": "A"}})
    else:
        import openpyxl

        book = openpyxl.load_workbook(sheet)
        book.worksheets[0].cell(2, 6).value = "A"
        assert book.worksheets[0].cell(1, 6).value == "label"
        book.save(sheet)
    bring_back(evh, sheet)
    made = labels.read(project, "d", "settled")
    assert made.guideline == {"file": "~guideline.md", "sha256": sha256(b"File what is new.\n")}
    assert made.items["i1"].settled == "chosen"


def test_what_cannot_be_adjudicated_is_refused(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """One set, no such set, two tasks, nothing that differs, an edited set, a bad or taken file."""
    builder.labels("d", "grave", {"i2": "high"}, task="severity")
    builder.labels("d", "alike", {"i1": "file"})
    out = str(tmp_path / "s.csv")
    (tmp_path / "there.csv").write_bytes(b"")
    for code, sets, path in [
        ("two-sets", "ann", out),
        ("two-sets", "ann,d/ann", out),
        ("no-such-label-set", "ann,nowhere", out),
        ("two-tasks", "ann,grave", out),
        ("nothing-differs", "ann,alike", out),
        ("bad-options", "ann,bo", str(tmp_path / "s.ods")),
        ("existing-file", "ann,bo", str(tmp_path / "there.csv")),
    ]:
        evh.refused(code, "adjudicate", "--dataset-id", "d", "--sets", sets, "--out", path)
    (project.data / "labels/d/bo/i1.txt").write_bytes(b"close")
    evh.refused("edited-set", "adjudicate", "--dataset-id", "d", "--sets", "ann,bo", "--out", out)
    assert not Path(out).exists()


def test_a_set_with_two_answers_for_equal_bytes_is_refused(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """Nobody can say what it says of those bytes; the items are named."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "same", "i2": "same"})
    builder.labels("d", "ann", {"i1": "x", "i2": "y"})
    builder.labels("d", "bo", {"i1": "x"})
    words = ["adjudicate", "--dataset-id", "d", "--sets", "ann,bo", "--out", str(tmp_path / "s.csv")]
    assert "i1 and i2" in evh.refused("two-answers", *words).json["refused"]["why"][0]


def test_a_dry_run_writes_nothing(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Neither the sheet nor its key, nor a byte of the project."""
    before = tree_bytes(tmp_path)
    assert write(evh, tmp_path / "s.csv", "--dry-run")["written"] is False
    assert tree_bytes(tmp_path) == before


def test_the_choices_of_the_sets_are_those_of_the_sheet(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Both sheets allowed file, close and drop: the blind sheet does, and an answer off them is refused."""
    choices = ("file", "close", "drop")
    for name in ("ann", "bo"):
        path = labels.path_of(project, "d", name) / "labels.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "choices": list(choices)}))
    sheet = tmp_path / "s.csv"
    write(evh, sheet)
    head = "label (file|close|drop)"
    assert list(load(sheet)[0])[-3] == head
    assert json.loads((tmp_path / "s.key.json").read_bytes())["choices"] == list(choices)
    words = ["label-import", str(sheet), "--dataset-id", "d", "--set", "settled", "--by", "cy"]
    fill(sheet, {"i2": {head: "File"}})
    why = evh.refused("mangled-cell", *words).json["refused"]["why"]
    assert why == [f"{sheet}: row 2: i2: 'File' was probably 'file'"]
    fill(sheet, {"i2": {head: letter_of(sheet, "i2", "close")}, "i3": {head: "drop"}})
    evh.ok(*words)
    made = labels.read(project, "d", "settled")
    assert labels.texts(project, made) == {"i1": "file", "i2": "close", "i3": "drop"}
    assert made.choices == choices


def test_the_drop_down_offers_letters_and_choices(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A workbook accepts nothing off its list, so the letters stand in it before the answers."""
    import openpyxl

    for name in ("ann", "bo"):
        path = labels.path_of(project, "d", name) / "labels.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "choices": ["file", "close"]}))
    write(evh, tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(tmp_path / "s.xlsx")
    assert [cell.value for cell in book["choices"]["A"]] == ["A", "B", "file", "close"]


def test_one_set_without_choices_leaves_the_sheet_without(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """bo could answer anything, so the sheet says nothing of choices."""
    path = labels.path_of(project, "d", "ann") / "labels.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "choices": ["file", "close"]}))
    write(evh, tmp_path / "s.csv")
    assert list(load(tmp_path / "s.csv")[0])[-3] == "label"
