"""A cap on what a run may cost, and where a run stands."""

from __future__ import annotations

import threading
from dataclasses import dataclass


class Budget:
    """Says whether another item may be asked: what is in flight is reckoned at the mean cost so far.

    Used from several threads at once.

    Args:
        cap: US dollars, or None: no cap.

    Attributes:
        spent: US dollars, as far as costs are known.
    """

    def __init__(self, cap: float | None) -> None:
        self.cap = cap
        self.spent = 0.0
        self._n = 0
        self._in_flight = 0
        self._reached = self._unpriced = False
        self._lock = threading.Lock()

    @property
    def stopped(self) -> str | None:
        """Why no further item may be asked, or None."""
        if self._unpriced:
            return (
                f"--max-cost {self.cap:g}: nothing says what an answer costs: neither the answer itself nor "
                "usd_per_mtok_in and usd_per_mtok_out in the config or its model record"
            )
        if self._reached:
            said = f"{self.spent:.6g} USD are spent, and one more at {self._mean:.6g} USD would pass it"
            return f"--max-cost {self.cap:g}: {said}"
        return None

    @property
    def unknown(self) -> bool:
        """Whether there is a cap, and no answer has told yet what an answer costs."""
        return self.cap is not None and self._n == 0 and self.stopped is None

    @property
    def _mean(self) -> float:
        return self.spent / self._n if self._n else 0.0

    def had(self, costs: list[float]) -> None:
        """Count what an earlier attempt at the run has cost."""
        with self._lock:
            self.spent += sum(costs)
            self._n += len(costs)

    def begin(self) -> bool:
        """Tell whether one more may be asked, and count it as in flight where it may."""
        with self._lock:
            if self.cap is not None:
                reckoned = self.spent + (self._in_flight + 1) * self._mean
                self._reached = self._reached or reckoned > self.cap or self.spent >= self.cap
            if self._reached or self._unpriced:
                return False
            self._in_flight += 1
            return True

    def ended(self, cost: float | None, *, answered: bool) -> None:
        """Count what one cost. An answer of unknown cost counts as the mean; under a cap the first stops."""
        with self._lock:
            self._in_flight -= 1
            if cost is None and answered and self.cap is not None:
                self._unpriced = self._n == 0
                cost = self._mean
            if cost is not None and not self._unpriced:
                self.spent += cost
                self._n += 1


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands.

    Attributes:
        done: items that are answered or have failed for good, on the disk.
        of: items.
        failed: those of this attempt without an answer.
        per_s: answers a second, since this attempt began.
        tokens: in and out together, in this attempt.
        cost_usd: of the run so far; None where it is not known.
        left_s: seconds that the rest takes at this pace; None before there is one.
    """

    done: int
    of: int
    failed: int = 0
    per_s: float = 0.0
    tokens: int = 0
    cost_usd: float | None = None
    left_s: float | None = None
