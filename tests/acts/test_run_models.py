"""`evh run` of a model server: what is sent, what cannot be asked, and what is kept of an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.project import models, runs
from evh.project.find import Project
from evh.records.model import Model
from tests.acts.asking import KEY, arm, rows_of, run, sent, short_waits, three_fields
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.servers.replies import error, fine, http, message
from tests.servers.scripted import Scripted


@pytest.fixture
def build(project: Project) -> Builder:
    """The project of `three_fields`."""
    return three_fields(project)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits as long as a server asks for."""
    short_waits(monkeypatch)


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
    assert "[api key]" in failed.out
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
