"""Rates from labels that are themselves uncertain: how often yes, how good the labeler, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.intervals import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESAMPLES = 2_000
_CONFIDENCE = 0.95
# An interval needs a corrected rate in nearly every resample.
_DEFINED = 0.95


@dataclass(frozen=True, slots=True)
class Rate:
    """A share: ``count`` of ``n``, with Wilson's 95 % interval; share and interval are None when n is 0."""

    count: int
    n: int
    share: float | None
    interval: Interval | None


def rate(count: int, n: int) -> Rate:
    """Return the share count / n. Raises ValueError where it is not 0 <= count <= n."""
    interval = wilson(count, n)
    return Rate(count, n, count / n if n else None, interval)


@dataclass(frozen=True, slots=True)
class Reward:
    """The mean of r_update: +1 for each right decision, −1 for each wrong one; None when n is 0.

    ``interval`` is Wilson's 95 % interval of the share of right decisions p, carried over by 2p − 1.
    """

    n: int
    right: int
    mean: float | None
    interval: Interval | None


def reward(right: int, n: int) -> Reward:
    """Return the mean r_update of n decisions. Source: GRU-Mem (arXiv 2602.10560), r_update."""
    found = rate(right, n)
    if found.share is None or found.interval is None:
        return Reward(n, right, None, None)
    low, high = 2 * found.interval.low - 1, 2 * found.interval.high - 1
    return Reward(n, right, (2 * right - n) / n, Interval(low, high))


@dataclass(frozen=True, slots=True)
class Slice:
    """A random slice that a person labelled, against the labeler: how many of each.

    Attributes:
        hits: both say yes.
        missed: the person says yes, the labeler no.
        false_yes: the person says no, the labeler yes.
        right_no: both say no.
    """

    hits: int
    missed: int
    false_yes: int
    right_no: int

    @property
    def n(self) -> int:
        """How many are in the slice."""
        return self.hits + self.missed + self.false_yes + self.right_no

    @property
    def sensitivity(self) -> Rate:
        """Of what is evidence, the share that the labeler calls so."""
        return rate(self.hits, self.hits + self.missed)

    @property
    def specificity(self) -> Rate:
        """Of what is none, the share that the labeler calls so."""
        return rate(self.right_no, self.right_no + self.false_yes)


@dataclass(frozen=True, slots=True)
class Corrected:
    """The label rate with the labeler's mistakes reckoned out; or ``refused``: why it cannot be.

    Attributes:
        share: the Rogan–Gladen estimate, cut to 0..1.
        interval: by bootstrap; None where too few resamples define it.
        refused: the reason, a sentence's end; None where there is an estimate.
        unbounded: why there is an estimate without an interval, a sentence's end; None where it has one.
    """

    share: float | None
    interval: Interval | None
    refused: str | None
    unbounded: str | None = None


def corrected(yes: int, n: int, of: Slice, *, resamples: int = RESAMPLES, seed: int = 0) -> Corrected:
    """Return the rate of evidence that a label rate and a random slice of a person's labels imply.

    With p the label rate, s the sensitivity and c the specificity it is (p + c − 1) / (s + c − 1), cut to
    0..1. The interval carries both uncertainties: each resample draws the slice anew (a multinomial of its
    four cells) and the labels anew (a binomial); 2.5th to 97.5th percentile. Resamples with s + c ≤ 1 have no
    estimate; where they are over a twentieth, there is no interval. Draws are from MT19937, seeded.
    Source: Rogan & Gladen (1978), "Estimating prevalence from the results of a screening test"; Efron &
    Tibshirani (1993), chapter 13.

    Args:
        yes: how many labels say yes.
        n: how many labels there are.
        of: the slice.
        resamples: how many draws.
        seed: of the draws.

    Raises:
        ValueError: the counts are not 0 <= yes <= n.
    """
    if not 0 <= yes <= n:
        raise ValueError(f"a rate needs 0 <= yes <= n, not {yes} of {n}")
    sensitivity, specificity = of.sensitivity.share, of.specificity.share
    if n == 0:
        return Corrected(None, None, "there are no labels")
    if of.n == 0:
        return Corrected(None, None, "no person has labelled a random slice")
    if sensitivity is None or specificity is None:
        word = "yes" if sensitivity is None else "no"
        return Corrected(
            None, None, f"a person says {word} of none of the {of.n} in the slice, so half of it is unknown"
        )
    excess = sensitivity + specificity - 1
    if of.hits * of.right_no <= of.missed * of.false_yes:  # exactly: s + c <= 1
        return Corrected(
            None,
            None,
            f"sensitivity {sensitivity:.3f} and specificity {specificity:.3f} add up to no more than 1: "
            "the labeler tells nothing about these people's answers",
        )
    share = min(1.0, max(0.0, (yes / n + specificity - 1) / excess))
    found, undefined = _corrected_interval(yes, n, of, resamples, seed)
    if found is not None:
        return Corrected(share, found, None)
    return Corrected(
        share,
        None,
        None,
        f"no interval: {undefined:.1%} of the resamples of a slice of {of.n:,} define no rate, and at most "
        f"{1 - _DEFINED:.0%} may: it takes more of what the slice has few of",
    )


def _corrected_interval(
    yes: int, n: int, of: Slice, resamples: int, seed: int
) -> tuple[Interval | None, float]:
    """Return the interval, None where there is none, and the share of resamples that define no rate."""
    import numpy as np

    draw = np.random.RandomState(np.random.MT19937(seed))  # its streams are frozen
    cells = np.array([of.hits, of.missed, of.false_yes, of.right_no], np.int64)
    drawn = draw.multinomial(of.n, cells / of.n, size=resamples).astype(np.float64)
    rates = draw.binomial(n, yes / n, size=resamples) / n
    hits, missed, false_yes, right_no = drawn.T
    defined = (hits + missed > 0) & (right_no + false_yes > 0) & (hits * right_no > missed * false_yes)
    undefined = 1 - float(defined.mean())
    if defined.sum() < _DEFINED * resamples:
        return None, undefined
    hits, missed, false_yes, right_no = (one[defined] for one in (hits, missed, false_yes, right_no))
    s, c = hits / (hits + missed), right_no / (right_no + false_yes)
    found = np.sort(np.clip((rates[defined] + c - 1) / (s + c - 1), 0.0, 1.0))
    tail = (1 - _CONFIDENCE) / 2
    last = len(found) - 1
    return Interval(float(found[round(tail * last)]), float(found[round((1 - tail) * last)])), undefined


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """How often a labeler says the same of one chunk when it is asked again.

    Attributes:
        n: chunks with two readings or more.
        unanimous: those whose readings all say the same, as a rate.
        pairs: the mean over chunks of the share of pairs of readings that say the same; None when n is 0.
        alpha: Krippendorff's nominal alpha over the readings; None where it is undefined.
    """

    n: int
    unanimous: Rate
    pairs: float | None
    alpha: float | None


def self_agreement(readings: Iterable[Sequence[bool]]) -> SelfAgreement:
    """Return how stable the readings of each chunk are; a chunk with one reading says nothing.

    Args:
        readings: of each chunk, what each reading says.

    Cost: one pass; only counts are kept.
    """
    from evh.measure.alpha import alpha_counts, alpha_from_counts
    from evh.measure.numbers import mean

    several = [tuple(one) for one in readings if len(one) >= 2]
    shares = []
    for one in several:
        yes, of = sum(one), len(one)
        no = of - yes
        shares.append((yes * (yes - 1) + no * (no - 1)) / (of * (of - 1)))
    unanimous = sum(len(set(one)) == 1 for one in several)
    counts = alpha_counts(["yes" if said else "no" for said in one] for one in several)
    return SelfAgreement(len(several), rate(unanimous, len(several)), mean(shares), alpha_from_counts(counts))
