"""Alpha of every scale and Fleiss' kappa equal the published values and independent packages."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics import jaccard_distance, masi_distance
from nltk.metrics.agreement import AnnotationTask
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from evh.measure.agreement import alpha_nominal, alpha_of_sets
from evh.measure.alpha import (
    AlphaCounts,
    alpha_counts,
    alpha_from_counts,
    alpha_of_patterns,
    fleiss_kappa,
    rating_patterns,
)
from evh.measure.scale import Scale, points
from evh.records.answers import canonical
from tests.measure.cases import Case, cases

Ratings = list[list[str | None]]

ANSWERS = st.sampled_from(["a", "b", "c", None])
TABLES: st.SearchStrategy[Ratings] = st.integers(1, 5).flatmap(
    lambda sets: st.lists(st.lists(ANSWERS, min_size=sets, max_size=sets), min_size=1, max_size=12).map(
        lambda items: [list(row) for row in zip(*items, strict=True)]
    )
)


@pytest.mark.parametrize("case", cases("krippendorff_alpha_nominal"), ids=lambda case: case.name)
def test_alpha_gives_the_published_values(case: Case) -> None:
    """Each value of agreement_cases.json, within half a unit of its last printed digit."""
    assert alpha_nominal(case.rows) == pytest.approx(case.value, rel=0, abs=case.tolerance)


def test_the_file_of_published_values_is_not_empty() -> None:
    """A test over no cases would prove nothing: 14 values of ten cases."""
    assert len(cases("krippendorff_alpha_nominal")) == 14


def test_counts_of_a_small_table_by_hand() -> None:
    """Items ab, aab, c, bb: c is rated once and left out; 2 unlike ordered pairs of 2 ratings, 4 of 3."""
    counts = alpha_counts([["a", "b"], ["a", "a", "b"], ["c"], ["b", "b"]])
    assert counts == AlphaCounts(items=3, unlike={2: 2, 3: 4}, totals=(3, 4))
    # Observed 2/1 + 4/2 = 4; expected (49 - 9 - 16) / 6 = 4: exactly chance.
    assert alpha_from_counts(counts) == 0.0


@pytest.mark.parametrize(
    "ratings",
    [[], [[]], [["a", "b"]], [["a", None], [None, "b"]], [["a", "a"], ["a", "a"]], [[None], [None]]],
)
def test_alpha_is_none_when_undefined(ratings: Ratings) -> None:
    """No item with two ratings, or only one answer: nothing to compare with chance."""
    assert alpha_nominal(ratings) is None


def test_alpha_refuses_sets_of_unequal_length() -> None:
    """A short row would shift every later item."""
    with pytest.raises(ValueError, match="zip"):
        alpha_nominal([["a", "b"], ["a"]])


@given(TABLES)
def test_alpha_equals_the_krippendorff_package(ratings: Ratings) -> None:
    """Any table of up to 5 sets with missing values, where the package defines alpha."""
    ours = alpha_nominal(ratings)
    pairable = [column for column in zip(*ratings, strict=True) if len([one for one in column if one]) > 1]
    if len(set(itertools.chain(*pairable)) - {None}) < 2:
        assert ours is None
        return
    numbers = {None: np.nan, "a": 0.0, "b": 1.0, "c": 2.0}
    table = np.array([[numbers[rating] for rating in row] for row in ratings])
    theirs = krippendorff.alpha(table, level_of_measurement="nominal")
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(TABLES)
def test_alpha_does_not_depend_on_names_or_order(ratings: Ratings) -> None:
    """Renaming the answers and turning sets and items round changes no byte; alpha is at most 1."""
    renamed = {"a": "z", "b": "y", "c": "x", None: None}
    turned = [[renamed[rating] for rating in reversed(row)] for row in reversed(ratings)]
    alpha = alpha_nominal(ratings)
    assert alpha == alpha_nominal(turned)
    assert alpha is None or alpha <= 1


def test_alpha_of_sets_matches_items_by_key() -> None:
    """Example C of Krippendorff (2011), each rater a mapping in another order: 0.743, as printed."""
    (case, *_) = [one for one in cases("krippendorff_alpha_nominal") if one.name.startswith("kripp2011_C")]
    sets = [
        {f"item{place}": label for place, label in enumerate(row) if label is not None} for row in case.rows
    ]
    sets[1] = dict(reversed(sets[1].items()))
    alpha = alpha_of_sets(sets)
    assert alpha is not None
    assert round(alpha, 3) == 0.743


def test_alpha_of_sets_needs_two_items_in_common() -> None:
    """One item, even with two answers, says nothing; nor does no set at all."""
    assert alpha_of_sets([{"x": "a"}, {"x": "b"}]) is None
    assert alpha_of_sets([]) is None
    assert alpha_of_sets([{"x": "a", "y": "b"}]) is None


# ------------------------------------------------------------------------------------------ other scales


def patterns(ratings: Ratings) -> dict[tuple[str, ...], int]:
    """Count the items of sets × items by their labels."""
    return rating_patterns([label for label in column if label] for column in zip(*ratings, strict=True))


@pytest.mark.parametrize(
    ("scale", "case"),
    [
        (scale, case)
        for scale in ("nominal", "ordinal", "interval", "ratio")
        for case in cases(f"krippendorff_alpha_{scale}")
    ],
    ids=lambda one: one.name if isinstance(one, Case) else str(one),
)
def test_alpha_of_each_scale_gives_the_published_values(scale: str, case: Case) -> None:
    """Each value of agreement_cases.json, within half a unit of its last printed digit."""
    given_ = {label for row in case.rows for label in row if label is not None}
    place = points(Scale(scale), given_) if scale != "nominal" else {}
    found = alpha_of_patterns(patterns(case.rows), scale, place)
    assert found == pytest.approx(case.value, rel=0, abs=case.tolerance)


def test_the_file_holds_values_of_every_scale() -> None:
    """A test over no cases would prove nothing."""
    counted = {scale: len(cases(f"krippendorff_alpha_{scale}")) for scale in ("ordinal", "interval", "ratio")}
    assert counted == {"ordinal": 7, "interval": 7, "ratio": 7}


NUMBERS = st.sampled_from(["0", "1", "2.5", "7", None])
NUMBER_TABLES: st.SearchStrategy[Ratings] = st.integers(2, 5).flatmap(
    lambda sets: st.lists(st.lists(NUMBERS, min_size=sets, max_size=sets), min_size=1, max_size=12).map(
        lambda items: [list(row) for row in zip(*items, strict=True)]
    )
)


@given(NUMBER_TABLES, st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_alpha_of_each_scale_equals_the_krippendorff_package(ratings: Ratings, scale: Any) -> None:
    """Numbers with missing ones, in any table of up to 5 sets where the package defines alpha."""
    found = patterns(ratings)
    ours = alpha_of_patterns(found, scale, points(Scale(scale), {"0", "1", "2.5", "7"}))
    if len({label for pattern in found for label in pattern}) < 2:
        assert ours is None
        return
    table = np.array([[np.nan if one is None else float(one) for one in row] for row in ratings])
    theirs = krippendorff.alpha(table, level_of_measurement=scale)
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(TABLES)
def test_nominal_alpha_of_patterns_is_nominal_alpha(ratings: Ratings) -> None:
    """The general formula and the one in integers are the same figure."""
    exact = alpha_nominal(ratings)
    found = alpha_of_patterns(patterns(ratings))
    assert found == (None if exact is None else pytest.approx(exact, abs=1e-12))


@given(
    st.integers(2, 3).flatmap(
        lambda sets: st.lists(
            st.lists(st.frozensets(st.sampled_from("abc"), min_size=1), min_size=sets, max_size=sets),
            min_size=2,
            max_size=8,
        )
    )
)
def test_alpha_of_accept_lists_equals_nltk(items: list[list[frozenset[str]]]) -> None:
    """Jaccard exactly, MASI within what nltk's rounded 0.67 and 0.33 leave: ``AnnotationTask.alpha``."""
    found = rating_patterns([canonical(one) for one in item] for item in items)
    if len({label for pattern in found for label in pattern}) < 2:
        assert alpha_of_patterns(found, "masi") is None
        return
    triples = [(str(rater), str(at), one) for at, item in enumerate(items) for rater, one in enumerate(item)]
    theirs = AnnotationTask(triples, distance=jaccard_distance).alpha()
    assert alpha_of_patterns(found, "jaccard") == pytest.approx(theirs, abs=1e-9)
    theirs = AnnotationTask(triples, distance=masi_distance).alpha()
    assert alpha_of_patterns(found, "masi") == pytest.approx(theirs, abs=0.03)


def test_a_label_off_the_scale_leaves_alpha_undefined() -> None:
    """It is neither passed over nor guessed."""
    assert alpha_of_patterns({("1", "2"): 3, ("1", "?"): 1}, "interval", {"1": 1.0, "2": 2.0}) is None


# ---------------------------------------------------------------------------------------- Fleiss' kappa


def fleiss_cases() -> dict[str, tuple[dict[tuple[str, ...], int], float, int]]:
    """Return the two worked examples: patterns, value, decimals."""
    path = Path(__file__).with_name("agreement_cases.json")
    held = {case["id"]: case for case in json.loads(path.read_text(encoding="utf-8"))}
    diagnoses = [[str(one) for one in row] for row in held["fleiss1971_diagnoses"]["ratings"]]
    wikipedia = [
        tuple(str(place) for place, count in enumerate(row) for _ in range(count))
        for row in held["wikipedia_fleiss"]["table"]
    ]
    return {
        "fleiss1971": (
            rating_patterns(list(column) for column in zip(*diagnoses, strict=True)),
            0.4302445,
            7,
        ),
        "wikipedia": (dict(Counter(wikipedia)), 0.2099307, 7),
    }


@pytest.mark.parametrize("name", ["fleiss1971", "wikipedia"])
def test_fleiss_kappa_gives_the_published_value(name: str) -> None:
    """0.4302445 (R's irr) and 0.2099307 (printed 0.210)."""
    found, value, decimals = fleiss_cases()[name]
    ours = fleiss_kappa(found)
    assert ours is not None
    assert round(ours, decimals) == value


@given(
    st.integers(2, 5).flatmap(
        lambda sets: st.lists(
            st.lists(st.sampled_from("abc"), min_size=sets, max_size=sets), min_size=1, max_size=12
        )
    )
)
def test_fleiss_kappa_equals_statsmodels(items: list[list[str]]) -> None:
    """Any complete table in which two answers occur."""
    ours = fleiss_kappa(rating_patterns(items))
    if len({label for item in items for label in item}) < 2:
        assert ours is None
        return
    table, _ = aggregate_raters(np.array([["abc".index(label) for label in item] for item in items]))
    assert ours == pytest.approx(statsmodels_fleiss(table), abs=1e-12)


def test_fleiss_kappa_needs_equal_numbers_of_ratings() -> None:
    """Items of 2 and of 3 ratings have none; nor has nothing."""
    assert fleiss_kappa({("a", "b"): 1, ("a", "a", "b"): 1}) is None
    assert fleiss_kappa({}) is None
