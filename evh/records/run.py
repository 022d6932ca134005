"""A run: one arm over one dataset, its predictions and what they scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, is_number, kind, without_empty
from evh.store.names import RUN_ID_LENGTH, bad_item_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


MEASURES = ("latency_ms", "tokens_in", "tokens_out", "cost_usd", "resumed")
"""Numbers of a prediction that are not metrics."""
_NO_METRICS = frozenset({*MEASURES, "item_id", "scores", "output", "decision", "error"})
"""Keys of a prediction that a score cannot have."""
_UNMEASURED = (None, None, None, None)
_NOTHING: Mapping[str, Any] = {}
"""Stands in for millions of empty mappings; nobody changes it."""
MOST_SCORE = 1e150
"""The largest a score can be, either way: its square still is a number."""
MOST_MEASURE = 2**53
"""A count, a time or a cost from here on is none: JSON and Parquet no longer hold each whole number."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What an arm answered for one item.

    ``scores`` holds one finite number per metric. ``decision`` is the adapter's canonical answer.
    ``error`` is set where the item failed: such a row has no score. ``hidden`` keeps the ``_`` keys.
    ``extra`` keeps the rest as it was read, a measure or a metric that is no usable number too: see
    `wrong_numbers`.
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
    _check_warnings(shape)
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


def _check_warnings(shape: Shape) -> None:
    """Note a key whose other type would take a warning off the run; the key stays in ``extra``."""
    fitted, floor, limit = (shape.raw.get(key) for key in ("fitted_on", "floor", "limit"))
    if fitted is not None and not (
        isinstance(fitted, list) and all(isinstance(one, str) and one for one in fitted)
    ):
        shape.problem("fitted_on", f"is {kind(fitted)}, not a list of datasets")
    if floor is not None and not isinstance(floor, bool):
        shape.problem("floor", f"is {kind(floor)}, not true or false")
    if limit is not None and (type(limit) is not int or limit < 1):
        shape.problem("limit", f"is {kind(limit)}, not a number of items")


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
    del measures["resumed"]  # a foreign run's, which nothing here reads
    wrong = {name: value for name, value in measures.items() if value is not None and bad_measure(value)}
    item_id = shape.item_identifier()
    output, decision, error = (shape.maybe_text(key) for key in ("output", "decision", "error"))
    rest = shape.rest()
    nested = rest.pop("scores", None)
    scores = numbers(rest) | numbers(nested if isinstance(nested, dict) else {})
    hidden = {key: value for key, value in rest.items() if key.startswith("_")}
    extra = {key: value for key, value in rest.items() if key not in scores and key not in hidden}
    shape.finish(f"{place} is not a prediction")
    known = {name: None if name in wrong else value for name, value in measures.items()}
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
        extra={**extra, **wrong},
    )


def plain_prediction(
    item_id: object,
    scores: Mapping[str, Any],
    measures: tuple[float | None, float | None, float | None, float | None],
    texts: tuple[str | None, str | None, str | None],
    hidden: Mapping[str, Any],
) -> Prediction | None:
    """Return the row that `parse_prediction` makes of these values, or None where only it can tell.

    Args:
        item_id: the item's id.
        scores: metric → value.
        measures: latency, tokens in, tokens out and cost, each a float or None.
        texts: output, decision and error.
        hidden: the keys that start with ``_``, and no others.
    """
    if bad_item_id(item_id) is not None:
        return None
    for name, value in scores.items():
        # A metric under any reading of the row that holds it.
        if value is None or name in _NO_METRICS or name.startswith("_"):
            return None
        if not -MOST_SCORE <= value <= MOST_SCORE:
            return None
    if measures != _UNMEASURED and not all(one is None or 0 <= one < MOST_MEASURE for one in measures):
        return None
    latency_ms, tokens_in, tokens_out, cost_usd = measures
    output, decision, error = texts
    return Prediction(
        item_id=str(item_id),
        scores=scores,
        latency_ms=latency_ms,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=cost_usd,
        output=output,
        decision=decision,
        error=error,
        hidden=hidden,
        extra=_NOTHING,
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


@dataclass(frozen=True, slots=True)
class WrongNumber:
    """A number of a prediction that cannot be used, and why. It counts as not there."""

    item_id: str
    key: str
    reason: str


def wrong_numbers(rows: Iterable[Prediction], metrics: Collection[str]) -> tuple[WrongNumber, ...]:
    """Return what stands in a run's predictions for a number and cannot be one.

    Args:
        rows: the predictions.
        metrics: what counts as a metric: another key may hold anything.
    """
    return tuple(
        WrongNumber(row.item_id, key, reason)
        for row in rows
        for key, value in row.extra.items()
        if (reason := _wrong_number(key, value, metrics)) is not None
    )


def _wrong_number(key: str, value: object, metrics: Collection[str]) -> str | None:
    if value is None:
        return None
    if key in MEASURES:
        return bad_measure(value)
    return bad_score(value) if key in metrics else None


def bad_measure(value: object) -> str | None:
    """Return why a value is no count, time or cost, or None where it is one."""
    if not is_number(value) or not isinstance(value, int | float):
        return f"is {kind(value)}, not a finite number"
    if value < 0:
        return f"is {value:g}, below 0"
    return None if value < MOST_MEASURE else f"is {value:g}, more than can be"


def bad_score(value: object) -> str | None:
    """Return why a value is no score, or None where it is one: a number that a float holds exactly."""
    if not is_number(value) or not isinstance(value, int | float):
        return f"is {kind(value)}, not a finite number"
    if abs(value) > MOST_SCORE:
        return f"is {value:g}: a score is at most {MOST_SCORE:g}, either way"
    return None if float(value) == value else f"is {value}, a whole number that no float holds exactly"


def is_metric(key: str, value: object) -> bool:
    """Tell whether a key of a prediction is a metric: a finite number under a plain key."""
    return not key.startswith("_") and key not in MEASURES and bad_score(value) is None


def numbers(raw: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics among ``raw``: finite numbers under keys that are not measures or hidden."""
    return {key: value for key, value in raw.items() if is_metric(key, value)}
