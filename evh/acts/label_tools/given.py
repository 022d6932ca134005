"""What one annotator gave to one task, in the form that every tool's reader returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SKIPPED, IGNORED, REJECTED = "skipped", "ignored", "rejected"
DRAFT, DISCARDED, NO_STATUS = "draft", "discarded", "no status"
NO_ANSWER, NO_ANNOTATION = "no answer", "no annotation"
"""Why something in an export is no label: what `tool.dropped` counts."""


@dataclass(frozen=True, slots=True)
class Given:
    """What one annotator gave to one task.

    Attributes:
        place: the file, and the task or line in it, for messages.
        annotator: as the tool names them; "" where it does not.
        answers: question → the labels given at once; none where it was left open.
        data: what the task carried, by name: its texts, ``item_id`` and ``item_sha256`` where they are there.
        unread: question → what its answer is, where that is no label of the whole item.
        dropped: why this is no label at all, or None.
        question: the only question this is about; None: all of them.
        note: what the annotator wrote beside it.
    """

    place: str
    annotator: str
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    dropped: str | None = None
    question: str | None = None
    note: str | None = None


def plain(value: object) -> str | None:
    """Return a single answer as text: a text as it is, ``4.0`` as ``4``; None for others and for infinity."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, float) or not isfinite(value):
        return None
    return str(int(value)) if value.is_integer() else repr(value)


def plain_all(values: object) -> tuple[str, ...] | None:
    """Return answers given at once, from a single one or a list; None where one is no text or number."""
    listed = values if isinstance(values, list) else [values]
    made = [plain(one) for one in listed]
    return None if None in made else tuple(one for one in made if one is not None)
