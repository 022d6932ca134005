"""The paired tests and intervals of a table of scores, whatever kind its metric is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts.field_model import BY_CLASSES, BY_FLIPS
from evh.measure import classwise, power
from evh.measure.verdicts import Paired
from evh.project.memory import Same

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evh.acts.field_table import ClassScores, Table
    from evh.acts.sources import Sources


@dataclass(frozen=True, slots=True)
class Pair:
    """The paired test of two columns.

    Attributes:
        n: items that both have.
        nonzero: of those items (or clusters), how many differ; 0 for a run-level figure.
        difference, low, high: first minus second, and the ends of its 95 % interval.
        p: two-sided, as it is; None where none can be made.
        counted: all sign patterns were counted, none drawn.
        error: the difference's standard error, for a run-level figure.
    """

    n: int = 0
    nonzero: int = 0
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    counted: bool = False
    error: float | None = None

    def turned(self) -> Pair:
        """Return the same test with the other sign."""
        flip = [None if one is None else -one for one in (self.difference, self.high, self.low)]
        return replace(self, difference=flip[0], low=flip[1], high=flip[2])


@dataclass(frozen=True, slots=True)
class Tests:
    """The intervals of a table's columns and the tests of every two of them, the first before the second.

    ``method`` is `BY_FLIPS`, `BY_CLASSES`, or empty where no test can be made.
    """

    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    pairs: dict[tuple[int, int], Pair]
    method: str

    def pair(self, a: int, b: int) -> Pair:
        """Return the test of two columns, column ``a`` minus column ``b``."""
        if (a, b) in self.pairs:
            return self.pairs[a, b]
        return self.pairs[b, a].turned() if (b, a) in self.pairs else Pair()

    def paired(self, a: int, b: int) -> Paired:
        """Return what a verdict needs of the test of two columns."""
        found = self.pair(a, b)
        return Paired(found.p, found.difference)


def run(table: Table, *, resamples: int, seed: int) -> Tests:
    """Return the intervals and tests of a table; see `sign_flip_tests`, `mean_intervals`, `class_tests`.

    Args:
        table: from `field_table.read`.
        resamples: how often items are drawn for an interval.
        seed: of the draws.
    """
    if table.classes is not None:
        return _by_classes(table, table.classes, resamples=resamples, seed=seed)
    if any(one.scores for one in table.columns):
        return _by_items(table, resamples=resamples, seed=seed)
    nothing = (None,) * len(table.columns)
    return Tests(nothing, nothing, {}, "")


def of(sources: Sources, table: Table, *, metric: str) -> Tests:
    """Return the intervals and tests of a table, as the settings say; those of the same table are made once.

    Args:
        sources: the project's records.
        table: from `field_table.read`.
        metric: what it is of.
    """
    settings = sources.project.settings
    key = ("tests", metric, tuple((one.arm.name, one.run.key) for one in table.columns))
    return sources.memory.kept(
        key, (), lambda: run(table, resamples=settings.resamples, seed=settings.seed),
        _made_of(table), settings.resamples, settings.seed,
    )  # fmt: skip


def _made_of(table: Table) -> object:
    """Return what a table's tests are made of, to be compared: of classes the numbers, else the table itself.

    Balanced accuracy and macro-F1 are drawn from the classes alone, and drawing is what takes long.
    """
    held = table.classes
    if held is None:
        return Same(table)
    coded = held.coded
    classes = (coded.truth.tobytes(), coded.guess.tobytes(), coded.guess.shape, coded.kept)
    return (*classes, held.figure, held.owner, held.items, table.clusters and (table.items, table.clusters))


def differences(table: Table, a: int, b: int) -> dict[str, float]:
    """Return first minus second on each item that both columns have, in the dataset's order."""
    one, two = table.columns[a].scores, table.columns[b].scores
    return {item: one[item] - two[item] for item in table.items if item in one and item in two}


def smallest(table: Table, found: Tests, a: int, b: int, *, alpha: float) -> float | None:
    """Return the smallest difference that the items of two columns would show at 80 % power, or None.

    Args:
        table: the table.
        found: its tests.
        a, b: the two columns.
        alpha: the level that is tested at, after any correction.
    """
    if table.classes is not None:
        error = found.pair(a, b).error
        return None if error is None else power.smallest_shift(error, alpha=alpha)
    apart = differences(table, a, b)
    if table.clusters is None:
        return power.smallest_difference(power.describe(list(apart.values())), len(apart), alpha=alpha)
    cluster = dict(zip(table.items, table.clusters, strict=True))
    sums: dict[int, list[float]] = {}
    for item, value in apart.items():
        sums.setdefault(cluster[item], []).append(value)
    seen = power.describe([math.fsum(values) for values in sums.values()])
    least = power.smallest_difference(seen, seen.n, alpha=alpha)
    return None if least is None else least * seen.n / len(apart)


def _by_items(table: Table, *, resamples: int, seed: int) -> Tests:
    import numpy as np

    from evh.measure import flips
    from evh.measure.bootstrap import mean_intervals

    nan = float("nan")
    scores = np.array([[one.scores.get(item, nan) for one in table.columns] for item in table.items])
    groups = _codes(table.clusters)
    blocks = groups
    if groups is None and len(table.items) > flips.BLOCKS:
        blocks = flips.hashed_blocks(list(table.items))
    found = flips.sign_flip_tests(scores, seed=seed, groups=blocks)
    ends = mean_intervals(scores, resamples=resamples, seed=seed, groups=groups)
    pairs = {
        (int(a), int(b)): Pair(
            n=int(found.n[at]),
            nonzero=int(found.nonzero[at]),
            difference=_known(found.difference[at]),
            low=_known(ends.pair_low[at]),
            high=_known(ends.pair_high[at]),
            p=_known(found.p[at]),
            counted=bool(found.counted[at]),
        )
        for at, (a, b) in enumerate(zip(found.first, found.second, strict=True))
    }
    return Tests(tuple(map(_known, ends.low)), tuple(map(_known, ends.high)), pairs, BY_FLIPS)


def _by_classes(table: Table, held: ClassScores, *, resamples: int, seed: int) -> Tests:
    groups = None
    if table.clusters is not None:
        cluster = dict(zip(table.items, table.clusters, strict=True))
        groups = _codes(tuple(cluster[item] for item in held.items))
    found = classwise.class_tests(
        held.coded, held.figure, arms=held.owner, resamples=resamples, seed=seed, groups=groups
    )
    pairs = {
        (int(a), int(b)): Pair(
            n=int(found.n[at]),
            difference=_known(found.difference[at]),
            low=_known(found.pair_low[at]),
            high=_known(found.pair_high[at]),
            p=_known(found.p[at]),
            error=_known(found.error[at]),
        )
        for at, (a, b) in enumerate(zip(found.first, found.second, strict=True))
    }
    return Tests(tuple(map(_known, found.low)), tuple(map(_known, found.high)), pairs, BY_CLASSES)


def _codes(clusters: tuple[int, ...] | None) -> NDArray[np.intp] | None:
    if clusters is None:
        return None
    import numpy as np

    return np.array(clusters, np.intp)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
