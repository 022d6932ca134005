"""How one label set or reference agrees with each other set: its row of every matrix that it stands in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build.matrix import anchor_of, step_of
from evh_build.pair_figures import PairFigures, figures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.acts.labels import Anchoring, Pair, SetSummary
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class Beside:
    """Another set beside this one, over the bytes of one dataset that both label.

    Attributes:
        other: the other set.
        dataset_id: the dataset.
        path: the pair's confusion on the dataset's page; None where it has no page.
        figures: the figures of the two.
        steps: where kappa, AC1, alpha and the share of same answers lie on the ramp, in that order; None for
            a figure that says nothing.
        derived: one was made from the other.
        differs: they name different guidelines.
        person: who labelled both.
    """

    other: Mark
    dataset_id: str
    path: str | None
    figures: PairFigures
    steps: tuple[int | None, ...]
    derived: bool
    differs: bool
    person: str


@dataclass(frozen=True, slots=True)
class SetAgreement:
    """A set's agreement with the others of its task, and with what was proposed to its labeler."""

    rows: tuple[Beside, ...]
    anchoring: Anchoring | None


def set_agreement(source: Source, ref: str) -> SetAgreement:
    """Return how a set agrees with every other one, its own dataset first, then by the datasets' ids.

    Args:
        source: the records.
        ref: ``<dataset>/<set>``, or ``<tier>/<name>`` of a reference.
    """
    held = source.gathered
    own = ref.partition("/")[0]
    names = sorted(held.datasets, key=lambda name: (name != own, name))
    anchoring = None
    for name in names:
        for summary in _summaries(source, name):
            if summary.ref == ref and summary.own:
                anchoring = summary.anchoring
    return SetAgreement(tuple(row for name in names for row in _rows(source, name, ref)), anchoring)


def _summaries(source: Source, name: str) -> list[SetSummary]:
    report = source.gathered.report(name)
    return [one for task in report.tasks for one in task.sets] if report else []


def _rows(source: Source, name: str, ref: str) -> Iterator[Beside]:
    report = source.gathered.report(name)
    page = source.urls.dataset(name)
    for at, task in enumerate(report.tasks if report else ()):
        marks = {one.ref: one for one in task.sets}
        for place, pair in enumerate(task.pairs):
            if ref in (pair.a, pair.b):
                other = source.mark_of_summary(marks[pair.b if pair.a == ref else pair.a])
                yield _beside(other, name, f"{page}#{anchor_of(at, place)}" if page else None, pair)


def _beside(other: Mark, name: str, path: str | None, pair: Pair) -> Beside:
    one = figures_of(pair)
    told = (one.kappa, one.ac1, one.alpha, one.same_share)
    return Beside(
        other=other,
        dataset_id=name,
        path=path,
        figures=one,
        steps=tuple(None if one.too_few else step_of(value) for value in told),
        derived=pair.derived,
        differs=pair.guideline_differs,
        person=pair.same_person,
    )
