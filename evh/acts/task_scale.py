"""Which scale the answers of a task are on: declared in ``evh.toml``, or for one call.

```toml
[tasks.severity]
scale = "ordinal"
order = ["none", "low", "medium", "high"]
```

The sets of a task without a name are ``[tasks.""]``. Where nothing is declared the scale is nominal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.measure.scale import KINDS, Scale
from evh.records.answers import answers
from evh.records.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.project.find import Project

PLACE = "evh.toml"


def declared(project: Project) -> dict[str, Scale]:
    """Return the scale of each task that ``evh.toml`` declares one for, by the task's name.

    Raises:
        Refusal: a scale that is none, an order with a repeat, or one on a scale that is not ordinal.
    """
    whole = Shape(project.settings.extra, PLACE)
    made: dict[str, Scale] = {}
    for task, entry in whole.mapping("tasks").items():
        if not isinstance(entry, dict):
            whole.problem(f"tasks.{task}", "is not a table")
            continue
        one = Shape(entry, f"{PLACE}: [tasks.{task}]")
        order = one.texts("order")
        kind = one.choice("scale", KINDS, "ordinal" if order else "nominal")
        for reason in _faults(kind, order):
            one.problem("order", reason)
        whole.reasons.extend(one.reasons)
        made[task] = Scale(kind, order)
    whole.finish(f"{PLACE} declares scales that evh cannot read", next=f"mend {PLACE}")
    return made


def given(kind: str | None, order: str | None) -> Scale | None:
    """Return the scale that a command line names; None where it names none.

    Args:
        kind: one of ``scale.KINDS``; with an order it is ordinal.
        order: the labels from first to last, separated by commas.

    Raises:
        Refusal: an order with a repeat or an empty label, or one on a scale that is not ordinal.
    """
    if kind is None and order is None:
        return None
    labels = tuple(label.strip() for label in order.split(",")) if order is not None else ()
    chosen = kind or "ordinal"
    reasons = [f"--order {reason}" for reason in _faults(chosen, labels)]
    if reasons:
        raise Refusal(
            "bad-scale",
            "that is no scale",
            why=reasons,
            next="--order low,medium,high, or --scale with one of " + ", ".join(KINDS),
        )
    return Scale(chosen, labels)


def off_scale(
    scale: Scale, points: Mapping[str, float], counts: Mapping[str, int]
) -> tuple[tuple[str, int], ...]:
    """Return the labels that are not on a scale, with how often each is given, the most frequent first.

    Args:
        scale: the scale; every label is on a nominal one.
        points: where the labels lie, from ``scale.points``.
        counts: how often each label is given.
    """
    if scale.kind == "nominal":
        return ()
    off = [(label, count) for label, count in counts.items() if label not in points]
    return tuple(sorted(off, key=lambda one: (-one[1], one[0])))


def refuse_off_scale(scale: Scale, off: Mapping[str, Iterable[tuple[str, int]]]) -> None:
    """Refuse a scale named for one call that labels are not on; a label of several answers is on none.

    Args:
        scale: what the command line named.
        off: task → its labels off the scale, with how many there are of each.

    Raises:
        Refusal: naming each such label.
    """
    wanted = "in the order" if scale.order else "a number from 0 up" if scale.kind == "ratio" else "a number"
    reasons = [
        f"task {task or '(none named)'}: {label!r} ({count:,}) is not {wanted}"
        for task, labels in off.items()
        for label, count in labels
        if len(answers(label)) == 1
    ]
    if reasons:
        raise Refusal(
            "off-scale",
            f"not every label is on the {scale.kind} scale",
            why=reasons,
            next="name every label, first to last, with --order; or the task that is meant, with --task",
        )


def _faults(kind: str, order: tuple[Any, ...]) -> list[str]:
    reasons = []
    if order and kind != "ordinal":
        reasons.append(f"goes with an ordinal scale, not with {kind}")
    if len(set(order)) < len(order):
        reasons.append("names a label twice")
    if "" in order:
        reasons.append("names an empty label")
    if len(order) == 1:
        reasons.append("names one label alone")
    return reasons
