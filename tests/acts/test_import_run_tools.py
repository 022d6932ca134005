"""Logs of four tools, true to their documented forms, become runs that say so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.project import imported, runs
from evh.project.find import Project
from tests.acts.tool_logs import (
    events,
    inspect_log,
    lm_line,
    only,
    promptfoo,
    put,
    result,
    sample,
    three_reports,
    words,
)
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check


@pytest.fixture
def d(project: Project) -> Builder:
    """The project of `three_reports`."""
    return three_reports(project)


def test_promptfoo_results_become_a_run(d: Builder, project: Project, evh: CommandLine) -> None:
    """By item_id, description and the text of a var; a failed call is no score, a failed assertion is one."""
    log = promptfoo(
        result({"item_id": "i1", "report": "x"}, "file", namedScores={"polite": 0.75}),
        result(
            {"report": "y"},
            {"verdict": "close", "sure": True},
            testCase={"description": "i2"},
            success=False,
            failureReason=1,
            error="Expected output to equal 'file'",
            score=0.25,
        ),
        result(
            {"report": "report 3"},
            None,
            failureReason=2,
            error="429 Too Many Requests",
            score=0,
            success=False,
        ),
    )
    made = evh.ok(*words(put(project, "results.json", log), "promptfoo"), "--json").json
    check(made, "import-run")
    run, rows, outputs = only(project)
    assert outputs == {"i1": "file", "i2": '{"sure":true,"verdict":"close"}'}
    assert rows["i1"].scores == {"pass": 1.0, "score": 1, "polite": 0.75}
    assert rows["i2"].scores == {"pass": 0.0, "score": 0.25}
    assert (rows["i3"].error, rows["i3"].scores) == ("429 Too Many Requests", {})
    assert (rows["i1"].latency_ms, rows["i1"].tokens_in, rows["i1"].tokens_out, rows["i1"].cost_usd) == (
        400,
        20,
        3,
        0.001,
    )
    assert rows["i1"].decision == "file"
    assert run.scores == {"pass": 0.5, "polite": 0.75, "score": 0.625}
    assert (run.primary_metric, run.n_items, run.n_errors, run.build) == ("pass", 3, 1, None)
    assert run.params["model"] == "openai:gpt-4o-mini"
    # sha256 of "Decide: {{report}}", by sha256sum
    assert run.params["prompt_sha256"] == "2971743c2f0fe08861eeac8c74e059dd4f4fae1d5e3d45d621282819eefb8d19"
    facts = imported.of_run(run)
    assert facts is not None
    assert (facts["tool"], facts["version"], facts["made_at"], facts["dropped"]) == (
        "promptfoo",
        "0.120.1",
        "2026-10-30T09:00:00.000Z",
        {},
    )
    assert run.reference_id is None
    assert evh.ok("validate").code == 0


def test_promptfoo_with_two_providers_is_two_arms(d: Builder, project: Project, evh: CommandLine) -> None:
    """One run is one arm: which is asked, and the other's rows are counted."""
    log = promptfoo(
        result({"item_id": "i1"}, "file"),
        result({"item_id": "i1"}, "close", provider={"id": "local:b"}, promptIdx=1),
    )
    path = put(project, "results.json", log)
    told = evh.refused("which-part", *words(path, "promptfoo")).json["refused"]
    assert "'openai:gpt-4o-mini', 'local:b'" in told["why"][0]
    evh.ok(*words(path, "promptfoo", "--part", "local:b"))
    run, _, outputs = only(project)
    assert (outputs, run.params["model"]) == ({"i1": "close"}, "local:b")
    assert dict(imported.of_run(run) or {})["dropped"] == {"row of another part": 1}


def test_a_cached_answer_has_no_latency(d: Builder, project: Project, evh: CommandLine) -> None:
    """What promptfoo took from its cache says nothing of the model's speed."""
    cached = result({"item_id": "i1"}, "file", response={"output": "file", "cached": True}, latencyMs=1)
    evh.ok(*words(put(project, "results.json", promptfoo(cached)), "promptfoo"))
    _, rows, _ = only(project)
    assert rows["i1"].latency_ms is None


@pytest.mark.parametrize("document", [{"version": 2, "results": []}, {"results": {"version": 2}}, [1], {}])
def test_another_version_of_promptfoo_is_refused(
    document: Any, d: Builder, project: Project, evh: CommandLine
) -> None:
    """With the command that exports it anew; nothing is written."""
    told = evh.refused("bad-log", *words(put(project, "results.json", document), "promptfoo")).json["refused"]
    assert "promptfoo export eval" in told["next"]
    assert runs.read_all(project) == []


def test_inspect_epochs_are_repeats(d: Builder, project: Project, evh: CommandLine) -> None:
    """Two epochs, two runs of one group; C, P, I, N and a dict of values count as Inspect counts them."""
    log = inspect_log(
        sample("i1", 1, "file", {"match": "C", "parts": {"len": 4, "odd": True}}),
        sample("i2", 1, "close", {"match": "I", "grade": "B"}),
        sample("i1", 2, "file it", {"match": "P"}),
        sample("i2", 2, "", {"match": "N"}, error={"message": "the sandbox died", "traceback": ""}),
    )
    text = json.dumps(log).replace('"value": 0.0', '"value": NaN')  # as Inspect writes a stderr of one sample
    evh.ok(*words(put(project, "log.json", text), "inspect"))
    first, second = runs.read_all(project)
    assert first.repeat_group == second.repeat_group == first.run_id
    assert first.scores == {"match": 0.5, "parts.len": 4.0, "parts.odd": 1.0}
    assert (second.scores, second.n_errors) == ({"match": 0.5}, 1)
    row = runs.predictions(project, first)[0]
    assert (row.latency_ms, row.tokens_in, row.tokens_out) == (1500.0, 11, 4)
    assert (first.params["model"], first.params["temperature"]) == ("mockllm/model", 0.5)
    facts = dict(imported.of_run(first) or {})
    assert (facts["version"], facts["part"]) == ("0.3.285", "1")
    assert facts["dropped"] == {"score that is no number": 1}


def test_an_unscored_sample_of_inspect_has_no_score(d: Builder, project: Project, evh: CommandLine) -> None:
    """NaN is its mark for that (Score.unscored); Infinity is no mark of anything."""
    text = json.dumps(inspect_log(sample("i1", 1, "file", {"match": float("nan")})))
    made = evh.ok(*words(put(project, "log.json", text), "inspect"))
    assert "1 score that Inspect marks as unscored (NaN)" in made.err
    text = json.dumps(inspect_log(sample("i1", 1, "file", {"match": float("inf")})))
    told = evh.refused("not-finite", *words(put(project, "b.json", text), "inspect")).json["refused"]
    assert "match: is the number inf, not a finite number" in told["why"][0]


def test_inputs_of_messages_and_attachments_are_read(d: Builder, project: Project, evh: CommandLine) -> None:
    """The item is the user's message; what Inspect took out of a text is put back in."""
    key = "0123456789abcdef0123456789abcdef"
    one = sample(
        "unknown",
        1,
        f"see attachment://{key}",
        {"match": "C"},
        input=[
            {"role": "system", "content": "Decide."},
            {"role": "user", "content": [{"type": "text", "text": "report 2"}]},
        ],
        attachments={key: "a long answer"},
    )
    evh.ok(*words(put(project, "log.json", inspect_log(one)), "inspect"))
    assert only(project)[2] == {"i2": "see a long answer"}


def test_an_eval_archive_is_refused_with_the_command(d: Builder, project: Project, evh: CommandLine) -> None:
    """By its name or by its first bytes."""
    for name in ("log.eval", "log.json"):
        path = project.root / name
        path.write_bytes(b"PK\x03\x04" + b"\0" * 40)
        told = evh.refused("eval-archive", *words(path, "inspect")).json["refused"]
        assert "inspect log convert --to json" in told["next"]


def test_lm_eval_samples_become_a_run(d: Builder, project: Project, evh: CommandLine) -> None:
    """The filtered response is the output; the item is found by the document's text."""
    lines = [lm_line(0), lm_line(1, filtered_resps=["close"], exact_match=0.0)]
    evh.ok(*words(put(project, "samples_t.jsonl", lines), "lm-eval"))
    run, rows, outputs = only(project)
    assert outputs == {"i1": "file", "i2": "close"}
    assert run.scores == {"exact_match": 0.5}
    assert run.params["until"] == ["\n"]
    assert rows["i1"].decision == "file"


def test_a_multiple_choice_line_gives_the_likeliest_choice(
    d: Builder, project: Project, evh: CommandLine
) -> None:
    """-1.5 beats -3 and -20; the harness writes numbers as texts. Its metrics are acc and acc_norm."""
    line = lm_line(
        2,
        arguments={
            f"gen_args_{n}": {"arg_0": "Q: report 3\nA:", "arg_1": text}
            for n, text in enumerate([" yes", " no", " maybe"])
        },
        resps=[[["-3.0", "False"]], [["-1.5", "True"]], [["-20.0", "False"]]],
        filtered_resps=[["-3.0", "False"], ["-1.5", "True"], ["-20.0", "False"]],
        metrics=["acc", "acc_norm"],
        acc=1.0,
        acc_norm=0.0,
    )
    evh.ok(*words(put(project, "samples_t.jsonl", [line]), "lm-eval"))
    run, _, outputs = only(project)
    assert outputs == {"i3": "no"}
    assert run.scores == {"acc": 1.0, "acc_norm": 0.0}


def test_two_filters_are_two_parts(d: Builder, project: Project, evh: CommandLine) -> None:
    """strict-match and flexible-extract read one answer differently."""
    lines = [
        lm_line(0, filter="strict-match"),
        lm_line(0, filter="flexible-extract", filtered_resps=["file!"]),
    ]
    path = put(project, "samples_t.jsonl", lines)
    evh.refused("which-part", *words(path, "lm-eval"))
    evh.ok(*words(path, "lm-eval", "--part", "flexible-extract"))
    assert only(project)[2] == {"i1": "file!"}


def test_openai_evals_events_become_a_run(d: Builder, project: Project, evh: CommandLine) -> None:
    """The first sampling is the answer and a grader's is counted; match and metrics are scores."""
    prompt = [{"role": "system", "content": "Decide."}, {"role": "user", "content": "report 1"}]
    log = events(
        ("t.dev.0", "sampling", {"prompt": prompt, "sampled": ["file"]}),
        ("t.dev.0", "match", {"correct": True, "expected": "file", "picked": "file"}),
        ("t.dev.0", "sampling", {"prompt": "Is that right?", "sampled": ["Yes"]}),
        ("t.dev.0", "metrics", {"f1": 0.5, "note": "text"}),
        ("t.dev.1", "raw_sample", {"item_id": "i2"}),
        ("t.dev.1", "error", {"type": "Timeout", "message": "timed out"}),
    )
    evh.ok(*words(put(project, "log.jsonl", log), "openai-evals"))
    run, rows, outputs = only(project)
    assert outputs == {"i1": "file"}
    assert rows["i1"].scores == {"correct": 1.0, "f1": 0.5}
    assert rows["i2"].error == "timed out"
    assert (run.primary_metric, run.params["model"]) == ("correct", "gpt-4o-mini")
    assert dict(imported.of_run(run) or {})["dropped"] == {
        "further sampling event of one sample": 1,
        "score that is no number": 1,
    }


def test_two_values_of_one_metric_are_refused(d: Builder, project: Project, evh: CommandLine) -> None:
    """Which of them counts is not guessed."""
    log = events(("i1", "metrics", {"f1": 0.5}), ("i1", "metrics", {"f1": 0.75}))
    told = evh.refused("two-scores", *words(put(project, "log.jsonl", log), "openai-evals")).json["refused"]
    assert "f1 is 0.75, and 0.5 in an event before it" in told["why"][0]
