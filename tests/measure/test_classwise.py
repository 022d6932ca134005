"""Balanced accuracy and macro-F1: figures beside scikit-learn, intervals and p beside exact enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, f1_score

from evh.measure.classwise import BALANCED_ACCURACY, MACRO_F1, ClassTests, class_tests, code

NAMES = ["a", "b", "c"]


def decided(labels: list[str], right: float, draw: np.random.Generator) -> list[str]:
    """Return decisions that are the label with that chance, else any class."""
    return [one if draw.random() < right else str(draw.choice(NAMES)) for one in labels]


def field(n: int, chances: list[float], seed: int) -> tuple[list[str], list[list[str]]]:
    """Return labels of three classes of unequal sizes, and decisions of one arm a chance."""
    draw = np.random.default_rng(seed)
    labels = [str(draw.choice(NAMES, p=[0.6, 0.3, 0.1])) for _ in range(n)]
    return labels, [decided(labels, chance, draw) for chance in chances]


def compared(
    labels: list[str], said: Sequence[Sequence[str | None]], figure: str, **more: object
) -> ClassTests:
    """Return the tests of arms that decided every item."""
    return class_tests(code(labels, said), figure, **more)  # type: ignore[arg-type]


def test_the_figures_are_scikit_learns() -> None:
    """Balanced accuracy and macro-F1 of five arms, to twelve digits."""
    labels, arms = field(300, [0.9, 0.7, 0.5, 0.3, 0.0], 1)
    one = compared(labels, arms, BALANCED_ACCURACY, resamples=10).value
    two = compared(labels, arms, MACRO_F1, resamples=10).value
    for at, said in enumerate(arms):
        assert one[at] == pytest.approx(balanced_accuracy_score(labels, said), abs=1e-12)
        assert two[at] == pytest.approx(f1_score(labels, said, average="macro"), abs=1e-12)


def test_an_answer_against_all_the_rest() -> None:
    """With a positive answer it is scikit-learn's figure of two classes; a label with both is left out."""
    labels = ["a", "b", "c", "a", '{"accept": ["a", "b"]}', "b"]
    said = ["a", "c", "c", "b", "a", "a"]
    coded = code(labels, [said], positive="a")
    found = class_tests(coded, BALANCED_ACCURACY, resamples=10).value[0]
    kept = [0, 1, 2, 3, 5]
    theirs = balanced_accuracy_score([labels[at] == "a" for at in kept], [said[at] == "a" for at in kept])
    assert coded.kept == tuple(kept)
    assert found == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("figure", [BALANCED_ACCURACY, MACRO_F1])
def test_the_interval_is_that_of_a_plain_loop(figure: str) -> None:
    """2,000 resamples drawn within class one by one, scored by scikit-learn: the ends are near."""
    labels, arms = field(150, [0.8, 0.6], 2)
    found = compared(labels, arms, figure)
    draw = np.random.default_rng(9)
    places = [np.flatnonzero(np.array(labels) == name) for name in NAMES]
    truth, said = np.array(labels), np.array(arms)
    drawn = []
    for _ in range(2_000):
        at = np.concatenate([draw.choice(one, len(one)) for one in places])
        values = [
            balanced_accuracy_score(truth[at], one[at])
            if figure == BALANCED_ACCURACY
            else f1_score(truth[at], one[at], average="macro")
            for one in said
        ]
        drawn.append([*values, values[0] - values[1]])
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    assert [*found.low, found.pair_low[0]] == pytest.approx(low.tolist(), abs=0.01)
    assert [*found.high, found.pair_high[0]] == pytest.approx(high.tolist(), abs=0.01)
    assert found.error[0] == pytest.approx(np.std(drawn, axis=0)[2], rel=0.06)


def test_the_spread_is_that_of_every_resample() -> None:
    """Two classes of three items: all 27 × 27 resamples give the standard error of 20,000."""
    labels = ["a"] * 3 + ["b"] * 3
    one, two = ["a", "a", "b", "b", "b", "a"], ["a", "b", "b", "b", "a", "b"]
    hits = np.array([[x == y for x, y in zip(said, labels, strict=True)] for said in (one, two)], float)
    apart = hits[0] - hits[1]
    every = [
        (sum(apart[at] for at in first) + sum(apart[at] for at in second)) / 6
        for first in product(range(3), repeat=3)
        for second in product(range(3, 6), repeat=3)
    ]
    found = compared(labels, [one, two], BALANCED_ACCURACY, resamples=20_000)
    assert found.difference[0] == pytest.approx(apart.sum() / 6)
    assert found.error[0] == pytest.approx(np.std(every), rel=0.02)
    assert np.isnan(found.p[0])  # three items a class: a draw within them says too little


def test_p_is_that_of_the_multinomial() -> None:
    """One class of 20: 8 items only the first has right, 2 only the second. P(as many or more) is exact."""
    labels = ["a"] * 20 + ["b"] * 20
    one = ["a"] * 18 + ["b"] * 2 + ["b"] * 20
    two = ["b"] * 8 + ["a"] * 12 + ["b"] * 20
    below = sum(
        stats.multinomial.pmf([x, y, 20 - x - y], 20, [0.4, 0.1, 0.5])
        for x in range(21)
        for y in range(21 - x)
        if x <= y
    )
    found = compared(labels, [one, two], BALANCED_ACCURACY, resamples=40_000)
    assert found.difference[0] == pytest.approx(0.15)
    assert found.p[0] == pytest.approx(2 * below, abs=4 * (2 * below / 40_000) ** 0.5)


def test_arms_that_decide_alike_are_not_told_apart() -> None:
    """p is 1 and the difference 0."""
    labels, arms = field(60, [0.7], 3)
    found = compared(labels, [arms[0], arms[0]], MACRO_F1, resamples=200)
    assert (found.p[0], found.difference[0]) == (1.0, 0.0) or np.isnan(found.p[0])
    big = ["a"] * 30 + ["b"] * 30
    assert compared(big, [big, big], MACRO_F1, resamples=200).p[0] == 1.0


def test_a_pair_is_compared_on_what_both_were_scored_on() -> None:
    """An arm without half of the items is compared as if the other half were all there is."""
    labels, arms = field(200, [0.8, 0.6], 4)
    half: list[str | None] = [one if at % 2 else None for at, one in enumerate(arms[1])]
    found = class_tests(code(labels, [arms[0], half]), BALANCED_ACCURACY, resamples=500)
    some = slice(1, None, 2)
    alone = compared(labels[some], [arms[0][some], arms[1][some]], BALANCED_ACCURACY, resamples=500)
    assert found.n[0] == 100
    assert found.difference[0] == pytest.approx(alone.difference[0])
    assert found.pair_low[0] == pytest.approx(alone.pair_low[0])
    assert found.value[0] == pytest.approx(balanced_accuracy_score(labels, arms[0]))


def test_an_arm_of_several_runs_has_their_mean() -> None:
    """Two runs of one arm: the mean of their figures, and an interval narrower than that of one."""
    labels, arms = field(300, [0.7, 0.7, 0.5], 5)
    found = compared(labels, arms, BALANCED_ACCURACY, arms=[0, 0, 1])
    one = [balanced_accuracy_score(labels, said) for said in arms]
    assert found.value == pytest.approx([(one[0] + one[1]) / 2, one[2]])
    alone = compared(labels, [arms[0]], BALANCED_ACCURACY)
    assert found.high[0] - found.low[0] < alone.high[0] - alone.low[0]


def test_clusters_are_drawn_whole() -> None:
    """Items that come in fives of one fate: the interval is more than twice as wide as if they were alone."""
    draw = np.random.default_rng(6)
    labels, said = [], []
    for _ in range(60):
        label = str(draw.choice(["a", "b"]))
        labels += [label] * 5
        said += [label if draw.random() < 0.7 else "x"] * 5
    groups = np.repeat(np.arange(60), 5)
    whole = compared(labels, [said], BALANCED_ACCURACY, groups=groups)
    loose = compared(labels, [said], BALANCED_ACCURACY)
    assert (whole.high[0] - whole.low[0]) / (loose.high[0] - loose.low[0]) == pytest.approx(5**0.5, rel=0.2)


@pytest.mark.parametrize("figure", [BALANCED_ACCURACY, MACRO_F1])
def test_the_interval_covers_and_the_test_keeps_its_level(figure: str) -> None:
    """300 fields of two equal arms: 0 lies in 95 % of the intervals, and p is below 0.05 in at most 5 %."""
    fields, covered, found = 300, 0, 0
    for seed in range(fields):
        labels, arms = field(200, [0.7, 0.7], 100 + seed)
        made = compared(labels, arms, figure, resamples=500, seed=seed)
        covered += made.pair_low[0] <= 0 <= made.pair_high[0]
        found += made.p[0] < 0.05
    noise = 3 * (0.05 * 0.95 / fields) ** 0.5
    assert covered / fields == pytest.approx(0.95, abs=noise)
    assert found / fields <= 0.05 + noise


def test_an_arms_interval_is_its_own() -> None:
    """Beside no, one or two other arms, scored on all or on some items, the same ends to the last digit."""
    labels = ["a"] * 30 + ["b"] * 20 + ["c"] * 12
    right = [text if at % 4 else "c" for at, text in enumerate(labels)]
    poor = [text if at % 3 else "a" for at, text in enumerate(labels)]
    half = [text if at % 2 else None for at, text in enumerate(labels)]
    for figure in (BALANCED_ACCURACY, MACRO_F1):
        alone = compared(labels, [right], figure)
        pair = compared(labels, [right, poor], figure)
        third = compared(labels, [half, right, poor], figure)
        assert alone.low[0] == pair.low[0] == third.low[1]
        assert alone.high[0] == pair.high[0] == third.high[1]
        both = pair.pair_low[0], pair.pair_high[0], pair.p[0], pair.error[0]
        assert both == (third.pair_low[2], third.pair_high[2], third.p[2], third.error[2])


def test_items_that_no_run_decided_are_left_out() -> None:
    """Their class keeps its place, and counts for no size."""
    labels = ["a", "a", "b", "c"]
    found = code(labels, [["a", None, None, "b"], [None, None, None, "c"]]).decided()
    assert (found.kept, found.sizes, found.truth.tolist()) == ((0, 3), (1, 1), [0, 2])
    assert found.guess.tolist() == [[0, -2], [1, 2]]
