"""A judge against people, as values: what the terminal, ``--json`` and the catalog show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.measure.agreement import PairAgreement
    from evh.measure.intervals import Interval
    from evh.measure.position import PairPosition
    from evh.measure.resample import PairIntervals
    from evh.records.judge import Judge


@dataclass(frozen=True, slots=True)
class Order:
    """A judge's verdicts on one pair of arms in one order, against people.

    Attributes:
        first: the arm shown first.
        second: the arm shown second.
        n: labelled items that were asked in this order.
        read: of these, verdicts that were read.
        correct: verdicts that say what the people say.
        accuracy: correct / read; None where none was read.
        accuracy_of_all: correct / n: a verdict that could not be read counts as wrong.
        interval: Wilson's 95 % interval of ``accuracy``.
    """

    first: str
    second: str
    n: int
    read: int
    correct: int
    accuracy: float | None
    accuracy_of_all: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class OneJudge:
    """One judge of a pairwise pass: its accuracy in each order, their mean, and how the order moves it.

    ``accuracy`` is the mean of the orders' accuracies; ``position`` counts the labelled items.
    """

    judge: str
    orders: tuple[Order, ...]
    accuracy: float | None
    position: PairPosition


@dataclass(frozen=True, slots=True)
class Validation:
    """A judge against people.

    Attributes:
        judge: the judge.
        dataset_id: the dataset judged.
        arms: the arms judged, by config.
        runs: the judged runs.
        labels: ``<dataset>/<set>``.
        labels_sha256: the set's digest.
        rubric_sha256: of the rubric that was judged by.
        judge_sha256: the judge's identity.
        n_labelled: items that the people label.
        n_judged: items that the judge came to a verdict on.
        agreement: the judge's verdicts (rows) and the people's (columns) on the items of both.
        intervals: bootstrap intervals of its kappa and AC1.
        baseline: the share that always saying the most frequent label would reach, on the items of both.
        baseline_answer: that label.
        mean_error: of grades, the mean distance from the people's; None elsewhere.
        orders: of a pairwise pass of two arms, each judge in both orders.
        notes: what a person should know.
    """

    judge: Judge
    dataset_id: str
    arms: tuple[str, ...]
    runs: tuple[str, ...]
    labels: str
    labels_sha256: str
    rubric_sha256: str
    judge_sha256: str
    n_labelled: int
    n_judged: int
    agreement: PairAgreement
    intervals: PairIntervals
    baseline: float | None
    baseline_answer: str | None
    mean_error: float | None
    orders: tuple[OneJudge, ...]
    notes: tuple[str, ...]

    def record(self, at: str) -> dict[str, Any]:
        """Return what ``validated_by`` holds."""
        return {
            "run": self.runs[0],
            "rubric_sha256": self.rubric_sha256,
            "judge_sha256": self.judge_sha256,
            "labels": self.labels,
            "labels_sha256": self.labels_sha256,
            "n": self.agreement.n,
            "agreement": _rounded(self.agreement.same_share),
            "kappa": _rounded(self.agreement.kappa),
            "baseline": _rounded(self.baseline),
            "at": at,
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
