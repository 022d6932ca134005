"""The deploy sheet: what production must match; and a capture held against it, record by record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.acts.deploy_sheet import deploy_sheet
from evh.project import models
from evh.project.find import Project
from evh.records.model import Model
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

CASES = Path(__file__).parents[1] / "cases" / "airline-agent"
TASKS = [json.loads(line) for line in (CASES / "tasks.jsonl").read_text().splitlines()]
PROMPT = (CASES / "system_prompt.txt").read_bytes()
# Which model answered, and when, is not in the source: these are made up.
OLD, NEW = "agent-1", "agent-2"
RUN = "airline_v2_20261001T000000Z"


def records(*, prompt: bool = True, model: bool = True) -> list[dict[str, Any]]:
    """Return the tasks as ten a day of production; on the first day another model answered."""
    made = []
    for at, one in enumerate(TASKS):
        day = f"2026-11-{1 + at // 10:02}"
        ran: dict[str, Any] = {}
        if model:
            ran["model"] = OLD if at < 10 else NEW
        if prompt:
            ran["prompt_sha256"] = sha256(PROMPT)
        made.append(
            {
                "record_id": f"r{at}",
                "ts": f"{day}T09:00:00Z",
                "item": one["instruction"],
                "output": one["said"][0],
                "production": ran or None,
            }
        )
    return made


@pytest.fixture
def build(project: Project) -> Builder:
    """The airline agent as an arm that was run with its policy as the prompt, and its model's record."""
    made = Builder(project)
    (project.data / "prompts").mkdir()
    (project.data / "prompts" / "policy.txt").write_bytes(PROMPT)
    params = {
        "provider": "openai", "model": NEW, "prompt_file": "prompts/policy.txt", "temperature": 0.0,
        "usd_per_mtok_in": 2.5,
    }  # fmt: skip
    made.dataset("airline", {f"t{one['task_id']}": one["instruction"] for one in TASKS})
    made.config("airline_v2", params=params, dataset_id="airline")
    made.run(
        "airline_v2",
        "airline",
        {f"t{one['task_id']}": one["said"][1] or "(nothing)" for one in TASKS},
        scores={f"t{one['task_id']}": {"reward": one["rewards"][1]} for one in TASKS},
        params={**params, "prompt_sha256": sha256(PROMPT)},
        fingerprint={
            "hash": "f" * 64,
            "arm": {"config_id": "airline_v2", "model_record": "agent"},
            "instrument": {"adapter": "default", "adapter_sha256": "a" * 64},
            "data": {"dataset": "airline", "items_sha256": "b" * 64},
            "system_under_test": {"model": NEW, "prompt_sha256": sha256(PROMPT)},
        },
    )
    (project.data / "goals").mkdir()
    (project.data / "goals" / "serve.yaml").write_text("datasets: [airline]\nmetric: reward\n")
    return made


def record_of_model(project: Project) -> None:
    """Write the model record that the arm names."""
    models.update(
        project,
        "agent",
        lambda _: Model(
            "agent",
            upstream=NEW,
            deployment={"tag": "v2", "digest": "sha256:abc", "server": "vllm 0.9"},
            settings={"temperature": 0.0, "reasoning_effort": "none"},
        ),
    )


def ask_in_full(project: Project, **sent: Any) -> None:
    """Put the whole request into the fingerprint of the arm's run, as a run that asked a server has it."""
    path = project.data / "runs" / RUN / "metrics.json"
    raw = json.loads(path.read_text())
    body = {"model": NEW, "messages": [{"role": "user", "content": "{{item}}"}], "temperature": 0.0, **sent}
    raw["fingerprint"]["system_under_test"]["request"] = {"base_url": "http://127.0.0.1:9/v1", "body": body}
    path.write_text(json.dumps(raw))


def promote(evh: CommandLine) -> None:
    """Promote the arm's run."""
    evh.ok("promote", "--run", RUN, "--goal", "serve", "--reason", "44 % of the rewards")


def test_the_sheet_says_everything_that_production_must_match(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """Model and build, every setting sent, what the record says and was not sent, prompt, adapter, data."""
    record_of_model(project)
    promote(evh)
    found = evh.ok("deploy-sheet", "--config", "airline_v2", "--json").json
    check(found, "deploy-sheet")
    (made,) = found["sheets"]
    assert found["warnings"] == []
    assert (made["run"], made["model"], made["provider"]) == (f"runs/{RUN}", NEW, "openai")
    assert made["deployment"] == {"tag": "v2", "digest": "sha256:abc", "server": "vllm 0.9"}
    assert made["settings"] == {"temperature": 0.0}
    assert made["not_sent"] == [{"name": "reasoning_effort", "record": "none", "sent": None}]
    assert (made["prompt_file"], made["prompt_sha256"]) == ("prompts/policy.txt", sha256(PROMPT))
    assert (made["adapter_sha256"], made["items_sha256"], made["fingerprint"]) == (
        "a" * 64,
        "b" * 64,
        "f" * 64,
    )
    assert [one["goal"] for one in made["promotions"]] == ["serve"]
    told = evh.ok("deploy-sheet", "--config", "airline_v2").out
    assert "the model record says reasoning_effort: none, and it was not sent" in told
    assert "promoted for serve 2026-11-01T08:02:32Z: 44 % of the rewards" in told


def test_without_a_promotion_the_latest_run_is_read_and_that_is_said(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """So is a config that says something else now."""
    found = evh.ok("deploy-sheet", "--config", "airline_v2", "--json").json
    assert f"no run of airline_v2 was promoted: this is its latest, {RUN}" in found["warnings"]
    path = project.data / "configs" / "airline_v2.yaml"
    path.write_text(path.read_text().replace("temperature: 0.0", "temperature: 0.7"))
    found = evh.ok("deploy-sheet", "--config", "airline_v2", "--json").json
    assert "the config airline_v2 says something else now than what ran: temperature" in found["warnings"]


def test_a_model_record_that_changed_since_is_said(build: Builder, project: Project) -> None:
    """A run says the identity of the record that it was made by."""
    record_of_model(project)
    path = project.data / "runs" / RUN / "metrics.json"
    raw = json.loads(path.read_text())
    raw["fingerprint"]["system_under_test"]["model_record_sha256"] = "0" * 64
    path.write_text(json.dumps(raw))
    assert any("says another build" in note for note in deploy_sheet(project, "airline_v2").notes)


def test_a_capture_that_differs_says_on_which_days(build: Builder, evh: CommandLine) -> None:
    """Of 50 records of the airline agent ten, all on the first day, were made by another model: exit 1."""
    build.capture("november", records())
    promote(evh)
    outcome = evh("deploy-sheet", "--config", "airline_v2", "--capture", "november", "--json")
    assert outcome.code == 1
    check(outcome.json, "deploy-sheet")
    made = outcome.json["sheets"][0]["check"]
    assert (made["n"], made["match"], made["differ"], made["not_recorded"]) == (50, 40, 10, 0)
    assert [(one["day"], one["match"], one["differ"]) for one in made["days"]] == [
        ("2026-11-01", 0, 10),
        ("2026-11-02", 10, 0),
        ("2026-11-03", 10, 0),
        ("2026-11-04", 10, 0),
        ("2026-11-05", 10, 0),
    ]
    assert made["differences"] == [
        {"what": "model", "expected": NEW, "found": OLD, "n": 10, "days": ["2026-11-01"]}
    ]
    assert (made["sentence"], made["no_settings"]) == (None, 40)
    told = evh("deploy-sheet", "--config", "airline_v2", "--capture", "november")
    assert told.code == 1
    assert "november: of 50 records 40 match, 10 differ, 0 not recorded" in told.out
    assert f"model: {OLD} in place of {NEW}: 10 records, on 2026-11-01" in told.out


def test_only_a_capture_that_matches_whole_says_so(build: Builder, evh: CommandLine) -> None:
    """Every record by the promoted model and prompt: the sentence, and exit 0."""
    build.capture("later", records()[10:])
    words = ["deploy-sheet", "--config", "airline_v2", "--capture", "later", "--json"]
    said = evh.ok(*words).json["sheets"][0]["check"]["sentence"]
    assert said == "every captured decision was made by the measured model and prompt"
    promote(evh)
    said = evh.ok(*words).json["sheets"][0]["check"]["sentence"]
    assert said == "every captured decision was made by the promoted model and prompt"


@pytest.mark.parametrize(
    ("kept", "lacking"),
    [({"prompt": False}, {"prompt": 40}), ({"prompt": False, "model": False}, {"prompt": 40, "model": 40})],
)
def test_what_is_not_recorded_is_not_a_match(
    build: Builder, evh: CommandLine, kept: dict[str, bool], lacking: dict[str, int]
) -> None:
    """Without the prompt on record nothing matches; no sentence, and exit 0: nothing is known to differ."""
    build.capture("later", records(**kept)[10:])
    promote(evh)
    made = evh.ok("deploy-sheet", "--config", "airline_v2", "--capture", "later", "--json").json
    found = made["sheets"][0]["check"]
    assert (found["match"], found["differ"], found["not_recorded"]) == (0, 0, 40)
    assert (found["lacking"], found["sentence"]) == (lacking, None)


@pytest.mark.parametrize(
    ("ran", "what"),
    [
        ({"prompt_sha256": "0" * 64}, ("prompt", "0" * 64)),
        ({"settings": {"temperature": 1.0}}, ("temperature", "1.0")),
        ({"settings": {"reasoning_effort": "high"}}, ("reasoning_effort", "high")),
        ({"digest": "sha256:other"}, ("digest", "sha256:other")),
        ({"model": "<script>"}, ("model", "<script>")),
    ],
)
def test_every_part_can_differ(
    build: Builder, project: Project, evh: CommandLine, ran: dict[str, Any], what: tuple[str, str]
) -> None:
    """The prompt, a setting that was sent, one that was not, the build; a hostile name is only text."""
    record_of_model(project)
    ask_in_full(project)
    one = records()[20]
    build.capture("one", [{**one, "production": {**one["production"], **ran}}])
    outcome = evh("deploy-sheet", "--config", "airline_v2", "--capture", "one", "--json")
    assert outcome.code == 1
    (found,) = outcome.json["sheets"][0]["check"]["differences"]
    assert (found["what"], found["found"]) == what


def test_the_models_names_are_one_model(build: Builder, project: Project, evh: CommandLine) -> None:
    """What the record is called, what the server calls it, what the config says: each is the same model."""
    record_of_model(project)
    rows = [{**one, "production": {**one["production"], "model": "agent"}} for one in records()[10:20]]
    build.capture("named", rows)
    made = evh.ok("deploy-sheet", "--config", "airline_v2", "--capture", "named", "--json").json
    assert made["sheets"][0]["check"]["match"] == 10


def test_what_has_no_sheet_is_refused(build: Builder, evh: CommandLine) -> None:
    """A recorded arm, one that never ran, an unknown one, an unknown capture."""
    build.run("production", "airline", {"t0": "x"}, params={"provider": "recorded", "capture": "c"})
    evh.refused("recorded-arm", "deploy-sheet", "--config", "production")
    build.config("idle")
    evh.refused("never-ran", "deploy-sheet", "--config", "idle")
    evh.refused("no-such-arm", "deploy-sheet", "--config", "airline_v3")
    evh.refused("no-such-capture", "deploy-sheet", "--config", "airline_v2", "--capture", "zzz")


def settings_sent(build: Builder, **settings: Any) -> None:
    """Write a capture ``sent``: ten records of two days, of which the first four send these settings too."""
    rows = records()[15:25]
    for row in rows:
        row["production"]["settings"] = {"temperature": 0.0}
    for row in rows[:4]:
        row["production"]["settings"] |= settings
    build.capture("sent", rows)


def test_a_setting_that_was_not_sent_differs_where_the_request_is_known(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """The whole request is on record, and top_p is not in it: four of ten records ran something else."""
    ask_in_full(project)
    settings_sent(build, top_p=0.9)
    outcome = evh("deploy-sheet", "--config", "airline_v2", "--capture", "sent", "--json")
    assert outcome.code == 1
    check(outcome.json, "deploy-sheet")
    made = outcome.json["sheets"][0]["check"]
    assert (made["match"], made["differ"], made["unsaid"]) == (6, 4, [])
    assert made["differences"] == [
        {"what": "top_p", "expected": None, "found": "0.9", "n": 4, "days": ["2026-11-02"]}
    ]


@pytest.mark.parametrize("full", [True, False])
def test_a_setting_that_is_the_servers_own_matches(
    build: Builder, project: Project, evh: CommandLine, *, full: bool
) -> None:
    """The model record says that reasoning_effort is none: production that sends it runs the same."""
    record_of_model(project)
    if full:
        ask_in_full(project)
    settings_sent(build, reasoning_effort="none")
    made = evh.ok("deploy-sheet", "--config", "airline_v2", "--capture", "sent", "--json").json
    found = made["sheets"][0]["check"]
    assert (found["match"], found["differences"], found["unsaid"]) == (10, [], [])


def test_what_its_server_was_started_with_is_the_servers_own(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """``deployment.server_settings`` holds top_k 40: 40 matches, 20 does not."""
    models.update(project, "agent", lambda _: Model("agent", deployment={"server_settings": {"top_k": 40}}))
    ask_in_full(project)
    settings_sent(build, top_k=40)
    assert evh("deploy-sheet", "--config", "airline_v2", "--capture", "sent").code == 0
    rows = records()[20:21]
    rows[0]["production"]["settings"] = {"top_k": 20}
    build.capture("other", rows)
    outcome = evh("deploy-sheet", "--config", "airline_v2", "--capture", "other")
    assert outcome.code == 1
    assert "top_k: 20 in place of nothing: 1 record, on 2026-11-03" in outcome.out


def test_a_setting_of_which_the_measured_run_does_not_say_is_told_apart(
    build: Builder, evh: CommandLine
) -> None:
    """Without the request on record it is neither a difference nor hidden: exit 0, four records counted."""
    settings_sent(build, top_p=0.9, note="<b>")
    outcome = evh.ok("deploy-sheet", "--config", "airline_v2", "--capture", "sent", "--json")
    check(outcome.json, "deploy-sheet")
    found = outcome.json["sheets"][0]["check"]
    assert (found["match"], found["differ"], found["differences"]) == (10, 0, [])
    assert found["unsaid"] == [
        {"what": "note", "found": "<b>", "n": 4, "days": ["2026-11-02"]},
        {"what": "top_p", "found": "0.9", "n": 4, "days": ["2026-11-02"]},
    ]
    told = evh.ok("deploy-sheet", "--config", "airline_v2", "--capture", "sent").out
    assert "4 records send top_p = 0.9; what was measured does not say" in told


def test_a_setting_that_was_sent_still_differs_where_not_all_is_known(
    build: Builder, evh: CommandLine
) -> None:
    """The temperature is among the settings that the run recorded: another one is a difference."""
    settings_sent(build, temperature=0.7)
    outcome = evh("deploy-sheet", "--config", "airline_v2", "--capture", "sent", "--json")
    assert outcome.code == 1
    found = outcome.json["sheets"][0]["check"]
    assert [(one["what"], one["expected"], one["n"]) for one in found["differences"]] == [
        ("temperature", "0.0", 4)
    ]
    assert found["unsaid"] == []


def test_a_trial_says_over_how_many_items(build: Builder, evh: CommandLine) -> None:
    """Only a trial ran: it is read, and what it was measured on is said; after a whole run that one is."""
    said = {f"t{one['task_id']}": "done" for one in TASKS[:5]}
    build.config("idle", dataset_id="airline")
    build.run("idle", "airline", said, at="20261003T000000Z", extra={"limit": 5})
    note = "idle_20261003T000000Z was a trial: measured on 5 of 50 items only"
    assert note in evh.ok("deploy-sheet", "--config", "idle", "--json").json["warnings"]
    assert note in evh.ok("deploy-sheet", "--config", "idle").err
    whole = {f"t{one['task_id']}": "done" for one in TASKS}
    build.run("idle", "airline", whole, at="20261002T000000Z")
    found = evh.ok("deploy-sheet", "--config", "idle", "--json").json
    assert found["sheets"][0]["run"] == "runs/idle_20261002T000000Z"
    assert not any("trial" in note for note in found["warnings"])
