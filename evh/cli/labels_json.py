"""The JSON of ``evh labels``, whose schema is labels.json, and of every command that makes a label set.

Every figure is unrounded, what is undefined null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.acts.labels import Anchoring, LabelsReport, Pair, SetSummary, TaskAgreement
    from evh.measure.intervals import Interval
    from evh.records.labelset import LabelSet


def made_row(label_set: LabelSet, n_of: int, *, written: bool) -> dict[str, Any]:
    """Return what a command that makes a label set says of it, whatever it is made from.

    Args:
        label_set: the set.
        n_of: items of its dataset.
        written: it is on the disk, and was not only planned.
    """
    return {
        "dataset_id": label_set.dataset_id,
        "set": label_set.set,
        "task": label_set.task,
        "n_items": label_set.n_items,
        "of": n_of,
        "labels_sha256": label_set.labels_sha256 or None,
        "written": written,
    }


def report_row(report: LabelsReport) -> dict[str, Any]:
    """Return one dataset's report as an object of ``datasets``."""
    return {
        "dataset_id": report.dataset_id,
        "n_items": report.n_items,
        "tasks": [_task_row(task) for task in report.tasks],
    }


def _task_row(task: TaskAgreement) -> dict[str, Any]:
    return {
        "task": task.task,
        "alpha": task.alpha,
        "alpha_scale": "nominal",
        "alpha_n": task.alpha_n,
        "alpha_too_few": task.alpha_too_few,
        "alphas": [
            {"scale": one.scale, "alpha": one.value, **_ends("", one.interval)} for one in task.alphas
        ],
        "pooled": list(task.pooled),
        "n_guidelines": task.guidelines,
        "scale": task.scale.kind,
        "order": list(task.scale.order),
        "off_scale": [{"label": label, "n": count} for label, count in task.off_scale],
        "fleiss": task.fleiss,
        "fleiss_raters": task.fleiss_raters or None,
        "sets": [_set_row(one) for one in task.sets],
        "pairs": [_pair_row(pair) for pair in task.pairs],
    }


def _set_row(one: SetSummary) -> dict[str, Any]:
    return {
        "ref": one.ref,
        "kind": one.kind,
        "source": one.source_kind,
        "by": one.by or None,
        "own": one.own,
        "covered": one.covered,
        "of": one.of,
        "guideline_sha256": one.guideline,
        "guidelines_sha256": list(one.guidelines),
        "promoted_into": list(one.promoted_into),
        "n_answers": one.distinct,
        "majority": one.majority,
        "majority_share": one.majority_share,
        "n_preceding": one.n_preceding,
        "n_timed": one.n_timed,
        "reads_output": one.reads_output,
        "n_conflicts": one.conflicts,
        "anchoring": _anchoring(one.anchoring),
    }


def _anchoring(one: Anchoring | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "n_shown": one.shown,
        "n_shown_same": one.shown_same,
        "n_hidden": one.hidden,
        "n_hidden_same": one.hidden_same,
        "difference": one.difference,
        **_ends("difference_", one.interval),
    }


def _pair_row(pair: Pair) -> dict[str, Any]:
    one = pair.agreement
    return {
        "a": pair.a,
        "b": pair.b,
        "n": one.n,
        "n_same": one.same,
        "same_share": one.same_share,
        **_ends("same_", one.same_interval),
        "n_sharing": one.sharing,
        "sharing_share": one.sharing_share,
        "kappa": one.kappa,
        **_ends("kappa_", pair.kappa_interval),
        "kappa_linear": one.kappa_linear,
        "kappa_quadratic": one.kappa_quadratic,
        "ac1": one.ac1,
        **_ends("ac1_", pair.ac1_interval),
        "alpha": one.alpha,
        **_ends("alpha_", pair.alpha_interval),
        "masi": one.masi,
        "prevalence": one.prevalence,
        "bias": one.bias,
        "paradox": one.paradox,
        "too_few": one.too_few,
        "guideline_differs": pair.guideline_differs,
        "derived": pair.derived,
        "same_person": pair.same_person or None,
        "n_several_a": one.several[0],
        "n_several_b": one.several[1],
        "categories": list(one.confusion.categories),
        "counts": [list(row) for row in one.confusion.counts],
        "n_settled": one.settled,
        "costs": [
            {"a": cost.a, "b": cost.b, "n": cost.count, "items": list(cost.items)} for cost in pair.costs
        ],
    }


def _ends(name: str, interval: Interval | None) -> dict[str, Any]:
    return {
        f"{name}low": interval.low if interval else None,
        f"{name}high": interval.high if interval else None,
    }
