"""What a figure was made against, and how far an arm's own repeats lie apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Against:
    """What a score was made against.

    ``ref`` is ``labels/<dataset>/<set>`` or ``<tier>/<name>``; ``kind`` is ``labels`` or ``reference``.
    ``tier`` is a reference's, None for labels. ``source_kind`` is ``person``, ``model`` or ``rule``; None
    where a reference was promoted from several kinds, or where no source is on record. ``by`` is who or what
    labelled, or who promoted; it may be empty.
    """

    ref: str
    kind: str
    name: str
    tier: str | None = None
    source_kind: str | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """An arm's repeats: how many, and the least and the largest of their figures."""

    runs: tuple[str, ...]
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart the arm's own runs lie."""
        return self.high - self.low
