"""When a whole run stops: refused at once, refused alike, or failing on and on."""

from __future__ import annotations

from evh.llm.reply import Failure
from evh.llm.retry import Breaker, retry_after_s

REFUSED = Failure("refused", "HTTP 401: no", 401)
FAILING = Failure("failing", "HTTP 500: no", 500)
BAD = Failure("refused", "HTTP 400: no", 400)


def test_a_refusal_of_the_first_request_stops() -> None:
    """401, 403 or 404 at once means that nothing will work; later it may be one item's."""
    breaker = Breaker()
    breaker.saw(REFUSED)
    assert breaker.reason == "the server refused the first request: HTTP 401: no"
    later = Breaker()
    later.saw(None)
    later.saw(REFUSED)
    assert later.reason is None


def test_five_alike_in_a_row_stop() -> None:
    """Five times the same 4xx; another status or an answer in between begins anew."""
    breaker = Breaker()
    for failure in [None, *[BAD] * 4, None, *[BAD] * 4, REFUSED, *[BAD] * 4]:
        breaker.saw(failure)
    assert breaker.reason is None
    breaker.saw(BAD)
    assert breaker.reason == "5 requests in a row were refused alike: HTTP 400: no"


def test_prompts_that_do_not_fit_are_no_sign() -> None:
    """Long items may come in a row; each is its own failure, up to the twenty that stop anything."""
    breaker = Breaker()
    for _ in range(19):
        breaker.saw(Failure("too-long", "HTTP 400: maximum context length", 400))
    assert breaker.reason is None


def test_twenty_failing_in_a_row_stop() -> None:
    """Whatever fails, twenty in a row are enough."""
    breaker = Breaker()
    for _ in range(19):
        breaker.saw(FAILING)
    assert breaker.reason is None
    breaker.saw(Failure("unreachable", "no connection"))
    assert breaker.reason == "20 requests in a row failed, the last with: no connection"


def test_retry_after_dates_need_the_servers_clock() -> None:
    """A date without the reply's own date says nothing: our clock may be hours off."""
    assert retry_after_s("Mon, 30 Nov 2026 10:00:30 GMT", None) is None
    assert retry_after_s("Mon, 30 Nov 2026 10:00:30 GMT", "nonsense") is None
    assert retry_after_s(None, None) is None
