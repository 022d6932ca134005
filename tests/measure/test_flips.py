"""Sign-flip tests: exact where they can be, drawn where not, for every pair at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import permutation_test

from evh.measure.bootstrap import mean_intervals
from evh.measure.flips import COUNTED, hashed_blocks, sign_flip_tests
from evh.measure.grid import to_grid
from evh.measure.significance import mcnemar


def test_the_worked_example_of_darwins_plants() -> None:
    """Darwin's fifteen pairs of maize: p = 0.0526 for 1,726 of 32,768 patterns (Fisher 1935, section 21)."""
    differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = sign_flip_tests(np.column_stack([differences, np.zeros(15)]).astype(float))
    assert found.counted.tolist() == [True]
    assert found.p[0] == 1726 / 32768
    assert found.nonzero.tolist() == [15]
    assert found.difference[0] == 314 / 15


@pytest.mark.parametrize("decimals", [0, 1, 2, 15])
def test_counted_p_is_scipys(decimals: int) -> None:
    """With few items every pair's p is that of ``scipy.stats.permutation_test`` over all patterns."""
    scores = np.round(np.random.default_rng(3).random((11, 4)), decimals)
    found = sign_flip_tests(scores)
    for first, second, p in zip(found.first, found.second, found.p, strict=True):
        theirs = permutation_test(
            (scores[:, first] - scores[:, second],),
            np.sum,
            permutation_type="samples",
            n_resamples=np.inf,
        )
        assert p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_drawn_p_is_within_its_noise_of_the_exact_one() -> None:
    """Right or wrong on 60 items: the exact p is McNemar's; 10,000 draws lie within four standard errors."""
    draw = np.random.default_rng(5)
    scores = (draw.random((60, 2)) < [0.5, 0.8]).astype(float)
    found = sign_flip_tests(scores)
    only_first = int(((scores[:, 0] == 1) & (scores[:, 1] == 0)).sum())
    only_second = int(((scores[:, 0] == 0) & (scores[:, 1] == 1)).sum())
    assert only_first + only_second > COUNTED
    exact = mcnemar(only_first, only_second)
    assert found.counted.tolist() == [False]
    assert abs(found.p[0] - exact) < 4 * (exact * (1 - exact) / 10_000) ** 0.5 + 1e-4


def test_the_smallest_drawn_p_is_never_zero() -> None:
    """The add-one rule: 1 / 10,001 where no drawn pattern reaches what was seen."""
    scores = np.column_stack([np.ones(200), np.zeros(200)])
    assert sign_flip_tests(scores).p[0] == 1 / 10_001


def test_nothing_differs() -> None:
    """Two arms with the same scores have p 1; two without a common item have none."""
    same = np.array([[0.25, 0.25], [0.5, 0.5]])
    assert sign_flip_tests(same).p.tolist() == [1.0]
    apart = np.array([[1.0, np.nan], [np.nan, 1.0]])
    found = sign_flip_tests(apart)
    assert found.n.tolist() == [0]
    assert np.isnan(found.p[0])
    assert np.isnan(found.difference[0])


def test_missing_scores_leave_the_item_out_of_its_pairs_alone() -> None:
    """Each pair is tested on the items that both have, as if the others were not there."""
    scores = np.random.default_rng(7).random((40, 3)).round(2)
    scores[:5, 0] = np.nan
    scores[30:, 2] = np.nan
    found = sign_flip_tests(scores)
    for place, (first, second) in enumerate(zip(found.first, found.second, strict=True)):
        both = ~np.isnan(scores[:, first]) & ~np.isnan(scores[:, second])
        assert found.n[place] == both.sum()
        expected = (scores[both, first] - scores[both, second]).mean()
        assert found.difference[place] == pytest.approx(expected, abs=1e-12)
    few = np.where(np.arange(40)[:, None] < 12, scores, np.nan)
    alone = sign_flip_tests(few[5:12, :2])
    assert sign_flip_tests(few).p[0] == alone.p[0]


def test_decimal_ties_are_ties() -> None:
    """0.1 + 0.2 equals 0.3 here: of the eight patterns of (0.1, 0.2, -0.3) all reach the sum seen, 0."""
    found = sign_flip_tests(np.array([[0.1, 0.0], [0.2, 0.0], [0.0, 0.3]]))
    assert found.p.tolist() == [1.0]


def test_clusters_get_one_sign_together() -> None:
    """Items of one cluster are one piece of evidence: the p is that of the clusters' sums, by hand."""
    scores = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    groups = np.array([0, 0, 1, 1])
    assert sign_flip_tests(scores).p.tolist() == [2 / 16]
    assert sign_flip_tests(scores, groups=groups).p.tolist() == [2 / 4]


def test_the_order_of_the_arms_and_other_arms_change_no_p() -> None:
    """The same patterns serve every pair, so a pair's p does not depend on who stands beside it."""
    scores = np.random.default_rng(11).random((100, 4)).round(3)
    whole = sign_flip_tests(scores)
    alone = sign_flip_tests(scores[:, [0, 3]])
    assert alone.p[0] == whole.p[(whole.first == 0) & (whole.second == 3)][0]
    turned = sign_flip_tests(scores[:, [3, 0]])
    assert turned.p[0] == alone.p[0]


def test_hashed_blocks_do_not_depend_on_the_order() -> None:
    """An item's block is its own id's."""
    blocks = dict(zip("abc", hashed_blocks(["a", "b", "c"], 7).tolist(), strict=True))
    assert dict(zip("cab", hashed_blocks(["c", "a", "b"], 7).tolist(), strict=True)) == blocks


def test_the_level_holds() -> None:
    """With no true difference p is below 0.05 in at most 5 % of studies (and its noise), drawn or counted."""
    draw = np.random.default_rng(13)
    for items in (12, 40):
        below = 0
        for _ in range(400):
            scores = draw.normal(size=(items, 2)).round(2)
            below += sign_flip_tests(scores, flips=500, seed=int(draw.integers(1 << 30))).p[0] <= 0.05
        assert below / 400 <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


def test_all_patterns_are_counted_up_to_twenty() -> None:
    """Twenty differences are counted; the p of 20 equal ones is 2 / 2²⁰, as every pattern by hand says."""
    scores = np.column_stack([np.ones(20), np.zeros(20)])
    found = sign_flip_tests(scores)
    assert found.counted.tolist() == [True]
    assert found.p.tolist() == [2 / 2**20]
    six = np.array([0.5, 0.25, -0.25, 1.0, 0.75, -0.5])
    sums = [abs(sum(s * d for s, d in zip(signs, six, strict=True))) for signs in product((1, -1), repeat=6)]
    expected = sum(one >= abs(six.sum()) - 1e-12 for one in sums) / 64
    assert sign_flip_tests(np.column_stack([six, np.zeros(6)])).p.tolist() == [expected]


def test_scores_that_are_no_decimals_are_rounded_and_said_to_be() -> None:
    """Thirds lie on no decimal grid; halves and 0/1 do."""
    assert to_grid(np.array([[1.0, 0.0]])).exact
    assert to_grid(np.array([[0.5, 0.125]])).step == 0.001
    assert not to_grid(np.array([[1 / 3, 0.0]])).exact
    huge = to_grid(np.array([[1e300, -1e300]]))
    assert huge.whole[0, 0] * huge.step == pytest.approx(1e300)


def test_an_infinite_score_is_an_error() -> None:
    """A score is a finite number."""
    with pytest.raises(ValueError, match="infinite"):
        sign_flip_tests(np.array([[np.inf, 0.0]]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-300, 1e-13, 1e-10, 1e150, 1e307])
def test_p_and_intervals_are_free_of_scale(scale: float) -> None:
    """Scores of any size are tested as the same scores of a plain size are: no overflow, none taken for 0."""
    plain = np.round(np.random.default_rng(1).normal(0.3, 1, (60, 3)), 2)
    plain[::7, 1] = np.nan
    plain[:, 2] *= 0.25
    expected, seen = sign_flip_tests(plain), sign_flip_tests(plain * scale)
    assert seen.p == pytest.approx(expected.p, abs=2e-3)
    assert seen.nonzero.tolist() == expected.nonzero.tolist()
    assert seen.difference / scale == pytest.approx(expected.difference, rel=1e-9)
    drawn, wanted = mean_intervals(plain * scale), mean_intervals(plain)
    assert drawn.low / scale == pytest.approx(wanted.low, rel=1e-9, abs=1e-12)
    assert drawn.pair_high / scale == pytest.approx(wanted.pair_high, rel=1e-9, abs=1e-12)
