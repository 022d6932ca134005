"""Workbooks that others made: what their cells are is told, and no hostile one fills the memory."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable

import pytest

from evh.errors import Refusal
from evh.store import workbook, workbook_cells, zipped

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="worksheets/sheet1.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>'
)
ROOT = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="xl/workbook.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>'
    "</Relationships>"
)
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def book(
    cells: str, *, more: dict[str, str | bytes] | None = None, packed: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """Return a workbook whose one sheet holds the rows of ``cells``, and further parts."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": ROOT,
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": RELATIONS,
        "xl/worksheets/sheet1.xml": f"<worksheet {MAIN}><sheetData>{cells}</sheetData></worksheet>",
        **(more or {}),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packed) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def text(place: str, value: str) -> str:
    """Return a cell that holds a text."""
    return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'


HEADER = f'<row r="1">{text("A1", "item_id")}{text("B1", "label")}</row>'


def refused(data: bytes) -> Refusal:
    """Return the Refusal of a workbook that must be refused."""
    with pytest.raises(Refusal) as told:
        workbook.read(data, "s.xlsx")
    return told.value


def test_cells_that_are_no_text_are_told() -> None:
    """An independent writer's (openpyxl) numbers, dates, times, truth values, errors and formulas."""
    import openpyxl

    made = openpyxl.Workbook()
    sheet = made.active
    sheet.append(["item_id", "label"])
    values = [1, 1.5, dt.date(2026, 1, 2), dt.time(1, 30), True, "#DIV/0!", "=1+1", "1", "TRUE"]
    for number, value in enumerate(values):
        sheet.append([f"i{number}", value])
    sheet["B7"].data_type = "e"
    out = io.BytesIO()
    made.save(out)
    read = workbook.read(out.getvalue(), "s.xlsx")
    assert [(row.cells["label"], row.typed.get("label")) for row in read.rows] == [
        ("1", "number"),
        ("1.5", "number"),
        ("2026-01-02", "date"),
        ("01:30:00", "time"),
        ("TRUE", "true or false"),
        ("#DIV/0!", "error"),
        ("", "formula"),
        ("1", None),
        ("TRUE", None),
    ]
    assert read.warnings == ("s.xlsx: 1 cell with a formula: what it last showed is read",)


def test_the_sheet_with_item_ids_is_read() -> None:
    """A cover sheet before it is passed over; rows keep the numbers that a spreadsheet shows."""
    import openpyxl

    made = openpyxl.Workbook()
    made.active.append(["Please fill in the second sheet"])
    sheet = made.create_sheet("mine")
    sheet.append([])
    for row in (["item_id", "label", None], [None, None, None], ["a", "x", None]):
        sheet.append(row)
    out = io.BytesIO()
    made.save(out)
    read = workbook.read(out.getvalue(), "s.xlsx")
    assert read.header == ("item_id", "label")
    assert [(row.number, row.cells) for row in read.rows] == [(4, {"item_id": "a", "label": "x"})]


def test_a_plain_workbook_is_read() -> None:
    """The hand-made workbook of these tests is one: what is refused below is so for its own reason."""
    read = workbook.read(book(f'{HEADER}<row r="2">{text("A2", "a")}{text("B2", "x")}</row>'), "s.xlsx")
    assert read.rows[0].cells == {"item_id": "a", "label": "x"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old .xls file, or one with a password"),
        (lambda: book("", more={"xl/workbook.bin": b"x"}), "(.xlsb)"),
    ],
)
def test_other_office_files_are_named(data: bytes | Callable[[], bytes], words: str) -> None:
    """Whoever sent it learns what it is and how to save it."""
    told = refused(data if isinstance(data, bytes) else data())
    assert told.code == "bad-format"
    assert words in told.why[0]
    assert "save it from the spreadsheet as .xlsx" in str(told.next)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}, ".ods"),
        ({"Index/Document.iwa": "x"}, "Numbers"),
        ({"readme.txt": "x"}, "no workbook lies in it"),
        ({"xl/workbook.xml": BOOK}, "it has no worksheet"),
    ],
)
def test_archives_that_are_no_workbook(parts: dict[str, str], words: str) -> None:
    """OpenDocument, Numbers, any zip, a workbook without its sheet."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    assert words in refused(out.getvalue()).why[0]


def test_a_zip_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its directory says it unpacks to is too much: nothing is unpacked."""
    monkeypatch.setattr(zipped, "MOST_BYTES", 1_000_000)
    data = book(HEADER, more={"xl/sharedStrings.xml": b"0" * 3_000_000})
    assert len(data) < 10_000
    told = refused(data)
    assert (told.code, told.next) == ("too-large", "save the sheet as CSV UTF-8, which is not packed")


def test_a_directory_that_lies_is_refused() -> None:
    """The directory says that a part unpacks to ten bytes; it is more: its checksum fails there."""
    real = b"x" * 100_000
    data = book(HEADER, more={"xl/sharedStrings.xml": real})
    lied = data.replace(len(real).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lied != data
    assert refused(lied).code == "bad-format"


def test_many_parts_are_refused() -> None:
    """Thousands of empty files in one archive."""
    assert refused(book(HEADER, more={f"xl/media/{n}": b"" for n in range(5_001)})).code == "too-large"


@pytest.mark.parametrize(
    "cells",
    [
        f'{HEADER}<row r="1048576">{text("XFD1048576", "x")}</row>',
        f'{HEADER}<row r="1048576"><c t="inlineStr"><is><t>x</t></is></c>{text("XFD1048576", "x")}</row>',
    ],
)
def test_a_cell_far_out_is_refused(cells: str) -> None:
    """One cell at the sheet's last corner would make billions of empty ones before it."""
    told = refused(book(cells))
    assert told.code == "too-large"
    assert "1,048,576 rows × 16,384 columns" in told.why[0]


@pytest.mark.parametrize(
    "row",
    [
        f'<row r="2">{text("XFD3", "x")}</row>',
        f'<row r="2">{text("A0", "x")}</row>',
        f'<row r="2">{text("a2", "x")}</row>',
        f'<row r="2">{text("ZZZ2", "x")}</row>',
        f'<row r="9999999">{text("A9999999", "x")}</row>',
        f'<row r="-1">{text("A1", "x")}</row>',
        f'<row r="²">{text("A2", "x")}</row>',
    ],
)
def test_a_place_that_no_sheet_has_is_refused(row: str) -> None:
    """Two readers might see such a cell in two places, one of them billions of cells away."""
    assert refused(book(HEADER + row)).code == "bad-sheet"


def test_counts_that_a_file_states_are_never_believed() -> None:
    """A reader that made room for as many texts or formats as the file says would ask for terabytes."""
    strings = f'<sst {MAIN} count="99999999999" uniqueCount="99999999999"><si><t>x</t></si></sst>'
    styles = f'<styleSheet {MAIN}><cellXfs count="99999999999"><xf numFmtId="14"/></cellXfs></styleSheet>'
    row = f'<row r="2">{text("A2", "a")}<c r="B2" t="s"><v>0</v></c></row>'
    row += f'<row r="3">{text("A3", "b")}<c r="B3" s="0"><v>46024</v></c></row>'
    data = book(HEADER + row, more={"xl/sharedStrings.xml": strings, "xl/styles.xml": styles})
    rows = workbook.read(data, "s.xlsx").rows
    assert [(row.cells["label"], row.typed.get("label")) for row in rows] == [
        ("x", None),
        ("2026-01-02", "date"),
    ]


def test_a_text_is_read_without_its_pronunciation() -> None:
    """Rich text is joined; what a Japanese Excel keeps of how a word is read is no part of it."""
    strings = (
        f"<sst {MAIN}><si><r><t>日</t></r><r><t>本</t></r><rPh sb='0' eb='2'><t>ニホン</t></rPh></si></sst>"
    )
    row = f'<row r="2">{text("A2", "a")}<c r="B2" t="s"><v>0</v></c></row>'
    data = book(HEADER + row, more={"xl/sharedStrings.xml": strings})
    assert workbook.read(data, "s.xlsx").rows[0].cells["label"] == "日本"


def test_a_declared_dimension_alone_does_nothing() -> None:
    """``<dimension ref="A1:XFD1048576"/>`` with one cell is a sheet of one cell."""
    sheet = f'<worksheet {MAIN}><dimension ref="A1:XFD1048576"/><sheetData>{HEADER}</sheetData></worksheet>'
    assert workbook.read(book("", more={"xl/worksheets/sheet1.xml": sheet}), "s.xlsx").rows == ()


def test_one_long_text_in_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is kept once in the file and would be made thousands of times."""
    monkeypatch.setattr(workbook_cells, "MOST_TEXT", 1_000_000)
    strings = f"<sst {MAIN}><si><t>{'x' * 30_000}</t></si></sst>"
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(2, 60))
    told = refused(book(HEADER + rows, more={"xl/sharedStrings.xml": strings}))
    assert "more than 1,000,000 characters" in told.why[0]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"xl/worksheets/sheet1.xml": f'<!DOCTYPE a [<!ENTITY b "c">]><worksheet {MAIN}>&b;</worksheet>'},
            "declares entities",
        ),
        ({"xl/worksheets/sheet1.xml": "<worksheet><row>"}, "no element found"),
        ({"xl/worksheets/sheet1.xml": "<worksheet/>".encode("utf-16")}, "is not UTF-8"),
        ({"xl/workbook.xml": "no xml"}, "syntax error"),
        ({"xl/workbook.xml": '<?xml version="1.0" encoding="klingon"?><a/>'}, "unknown encoding"),
    ],
)
def test_broken_parts_are_refused(more: dict[str, str | bytes], words: str) -> None:
    """Entities, an open element, other encodings, no XML at all."""
    told = refused(book(HEADER, more=more))
    assert (told.code, words in told.why[0]) == ("bad-sheet", True)


def test_macros_and_links_are_never_looked_at() -> None:
    """Parts that are no cells may hold anything, entities and bombs too, and change nothing."""
    more: dict[str, str | bytes] = {
        "xl/vbaProject.bin": b"\x00\xff",
        "xl/externalLinks/externalLink1.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        "xl/media/image1.png": b"x",
    }
    data = book(f'{HEADER}<row r="2">{text("A2", "a")}{text("B2", "x")}</row>', more=more)
    assert workbook.read(data, "s.xlsx").rows[0].cells["label"] == "x"


@pytest.mark.parametrize("cut", [10, 300, -30])
def test_a_torn_file_is_refused(cut: int) -> None:
    """A download that broke off."""
    assert refused(book(HEADER)[:cut]).code == "bad-format"


def test_a_row_longer_than_the_header_is_refused() -> None:
    """As in CSV: nobody can say what the cell belongs to."""
    told = refused(book(f'{HEADER}<row r="2">{text("A2", "a")}{text("C2", "x")}</row>'))
    assert told.why == ("s.xlsx: row 2: it has more cells than the header",)


def test_an_empty_workbook_is_refused() -> None:
    """A sheet without a cell."""
    assert "it is empty" in refused(book("")).why[0]
