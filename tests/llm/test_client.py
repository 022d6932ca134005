"""One request against a server that answers in every way that servers do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from evh.llm.client import Client, Server, carrier
from evh.llm.mask import Mask
from evh.llm.reply import Failure, Reply
from tests.servers import replies
from tests.servers.replies import error, fine, http, message
from tests.servers.scripted import Play, Request, Scripted

KEY = "sk-test-0123456789"
BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "temperature": 0}


def ask(
    script: Sequence[Play] | Callable[[Request], Play],
    *,
    own_httpx: bool = False,
    read_s: float = 5.0,
    waits: list[float] | None = None,
) -> tuple[Reply | Failure, Scripted]:
    """Ask a scripted server once; ``waits`` gathers how long it would have waited between tries."""
    gathered = waits if waits is not None else []

    async def nap(seconds: float) -> None:
        gathered.append(seconds)

    async def go(base_url: str) -> Reply | Failure:
        server = Server(base_url, KEY, read_s=read_s)
        shared = None if own_httpx else carrier(server)
        async with Client(server, shared, jitter=random.Random(1), sleep=nap) as client:
            try:
                return await client.ask(BODY)
            finally:
                if shared is not None:
                    await shared.aclose()

    with Scripted(script) as server:
        return asyncio.run(go(server.base_url)), server


@pytest.fixture(params=[False, True], ids=["loop", "httpx"])
def own_httpx(request: pytest.FixtureRequest) -> bool:
    """Both transports: the one for plain servers, and httpx's own."""
    return bool(request.param)


def test_a_good_answer(own_httpx: bool) -> None:
    """The text, the tokens by the server's count, the model's name; the key goes along, tools do not."""
    found, server = ask([fine("yes, because")], own_httpx=own_httpx)
    assert isinstance(found, Reply)
    assert (found.text, found.tokens_in, found.tokens_out) == ("yes, because", 11, 7)
    assert (found.model, found.finish_reason, found.tries) == ("scripted-1", "stop", 1)
    assert found.latency_ms > 0
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/v1/chat/completions", BODY)
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_a_thought_is_kept_apart(name: str) -> None:
    """What the server gives as reasoning is never read as the answer."""
    more: dict[str, Any] = {name: "let me see"}
    found, _ = ask([http(200, message("yes", **more))])
    assert isinstance(found, Reply)
    assert (found.text, found.reasoning) == ("yes", "let me see")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (message(None), "empty"),
        (message("  "), "empty"),
        (message(None, reasoning="yes it is"), "empty"),
        (message(None, finish="length"), "unfinished"),
        ({"choices": []}, "no-choices"),
        ({"object": "list"}, "no-choices"),
        ([], "no-choices"),
    ],
)
def test_a_reply_without_an_answer(body: object, kind: str) -> None:
    """It is a failure of its own kind, and is not asked again here."""
    found, server = ask([http(200, body)])
    assert isinstance(found, Failure)
    assert (found.kind, len(server.requests)) == (kind, 1)


@pytest.mark.parametrize(
    "bad",
    [
        http(200, b"<html>oops"),
        http(502, b"<html><h1>Bad gateway</h1>"),
        http(500, {"error": "overloaded"}),
        http(503, b""),
        http(529, {"error": {"message": "overloaded"}}),
        http(408, b""),
        http(409, b""),
        error(429, "slow down"),
        replies.reset(),
        replies.reset(b"HTTP/1.1 200 OK\r\n"),
        replies.reset(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"),
        http(200, b"{}x", content_length="900", close=True),
        replies.raw(b"SSH-2.0-x\r\n\r\n", close=True),
        replies.raw(b"HTTP/1.1 %s OK\r\n\r\n" % (b"2" * 5000), close=True),
        replies.raw(b"HTTP/1.1 200 OK\r\ncontent-length: %s\r\n\r\n{}" % (b"9" * 5000), close=True),
        replies.raw(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nab\r\n0\r\n\r\n", close=True
        ),
        replies.raw(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%s\r\n" % (b"f" * 4000), close=True
        ),
        http(200, b'data: {"choices": []}\n\n', content_type="text/event-stream"),
    ],
)
def test_what_may_pass_is_asked_again(bad: Play, own_httpx: bool) -> None:
    """A fault that may pass is followed by another try, which is answered."""
    found, server = ask([bad, fine("yes")], own_httpx=own_httpx)
    assert isinstance(found, Reply), found
    assert (found.text, found.tries, len(server.requests)) == ("yes", 2, 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_not(status: int) -> None:
    """A request that is wrong stays wrong: one try, the server's words, no key in them."""
    found, server = ask([error(status, f"no: you sent {KEY} and it quotes 429")])
    assert isinstance(found, Failure)
    assert (found.kind, found.status, found.tries, len(server.requests)) == ("refused", status, 1, 1)
    assert found.says == f"HTTP {status}: no: you sent [api key] and it quotes 429"


@pytest.mark.parametrize("blank", [" ", "\n", "\u200b"])
@pytest.mark.parametrize("before", range(280, 305, 3))
def test_no_part_of_the_key_is_left_where_a_text_is_cut(before: int, blank: str) -> None:
    """The key is taken out before a long error is cut to a line: half of a key is a secret too."""
    for play in (error(400, "x" * before + blank + KEY), http(400, b"x" * before + KEY.encode())):
        found, _ = ask([play])
        assert isinstance(found, Failure)
        assert "sk-" not in found.says


def test_the_key_is_taken_out_of_an_answer(own_httpx: bool) -> None:
    """A server that repeats the request's header in a good answer: no text of it holds the key."""
    said = message(f"yes, Bearer {KEY}", reasoning=f"I was sent {KEY}", finish=f"stop {KEY}")
    said |= {"model": f"m-{KEY}", "system_fingerprint": KEY}
    found, _ = ask([http(200, said)], own_httpx=own_httpx)
    assert isinstance(found, Reply)
    assert (found.text, found.reasoning) == ("yes, Bearer [api key]", "I was sent [api key]")
    assert (found.model, found.system_fingerprint) == ("m-[api key]", "[api key]")
    assert found.finish_reason == "stop [api key]"
    assert found.notes == ("the reply held the API key: it was taken out",)


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (http(200, b"<p>" + KEY.encode()), "not-json"),
        (http(200, {"choices": [], "auth": KEY}), "no-choices"),
        (http(200, b"{}", content_encoding=f"br {KEY}"), "broken-off"),
        (
            replies.raw(b"HTTP/1.1 200 OK\r\ncontent-length: %s\r\n\r\n" % KEY.encode(), close=True),
            "broken-off",
        ),
    ],
)
def test_the_key_is_taken_out_of_every_failure(play: Play, kind: str, own_httpx: bool) -> None:
    """Bodies that are no answer, and headers that an error quotes."""
    found, _ = ask([play], own_httpx=own_httpx)
    assert isinstance(found, Failure)
    assert found.kind == kind
    assert KEY not in found.says


def test_a_key_in_other_writing_is_taken_out() -> None:
    """As JSON writes it inside of JSON, and as an address writes it; a short word stays as it is."""
    mask = Mask('sk/"quoted"/key+1')
    assert mask('{"k": "sk/\\"quoted\\"/key+1"}') == '{"k": "[api key]"}'
    assert mask("?k=sk%2F%22quoted%22%2Fkey%2B1&a=1") == "?k=[api key]&a=1"
    assert Mask("none")("there is none") == "there is none"
    assert "quoted" not in repr(mask)


@pytest.mark.parametrize("value", [10**9, 10**400, -1, True, "7", 12.5, {"n": 1}])
def test_a_count_that_is_none_is_as_if_it_were_not_reported(value: object) -> None:
    """Of an answer and of an empty one; the cost too: a note says so."""
    for content in ("yes", ""):
        said = message(content, usage=None)
        said["usage"] = {"prompt_tokens": value, "completion_tokens": 3, "cost": 1e12}
        found, _ = ask([http(200, said)])
        assert (found.tokens_in, found.tokens_out, found.cost_usd) == (None, 3, None)
        assert found.notes == (
            "usage.prompt_tokens is no count: as if it were not reported",
            "usage.cost is no amount: as if it were not reported",
        )


def test_a_422_list_is_read() -> None:
    """FastAPI's list of what is wrong becomes one line."""
    found, _ = ask([http(422, {"detail": [{"loc": ["body"], "msg": "field required"}, {"msg": "too big"}]})])
    assert isinstance(found, Failure)
    assert found.says == "HTTP 422: field required; too big"


@pytest.mark.parametrize("said", replies.CONTEXT_ERRORS)
def test_a_prompt_that_does_not_fit(said: str) -> None:
    """Each of the four wordings is known; a quota that is too long is not one."""
    found, server = ask([error(400, said)])
    assert isinstance(found, Failure)
    assert (found.kind, len(server.requests)) == ("too-long", 1)
    other, _ = ask([error(400, "the parameter seed is too large")])
    assert isinstance(other, Failure)
    assert other.kind == "refused"


def test_a_redirect_is_not_followed() -> None:
    """The key must not go to another host."""
    with Scripted([fine("stolen")]) as other:
        found, _ = ask([http(307, b"", location=f"{other.base_url}/chat/completions")])
        assert isinstance(found, Failure)
        assert (found.kind, found.status) == ("redirect", 307)
        assert other.requests == []


def test_a_reply_is_read_up_to_four_megabytes(own_httpx: bool) -> None:
    """Of 50 MB, and of a small body that unpacks to as much, no more is held; neither is asked again."""
    for play in (replies.large(50_000_000), replies.bomb(50_000_000)):
        found, server = ask([play], own_httpx=own_httpx)
        assert isinstance(found, Failure)
        assert (found.kind, len(server.requests)) == ("too-large", 1)


def test_a_server_that_says_nothing(own_httpx: bool) -> None:
    """No reply in time is a timeout, tried again."""
    found, server = ask([replies.silence(), fine("yes")], own_httpx=own_httpx, read_s=0.2)
    assert isinstance(found, Reply)
    assert len(server.requests) == 2


def test_one_byte_a_second_does_not_last_for_ever() -> None:
    """The time is for the whole reply, not for each byte."""
    found, _ = ask([replies.slowly(message("yes"), 0.05), fine("in time")], read_s=0.4)
    assert isinstance(found, Reply)
    assert found.text == "in time"


def test_no_server_at_all() -> None:
    """A refused connection is tried six times, then told with the address and without the key."""

    async def nap(_: float) -> None:
        pass

    async def go() -> Reply | Failure:
        server = Server("http://127.0.0.1:9/v1", KEY)
        async with Client(server, carrier(server), sleep=nap) as client:
            return await client.ask(BODY)

    found = asyncio.run(go())
    assert isinstance(found, Failure)
    assert (found.kind, found.tries) == ("unreachable", 6)
    assert "http://127.0.0.1:9/v1" in found.says


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"retry_after": "7"}, [7.0]),
        ({"retry_after": "0.25"}, [0.25]),
        ({"retry_after": "-3"}, [0.0]),
        ({"retry_after": "86400"}, [120.0]),
        (
            {"retry_after": "Mon, 30 Nov 2026 10:00:30 GMT", "date": "Mon, 30 Nov 2026 10:00:00 GMT"},
            [30.0],
        ),
    ],
)
def test_the_server_says_when(headers: dict[str, str], waits: list[float]) -> None:
    """Seconds, fractions and dates by the server's own clock are obeyed, up to two minutes."""
    seen: list[float] = []
    found, _ = ask([error(429, "slow down", **headers), fine()], waits=seen)
    assert isinstance(found, Reply)
    assert seen == waits


@pytest.mark.parametrize("value", ["soon", "nan", ""])
def test_an_absurd_retry_after_is_none(value: str) -> None:
    """It waits as if nothing were said: anything up to a second after the first try."""
    seen: list[float] = []
    ask([error(429, "slow down", retry_after=value), fine()], waits=seen)
    assert len(seen) == 1
    assert 0 <= seen[0] <= 1.0


def test_six_tries_and_no_more() -> None:
    """A server that fails for ever is asked six times."""
    found, server = ask([http(500, b"")])
    assert isinstance(found, Failure)
    assert (found.kind, found.tries, len(server.requests)) == ("failing", 6, 6)


def test_text_that_no_file_can_hold() -> None:
    """Broken UTF-8 and half of a surrogate pair become U+FFFD or ?, never an error."""
    broken = b'{"choices": [{"finish_reason": "stop", "message": {"content": "a\xff\\ud800b"}}]}'
    found, _ = ask([http(200, broken)])
    assert isinstance(found, Reply)
    found.text.encode("utf-8")
    assert found.text == "a�?b"


def test_chunks_interim_replies_and_no_usage(own_httpx: bool) -> None:
    """A chunked reply, one after a 100, and one until the connection closes are read whole."""
    found, _ = ask([replies.chunked(message("in parts", usage=None))], own_httpx=own_httpx)
    assert isinstance(found, Reply)
    assert (found.text, found.tokens_in, found.tokens_out) == ("in parts", None, None)
    data = b'{"choices": [{"message": {"content": "open end"}}]}'
    found, _ = ask([replies.raw(b"HTTP/1.1 200 OK\r\n\r\n" + data, close=True)], own_httpx=own_httpx)
    assert isinstance(found, Reply)
    assert found.text == "open end"


def test_a_connection_that_was_closed_while_idle() -> None:
    """It costs no try: a new one is made."""

    async def go(server: Scripted) -> list[Reply | Failure]:
        where = Server(server.base_url, KEY)
        shared = carrier(where)
        assert shared is not None
        async with Client(where, shared) as client:
            first = await client.ask(BODY)
            server.close_all()
            await asyncio.sleep(0.05)
            second = await client.ask(BODY)
        await shared.aclose()
        return [first, second]

    with Scripted([fine()]) as server:
        found = asyncio.run(go(server))
    assert [type(one) for one in found] == [Reply, Reply]
    assert found[1].tries == 1


def test_the_key_is_in_no_repr() -> None:
    """A traceback or a log that prints the server does not print the key."""
    assert KEY not in repr(Server("http://x/v1", KEY))


def test_plain_servers_only_take_the_small_transport(monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS and proxies are httpx's own business."""
    monkeypatch.delenv("http_proxy", raising=False)
    assert Server("http://10.0.0.1/v1").plain
    assert not Server("https://10.0.0.1/v1").plain
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    assert not Server("http://10.0.0.1/v1").plain
    assert Server("http://localhost:8000/v1").plain
    assert isinstance(httpx.URL("http://localhost").host, str)
