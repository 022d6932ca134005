"""CSV for spreadsheets: nothing runs, everything comes back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.store import spreadsheet

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("'=1", "''=1"),
        ("'x", "'x"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_a_cell_that_would_run_is_guarded(text: str, cell: str) -> None:
    """Exactly the cells that start with = + - @, tab or CR (after any quotes) get one more quote."""
    assert spreadsheet.guard(text) == cell
    assert spreadsheet.unguard(cell) == text


@given(TEXT)
def test_guarding_is_undone_exactly(text: str) -> None:
    """Every text comes back as it was, and no guarded cell starts with what a spreadsheet runs."""
    cell = spreadsheet.guard(text)
    assert spreadsheet.unguard(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), max_size=6))
def test_a_written_sheet_reads_back_byte_for_byte(rows: list[list[str]]) -> None:
    """Every cell comes back as it was once it is unguarded, line ends and quotes inside it too."""
    data = spreadsheet.write_rows(["item_id", "text"], rows)
    read = spreadsheet.read(data, "s.csv", needs=["item_id"])
    kept = [row for row in rows if any(spreadsheet.guard(cell).strip() for cell in row)]
    assert [
        [spreadsheet.unguard(row.cells[head]) for head in ("item_id", "text")] for row in read.rows
    ] == kept


def test_a_sheet_is_what_spreadsheets_open() -> None:
    """UTF-8 with BOM, CRLF, numbers plain, None empty."""
    data = spreadsheet.write_rows(["a", "b", "c"], [["é", -1.5, None], ["=x", True, 3]])
    assert data == "\ufeffa,b,c\r\né,-1.5,\r\n'=x,true,3\r\n".encode()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be-bom"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_every_form_of_csv_is_read(delimiter: str, encoding: str, ends: str) -> None:
    """Any delimiter, any marked encoding and either line end give the same rows."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ends)
    writer.writerows([["item_id", "label"], ["ä,1", "x;y|z\tw"], ["b", "two\nlines"]])
    text = out.getvalue()
    data = b"\xfe\xff" + text.encode("utf-16-be") if encoding.endswith("-bom") else text.encode(encoding)
    read = spreadsheet.read(data, "s.csv", needs=["item_id", "label"])
    assert read.header == ("item_id", "label")
    assert [row.cells for row in read.rows] == [
        {"item_id": "ä,1", "label": "x;y|z\tw"},
        {"item_id": "b", "label": "two\nlines"},
    ]


def test_rows_keep_the_numbers_that_a_spreadsheet_shows() -> None:
    """The header is row 1, and empty rows count."""
    read = spreadsheet.read(b"item_id,label\r\na,x\r\n,\r\nb,y\r\n", "s.csv")
    assert [row.number for row in read.rows] == [2, 4]


def test_a_line_that_names_the_delimiter_is_not_the_header() -> None:
    """``sep=;`` is passed over and counted."""
    read = spreadsheet.read(b"sep=;\r\nitem_id;label\r\na;x\r\n", "s.csv")
    assert read.header == ("item_id", "label")
    assert read.rows[0].number == 3


def test_an_unnamed_encoding_is_refused_and_a_named_one_read() -> None:
    """Bytes that are neither marked nor UTF-8 need --encoding."""
    data = "item_id,label\na,né\n".encode("cp1252")
    with pytest.raises(Refusal) as told:
        spreadsheet.read(data, "s.csv")
    assert told.value.code == "bad-encoding"
    assert spreadsheet.read(data, "s.csv", encoding="cp1252").rows[0].cells["label"] == "né"
    with pytest.raises(Refusal) as told:
        spreadsheet.read(data, "s.csv", encoding="klingon")
    assert told.value.code == "bad-encoding"


@pytest.mark.parametrize("data", [b"", b"\n\n", b'a,b\n"x,y\n', b"a,b\n1,2,3\n"])
def test_what_is_not_a_sheet_is_refused(data: bytes) -> None:
    """Nothing, an open quote, and a row longer than the header are refused."""
    with pytest.raises(Refusal) as told:
        spreadsheet.read(data, "s.csv")
    assert told.value.code == "bad-sheet"


def test_a_text_that_does_not_fit_is_cut_and_marked() -> None:
    """A cell with its guard has at most 32,767 UTF-16 units, and the cut is told."""
    for char in ("=", "\U0001f600"):
        cell = spreadsheet.guard(spreadsheet.shorten(char * 40_000))
        assert len(cell.encode("utf-16-le")) // 2 <= 32_767
        assert cell.endswith(" … [shortened]")
    assert spreadsheet.shorten("x" * 32_766) == "x" * 32_766


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\\", exclude_categories=["C", "Z"]), min_size=1), max_size=4
    )
)
def test_bars_separate_and_escaped_bars_do_not(parts: list[str]) -> None:
    """Joined parts come apart again, bars inside them too."""
    assert spreadsheet.split_bars(spreadsheet.join_bars(parts)) == tuple(parts)


def test_bars_by_hand() -> None:
    r"""``a | b\|c`` is two parts."""
    assert spreadsheet.split_bars(r"a | b\|c||") == ("a", "b|c")


@pytest.mark.parametrize(
    "encoding", ["punycode", "undefined", "idna", "utf-7", "unicode_escape", "rot13", "zlib", "a\0"]
)
def test_what_is_no_character_set_is_no_encoding(encoding: str) -> None:
    """Python has codecs that no spreadsheet saves in."""
    with pytest.raises(Refusal) as told:
        spreadsheet.read(b"item_id,label\n", "s.csv", encoding=encoding)
    assert told.value.code == "bad-encoding"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "UTF-16LE", "cp1252", "latin-1", "iso-8859-15", "mac_roman", "shift_jis", "gb18030",
                 "big5", "euc_kr", "koi8_r"]
)  # fmt: skip
def test_character_sets_are_read(encoding: str) -> None:
    """By any name that Python knows them by."""
    assert spreadsheet.read("item_id,label\n1,x\n".encode(encoding), "s.csv", encoding=encoding).rows
