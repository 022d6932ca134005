"""Weighted kappa and the alpha of a table equal the published values and independent packages."""

from __future__ import annotations

import math
import warnings

import krippendorff
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evh.measure.confusion import alpha_of_table, cohen_kappa, confusion, confusion_of_table, weighted_kappa
from tests.measure.cases import Case, cases

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


def places(case: Case) -> dict[str, float]:
    """Put a case's categories in their order: numbers by size, letters by the alphabet."""
    labels = {label for row in case.rows for label in row if label is not None}
    return {label: float(place) for place, label in enumerate(sorted(labels))}


@pytest.mark.parametrize(
    ("power", "case"),
    [(1, case) for case in cases("cohen_kappa_linear")]
    + [(2, case) for case in cases("cohen_kappa_quadratic")],
    ids=lambda one: one.name if isinstance(one, Case) else str(one),
)
def test_weighted_kappa_gives_the_published_values(power: int, case: Case) -> None:
    """Each value of agreement_cases.json, within half a unit of its last printed digit."""
    first, second = ([str(label) for label in row] for row in case.rows)
    found = weighted_kappa(confusion(first, second), places(case), power)
    assert found == pytest.approx(case.value, rel=0, abs=case.tolerance)


def test_the_file_holds_weighted_values() -> None:
    """A test over no cases would prove nothing."""
    assert (len(cases("cohen_kappa_linear")), len(cases("cohen_kappa_quadratic"))) == (9, 6)


@given(PAIRS, st.sampled_from([1, 2]))
def test_weighted_kappa_equals_scikit_learn(pairs: list[tuple[int, int]], power: int) -> None:
    """Over the categories 0..3, unused ones among them: what ``cohen_kappa_score`` gives with all four."""
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    table = confusion([str(one) for one in first], [str(one) for one in second])
    ours = weighted_kappa(table, {str(one): float(one) for one in range(4)}, power)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns where kappa is undefined
        weights = {1: "linear", 2: "quadratic"}[power]
        theirs = cohen_kappa_score(first, second, weights=weights, labels=[0, 1, 2, 3])
    if ours is None:
        assert math.isnan(theirs)
    else:
        assert ours == pytest.approx(theirs, abs=1e-12)


@given(PAIRS)
def test_weights_of_two_categories_are_no_weights(pairs: list[tuple[int, int]]) -> None:
    """With two categories every weighting is the unweighted kappa."""
    first, second = [str(a % 2) for a, _ in pairs], [str(b % 2) for _, b in pairs]
    table = confusion(first, second)
    plain = cohen_kappa(table)
    for power in (1, 2):
        found = weighted_kappa(table, {"0": 0.0, "1": 1.0}, power)
        assert found == (None if plain is None else pytest.approx(plain, abs=1e-12))


def test_distances_of_numbers_count() -> None:
    """By hand: w = |1 - 10| = 9 for the one difference; Σ w o = 9, Σ w e = 9 · (2·2 + 2·2... ) / 4.

    Rows 1, 1, 10, 10 against 1, 1, 10, 1: row sums 2, 2; column sums 3, 1; Σ w r c = 9 · (2·1 + 2·3) = 72;
    kappa = 1 - 4 · 9 / 72 = 0.5.
    """
    table = confusion(["1", "1", "10", "10"], ["1", "1", "10", "1"])
    assert weighted_kappa(table, {"1": 1.0, "10": 10.0}, 1) == 0.5


def test_a_category_without_a_point_has_no_weighted_kappa() -> None:
    """A label off the scale is not passed over: there is no figure; nor is there one of nothing."""
    table = confusion(["low", "high", "?"], ["low", "low", "high"])
    assert weighted_kappa(table, {"low": 0.0, "high": 1.0}, 1) is None
    assert weighted_kappa(confusion([], []), {}, 1) is None
    assert weighted_kappa(confusion(["a"], ["a"]), {"a": 0.0}, 2) is None


@given(PAIRS)
def test_alpha_of_a_table_equals_the_krippendorff_package(pairs: list[tuple[int, int]]) -> None:
    """Two raters without missing values."""
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    ours = alpha_of_table(confusion([str(one) for one in first], [str(one) for one in second]))
    if len({*first, *second}) < 2:
        assert ours is None
        return
    theirs = krippendorff.alpha([first, second], level_of_measurement="nominal")
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_cohens_table_is_the_recomputed_one() -> None:
    """0.4884615 for the table of Cohen (1960), as agreement_cases.json has it."""
    found = alpha_of_table(confusion_of_table("abc", [[88, 14, 18], [10, 40, 10], [2, 6, 12]]))
    assert found is not None
    assert round(found, 7) == 0.4884615
