"""Several verdicts on one question: what they come to together, and how far they part."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from evh.measure.agreement import alpha_nominal
from evh.measure.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evh.measure.intervals import Interval

TIED = "tie"
"""The vote of a judge that gives several answers the same, best share."""


def mean_shares(given: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return each answer's mean share over several verdicts (answer → share of the win, 0..1)."""
    names = dict.fromkeys(name for one in given for name in one)
    return {name: math.fsum(one.get(name, 0.0) for one in given) / len(given) for name in names}


def voted(shares: Mapping[str, float]) -> dict[str, float]:
    """Return one vote: 1 for the answer with the largest share; several largest ones divide it."""
    top = max(shares.values())
    best = [name for name, share in shares.items() if math.isclose(share, top, abs_tol=1e-12)]
    return {name: 1 / len(best) if name in best else 0.0 for name in shares}


def combined(by_judge: Sequence[Sequence[Mapping[str, float]]], *, majority: bool) -> dict[str, float] | None:
    """Return what several judges, each asked once or more, come to on one question; None without a verdict.

    Args:
        by_judge: for each judge its verdicts (answer → share of the win); a judge without one has no say.
        majority: each judge has one vote for its own mean's best answer, and the most votes win; else the
            judges' means are averaged.
    """
    means = [mean_shares(one) for one in by_judge if one]
    if not means:
        return None
    return voted(mean_shares([voted(one) for one in means])) if majority else mean_shares(means)


def vote_of(given: Sequence[Mapping[str, float]]) -> str | None:
    """Return a judge's vote on one question as a word: the answer, or `TIED`; None without a verdict."""
    if not given:
        return None
    best = [name for name, share in voted(mean_shares(given)).items() if share]
    return best[0] if len(best) == 1 else TIED


@dataclass(frozen=True, slots=True)
class Noise:
    """How a judge differs from itself when it is asked the very same again.

    Attributes:
        questions: those that were answered twice or more.
        changed: of these, how many got different verdicts.
        share: changed / questions; None without such a question.
        interval: Wilson's 95 % interval of it.
        sd: of grades, the standard deviation within a question, pooled; None elsewhere.
    """

    questions: int
    changed: int
    share: float | None
    interval: Interval | None
    sd: float | None = None


def noise(asked: Iterable[Sequence[object]], *, graded: bool = False) -> Noise:
    """Return a judge's own noise.

    Args:
        asked: for each question the verdicts that it got, in any form that can be compared; grades are
            numbers.
        graded: the verdicts are grades: the pooled standard deviation, √(Σ squares / Σ (n − 1)), is given.
    """
    held = [list(one) for one in asked if len(one) > 1]
    changed = sum(any(verdict != one[0] for verdict in one) for one in held)
    sd = None
    if graded and held:
        squares = 0.0
        for one in held:
            grades = [float(str(grade)) for grade in one]
            middle = math.fsum(grades) / len(grades)
            squares += math.fsum((grade - middle) ** 2 for grade in grades)
        sd = math.sqrt(squares / sum(len(one) - 1 for one in held))
    return Noise(len(held), changed, changed / len(held) if held else None, wilson(changed, len(held)), sd)


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges on the questions that both answered: how often they vote alike."""

    one: str
    other: str
    n: int
    same: int
    share: float | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How far judges part.

    Attributes:
        questions: those that two judges or more answered.
        split: of these, how many got different votes.
        share: split / questions; None without such a question.
        alpha: Krippendorff's nominal alpha of the votes; None where it is undefined.
        pairs: every two judges.
    """

    questions: int
    split: int
    share: float | None
    alpha: float | None
    pairs: tuple[JudgePair, ...]


def disagreement(votes: Mapping[str, Sequence[str | None]]) -> Disagreement:
    """Return how far judges part.

    Args:
        votes: judge → its vote on each question, in one order; None where it gave none.

    Raises:
        ValueError: the judges were not asked equally many questions.
    """
    columns = [[vote for vote in column if vote is not None] for column in zip(*votes.values(), strict=True)]
    both = [column for column in columns if len(column) > 1]
    split = sum(len(Counter(column)) > 1 for column in both)
    pairs = []
    for one, other in combinations(votes, 2):
        shared = [
            (a, b) for a, b in zip(votes[one], votes[other], strict=True) if a is not None and b is not None
        ]
        same = sum(a == b for a, b in shared)
        pairs.append(JudgePair(one, other, len(shared), same, same / len(shared) if shared else None))
    return Disagreement(
        questions=len(both),
        split=split,
        share=split / len(both) if both else None,
        alpha=alpha_nominal(list(votes.values())) if len(votes) > 1 else None,
        pairs=tuple(pairs),
    )
