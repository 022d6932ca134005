"""``adjudicate``: a blind sheet of only what differs, and the new set that settles it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from evh.acts import adjudicated
from evh.project import datasets, labels
from evh.project.find import Project
from evh.records.sheet_key import KeyRow
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

ANN = {"i1": "file", "i2": "close", "i3": "file", "i4": "close"}
BO = {"i1": "file", "i2": "file", "i3": "close", "i5": "file"}


@pytest.fixture
def builder(project: Project) -> Builder:
    """Six items; ann and bo agree on i1, differ on i2 and i3, and label i4 and i5 alone; i6 has no label."""
    made = Builder(project)
    made.dataset("d", {f"i{n}": f"report {n}" for n in range(1, 7)}, task="triage")
    made.labels("d", "ann", ANN)
    made.labels("d", "bo", BO, source={"kind": "person", "by": "bo"})
    return made


def write(evh: CommandLine, out: Path, *more: str, sets: str = "ann,bo") -> Any:
    """Write the sheet and return its row of the document."""
    outcome = evh.ok("adjudicate", "--dataset-id", "d", "--sets", sets, "--out", str(out), "--json", *more)
    return check(outcome.json, "adjudicate")["sheets"][0]


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a sheet by column."""
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def fill(path: Path, answers: dict[str, dict[str, str]]) -> None:
    """Fill cells of a sheet: item id → column → text."""
    rows = rows_of(path)
    for row in rows:
        row.update(answers.get(row["item_id"], {}))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(out.getvalue().encode())


def letter_of(path: Path, item_id: str, answer: str) -> str:
    """Return the letter under which a row of a sheet shows an answer."""
    row = next(one for one in rows_of(path) if one["item_id"] == item_id)
    return next(head for head in ("A", "B", "C") if row.get(head) == answer)


def bring_back(evh: CommandLine, path: Path, *more: str, name: str = "settled") -> None:
    """Import the filled sheet as the set ``settled``."""
    words = ["label-import", str(path), "--dataset-id", "d", "--set", name, "--by", "cy"]
    evh.ok(*words, "--adjudicates", "ann,bo", *more)


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
    rows = rows_of(sheet)
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
    firsts = [[row["A"] for row in rows_of(tmp_path / f"{name}.csv")] for name in ("one", "two")]
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
    rows = {one["item_id"]: one for one in rows_of(tmp_path / "s.csv")}
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
    row = rows_of(tmp_path / "s.csv")[0]
    assert {row["pick A"], row["pick B"]} == {"B", "d"}
    fill(tmp_path / "s.csv", {"i1": {"label": "A"}})
    bring_back(evh, tmp_path / "s.csv")
    made = labels.read(project, "d", "settled")
    assert labels.texts(project, made) == {"i1": "A"}
    assert made.items["i1"].settled == "new"


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
    assert [one["item_id"] for one in rows_of(tmp_path / "t.csv")] == ["i3"]
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


def test_sets_of_other_datasets_count_by_bytes(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A set of d0 that labels the bytes of i4 otherwise; one item's bytes are told once."""
    builder.dataset("d0", {"x": "report 4", "y": "elsewhere"}, task="triage")
    builder.labels("d0", "cy", {"x": "file", "y": "close"})
    row = write(evh, tmp_path / "s.csv", sets="ann,d0/cy")
    assert (row["sets"], row["n_items"]) == (["d/ann", "d0/cy"], 1)
    assert rows_of(tmp_path / "s.csv")[0]["item_id"] == "i4"


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
        assert (rows_of(sheet)[0]["item_id"], rows_of(sheet)[0]["item"]) == (
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
    assert list(rows_of(sheet)[0])[-3] == head
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
    assert list(rows_of(tmp_path / "s.csv")[0])[-3] == "label"


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
