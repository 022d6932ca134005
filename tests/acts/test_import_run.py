"""Logs of five tools, true to their documented forms, become runs that say so; what does not fit is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.project import imported, runs
from evh.project.find import Project
from evh.store import spreadsheet
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

TEXTS = {"i1": "report 1", "i2": "report 2", "i3": "report 3"}


@pytest.fixture
def d(project: Project) -> Builder:
    """A dataset of three items."""
    build = Builder(project)
    build.dataset("d", TEXTS)
    return build


def put(project: Project, name: str, value: Any) -> Path:
    """Write a log: JSON, or JSON lines from a list under a ``.jsonl`` name."""
    path = project.root / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(one) + "\n" for one in value), encoding="utf-8")
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def words(path: Path, tool: str, *more: str) -> list[str]:
    """The words of an import into ``d`` as the arm ``arm``."""
    return [
        "import-run",
        "--from-file",
        str(path),
        "--format",
        tool,
        "--dataset-id",
        "d",
        "--as",
        "arm",
        *more,
    ]


def only(project: Project) -> Any:
    """The one run that is there, with its rows by item and its outputs."""
    (run,) = runs.read_all(project)
    rows = runs.predictions(project, run)
    return run, {row.item_id: row for row in rows}, runs.outputs(project, run, rows, verify=True)


# ------------------------------------------------------------------------------------------------ promptfoo
# The form of OutputFile, EvaluateSummaryV3 and EvaluateResult: promptfoo/promptfoo, src/types/index.ts.


def promptfoo(*results: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A ``results.json`` of version 3."""
    return {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "timestamp": "2026-10-30T09:00:00.000Z",
            "prompts": [{"raw": "Decide: {{report}}", "label": "decide", "provider": "openai:gpt-4o-mini"}],
            "results": list(results),
            "stats": {"successes": 1, "failures": 1, "errors": 1},
            **more,
        },
        "config": {},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.120.1"},
    }


def result(variables: dict[str, Any], output: Any, **more: Any) -> dict[str, Any]:
    """One result of promptfoo."""
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "testCase": {"vars": variables},
        "promptId": "p",
        "provider": {"id": "openai:gpt-4o-mini", "label": ""},
        "prompt": {"raw": "Decide: …", "label": "decide"},
        "vars": variables,
        "response": {"output": output, "tokenUsage": {"prompt": 20, "completion": 3, "total": 23}},
        "success": True,
        "failureReason": 0,
        "score": 1,
        "namedScores": {},
        "latencyMs": 400,
        "cost": 0.001,
        **more,
    }


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


# -------------------------------------------------------------------------------------------------- inspect
# The form of EvalLog and EvalSample, and a score's meaning: inspect_ai, log/_log.py and scorer/_metric.py; a
# log that inspect_ai 0.3.285 wrote has these keys.


def inspect_log(*samples: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A log of Inspect."""
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-10-30T09:00:00+00:00",
            "task": "triage",
            "dataset": {"samples": len(samples)},
            "model": "mockllm/model",
            "model_generate_config": {"temperature": 0.5},
            "config": {"epochs": 2},
            "packages": {"inspect_ai": "0.3.285"},
        },
        "results": {"scores": [{"name": "match", "metrics": {"stderr": {"name": "stderr", "value": 0.0}}}]},
        "samples": list(samples),
        **more,
    }


def sample(item: str, epoch: int, said: str, scores: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One sample of Inspect."""
    return {
        "id": item,
        "epoch": epoch,
        "input": "…",
        "target": "file",
        "output": {
            "model": "mockllm/model",
            "choices": [{"message": {"role": "assistant", "content": said}, "stop_reason": "stop"}],
            "completion": said,
            "time": 1.5,
        },
        "scores": {name: {"value": value, "answer": said} for name, value in scores.items()},
        "model_usage": {"mockllm/model": {"input_tokens": 11, "output_tokens": 4, "total_tokens": 15}},
        **more,
    }


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
    assert "match: inf is no finite number" in told["why"][0]


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


# --------------------------------------------------------------------------------------------------- lm-eval
# The form of a line of samples_*.jsonl: EleutherAI/lm-evaluation-harness, lm_eval/evaluator.py (log_samples)
# and loggers/evaluation_tracker.py, which writes arguments as gen_args_N and every leaf of resps as text.


def lm_line(doc_id: int, **more: Any) -> dict[str, Any]:
    """One line of generated answers."""
    return {
        "doc_id": doc_id,
        "doc": {"question": f"report {doc_id + 1}", "answer": "file"},
        "target": "file",
        "arguments": {
            "gen_args_0": {
                "arg_0": f"Q: report {doc_id + 1}\nA:",
                "arg_1": {"until": ["\n"], "temperature": 0.0},
            }
        },
        "resps": [["file \n"]],
        "filtered_resps": ["file"],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "0" * 64,
        "prompt_hash": "0" * 64,
        "target_hash": "0" * 64,
        "exact_match": 1.0,
        **more,
    }


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


# ---------------------------------------------------------------------------------------------- OpenAI evals
# The form of Event and of LocalRecorder's lines: openai/evals, evals/record.py.


def events(*each: tuple[str, str, dict[str, Any]]) -> list[dict[str, Any]]:
    """A log of oaieval."""
    made: list[dict[str, Any]] = [
        {
            "spec": {
                "completion_fns": ["gpt-4o-mini"],
                "eval_name": "t.dev",
                "created_at": "2026-10-30 09:00:00",
            }
        },
        {"final_report": {"accuracy": 0.5}},
    ]
    for number, (sample_id, kind, data) in enumerate(each):
        made.append(
            {
                "run_id": "261030",
                "event_id": number,
                "sample_id": sample_id,
                "type": kind,
                "data": data,
                "created_by": "",
                "created_at": "2026-10-30 09:00:01+00:00",
            }
        )
    return made


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


# ------------------------------------------------------------------------------------------------------- CSV


def test_csv_becomes_a_run(d: Builder, project: Project, evh: CommandLine) -> None:
    """Every other column is a metric; an empty cell is none, "true" is 1."""
    text = "item_id,output,correct,judge,latency_ms\ni1,file,true,0.5,120\ni3,=1+1,false,,\n"
    evh.ok(*words(put(project, "s.csv", text), "csv"))
    run, rows, outputs = only(project)
    assert outputs == {"i1": "file", "i3": "=1+1"}
    assert rows["i1"].scores == {"correct": 1.0, "judge": 0.5}
    assert rows["i3"].scores == {"correct": 0.0}
    assert (rows["i1"].latency_ms, run.scores) == (120.0, {"correct": 0.5, "judge": 0.5})


def test_csv_that_a_spreadsheet_shortened_is_refused(d: Builder, project: Project, evh: CommandLine) -> None:
    """A cut output is another output; so is one that is not the text of its hash."""
    cut = f"item_id,output\ni1,file{spreadsheet.SHORTENED}\n"
    evh.refused("bad-csv", *words(put(project, "s.csv", cut), "csv"))
    other = f"item_id,output,output_sha256\ni1,file,{'0' * 64}\n"
    evh.refused("bad-csv", *words(put(project, "s.csv", other), "csv"))


@pytest.mark.parametrize(
    ("text", "code", "words_told"),
    [
        ("item_id,output,m\ni9,x,1\n", "unknown-item", "there is no item 'i9' in d"),
        ("item_id,output,m\ni1,x,1\ni1,y,0\n", "doubled-item", "i1: it stands in"),
        ("item_id,output,m\ni1,x,nan\n", "not-finite", "m: nan is no finite number"),
        ("item_id,output,m\ni1,x,-inf\n", "not-finite", "m: -inf is no finite number"),
        ("item_id,output,m\ni1,x,good\n", "bad-csv", "m: 'good' is no number"),
        ("item_id,m\ni1,1\n", "bad-csv", "no column output"),
        ("output,m\nx,1\n", "bad-csv", "neither a column item_id nor a column item"),
        ("item_id,output,m\n", "nothing-in-it", "no item is in it"),
        ("item,output,m\nnot here,x,1\n", "unknown-item", "none of its texts are the bytes of an item"),
        ("item_id,item_sha256,output\ni1," + "0" * 64 + ",x\n", "changed-item", "item_sha256"),
    ],
)
def test_what_does_not_fit_is_refused(
    text: str, code: str, words_told: str, *, d: Builder, project: Project, evh: CommandLine
) -> None:
    """With the row it is about, and nothing is written."""
    path = put(project, "s.csv", text)
    before = tree_bytes(project.data)
    told = evh.refused(code, *words(path, "csv")).json["refused"]
    assert any(words_told in reason for reason in told["why"]), told
    assert tree_bytes(project.data) == before


def test_every_reason_is_told_at_once(d: Builder, project: Project, evh: CommandLine) -> None:
    """Three rows, three different things wrong."""
    path = put(project, "s.csv", "item_id,output,m\ni9,x,1\ni1,x,nan\ni1,y,1\n")
    assert len(evh.refused("bad-log", *words(path, "csv")).json["refused"]["why"]) == 3


def test_an_id_that_means_another_items_text_is_refused(
    d: Builder, project: Project, evh: CommandLine
) -> None:
    """A sample called i1 that shows the text of i2: either may be meant."""
    log = inspect_log(sample("i1", 1, "file", {"match": "C"}, input="report 2"))
    told = evh.refused("changed-text", *words(put(project, "log.json", log), "inspect")).json["refused"]
    assert "its text is that of i2" in told["why"][0]


def test_a_second_import_of_one_log_is_refused(d: Builder, project: Project, evh: CommandLine) -> None:
    """The same file as the same arm twice would count twice; as another arm it is another run."""
    path = put(project, "s.csv", "item_id,output\ni1,x\n")
    evh.ok(*words(path, "csv"))
    evh.refused("existing-run", *words(path, "csv"))
    evh.ok(*words(path, "csv")[:-1], "arm2")


def test_half_an_import_goes_on(d: Builder, project: Project, evh: CommandLine) -> None:
    """Of two repeats one is there, as a kill between them leaves it: the other is made, in the same group."""
    path = put(
        project,
        "log.json",
        inspect_log(sample("i1", 1, "a", {"match": "C"}), sample("i1", 2, "b", {"match": "I"})),
    )
    evh.ok(*words(path, "inspect"))
    first, second = runs.read_all(project)
    for file in sorted(runs.path_of(project, second).rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    made = evh.ok(*words(path, "inspect"), "--json").json
    assert made["there"] == [first.key]
    assert [run["repeat_group"] for run in made["runs"]] == [first.run_id]
    assert [run.scores for run in runs.read_all(project)] == [{"match": 1.0}, {"match": 0.0}]


def test_hostile_names_and_texts_stay_data(d: Builder, project: Project, evh: CommandLine) -> None:
    """A metric that evh keeps for itself is counted and left out; a lone surrogate spoils one item."""
    log = promptfoo(
        result({"item_id": "i1"}, "\ud800", namedScores={}),
        result({"item_id": "i2"}, "<script>", namedScores={"_x": 1, "latency_ms": 1, "item_id": 1, "ok": 1}),
    )
    evh.ok(*words(put(project, "results.json", log), "promptfoo"))
    run, rows, outputs = only(project)
    assert "lone surrogate" in rows["i1"].error
    assert outputs == {"i2": "<script>"}
    assert rows["i2"].scores == {"pass": 1.0, "score": 1, "ok": 1}
    assert dict(imported.of_run(run) or {})["dropped"] == {
        "metric whose name evh keeps for something else": 3
    }


def test_an_imported_run_is_scored_again_against_labels(
    d: Builder, project: Project, evh: CommandLine
) -> None:
    """Its outputs are there, so `rescore` holds them against a label set; the tool's scores stay apart."""
    d.labels("d", "ann", {"i1": "file", "i2": "close"})
    path = put(project, "s.csv", "item_id,output,judge\ni1,file,0.1\ni2,file,0.2\n")
    run_id = evh.ok(*words(path, "csv"), "--json").json["runs"][0]["run_id"]
    evh.ok("rescore", "--run", run_id, "--labels", "d/ann")
    scored = next(run for run in runs.read_all(project) if run.labels == "d/ann")
    assert scored.scores["correct"] == 0.5
    assert "judge" not in scored.scores
    assert evh.ok("inspect", "--sheet", "--dataset-id", "d", "--runs", "arm").code == 0


def test_dry_run_writes_nothing(d: Builder, project: Project, evh: CommandLine) -> None:
    """The plan is told, the tree stays."""
    path = put(project, "s.csv", "item_id,output,m\ni1,x,1\n")
    before = tree_bytes(project.data)
    made = evh.ok(*words(path, "csv"), "--dry-run", "--json").json
    check(made, "import-run")
    assert (made["runs"][0]["written"], made["runs"][0]["run_id"]) == (False, None)
    assert tree_bytes(project.data) == before


@pytest.mark.parametrize("tool", ["promptfoo", "inspect", "lm-eval", "openai-evals", "csv"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"[",
        b'{"a": 1, "a": 2}',
        b"null",
        b"[" * 5000,
        b'{"results": 5}',
        b'{"eval": []}',
    ],
)
def test_no_file_is_a_traceback(
    tool: str, data: bytes, d: Builder, project: Project, evh: CommandLine
) -> None:
    """Whatever lies in the file, the answer is a refusal."""
    path = project.root / "log"
    path.write_bytes(data)
    outcome = evh(*words(path, tool), "--json")
    assert outcome.code == 1
    check(outcome.json, "refused")
