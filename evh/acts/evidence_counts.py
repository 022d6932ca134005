"""Where a run of the labeler stands: what it took, and what is left."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.acts.evidence_ask import Asked
    from evh.acts.evidence_keep import Keeper
    from evh.acts.evidence_plan import Plan


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; what is counted as done is on the disk.

    Attributes:
        done: contents that are labelled, or failed, in this run; ``of`` those it would ask.
        yes, no, failed: of them.
        calls: requests sent, tries counted; ``calls_per_s`` since the run began.
        tokens: in and out together.
        cost_usd: None where nothing says it.
        left_s: seconds that the rest takes at this pace; None before there is one.
    """

    done: int
    of: int
    yes: int
    no: int
    failed: int
    calls: int
    calls_per_s: float
    tokens: int
    cost_usd: float | None
    left_s: float | None


class Counts:
    """Counts what a run takes, and tells where it stands."""

    def __init__(self, plan: Plan, progress: Callable[[Progress], None] | None) -> None:
        self._plan, self._progress = plan, progress
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self.calls = self.tokens = 0
        self.cost: float | None = None
        self.out_of_calls = False

    @property
    def asks_server(self) -> bool:
        """Whether readings are requests."""
        return self._plan.labeler.asks_server

    def may_send(self) -> bool:
        """Count a try that is about to be sent, where one more may be."""
        most = self._plan.options.max_calls
        with self._lock:
            if most is not None and self.calls >= most:
                self.out_of_calls = True
                return False
            self.calls += 1
            return True

    @property
    def calls_spent(self) -> bool:
        """Whether as many requests are sent as may be."""
        return self._plan.options.max_calls is not None and self.calls >= self._plan.options.max_calls

    def spent(self, keeper: Keeper) -> str | None:
        """Return that requests ran out before everything was asked, or None."""
        left = len(keeper.labels) + len(keeper.failed) < self._plan.n_to_ask
        if self.out_of_calls or (self.calls_spent and left):
            return f"--max-calls {self._plan.options.max_calls}: as many requests are sent"
        return None

    def saw(self, asked: Asked) -> None:
        """Count what a job took."""
        for one in asked.readings:
            self.tokens += (one.tokens_in or 0) + (one.tokens_out or 0)
            if one.cost_usd is not None:
                self.cost = (self.cost or 0.0) + one.cost_usd

    def tell(self, keeper: Keeper) -> None:
        """Tell where the run stands."""
        if self._progress is None:
            return
        taken = max(time.monotonic() - self._began, 1e-9)
        done = keeper.settled
        of = self._plan.n_to_ask
        self._progress(
            Progress(
                done=done,
                of=of,
                yes=keeper.yes,
                no=len(keeper.labels) - keeper.yes,
                failed=len(keeper.failed),
                calls=self.calls,
                calls_per_s=self.calls / taken,
                tokens=self.tokens,
                cost_usd=self.cost,
                left_s=(of - done) * taken / done if done else None,
            )
        )
