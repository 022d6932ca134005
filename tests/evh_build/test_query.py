"""What the values of an answer become: no type of DuckDB's is too odd for a row or a file."""

from __future__ import annotations

import io
from typing import Any

import pyarrow.parquet as pq
import pytest

from evh.errors import Refusal
from evh.project.find import Project
from evh_build import query
from evh_build.gather import Gathered
from tests.helpers import Builder


@pytest.fixture
def bare(project: Project) -> Gathered:
    """No record at all."""
    return Gathered(project)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("DATE '294247-01-01'", "294247-01-01"),
        ("DATE '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("DATE 'infinity'", "infinity"),
        ("TIMESTAMP '290000-01-01'", "290000-01-01 00:00:00"),
        ("TIMESTAMP_NS '1970-01-01 00:00:00.123456789'", "1970-01-01 00:00:00.123456789"),
        ("TIME '24:00:00'", "24:00:00"),
        ("INTERVAL 3 MONTH", "3 months"),
        ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
        ("340282366920938463463374607431768211455::UHUGEINT", 2**128 - 1),
        ("NULL::HUGEINT", None),
        ("1.50::DECIMAL(4, 2)", "1.50"),
        ("[DATE '20000-01-01', NULL]", ["20000-01-01", None]),
        ("{'a \"b': [TIMESTAMP 'infinity']}", {'a "b': ["infinity"]}),
        ("MAP {1: DATE '20000-01-01'}", [(1, "20000-01-01")]),
        ("row(1, DATE '20000-01-01')", "(1, 20000-01-01)"),
        ("[1, 2]::INTEGER[2]", [1, 2]),
        ("NULL", None),
    ],
)
def test_a_value_that_python_lacks_is_its_text(sql: str, value: Any, bare: Gathered) -> None:
    """Dates past year 9999, nanoseconds, whole numbers of 128 bits: as DuckDB writes them."""
    assert query.select(bare, f"SELECT {sql} AS x").rows == ((value,),)


def test_every_type_gives_rows(bare: Gathered) -> None:
    """DuckDB's own table of all its types, with the least and the greatest value of each."""
    assert len(query.select(bare, "SELECT * FROM test_all_types()").rows) == 3


def test_every_type_but_one_goes_into_parquet(bare: Gathered) -> None:
    """All but whole numbers beyond 38 digits, which are refused rather than rounded."""
    most = "SELECT * EXCLUDE (hugeint) FROM test_all_types()"
    data = query.select(bare, most, types=query.PARQUET).parquet()
    assert pq.read_table(io.BytesIO(data)).num_rows == 3
    with pytest.raises(Refusal) as refused:
        query.select(bare, "SELECT hugeint FROM test_all_types()", types=query.PARQUET)
    assert refused.value.code == "bad-sql"


def test_parquet_keeps_dates_and_sums(bare: Gathered) -> None:
    """A date is a date and a sum a number, not a text."""
    sql = "SELECT DATE '2026-01-02' AS d, sum(range) AS n FROM range(4)"
    found = pq.read_table(io.BytesIO(query.select(bare, sql, types=query.PARQUET).parquet()))
    assert [str(one) for one in found.schema.types] == ["date32[day]", "decimal128(38, 0)"]
    assert [str(one) for one in found.to_pylist()[0].values()] == ["2026-01-02", "6"]


def test_a_value_nested_a_hundred_deep_is_text(bare: Gathered) -> None:
    """Beyond 20 levels the whole value is a text: no reader of JSON goes there."""
    [(value,)] = query.select(bare, f"SELECT {'[' * 100}1{']' * 100} AS x").rows
    for _ in range(20):
        [value] = value
    assert value == "[" * 80 + "1" + "]" * 80


@pytest.mark.parametrize(
    "join",
    ["JOIN items USING (item_id)", "JOIN items ON labels.item_id = items.item_id", "NATURAL JOIN items"],
)
def test_a_join_reads_both_its_tables(join: str, project: Project) -> None:
    """Two labelled items give two rows however the join is written: none is read as an empty table."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "one", "i2": "two"})
    builder.labels("d", "s", {"i1": "yes", "i2": "no"})
    found = query.select(Gathered(project), f"SELECT count(*) AS n FROM labels {join}")
    assert found.rows == ((2,),)
