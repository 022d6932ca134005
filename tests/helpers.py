"""A small builder of projects for tests: it writes through the shelves, as evh does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evh.project import captures, configs, datasets, labels, picks, references, runs
from evh.project.find import Project
from evh.records.capture import Capture
from evh.records.config import Config
from evh.records.dataset import Dataset, Item
from evh.records.labelset import LabelItem, LabelSet
from evh.records.pick import Pick
from evh.records.reference import Reference
from evh.records.run import Prediction, Run
from evh.store.hashing import sha256

AT = "2026-10-01T00:00:00Z"


class Builder:
    """Writes records into a project, each with as little as a test needs to say."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def dataset(
        self,
        dataset_id: str,
        texts: Mapping[str, str],
        *,
        fields: Mapping[str, Mapping[str, Any]] | None = None,
        lineage: Mapping[str, Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> Dataset:
        """Write a dataset: item id → text."""
        items = tuple(
            Item(
                item_id, "", fields=(fields or {}).get(item_id, {}), lineage=(lineage or {}).get(item_id, {})
            )
            for item_id in texts
        )
        made = Dataset(dataset_id, items, created_at=AT, **more)
        return datasets.write_new(self.project, made, {key: text.encode() for key, text in texts.items()})

    def capture(self, capture_id: str, records: Sequence[dict[str, Any]], **more: Any) -> Capture:
        """Write a capture of records, each with a ``record_id``."""
        name, data = captures.dump_records(records)
        made = Capture(capture_id, len(records), sha256(data), created_at=AT, **more)
        captures.write_new(self.project, made, name, data)
        return made

    def config(self, config_id: str, **more: Any) -> Path:
        """Write a config; an echo arm where nothing else is said."""
        more.setdefault("params", {"provider": "echo"})
        return configs.write_new(self.project, Config(config_id, **more), comment="A test's arm.")

    def labels(
        self,
        dataset_id: str,
        name: str,
        texts: Mapping[str, str],
        *,
        source: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> LabelSet:
        """Write a label set of a dataset: item id → label text; a person's where no source is given."""
        known = datasets.read(self.project, dataset_id).by_id
        made = LabelSet(
            dataset_id,
            name,
            source or {"kind": "person", "by": "ann"},
            {item_id: LabelItem(known[item_id].sha256) for item_id in texts},
            "",
            created_at=AT,
            **more,
        )
        return labels.write_new(self.project, made, {key: text.encode() for key, text in texts.items()})

    def reference(self, ref: str, label_set: LabelSet, **more: Any) -> Reference:
        """Promote a whole label set as ``<tier>/<name>``."""
        tier, _, name = ref.partition("/")
        made = Reference(
            label_set.dataset_id,
            tier,
            name,
            created_at=AT,
            promoted_from={
                "labels": [label_set.ref],
                "source": [dict(label_set.source)],
                "labels_sha256": [label_set.labels_sha256],
            },
            reason="a test's reason",
            promoted_by="ann",
            items={item_id: one.sha256 for item_id, one in label_set.items.items()},
        )
        raw = labels.raw_texts(self.project, label_set)
        return references.write_new(self.project, replace(made, **more), raw)

    def run(
        self,
        config_id: str,
        dataset_id: str,
        decisions: Mapping[str, str | None],
        *,
        at: str = "20261001T000000Z",
        scores: Mapping[str, Mapping[str, float]] | None = None,
        against: str | None = None,
        **more: Any,
    ) -> Run:
        """Write a finished run: item id → decision (also its output); None is an item that failed.

        ``scores`` are each item's metrics and ``against`` what they were made against:
        ``labels/<dataset>/<set>`` or ``<tier>/<name>``.
        """
        more.setdefault("n_items", len(decisions))
        more.setdefault("n_errors", sum(decision is None for decision in decisions.values()))
        run = Run(f"{config_id}_{at}", config_id, dataset_id, created_at=_time(at), **more)
        return runs.write_scored(self.project, _scored(run, scores, against), _rows(decisions, scores))

    def rescored(
        self,
        run: Run,
        decisions: Mapping[str, str | None],
        scores: Mapping[str, Mapping[str, float]],
        *,
        against: str,
        figures: Mapping[str, float] | None = None,
        **more: Any,
    ) -> Run:
        """Write a run's outputs scored again, against a label set (``labels/D/S``) or a reference.

        ``figures`` are run-level scores beside the means.
        """
        parts = against.split("/")
        folder = runs.labels_folder(parts[1], parts[2]) if parts[0] == "labels" else runs.RESCORED
        derived = {"kind": "rescored", "from": run.key}
        twin = replace(run, folder=folder, derived=derived, scores=figures or {}, **more)
        rows = [replace(row, output=None) for row in _rows(decisions, scores)]
        return runs.write_scored(self.project, _scored(twin, scores, against), rows)

    def pick(self, dataset_id: str, item_id: str, **more: Any) -> Pick:
        """Append one line to the list of picks."""
        item = datasets.read(self.project, dataset_id).by_id[item_id]
        made = Pick(item_id, dataset_id, item.sha256, at=AT, by="ann", **more)
        picks.append(self.project, [made])
        return made


def correct(decisions: Mapping[str, str | None], labels: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return ``{item: {"correct": 0 or 1}}`` for the items that are labelled and were answered."""
    return {
        item_id: {"correct": float(decision == labels[item_id])}
        for item_id, decision in decisions.items()
        if decision is not None and item_id in labels
    }


def tree_bytes(root: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes, to show that nothing was written."""
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }


def _rows(
    decisions: Mapping[str, str | None], scores: Mapping[str, Mapping[str, float]] | None
) -> list[Prediction]:
    return [
        Prediction(item_id, error="failed")
        if decision is None
        else Prediction(item_id, output=decision, decision=decision, scores=(scores or {}).get(item_id, {}))
        for item_id, decision in decisions.items()
    ]


def _scored(run: Run, scores: Mapping[str, Mapping[str, float]] | None, against: str | None) -> Run:
    if not scores:
        return run
    names = sorted({name for one in scores.values() for name in one})
    means = {}
    for name in names:
        values = [one[name] for one in scores.values() if name in one]
        means[name] = sum(values) / len(values)
    tier, _, name = (against or "").partition("/")
    return replace(
        run,
        scores={**means, **run.scores},
        primary_metric=run.primary_metric or names[0],
        reference_id=against if tier == "labels" else name or None,
        reference_tier=tier or None,
    )


def _time(stamp: str) -> str:
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[9:11]}:{stamp[11:13]}:{stamp[13:15]}Z"
