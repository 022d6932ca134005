"""A run: one arm over one dataset, its predictions and what they scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, is_number, without_empty
from evh.store.names import RUN_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping

MEASURES = ("latency_ms", "tokens_in", "tokens_out", "cost_usd", "resumed")
"""Numbers of a prediction that are not metrics."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What an arm answered for one item.

    ``scores`` holds one finite number per metric. ``decision`` is the adapter's canonical answer.
    ``error`` is set where the item failed: such a row has no score. ``hidden`` keeps the ``_`` keys.
    """

    item_id: str
    scores: Mapping[str, float] = field(default_factory=dict)
    latency_ms: float | None = None
    tokens_in: float | None = None
    tokens_out: float | None = None
    cost_usd: float | None = None
    output: str | None = None
    decision: str | None = None
    error: str | None = None
    hidden: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run's ``metrics.json``. Its identity is (``folder``, ``run_id``).

    ``folder`` is the name of the ``runs*`` folder it lies in. ``reference_tier`` is ``labels`` for a run
    scored against a label set, which ``reference_id`` then names as ``labels/<dataset>/<set>``; both are
    None for an unscored run.
    """

    run_id: str
    config_id: str
    dataset_id: str
    folder: str = "runs"
    created_at: str = ""
    adapter: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    n_items: int = 0
    n_errors: int = 0
    primary_metric: str | None = None
    metric_kinds: Mapping[str, str] = field(default_factory=dict)
    metric_directions: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    reference_id: str | None = None
    reference_tier: str | None = None
    build: Mapping[str, Any] | None = None
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    warmup_ms: float | None = None
    derived: Mapping[str, Any] | None = None
    predictions: Mapping[str, Any] | None = None
    repeat_group: str | None = None
    judged: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """``<folder>/<run_id>``, the run's path below ``data/``."""
        return f"{self.folder}/{self.run_id}"

    @property
    def labels(self) -> str | None:
        """``<dataset>/<set>`` of the label set it was scored against, or None."""
        if self.reference_tier == "labels" and self.reference_id and self.reference_id.startswith("labels/"):
            return self.reference_id.removeprefix("labels/")
        return None

    @property
    def reference(self) -> str | None:
        """``<tier>/<name>`` of the reference set it was scored against, or None."""
        if self.reference_tier in (None, "", "labels") or not self.reference_id:
            return None
        name = self.reference_id.rsplit("/", 1)[-1]
        return f"{self.reference_tier}/{name}"

    @property
    def shown_metric(self) -> str | None:
        """The metric that stands for it: the primary one, else ``correct``, else the first by name."""
        if self.primary_metric in self.scores or not self.scores:
            return self.primary_metric
        return "correct" if "correct" in self.scores else min(self.scores)

    @property
    def recorded(self) -> bool:
        """Whether its outputs are production's own decisions."""
        return self.params.get("provider") == "recorded"

    def higher_is_better(self, metric: str) -> bool:
        """Tell whether a larger value of ``metric`` is better; so it is where nothing says otherwise."""
        return self.metric_directions.get(metric, "higher") != "lower"


def parse(raw: Mapping[str, Any], place: object, *, folder: str) -> Run:
    """Return the run in a ``metrics.json``; a foreign one needs only its three ids and ``scores``."""
    shape = Shape(raw, place)
    fingerprint = shape.mapping("fingerprint")
    data = fingerprint.get("data")
    fallback = data.get("reference_id") if isinstance(data, dict) else None
    rescored_from = shape.maybe_text("rescored_from")
    derived = shape.maybe_mapping("derived")
    if derived is None and rescored_from:
        derived = {"kind": "rescored", "from": rescored_from}
    run = Run(
        run_id=shape.identifier("run_id", length=RUN_ID_LENGTH),
        config_id=shape.identifier("config_id"),
        dataset_id=shape.identifier("dataset_id"),
        folder=folder,
        created_at=shape.text("created_at"),
        adapter=shape.text("adapter"),
        params=shape.mapping("params"),
        n_items=shape.count("n_items"),
        n_errors=shape.count("n_errors"),
        primary_metric=shape.maybe_text("primary_metric"),
        metric_kinds=shape.mapping("metric_kinds"),
        metric_directions=shape.mapping("metric_directions"),
        scores=numbers(shape.mapping("scores")),
        reference_id=shape.maybe_text("reference_id") or fallback,
        reference_tier=shape.maybe_text("reference_tier"),
        build=shape.maybe_mapping("build"),
        fingerprint=fingerprint,
        warmup_ms=shape.maybe_number("warmup_ms"),
        derived=derived,
        predictions=shape.maybe_mapping("predictions"),
        repeat_group=shape.maybe_text("repeat_group"),
        judged=shape.maybe_mapping("judged"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a run that evh can read")
    return run


def dump(run: Run) -> dict[str, Any]:
    """Return the ``metrics.json`` of a run."""
    return {
        **run.extra,
        "run_id": run.run_id,
        "config_id": run.config_id,
        "dataset_id": run.dataset_id,
        "created_at": run.created_at,
        "adapter": run.adapter,
        "params": dict(run.params),
        "n_items": run.n_items,
        "n_errors": run.n_errors,
        "primary_metric": run.primary_metric,
        "metric_kinds": dict(run.metric_kinds),
        "metric_directions": dict(run.metric_directions),
        "scores": dict(run.scores),
        "reference_id": run.reference_id,
        "reference_tier": run.reference_tier,
        "build": run.build,
        "fingerprint": dict(run.fingerprint),
        "warmup_ms": run.warmup_ms,
        **without_empty(
            {
                "derived": run.derived,
                "predictions": run.predictions,
                "repeat_group": run.repeat_group,
                "judged": run.judged,
            }
        ),
    }


def parse_prediction(raw: Mapping[str, Any], place: object) -> Prediction:
    """Return one row of predictions. Every finite number at the top level is a metric, by its own key."""
    shape = Shape(raw, place)
    measures = {name: shape.take(name) for name in MEASURES}
    item_id = shape.item_identifier()
    output, decision, error = (shape.maybe_text(key) for key in ("output", "decision", "error"))
    rest = shape.rest()
    nested = rest.pop("scores", None)
    scores = numbers(rest) | numbers(nested if isinstance(nested, dict) else {})
    hidden = {key: value for key, value in rest.items() if key.startswith("_")}
    extra = {key: value for key, value in rest.items() if key not in scores and key not in hidden}
    shape.finish(f"{place} is not a prediction")
    known = {name: value if is_number(value) else None for name, value in measures.items()}
    return Prediction(
        item_id=item_id,
        scores=scores,
        latency_ms=known["latency_ms"],
        tokens_in=known["tokens_in"],
        tokens_out=known["tokens_out"],
        cost_usd=known["cost_usd"],
        output=output,
        decision=decision,
        error=error,
        hidden=hidden,
        extra=extra,
    )


def dump_prediction(prediction: Prediction) -> dict[str, Any]:
    """Return one row of ``predictions.jsonl``; what is None is left out."""
    return {
        **prediction.extra,
        **prediction.hidden,
        **prediction.scores,
        "item_id": prediction.item_id,
        **without_empty(
            {
                "latency_ms": prediction.latency_ms,
                "tokens_in": prediction.tokens_in,
                "tokens_out": prediction.tokens_out,
                "cost_usd": prediction.cost_usd,
                "output": prediction.output,
                "decision": prediction.decision,
                "error": prediction.error,
            }
        ),
    }


def is_metric(key: str, value: object) -> bool:
    """Tell whether a key of a prediction is a metric: a finite number under a plain key."""
    return not key.startswith("_") and key not in MEASURES and is_number(value)


def numbers(raw: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics among ``raw``: finite numbers under keys that are not measures or hidden."""
    return {key: value for key, value in raw.items() if is_metric(key, value)}
