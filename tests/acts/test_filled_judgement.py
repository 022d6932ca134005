"""A cell of judgements is read exactly or refused: letters of the row, numbers on the scale."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.acts.filled_judgement import Wrong, picked_letters, score_in
from evh.project.find import Project
from evh.records.judge import Scale
from tests.acts.sheets import hand_counted
from tests.conftest import CommandLine


@pytest.mark.parametrize(
    ("cell", "letters"),
    [("A", ("A",)), (" b ", ("B",)), ("C|a", ("A", "C")), ("A|A", ("A",)), ("B |", ("B",))],
)
def test_letters_are_read_in_either_case(cell: str, letters: tuple[str, ...]) -> None:
    """One, or several with bars between them, sorted."""
    assert picked_letters(cell, None, "ABC") == letters


@pytest.mark.parametrize(
    ("cell", "kind", "reason"),
    [
        ("A or B", None, "pick 'A or B' is no letter of this row: A, B"),
        ("|", None, "pick '|' is no letter of this row: A, B"),
        ("\uff21", None, "pick '\uff21' is no letter of this row: A, B"),  # a full-width A
        ("\u0391", None, "pick '\u0391' is no letter of this row: A, B"),  # a Greek Alpha
        ("", "formula", "pick holds a formula; the letters of this row: A, B"),
        ("A", "formula", "pick holds a formula that shows 'A'; the letters of this row: A, B"),
        ("#REF!", "error", "pick holds an error that shows '#REF!'; the letters of this row: A, B"),
        (
            "TRUE",
            "true or false",
            "pick holds true or false that shows 'TRUE'; the letters of this row: A, B",
        ),
    ],
)
def test_what_is_no_letter_is_refused(cell: str, kind: str | None, reason: str) -> None:
    """The reason says what stands there and which letters the row has."""
    assert picked_letters(cell, kind, "AB") == Wrong("no-letter", reason)


@pytest.mark.parametrize(
    ("cell", "scale", "score"),
    [
        ("5", Scale(), 5.0),
        (" 2,5 ", Scale(), 2.5),
        ("+1.0", Scale(), 1.0),
        ("0.1", Scale(0.1, 0.3), 0.1),
        ("0.3", Scale(0.1, 0.3), 0.3),
        ("-3", Scale(-3, 3), -3.0),
    ],
)
def test_numbers_on_the_scale_are_scores(cell: str, scale: Scale, score: float) -> None:
    """Its ends are on it: 0.1 is a tenth, although no float is."""
    assert score_in(cell, None, scale) == score


@pytest.mark.parametrize(
    ("cell", "kind", "code", "reason"),
    [
        ("5.0000000000000001", None, "off-scale", "is off the scale 1..5"),
        ("0.9999999999999999999", None, "off-scale", "is off the scale 1..5"),
        ("4.0000000000000000001", None, "bad-score", "has more digits than a number keeps"),
        ("6", "number", "off-scale", "is off the scale 1..5"),
        ("\u0663", None, "bad-score", "is no number"),  # the Arabic digit three
        ("\uff13", None, "bad-score", "is no number"),  # a full-width three
        ("\u0967.5", None, "bad-score", "is no number"),  # a Devanagari one
        ("1e0", None, "bad-score", "is no number"),
        ("1,000", None, "bad-score", "can be read in two ways: with a decimal comma or with thousands"),
        ("#N/A", "error", "bad-score", "is an error"),
        ("4", "formula", "bad-score", "is a formula"),
        ("TRUE", "true or false", "bad-score", "is true or false"),
        ("9" * 5_000, None, "off-scale", "is off the scale 1..5"),
    ],
)
def test_what_is_no_score_is_refused(cell: str, kind: str | None, code: str, reason: str) -> None:
    """Other scripts' digits, what a float would round onto the scale, and what is no number."""
    assert score_in(cell, kind, Scale()) == Wrong(code, reason)


@given(st.decimals(min_value=-2, max_value=8, allow_nan=False, places=18))
def test_a_score_that_is_taken_is_the_number_that_was_typed(number: Decimal) -> None:
    """Whatever is typed: what is taken is that number exactly, and lies on the scale exactly."""
    found = score_in(format(number, "f"), None, Scale())
    if isinstance(found, Wrong):
        assert not 1 <= number <= 5 or Decimal(repr(float(number))) != number
    else:
        assert 1 <= number <= 5
        assert Decimal(repr(found)) == number


@pytest.mark.parametrize("fill", ["pick", "scores", "label"])
def test_merged_cells_hold_no_answers(project: Project, evh: CommandLine, tmp_path: Path, fill: str) -> None:
    """One cell over three rows is nobody's answer for each: refused with its rows; a rubric may be merged."""
    import openpyxl

    hand_counted(project)
    out = tmp_path / "s.xlsx"
    evh.ok("inspect", "--sheet", "--dataset-id", "d", "--xlsx", out, "--fill", fill)
    answer, typed = {"pick": ("pick", "A"), "scores": ("score: A", 4), "label": ("label", "yes")}[fill]
    book = openpyxl.load_workbook(out)
    sheet = book["sheet"]
    heads = [cell.value for cell in sheet[1]]
    column = heads.index(answer) + 1
    sheet.merge_cells(start_row=2, end_row=2, start_column=heads.index("item") + 1, end_column=column)
    sheet.cell(4, column).value = typed
    sheet.merge_cells(start_row=4, end_row=6, start_column=column, end_column=column)
    book.save(out)
    name = "--set" if fill == "label" else "--scorer"
    words = ("sheet-import", out, "--dataset-id", "d", "--by", "ann", name, "x")
    told = evh(*words, "--json").json["refused"]["why"]
    where = f"{out}: rows 4 to 6: merged cells in the column {answer}"
    merged = f"{where}: unmerge them and fill in each row by itself"
    assert told.count(merged) == 1
    assert [one for one in told if "merged" in one] == [merged]
    assert len(json.dumps(told)) < 2_000
    sheet.unmerge_cells(start_row=4, end_row=6, start_column=column, end_column=column)
    book.save(out)
    evh.ok(*words)
