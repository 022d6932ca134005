"""Workbooks: what is written reads back the same, holds no formula, and is the same bytes each time."""

from __future__ import annotations

import io
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.store import spreadsheet, workbook, xlsx
from evh.store.hashing import sha256_text
from tests.tools import require_tool

COLUMNS = [
    xlsx.Column("item_id"),
    xlsx.Column("item", width=60),
    xlsx.Column("label (=a|b)", choices=("=a", "b")),
]
HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(1)",
    "'=1",
    "\t=1",
    "\r=1",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://example.org","x")',
    "=WEBSERVICE(A1)",
    "http://example.org",
    "mailto:a@example.org",
    "internal:Sheet2!A1",
    "{=SUM(A1)}",
    "<script>alert(1)</script>",
    "<f>1+1</f>",
    "_x0041_",
    "\x01\x1f\x7f\x85\u2028\u202e",
    "007",
    "1-2",
    "MAR1",
    "TRUE",
    "1e5",
    "12345678901234567890",
    "2026-01-02",
    "5%",
    "1:30",
    " a ",
    "a\nb\n",
    "a\r\nb",
    "😀" * 20_000,
]


def rows_of(data: bytes) -> list[dict[str, str]]:
    """Return the cells of a workbook's rows by head."""
    return [row.cells for row in workbook.read(data, "s.xlsx").rows]


def test_hostile_texts_read_back_as_they_are() -> None:
    """Formulas, links, mark-up, control characters, long numbers: each cell is the text that was written."""
    read = workbook.read(xlsx.dump(COLUMNS, [[text, text, None] for text in HOSTILE]), "s.xlsx")
    assert [row.cells["item"] for row in read.rows] == [spreadsheet.shorten(text) for text in HOSTILE]
    assert not any(row.typed for row in read.rows)
    assert not read.guarded


@settings(max_examples=60)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), max_size=40)
    )
)
def test_any_text_reads_back(texts: list[str]) -> None:
    """Whatever the texts are, they come back; rows of nothing but white space are passed over."""
    data = xlsx.dump(COLUMNS, [["i", text, None] for text in texts])
    assert [cells["item"] for cells in rows_of(data)] == texts


def test_what_xml_cannot_hold_becomes_a_replacement_character() -> None:
    """U+FFFE, U+FFFF and lone surrogates are no characters of XML or UTF-8."""
    assert rows_of(xlsx.dump(COLUMNS, [["i", "a\ufffe\uffff", None]]))[0]["item"] == "a\ufffd\ufffd"
    assert rows_of(xlsx.dump(COLUMNS, [["i", "a\ud800b", None]]))[0]["item"] == "a?b"


def test_the_same_rows_make_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time of writing is in the file: the clock moves on, the bytes stay."""
    import time

    first = xlsx.dump(COLUMNS, [["i", "x", None]], xlsx.Guideline("g", "0" * 64))
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert xlsx.dump(COLUMNS, [["i", "x", None]], xlsx.Guideline("g", "0" * 64)) == first


def test_the_sheet_is_made_for_people(tmp_path: Path) -> None:
    """An independent reader (openpyxl) sees frozen panes, the drop-down, wrapped text, no formula or link."""
    import openpyxl

    columns = [*COLUMNS, xlsx.Column("item_sha256", hidden=True)]
    long = "word " * 4000
    data = xlsx.dump(
        columns, [["i", text, None, "x"] for text in ["a", long, *HOSTILE]], xlsx.Guideline("g\nh", "1")
    )
    book = openpyxl.load_workbook(io.BytesIO(data))
    assert book.sheetnames == ["labels", "guideline", "choices"]
    sheet = book["labels"]
    assert sheet.freeze_panes == "B2"
    assert book["choices"].sheet_state == "hidden"
    assert [cell.value for cell in book["choices"]["A"]] == ["=a", "b"]
    (rule,) = sheet.data_validations.dataValidation
    assert (rule.type, rule.formula1, rule.errorStyle) == ("list", "choices!$A$1:$A$2", None)
    assert str(rule.sqref) == f"C2:C{len(HOSTILE) + 3}"
    assert sheet.column_dimensions["C"].width == 16.7109375  # 16 characters and their padding
    assert sheet.column_dimensions["C"].number_format == "@"  # what is typed into it stays text
    assert sheet.column_dimensions["D"].hidden
    assert sheet.column_dimensions["B"].width > 50
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert all(cell.alignment.wrap_text for cell in cells if cell.value is not None)
    assert {cell.number_format for cell in cells if cell.value is not None} == {"@"}
    assert not any(cell.hyperlink or cell.data_type == "f" for cell in cells)
    assert sheet.row_dimensions[3].height == 180  # twelve lines of 15 points: a long text fills no screen
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if "worksheets/" in name]
    assert not any(re.search(rb"<f[ >/]|<hyperlink", part) for part in sheets)


def test_a_guideline_reads_back_as_a_row() -> None:
    """The text of its own sheet comes back line for line, the empty lines at its end too."""
    for text in ("one", "one\n\ntwo\n", "=one\n'two\n\n"):
        columns = [*COLUMNS, xlsx.Column("item_sha256")]
        data = xlsx.dump(columns, [["i", "x", None, "0"]], xlsx.Guideline(text, sha256_text(text)))
        first = workbook.read(data, "s.xlsx").rows[0]
        assert [first.cells[head] for head in ("item_id", "item_sha256", "item")] == [
            "#guideline",
            sha256_text(text),
            text,
        ]


def convert(tmp_path: Path, name: str, data: bytes, to: str) -> bytes:
    """Open a file in LibreOffice and save it in another form, as somebody at a desk would."""
    soffice = require_tool("soffice")
    (tmp_path / name).write_bytes(data)
    out = tmp_path / to
    profile = (tmp_path / "profile").as_uri()
    words = [
        soffice,
        f"-env:UserInstallation={profile}",
        "--headless",
        "--convert-to",
        to,
        "--outdir",
        str(out),
    ]
    subprocess.run([*words, str(tmp_path / name)], check=True, capture_output=True, timeout=120)
    return (out / f"{Path(name).stem}.{to}").read_bytes()


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_no_cell_becomes_a_formula_in_libreoffice(tmp_path: Path, form: str) -> None:
    """LibreOffice opens a sheet of hostile texts and saves what it made of it: no formula, no link."""
    texts = [text for text in HOSTILE if "\x01" not in text]
    rows: list[list[Any]] = [[text, text, None] for text in texts] + [
        ["i", value, None] for value in (True, 2.5)
    ]
    data = xlsx.dump(COLUMNS, rows) if form == "xlsx" else spreadsheet.write_rows(["a", "b", "c"], rows)
    saved = convert(tmp_path, f"s.{form}", data, "fods").decode()
    assert "<table:table-row" in saved
    assert "table:formula" not in saved
    assert "xlink:href" not in saved.partition("<office:body>")[2]


def test_a_workbook_saved_by_libreoffice_reads_the_same(tmp_path: Path) -> None:
    """Opened and saved, each text is what it was but for the form of line ends; nothing became a number."""
    texts = [text for text in HOSTILE if not text.startswith("\r")]
    data = xlsx.dump(
        COLUMNS, [["i", text, None] for text in texts], xlsx.Guideline("g\n", sha256_text("g\n"))
    )
    read = workbook.read(convert(tmp_path, "s.xlsx", data, "xlsx"), "s.xlsx")
    assert read.rows[0].cells["item"] == "g\n"
    kept = [spreadsheet.level(row.cells["item"]) for row in read.rows[1:]]
    assert kept == [spreadsheet.level(spreadsheet.shorten(text)) for text in texts]
    assert not any(row.typed for row in read.rows)
