"""Tables in Parquet hold what was put in, under declared columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.store import parquet

COLUMNS = {"id": "text", "raw": "bytes", "n": "number", "k": "whole", "scores": "scores"}
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
ROW = st.fixed_dictionaries(
    {
        "id": TEXT,
        "raw": st.none() | st.binary(),
        "n": st.none() | st.floats(allow_nan=False),
        "k": st.none() | st.integers(-(2**63), 2**63 - 1),
        "scores": st.dictionaries(TEXT, st.floats(allow_nan=False), max_size=3),
    }
)


def read(folder: Path, data: bytes, columns: dict[str, str]) -> list[dict[str, Any]]:
    """Read bytes as a Parquet file."""
    (folder / "t.parquet").write_bytes(data)
    return parquet.read_rows(folder / "t.parquet", columns)


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(ROW, max_size=4))
def test_rows_come_back_as_they_were(
    rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Texts, bytes, numbers, whole numbers and score maps; none too."""
    folder = tmp_path_factory.mktemp("t")
    assert read(folder, parquet.dump_rows(rows, COLUMNS), COLUMNS) == rows


def test_an_id_that_looks_like_a_date_stays_text(tmp_path: Path) -> None:
    """Columns are declared, never sniffed."""
    rows = [{"id": "2024-01-01"}, {"id": "007"}]
    assert read(tmp_path, parquet.dump_rows(rows, {"id": "text"}), {"id": "text"}) == rows


def test_the_same_rows_give_the_same_bytes() -> None:
    """Also when their keys and scores come in another order."""
    one = parquet.dump_rows([{"id": "a", "scores": {"x": 1.0, "y": 2.0}}], {"id": "text", "scores": "scores"})
    other = parquet.dump_rows(
        [{"scores": {"y": 2.0, "x": 1.0}, "id": "a"}], {"id": "text", "scores": "scores"}
    )
    assert one == other


def test_a_file_that_is_no_parquet_or_lacks_columns_is_refused(tmp_path: Path) -> None:
    """Every missing column is named."""
    data = parquet.dump_rows([{"id": "a"}], {"id": "text"})
    with pytest.raises(Refusal) as caught:
        read(tmp_path, data, {"id": "text", "x": "text", "y": "text"})
    assert [reason.rsplit(": ")[-1] for reason in caught.value.why] == [
        "there is no column 'x'",
        "there is no column 'y'",
    ]
    for bad in (b"", b"no", data[:-8], data[: len(data) // 2]):
        with pytest.raises(Refusal) as caught:
            read(tmp_path, bad, {"id": "text"})
        assert caught.value.code == "bad-parquet"


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([1, 2]), "the column 'id' is int64, not text"),
        (pa.array([b"a", b"b"]), "the column 'id' is binary, not text"),
        (pa.array([None, None]), "the column 'id' is null in 2 rows"),
        (pa.array(["a", None]), "the column 'id' is null in 1 rows"),
    ],
    ids=["numbers", "bytes", "nulls", "a null"],
)
def test_a_column_of_another_type_or_with_nulls_is_refused(
    tmp_path: Path, column: pa.Array, said: str
) -> None:
    """A key is a text in every row; nothing is converted by guess."""
    pq.write_table(pa.table({"id": column}), tmp_path / "t.parquet")
    with pytest.raises(Refusal) as caught:
        parquet.read_rows(tmp_path / "t.parquet", {"id": "text"}, key="id")
    assert caught.value.code == "bad-parquet"
    assert said in caught.value.why[0]


def test_two_rows_of_one_key_are_refused(tmp_path: Path) -> None:
    """No row silently wins over another; the key is named."""
    (tmp_path / "t.parquet").write_bytes(
        parquet.dump_rows([{"id": "a"}, {"id": "b"}, {"id": "a"}], {"id": "text"})
    )
    with pytest.raises(Refusal) as caught:
        parquet.read_rows(tmp_path / "t.parquet", {"id": "text"}, key="id")
    assert caught.value.code == "doubled-rows"
    assert [reason.partition(": ")[2] for reason in caught.value.why] == ["the id 'a' stands in several rows"]


def test_what_other_writers_call_the_same_is_read(tmp_path: Path) -> None:
    """Wide texts, dictionaries, whole numbers for numbers, a struct for scores; columns may lack."""
    table = pa.table(
        {
            "id": pa.array(["a"]).dictionary_encode(),
            "raw": pa.array([b"x"], pa.large_binary()),
            "n": pa.array([1], pa.int32()),
            "scores": pa.array([{"x": 1}]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    assert parquet.read_rows(tmp_path / "t.parquet", COLUMNS, key="id", optional=True) == [
        {"id": "a", "raw": b"x", "n": 1, "scores": {"x": 1}}
    ]


def test_columns_are_those_of_the_rows(tmp_path: Path) -> None:
    """read_columns gives each column of read_rows, and `only` leaves the others packed; written alike too."""
    kinds = {"item_id": "text", "scores": "scores", "n": "whole", "x": "number", "data": "bytes"}
    rows: list[dict[str, Any]] = [
        {"item_id": "a", "scores": {"f1": 0.5, "correct": 1}, "n": 3, "x": 2**60, "data": b"\0"},
        {"item_id": "b", "scores": {}, "n": None, "x": None, "data": b""},
        {"item_id": "c", "scores": None, "n": 0, "x": -0.5, "data": None},
        {"item_id": "d", "scores": {"correct": 0.0}, "n": 9, "x": 1.0, "data": b"d"},
    ]
    path = tmp_path / "x.parquet"
    path.write_bytes(parquet.dump_rows(rows, kinds))
    columns = {name: [row[name] for row in rows] for name in kinds}
    assert parquet.dump_columns(columns, kinds) == path.read_bytes()
    found = parquet.read_columns(path, kinds, key="item_id")
    expected = {**columns, "scores": [row["scores"] or {} for row in rows]}
    assert found == expected
    assert [dict(zip(found, one, strict=True)) for one in zip(*found.values(), strict=True)] == (
        parquet.read_rows(path, kinds, key="item_id")
    )
    assert parquet.read_columns(path, kinds, key="item_id", only=("item_id", "x")) == {
        "item_id": columns["item_id"],
        "x": columns["x"],
    }


def test_a_slice_of_maps_is_read_as_its_own(tmp_path: Path) -> None:
    """Two row groups of maps, with a null and an empty one between: each row keeps its own names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    maps = [[("a", 1.0)], None, [("b", 2.0), ("c", 3.0)], [], [("a", 4.0)]]
    table = pa.table({"item_id": list("vwxyz"), "scores": pa.array(maps, pa.map_(pa.string(), pa.float64()))})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path, row_group_size=2)
    found = parquet.read_columns(path, {"item_id": "text", "scores": "scores"}, key="item_id")
    assert found["scores"] == [{"a": 1.0}, {}, {"b": 2.0, "c": 3.0}, {}, {"a": 4.0}]
