"""McNemar and corrections, beside statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests

from evh.measure.significance import bonferroni, holm, mcnemar


@pytest.mark.parametrize(
    ("only_first", "only_second"), [(0, 0), (0, 5), (3, 9), (10, 10), (500, 430), (40_000, 41_000)]
)
def test_mcnemar_is_statsmodels(only_first: int, only_second: int) -> None:
    """The exact p, small and large."""
    theirs = their_mcnemar([[0, only_first], [only_second, 0]], exact=True).pvalue
    assert mcnemar(only_first, only_second) == pytest.approx(theirs, rel=1e-9)


def test_mcnemar_by_hand() -> None:
    """Five to nothing: 2 / 2⁵."""
    assert mcnemar(5, 0) == pytest.approx(0.0625, abs=1e-15)
    with pytest.raises(ValueError, match="0 or more"):
        mcnemar(-1, 2)


def test_a_tiny_p_does_not_vanish() -> None:
    """A thousand to nothing is 2 / 2¹⁰⁰⁰, as scipy's binomial test says."""
    assert mcnemar(1_000, 0) == pytest.approx(binomtest(0, 1_000).pvalue, rel=1e-9)


def test_holm_is_statsmodels() -> None:
    """Holm's corrected values of many p, in any order and with ties."""
    ps = np.random.default_rng(1).random(30).round(2) / 10
    assert holm(list(ps)) == pytest.approx(multipletests(ps, method="holm")[1].tolist(), abs=1e-12)
    assert holm([]) == []


def test_holm_of_the_usual_example() -> None:
    """0.01, 0.04, 0.03, 0.005 of four become 0.03, 0.06, 0.06, 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bonferroni() -> None:
    """Times the number of comparisons, at most 1; one comparison is not corrected."""
    assert bonferroni(0.01, 4) == 0.04
    assert bonferroni(0.4, 3) == 1.0
    assert bonferroni(0.02, 0) == 0.02
