"""One DuckDB that opens no file itself, and the tables it shows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from evh.errors import Refusal
from evh.project.find import Project
from evh_build import query, tables
from evh_build.connect import NOUNS, VIEWS, Database
from evh_build.gather import Gathered
from tests.evh_build.projects import hostile, small
from tests.helpers import Builder


@pytest.fixture
def gathered(project: Project) -> Gathered:
    """The small project's records."""
    return Gathered(small(project))


@pytest.fixture
def bare(project: Project) -> Gathered:
    """No record at all: enough for what is refused."""
    return Gathered(project)


OUTSIDE = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM query('SELECT * FROM read_text(''{file}'')')",
    "SELECT getenv('HOME')",
    "SELECT * FROM enable_logging(storage := 'file', storage_path := '{folder}/log')",
]


@pytest.mark.parametrize("sql", OUTSIDE)
def test_a_select_reads_no_file(sql: str, bare: Gathered, tmp_path: Path) -> None:
    """Every function that reads a file, lists a folder or reads the environment is refused."""
    (tmp_path / "secret").write_text("a,b\nsecret,1\n")
    text = sql.format(file=tmp_path / "secret", folder=tmp_path)
    with pytest.raises(Refusal) as refused:
        query.select(bare, text)
    assert refused.value.code == "bad-sql"
    assert not (tmp_path / "log").exists()


NO_SELECT = [
    "",
    "COPY items TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.parquet'",
    "ATTACH '{folder}/a.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "PRAGMA table_info('items')",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW items",
    "INSERT INTO items_json VALUES (1)",
    "EXPORT DATABASE '{folder}/x'",
    "CALL enable_logging('QueryLog')",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY items TO '{folder}/out.csv'",
    "PREPARE v AS SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
]


@pytest.mark.parametrize("sql", NO_SELECT)
def test_only_one_select_is_run(sql: str, bare: Gathered, tmp_path: Path) -> None:
    """Anything that is not exactly one SELECT is refused before it runs, and writes nothing."""
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Refusal) as refused:
        query.select(bare, sql.format(folder=tmp_path))
    assert refused.value.code == "not-a-select"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "sql", [text for text in NO_SELECT if text.startswith(("COPY", "ATTACH", "INSTALL", "SET"))]
)
def test_the_connection_itself_refuses(sql: str, bare: Gathered, tmp_path: Path) -> None:
    """The recipe holds without the check in front of it: external access is off, the configuration locked."""
    database = Database(bare)
    with pytest.raises(duckdb.Error):
        database.connection.execute(sql.format(folder=tmp_path))
    assert not list(tmp_path.glob("out.*")) + list(tmp_path.glob("*.db"))


def test_a_local_variable_is_no_table(bare: Gathered) -> None:
    """Replacement scans are off: a Python variable of the caller is not seen."""
    import pyarrow as pa

    leaked = pa.table({"a": [1]})
    assert leaked.num_rows == 1
    with pytest.raises(Refusal) as refused:
        query.select(bare, "SELECT * FROM leaked")
    assert refused.value.code == "bad-sql"


def test_each_noun_has_its_view_and_each_view_its_columns(gathered: Gathered) -> None:
    """The views are the nouns, and show the declared columns in their order."""
    assert sorted(path.stem for path in VIEWS.glob("*.sql")) == sorted(NOUNS)
    for noun, columns in tables.COLUMNS.items():
        answer = query.select(gathered, f"SELECT * FROM {noun}")
        assert [column.name for column in answer.columns] == list(columns), noun


def test_the_tables_hold_the_records(gathered: Gathered) -> None:
    """Counts by hand: 6 items, 2 × 4 predictions and 8 scored again, 8 labels, 4 reference texts."""
    counts = "SELECT " + ", ".join(f"(SELECT count(*) FROM {noun}) AS {noun}" for noun in NOUNS)
    answer = query.select(gathered, counts)
    found = dict(zip([one.name for one in answer.columns], answer.rows[0], strict=True))
    assert found == {
        "datasets": 2, "items": 6, "captures": 1, "configs": 2, "runs": 4, "figures": 4, "predictions": 16,
        "scores": 7, "label_sets": 3, "labels": 8, "reference_sets": 1, "reference_labels": 4, "picks": 1,
    }  # fmt: skip


def test_an_accept_list_has_its_answer_beside_its_text(gathered: Gathered) -> None:
    """The label's text is as it lies in its file; `answer` is how people read it."""
    sql = "SELECT label, answer FROM labels WHERE item_id = 'i4' AND label_set = 'd/outcome'"
    assert query.select(gathered, sql).rows == (('{"accept": ["maybe", "no"]}', "maybe or no"),)


def test_doubled_column_names_are_told_apart(bare: Gathered) -> None:
    """A second column `a` is `a_2`, so that no value is lost in a JSON object."""
    answer = query.select(bare, "SELECT 1 AS a, 2 AS a, 3 AS a_2")
    assert [column.name for column in answer.columns] == ["a", "a_2", "a_2_2"]


def test_a_table_named_in_a_text_is_read_too(gathered: Gathered) -> None:
    """query_table() names its table at run time; its rows are there all the same."""
    assert query.select(gathered, "SELECT count(*) FROM query_table('labels')").rows == ((8,),)


def test_parquet_records_read_like_json_ones(project: Project) -> None:
    """5,001 items, labels and predictions lie in Parquet; the views give the same columns and rows."""
    made = Builder(project)
    texts = {f"i{n}": f"text {n}" for n in range(5_001)}
    made.dataset("big", texts)
    made.labels("big", "s", dict.fromkeys(texts, '{"accept": ["a", "b"]}'))
    scores = {item_id: {"correct": 1.0} for item_id in texts}
    made.run("arm", "big", dict.fromkeys(texts, "a"), scores=scores, against="labels/big/s")
    gathered = Gathered(project)
    sql = """
        SELECT
          (SELECT count(*) FROM items WHERE dataset_id = 'big' AND text LIKE 'text %'),
          (SELECT count(*) FROM labels WHERE label_set = 'big/s' AND answer = 'a or b'),
          (SELECT count(*) FROM predictions WHERE decision = 'a'),
          (SELECT sum(value) FROM scores WHERE metric = 'correct'),
          (SELECT item_id FROM items WHERE position = 5000)
    """
    assert query.select(gathered, sql).rows == ((5_001, 5_001, 5_001, 5_001.0, "i5000"),)


def test_hostile_texts_are_only_values(project: Project) -> None:
    """Ids and texts made of SQL, quotes and control characters come back as they are."""
    gathered = Gathered(hostile(project))
    rows = query.select(gathered, "SELECT item_id FROM items").rows
    assert ("'; DROP TABLE items; --",) in rows
    assert len(rows) == 14
