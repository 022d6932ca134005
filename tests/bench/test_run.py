"""The benchmarks run at small size, and their table says what was measured."""

from __future__ import annotations

import pytest

from tests.bench.run import Row, benches, read_rows, run_bench, table


@pytest.mark.slow
@pytest.mark.parametrize("bench", benches())
def test_a_benchmark_runs_at_small_size(bench: str) -> None:
    """Each benchmark gives rows of a work, a peer and two times, so that it runs when it is wanted."""
    assert run_bench(bench, small=True)


def test_the_table_gives_the_ratio_of_the_peers_time_to_ours() -> None:
    """3 s by 0.02 s is 150 times."""
    assert table([Row("kappa", 0.02, "scikit-learn", 3.0)]) == (
        "| work  | ours  | peer         | peer's | ratio |\n"
        "|-------|-------|--------------|--------|-------|\n"
        "| kappa | 20 ms | scikit-learn | 3 s    | 150×  |\n"
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "gave no rows"),
        ([{"work": "w", "ours_s": 1, "peer": "p"}], "lacks peer_s"),
        ([{"work": "w", "ours_s": 0, "peer": "p", "peer_s": 1}], "not above zero"),
    ],
)
def test_a_row_that_says_nothing_is_an_error(rows: list[dict[str, object]], words: str) -> None:
    """A benchmark that measured nothing is told, not printed."""
    with pytest.raises(ValueError, match=words):
        read_rows("bench_x", rows)
