"""What is asked again, after how long, and when a whole run stops."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from evh.llm.reply import Failure

TRIES = 6
"""How often one request is sent, at most."""
WITHIN_S = 600.0
"""No further try begins after this many seconds."""
MOST_WAIT_S = 120.0
"""The longest that a server's ``Retry-After`` is obeyed."""
_FIRST_WAIT_S = 0.5
_LONGEST_BACKOFF_S = 30.0
_AGAIN = frozenset({408, 409, 429})
# How servers say that a prompt does not fit: the wordings of vLLM's four forms, of llama.cpp, TGI, OpenAI and
# Anthropic. Each names the context or the prompt's length; a quota error names neither.
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|maximum model length|max_model_len|prompt is too long"
    r"|(?:input|prompt)[^.]{0,80}(?:too long|longer than|exceed)|`?inputs`? (?:tokens )?\+ `?max_new_tokens"
    r"|too many (?:input )?tokens|reduce the length",
    re.IGNORECASE,
)
_LONG_STATUSES = frozenset({400, 413, 422})


def is_too_long(status: int, said: str) -> bool:
    """Tell whether an error says that the prompt does not fit the model's context."""
    return status in _LONG_STATUSES and _TOO_LONG.search(said) is not None


def is_retried(failure: Failure) -> bool:
    """Tell whether a request is sent again: connection errors, 408, 409, 429 and 5xx are."""
    if failure.status is None:
        return failure.kind in ("unreachable", "timeout", "broken-off", "not-json")
    return failure.status in _AGAIN or failure.status >= 500 or failure.kind == "not-json"


def wait_s(tries: int, failure: Failure, draw: random.Random) -> float:
    """Return how long to wait before the next try.

    What the server asks for, up to `MOST_WAIT_S`; else full jitter: anything up to a limit that doubles with
    each try. Source: Brooker (2015), "Exponential Backoff And Jitter".

    Args:
        tries: how often it was sent by now, from 1.
        failure: what came of the last try.
        draw: the jitter.
    """
    if failure.retry_after_s is not None:
        return min(max(failure.retry_after_s, 0.0), MOST_WAIT_S)
    return draw.uniform(0.0, min(_LONGEST_BACKOFF_S, _FIRST_WAIT_S * 2.0**tries))


def retry_after_s(value: str | None, date: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for; None where it says nothing.

    Args:
        value: the header: seconds, whole or not, or a date.
        date: the reply's ``Date``: a date is held against the server's own clock, for ours may be off.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return seconds if seconds == seconds else None  # noqa: PLR0124 - not a number is no answer
    try:
        then = parsedate_to_datetime(value)
        now = parsedate_to_datetime(date) if date else None
        return None if now is None else (then - now).total_seconds()
    except (ValueError, TypeError):
        return None


@dataclass(slots=True)
class Breaker:
    """Stops a run that can only fail: refused at the first reply, or failing again and again.

    ``reason`` is None while the run goes on.
    """

    reason: str | None = None
    _replies: int = 0
    _failing: int = 0
    _same: int = 0
    _status: int | None = field(default=None)

    FAILING = 20
    SAME = 5

    def saw(self, failure: Failure | None) -> None:
        """Take note of one finished request: what failed, or None."""
        self._replies += 1
        if failure is None:
            self._failing = self._same = 0
            self._status = None
            return
        self._failing += 1
        status = failure.status
        refused = status is not None and 400 <= status < 500 and status not in _AGAIN
        self._same = self._same + 1 if refused and status == self._status else int(refused)
        self._status = status
        if self._replies == 1 and status in (401, 403, 404):
            self.reason = f"the server refused the first request: {failure.says}"
        elif self._same >= self.SAME and failure.kind != "too-long":
            self.reason = f"{self.SAME} requests in a row were refused alike: {failure.says}"
        elif self._failing >= self.FAILING:
            self.reason = f"{self.FAILING} requests in a row failed, the last with: {failure.says}"
