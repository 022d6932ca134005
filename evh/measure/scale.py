"""What kind of thing labels are: names, an order, numbers. It decides which disagreements weigh more."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("nominal", "ordinal", "interval", "ratio")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Scale:
    """A declared scale.

    Attributes:
        kind: ``nominal``; ``ordinal``: the labels have an order; ``interval``: they are numbers, and equal
            differences weigh the same; ``ratio``: they are numbers from 0 up; equal ratios weigh the same.
        order: of an ordinal scale, the labels from first to last. Without it the labels are numbers, and
            their size is their order.
    """

    kind: str = "nominal"
    order: tuple[str, ...] = ()


def number(text: str) -> float | None:
    """Return the finite number that a label is, written in decimal digits, or None."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def points(scale: Scale, labels: Iterable[str]) -> dict[str, float]:
    """Return where each label lies on the scale; a label that is not on it is left out.

    On an ordinal scale a label's point is its place, counted from 0: in ``order``, or among the different
    numbers of ``labels``. On the other scales, the nominal one too, it is its number; a negative number is
    not on a ratio scale.
    """
    distinct = set(labels)
    if scale.order:
        return {label: float(place) for place, label in enumerate(scale.order) if label in distinct}
    known = {label: value for label in distinct if (value := number(label)) is not None}
    if scale.kind == "ratio":
        return {label: value for label, value in known.items() if value >= 0}
    if scale.kind == "ordinal":
        place = {value: float(at) for at, value in enumerate(sorted(set(known.values())))}
        return {label: place[value] for label, value in known.items()}
    return known
