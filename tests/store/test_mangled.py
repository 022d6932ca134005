"""What a spreadsheet did to a cell is told, and what is different stays different."""

from __future__ import annotations

import pytest

from evh.store.mangled import Alike, alike, formatted_number, likely, moment


@pytest.mark.parametrize(
    ("cell", "was"),
    [
        ("123", "00123"),
        ("1.23457E+15", "1234567890123456"),
        ("1,23457E+15", "1234567890123456"),
        ("1234567890123450000", "1234567890123456789"),
        ("1.00E+05", "1e5"),
        ("02.01.2024", "1-2"),
        ("1/2/2024", "1-2"),
        ("2-Jan", "1-2"),
        ("Mar-24", "MAR24"),
        ("01.03.2024", "MAR1"),
        ("1/2/2024", "2024-01-02"),
        ("TRUE", "true"),
        ("WAHR", "true"),
        ("Active ", "active"),
        ("12.5", "12,50"),
        ("0.5", "50%"),
        ("50", "$50"),
        ("50", "50 €"),
        ("01:30:00", "1:30"),
        ("01:30:15", "1:30:15"),
        ("two lines", "two\nlines"),
    ],
)
def test_a_mangled_cell_leads_back_to_what_it_was(cell: str, was: str) -> None:
    """Each form that spreadsheets are known to give is traced to the text it came from."""
    assert likely(cell, ["other", was, "zz"]) == [was]


@pytest.mark.parametrize(
    ("cell", "known"),
    [
        ("124", "00123"),
        ("1.23457E+15", "1234667890123456"),
        ("02.01.2024", "1-3"),
        ("none", "poc"),
        ("", "x"),
        ("12345", "12346"),
    ],
)
def test_what_is_merely_different_is_not_called_mangled(cell: str, known: str) -> None:
    """Another number, another date and another word lead nowhere."""
    assert likely(cell, [known]) == []


def test_the_form_of_long_numbers_is_known() -> None:
    """``1.23457E+15`` is that form; a word, a short number and a decimal are not."""
    assert formatted_number("1.23457E+15")
    assert formatted_number("1E+05")
    assert not any(map(formatted_number, ["1e5", "12345", "1.5", "E+15", "yes"]))


@pytest.mark.parametrize(
    ("cell", "other", "is_alike"),
    [
        ("1", "01", True),
        ("1.0", "1", True),
        ("0.5", "0,50", True),
        ("true", "TRUE", True),
        ("1", "2", False),
        ("yes", "YES", False),
        ("1-2", "2-1", False),
        ("a1", "a01", False),
    ],
)
def test_what_a_spreadsheet_shows_alike(cell: str, other: str, is_alike: bool) -> None:
    """One number in two spellings, a truth value in two cases; a cell is never like itself."""
    assert alike(cell, [cell, other]) == ([other] if is_alike else [])


@pytest.mark.parametrize(
    "cell", ["1/2/2024", "3-Jan", "03. Jan", "Mar-24", "2024-01-02 00:00:00", "12:30:00"]
)
def test_a_moment_is_known_by_its_form(cell: str) -> None:
    """The forms in which spreadsheets save dates and times as CSV."""
    assert moment(cell)


@pytest.mark.parametrize("cell", ["1-2", "MAR1", "10-K", "may", "1.2.3", "yes", "5/6", "v1.2.34", "12"])
def test_a_word_or_a_number_is_no_moment(cell: str) -> None:
    """What a person types and a spreadsheet did not touch."""
    assert not moment(cell)


def test_doubles_among_many_are_those_found_one_by_one() -> None:
    """`Alike` finds what `alike` finds."""
    known = ["007", "7", "7.0", "7,00", "1e2", "100", "true", "TRUE", "x", "X", "0", "-0"]
    many = Alike(known)
    assert all(many.of(one) == alike(one, known) for one in [*known, "7.00", "True", "y"])
    assert many.of("7") == ["007", "7.0", "7,00"]
