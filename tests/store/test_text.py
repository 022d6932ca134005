"""Text from outside cannot move the cursor, colour the terminal or turn the line round."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.store import text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain é 漢\tx\ny", "plain é 漢\tx\ny"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://a\x1b\\link", "link"),
        ("a\x00b\x7fc\x9bd", "a�b�c�d"),
        ("evil\u202etxt.exe", "evil�txt.exe"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("half \ud83d", "half �"),
        ("a\u2028b\u2029c\u0085d", "a�b�c�d"),
    ],
)
def test_what_a_terminal_would_act_on_is_taken_out(raw: str, clean: str) -> None:
    """Escape sequences go whole, other control characters and bidi marks become a mark."""
    assert text.clean(raw) == clean


@given(st.text())
def test_no_control_character_is_left(raw: str) -> None:
    """Whatever comes in: only tabs and line ends remain of the controls, and the text can be encoded."""
    made = text.clean(raw)
    made.encode()
    assert not [char for char in made if unicodedata.category(char) == "Cc" and char not in "\t\n"]
    assert not set(made) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


@given(st.text(), st.integers(1, 30))
def test_one_line_is_one_line_of_at_most_its_width(raw: str, width: int) -> None:
    """White space of any kind is one space."""
    made = text.one_line(raw, width)
    assert len(made) <= width
    assert len(made.splitlines()) <= 1


def test_a_cut_line_says_so() -> None:
    """It ends in an ellipsis, without a space before it."""
    assert text.one_line("  one\n two   three ", 9) == "one two…"
    assert text.one_line("one two", 7) == "one two"


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [(1, ("item",), "1 item"), (0, ("item",), "0 items"), (1234, ("entry", "entries"), "1,234 entries")],
)
def test_counts_are_said_as_people_say_them(count: int, words: tuple[str, ...], said: str) -> None:
    """One is singular, thousands are separated."""
    assert text.plural(count, *words) == said
