"""`evh run` of a model server: what is sent and kept of each reply, how it stops, goes on and is capped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import evh as package
from evh.acts import run as act
from evh.llm import retry
from evh.project import configs, models, runs
from evh.project.find import Project
from evh.records.model import Model
from evh.records.run import Prediction
from tests.conftest import CommandLine, Outcome
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.servers import replies
from tests.servers.replies import error, fine, http, message
from tests.servers.scripted import Play, Request, Scripted

TEXTS = {"one": "alpha", "two": "beta", "three": "gamma"}
KEY = "sk-live-0123456789"


@pytest.fixture
def build(project: Project) -> Builder:
    """A project with the dataset ``d`` of three items, each with a field, and a person's labels of two."""
    made = Builder(project)
    made.dataset("d", TEXTS, fields={name: {"lang": name[0], "n": 1, "ok": True} for name in TEXTS})
    made.labels("d", "s", {"one": "yes", "two": "no"})
    return made


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries are a hundredth of what they are."""
    real = retry.wait_s
    monkeypatch.setattr(retry, "wait_s", lambda *words: min(real(*words), 2.0) / 100)


def arm(build: Builder, server: Scripted | None, name: str = "c", **params: Any) -> None:
    """Write an arm that asks a scripted server."""
    more = {"base_url": server.base_url} if server else {}
    build.config(name, dataset_id="d", params={"provider": "openai", "model": "m", **more, **params})


def sent(server: Scripted) -> dict[str, dict[str, Any]]:
    """Return the body of each request by its last message."""
    return {one.body["messages"][-1]["content"]: one.body for one in server.requests}


def rows_of(project: Project, outcome: Outcome) -> dict[str, Prediction]:
    """Return the predictions of the one run that a command made, by item."""
    row = outcome.json["runs"][0]
    run = runs.read(project, row["run_id"], folder=row["folder"])
    return {one.item_id: one for one in runs.predictions(project, run)}


def run(evh: CommandLine, *words: str, code: int = 0) -> Outcome:
    """Run the arm ``c``, hold the document against its schema, and return it."""
    outcome = evh("run", "--config", "c", *words, "--json")
    assert outcome.code == code, outcome.out + outcome.err
    check(outcome.json, "run")
    return outcome


# --- what is sent ---


@pytest.mark.parametrize(
    ("params", "messages"),
    [
        ({}, [{"role": "user", "content": "alpha"}]),
        (
            {"prompt": "Judge."},
            [{"role": "system", "content": "Judge."}, {"role": "user", "content": "alpha"}],
        ),
        (
            {"system": "Be brief.", "prompt": "<{{ item }}> {{fields.lang}}/{{fields.n}}/{{fields.ok}}"},
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "<alpha> o/1/true"}],
        ),
        (
            {"prompt": "In {{fields.lang}}."},
            [{"role": "system", "content": "In o."}, {"role": "user", "content": "alpha"}],
        ),
    ],
)
def test_the_messages(build: Builder, evh: CommandLine, params: dict[str, Any], messages: Any) -> None:
    """The item alone; a prompt without a place for it is the system message; else one user message."""
    with Scripted([fine()]) as server:
        arm(build, server, **params)
        run(evh, "--limit", "1")
    assert [one.body for one in server.requests] == [{"model": "m", "messages": messages}]


def test_an_item_is_never_read_as_a_prompt(project: Project, evh: CommandLine) -> None:
    """A placeholder inside of an item or a field stays text."""
    build = Builder(project)
    build.dataset("d", {"x": "{{fields.f}} {{item}}"}, fields={"x": {"f": "{{item}}"}})
    with Scripted([fine()]) as server:
        arm(build, server, prompt="{{item}} | {{fields.f}}")
        run(evh)
    assert list(sent(server)) == ["{{fields.f}} {{item}} | {{item}}"]


def test_settings_are_sent_as_they_are_and_nothing_else(build: Builder, evh: CommandLine) -> None:
    """Known settings and extra_body, no tools, no prices; a key that evh does not know is told of."""
    settings: dict[str, Any] = {
        "temperature": 0,
        "top_p": 0.9,
        "max_tokens": 5,
        "max_completion_tokens": 6,
        "seed": 7,
        "stop": ["\n"],
        "presence_penalty": 0.5,
        "frequency_penalty": -1,
        "reasoning_effort": "low",
        "response_format": {"type": "json_object"},
    }
    with Scripted([fine()]) as server:
        more: dict[str, Any] = {"extra_body": {"top_k": 3}, "usd_per_mtok_in": 1, "min_p": 0.1}
        arm(build, server, **settings, **more)
        outcome = run(evh, "--limit", "1")
    (request,) = server.requests
    assert request.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "alpha"}],
        **settings,
        "top_k": 3,
    }
    assert outcome.json["warnings"] == [
        "c: params.min_p is not sent: it is no setting that evh knows. What else is to be sent: extra_body"
    ]
    made = runs.read(build.project, outcome.json["runs"][0]["run_id"])
    assert made.fingerprint["system_under_test"]["request"] == {
        "base_url": server.base_url,
        "body": {**request.body, "messages": [{"role": "user", "content": "{{item}}"}]},
    }


def test_repeats_send_other_seeds(build: Builder, evh: CommandLine) -> None:
    """Run k of the repeats sends seed + k − 1 and records it; their fingerprint is one."""
    with Scripted([fine()]) as server:
        arm(build, server, seed=40)
        outcome = run(evh, "--repeat", "3", "--limit", "1")
    assert [one.body["seed"] for one in server.requests] == [40, 41, 42]
    made = [runs.read(build.project, row["run_id"]) for row in outcome.json["runs"]]
    assert [one.params["seed"] for one in made] == [40, 41, 42]
    assert len({one.fingerprint["hash"] for one in made}) == 1


def test_a_provider_by_name_and_its_key(
    build: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[providers.mine] gives the address and the variable; the key is sent and stands in no file."""
    with Scripted([fine(), error(500, f"you sent {KEY}")]) as server:
        toml = f'[providers.mine]\nbase_url = "{server.base_url}/"\napi_key_env = "MINE"\n'
        (build.project.root / "evh.toml").write_text(toml)
        arm(build, None, provider="mine")
        why = evh.refused("no-key", "run", "--config", "c").json["refused"]["why"]
        assert why == ["evh.toml: [providers.mine]: api_key_env: the variable MINE is not set"]
        monkeypatch.setenv("MINE", KEY)
        outcome = run(evh, "--limit", "1")
        failed = run(evh, "--limit", "2", code=3)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in outcome.out + outcome.err + failed.out + failed.err
    assert "[key]" in failed.out
    assert not [path for path, data in tree_bytes(build.project.root).items() if KEY.encode() in data]


# --- refusals ---


@pytest.mark.parametrize(
    ("params", "code", "told"),
    [
        ({"model": None}, "no-model", "c: params.model: is missing"),
        ({"base_url": "ftp://x/v1"}, "bad-params", "is not a URL that begins with http:// or https://"),
        ({"base_url": "http://me:pw@h/v1"}, "bad-params", "holds a password"),
        ({"base_url": "http://h/v1/chat/completions"}, "bad-params", "leave /chat/completions off"),
        ({"base_url": "http://h:99999/v1"}, "bad-params", "is not a URL"),
        ({"api_key_env": "NOPE"}, "no-key", "c: params.api_key_env: the variable NOPE is not set"),
        ({"api_key": "sk-1"}, "bad-params", "a key is never in a file"),
        ({"temperature": "hot"}, "bad-params", "c: params.temperature: is not a number"),
        ({"max_tokens": 0}, "bad-params", "c: params.max_tokens: is not a whole number from 1"),
        ({"seed": 1.5}, "bad-params", "c: params.seed: is not a whole number"),
        ({"stop": [1]}, "bad-params", "c: params.stop: is not a text or a list of texts"),
        ({"response_format": "json"}, "bad-params", "c: params.response_format: is not a mapping"),
        ({"extra_body": {"messages": []}}, "bad-params", "c: params.extra_body.messages: is evh's own"),
        (
            {"seed": 1, "extra_body": {"seed": 2}},
            "bad-params",
            "c: params.extra_body.seed: stands in params too",
        ),
        ({"prompt": "{{itme}}"}, "bad-params", "c: params.prompt: {{itme}} is no placeholder; {{item}} is"),
        ({"prompt": "a", "prompt_file": "b"}, "bad-params", "give one of them"),
        ({"prompt_file": "../prompts/no.txt"}, "no-such-prompt", "../prompts/no.txt: no such file"),
        ({"system": "a", "prompt": "b"}, "bad-params", "params.system is one too"),
        ({"system": "{{item}}"}, "bad-params", "{{item}} belongs in the prompt"),
        (
            {"prompt": "{{item}} {{fields.x}}"},
            "lacking-fields",
            "d/one: has no field 'x', which the prompt names",
        ),
        ({"timeout_s": 0}, "bad-params", "c: params.timeout_s: is not a number of seconds above 0"),
        ({"usd_per_mtok_in": -1}, "bad-params", "c: params.usd_per_mtok_in: is not an amount of US dollars"),
        ({"temprature": 1}, "unknown-key", "params.temprature: is not known; temperature is"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    build: Builder, evh: CommandLine, params: dict[str, Any], code: str, told: str
) -> None:
    """Before anything is sent or written, with the key that is wrong."""
    arm(build, None, **{"base_url": "http://127.0.0.1:9/v1", **params})
    before = tree_bytes(build.project.root)
    why = evh.refused(code, "run", "--config", "c").json["refused"]["why"]
    assert any(told in reason for reason in why), why
    assert tree_bytes(build.project.root) == before


def test_all_reasons_at_once(build: Builder, evh: CommandLine) -> None:
    """No address, no key, no model, a bad setting and a missing prompt are told together."""
    build.config(
        "c",
        dataset_id="d",
        params={"provider": "openai", "api_key_env": "NOPE", "prompt_file": "no.txt", "top_p": "x"},
    )
    why = evh.refused("cannot-ask", "run", "--config", "c").json["refused"]["why"]
    assert len(why) == 5


def test_a_model_record_must_be_here(build: Builder, evh: CommandLine) -> None:
    """An arm that asks a model names a record that is here; its name and prices are then used."""
    with Scripted([fine()]) as server:
        params = {"provider": "openai", "base_url": server.base_url}
        build.config("c", dataset_id="d", model_record="r", params=params)
        why = evh.refused("cannot-run", "run", "--config", "c").json["refused"]["why"]
        assert why[0].startswith("there is no model 'r'")
        prices = {"usd_per_mtok_in": 1.0, "usd_per_mtok_out": 10.0}
        models.update(build.project, "r", lambda _: Model("r", "org/big", prices=prices))
        outcome = run(evh, "--limit", "1")
    assert server.requests[0].body["model"] == "org/big"
    (row,) = rows_of(build.project, outcome).values()
    assert row.cost_usd == pytest.approx(81e-6)  # 11 tokens at 1 and 7 at 10 dollars a million
    made = runs.read(build.project, outcome.json["runs"][0]["run_id"])
    assert made.params["model"] == "org/big"
    before = made.fingerprint["system_under_test"]["model_record_sha256"]
    record = models.read(build.project, "r")
    assert before == record.identity()
    evh.ok("model-record", "--model", "r", "--price", "in=2")
    assert models.read(build.project, "r").identity() == before
    evh.ok("model-record", "--model", "r", "--deployment", "tag=v2")
    assert models.read(build.project, "r").identity() != before


# --- what is kept ---


def test_what_is_kept_of_an_answer(build: Builder, evh: CommandLine) -> None:
    """The output word for word, tokens, cost, latency, why it ended, what it thought, who answered."""
    with Scripted(
        [http(200, message("yes\n", finish="length", reasoning="hm") | {"system_fingerprint": "fp"})]
    ) as server:
        arm(build, server, usd_per_mtok_in=2, usd_per_mtok_out=4)
        outcome = run(evh, "--labels", "d/s")
    rows = rows_of(build.project, outcome)
    one = rows["one"]
    assert (one.decision, one.tokens_in, one.tokens_out, one.scores["correct"]) == ("yes", 11, 7, 1.0)
    assert one.cost_usd == pytest.approx(50e-6)
    assert one.latency_ms is not None
    assert one.latency_ms > 0
    meta = {
        "finish_reason": "length",
        "model": "scripted-1",
        "system_fingerprint": "fp",
        "reasoning": "hm",
        "tries": 1,
    }
    assert one.hidden["_meta"] == meta
    row = outcome.json["runs"][0]
    totals = row["totals"]
    assert (totals["tokens_in"], totals["tokens_out"], totals["n_tries"], totals["n_costed"]) == (
        33,
        21,
        3,
        3,
    )
    assert totals["cost_usd"] == pytest.approx(150e-6)
    assert totals["latency_ms_p50"] <= totals["latency_ms_p95"]
    assert row["scores"].keys() == {"correct", "text_f1"}
    folder = build.project.data / row["folder"] / row["run_id"]
    assert (folder / "outputs" / "one.txt").read_bytes() == b"yes\n"
    seen = json.loads((folder / "metrics.json").read_text())["observed"]
    assert seen == {"models": {"scripted-1": 3}, "system_fingerprints": {"fp": 3}}


def test_the_servers_own_cost_counts_first(build: Builder, evh: CommandLine) -> None:
    """A ``cost`` in the usage is what an answer cost, whatever the prices say."""
    body = message("yes")
    body["usage"]["cost"] = 0.25
    with Scripted([http(200, body)]) as server:
        arm(build, server, usd_per_mtok_in=2)
        outcome = run(evh, "--limit", "1")
    assert rows_of(build.project, outcome)["one"].cost_usd == 0.25


def test_an_answer_cut_at_its_limit_is_no_label(
    build: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """finish_reason length is what label-from-run looks for."""
    from evh.project import fingerprint

    clean = {"ref": "0123abcd", "source": "checkout", "dirty": False}
    monkeypatch.setattr(fingerprint, "build", lambda: dict(clean))
    with Scripted([fine("ye", finish="length")]) as server:
        arm(build, server)
        run_id = run(evh).json["runs"][0]["run_id"]
    why = evh.refused("cut-off", "label-from-run", "--run", run_id, "--set", "m").json["refused"]["why"]
    assert "finish_reason is 'length'" in why[0]


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
