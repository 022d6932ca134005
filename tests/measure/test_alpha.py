"""Nominal alpha equals the published values and the krippendorff package."""

from __future__ import annotations

import itertools

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.measure.agreement import alpha_nominal, alpha_of_sets
from evh.measure.alpha import AlphaCounts, alpha_counts, alpha_from_counts
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
