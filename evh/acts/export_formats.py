"""What an export holds, in each tool's own form.

- ``inspect``: a run is an ``EvalLog`` in JSON with its scores precomputed (``inspect view`` shows it,
  ``inspect score`` scores it again); a label set is a dataset in JSONL that ``json_dataset`` reads.
- ``label-studio``: tasks with ``predictions``, to import and correct.
- ``openai-evals``: a run is the event log of ``oaieval``; a label set is its samples (``input``, ``ideal``).
- ``csv``, ``parquet``: a row an item.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh import __version__
from evh.records.answers import answers
from evh.records.run import MEASURES
from evh.store import parquet, spreadsheet, strict
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.run import Prediction, Run

CONTROL, SHOWN = "label", "text"
"""The names of Label Studio's control and object that the predictions belong to."""
CHOICES_MOST, CHOICE_LENGTH = 50, 100
"""Answers that are at most so many, each at most so long, are choices; others are a text area."""
PARQUET_RUN = {
    "item_id": "text",
    "item_sha256": "text",
    "item": "text",
    "output": "text",
    "decision": "text",
    "error": "text",
    "scores": "scores",
    "latency_ms": "number",
    "tokens_in": "number",
    "tokens_out": "number",
    "cost_usd": "number",
}
PARQUET_SET = {
    "item_id": "text",
    "item_sha256": "text",
    "item": "text",
    "label": "text",
    "note": "text",
    "slice": "text",
}
_COSTS = tuple(name for name in MEASURES if name != "resumed")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is exported: a run or a label set, with the texts of its items.

    ``targets`` are the accepted answers of each item that has any: the set's, or what the run was scored
    against. ``labels`` are a set's texts as they lie in its files.
    """

    name: str
    made_at: str
    dataset: Dataset
    texts: Mapping[str, str]
    n_replaced: int
    run: Run | None = None
    rows: tuple[Prediction, ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    label_set: LabelSet | None = None
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def identity(self, item_id: str) -> dict[str, Any]:
        """Return what lets a tool's export find its item again."""
        return {"item_id": item_id, "item_sha256": self.dataset.by_id[item_id].sha256}


@dataclass(frozen=True, slots=True)
class Exported:
    """The bytes of a file, how many rows it holds, and what to tell of it."""

    data: bytes
    n_rows: int
    notes: tuple[str, ...] = ()
    config: str | None = None


def to_csv(subject: Subject) -> Exported:
    """Return a CSV file, each text guarded against spreadsheets; a run's reads back with ``import-run``."""
    known = subject.dataset.by_id
    if subject.run is None:
        items = subject.label_set.items if subject.label_set else {}
        header = ["item_id", "item_sha256", "item", "label", "note", "slice"]
        rows: list[list[object]] = [
            [key, known[key].sha256, subject.texts[key], text, items[key].note, items[key].slice]
            for key, text in subject.labels.items()
        ]
        return Exported(spreadsheet.write_rows(header, rows), len(rows))
    metrics = _metrics(subject)
    header = ["item_id", "item_sha256", "item", "output", "output_sha256", "decision", "error"]
    header += [*_COSTS, *metrics]
    rows = []
    for row in subject.rows:
        output = subject.outputs.get(row.item_id)
        rows.append(
            [
                row.item_id,
                known[row.item_id].sha256,
                subject.texts[row.item_id],
                output,
                None if output is None else sha256_text(output),
                row.decision,
                row.error,
                *(getattr(row, name) for name in _COSTS),
                *(row.scores.get(metric) for metric in metrics),
            ]
        )
    return Exported(spreadsheet.write_rows(header, rows), len(rows))


def to_parquet(subject: Subject) -> Exported:
    """Return a Parquet file, a row an item; metrics are one map, as in a run's own Parquet."""
    known = subject.dataset.by_id
    if subject.run is None:
        items = subject.label_set.items if subject.label_set else {}
        table = [
            {
                **subject.identity(key),
                "item": subject.texts[key],
                "label": text,
                "note": items[key].note,
                "slice": items[key].slice,
            }
            for key, text in subject.labels.items()
        ]
        return Exported(parquet.dump_rows(table, PARQUET_SET), len(table))
    table = [
        {
            "item_id": row.item_id,
            "item_sha256": known[row.item_id].sha256,
            "item": subject.texts[row.item_id],
            "output": subject.outputs.get(row.item_id),
            "decision": row.decision,
            "error": row.error,
            "scores": dict(row.scores),
            **{name: getattr(row, name) for name in _COSTS},
        }
        for row in subject.rows
    ]
    return Exported(parquet.dump_rows(table, PARQUET_RUN), len(table))


def to_openai_evals(subject: Subject) -> Exported:
    """Return JSONL: the events of a run as ``oaieval`` records them, or the samples that a set makes."""
    if subject.run is None:
        lines: list[dict[str, Any]] = [
            {
                "input": [{"role": "user", "content": subject.texts[key]}],
                "ideal": _one_or_many(subject.targets[key]),
                **subject.identity(key),
            }
            for key in subject.labels
        ]
        return Exported(b"".join(map(strict.dump_line, lines)), len(lines))
    run = subject.run
    spec = {
        "completion_fns": [str(run.params.get("model") or run.config_id)],
        "eval_name": f"evh.{run.dataset_id}",
        "base_eval": f"evh.{run.dataset_id}",
        "split": run.dataset_id,
        "run_config": dict(run.params),
        "created_by": f"evh {__version__}",
        "run_id": run.run_id,
        "created_at": run.created_at,
    }
    events: list[dict[str, Any]] = []

    def add(item_id: str, kind: str, data: Mapping[str, Any]) -> None:
        events.append(
            {
                "run_id": run.run_id,
                "event_id": len(events),
                "sample_id": item_id,
                "type": kind,
                "data": dict(data),
                "created_by": spec["created_by"],
                "created_at": run.created_at,
            }
        )

    for row in subject.rows:
        item_id = row.item_id
        add(item_id, "raw_sample", subject.identity(item_id))
        if row.error is not None:
            add(item_id, "error", {"type": "evh", "message": row.error})
            continue
        output = subject.outputs.get(item_id)
        if output is not None:
            prompt = [{"role": "user", "content": subject.texts[item_id]}]
            add(item_id, "sampling", {"prompt": prompt, "sampled": [output]})
        if row.scores.get("correct") in (0, 1):
            expected = _one_or_many(subject.targets[item_id]) if item_id in subject.targets else None
            add(
                item_id,
                "match",
                {"correct": row.scores["correct"] == 1, "expected": expected, "picked": row.decision},
            )
        metrics = {
            name: value for name, value in row.scores.items() if name != "correct" or value not in (0, 1)
        }
        if metrics:
            add(item_id, "metrics", metrics)
    lines = [{"spec": spec}, *events, {"final_report": dict(run.scores)}]
    return Exported(b"".join(map(strict.dump_line, lines)), len(subject.rows))


def to_label_studio(subject: Subject) -> Exported:
    """Return tasks in JSON, each with the item's text, its id and hash, and one prediction."""
    if subject.run is None:
        version = subject.name.replace(" ", "/", 1)
        said = {key: subject.targets[key] for key in subject.labels}
    else:
        version = subject.run.run_id
        said = {
            row.item_id: answers(row.decision if row.decision is not None else subject.outputs[row.item_id])
            for row in subject.rows
            if row.error is None and (row.decision is not None or row.item_id in subject.outputs)
        }
    every = {text for one in said.values() for text in one}
    choices = len(every) <= CHOICES_MOST and all(
        0 < len(text) <= CHOICE_LENGTH and "\n" not in text for text in every
    )
    tasks = []
    for item_id, text in subject.texts.items():
        fields = {f"field_{key}": value for key, value in subject.dataset.by_id[item_id].fields.items()}
        task: dict[str, Any] = {"data": {SHOWN: text, **subject.identity(item_id), **fields}}
        if item_id in said:
            value = {"choices": list(said[item_id])} if choices else {"text": list(said[item_id])}
            result = {
                "id": sha256_text(item_id)[:10],
                "from_name": CONTROL,
                "to_name": SHOWN,
                "type": "choices" if choices else "textarea",
                "value": value,
            }
            task["predictions"] = [{"model_version": version, "result": [result]}]
        tasks.append(task)
    many = any(len(one) > 1 for one in said.values())
    data = json.dumps(tasks, ensure_ascii=False, indent=2, sort_keys=True).encode("utf-8", "replace") + b"\n"
    return Exported(data, len(tasks), config=_labelling(sorted(every) if choices else None, many=many))


def to_inspect(subject: Subject) -> Exported:
    """Return a run as Inspect's log in JSON with precomputed scores, or a set as a dataset in JSONL."""
    if subject.run is None:
        lines = [
            {
                "id": key,
                "input": subject.texts[key],
                "target": _one_or_many(subject.targets[key]),
                "metadata": subject.identity(key),
            }
            for key in subject.labels
        ]
        return Exported(b"".join(map(strict.dump_line, lines)), len(lines))
    run = subject.run
    model = str(run.params.get("model") or run.config_id)
    metrics = _metrics(subject)
    created = _offset(run.created_at or subject.made_at)
    log = {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": sha256_text(run.key)[:22],
            "run_id": run.run_id,
            "created": created,
            "task": run.dataset_id,
            "task_id": sha256_text(run.dataset_id)[:22],
            "task_version": 0,
            "task_args": {},
            "dataset": {
                "name": run.dataset_id,
                "samples": len(subject.rows),
                "sample_ids": [row.item_id for row in subject.rows],
            },
            "model": model,
            "model_args": {},
            "config": {"epochs": 1},
            "packages": {"evh": __version__},
            "metadata": {"evh_run": run.key, "evh_config": run.config_id, "scored_against": run.reference_id},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(subject.rows),
            "completed_samples": sum(row.error is None for row in subject.rows),
            "scores": [
                {
                    "name": name,
                    "scorer": name,
                    "params": {},
                    "metrics": {"mean": {"name": "mean", "value": run.scores[name], "params": {}}},
                }
                for name in metrics
                if name in run.scores
            ],
        },
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
        "samples": [_sample(subject, row, model) for row in subject.rows],
    }
    data = json.dumps(log, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    return Exported(data, len(subject.rows))


def _sample(subject: Subject, row: Prediction, model: str) -> dict[str, Any]:
    text, output = subject.texts[row.item_id], subject.outputs.get(row.item_id)
    choices = (
        []
        if output is None
        else [
            {
                "message": {"role": "assistant", "content": output, "source": "generate", "model": model},
                "stop_reason": "stop",
            }
        ]
    )
    usage = {
        name: int(value)
        for name, value in (("input_tokens", row.tokens_in), ("output_tokens", row.tokens_out))
        if value is not None
    }
    if usage:
        usage["total_tokens"] = sum(usage.values())
    said: dict[str, Any] = {"model": model, "choices": choices, "completion": output or ""}
    if usage:
        said["usage"] = usage
    if row.latency_ms is not None:
        said["time"] = row.latency_ms / 1000
    made: dict[str, Any] = {
        "id": row.item_id,
        "epoch": 1,
        "input": text,
        "target": _one_or_many(subject.targets[row.item_id]) if row.item_id in subject.targets else "",
        "messages": [
            {"role": "user", "content": text, "source": "input"},
            *(choice["message"] for choice in choices),
        ],
        "output": said,
        "scores": {
            name: {"value": value, **({"answer": row.decision} if row.decision is not None else {})}
            for name, value in sorted(row.scores.items())
        },
        "metadata": subject.identity(row.item_id),
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }
    if row.error is not None:
        made["error"] = {"message": row.error, "traceback": "", "traceback_ansi": ""}
    return made


def _metrics(subject: Subject) -> list[str]:
    return sorted({metric for row in subject.rows for metric in row.scores})


def _one_or_many(accepted: tuple[str, ...]) -> str | list[str]:
    return accepted[0] if len(accepted) == 1 else list(accepted)


def _offset(stamp: str) -> str:
    """Return a time with its offset written out, as Inspect has it."""
    return f"{stamp.removesuffix('Z')}+00:00"


def _labelling(choices: list[str] | None, *, many: bool) -> str:
    """Return the labelling configuration that the predictions fit."""
    from html import escape

    lines = ["<View>", f'  <Text name="{SHOWN}" value="${SHOWN}"/>']
    if choices is None:
        lines.append(f'  <TextArea name="{CONTROL}" toName="{SHOWN}"/>')
    else:
        kind = "multiple" if many else "single"
        lines.append(f'  <Choices name="{CONTROL}" toName="{SHOWN}" choice="{kind}">')
        lines += [f'    <Choice value="{escape(one)}"/>' for one in choices]
        lines.append("  </Choices>")
    return "\n".join([*lines, "</View>"])


FORMATS: Mapping[str, Callable[[Subject], Exported]] = {
    "inspect": to_inspect,
    "label-studio": to_label_studio,
    "openai-evals": to_openai_evals,
    "csv": to_csv,
    "parquet": to_parquet,
}
