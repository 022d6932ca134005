"""`evh model-record`, `models`, `arm-smoke` and `arms`: what a model's name stands for, what arms cost."""

from __future__ import annotations

import json
import shlex
import threading
from typing import Any

import pytest

from evh.project import models
from evh.project.find import Project
from evh.records.model import Model
from tests.conftest import NOW, CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.servers.replies import error, fine, http, message
from tests.servers.scripted import Scripted


@pytest.fixture
def build(project: Project) -> Builder:
    """A project with two items, the second the shorter."""
    made = Builder(project)
    made.dataset("d", {"long": "a long text", "short": "hi"})
    return made


def record(project: Project, name: str = "r") -> dict[str, Any]:
    """Return a record's file."""
    found: dict[str, Any] = json.loads((project.data / "models" / f"{name}.json").read_bytes())
    return found


# --- model-record ---


def test_a_record_is_written_and_changed(project: Project, evh: CommandLine) -> None:
    """Every part of it; a second call changes what it names alone, and says before and after."""
    words = [
        "--upstream",
        "org/Big-7B",
        "--deployment",
        "tag=7",
        "--deployment",
        "server_settings.max_len=8192",
    ]
    words += [
        "--setting",
        "temperature=0.6",
        "--price",
        "in=0.5",
        "--price",
        "usd_per_mtok_out=1.5",
        "--notes",
        "ours",
    ]
    document = evh.ok("model-record", "--model", "r", *words, "--json").json
    check(document, "model-record")
    made = {
        "model_id": "r",
        "upstream": "org/Big-7B",
        "deployment": {"tag": "7", "server_settings": {"max_len": 8192}},
        "settings": {"temperature": 0.6},
        "prices": {"usd_per_mtok_in": 0.5, "usd_per_mtok_out": 1.5},
        "smokes": [],
        "created_at": NOW,
        "notes": "ours",
    }
    assert record(project) == made
    document = evh.ok(
        "model-record", "--model", "r", "--deployment", "tag=", "--price", "in=1", "--json"
    ).json
    assert document["changes"] == [
        {"key": "deployment.tag", "before": "7", "after": None},
        {"key": "prices.usd_per_mtok_in", "before": 0.5, "after": 1},
    ]
    assert record(project) == {
        **made,
        "deployment": {"server_settings": {"max_len": 8192}},
        "prices": {"usd_per_mtok_in": 1, "usd_per_mtok_out": 1.5},
    }


def test_a_dry_record_writes_nothing(project: Project, evh: CommandLine) -> None:
    """--dry-run says what would be written, with --json too."""
    before = tree_bytes(project.root)
    assert "would write data/models/r.json" in evh.ok("model-record", "--model", "r", "--dry-run").out
    check(evh.ok("model-record", "--model", "r", "--dry-run", "--json").json, "model-record")
    assert tree_bytes(project.root) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--notes", "ask with sk-SECRETKEY12345"],
            "--notes: holds what looks like a secret (model-api-key, ",
        ),
        (["--setting", "header=Bearer sk-SECRETKEY12345"], "--setting: holds what looks like a secret"),
        (["--setting", 'more={"h": ["ghp_0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H"]}'], "(github-token, "),
        (["--notes", "the word is open-sesame!"], "--notes: holds what the environment variable MINE holds"),
        (["--deployment", "server=x open-sesame!"], "--deployment: holds what the environment variable MINE"),
        (["--upstream", "m-correct-horse"], "--upstream: holds what the environment variable OTHER_TOKEN"),
    ],
)
def test_a_secret_goes_into_no_record(
    build: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """What looks like a key, or is one of this environment, is refused and not repeated."""
    monkeypatch.setenv("MINE", "open-sesame!")
    monkeypatch.setenv("OTHER_TOKEN", "correct-horse")
    build.config("c", params={"provider": "openai", "api_key_env": "MINE"})
    outcome = evh.refused("bad-options", "model-record", "--model", "r", *words)
    (why,) = outcome.json["refused"]["why"]
    assert said in why
    assert why.endswith(": a secret is never written into a file")
    for secret in ("SECRETKEY", "ghp_0a1B", "sesame", "horse"):
        assert secret not in outcome.out + outcome.err
    assert not (build.project.data / "models").exists()


def test_a_word_that_is_no_secret_is_kept(project: Project, evh: CommandLine) -> None:
    """Names of packages and models, hashes, and short values of the environment."""
    notes = "sk-learn-like; sha256 " + "0f" * 32 + "; risk-based-2024; task-0123456789"
    evh.ok("model-record", "--model", "r", "--notes", notes, "--setting", "max_tokens=5")
    assert record(project)["notes"] == notes


def test_a_bad_record_is_refused_with_all_reasons(project: Project, evh: CommandLine) -> None:
    """No key=value, a secret, no price, a name that is none: all at once, and nothing is written."""
    words = [
        "--deployment",
        "tag",
        "--setting",
        "api_key=sk",
        "--price",
        "up=1",
        "--price",
        "in=-1",
        "--upstream",
        " ",
    ]
    why = evh.refused("bad-options", "model-record", "--model", "r", *words).json["refused"]["why"]
    assert why == [
        "--deployment tag: is no key=value",
        "--setting api_key: a secret is never written into a file",
        "--price up=1: is neither in=USD nor out=USD, US dollars a million tokens",
        "--price in=-1: is not an amount of US dollars",
        "--upstream: is no name",
    ]
    assert not (project.data / "models").exists()
    evh.refused("bad-id", "model-record", "--model", "org/big")
    evh.ok("model-record", "--model", "r")
    evh.refused("bad-options", "model-record", "--model", "r")
    (project.data / "models" / "r.json").write_text(
        '{"model_id": "r", "prices": {"usd_per_mtok_in": "dear"}}'
    )
    evh.refused("bad-record", "model-record", "--model", "r", "--notes", "x")


def test_unknown_keys_of_a_record_are_kept(project: Project, evh: CommandLine) -> None:
    """A record of another tool keeps its own keys when evh changes one."""
    (project.data / "models").mkdir()
    (project.data / "models" / "r.json").write_text('{"model_id": "r", "owner": "me"}')
    evh.ok("model-record", "--model", "r", "--notes", "x")
    assert (record(project)["owner"], record(project)["notes"]) == ("me", "x")


def test_changes_at_once_are_not_lost(project: Project) -> None:
    """Twenty threads add a smoke call each to one record: all twenty are there."""

    def add(number: int) -> None:
        def change(before: Model | None) -> Model:
            base = before or Model("r")
            return Model("r", smokes=(*base.smokes, {"n": number}))

        models.update(project, "r", change)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one["n"] for one in models.read(project, "r").smokes) == list(range(20))


# --- arm-smoke ---


def smoke_arm(build: Builder, server: Scripted, **more: Any) -> None:
    """Write an arm that asks a scripted server."""
    params = {"provider": "openai", "model": "m", "base_url": server.base_url, "usd_per_mtok_in": 1}
    build.config("c", dataset_id="d", params=params, **more)


def test_one_cheap_call_is_recorded(build: Builder, evh: CommandLine) -> None:
    """The shortest item, once; the record is made where there is none, and no run is written."""
    with Scripted([fine("hello")]) as server:
        smoke_arm(build, server, model_record="r")
        check(evh.ok("arm-smoke", "--config", "c", "--dry-run", "--json").json, "arm-smoke")
        assert server.requests == []
        document = evh.ok("arm-smoke", "--config", "c", "--json").json
        check(document, "arm-smoke")
        assert "answered" in evh.ok("arm-smoke", "--config", "c", "--item", "long").out
    assert [one.body["messages"][0]["content"] for one in server.requests] == ["hi", "a long text"]
    (row,) = document["smokes"]
    assert (row["ok"], row["output"], row["tokens_in"], row["model"]) == (True, "hello", 11, "scripted-1")
    made = record(build.project)
    assert made["upstream"] == "m"
    assert [(one["item_id"], one["ok"], one["at"]) for one in made["smokes"]] == [
        ("short", True, NOW),
        ("long", True, NOW),
    ]
    assert not (build.project.data / "runs").exists()


def test_a_call_that_fails_is_recorded_too(build: Builder, evh: CommandLine) -> None:
    """Exit 3, one try, the reason told and kept; without a record it says that nothing is kept."""
    with Scripted([error(500, "down")]) as server:
        smoke_arm(build, server, model_record="r")
        outcome = evh("arm-smoke", "--config", "c", "--json")
        check(outcome.json, "arm-smoke")
        assert (outcome.code, len(server.requests)) == (3, 1)
        assert "failing: HTTP 500: down" in evh("arm-smoke", "--config", "c").err
        build.config(
            "e", dataset_id="d", params={"provider": "openai", "model": "m", "base_url": server.base_url}
        )
        assert "names no model_record" in evh("arm-smoke", "--config", "e").err
    assert [one["error"] for one in record(build.project)["smokes"]] == ["failing: HTTP 500: down"] * 2


def test_what_an_arm_without_a_record_showed_can_be_recorded(build: Builder, evh: CommandLine) -> None:
    """What answered, its build and price are in the command that writes the record; it then takes calls."""
    with Scripted([fine("hello")]) as server:
        smoke_arm(build, server)
        document = evh.ok("arm-smoke", "--config", "c", "--json").json
        check(document, "arm-smoke")
        (row,) = document["smokes"]
        assert row["model_record"] is None
        assert row["record_command"] == (
            "evh model-record --model m --upstream m --deployment tag=scripted-1 --price in=1"
        )
        assert not (build.project.data / "models").exists()
        told = evh.ok("arm-smoke", "--config", "c")
        assert row["record_command"] in told.out
        assert "to record calls, name it in data/configs/c.yaml: model_record: m" in told.out
        assert "c names no model_record: what is seen is told, and not recorded" in told.err
        evh.ok(*shlex.split(row["record_command"])[1:])
        again = evh.ok("arm-smoke", "--config", "c", "--json").json["smokes"][0]
        assert again["record_command"] is None
        assert "the model record m is of this model" in evh.ok("arm-smoke", "--config", "c").out
        with (build.project.data / "configs" / "c.yaml").open("a") as config:
            config.write("model_record: m\n")
        assert evh.ok("arm-smoke", "--config", "c", "--json").json["smokes"][0]["model_record"] == "m"
    made = record(build.project, "m")
    assert made["deployment"] == {"tag": "scripted-1"}
    assert len(made["smokes"]) == 1


def test_a_hostile_reply_stays_one_word_of_the_command(build: Builder, evh: CommandLine) -> None:
    """The server's name of the model is quoted; one with an escape in it is left out; the id is an id."""
    said = {**message("hello"), "model": "x; rm -rf ~", "system_fingerprint": "\u001b[2J"}
    with Scripted([http(200, said)]) as server:
        params = {"provider": "openai", "model": "org/Big 7B:q4", "base_url": server.base_url}
        build.config("c", dataset_id="d", params=params)
        (row,) = evh.ok("arm-smoke", "--config", "c", "--json").json["smokes"]
    assert shlex.split(row["record_command"]) == [
        "evh", "model-record", "--model", "org-Big-7B-q4", "--upstream", "org/Big 7B:q4",
        "--deployment", "tag=x; rm -rf ~",
    ]  # fmt: skip


def test_any_arm_can_be_tried_but_a_recorded_one(build: Builder, evh: CommandLine) -> None:
    """A command answers; a replay of production calls nothing; an unknown item is refused."""
    build.config("c", dataset_id="d", params={"provider": "command", "command": "tr a-z A-Z"})
    assert evh.ok("arm-smoke", "--config", "c", "--json").json["smokes"][0]["output"] == "HI"
    evh.refused("no-such-item", "arm-smoke", "--config", "c", "--item", "nope")
    build.config("p", dataset_id="d", params={"provider": "recorded", "capture": "k"})
    evh.refused("nothing-called", "arm-smoke", "--config", "p")
    build.config("x", params={"provider": "openai", "model": "m"})
    evh.refused("no-dataset", "arm-smoke", "--config", "x")
    evh.refused("no-base-url", "arm-smoke", "--config", "x", "--dataset-id", "d")


# --- models, arms ---


def test_models_are_listed_with_their_arms(build: Builder, evh: CommandLine) -> None:
    """The arms that name each, its last smoke call, and the records that are named and not here."""
    check(evh.ok("models", "--json").json, "models")
    with Scripted([fine()]) as server:
        smoke_arm(build, server, model_record="r")
        evh.ok("arm-smoke", "--config", "c")
    build.config("e", model_record="gone")
    document = evh.ok("models", "--json").json
    check(document, "models")
    assert [(one["model_id"], one["arms"]) for one in document["models"]] == [("r", ["c"])]
    assert document["warnings"] == ["e: the model record gone is not here (evh model-record --model gone)"]
    assert "scripted" not in evh.ok("models").out
    assert NOW in evh.ok("models").out


def test_arms_are_listed_with_what_they_cost(build: Builder, evh: CommandLine) -> None:
    """Each config, run or not, and each arm that ran without one: its kind, runs, datasets and cost."""
    check(evh.ok("arms", "--json").json, "arms")
    with Scripted([fine()]) as server:
        smoke_arm(build, server)
        evh.ok("run", "--config", "c", "--repeat", "2")
    build.config("idle", dataset_id="d")
    build.run("gone", "d", {"long": "x"}, params={"provider": "python", "model": "old"})
    document = evh.ok("arms", "--json").json
    check(document, "arms")
    rows = {one["config_id"]: one for one in document["arms"]}
    assert list(rows) == ["c", "gone", "idle"]
    assert (rows["c"]["kind"], rows["c"]["model"], rows["c"]["n_runs"]) == ("openai", "m", 2)
    assert rows["c"]["cost_usd"] == pytest.approx(44e-6)  # two runs of two items of 11 tokens at 1 USD
    assert (rows["gone"]["here"], rows["gone"]["model"], rows["gone"]["cost_usd"]) == (False, "old", None)
    assert (rows["idle"]["n_runs"], rows["idle"]["latest"]) == (0, None)
    assert "evh run --config idle" in evh.ok("arms").out
    assert "their configs are not here: gone" in evh.ok("arms").err
    evh.refused("no-such-dataset", "arms", "--dataset-id", "nope")
