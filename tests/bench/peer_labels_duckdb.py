"""What a careful analyst would script with DuckDB: label files to the kappa of each pair of sets.

Run as ``python peer_labels_duckdb.py PROJECT DATASET``. It reads what ``evh labels`` reads and knows less: no
task, no reference set, no alpha, no label that accepts several answers.
"""

from __future__ import annotations

import sys

import duckdb

LABELS = """
SELECT parse_path(filename)[-2] AS label_set, parse_filename(filename, true) AS item, content AS label
FROM read_text(? || '/data/labels/' || ? || '/*/*.txt')
WHERE parse_filename(filename) NOT LIKE '~%'
"""
KAPPA = """
WITH paired AS (
    SELECT a.label_set AS one, b.label_set AS other, a.label AS x, b.label AS y
    FROM labels AS a JOIN labels AS b USING (item) WHERE a.label_set < b.label_set
), cells AS (SELECT one, other, x, y, count(*) AS n FROM paired GROUP BY ALL
), totals AS (SELECT one, other, sum(n) AS n, sum(n) FILTER (x = y) AS same FROM cells GROUP BY ALL
), xs AS (SELECT one, other, x AS label, sum(n) AS n FROM cells GROUP BY ALL
), ys AS (SELECT one, other, y AS label, sum(n) AS n FROM cells GROUP BY ALL
), chance AS (
    SELECT one, other, sum(xs.n * ys.n) AS hits FROM xs JOIN ys USING (one, other, label) GROUP BY ALL
)
SELECT one, other, n, coalesce(same, 0) / n AS same_share,
    (coalesce(same, 0) / n - coalesce(hits, 0) / (n * n)) / (1 - coalesce(hits, 0) / (n * n)) AS kappa
FROM totals LEFT JOIN chance USING (one, other) ORDER BY one, other
"""


def main(project: str, dataset: str) -> None:
    """Print a row a pair of sets: their names, n, the share of same answers, kappa."""
    database = duckdb.connect()
    database.execute("CREATE TABLE labels AS " + LABELS, [project, dataset])
    for row in database.execute(KAPPA).fetchall():
        print(*row)


if __name__ == "__main__":
    main(*sys.argv[1:])
