"""Scoring stored outputs: what `run` does at its end and `rescore` does again, by the same code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from evh.adapters.results import ScoredRow
from evh.errors import Refusal
from evh.measure.numbers import mean
from evh.project import labels, references, runs
from evh.project.shelf import read_each
from evh.records.run import Prediction
from evh.store.hashing import sha256_text
from evh.store.names import possible_stems

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evh.adapters.hooks import Adapter
    from evh.adapters.results import Summary
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item

T = TypeVar("T")

OUTPUT_SHA = runs.OUTPUT_SHA
"""The hidden key of a row that names its output's bytes: what a resumed run trusts."""
EXTRA = "_extra"
"""The hidden key of a row that keeps the metrics a system gave itself, for when it is scored again."""
_ERROR_LENGTH = 2_000
_SHORT = 200
"""An output of so many characters, and a label with it, is scored once by an adapter of evh's own."""


@dataclass(frozen=True, slots=True)
class Target:
    """What outputs are scored against: a label set or a reference set, its texts joined to the items.

    ``ref`` is ``labels/<dataset>/<set>`` or ``<tier>/<name>``. ``texts`` maps an item's id to the text that
    a scorer reads; an item that is not in it is not scored. ``digest`` is that of the whole set.
    """

    ref: str
    reference_id: str
    tier: str
    digest: str
    texts: Mapping[str, str]

    @property
    def is_labels(self) -> bool:
        """Whether it is a label set."""
        return self.tier == "labels"

    def identity(self) -> dict[str, Any]:
        """Return what a fingerprint says of it."""
        kind = "labels_sha256" if self.is_labels else "reference_sha256"
        return {"reference_id": self.reference_id, kind: self.digest}


@dataclass(frozen=True, slots=True)
class Scored:
    """A run's scored rows, its run-level scores, and what went wrong.

    ``problems`` are sentences about run-level figures that could not be made; an item's own failure is in
    its row's ``error``.
    """

    rows: tuple[Prediction, ...]
    scores: Mapping[str, float]
    n_scored: int
    problems: tuple[str, ...] = ()

    @property
    def n_errors(self) -> int:
        """How many items failed."""
        return sum(row.error is not None for row in self.rows)


def target_of_labels(project: Project, dataset: Dataset, ref: str) -> Target:
    """Return a label set of the dataset as a target, its digest verified.

    Args:
        project: the project.
        dataset: the dataset that was run.
        ref: ``<dataset>/<set>``, or the name of one of the dataset's sets.

    Raises:
        Refusal: no such set, a set of another dataset, or one that was edited.
    """
    owner, name = labels.split_ref(ref, dataset_id=dataset.dataset_id)
    if owner != dataset.dataset_id:
        raise Refusal(
            "other-dataset",
            f"outputs on {dataset.dataset_id} are not scored against labels of {owner}",
            why=[f"labels/{owner}/{name}: a set of another dataset is promoted first, on purpose"],
            next=f"evh reference-promote --dataset-id {dataset.dataset_id} --labels {owner}/{name} "
            "--tier silver --reason WHY",
        )
    label_set = labels.read(project, owner, name)
    by_sha = labels.by_sha(label_set, labels.texts(project, label_set, verify=True))
    return Target(
        ref=f"labels/{label_set.ref}",
        reference_id=f"labels/{label_set.ref}",
        tier="labels",
        digest=label_set.labels_sha256,
        texts=_joined(dataset, by_sha),
    )


def target_of_reference(project: Project, dataset: Dataset, ref: str) -> Target:
    """Return a reference set of the dataset as a target.

    Args:
        project: the project.
        dataset: the dataset that was run.
        ref: ``<tier>/<name>``.

    Raises:
        Refusal: no such reference set, or one of another dataset.
    """
    reference = references.read(project, ref)
    if reference.dataset_id != dataset.dataset_id:
        raise Refusal(
            "other-dataset",
            f"outputs on {dataset.dataset_id} are not scored against a reference of {reference.dataset_id}",
            why=[f"references/{reference.ref}: it is for {reference.dataset_id}"],
            next=f"evh references; evh reference-promote --dataset-id {dataset.dataset_id} …",
        )
    raw = references.raw_texts(project, reference)
    references.check_digest(reference, raw)
    texts = references.texts(project, reference)
    if reference.items:
        joined = _joined(
            dataset, {sha: texts[item] for item, sha in reference.items.items() if item in texts}
        )
    else:  # a foreign reference: its files' stems are the items
        stems = {
            item.item_id: next((s for s in possible_stems(item.item_id) if s in texts), None)
            for item in dataset.items
        }
        joined = {item_id: texts[stem] for item_id, stem in stems.items() if stem is not None}
    return Target(
        ref=reference.ref,
        reference_id=reference.ref,
        tier=reference.tier,
        digest=references.digest(raw),
        texts=joined,
    )


def score(
    adapter: Adapter,
    rows: Sequence[Prediction],
    outputs: Mapping[str, str],
    target: Target | None,
    *,
    place: str,
    sources: Mapping[str, bytes] | None = None,
    with_outputs: bool = False,
) -> Scored:
    """Return the rows decided and scored, with the mean of each metric and the adapter's run-level figures.

    An item that the target does not label keeps its decision and has no score. An item without an output, or
    on which a hook raises, becomes a row with ``error``; the others are not touched. A mean is over the rows
    that have the metric.

    Args:
        adapter: decides and scores.
        rows: one an item; their old scores, decisions and errors are replaced, what was measured is kept.
        outputs: item id → what the arm answered.
        target: what to score against; None scores without a label.
        place: the dataset, which names a row in an error.
        sources: item id → the item's bytes, where the adapter's ``score`` reads them.
        with_outputs: the rows hold their outputs, as those of a Parquet file do.
    """
    known: dict[tuple[str, str | None], tuple[str | None, Mapping[str, float]]] = {}
    # A project's own code may answer the same question otherwise, and may read the item's text.
    alike = adapter.path is None and not adapter.reads_source
    made: list[Prediction] = []
    scored: list[ScoredRow] = []
    for row in rows:
        output = outputs.get(row.item_id)
        kept = output if with_outputs else row.output
        if output is None:
            made.append(_scored_row(row, kept, {}, None, row.error or "no stored output"))
            continue
        text = target.texts.get(row.item_id) if target else None
        found, error = known.get((output, text)), None
        if found is None:
            found, error = attempt(
                lambda row=row, output=output, text=text: _score_one(  # type: ignore[misc]
                    adapter,
                    row.item_id,
                    output,
                    text,
                    labelled=target is None or text is not None,
                    place=place,
                    sources=sources,
                ),
                f"{place}/{row.item_id}",
            )
            if found is not None and alike and len(output) <= _SHORT:
                known[output, text] = found
        if found is None:
            made.append(_scored_row(row, kept, {}, None, error))
            continue
        decision, metrics = found
        extra = row.hidden.get(EXTRA)
        scores_here = {**extra, **metrics} if isinstance(extra, Mapping) else dict(metrics)
        made.append(_scored_row(row, kept, scores_here, decision, None))
        if text is not None:
            scored.append(ScoredRow(row.item_id, output, decision or "", text, scores_here))
    scores = _means(made)
    problems: list[str] = []
    if scored:
        summary, error = attempt(lambda: adapter.summary(scored, place), place)
        problems += [f"the run-level figures are missing: {error}"] if error else []
        figures = summary.figures if summary else {}
        problems += [
            f"summarise returned {name!r}, which the items have: their mean stands"
            for name in sorted(figures.keys() & scores.keys())
        ]
        scores = {**figures, **scores}
        problems += _left_out(summary, adapter.primary_metric, scores) if summary else []
    n_scored = len(scored) if target else sum(bool(row.scores) for row in made)
    return Scored(tuple(made), scores, n_scored, tuple(problems))


def attempt(deed: Callable[[], T], place: str) -> tuple[T | None, str | None]:
    """Return what a deed about one item gives, or why it was refused: other items go on.

    Args:
        deed: raises a Refusal where it cannot be done.
        place: what the deed is about; a reason that starts with it says it once.
    """
    problems: list[Refusal] = []
    found = read_each([None], lambda _: deed(), problems)
    if found:
        return found[0], None
    refusal = problems[0]
    reasons = "; ".join(reason.removeprefix(f"{place}: ") for reason in refusal.why)
    said = f"{refusal.what}: {reasons}" if reasons else refusal.what
    return None, said.encode("utf-8", "replace").decode()[:_ERROR_LENGTH]


def output_sha(text: str) -> str:
    """Return the sha256 of an output's bytes."""
    return sha256_text(text)


def _score_one(
    adapter: Adapter,
    item_id: str,
    output: str,
    text: str | None,
    *,
    labelled: bool,
    place: str,
    sources: Mapping[str, bytes] | None,
) -> tuple[str | None, Mapping[str, float]]:
    """Return the decision and the metrics of one output."""
    where = f"{place}/{item_id}"
    decision = adapter.decide(output, where)
    if not labelled:
        return decision, {}
    source = (sources or {}).get(item_id)
    told = source.decode("utf-8", "replace") if source else None
    return decision, adapter.score(output, text, told, where)


def _scored_row(
    row: Prediction,
    output: str | None,
    scores: Mapping[str, float],
    decision: str | None,
    error: str | None,
) -> Prediction:
    """Return a row with what was scored now and what was measured then."""
    return Prediction(
        item_id=row.item_id,
        scores=scores,
        latency_ms=row.latency_ms,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_usd=row.cost_usd,
        output=output,
        decision=decision,
        error=error,
        hidden=row.hidden,
        extra=row.extra,
    )


def _means(rows: Sequence[Prediction]) -> dict[str, float]:
    columns: dict[str, list[float]] = {}
    for row in rows:
        for metric, value in row.scores.items():
            columns.setdefault(metric, []).append(value)
    means = {metric: mean(values) for metric, values in sorted(columns.items())}
    return {metric: value for metric, value in means.items() if value is not None}


def _left_out(summary: Summary, primary: str, scores: Mapping[str, float]) -> list[str]:
    """Return a sentence for each figure that is none, and for the primary one where it is undefined."""
    told = [f"a figure of summarise is left out: {why}" for why in summary.wrong.values()]
    if primary in summary.undefined and primary not in scores:
        told.append(f"the primary metric {primary} is undefined on these items: summarise gave None or NaN")
    return told


def _joined(dataset: Dataset, by_sha: Mapping[str, str]) -> dict[str, str]:
    """Join texts to items by the bytes: items of equal bytes share their labels."""
    found: dict[str, str] = {}
    item: Item
    for item in dataset.items:
        if item.sha256 in by_sha:
            found[item.item_id] = by_sha[item.sha256]
    return found
