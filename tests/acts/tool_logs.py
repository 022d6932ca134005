"""What the tests of `import-run` share: logs of four tools in their documented forms, and the run made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evh.project import runs
from evh.project.find import Project
from tests.helpers import Builder

TEXTS = {"i1": "report 1", "i2": "report 2", "i3": "report 3"}


def three_reports(project: Project) -> Builder:
    """A project with the dataset ``d`` of three items."""
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
