"""The evidence labeler: the acceptance tests of its brief by their names, and what is sent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evh.project.find import Project
from evh.store.hashing import sha256_text
from tests.acts.labeling import (
    QUESTION,
    TEXTS,
    answer,
    chats,
    chunk_of,
    decide,
    label,
    log,
    rows,
    scripted,
)
from tests.conftest import CommandLine
from tests.helpers import tree_bytes
from tests.servers.replies import error, fine, http
from tests.servers.scripted import Play, Request, Scripted

# --- the acceptance tests of the brief


def test_a1_one_label_per_chunk(project: Project, evh: CommandLine) -> None:
    """No duplicates, no gaps against the log's chunks; equal texts are one call and one label."""
    log(evh, [*TEXTS, TEXTS[0], TEXTS[3]])
    with Scripted(answer) as server:
        made = label(evh, server)["journals"][0]
    labels = rows(project)
    assert sorted(one["chunk_sha"] for one in labels) == sorted(map(sha256_text, TEXTS))
    assert len(chats(server)) == 10
    assert (made["n_chunks"], made["n_distinct"], made["n_left"]) == (12, 10, 0)
    # By places 3 of 12 speak of a refund (0, 5 and the second 0), by contents 2 of 10.
    assert (made["label_rate"]["count"], made["label_rate"]["n"]) == (3, 12)
    assert (made["label_rate_distinct"]["count"], made["label_rate_distinct"]["n"]) == (2, 10)


def test_a2_keyed_by_sha(project: Project, evh: CommandLine) -> None:
    """Labels name the content: with the log turned round no label moves, and nothing is asked again."""
    log(evh)
    with Scripted(answer) as server:
        label(evh, server)
        before = {one["chunk_sha"]: one["label"] for one in rows(project)}
        log(evh, TEXTS[::-1])
        label(evh, server)
        assert len(chats(server)) == 10
    assert {one["chunk_sha"]: one["label"] for one in rows(project)} == before
    assert before == {sha256_text(text): "refund" in text for text in TEXTS}
    evh.ok("evidence-freeze", "--project", "p", "--query", "q", "--set", "s")
    place = project.data / "labels" / "p.q" / "s"
    assert [(place / f"{9 - t:06d}.txt").read_text() for t in range(10)] == [
        "yes" if "refund" in text else "no" for text in TEXTS
    ]


def test_a3_no_tools_sent(evh: CommandLine) -> None:
    """No request has a key that speaks of tools, at all."""
    log(evh)
    with Scripted(answer) as server:
        label(evh, server, "--constrain", "--probes", "4", "--repeat", "3")
        bodies = [one.body for one in chats(server)]
    assert len(bodies) == 10 * 3 + 4 + 1
    for body in bodies:
        assert not {"tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"} & set(body)


def test_a4_context_budget(evh: CommandLine, project: Project) -> None:
    """Every prompt and its answer fit in 16,384 tokens, by the server's own count; too long is a failure."""
    log(evh, ["word " * 4_000 + str(n) for n in range(3)] + ["word " * 20_000, "short"])

    def counting(request: Request) -> Play:
        if request.path == "/tokenize":
            words = sum(len(one["content"].split()) for one in request.body["messages"])
            return http(200, {"count": words * 2, "max_model_len": 16_384})
        return answer(request)

    with Scripted(counting) as server:
        made = label(evh, server, code=3)
        asked = chats(server)
    assert len(asked) == 4
    for one in asked:
        tokens = len(one.body["messages"][0]["content"].split()) * 2
        assert tokens <= 16_384 - one.body["max_tokens"]
        assert one.body["max_tokens"] == 2_048 + 128
    assert [one["kind"] for one in made["failed"]] == ["too_long"]
    rungs = {one["rung"] for one in rows(project, "q~readings.jsonl")}
    assert rungs == {"bytes", "tokenize"}


def test_a5_resume(project: Project, evh: CommandLine) -> None:
    """Labelled and run again: no call, and not a byte of the project changes."""
    log(evh)
    with Scripted(answer) as server:
        label(evh, server, "--limit", "4")
        assert (len(chats(server)), len(rows(project))) == (4, 4)
        label(evh, server)
        assert len(chats(server)) == 10
        before, sent = tree_bytes(project.data), len(server.requests)
        made = label(evh, server)
        assert len(server.requests) == sent
    assert tree_bytes(project.data) == before
    assert (made["journals"][0]["n_new"], made["journals"][0]["n_left"]) == (0, 0)


def test_a5_a_complete_journal_needs_no_server_and_no_cache(project: Project, evh: CommandLine) -> None:
    """On a fresh clone, with no server named, a complete journal is told from its files."""
    log(evh)
    with Scripted(answer) as server:
        label(evh, server)
    for path in (project.root / ".cache").rglob("*.json"):
        path.unlink()
    made = evh.ok("label-evidence", "--project", "p", "--query", "q", "--json").json
    assert (made["journals"][0]["n_calls"], made["journals"][0]["n_left"]) == (0, 0)


def test_a6_justification_kept(project: Project, evh: CommandLine) -> None:
    """Every label has a reason; a reply without one is asked again, then is the failure ``no_reason``."""
    log(evh)

    def mute(request: Request) -> Play:
        return (
            fine("Yes.")
            if request.path.endswith("completions") and "turn 3" in chunk_of(request)
            else answer(request)
        )

    with Scripted(mute) as server:
        made = label(evh, server, code=3)
    assert all(one["why"].strip() for one in rows(project))
    assert rows(project)[0]["why"] == "It does speak of a refund." or len(rows(project)) == 9
    assert [(one["kind"], one["chunk_sha"]) for one in made["failed"]] == [
        ("no_reason", sha256_text(TEXTS[3]))
    ]
    assert len(chats(server)) == 11


def test_a7_rate_reported(project: Project, evh: CommandLine) -> None:
    """The summary says the label rate and the controller's update rate, with n and intervals."""
    log(evh)
    with Scripted(answer) as server:
        words = ("label-evidence", "--project", "p", "--query", "q", "--base-url", server.base_url)
        told = evh.ok(*words).out
        assert "label rate: 0.200 [0.057, 0.510] (2 of 10)" in told  # Wilson, by Newcombe's method 3
        assert "update rate: — (no decisions recorded)" in told
        assert "proxy" in told
        decide(project, {t: t < 4 for t in range(10)})
        told = evh.ok(*words).out
    assert "update rate: 0.400 [0.168, 0.687] (4 of 10)" in told
    # Labels are yes at 0 and 5, updates at 0..3: right at 0, 4, 6, 7, 8, 9, so (6 - 4) / 10.
    assert "r_update: +0.200" in told


@pytest.mark.skipif("EVH_LIVE_BASE_URL" not in os.environ, reason="EVH_LIVE_BASE_URL names no server")
def test_a8_live(project: Project, evh: CommandLine, capsys: pytest.CaptureFixture[str]) -> None:
    """20 real chunks through a real model; labels and reasons are printed for a person to read."""
    meeting = Path(__file__).resolve().parents[1] / "cases" / "meetings" / "Bed016.json"
    evh.ok("log-import", meeting, "--project", "p", "--chunk-tokens", "250")
    evh.ok("query-add", "--project", "p", "--query", "q", "--question", "What was said about the EML talk?")
    think = os.environ.get("EVH_LIVE_THINK_TOKENS", "2048")
    model = os.environ.get("EVH_LIVE_MODEL", "reasoning")
    words = ("label-evidence", "--project", "p", "--query", "q", "--model", model, "--think-tokens", think)
    done = evh(*words, "--base-url", os.environ["EVH_LIVE_BASE_URL"], "--limit", "20", "--json")
    assert done.code in (0, 3), done.out + done.err
    made = rows(project)
    with capsys.disabled():
        print()
        for one in made:
            print(f"{one['t']:4} {'yes' if one['label'] else 'no '} {one['why'][:160]}")
        for one in rows(project, "q~failed.jsonl"):
            print(f"{one['t']:4} {one['kind']}: {one['says'][:160]}")
    assert len(made) + len({one["chunk_sha"] for one in rows(project, "q~failed.jsonl")}) == 20


# --- the two false passes of the brief


def test_a_log_cut_anew_moves_no_label(project: Project, evh: CommandLine) -> None:
    """With a chunk put in front every ``t`` shifts: labels and rewards stay with the texts."""
    log(evh)
    with Scripted(answer) as server:
        label(evh, server)
        decide(project, {t: "refund" in TEXTS[t] for t in range(10)})
        log(evh, ["user: a new beginning.", *TEXTS])
        made = label(evh, server)["journals"][0]
        assert len(chats(server)) == 11
    # Keyed by t, the decisions of old places 0 and 5 would meet the labels of other texts.
    assert (made["r_update"]["n"], made["r_update"]["mean"]) == (10, 1.0)
    assert (made["label_rate"]["count"], made["label_rate"]["n"]) == (2, 11)


def test_the_reasons_are_in_the_set_as_notes(project: Project, evh: CommandLine) -> None:
    """A journal that became a label set keeps each reason, as the note of its item."""
    log(evh)
    with Scripted(answer) as server:
        label(evh, server)
    evh.ok("evidence-freeze", "--project", "p", "--query", "q", "--set", "s")
    made = json.loads((project.data / "labels" / "p.q" / "s" / "labels.json").read_text())
    assert {one["note"] for one in made["items"].values()} == {
        "It does speak of a refund.",
        "It does not speak of a refund.",
    }


# --- what is sent


def test_a_request_holds_one_fenced_chunk_and_no_system_prompt(evh: CommandLine) -> None:
    """One message of the user's: the question before and after, the chunk between two lines of a nonce."""
    log(evh, ["the only chunk"])
    with Scripted(answer) as server:
        label(evh, server)
        (request,) = chats(server)
    (one,) = request.body["messages"]
    assert one["role"] == "user"
    assert one["content"].count(QUESTION) == 2
    assert chunk_of(request) == "the only chunk"
    assert (request.body["temperature"], request.body["top_p"], request.body["max_tokens"]) == (
        0.6,
        0.95,
        2176,
    )
    assert isinstance(request.body["seed"], int)


def test_the_key_is_in_no_file(project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes along as a bearer token, and nowhere else."""
    key = "sk-secret-0123456789"
    monkeypatch.setenv("MY_KEY", key)
    (project.root / "evh.toml").write_text('[project]\nname = "x"\n[labeler]\napi_key_env = "MY_KEY"\n')
    log(evh, ["a", "b"])
    with Scripted(scripted(fine("yes, so it is"), error(401, f"bad key {key}"))) as server:
        words = ("label-evidence", "--project", "p", "--query", "q", "--base-url", server.base_url)
        done = evh(*words, "--concurrency", "1")
        assert server.requests[-1].headers["authorization"] == f"Bearer {key}"
    assert key not in done.out + done.err
    assert not [name for name, data in tree_bytes(project.root).items() if key.encode() in data]
    monkeypatch.delenv("MY_KEY")
    evh.refused("no-key", "label-evidence", "--project", "p", "--query", "q", "--base-url", "http://x/v1")


def test_a_key_that_the_server_repeats_and_absurd_counts_are_in_no_file(
    project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answer, thought and names are kept without the key; a count that is none is as if it were not told."""
    key = "sk-secret-0123456789"
    monkeypatch.setenv("MY_KEY", key)
    (project.root / "evh.toml").write_text('[project]\nname = "x"\n[labeler]\napi_key_env = "MY_KEY"\n')
    log(evh, ["a"])
    said = {"content": f"Yes. It says {key}.", "reasoning": f"hm, {key}"}
    reply = {
        "model": f"m {key}",
        "choices": [{"message": said, "finish_reason": f"stop {key}"}],
        "usage": {"prompt_tokens": -5, "completion_tokens": 10**30, "cost": -3},
    }
    with Scripted(scripted(http(200, reply))) as server:
        made = label(evh, server)
    assert not [name for name, data in tree_bytes(project.root).items() if key.encode() in data]
    assert [one["why"] for one in rows(project)] == ["It says [api key]."]
    (reading,) = rows(project, "q~readings.jsonl")
    assert reading["reasoning"] == "hm, [api key]"
    assert not {"tokens_in", "tokens_out", "cost_usd"} & reading.keys()
    assert "API key" in reading["note"]
    assert (made["journals"][0]["tokens"], made["journals"][0]["cost_usd"]) == (0, None)


# --- the lexical baseline


def test_overlap_asks_nobody_and_says_what_it_is(project: Project, evh: CommandLine) -> None:
    """The baseline needs no server; its rows name it as a baseline, by model and in every reason."""
    log(evh)
    told = evh.ok("label-evidence", "--project", "p", "--query", "q", "--provider", "overlap").out
    assert "overlap-baseline" in told
    labels = rows(project)
    assert {one["model"] for one in labels} == {"overlap-baseline"}
    assert all(one["why"].startswith("The lexical baseline finds") for one in labels)
    evh.refused(
        "bad-settings",
        "label-evidence",
        "--project",
        "p",
        "--query",
        "q",
        "--provider",
        "overlap",
        "--model",
        "x",
        "--journal",
        "j",
    )
