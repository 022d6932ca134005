"""`evh run` of a model server: each reply that servers give, how a run stops, goes on and is capped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import evh as package
from evh.acts import run as act
from evh.project import configs
from evh.project.find import Project
from tests.acts.asking import KEY, arm, rows_of, run, sent, short_waits, three_fields
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.servers import replies
from tests.servers.replies import error, fine, http, message
from tests.servers.scripted import Play, Request, Scripted


@pytest.fixture
def build(project: Project) -> Builder:
    """The project of `three_fields`."""
    return three_fields(project)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits as long as a server asks for."""
    short_waits(monkeypatch)


# --- the replies of real servers ---

GOOD = "good"


PASSES = "passes"  # asked again until it is answered


WAITS = "waits"  # the run is not finished, and the item is asked again by --resume


FAILS = "fails"  # the item has failed for good


REPLIES: list[tuple[str, Sequence[Play], str, str]] = [
    ("1 fine", [fine("yes")], GOOD, "yes"),
    ("2 reasoning", [fine("yes", reasoning="hm")], GOOD, "yes"),
    ("3 reasoning_content", [fine("yes", reasoning_content="hm")], GOOD, "yes"),
    ("4 think without opening", [fine("hm</think>yes")], GOOD, "hm</think>yes"),
    ("5 unfinished thought", [fine(None, finish="length")], FAILS, "unfinished: "),
    ("6 null content", [fine(None)], FAILS, "empty: "),
    ("7 answer in the reasoning", [fine(None, reasoning="yes")], FAILS, "empty: "),
    ("8 yes then no", [fine("yes\nno")], GOOD, "yes\nno"),
    ("9 maybe", [fine("maybe")], GOOD, "maybe"),
    ("10 no reason", [fine("yes")], GOOD, "yes"),
    ("11 JSON in a fence", [fine('```json\n{"a": 1}\n```')], GOOD, '```json\n{"a": 1}\n```'),
    ("12 no choices", [http(200, {"choices": []})], WAITS, "no-choices: "),
    ("13 not JSON", [http(200, b"<html>")], WAITS, "not-json: "),
    ("14 HTML 502", [http(502, b"<html><h1>Bad gateway</h1>")], WAITS, "failing: HTTP 502"),
    (
        "15 half a body",
        [replies.reset(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"), fine("yes")],
        PASSES,
        "yes",
    ),
    ("16 wrong length", [http(200, b"{}x", content_length="900", close=True), fine("yes")], PASSES, "yes"),
    ("17 gzip bomb", [replies.bomb(50_000_000)], FAILS, "too-large: "),
    ("18 50 MB", [replies.large(50_000_000)], FAILS, "too-large: "),
    ("19 silence", [replies.silence()], WAITS, "timeout: "),
    ("20 refused, then fine", [replies.reset(), fine("yes")], PASSES, "yes"),
    ("21 reset after headers", [replies.reset(b"HTTP/1.1 200 OK\r\n"), fine("yes")], PASSES, "yes"),
    ("22 429 seconds", [error(429, "slow", retry_after="1"), fine("yes")], PASSES, "yes"),
    (
        "23 429 date",
        [
            error(
                429, "slow", retry_after="Mon, 30 Nov 2026 10:00:01 GMT", date="Mon, 30 Nov 2026 10:00:00 GMT"
            ),
            fine("yes"),
        ],
        PASSES,
        "yes",
    ),
    ("24 429 absurd", [error(429, "slow", retry_after="soon"), fine("yes")], PASSES, "yes"),
    ("25 429 for ever", [error(429, "slow")], WAITS, "refused: HTTP 429"),
    ("26 500, 503, 529", [http(500), http(503), http(529), fine("yes")], PASSES, "yes"),
    *(
        (f"27 too long {number}", [error(400, said)], FAILS, "too-long: ")
        for number, said in enumerate(replies.CONTEXT_ERRORS)
    ),
    ("28 a 400 that quotes 429", [error(400, "no 429 here")], FAILS, "refused: HTTP 400: no 429 here"),
    ("29 401", [error(401, "bad key")], WAITS, "refused: HTTP 401"),
    ("29 403", [error(403, "no")], WAITS, "refused: HTTP 403"),
    ("29 404", [error(404, "no such model")], WAITS, "refused: HTTP 404"),
    (
        "30 422 list",
        [http(422, {"detail": [{"msg": "field required"}]})],
        FAILS,
        "refused: HTTP 422: field required",
    ),
    ("31 redirect", [http(307, b"", location="http://127.0.0.1:9/v1/chat/completions")], WAITS, "redirect: "),
    (
        "33 broken UTF-8",
        [http(200, b'{"choices":[{"message":{"content":"a\xff\\ud800"}}]}')],
        GOOD,
        "a\ufffd?",
    ),
    ("34 no usage", [fine("yes", usage=None)], GOOD, "yes"),
    (
        "35 SSE",
        [http(200, b'data: {"choices": []}\n\n', content_type="text/event-stream"), fine("yes")],
        PASSES,
        "yes",
    ),
    ("36 a byte a while", [replies.slowly(message("yes"), 0.05), fine("yes")], PASSES, "yes"),
]  # 32, 37 and 38 follow as tests of their own


@pytest.mark.parametrize(
    ("plays", "kind", "text"), [one[1:] for one in REPLIES], ids=[one[0] for one in REPLIES]
)
def test_each_reply_of_a_server(
    build: Builder, evh: CommandLine, plays: Sequence[Play], kind: str, text: str
) -> None:
    """An answer is kept word for word; what may pass is tried again, then waits; the rest has failed."""
    with Scripted(plays) as server:
        arm(build, server, timeout_s=0.4)
        outcome = run(evh, "--limit", "1", code=0 if kind in (GOOD, PASSES) else 3)
        if kind == WAITS:
            (left,) = outcome.json["unfinished"]
            assert left["n_done"] == 0
            assert left["failed"][0]["error"].startswith(text)
            assert left["next"] == "evh run --config c --resume"
            server.script = [fine("at last")]
            again = run(evh, "--resume")
            assert rows_of(build.project, again)["one"].decision == "at last"
            return
    row = rows_of(build.project, outcome)["one"]
    if kind == FAILS:
        assert str(row.error).startswith(text)
        assert (row.scores, row.decision, len(server.requests)) == ({}, None, 1)
    else:
        assert (row.decision, row.error) == (text, None)
        assert row.hidden["_meta"]["tries"] == len(plays)


def test_32_replies_out_of_order(build: Builder, evh: CommandLine) -> None:
    """Each answer goes to its own item, whichever comes first."""

    def play(request: Request) -> Play:
        text = request.body["messages"][-1]["content"]
        return fine(text.upper(), wait_s={"alpha": 0.3, "beta": 0.15}.get(text, 0.0))

    with Scripted(play) as server:
        arm(build, server)
        outcome = run(evh)
    assert [one.decision for one in rows_of(build.project, outcome).values()] == ["ALPHA", "BETA", "GAMMA"]


def test_37_a_server_that_dies_and_comes_back(build: Builder, evh: CommandLine) -> None:
    """What was answered is kept; once it is back, --resume asks the rest alone."""
    with Scripted(lambda request: fine("yes") if request.number == 0 else replies.reset()) as server:
        arm(build, server)
        outcome = run(evh, "--concurrency", "1", code=3)
        port = server.port
    assert outcome.json["unfinished"][0]["n_done"] == 1
    with Scripted([fine("no")], port=port) as server:
        again = run(evh, "--resume")
    assert len(server.requests) == 2
    assert [one.decision for one in rows_of(build.project, again).values()] == ["yes", "no", "no"]


def test_38_a_clock_that_steps_back(
    build: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Latencies are of a clock that does not step; the run's own time is told once."""
    monkeypatch.setattr(time, "time", iter(range(10**9, 0, -1000)).__next__)
    with Scripted([fine("yes", wait_s=0.02)]) as server:
        arm(build, server)
        outcome = run(evh)
    assert all(20 <= (one.latency_ms or 0) < 60_000 for one in rows_of(build.project, outcome).values())


# --- failures, and the way on ---


def test_failures_that_never_pass_can_be_let_go(build: Builder, evh: CommandLine) -> None:
    """--finish asks nothing: what has no answer has failed, with its own error; the rest is scored."""

    def play(request: Request) -> Play:
        return fine("yes") if request.body["messages"][-1]["content"] == "alpha" else http(500, b"down")

    with Scripted(play) as server:
        arm(build, server, api_key_env="MINE")
        os.environ["MINE"] = KEY
        try:
            run(evh, "--labels", "d/s", code=3)
        finally:
            del os.environ["MINE"]
        listed = evh.ok("runs", "--json").json
        check(listed, "runs")
        assert [(one["n_answered"], one["n_failed"]) for one in listed["unfinished"]] == [(1, 2)]
        asked = len(server.requests)
        evh.refused("no-key", "run", "--config", "c", "--resume")
        outcome = run(evh, "--finish", code=3)
    assert len(server.requests) == asked
    rows = rows_of(build.project, outcome)
    assert rows["one"].scores["correct"] == 1.0
    assert str(rows["two"].error).startswith("failing: HTTP 500")
    row = outcome.json["runs"][0]
    assert (row["n_errors"], row["n_scored"], row["scores"]["correct"]) == (2, 1, 1.0)
    assert b"_ask_again" not in b"".join(tree_bytes(build.project.data).values())
    evh.refused("nothing-to-resume", "run", "--config", "c", "--finish")


def test_a_final_failure_is_not_asked_again(build: Builder, evh: CommandLine) -> None:
    """On resuming, an item that failed for good costs no further call."""

    def play(request: Request) -> Play:
        text = request.body["messages"][-1]["content"]
        return {"alpha": error(400, "bad item"), "beta": http(500)}.get(text, fine("yes"))

    with Scripted(play) as server:
        arm(build, server)
        run(evh, code=3)
        server.requests.clear()
        server.script = [fine("at last")]
        outcome = run(evh, "--resume", code=3)
    assert list(sent(server)) == ["beta"]
    assert [one["item_id"] for one in outcome.json["failed"]] == ["one"]


def test_a_refused_key_stops_at_once_and_says_how_to_go_on(build: Builder, evh: CommandLine) -> None:
    """The first 401 stops the run; the reason and the way on are told to people."""
    with Scripted([error(401, "bad key")]) as server:
        arm(build, server)
        outcome = evh("run", "--config", "c", "--concurrency", "1")
    assert (outcome.code, len(server.requests)) == (3, 1)
    assert "stopped: the server refused the first request: HTTP 401: bad key" in outcome.err
    assert "2 items not asked yet" in outcome.err
    assert "next: evh run --config c --resume; or, to let them fail" in outcome.err


def test_no_further_repeat_begins_after_one_that_is_not_finished(build: Builder, evh: CommandLine) -> None:
    """The second of three stays open; --resume ends it and makes the third."""
    with Scripted(lambda request: fine("yes") if request.number < 4 else http(500)) as server:
        arm(build, server)
        first = run(evh, "--repeat", "3", "--concurrency", "1", code=3).json
        assert (len(first["runs"]), first["unfinished"][0]["n_done"]) == (1, 1)
        server.script = [fine("no")]
        rest = run(evh, "--resume").json
    assert len(rest["runs"]) == 2
    assert {row["repeat_group"] for row in rest["runs"]} == {first["runs"][0]["run_id"]}


# --- a cap on the cost ---


def costing(usd: float, n: int = 20) -> tuple[dict[str, str], Callable[[Request], Play]]:
    """Make ``n`` texts and a server whose every answer costs ``usd``."""
    body = message("yes")
    body["usage"]["cost"] = usd
    return {f"i{number:02}": f"t{number}" for number in range(n)}, lambda _: http(200, body, wait_s=0.01)


def test_a_cap_is_never_passed(project: Project, evh: CommandLine) -> None:
    """At 0.1 an answer, a cap of 1.05 lets ten be asked, however many at once; the way on is told."""
    texts, play = costing(0.1)
    build = Builder(project)
    build.dataset("d", texts)
    with Scripted(play) as server:
        arm(build, server)
        outcome = run(evh, "--max-cost", "1.05", "--concurrency", "8", code=3)
        assert len(server.requests) == 10
        (left,) = outcome.json["unfinished"]
        assert (left["n_done"], left["cost_usd"]) == (10, pytest.approx(1.0))
        assert "--max-cost 1.05: 1 USD are spent" in left["reason"]
        # What the first attempt has cost counts: two more fit under 1.25.
        again = run(evh, "--resume", "--max-cost", "1.25", code=3)
        assert len(server.requests) == 12
        assert again.json["unfinished"][0]["n_done"] == 12
        assert run(evh, "--resume").json["runs"][0]["totals"]["cost_usd"] == pytest.approx(2.0)


def test_a_cap_without_a_price_stops_after_the_first_answer(build: Builder, evh: CommandLine) -> None:
    """Neither the server nor the config says what an answer costs: one is asked, and the reason told."""
    with Scripted([fine("yes")]) as server:
        arm(build, server)
        outcome = run(evh, "--max-cost", "1", code=3)
    assert len(server.requests) == 1
    assert "nothing says what an answer costs" in outcome.json["unfinished"][0]["reason"]


def test_a_cap_holds_for_python_too(build: Builder, evh: CommandLine) -> None:
    """An adapter that tells its cost stops alike; a command that cannot is refused; echo costs nothing."""
    folder = build.project.data / "adapters"
    folder.mkdir()
    code = (
        "from evh.adapters import Result\ndef call_system(text, _):\n    return Result(text, cost_usd=1.0)\n"
    )
    (folder / "a.py").write_text(code)
    build.config("c", dataset_id="d", adapter="../adapters/a.py", params={"provider": "python"})
    outcome = run(evh, "--max-cost", "2.5", "--concurrency", "3", code=3)
    assert outcome.json["unfinished"][0]["n_done"] == 2
    run(evh, "--resume", "--max-cost", "3.5")
    build.config("cmd", dataset_id="d", params={"provider": "command", "command": "cat"})
    evh.refused("bad-options", "run", "--config", "cmd", "--max-cost", "1")
    evh.refused("bad-options", "run", "--config", "c", "--max-cost", "0")
    build.config("echo", dataset_id="d")
    evh.ok("run", "--config", "echo", "--max-cost", "1")


# --- progress and interrupts ---


def test_progress_counts_what_is_on_the_disk(build: Builder) -> None:
    """The last word is the whole: items, tokens and cost; nothing counts before it is flushed."""
    seen: list[act.Progress] = []
    with Scripted([fine("yes")]) as server:
        arm(build, server, usd_per_mtok_in=1, usd_per_mtok_out=1)
        act.commit(
            build.project, act.plan(build.project, configs.read(build.project, "c")), progress=seen.append
        )
    last = seen[-1]
    assert (last.done, last.of, last.failed, last.tokens) == (3, 3, 0, 54)
    assert last.cost_usd == pytest.approx(54e-6)
    assert [one.done for one in seen] == sorted(one.done for one in seen)


def test_ctrl_c_keeps_what_came_and_names_the_way_on(project: Project, evh: CommandLine) -> None:
    """Exit 130; what is answered is kept, and --resume asks the rest alone."""
    build = Builder(project)
    build.dataset("d", {f"i{number:03}": f"t{number}" for number in range(200)})
    with Scripted(lambda _: fine("yes", wait_s=0.1)) as server:
        arm(build, server)
        words = [sys.executable, "-c", "from evh.cli.main import main; main()", "-C", str(project.root)]
        environ = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
        process = subprocess.Popen(
            [*words, "run", "--config", "c"], env=environ, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 60
        while len(server.requests) < 8:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "items are kept" in told
        assert "evh run --config c --resume" in told
        asked = len(server.requests)
        run(evh, "--resume")
    assert asked < 200
    assert len(server.requests) == 200
