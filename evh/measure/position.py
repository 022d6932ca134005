"""What the order in which a judge is shown answers does to its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evh.measure.intervals import Interval

FIRST, SECOND, TIE = "first", "second", "tie"


@dataclass(frozen=True, slots=True)
class BothOrders:
    """What a judge said of one pair: ``first``, ``second`` or ``tie``, by the place in which each was shown.

    Attributes:
        forward: when answer a stood first; None where no verdict could be read.
        backward: when answer b stood first; likewise.
    """

    forward: str | None
    backward: str | None

    @property
    def share(self) -> float | None:
        """Answer a's share of the win: 1, 0, or 0.5; None unless both orders were read.

        Only a verdict that both orders give alike counts: a pair on which they differ is a tie.
        """
        if self.forward is None or self.backward is None:
            return None
        if (self.forward, self.backward) == (FIRST, SECOND):
            return 1.0
        return 0.0 if (self.forward, self.backward) == (SECOND, FIRST) else 0.5

    @property
    def consistent(self) -> bool:
        """Whether both orders were read and mean the same."""
        said = (self.forward, self.backward)
        return said in ((FIRST, SECOND), (SECOND, FIRST), (TIE, TIE))


@dataclass(frozen=True, slots=True)
class PairPosition:
    """How a judge takes the order of a pair. Shares are None where there is nothing to divide by.

    Attributes:
        pairs: pairs of which both orders were read.
        consistent: of these, how many got one verdict in both orders.
        agreement: consistent / pairs, the positional agreement.
        agreement_interval: Wilson's 95 % interval of it.
        always_first: pairs on which the answer shown first won both times.
        always_second: pairs on which the one shown second won both times.
        half_tied: pairs that were a tie in one order alone.
        firsts: verdicts, of both orders together, for the answer shown first.
        seconds: for the one shown second.
        ties: for neither.
        first_share: firsts / (firsts + seconds); a judge whom the order does not move gives 0.5, for every
            answer stands first as often as second.
        first_interval: Wilson's 95 % interval of it.
        unread: pairs of which one order, or both, gave no verdict.
    """

    pairs: int
    consistent: int
    agreement: float | None
    agreement_interval: Interval | None
    always_first: int
    always_second: int
    half_tied: int
    firsts: int
    seconds: int
    ties: int
    first_share: float | None
    first_interval: Interval | None
    unread: int


def pair_position(asked: Iterable[BothOrders]) -> PairPosition:
    """Return how a judge takes the order of pairs; counted over pairs that were read in both orders.

    Source: Wang et al. (2023), "Large language models are not fair evaluators"; the positional agreement is
    that of Zeng et al. (2024), "Evaluating large language models at evaluating instruction following".

    Cost: one pass.
    """
    held = list(asked)
    read = [one for one in held if one.forward is not None and one.backward is not None]
    n, same = len(read), sum(one.consistent for one in read)
    said = [verdict for one in read for verdict in (one.forward, one.backward)]
    firsts, seconds, ties = (said.count(word) for word in (FIRST, SECOND, TIE))
    decided = firsts + seconds
    return PairPosition(
        pairs=n,
        consistent=same,
        agreement=same / n if n else None,
        agreement_interval=wilson(same, n),
        always_first=sum((one.forward, one.backward) == (FIRST, FIRST) for one in read),
        always_second=sum((one.forward, one.backward) == (SECOND, SECOND) for one in read),
        half_tied=sum((one.forward == TIE) != (one.backward == TIE) for one in read),
        firsts=firsts,
        seconds=seconds,
        ties=ties,
        first_share=firsts / decided if decided else None,
        first_interval=wilson(firsts, decided),
        unread=len(held) - n,
    )


@dataclass(frozen=True, slots=True)
class Place:
    """One place in which an answer can be shown, over picks that had such a place.

    Attributes:
        place: from 1.
        shown: picks that showed an answer there.
        picked: the wins that it got; a shared win counts its part.
        share: picked / shown.
        expected: the mean of 1 / answers shown: what a judge whom the order does not move gives.
    """

    place: int
    shown: int
    picked: float
    share: float
    expected: float


def pick_places(picks: Iterable[tuple[tuple[int, ...], int]]) -> tuple[Place, ...]:
    """Return how often each place was picked.

    Args:
        picks: for each verdict the places that won, from 0, and how many answers were shown.
    """
    held = list(picks)
    made = []
    for place in range(max((k for _, k in held), default=0)):
        here = [(won, k) for won, k in held if k > place]
        picked = sum(1 / len(won) for won, _ in here if place in won)
        expected = sum(1 / k for _, k in here) / len(here)
        made.append(Place(place + 1, len(here), picked, picked / len(here), expected))
    return tuple(made)
