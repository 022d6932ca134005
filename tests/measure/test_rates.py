"""Rates from labels that are themselves uncertain: published values, and what the intervals promise."""

from __future__ import annotations

import random
import re

import pytest

from evh.measure.rates import Slice, corrected, rate, reward, self_agreement


def test_a_rate_has_wilsons_interval() -> None:
    """81 of 263: 0.2553 to 0.3662, method 3 of Newcombe (1998), table I."""
    found = rate(81, 263)
    assert found.share == pytest.approx(0.3080, abs=5e-5)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert rate(0, 0).share is None


def test_r_update_is_the_mean_of_plus_and_minus_one() -> None:
    """6 right and 4 wrong are +0.2; all right is +1 with an end of +1; none decided is None."""
    assert reward(6, 10).mean == pytest.approx(0.2)
    assert reward(10, 10).mean == 1.0
    found = reward(10, 10).interval
    assert found is not None
    assert found.low == pytest.approx(2 * 0.722467 - 1, abs=1e-5)
    assert found.high == 1.0
    assert reward(0, 0).mean is None


def test_rogan_gladen_by_hand() -> None:
    """Sensitivity 0.9, specificity 0.8, 30 % labelled yes: (0.3 + 0.8 − 1) / 0.7 = 1/7."""
    found = corrected(300, 1_000, Slice(90, 10, 20, 80))
    assert found.share == pytest.approx(1 / 7)
    assert found.refused is None
    assert found.interval is not None
    assert found.interval.low < 1 / 7 < found.interval.high


def test_the_estimate_stays_a_share() -> None:
    """Fewer yes than the false ones alone would give: 0, not below."""
    assert corrected(10, 1_000, Slice(90, 10, 20, 80)).share == 0.0
    assert corrected(1_000, 1_000, Slice(90, 10, 20, 80)).share == 1.0


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (Slice(5, 5, 5, 5), "no more than 1"),
        (Slice(2, 8, 8, 2), "no more than 1"),
        (Slice(0, 0, 3, 7), "says yes of none"),
        (Slice(3, 7, 0, 0), "says no of none"),
        (Slice(0, 0, 0, 0), "no person"),
    ],
)
def test_what_cannot_be_corrected_is_refused_with_the_reason(of: Slice, words: str) -> None:
    """A labeler that tells nothing, a slice of one answer, or none."""
    found = corrected(300, 1_000, of)
    assert (found.share, found.interval) == (None, None)
    assert found.refused is not None
    assert words in found.refused


def test_the_same_seed_gives_the_same_interval() -> None:
    """And another one nearly the same."""
    of = Slice(45, 5, 10, 40)
    one, same, other = (corrected(300, 1_000, of, seed=seed).interval for seed in (1, 1, 2))
    assert one == same
    assert one is not None
    assert other is not None
    assert abs(one.low - other.low) < 0.05


def test_a_rate_without_an_interval_says_which_share_of_the_resamples_defines_none() -> None:
    """One yes among 52: of resamples (51/52)^52 = 0.364 hold none of a person's yes, and more no hit."""
    found = corrected(6, 52, Slice(1, 0, 5, 46))
    assert found.share == pytest.approx((6 / 52 - 5 / 51) / (46 / 51))
    assert (found.interval, found.refused) == (None, None)
    assert found.unbounded is not None
    told = re.search(
        r"no interval: ([0-9.]+)% of the resamples of a slice of 52 define no rate", found.unbounded
    )
    assert told is not None
    assert float(told[1]) == pytest.approx(36.4, abs=3.5)  # of 2,000 draws: three standard errors
    assert corrected(300, 1_000, Slice(90, 10, 20, 80)).unbounded is None


def test_the_corrected_interval_covers_the_truth() -> None:
    """In 90 % or more of 200 made-up studies (truth 0.2, sensitivity 0.85, specificity 0.9)."""
    draw = random.Random(11)
    held = 0
    for study in range(200):
        truths = [draw.random() < 0.2 for _ in range(2_000)]
        said = [draw.random() < (0.85 if one else 0.1) for one in truths]
        cells = {(a, b): 0 for a in (True, False) for b in (True, False)}
        for at in draw.sample(range(2_000), 200):
            cells[truths[at], said[at]] += 1
        of = Slice(cells[True, True], cells[True, False], cells[False, True], cells[False, False])
        found = corrected(sum(said), 2_000, of, resamples=400, seed=study).interval
        held += found is not None and found.low <= 0.2 <= found.high
    assert held >= 180


def test_self_agreement_by_hand() -> None:
    """Two chunks alike, one 2:1, one read once: 2 of 3 unanimous, pairs (1 + 1 + 1/3) / 3."""
    found = self_agreement([[True, True, True], [False, False, False], [True, True, False], [True]])
    assert (found.n, found.unanimous.count, found.unanimous.n) == (3, 2, 3)
    assert found.pairs == pytest.approx((2 + 1 / 3) / 3)


def test_self_agreement_alpha_is_krippendorffs() -> None:
    """Against the package ``krippendorff`` on made-up readings."""
    import krippendorff
    import numpy as np

    draw = random.Random(3)
    chunks = [[draw.random() < p for _ in range(3)] for p in [0.9] * 20 + [0.2] * 40]
    expected = krippendorff.alpha(reliability_data=np.array(chunks, float).T, level_of_measurement="nominal")
    assert self_agreement(chunks).alpha == pytest.approx(expected)
    assert self_agreement([]).alpha is None
