"""What the tests and intervals promise, held against simulated fields: ``make proofs`` runs it at full size.

With no true difference an arm leads alone in at most 5 % of fields; an interval covers what it is of in 93 to
97 %; a difference of the size that the power figures name is found in 75 to 85 %, for they rest on a normal
approximation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evh.measure.bootstrap import mean_intervals
from evh.measure.classwise import BALANCED_ACCURACY, MACRO_F1, class_tests, code
from evh.measure.flips import sign_flip_tests
from evh.measure.power import describe, smallest_difference
from tests.measure.leading import share_of_sole_leaders

FIELDS = 2_000
ALPHA = 0.05
COVERS = (0.93, 0.97)
POWER = (0.75, 0.85)


@dataclass(frozen=True)
class Promise:
    """One promise: what was simulated, in which share of how many fields, and between what it must lie."""

    name: str
    fields: int
    share: float
    low: float
    high: float
    seconds: float

    @property
    def kept(self) -> bool:
        """Whether the share is where it must be."""
        return self.low <= self.share <= self.high


def promises(fields: int = FIELDS) -> Iterator[Promise]:
    """Give each promise as it was simulated."""
    for arms in (3, 10, 30):
        for kind in ("binary", "continuous", "ties"):
            yield _timed(
                f"{arms} equal arms, {kind}: one leads alone",
                fields,
                lambda arms=arms, kind=kind: share_of_sole_leaders(arms, kind, fields=fields),  # type: ignore[misc]
                (0.0, ALPHA),
            )
    for kind in ("binary", "continuous", "clustered"):
        yield _timed(
            f"the interval of a mean, {kind}: it covers",
            fields,
            lambda kind=kind: _covered(kind, fields),  # type: ignore[misc]
            COVERS,
        )
    for figure in (BALANCED_ACCURACY, MACRO_F1):
        yield _timed(
            f"the interval of a difference of {figure}: it covers",
            fields,
            lambda figure=figure: _covered_by_class(figure, fields),  # type: ignore[misc]
            COVERS,
        )
    yield _timed("the smallest difference: it is found", fields, lambda: _found(fields), POWER)


def _timed(name: str, fields: int, simulate: Callable[[], float], between: tuple[float, float]) -> Promise:
    begun = time.monotonic()
    share = simulate()
    return Promise(name, fields, float(share), *between, time.monotonic() - begun)


def _covered(kind: str, fields: int, items: int = 200) -> float:
    draw = np.random.default_rng(21)
    covered = 0
    for field in range(fields):
        groups = None
        if kind == "binary":
            scores, truth = (draw.random((items, 1)) < 0.7).astype(float), 0.7
        elif kind == "continuous":
            scores, truth = draw.normal(0.4, 1.0, (items, 1)).round(3), 0.4
        else:
            groups = np.repeat(np.arange(items // 4), 4)
            fate = draw.normal(0.4, 1.0, items // 4)[groups]
            scores, truth = (fate + draw.normal(0, 0.3, items))[:, None].round(3), 0.4
        found = mean_intervals(scores, resamples=1_000, seed=field, groups=groups)
        covered += found.low[0] <= truth <= found.high[0]
    return covered / fields


def _covered_by_class(figure: str, fields: int, items: int = 300) -> float:
    """Return how often the interval of the difference of two equal arms holds 0."""
    draw = np.random.default_rng(22)
    names = ["a", "b", "c"]
    covered = 0
    for field in range(fields):
        labels = draw.choice(names, items, p=[0.5, 0.3, 0.2])
        arms = [np.where(draw.random(items) < 0.7, labels, draw.choice(names, items)) for _ in range(2)]
        coded = code(labels.tolist(), [one.tolist() for one in arms])
        found = class_tests(coded, figure, resamples=500, seed=field)
        covered += found.pair_low[0] <= 0 <= found.pair_high[0]
    return covered / fields


def _found(fields: int, items: int = 200) -> float:
    """Return how often the sign-flip test finds a difference of the size that is named for so many items."""
    least = smallest_difference(describe([1.0] * 80 + [-1.0] * 80 + [0.0] * 240), items)
    assert least is not None
    draw = np.random.default_rng(23)
    found = 0
    for field in range(fields):
        apart = draw.choice([1.0, -1.0, 0.0], items, p=[0.2 + least / 2, 0.2 - least / 2, 0.6])
        tested = sign_flip_tests(np.column_stack([apart, np.zeros(items)]), flips=1_000, seed=field)
        found += tested.p[0] <= ALPHA
    return found / fields
