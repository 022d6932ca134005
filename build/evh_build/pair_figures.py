"""The figures of a pair of sets, as every page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evh.acts.labels import Pair
    from evh.measure.intervals import Interval

TWO_ANSWERS = 2
"""Of two answers every weighted kappa is the unweighted one, and is not shown beside it."""


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The figures of a pair, as `evh.measure.agreement` made them, with their intervals.

    ``linear`` and ``quadratic`` are left None where two answers alone make them the unweighted kappa.
    ``several`` tells how many labels of each of the two accept several answers.
    """

    n: int
    same: int
    same_share: float | None
    same_interval: Interval | None
    sharing: int
    kappa: float | None
    kappa_interval: Interval | None
    ac1: float | None
    ac1_interval: Interval | None
    alpha: float | None
    alpha_interval: Interval | None
    linear: float | None
    quadratic: float | None
    masi: float | None
    prevalence: float | None
    bias: float | None
    too_few: bool
    paradox: bool
    settled: int
    several: tuple[int, int]


def figures_of(pair: Pair) -> PairFigures:
    """Return a pair's figures as pages show them."""
    one = pair.agreement
    many = len(one.confusion.categories) > TWO_ANSWERS
    return PairFigures(
        n=one.n,
        same=one.same,
        same_share=one.same_share,
        same_interval=one.same_interval,
        sharing=one.sharing,
        kappa=one.kappa,
        kappa_interval=pair.kappa_interval,
        ac1=one.ac1,
        ac1_interval=pair.ac1_interval,
        alpha=one.alpha,
        alpha_interval=pair.alpha_interval,
        linear=one.kappa_linear if many else None,
        quadratic=one.kappa_quadratic if many else None,
        masi=one.masi,
        prevalence=one.prevalence,
        bias=one.bias,
        too_few=one.too_few,
        paradox=one.paradox,
        settled=one.settled,
        several=one.several,
    )
