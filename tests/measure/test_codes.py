"""The NumPy path counts exactly what the plain path counts."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evh.measure import agreement, codes
from evh.measure.agreement import alpha_nominal, alpha_of_sets, compare_all, patterns_of_sets
from evh.measure.alpha import rating_patterns
from evh.measure.confusion import cohen_kappa, confusion, confusion_of_table

Table = Any  # an int8 array, sets × items


@st.composite
def tables(draw: st.DrawFn, *, most_sets: int = 8) -> tuple[Table, int]:
    """Draw a table of codes with missing ratings, and how many answers it may hold."""
    k = draw(st.integers(1, 7))
    sets = draw(st.integers(1, most_sets))
    items = draw(st.integers(0, 20))
    row = st.lists(st.integers(-1, k - 1), min_size=items, max_size=items)
    return np.array(draw(st.lists(row, min_size=sets, max_size=sets)), np.int8).reshape(sets, items), k


def texts(table: Table) -> list[list[str | None]]:
    """Write codes as labels: 3 is "3", -1 is missing."""
    return [[None if code < 0 else str(code) for code in row] for row in table.tolist()]


def made_up(sets: int, items: int, k: int, seed: int = 0) -> Table:
    """Make ratings that agree often, with a fifth missing."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, k, items)
    table = np.where(draw.random((sets, items)) < 0.6, truth, draw.integers(0, k, (sets, items)))
    table[draw.random((sets, items)) < 0.2] = -1
    return table.astype(np.int8)


@given(tables())
def test_all_pairs_equals_the_plain_confusion_of_every_pair(drawn: tuple[Table, int]) -> None:
    """Any number of sets, so every way to group them; each pair of sets, both ways, to the last count."""
    table, k = drawn
    counts = codes.all_pairs(table, k)
    labels = texts(table)
    names = [str(code) for code in range(k)]
    for a in range(len(table)):
        for b in range(len(table)):
            both = [pair for pair in zip(labels[a], labels[b], strict=True) if None not in pair]
            plain = confusion([str(pair[0]) for pair in both], [str(pair[1]) for pair in both])
            assert confusion_of_table(names, counts[a, b].tolist()) == plain


@given(tables(most_sets=20))
def test_alpha_from_codes_equals_the_plain_alpha_to_the_bit(drawn: tuple[Table, int]) -> None:
    """Up to 20 sets, so one-byte and two-byte counts; equality is exact, None included."""
    table, k = drawn
    assert codes.alpha_from_codes(table, k) == alpha_nominal(texts(table))


@pytest.mark.parametrize("sets", [15, 16, 40])
def test_alpha_does_not_overflow_when_all_sets_agree(sets: int) -> None:
    """15 sets fill one byte (225 of 255), 16 would break it; all give one answer an item: alpha 1."""
    table = np.tile(np.array([0, 1, 0, 1, 1], np.int8), (sets, 1))
    assert codes.alpha_from_codes(table, 2) == 1.0


def test_counts_over_many_blocks_equal_scikit_learn_and_krippendorff() -> None:
    """200,003 items × 4 sets: more than one block of either loop, the last one cut short."""
    table = made_up(4, 200_003, 5)
    counts = codes.all_pairs(table, 5)
    for a, b in combinations(range(4), 2):
        both = (table[a] >= 0) & (table[b] >= 0)
        assert (counts[a, b] == confusion_matrix(table[a][both], table[b][both])).all()
        kappa = cohen_kappa(confusion_of_table("01234", counts[a, b].tolist()))
        assert kappa == pytest.approx(cohen_kappa_score(table[a][both], table[b][both]), abs=1e-12)
    alpha = codes.alpha_from_codes(table, 5)
    theirs = krippendorff.alpha(np.where(table < 0, np.nan, table), level_of_measurement="nominal")
    assert alpha == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("k", [6, 15, 36, 127])
def test_many_answers_are_counted_in_smaller_groups(k: int) -> None:
    """With more answers fewer sets share a histogram; the counts are those of scikit-learn."""
    table = made_up(5, 3000, k)
    counts = codes.all_pairs(table, k)
    for a, b in combinations(range(5), 2):
        both = (table[a] >= 0) & (table[b] >= 0)
        theirs = confusion_matrix(table[a][both], table[b][both], labels=list(range(k)))
        assert (counts[a, b] == theirs).all()
        assert (counts[b, a] == theirs.T).all()


def test_the_diagonal_is_each_sets_own_coverage() -> None:
    """Set 0 labels 3 of 4 items, two as 0 and one as 1; set 1 labels one."""
    counts = codes.all_pairs(np.array([[0, 0, 1, -1], [-1, 1, -1, -1]], np.int8), 2)
    assert counts[0, 0].tolist() == [[2, 0], [0, 1]]
    assert counts[1, 1].tolist() == [[0, 0], [0, 1]]
    assert counts[0, 1].tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("table", "k"),
    [
        (np.array([[0, 2]], np.int8), 2),
        (np.array([[0, -2]], np.int8), 2),
        (np.array([0, 1], np.int8), 2),
        (np.array([[0.0, 1.0]]), 2),
        (np.array([[0, 1]], np.int8), 128),
    ],
)
def test_a_table_that_is_not_codes_is_an_error(table: Table, k: int) -> None:
    """A code out of range would be counted as another answer without a word."""
    for count in (codes.all_pairs, codes.alpha_from_codes):
        with pytest.raises(ValueError, match=r"codes|answers"):
            count(table, k)


def test_encode_unites_items_and_answers_in_order() -> None:
    """Items stand as the sets first name them, answers are sorted; what a set does not label is -1."""
    coded = codes.encode([{"y": "no", "x": "yes"}, {"z": "maybe", "x": "yes"}, {}])
    assert coded.items == ("y", "x", "z")
    assert coded.answers == ("maybe", "no", "yes")
    assert coded.codes.tolist() == [[1, 2, -1], [-1, 2, 0], [-1, -1, -1]]
    assert coded.codes.dtype == np.int8


def test_encode_refuses_more_answers_than_a_byte_holds() -> None:
    """127 labels fit, 128 do not."""
    labels = {str(item): str(item) for item in range(127)}
    assert codes.encode([labels]).codes.max() == 126
    with pytest.raises(ValueError, match="127"):
        codes.encode([labels | {"one": "more"}])


@pytest.mark.parametrize("k", [3, 127, 500])
def test_alpha_of_sets_is_the_same_however_it_is_counted(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One input, counted plainly and with NumPy (with 500 answers always plainly): the same bytes."""
    draw = np.random.default_rng(1)
    sets = [
        {str(item): str(draw.integers(0, k) if draw.random() < 0.5 else item % k) for item in range(2000)}
        for _ in range(3)
    ]
    plain = alpha_of_sets(sets)
    monkeypatch.setattr(agreement, "LARGE", 0)
    assert alpha_of_sets(sets) == plain
    assert plain is not None
    assert 0.1 < plain < 0.5


@given(tables())
def test_kappas_equal_the_plain_kappa(drawn: tuple[Table, int]) -> None:
    """Every pair at once; None there is NaN here."""
    table, k = drawn
    counts = codes.all_pairs(table, k)
    found = codes.kappas(counts)
    names = [str(code) for code in range(k)]
    for a, b in combinations(range(len(table)), 2):
        plain = cohen_kappa(confusion_of_table(names, counts[a, b].tolist()))
        assert np.isnan(found[a, b]) if plain is None else found[a, b] == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize(
    ("sets", "base"), [(1, 3), (2, 6), (7, 3), (10, 6), (12, 6), (30, 6), (9, 128), (64, 2)]
)
def test_every_two_sets_meet_in_a_block(sets: int, base: int) -> None:
    """No pair of sets is left uncounted, and a block's histogram has at most 50,000 bins."""
    groups, blocks = codes._cover(sets, base)
    assert [one for group in groups for one in group] == list(range(sets))
    met: set[tuple[int, int]] = set()
    for block in blocks:
        together = [one for at in block for one in groups[at]]
        assert base ** len(together) <= 50_000
        met.update(combinations(together, 2))
    assert met == set(combinations(range(sets), 2))


def test_ten_sets_of_five_answers_take_four_passes() -> None:
    """Five groups of two sets meet in four blocks of three groups: the fewest there are."""
    assert len(codes._cover(10, 6)[1]) == 4


@pytest.mark.parametrize("k", [3, 40])
def test_patterns_of_codes_equal_the_plain_ones(k: int) -> None:
    """With 3 answers their counts fit one number, with 40 they do not: the same patterns and counts."""
    table = made_up(5, 500, k)
    coded = codes.Codes(tuple(map(str, range(500))), tuple(f"{code:03}" for code in range(k)), table)
    plain = rating_patterns([f"{code:03}" for code in column if code >= 0] for column in table.T.tolist())
    assert codes.patterns_of(coded) == plain
    assert sum(plain.values()) == int(((table >= 0).sum(0) >= 2).sum())


@pytest.mark.parametrize("order", ["the same", "another"])
def test_large_sets_compare_as_small_ones(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coded or looked up one by one: the same figures, tables, disagreements and settled items."""
    draw = np.random.default_rng(3)
    sets = [
        {
            str(item): str(draw.integers(0, 4) if draw.random() < 0.4 else item % 4)
            for item in (range(300) if order == "the same" else draw.permutation(300)[:250].tolist())
        }
        for _ in range(4)
    ]
    place = {str(code): float(code) for code in range(4)}

    def settled(one: int, other: int) -> set[str]:
        return {str(item) for item in range(0, 300, 7)} if (one, other) == (0, 2) else set()

    plain = compare_all(sets, settled=settled, points=place)
    patterns = patterns_of_sets(sets)
    monkeypatch.setattr(agreement, "LARGE", 0)
    assert compare_all(sets, settled=settled, points=place) == plain
    assert patterns_of_sets(sets) == patterns
    assert plain[1].settled > 0
    assert plain[0].settled == 0
    assert plain[0].kappa_quadratic is not None
