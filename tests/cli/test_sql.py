"""``evh sql`` on the command line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evh.project.find import Project
from tests import schema
from tests.conftest import CommandLine
from tests.evh_build.projects import small
from tests.helpers import tree_bytes


@pytest.fixture(autouse=True)
def _filled(project: Project) -> None:
    small(project)


QUERY = "SELECT dataset_id, n_items FROM datasets ORDER BY dataset_id"


def test_a_table_for_people(evh: CommandLine) -> None:
    """Rows under headers, numbers to the right, the count on stderr."""
    made = evh.ok("sql", QUERY)
    assert [line.split() for line in made.out.splitlines()][-2:] == [["d", "4"], ["v1", "2"]]
    assert made.err.strip() == "2 rows"


def test_json_is_as_its_schema_says(evh: CommandLine) -> None:
    """Rows, nested values, NaN, no rows, and the list of tables fit the schema."""
    found = schema.check(evh.ok("sql", QUERY, "--json").json, "sql")
    assert found["rows"] == [{"dataset_id": "d", "n_items": 4}, {"dataset_id": "v1", "n_items": 2}]
    odd = "SELECT 'nan'::DOUBLE AS a, [1, 2] AS b, {'c': DATE '2026-01-02'} AS d, NULL AS e, 1 AS a"
    found = schema.check(evh.ok("sql", odd, "--json").json, "sql")
    assert found["rows"] == [{"a": "nan", "b": [1, 2], "d": {"c": "2026-01-02"}, "e": None, "a_2": 1}]
    assert schema.check(evh.ok("sql", "SELECT 1 AS a WHERE false", "--json").json, "sql")["rows"] == []
    listed = schema.check(evh.ok("sql", "--tables", "--json").json, "sql")
    assert {one["table"] for one in listed["tables"]} >= {
        "datasets",
        "items",
        "runs",
        "scores",
        "labels",
        "picks",
    }


def test_csv_holds_the_cells_as_they_are(evh: CommandLine) -> None:
    """A comma, a quote, a line end and a null come back through a CSV reader."""
    made = evh.ok("sql", "SELECT 'a,\"b\nc' AS x, NULL AS y, 1.5 AS z", "--csv")
    assert list(csv.reader(io.StringIO(made.out))) == [["x", "y", "z"], ['a,"b\nc', "", "1.5"]]


def test_parquet_is_a_new_file(evh: CommandLine, tmp_path: Path) -> None:
    """The file holds the rows; one that is there, and one in data/, are refused."""
    target = tmp_path / "out.parquet"
    evh.ok("sql", QUERY, "--parquet", target)
    assert pq.read_table(target).to_pylist()[0] == {"dataset_id": "d", "n_items": 4}
    before = tree_bytes(evh.root)
    refused = evh("sql", QUERY, "--parquet", target)
    assert refused.code == 1
    assert "already" in refused.err
    refused = evh("sql", QUERY, "--parquet", evh.root / "data" / "x.parquet")
    assert refused.code == 1
    assert tree_bytes(evh.root) == before


@pytest.mark.parametrize(
    ("code", "query"),
    [
        ("not-a-select", "DROP VIEW items"),
        ("not-a-select", "SELECT 1; SELECT 2"),
        ("not-a-select", "COPY items TO 'x.csv'"),
        ("bad-sql", "SELEC 1"),
        ("bad-sql", "SELECT * FROM nothing_of_that_name"),
        ("bad-sql", "SELECT * FROM read_csv('/etc/passwd')"),
    ],
)
def test_anything_but_a_read_is_refused(code: str, query: str, evh: CommandLine) -> None:
    """Each is refused with its own code, and nothing is written."""
    before = tree_bytes(evh.root)
    evh.refused(code, "sql", query)
    assert tree_bytes(evh.root) == before


def test_a_query_is_stopped_at_its_limit(evh: CommandLine) -> None:
    """`--seconds` ends a query that would run on."""
    slow = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range + b.range) = 1"
    evh.refused("too-slow", "sql", slow, "--seconds", "0.3")


def test_one_form_at_a_time(evh: CommandLine) -> None:
    """Two output forms at once, or no query, is a usage error."""
    assert evh("sql", QUERY, "--csv", "--json").code == 2
    assert evh("sql").code == 2


def test_control_characters_do_not_reach_the_terminal(evh: CommandLine) -> None:
    """An escape sequence in a value is not printed as one."""
    assert "\x1b" not in evh.ok("sql", "SELECT chr(27) || '[31mred' AS x").out


def test_csv_moves_no_cursor_on_a_terminal(evh: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal an escape sequence goes; on a pipe the cell is as it is."""
    sql = "SELECT chr(27) || '[31mred' || chr(7) AS \"a\x1b[2J\""
    assert evh.ok("sql", sql, "--csv").out == "a\x1b[2J\n\x1b[31mred\x07\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert evh.ok("sql", sql, "--csv").out == "a\nred\ufffd\n"


def test_a_header_moves_no_cursor(evh: CommandLine) -> None:
    """A column's name in a table is cleaned too."""
    assert "\x1b" not in evh.ok("sql", 'SELECT 1 AS "a\x1b[2J"').out


def test_a_table_shows_a_thousand_rows_and_csv_all(evh: CommandLine) -> None:
    """1,500 rows: the table says that it shows the first; CSV has each."""
    many = "SELECT range AS n FROM range(1500)"
    made = evh.ok("sql", many)
    assert len(made.out.splitlines()) == 1_001
    assert made.err == "1,500 rows\nnote: the first 1,000 are shown; --csv and --parquet have all\n"
    assert len(evh.ok("sql", many, "--csv").out.splitlines()) == 1_501


def test_too_many_rows_for_one_json_document_are_refused(evh: CommandLine) -> None:
    """A million is the most; CSV and Parquet have no such limit."""
    evh.refused("too-large", "sql", "SELECT range FROM range(1000001)")


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1", "3601"])
def test_a_time_limit_is_a_time(evh: CommandLine, seconds: str) -> None:
    """Seconds are finite, more than 0, at most an hour."""
    evh.refused("bad-options", "sql", QUERY, "--seconds", seconds)


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_dates_beyond_pythons_are_shown(evh: CommandLine, form: tuple[str, ...]) -> None:
    """A date of the year 290000 in every form."""
    assert "290000-01-01" in evh.ok("sql", "SELECT DATE '290000-01-01' AS d", *form).out
