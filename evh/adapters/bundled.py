"""The hooks that stand in where a project supplies none, and the adapters that a config names by a word.

``default``: exact and accepted answers, and text overlap. ``classification``: exact answers, with accuracy,
balanced accuracy, macro-F1, the figures of each class and which was taken for which as run-level
figures. ``r_update``: a memory controller's decisions against evidence labels. Those that take options are in
`scorers_bundled`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.adapters import r_update
from evh.measure.classes import per_class
from evh.measure.scores import ClassRow, classification, closest_f1, exact
from evh.records.answers import answers, comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.adapters.results import ScoredRow
    from evh.records.capture import Record


def score(output: str, reference: str | None) -> dict[str, float]:
    """Return ``correct`` (1 when the output is one of the answers) and ``text_f1`` with the closest one."""
    if reference is None:
        return {}
    accepted = answers(reference)
    return {"correct": exact(comparable(output), accepted), "text_f1": closest_f1(output, accepted)}


def score_class(output: str, reference: str | None) -> dict[str, float]:
    """Return ``correct``: 1 when the output is one of the label's answers."""
    return {} if reference is None else {"correct": exact(comparable(output), answers(reference))}


def summarise_nothing(_rows: Sequence[ScoredRow]) -> dict[str, float]:
    """Return no run-level figure."""
    return {}


def summarise_classes(rows: Sequence[ScoredRow]) -> dict[str, float]:
    """Return the run-level figures of a classification."""
    classes = [ClassRow(row.decision, row.reference) for row in rows if row.reference is not None]
    return {**per_class(classes), **classification(classes)}


def call_nothing(text: str, params: Mapping[str, Any]) -> str:
    """Refuse to answer: a ``python`` arm needs an adapter with ``call_system``."""
    message = "this adapter has no call_system(text, params)"
    raise NotImplementedError(message)


def of_record(key: str, default: object = None) -> Callable[[Record], Any]:
    """Return a hook that reads one of evh's own keys of a record."""

    def read(record: Record) -> Any:  # noqa: ANN401 - a raw JSON value
        value = record.get(key)
        return default if value is None else value

    return read


DEFAULTS: Mapping[str, Callable[..., Any]] = {
    "call_system": call_nothing,
    "score": score,
    "decide": comparable,
    "same": lambda one, other: one == other,
    "item": of_record("item"),
    "item_id": of_record("record_id"),
    "record_id": of_record("record_id"),
    "ts": of_record("ts"),
    "fields": of_record("fields", {}),
    "recorded_output": of_record("output"),
    "production_ran": of_record("production"),
    "outcomes": of_record("outcomes", []),
    "summarise": summarise_nothing,
    "warmup": lambda _params: None,
    "fingerprint": lambda _params: {},
}
BUNDLED: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "default": {},
    "classification": {"score": score_class, "summarise": summarise_classes},
    "r_update": {
        "score": r_update.score,
        "decide": r_update.decide,
        "record_id": r_update.record_id,
        "item_id": r_update.record_id,
        "recorded_output": r_update.recorded_output,
    },
}
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "classification": {"PRIMARY_METRIC": "balanced_accuracy"},
    "r_update": {"PRIMARY_METRIC": r_update.PRIMARY_METRIC},
}
