"""The tables that SQL sees: each noun's columns, declared, and the rows of those nouns that have few."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evh.project import datasets, labels, references, runs
from evh.project.arms import scored_against

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from evh_build.gather import Gathered

Row = dict[str, Any]

COLUMNS: dict[str, dict[str, str]] = {
    "datasets": {
        "dataset_id": "text", "version": "text", "created_at": "text", "description": "text",
        "governed": "bool", "visibility": "text", "redistributable": "bool", "parent": "text",
        "task": "text", "n_items": "whole",
    },
    "items": {
        "dataset_id": "text", "position": "whole", "item_id": "text", "sha256": "text", "text": "text",
        "fields": "text", "lineage": "text",
    },
    "captures": {
        "capture_id": "text", "created_at": "text", "n_records": "whole", "records_sha256": "text",
        "parent": "text", "first_ts": "text", "last_ts": "text", "n_no_item": "whole", "n_no_time": "whole",
        "source": "text",
    },
    "configs": {
        "config_id": "text", "dataset_id": "text", "adapter": "text", "provider": "text", "model": "text",
        "recorded": "bool", "params": "text",
    },
    "runs": {
        "run": "text", "folder": "text", "run_id": "text", "config_id": "text", "dataset_id": "text",
        "created_at": "text", "adapter": "text", "n_items": "whole", "n_errors": "whole",
        "primary_metric": "text", "against": "text", "tier": "text", "recorded": "bool", "derived": "text",
        "derived_from": "text",
    },
    "figures": {"run": "text", "metric": "text", "value": "number"},
    "predictions": {
        "run": "text", "item_id": "text", "output": "text", "decision": "text", "error": "text",
        "latency_ms": "number", "tokens_in": "number", "tokens_out": "number", "cost_usd": "number",
    },
    "scores": {"run": "text", "item_id": "text", "metric": "text", "value": "number"},
    "label_sets": {
        "label_set": "text", "dataset_id": "text", "set": "text", "kind": "text", "by": "text",
        "task": "text", "created_at": "text", "n_items": "whole", "labels_sha256": "text",
        "guideline_sha256": "text",
    },
    "labels": {
        "label_set": "text", "item_id": "text", "item_sha256": "text", "label": "text", "answer": "text",
        "note": "text", "slice": "text",
    },
    "reference_sets": {
        "reference": "text", "dataset_id": "text", "tier": "text", "name": "text", "n_items": "whole",
        "created_at": "text", "reason": "text", "promoted_by": "text", "promoted_from": "text",
    },
    "reference_labels": {
        "reference": "text", "item_id": "text", "item_sha256": "text", "label": "text", "answer": "text",
    },
    "picks": {
        "dataset_id": "text", "item_id": "text", "sha256": "text", "op": "text", "at": "text", "by": "text",
        "capture": "text", "note": "text", "targets": "text", "tags": "text",
    },
}  # fmt: skip
"""Noun → column → ``text``, ``whole``, ``number``, ``bool`` or ``scores`` (a map of text to number)."""

PARQUET: dict[str, tuple[str, dict[str, str]]] = {
    "items": ("dataset_id", datasets.ITEM_COLUMNS),
    "predictions": ("run", runs.PREDICTION_COLUMNS),
    "labels": ("label_set", labels.LABEL_COLUMNS),
    "reference_labels": ("reference", references.LABEL_COLUMNS),
}
"""The nouns that have a Parquet form: the column that names a file's record, and the file's own columns."""

NEEDS = {"scores": ("scores", "predictions")}
"""The relations that a view reads beside its own."""


def files(noun: str, gathered: Gathered) -> list[tuple[str, Path]]:
    """Return the Parquet files of a noun, each with the name of the record that it belongs to.

    A view of some of the records has none: a file would tell all that is in it.
    """
    project = gathered.project
    if gathered.view != "all":
        return []
    if noun == "items":
        made = [
            (name, datasets.path_of(project, name).with_name(one.items_file))
            for name, one in gathered.datasets.items()
            if one.items_file
        ]
    elif noun == "predictions":
        made = [(key, runs.path_of(project, run) / runs.ROWS_LARGE) for key, run in gathered.runs.items()]
    elif noun == "labels":
        made = [
            (ref, labels.path_of(project, one.dataset_id, one.set) / labels.LARGE)
            for ref, one in gathered.label_sets.items()
        ]
    else:
        made = [
            (ref, project.data / "references" / ref / references.LARGE)
            for ref in references.refs(project)
            if ref in gathered.references
        ]
    return [(name, path) for name, path in made if path.is_file() and project.inside(path)]


def _datasets(gathered: Gathered) -> Iterator[Row]:
    for one in gathered.datasets.values():
        yield {
            "dataset_id": one.dataset_id,
            "version": str(one.version),
            "created_at": one.created_at,
            "description": one.description,
            "governed": one.governed,
            "visibility": one.visibility,
            "redistributable": one.redistributable,
            "parent": one.parent,
            "task": one.task,
            "n_items": len(one.items),
        }


def _captures(gathered: Gathered) -> Iterator[Row]:
    for one in gathered.captures.values():
        first, last = one.time_range or (None, None)
        yield {
            "capture_id": one.capture_id,
            "created_at": one.created_at,
            "n_records": one.n_records,
            "records_sha256": one.records_sha256,
            "parent": one.parent,
            "first_ts": first,
            "last_ts": last,
            "n_no_item": one.n_no_item,
            "n_no_time": one.n_no_time,
            "source": as_json(dict(one.source)),
        }


def _configs(gathered: Gathered) -> Iterator[Row]:
    for one in gathered.configs.values():
        yield {
            "config_id": one.config_id,
            "dataset_id": one.dataset_id,
            "adapter": one.adapter,
            "provider": one.provider,
            "model": one.model,
            "recorded": one.recorded,
            "params": as_json(dict(one.params)),
        }


def _runs(gathered: Gathered) -> Iterator[Row]:
    for key, run in gathered.runs.items():
        derived = run.derived or {}
        yield {
            "run": key,
            "folder": run.folder,
            "run_id": run.run_id,
            "config_id": run.config_id,
            "dataset_id": run.dataset_id,
            "created_at": run.created_at,
            "adapter": run.adapter,
            "n_items": run.n_items,
            "n_errors": run.n_errors,
            "primary_metric": run.primary_metric,
            "against": scored_against(run),
            "tier": run.reference_tier,
            "recorded": run.recorded,
            "derived": _text(derived.get("kind")),
            "derived_from": _text(derived.get("from")),
        }


def _figures(gathered: Gathered) -> Iterator[Row]:
    for key, run in gathered.runs.items():
        for metric, value in sorted(run.scores.items()):
            yield {"run": key, "metric": metric, "value": value}


def _label_sets(gathered: Gathered) -> Iterator[Row]:
    for ref, one in gathered.label_sets.items():
        yield {
            "label_set": ref,
            "dataset_id": one.dataset_id,
            "set": one.set,
            "kind": one.kind,
            "by": one.by,
            "task": gathered.sources.task_of(one),
            "created_at": one.created_at,
            "n_items": one.n_items,
            "labels_sha256": one.labels_sha256,
            "guideline_sha256": _text((one.guideline or {}).get("sha256")),
        }


def _reference_sets(gathered: Gathered) -> Iterator[Row]:
    for ref, one in gathered.references.items():
        yield {
            "reference": ref,
            "dataset_id": one.dataset_id,
            "tier": one.tier,
            "name": one.name,
            "n_items": one.n_items,
            "created_at": one.created_at,
            "reason": one.reason,
            "promoted_by": one.promoted_by,
            "promoted_from": ", ".join(one.label_refs) or None,
        }


def _picks(gathered: Gathered) -> Iterator[Row]:
    for _, one in sorted(gathered.sources.picks.items()):
        yield {
            "dataset_id": one.dataset_id,
            "item_id": one.item_id,
            "sha256": one.sha256,
            "op": one.op,
            "at": one.at,
            "by": one.by,
            "capture": one.capture,
            "note": one.note,
            "targets": as_json(list(one.targets)),
            "tags": as_json(dict(one.tags)),
        }


SMALL: dict[str, Callable[[Gathered], Iterator[Row]]] = {
    "datasets": _datasets,
    "captures": _captures,
    "configs": _configs,
    "runs": _runs,
    "figures": _figures,
    "label_sets": _label_sets,
    "reference_sets": _reference_sets,
    "picks": _picks,
}


def as_json(value: object) -> str:
    """Return a value as compact JSON that DuckDB can read.

    What it refuses is told in another way: half of a surrogate pair as ``?``, an infinite number as its name.
    """
    form = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    try:
        text = form.encode(value)
    except ValueError:
        text = form.encode(json.loads(json.dumps(value), parse_constant=str))
    return text.encode("utf-8", "replace").decode()


def _text(value: object) -> str | None:
    return None if value is None else str(value)
