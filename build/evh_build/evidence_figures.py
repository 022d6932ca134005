"""A journal of evidence labels in figures: the label rate against the update rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build.forest import Axis, axis_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evh.acts.evidence_report import QueryReport
    from evh.measure.intervals import Interval
    from evh.measure.rates import Rate
    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval, as a row of a table and a picture on a shared axis.

    Attributes:
        name: what it is.
        kind: its mark in a picture: ``label``, ``update``, ``corrected`` or ``plain``.
        value: None where there is nothing to count.
        low, high: its interval; None without one.
        count, n: what it was counted from; None where it was not counted.
        says: what a reader must know, or why there is no figure.
    """

    name: str
    kind: str
    value: float | None
    low: float | None
    high: float | None
    count: int | None = None
    n: int | None = None
    says: str = ""


@dataclass(frozen=True, slots=True)
class JournalView:
    """A journal in a list.

    Attributes:
        name: the question's id, with the journal's own name where it has one.
        path: its page.
        query_id, question: the question.
        journal: the journal's own name; empty for the first one.
        model: who labelled.
        n_labelled, n_distinct: contents with a label, contents.
        n_failed: contents without one for a failure.
        label: the label rate.
        update: the controller's update rate.
        corrected: the corrected rate; None without a person's random slice.
        r_update: the mean reward of the controller's decisions.
        measured: a person labelled a random slice.
    """

    name: str
    path: str
    query_id: str
    question: str
    journal: str
    model: str
    n_labelled: int
    n_distinct: int
    n_failed: int
    label: Figure
    update: Figure
    corrected: Figure | None
    r_update: Figure
    measured: bool

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of its picture."""
        return (self.label, self.update, *([self.corrected] if self.corrected else []))


def view(source: Source, one: QueryReport) -> JournalView:
    """Return a journal as lists show it."""
    summary = one.summary
    people = one.people
    return JournalView(
        name=one.at.stem,
        path=source.urls.journal(one.at.log, one.at.stem),
        query_id=one.query.query_id,
        question=one.query.question,
        journal=one.at.name,
        model=one.model,
        n_labelled=summary.n_distinct_labelled,
        n_distinct=summary.n_distinct,
        n_failed=summary.n_failed,
        label=of_rate("label rate", "label", summary.label_rate),
        update=of_rate("update rate", "update", summary.update_rate, none="no decisions recorded"),
        corrected=None
        if people is None
        else _figure(
            "corrected rate", "corrected", people.corrected.share, people.corrected.interval,
            says=people.corrected.refused
            or people.corrected.unbounded
            or f"from a person’s random slice of {people.slice.n:,}",
        ),
        r_update=_figure(
            "r_update", "update", summary.r_update.mean, summary.r_update.interval,
            n=summary.r_update.n, says="+1 for a decision that is the label, −1 for one that is not",
        ),
        measured=people is not None,
    )  # fmt: skip


def of_rate(name: str, kind: str, rate: Rate, *, says: str = "", none: str = "nothing to count") -> Figure:
    """Return a rate as a figure."""
    told = says if rate.n else none
    return _figure(name, kind, rate.share, rate.interval, count=rate.count, n=rate.n, says=told)


def axis(views: Iterable[JournalView]) -> Axis:
    """Return the axis that holds the pictures of journals."""
    return axis_over(figure for one in views for figure in one.figures)


def axis_over(figures: Iterable[Figure]) -> Axis:
    """Return the axis that begins at 0 and holds figures and their intervals."""
    return axis_of(end for one in figures for end in (0.0, one.value, one.low, one.high))


def _figure(
    name: str,
    kind: str,
    value: float | None,
    interval: Interval | None,
    *,
    count: int | None = None,
    n: int | None = None,
    says: str = "",
) -> Figure:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Figure(name, kind, value, low, high, count, n, says)
