"""What hooks take and give: an answer, a scored row, a summary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Result:
    """What a system answered for one item.

    ``extra`` holds further metrics, ``meta`` anything worth keeping beside the prediction (never averaged).
    """

    output: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    extra: Mapping[str, float] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One item as ``summarise`` reads it: what was answered, the label's text (or None), its metrics."""

    item_id: str
    output: str
    decision: str
    reference: str | None
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Summary:
    """What ``summarise`` returned.

    Attributes:
        figures: name → value.
        undefined: names that it gave None or NaN for.
        wrong: name → why what it gave is no figure.
    """

    figures: dict[str, float]
    undefined: tuple[str, ...]
    wrong: Mapping[str, str]
