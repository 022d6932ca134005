"""How many requests to have in flight: found out from how the server takes them."""

from __future__ import annotations

from statistics import median

LEAST = 4
MOST = 64
_CUT = 0.8
_GROWTH = 1.05
_SLOW = 2.0


class Pace:
    """A limit on requests in flight that follows the server.

    Many servers never say that they are overloaded; they answer later. So the limit doubles with each round
    of answers until something gives, then grows by a twentieth a round. A round that was throttled (429 or a
    timeout), or whose median time is over twice the best round's, cuts it to four fifths.
    Source: the slow start and congestion avoidance of TCP (RFC 5681), with latency as the signal of
    congestion as in TCP Vegas (Brakmo & Peterson 1995).

    Args:
        fixed: a limit that never moves; None to adapt between ``least`` and ``most``.
        least: the limit to begin with, and the lowest.
        most: the highest.
    """

    def __init__(self, fixed: int | None = None, *, least: int = LEAST, most: int = MOST) -> None:
        self._fixed = fixed
        self._least, self._most = float(least), float(most)
        self._limit = float(fixed or least)
        self._starting = True
        self._best: float | None = None
        self._round: list[float] = []
        self._seen = 0
        self._throttled = False

    @property
    def limit(self) -> int:
        """How many requests may be in flight now."""
        return int(self._limit)

    @property
    def most(self) -> int:
        """How many there can ever be."""
        return self._fixed or int(self._most)

    def took(self, latency_ms: float) -> bool:
        """Note an answer and its time; tell whether the limit moved."""
        self._round.append(latency_ms)
        return self._saw()

    def throttled(self) -> bool:
        """Note a request that the server turned away or let time out; tell whether the limit moved.

        However many of one round are turned away, they cut the limit once.
        """
        self._throttled = True
        return self._saw()

    def _saw(self) -> bool:
        self._seen += 1
        if self._seen < self.limit:
            return False
        before = self.limit
        if self._fixed is None:
            self._move(median(self._round) if self._round else None)
        self._round.clear()
        self._seen, self._throttled = 0, False
        return self.limit != before

    def _move(self, middle: float | None) -> None:
        slow = middle is not None and self._best is not None and middle > _SLOW * self._best
        if self._throttled or slow:
            self._limit, self._starting = max(self._least, self._limit * _CUT), False
        elif self._starting:
            self._limit = min(self._most, self._limit * 2)
        else:
            self._limit = min(self._most, max(self._limit * _GROWTH, self._limit + 1))
        if middle is not None and not self._throttled:
            self._best = middle if self._best is None else min(self._best, middle)
