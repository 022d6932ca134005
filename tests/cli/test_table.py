"""Tables for people: what is cut, what is left out on a narrow terminal, and what never is."""

from __future__ import annotations

from evh.cli.table import lines

HEADERS = ["run", "text", "n", "when"]
ROWS = [["a_run_with_a_long_id_20261001T000000Z", "some words that may be cut anywhere", 1234, "2026-10-01"]]


def test_a_pipe_gets_everything() -> None:
    """Without a width nothing is cut and nothing left out."""
    assert lines(HEADERS, ROWS, right=(2,), keep=(0,), drop=(3, 1), width=0)[1].split("  ") == [
        "a_run_with_a_long_id_20261001T000000Z", "some words that may be cut anywhere", "1,234", "2026-10-01",
    ]  # fmt: skip


def test_columns_leave_in_order_until_the_rest_fits() -> None:
    """37 for the id, 5 for the number, at least 12 of the text, 10 of the time, 2 between: 70 in all."""
    fits = lines(HEADERS, ROWS, right=(2,), keep=(0,), drop=(3, 1), width=70)
    assert [word in fits[1] for word in ("20261001T000000Z", "some words", "1,234", "2026-10-01")] == [
        True
    ] * 4
    assert all(len(line) <= 70 for line in fits)
    narrow = lines(HEADERS, ROWS, right=(2,), keep=(0,), drop=(3, 1), width=69)
    assert narrow[0].split() == ["run", "text", "n"]
    assert narrow[2] == "1 column left out: when; --json has all"
    least = lines(HEADERS, ROWS, right=(2,), keep=(0,), drop=(3, 1), width=50)
    assert least[1:] == [
        "a_run_with_a_long_id_20261001T000000Z  1,234",
        "2 columns left out: text, when; --json has all",
    ]


def test_without_an_order_texts_are_cut_as_ever() -> None:
    """A table that names no column to leave out keeps all."""
    assert "left out" not in "".join(lines(HEADERS, ROWS, width=40))


def test_a_table_without_rows_has_its_heads() -> None:
    """Nothing to measure is no fault."""
    assert lines(HEADERS, [], drop=(3,), width=80)[0].split() == HEADERS
