"""Reading tables that others wrote: what is taken as it stands, and what is refused."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.store import rows


def why(file: Path, code: str) -> tuple[str, ...]:
    """Give the reasons of what must be refused with ``code``."""
    with pytest.raises(Refusal) as caught:
        rows.read(file)
    assert caught.value.code == code
    return caught.value.why


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,a\n1,2\n", "the column 'a' stands twice"),
        ("a,\n1,2\n", "column 2: it has no name"),
        ("a,b\n1\n", "line 2: 1 cells, not 2"),
        ("a,b\n1,2,3\n", "line 2: 3 cells, not 2"),
        ('a\n"x\n', "line 2: unexpected end of data"),
        ('a\n"x"y\n', "line 2: ',' expected after '\"'"),
    ],
)
def test_csv_that_is_cut_or_mangled_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """Each reason has the line."""
    (tmp_path / "r.csv").write_text(text)
    assert words in why(tmp_path / "r.csv", "bad-csv")[0]


def test_csv_in_another_encoding_is_refused(tmp_path: Path) -> None:
    """Latin-1 bytes are named by their line."""
    (tmp_path / "r.csv").write_bytes("a\nx\né\n".encode("latin-1"))
    assert "line 3" in why(tmp_path / "r.csv", "bad-encoding")[0]


def test_a_csv_with_nothing_in_it_has_no_rows(tmp_path: Path) -> None:
    """An empty file and a header alone."""
    (tmp_path / "r.csv").write_text("")
    assert rows.read(tmp_path / "r.csv") == ()
    (tmp_path / "r.csv").write_text("a,b\n")
    assert rows.read(tmp_path / "r.csv") == ()


def test_a_cell_longer_than_the_csv_modules_limit_is_read(tmp_path: Path) -> None:
    """A transcript of 200,000 characters is one cell."""
    (tmp_path / "r.csv").write_text(f'a,b\n1,"{"x" * 200_000}"\n')
    assert len(rows.read(tmp_path / "r.csv")[0]["b"]) == 200_000


_CELL = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(st.tuples(_CELL, _CELL), max_size=5))
def test_csv_that_is_quoted_throughout_round_trips(cells: list[tuple[str, str]]) -> None:
    """Any text, with commas, quotes and line ends of any kind, comes back character for character."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("a", "b"), *cells])
    read = rows.read_csv(buffer.getvalue().encode(), "r.csv")
    assert [(row["a"], row["b"]) for row in read] == cells


@pytest.mark.parametrize(
    "text", ["[1]", '[{"a": 1}, null]', '{"a": 1}\n2\n', '{"a": 1, "a": 2}\n', '{"a": NaN}\n']
)
def test_records_that_are_no_strict_objects_are_refused(text: str, tmp_path: Path) -> None:
    """Other values, doubled keys and NaN."""
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(Refusal):
        rows.read(tmp_path / "r.json")


def test_records_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    """A hundred levels are read, one more is named by its record."""
    file = tmp_path / "r.jsonl"

    def nested(depth: int) -> str:
        return '{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}\n"

    file.write_text(nested(100))
    assert len(rows.read(file)) == 1
    file.write_text(nested(5) + nested(101))
    assert why(file, "too-deep") == (f"{file}: record 2: nested deeper than 100",)


def parquet(folder: Path, table: Any) -> Path:
    """Write a table, and give the file."""
    import pyarrow.parquet as pq

    pq.write_table(table, folder / "r.parquet")
    return folder / "r.parquet"


def test_parquet_values_become_json_values(tmp_path: Path) -> None:
    """Lists, objects, decimals, dates and times, each in the form JSON has for it."""
    import datetime as dt

    import pyarrow as pa

    table = pa.table(
        {
            "l": [[1, 2]],
            "o": [{"x": 1.5, "when": dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC)}],
            "d": pa.array([Decimal("1.10")]),
            "day": [dt.date(2024, 1, 2)],
            "at": pa.array([1704164645000060], pa.timestamp("us")),
        }
    )
    assert rows.read(parquet(tmp_path, table)) == (
        {
            "l": [1, 2],
            "o": {"x": 1.5, "when": "2024-01-02T03:04:05Z"},
            "d": "1.10",
            "day": "2024-01-02",
            "at": "2024-01-02T03:04:05.00006Z",
        },
    )


def test_parquet_values_without_a_json_form_are_refused(tmp_path: Path) -> None:
    """NaN and bytes, each by its record and column."""
    import pyarrow as pa

    file = parquet(tmp_path, pa.table({"n": [1.0, float("nan")], "b": [None, b"x"]}))
    assert [reason.split(": ")[1:3] for reason in why(file, "bad-parquet")] == [
        ["record 2", "n"],
        ["record 2", "b"],
    ]


def test_parquet_with_doubled_columns_or_none_at_all_is_refused(tmp_path: Path) -> None:
    """Two columns of one name; a file that is not Parquet."""
    import pyarrow as pa

    doubled = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "the column 'a' stands twice" in why(parquet(tmp_path, doubled), "bad-parquet")[0]
    (tmp_path / "r.parquet").write_bytes(b"PAR1 not really")
    why(tmp_path / "r.parquet", "bad-parquet")


def test_the_format_is_the_named_one_else_the_file_names(tmp_path: Path) -> None:
    """A .txt is records unless csv is said."""
    (tmp_path / "r.txt").write_text("a\n1\n")
    with pytest.raises(Refusal):
        rows.read(tmp_path / "r.txt")
    assert rows.read(tmp_path / "r.txt", "csv") == ({"a": "1"},)
    assert [rows.format_of(Path(name)) for name in ("a.CSV", "a.parquet", "a.jsonl", "a")] == [
        "csv",
        "parquet",
        "records",
        "records",
    ]
