"""Sheets that go out and come back: workbooks, labelling again, adjudicating, and any text at all."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.project import labels
from evh.project.find import Project
from evh.store import spreadsheet, workbook
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check
from tests.tools import require_tool

TEXTS = {"i1": "one", "i2": "=two\r\nlines", "i3": "three", "007": "bond", "'=q": "'=quoted"}


@pytest.fixture
def builder(project: Project) -> Builder:
    """Five items: a text that would run, an id with leading zeros, an id and a text that look guarded."""
    made = Builder(project)
    made.dataset("d", TEXTS, task="t", fields={"i1": {"n": 3, "ok": True, "why": "=because"}})
    return made


def fill(path: Path, answers: dict[str, Any], *, column: str = "label") -> None:
    """Fill a column of a workbook by item id with another package (openpyxl), and save it."""
    import openpyxl

    book = openpyxl.load_workbook(path)
    sheet = book["labels"]
    heads = [str(cell.value) for cell in sheet[1]]
    at = next(n for n, head in enumerate(heads, start=1) if head.partition(" (")[0] == column)
    for row in range(2, sheet.max_row + 1):
        if (item_id := sheet.cell(row, 1).value) in answers:
            cell = sheet.cell(row, at, answers[item_id])
            if isinstance(answers[item_id], str):
                cell.data_type = "s"
    book.save(path)


def words(path: Path, *more: str, name: str = "s", by: str = "ann") -> list[str | Path]:
    """Return the words that import a sheet of ``d``."""
    return ["label-import", path, "--dataset-id", "d", "--set", name, "--by", by, *more]


def texts(project: Project, name: str = "s") -> dict[str, str]:
    """Return the labels of a set of ``d``."""
    return labels.texts(project, labels.read(project, "d", name), verify=True)


def test_a_workbook_goes_out_and_comes_back(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Choices, guideline, notes and several answers; the key beside it serves the workbook as it does CSV."""
    builder.labels("d", "p", {"i1": "yes", "i2": "no"})
    (tmp_path / "g.md").write_bytes(b"Say yes.\n")
    out = tmp_path / "s.xlsx"
    more = [
        "--items",
        "all",
        "--choices",
        "yes,no,=x",
        "--guideline",
        str(tmp_path / "g.md"),
        "--propose",
        "p",
    ]
    row = evh.ok("label-sheet", "--dataset-id", "d", "--out", out, *more, "--json").json["sheets"][0]
    assert (row["n_proposed"], row["n_hidden"]) == (2, 1)  # a third of two, rounded
    fill(out, {"i1": "yes", "007": "=x", "'=q": "no", "i2": "no"})
    fill(out, {"i1": "no"}, column="also right")
    fill(out, {"i1": " sure "}, column="note")
    evh.ok(*words(out))
    made = labels.read(project, "d", "s")
    assert texts(project) == {"i1": '{"accept": ["no", "yes"]}', "i2": "no", "007": "=x", "'=q": "no"}
    assert (made.items["i1"].note, made.sheet_sha256) == ("sure", sha256(out.read_bytes()))
    assert labels.guideline(project, made) == b"Say yes.\n"


def test_the_same_key_makes_the_same_workbook(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """The sheet was lost, its key is there: the same command makes the same bytes."""
    del builder
    out = tmp_path / "s.xlsx"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out)
    before = out.read_bytes()
    out.unlink()
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out)
    assert out.read_bytes() == before


def test_a_workbook_without_its_key_has_its_guideline(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The sheet ``guideline`` says what was labelled by, to the byte."""
    del builder
    (tmp_path / "g.md").write_bytes(b"Say yes.\n\nOr no.\n")
    out = tmp_path / "s.xlsx"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--guideline", tmp_path / "g.md")
    out.with_suffix(".key.json").unlink()
    fill(out, {"i1": "yes"})
    evh.ok(*words(out))
    assert labels.guideline(project, labels.read(project, "d", "s")) == b"Say yes.\n\nOr no.\n"


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_what_libreoffice_saved_is_read(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path, form: str
) -> None:
    """A filled workbook, opened and saved by LibreOffice as a workbook or as CSV, gives the same labels."""
    del builder
    soffice = require_tool("soffice")
    out = tmp_path / "s.xlsx"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--choices", "yes,no,007,=x", "--items", "all")
    answers = {"i1": "007", "i2": "yes", "007": "no", "'=q": "=x"}
    fill(out, answers)
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    to = [soffice, profile, "--headless", "--convert-to", form, "--outdir", str(tmp_path / "saved"), str(out)]
    subprocess.run(to, check=True, capture_output=True, timeout=120)
    saved = tmp_path / "saved" / f"s.{form}"
    evh.ok(*words(saved, "--key", str(out.with_suffix(".key.json"))))
    assert texts(project) == answers


def test_a_csv_sheet_saved_as_a_workbook_is_read(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Its cells keep the guards that CSV needs; a workbook has none: either reading of a cell will do."""
    del builder
    import openpyxl

    out = tmp_path / "s.csv"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--items", "all")
    book = openpyxl.Workbook()
    sheet = spreadsheet.read(out.read_bytes(), out)
    book.active.append(sheet.header)
    for row in sheet.rows:
        book.active.append([*[*row.cells.values()][:-3], "yes"])
    book.save(tmp_path / "s.xlsx")
    evh.ok(*words(tmp_path / "s.xlsx"))
    assert texts(project) == dict.fromkeys(TEXTS, "yes")


def test_items_come_from_a_file(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """One id a line, united with those named; one that lists none is refused, no default taken."""
    del builder
    (tmp_path / "ids.txt").write_bytes(b"i3\r\n\r\n007\n")
    out = tmp_path / "s.csv"
    line = ["label-sheet", "--dataset-id", "d", "--out", str(out), "--items-from", str(tmp_path / "ids.txt")]
    evh.ok(*line, "--item", "i1")
    assert [row.cells["item_id"] for row in spreadsheet.read(out.read_bytes(), out).rows] == [
        "i1",
        "i3",
        "007",
    ]
    (tmp_path / "ids.txt").write_bytes(b"\n")
    line[4] = str(tmp_path / "t.csv")
    evh.refused("no-items", *line)


def test_choices_that_a_spreadsheet_shows_alike_need_a_workbook(
    builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """01 and 1 are one number to a spreadsheet that opens CSV; a workbook's cells are text."""
    del builder
    line = ["label-sheet", "--dataset-id", "d", "--choices", "1,01", "--out"]
    told = evh.refused("bad-options", *line, tmp_path / "s.csv").json["refused"]["why"]
    assert "in an .xlsx sheet they stay apart" in told[0]
    evh.ok(*line, tmp_path / "s.xlsx")


def test_a_random_slice_that_was_not_filled_whole_is_told(
    builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Rows drawn at random that somebody left out make the rest no random draw."""
    del builder
    out = tmp_path / "s.xlsx"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--plus-random", "3")
    ids = list(json.loads(out.with_suffix(".key.json").read_bytes())["rows"])
    fill(out, dict.fromkeys(ids[:2], "yes"))
    told = " ".join(evh.ok(*words(out, "--json")).json["warnings"])
    assert f"1 of the 3 rows drawn at random are not labelled: " in told  # noqa: F541
    assert ids[2] in told


def test_labelling_again_is_blind_and_by_the_same_person(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Two of Ann's three items again: nothing beside them; the set says of which; Bob's is refused."""
    builder.labels("d", "first", {"i1": "yes", "i2": "no", "i3": "yes"}, task="t")
    builder.run(
        "production", "d", dict.fromkeys(TEXTS, "no"), params={"provider": "recorded", "capture": "k"}
    )
    out = tmp_path / "s.csv"
    line = ["label-sheet", "--dataset-id", "d", "--out", str(out), "--relabel", "first", "--sample", "2"]
    row = check(evh.ok(*line, "--json").json, "label-sheet")["sheets"][0]
    assert (row["n_items"], row["relabel_of"], row["n_random"]) == (2, "d/first", 0)
    key = json.loads(out.with_suffix(".key.json").read_bytes())
    assert (key["relabel_of"], key["task"]) == ("d/first", "t")
    assert key["selection"] == {"blind": True, "items": "relabel", "sample": {"n": 2, "of": 3, "seed": 0}}
    header = spreadsheet.read(out.read_bytes(), out).header
    assert not any(head.startswith(("decided", "proposal")) for head in header)
    rows = [line for line in out.read_text("utf-8-sig").splitlines() if line]
    assert not any("yes" in line for line in rows)
    out.write_text("item_id,label\n" + "".join(f"{item_id},yes\n" for item_id in key["rows"]), "utf-8")
    told = evh.refused("other-person", *words(out, by="bob")).json["refused"]
    assert "which is by 'ann', not by 'bob'" in told["why"][0]
    row = check(evh.ok(*words(out, "--json")).json, "label-import")["label_sets"][0]
    assert row["relabel_of"] == "d/first"
    assert labels.read(project, "d", "s").relabel_of == "d/first"


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("bad-options", ["--relabel", "first", "--items", "all"]),
        ("bad-options", ["--relabel", "first", "--propose", "first"]),
        ("bad-options", ["--relabel", "first", "--plus-random", "2"]),
        ("cannot-relabel", ["--relabel", "model"]),
        ("cannot-relabel", ["--relabel", "first", "--task", "other"]),
        ("cannot-relabel", ["--relabel", "e/far"]),
        ("no-such-label-set", ["--relabel", "nothing"]),
        ("unknown-item", ["--relabel", "first", "--item", "i3"]),
    ],
)
def test_what_cannot_be_labelled_again(
    builder: Builder, evh: CommandLine, tmp_path: Path, code: str, more: list[str]
) -> None:
    """Other selections beside it, a model's set, another task, a set of other bytes, an item it lacks."""
    builder.labels("d", "first", {"i1": "yes"}, task="t")
    builder.labels("d", "model", {"i1": "yes"}, task="t", source={"kind": "model", "by": "m"})
    builder.dataset("e", {"x": "other bytes"})
    builder.labels("e", "far", {"x": "yes"})
    evh.refused(code, "label-sheet", "--dataset-id", "d", "--out", tmp_path / "s.csv", *more)


def adjudicated(evh: CommandLine, builder: Builder, out: Path) -> dict[str, Any]:
    """Make two sets that agree on i1 and differ on i2 and i3, and the sheet for them; return its key."""
    builder.labels("d", "a", {"i1": "yes", "i2": "no", "i3": "yes"}, task="t")
    builder.labels(
        "d", "b", {"i1": "yes", "i2": "yes", "i3": "no"}, task="t", source={"kind": "person", "by": "b"}
    )
    evh.ok("adjudicate", "--dataset-id", "d", "--sets", "a,b", "--out", out)
    key: dict[str, Any] = json.loads(out.with_suffix(".key.json").read_bytes())
    return key


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_an_adjudicated_sheet_comes_back(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path, form: str
) -> None:
    """A letter is the answer behind it, another answer is new, what both say is agreed; parents are named."""
    out = tmp_path / f"s.{form}"
    key = adjudicated(evh, builder, out)
    letter = next(name for name, one in key["rows"]["i2"]["letters"].items() if one["text"] == "no")
    if form == "xlsx":
        fill(out, {"i2": letter.lower(), "i3": "maybe"})
    else:
        header = "item_id,label\n"
        out.write_text(f"{header}i2,{letter.lower()}\ni3,maybe\n", "utf-8")
    row = check(evh.ok(*words(out, "--adjudicates", "a,b", "--json")).json, "label-import")["label_sets"][0]
    assert row["settled"] == {"agreed": 1, "chosen": 1, "new": 1}
    made = labels.read(project, "d", "s")
    assert texts(project) == {"i1": "yes", "i2": "no", "i3": "maybe"}
    assert {item_id: one.settled for item_id, one in made.items.items()} == {
        "i1": "agreed",
        "i2": "chosen",
        "i3": "new",
    }
    assert [one["set"] for one in made.parents] == ["d/a", "d/b"]
    assert made.parents[0]["labels_sha256"] == labels.read(project, "d", "a").labels_sha256
    assert made.task == "t"


def test_adjudicating_needs_the_sheets_own_key_and_sets(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The key says what is settled; other sets, no key, a letter that is not there are refused."""
    out = tmp_path / "s.csv"
    key = adjudicated(evh, builder, out)
    shown = ",".join(one["text"] for one in key["rows"]["i2"]["letters"].values())
    builder.labels("d", "c", {"i1": "yes"}, task="t")
    out.write_text(f"item_id,A,B,label\ni2,{shown},A\n", "utf-8")
    assert "adjudicates d/a, d/b" in evh.refused("other-sheet", *words(out, "--adjudicates", "a,c")).out
    out.write_text("item_id,label\ni2,Z\n", "utf-8")
    assert "no letter of this row: A, B" in evh.refused("no-letter", *words(out)).out
    out.write_text(f"item_id,A,B,label\ni2,{shown},A\n", "utf-8")
    plan = evh.ok(*words(out, "--dry-run", "--json")).json["label_sets"][0]
    assert [one["set"] for one in plan["parents"]] == ["d/a", "d/b"]
    out.with_suffix(".key.json").rename(tmp_path / "away.json")
    assert "it has no key" in evh.refused("other-sheet", *words(out, "--adjudicates", "a,b")).out
    assert "is a letter of a blind sheet" in evh.refused("no-key", *words(out)).out


TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), min_size=1, max_size=20
)
TRICKY = st.sampled_from(
    [
        "=1+1",
        "'=1",
        "007",
        "7",
        "1-2",
        "TRUE",
        "true",
        "1e5",
        "5%",
        "1:30",
        "2026-01-02",
        "#N/A",
        "a\r\nb",
        " a ",
    ]
)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(TEXT | TRICKY, TEXT | TRICKY), min_size=1, max_size=5, unique_by=lambda one: one[0]
    )
)
def test_a_label_is_what_was_typed_or_the_sheet_is_refused(
    tmp_path_factory: pytest.TempPathFactory, form: str, rows: Sequence[tuple[str, str]]
) -> None:
    """Any item text, any answer, typed as text into CSV or a workbook: the same answer, or a refusal."""
    from evh.acts import label_import, label_sheet

    root = tmp_path_factory.mktemp("p")
    (root / "data").mkdir()
    project = Project.find(home=root)
    Builder(project).dataset("d", {f"i{at}": text for at, (text, _) in enumerate(rows)})
    path = root / f"s.{form}"
    label_sheet.commit(label_sheet.plan(project, "d", path, label_sheet.Options()))
    answers = {f"i{at}": label for at, (_, label) in enumerate(rows)}
    _type_in(path, answers)
    try:
        plan = label_import.plan(project, dataset_id="d", source=path, name="s", by="ann")
    except Refusal:
        blank = not any(label.strip() for label in answers.values())
        assume(not blank)
        return
    kept = {key: text.decode() for key, text in plan.texts.items()}
    assert kept == {key: label for key, label in answers.items() if label.strip()}


def _type_in(path: Path, answers: dict[str, str]) -> None:
    """Put answers into a sheet as text, whatever they look like."""
    from evh.store import xlsx

    if path.suffix == ".xlsx":
        read = workbook.read(path.read_bytes(), path)
        rows = [{**row.cells, "label": answers[row.cells["item_id"]]} for row in read.rows]
        path.write_bytes(
            xlsx.dump([xlsx.Column(head) for head in read.header], [list(row.values()) for row in rows])
        )
        return
    import csv

    sheet = spreadsheet.read(path.read_bytes(), path)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, sheet.header)
    writer.writeheader()
    writer.writerows({**row.cells, "label": answers[row.cells["item_id"]]} for row in sheet.rows)
    path.write_bytes(out.getvalue().encode())
