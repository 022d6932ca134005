"""Distances of labels, by hand and beside nltk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics import jaccard_distance as nltk_jaccard
from nltk.metrics import masi_distance as nltk_masi

from evh.measure.distance import differences, jaccard_distance, masi_distance, mid_ranks
from evh.records.answers import canonical

SETS = st.sets(st.sampled_from("abcd"), min_size=1)


def test_masi_by_hand() -> None:
    """Passonneau (2006): equal 0; one holds the other 1 - 1/2 · 2/3; they meet 1 - 1/3 · 1/3; apart 1."""
    ab, a, bc = canonical("ab"), "a", canonical("bc")
    assert masi_distance(ab, ab) == 0
    assert masi_distance(ab, a) == pytest.approx(2 / 3)
    assert masi_distance(ab, bc) == pytest.approx(8 / 9)
    assert masi_distance(a, bc) == 1


@given(SETS, SETS)
def test_set_distances_equal_nltk(one: set[str], other: set[str]) -> None:
    """Jaccard exactly; MASI to 0.004, because nltk rounds 2/3 and 1/3 to two digits."""
    a, b = canonical(one), canonical(other)
    assert jaccard_distance(a, b) == pytest.approx(nltk_jaccard(one, other), abs=1e-12)
    assert masi_distance(a, b) == pytest.approx(nltk_masi(one, other), abs=0.004)


def test_numbers_by_hand() -> None:
    """Interval (1 - 4)² = 9; ratio (3 / 5)² = 0.36, and 0 of two zeros."""
    points = {"1": 1.0, "4": 4.0, "0": 0.0, "0.0": 0.0}
    assert differences("interval", ["1", "4"], points, [1, 1]) == [[0, 9], [9, 0]]
    assert differences("ratio", ["1", "4"], points, [1, 1])[0][1] == pytest.approx(0.36)
    assert differences("ratio", ["0", "0.0"], points, [1, 1])[0][1] == 0
    assert differences("nominal", ["1", "4"], {}, [1, 1]) == [[0, 1], [1, 0]]


def test_mid_ranks_by_hand() -> None:
    """Totals 4, 2, 6 in the order of their points: 2, 5, 9. Equal points share one."""
    assert mid_ranks([0, 1, 2], [4, 2, 6]) == [2, 5, 9]
    assert mid_ranks([2, 0, 1], [6, 4, 2]) == [9, 2, 5]
    assert mid_ranks([0, 0, 1], [1, 3, 2]) == [2, 2, 5]


def test_ordinal_is_krippendorffs_sum() -> None:
    """(4 / 2 + 2 + 6 / 2)² = 49 between the first and the last of three labels."""
    assert differences("ordinal", ["a", "b", "c"], {"a": 0, "b": 1, "c": 2}, [4, 2, 6])[0][2] == 49
