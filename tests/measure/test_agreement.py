"""Agreement of two sets: kappa, AC1, the confusion matrix and what lies beside them."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evh.measure.agreement import Cell, compare_all, compare_sets
from evh.measure.confusion import (
    Confusion,
    bias_index,
    cohen_kappa,
    confusion,
    confusion_of_table,
    gwet_ac1,
    gwet_ac1_of_ratings,
    prevalence_index,
)
from evh.measure.intervals import Interval
from tests.measure.cases import Case, cases

NONE_OR_POC = '{"accept": ["none", "poc"]}'

PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=30)


def table(counts: list[list[int]]) -> Confusion:
    """Make a confusion matrix from a published table; its categories are the letters."""
    return confusion_of_table("abcdefgh"[: len(counts)], counts)


def columns(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Turn (first, second) pairs into one sequence a set."""
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def of_rows(rows: list[list[str | None]]) -> Confusion:
    """Make the confusion matrix of a case with two raters and nothing missing."""
    first, second = rows
    return confusion([str(label) for label in first], [str(label) for label in second])


# ------------------------------------------------------------------------------------------- the matrix


def test_confusion_is_ordered_by_frequency_over_both_then_text() -> None:
    """Counts over both: c 4, a 3, b 3; a precedes b by text. Rows are the first set's."""
    assert confusion(list("cacba"), list("cbcba")) == Confusion(
        categories=("c", "a", "b"), counts=((2, 0, 0), (0, 1, 1), (0, 0, 1))
    )


def test_confusion_keeps_an_accept_list_as_a_category_of_its_own() -> None:
    """A label that accepts none or poc is neither none nor poc."""
    assert confusion(["none", NONE_OR_POC], ["none", "poc"]).categories == ("none", "poc", NONE_OR_POC)


def test_confusion_of_nothing_is_empty() -> None:
    """No item in common: no category, n 0."""
    empty = confusion([], [])
    assert (empty.categories, empty.counts, empty.n, empty.same) == ((), (), 0, 0)


def test_confusion_refuses_unequal_lengths() -> None:
    """Labels that are not paired cannot be counted."""
    with pytest.raises(ValueError, match="zip"):
        confusion(["a"], [])
    with pytest.raises(ValueError, match="zip"):
        confusion_of_table(["a", "b"], [[1, 2]])


def test_confusion_of_table_drops_what_never_occurs_and_sorts() -> None:
    """A table over more answers than these two sets use gives the matrix of the labels themselves."""
    counts = [[0, 0, 0], [0, 1, 2], [0, 0, 3]]
    assert confusion_of_table(["x", "y", "z"], counts) == confusion(list("yyyzzz"), list("yzzzzz"))


@given(PAIRS)
def test_confusion_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    """The counts of ``confusion_matrix`` over our order of categories; swapped sets give the transpose."""
    first, second = columns(pairs)
    ours = confusion(first, second)
    if len(ours.categories) > 1:  # of one label scikit-learn only warns
        theirs = confusion_matrix(first, second, labels=list(ours.categories))
        assert [list(row) for row in ours.counts] == theirs.tolist()
    swapped = confusion(second, first)
    assert swapped.categories == ours.categories
    assert swapped.counts == tuple(zip(*ours.counts, strict=True))


# ---------------------------------------------------------------------------------------- kappa and AC1


@pytest.mark.parametrize("case", cases("cohen_kappa"), ids=lambda case: case.name)
def test_kappa_gives_the_published_values(case: Case) -> None:
    """Each value of agreement_cases.json, within half a unit of its last printed digit."""
    assert cohen_kappa(of_rows(case.rows)) == pytest.approx(case.value, rel=0, abs=case.tolerance)
    if case.table:
        assert cohen_kappa(table(case.table)) == cohen_kappa(of_rows(case.rows))


def test_the_file_of_published_values_is_not_empty() -> None:
    """A test over no cases would prove nothing."""
    assert len(cases("cohen_kappa")) == 14
    assert len(cases("gwet_ac1")) == 1


@pytest.mark.parametrize("pairs", [[], [("a", "a")], [("a", "a")] * 50])
def test_kappa_is_none_when_chance_agreement_is_one(pairs: list[tuple[str, str]]) -> None:
    """No items, or one label throughout: undefined, never 0 or NaN."""
    assert cohen_kappa(confusion(*columns(pairs))) is None


def test_kappa_is_zero_when_one_set_never_varies() -> None:
    """Po equals pe: no better than chance, and defined."""
    assert cohen_kappa(confusion(list("aaaa"), list("aabb"))) == 0.0


@given(PAIRS)
def test_kappa_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    """``cohen_kappa_score`` for any labels; its NaN is our None."""
    first, second = columns(pairs)
    ours = cohen_kappa(confusion(first, second))
    if not pairs:
        assert ours is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns where kappa is undefined
        theirs = cohen_kappa_score(first, second)
    if math.isnan(theirs):
        assert ours is None
    else:
        assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("case", cases("gwet_ac1"), ids=lambda case: case.name)
def test_ac1_of_ratings_gives_the_published_value(case: Case) -> None:
    """Four raters with missing values: 0.77544, as irrCAC prints it."""
    assert gwet_ac1_of_ratings(case.rows) == pytest.approx(case.value, rel=0, abs=case.tolerance)


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ([[20, 20], [10, 50]], 0.44954),
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.57597),
        ([[90, 5], [5, 0]], 0.8895),
    ],
)
def test_ac1_of_a_table_equals_irrcac(counts: list[list[int]], value: float) -> None:
    """The coefficient that irrCAC 0.4.4 (Python) prints for each table, to 5 digits."""
    ours = gwet_ac1(table(counts))
    assert ours is not None
    assert round(ours, 5) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kripp2011_A_binary_2x10", 0.3103448276),
        ("kripp2011_B_nominal_2x12", 0.6896551724),
        ("sklearn_weighted", 0.9435347261),
        ("edge_no_common_label", -0.4545454545),
        ("edge_perfect", 1.0),
    ],
)
def test_ac1_of_two_raters_equals_irrcac(name: str, value: float) -> None:
    """The coefficient that irrCAC 0.4.4 (Python) gives for the same ratings, to 10 digits."""
    (case, *_) = [one for one in cases("cohen_kappa") if one.name.startswith(name)]
    ours = gwet_ac1(of_rows(case.rows))
    assert ours is not None
    assert round(ours, 10) == value


@given(PAIRS)
def test_ac1_of_ratings_equals_ac1_of_two_complete_sets(pairs: list[tuple[str, str]]) -> None:
    """The form for many raters and the form for a table are one formula where both hold."""
    first, second = columns(pairs)
    ours = gwet_ac1(confusion(first, second))
    assert gwet_ac1_of_ratings([first, second]) == (None if ours is None else pytest.approx(ours, abs=1e-12))


@given(PAIRS)
def test_kappa_and_ac1_are_symmetric_and_blind_to_names(pairs: list[tuple[str, str]]) -> None:
    """Swapping the sets or renaming the answers changes no byte; agreement of one set with itself is 1."""
    first, second = columns(pairs)
    rename = dict(zip("abcd", "zyxw", strict=True))
    for figure in (cohen_kappa, gwet_ac1):
        value = figure(confusion(first, second))
        assert value == figure(confusion(second, first))
        assert value == figure(confusion([rename[one] for one in first], [rename[one] for one in second]))
        assert value is None or -1 <= value <= 1
        assert figure(confusion(first, first)) == (None if len(set(first)) < 2 else 1.0)


def test_prevalence_and_bias_by_hand() -> None:
    """|90 - 0| / 100 and |5 - 5| / 100; |40 - 45| / 100 and |9 - 6| / 100; None of nothing."""
    dominated = table([[90, 5], [5, 0]])
    assert (prevalence_index(dominated), bias_index(dominated)) == (0.9, 0.0)
    balanced = table([[40, 9], [6, 45]])
    assert (prevalence_index(balanced), bias_index(balanced)) == (0.05, 0.03)
    assert (prevalence_index(confusion([], [])), bias_index(confusion([], []))) == (None, None)


def test_prevalence_and_bias_of_three_categories_hold_the_first_against_the_rest() -> None:
    """Cohen's table of 1960 collapsed by hand to [[88, 32], [12, 68]]: 20 / 200 and 20 / 200."""
    cohen = table([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    assert (prevalence_index(cohen), bias_index(cohen)) == (0.1, 0.1)


# ---------------------------------------------------------------------------------------------- two sets


def test_compare_sets_counts_same_sharing_and_apart_by_hand() -> None:
    """Of 4 items in common 1 is the same, 2 share an answer, 1 is apart; what only one set labels is out."""
    a = {"1": "none", "2": NONE_OR_POC, "3": "poc", "4": "active", "only-a": "none"}
    b = {"4": "none", "3": NONE_OR_POC, "2": "none", "1": "none", "only-b": "poc"}
    pair = compare_sets(a, b, min_overlap=4)
    assert (pair.n, pair.same, pair.sharing) == (4, 1, 2)
    assert (pair.same_share, pair.sharing_share) == (0.25, 0.5)
    assert not pair.too_few
    assert pair.cells == (
        Cell("active", "none", 1, ("4",)),
        Cell("poc", NONE_OR_POC, 1, ("3",)),
        Cell(NONE_OR_POC, "none", 1, ("2",)),
    )
    # The order of categories: none 4, none or poc 2, active 1, poc 1. Chance: (1·3 + 1·1) / 16.
    assert pair.confusion.categories == ("none", NONE_OR_POC, "active", "poc")
    assert pair.kappa == (1 / 4 - 4 / 16) / (1 - 4 / 16)


def test_the_largest_disagreement_comes_first_with_its_items_sorted() -> None:
    """Three items cost more than one; their keys come in order."""
    a = {"4": "x", "9": "p", "1": "p", "5": "p"}
    b = {"4": "y", "5": "q", "9": "q", "1": "q"}
    assert compare_sets(a, b).cells == (Cell("p", "q", 3, ("1", "5", "9")), Cell("x", "y", 1, ("4",)))


def test_wilson_stands_beside_the_share() -> None:
    """81 of 263: 0.2553 to 0.3662 (Newcombe 1998, table I, method 3)."""
    a = {str(item): "x" for item in range(263)}
    b = {str(item): "x" if item < 81 else "y" for item in range(263)}
    interval = compare_sets(a, b).same_interval
    assert isinstance(interval, Interval)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


@pytest.mark.parametrize("n", [0, 1])
def test_below_two_items_every_figure_is_none(n: int) -> None:
    """One item cannot agree better or worse than chance; the counts still stand."""
    labels = {str(item): "x" for item in range(n)}
    pair = compare_sets(labels, labels, min_overlap=0)
    assert (pair.n, pair.same, pair.sharing) == (n, n, 0)
    figures = (pair.same_share, pair.same_interval, pair.sharing_share, pair.kappa, pair.ac1)
    assert (*figures, pair.prevalence, pair.bias) == (None,) * 7
    assert pair.too_few
    assert not pair.paradox


def test_fewer_items_than_the_least_overlap_are_marked() -> None:
    """9 of 10 asked for are too few, 10 are enough; the figures stand all the same."""
    nine = {str(item): "xy"[item % 2] for item in range(9)}
    ten = nine | {"9": "x"}
    assert compare_sets(nine, nine).too_few
    assert compare_sets(nine, nine).kappa == 1.0
    assert not compare_sets(ten, ten).too_few
    assert compare_sets(ten, ten, min_overlap=11).too_few


def sets_of(counts: list[list[int]]) -> tuple[dict[str, str], dict[str, str]]:
    """Write a table out as two label sets."""
    pairs = [
        (str(i), str(j)) for i, row in enumerate(counts) for j, count in enumerate(row) for _ in range(count)
    ]
    first, second = columns(pairs)
    return ({str(key): label for key, label in enumerate(one)} for one in (first, second))  # type: ignore[return-value]


def test_the_paradox_of_high_agreement_and_low_kappa_is_marked() -> None:
    """Agreement 0.9 with kappa -0.05 (Feinstein & Cicchetti's kind) is; Cohen's 0.7 with 0.49 is not."""
    a, b = sets_of([[90, 5], [5, 0]])
    assert compare_sets(a, b).paradox
    a, b = sets_of([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    assert not compare_sets(a, b).paradox
    a, b = sets_of([[50, 0], [0, 50]])
    assert not compare_sets(a, b).paradox


@given(
    st.dictionaries(st.sampled_from("123456"), st.sampled_from("abc")),
    st.dictionaries(st.sampled_from("123456"), st.sampled_from("abc")),
)
def test_compare_sets_is_symmetric(a: dict[str, str], b: dict[str, str]) -> None:
    """Swapping the sets swaps rows and columns and nothing else; the counts add up."""
    one, other = compare_sets(a, b), compare_sets(b, a)
    for name in ("n", "same", "same_share", "same_interval", "sharing", "kappa", "ac1", "prevalence", "bias"):
        assert getattr(one, name) == getattr(other, name)
    assert {(cell.a, cell.b, cell.keys) for cell in one.cells} == {
        (cell.b, cell.a, cell.keys) for cell in other.cells
    }
    assert one.same + sum(cell.count for cell in one.cells) == one.n == len(a.keys() & b.keys())


def test_settled_items_leave_the_disagreements_and_no_figure() -> None:
    """Of two x-against-y items one is settled: one is left to see, and kappa stays."""
    a = {"1": "x", "2": "x", "3": "x", "4": "y"}
    b = {"1": "y", "2": "y", "3": "x", "4": "y"}
    before, after = compare_sets(a, b), compare_sets(a, b, settled={"2", "3", "unknown"})
    assert after.cells == (Cell("x", "y", 1, ("1",)),)
    assert (before.settled, after.settled) == (0, 1)
    assert (after.kappa, after.same, after.confusion) == (before.kappa, before.same, before.confusion)


def test_accept_lists_have_masi_and_are_counted() -> None:
    """Two sets of single answers have no MASI figure; with an accept-list it is above nominal alpha."""
    a = {str(item): "ab"[item % 2] for item in range(20)}
    b = {key: NONE_OR_POC if label == "a" else label for key, label in a.items()}
    plain = compare_sets(a, a)
    assert (plain.masi, plain.several) == (None, (0, 0))
    wide = {key: {"a": "none"}.get(label, label) for key, label in a.items()}
    pair = compare_sets(wide, b)
    assert (pair.several, pair.sharing) == ((0, 10), 10)
    assert pair.masi is not None
    assert pair.alpha is not None
    assert pair.masi > pair.alpha


def test_weighted_kappa_needs_points() -> None:
    """Given where the labels lie, both weightings stand beside kappa; else neither."""
    a = {str(item): "123"[item % 3] for item in range(12)}
    b = a | {"0": "2"}
    assert compare_sets(a, b).kappa_linear is None
    pair = compare_sets(a, b, points={"1": 1.0, "2": 2.0, "3": 3.0})
    assert pair.kappa_linear is not None
    assert pair.kappa_quadratic is not None
    assert pair.kappa is not None
    assert pair.kappa < pair.kappa_linear < pair.kappa_quadratic


def test_all_pairs_come_in_order() -> None:
    """(0, 1), (0, 2), (1, 2), each as if compared alone."""
    sets = [{"1": "x", "2": "y"}, {"1": "x"}, {"2": "y", "1": "y"}]
    assert compare_all(sets) == [
        compare_sets(sets[0], sets[1]), compare_sets(sets[0], sets[2]), compare_sets(sets[1], sets[2]),
    ]  # fmt: skip


def test_a_small_input_never_imports_numpy() -> None:
    """Two sets of 1,000 labels are compared, and alpha taken, without NumPy or `statistics`."""
    code = (
        "import sys\n"
        "from evh.measure import agreement, scores, signals, winners\n"
        "labels = {str(item): 'ab'[item % 2] for item in range(1000)}\n"
        "agreement.compare_sets(labels, labels)\n"
        "assert agreement.alpha_of_sets([labels, labels]) == 1.0\n"
        "print(sorted({'numpy', 'statistics', 'fractions', 'decimal'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
