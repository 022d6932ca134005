"""Edits by hand of the projects in `projects`, and the page that each must change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _sub(old: str, new: str) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode())

    return change


@dataclass(frozen=True)
class Edit:
    """One kind of file, and a change of it by hand; ``page`` must have other bytes for it, where one must."""

    path: str
    change: Callable[[bytes], bytes]
    page: str | None = "index.html"


EDITS = {
    "the text of an item": Edit(
        "data/sources/d/i1.txt", lambda data: data.replace(b"report", b"REPORT"), "items/d/i1.html"
    ),
    "a label": Edit("data/labels/d/ann/i1.txt", lambda _: b"no", "items/d/i1.html"),
    "a label of another dataset's bytes": Edit(
        "data/labels/d/outcome/i1.txt", lambda _: b"no", "items/v1/old.html"
    ),
    "labels.json": Edit(
        "data/labels/d/ann/labels.json", _sub('"by": "ann"', '"by": "eve"'), "items/d/i1.html"
    ),
    "a reference's text": Edit("data/references/silver/outcome/i1.txt", lambda _: b"no", "items/d/i1.html"),
    "a reference's manifest": Edit(
        "data/references/silver/outcome/manifest.json", _sub("a test's reason", "another reason"),
        "references/silver/outcome/index.html",
    ),
    "a config": Edit("data/configs/cheap.yaml", _sub("small", "large"), "arms/cheap/index.html"),
    "a capture": Edit(
        "data/captures/c/capture.json", _sub('"n_records": 4', '"n_records": 5'), "captures/index.html"
    ),
    "a run's metrics": Edit(
        "data/runs-rescored/cheap_20261002T000000Z/metrics.json",
        _sub('"balanced_accuracy": 0.75', '"balanced_accuracy": 0.25'), "datasets/d/index.html",
    ),
    "a run's predictions": Edit(
        "data/runs/cheap_20261002T000000Z/predictions.jsonl", _sub("yes", "nay"), None
    ),
    "picks": Edit(
        "data/picks.jsonl", lambda data: data + data.replace(b'"i2"', b'"i3"'), "items/d/i3.html"
    ),
    "a dataset's manifest": Edit("data/datasets/d.json", _sub("acme", "acme2"), "items/d/i1.html"),
    "the settings": Edit("evh.toml", _sub("test project", "other project")),
}  # fmt: skip

NUMBERS = {
    "a number of a run, written otherwise": Edit(
        "data/runs-rescored/cheap_20261002T000000Z/metrics.json",
        _sub('"balanced_accuracy": 0.75', '"balanced_accuracy": 75e-2'), None,
    ),
    "a score, whole and not a fraction": Edit(
        "data/runs-rescored/cheap_20261002T000000Z/predictions.jsonl",
        _sub('"correct":1.0', '"correct":1'), None,
    ),
    "a field, a fraction and not whole": Edit(
        "data/datasets/d.json", _sub('"year": 2021', '"year": 2021.0'), "items/d/i1.html"
    ),
    "a field, true and not 1": Edit("data/datasets/d.json", _sub('"year": 2021', '"year": true'), None),
}  # fmt: skip
"""What is equal in Python and need not be shown alike."""

DECIDED_EDITS = (
    Edit("data/labels/d/ann/i03.txt", lambda _: b"yes", "datasets/d/index.html"),
    Edit("data/references/gold/ann/i02.txt", lambda _: b"no", "goals/answers/index.html"),
    Edit("data/goals/answers.yaml", _sub("metric: correct", "metric: correct\nalpha: 0.2"), None),
    Edit("data/goals/answers.yaml", _sub("Which arm", "Which of the arms"), "goals/index.html"),
    Edit("data/configs/near.yaml", lambda data: data + b"floor: true\n", "datasets/d/index.html"),
    Edit("data/configs/near.yaml", _sub("floor: true\n", ""), "datasets/d/index.html"),
    Edit(
        "data/runs/near_20261001T000000Z/predictions.jsonl", _sub('"decision":"yes"', '"decision":"no"'),
        "items/d/i00.html",
    ),
    Edit(
        "data/runs/far_20261001T000000Z/metrics.json", _sub('"created_at": "2026', '"created_at": "2025'),
        "runs/index.html",
    ),
    Edit("data/judges/tone.yaml", _sub("Which answer", "Which of the answers"), "judges/tone/index.html"),
    Edit("data/labels/d/who/i00.txt", lambda _: b"far", "judges/helpful/index.html"),
    Edit("data/sources/d/i05.txt", lambda data: data + b"more", "items/d/i05.html"),
    Edit("data/sources/d/i05.txt", lambda data: data.removesuffix(b"more"), "items/d/i05.html"),
    Edit("data/datasets/d.json", _sub('"task": "triage"', '"task": "sorting"'), "datasets/index.html"),
    Edit("evh.toml", lambda data: data + b"\n[catalog]\nmax_item_text = 9\n", "items/d/i01.html"),
)  # fmt: skip
"""Edits of a project with a goal, pairs of arms and judges; each is made on top of those before it."""
