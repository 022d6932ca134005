"""What ``evh labels`` reports: each set on a dataset's bytes, each pair, each task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evh.measure.agreement import PairAgreement
    from evh.measure.intervals import Interval
    from evh.measure.scale import Scale
    from evh.records.labelset import LabelSet
    from evh.records.reference import Reference


@dataclass(frozen=True, slots=True)
class Anchoring:
    """How often a set's labels are what was proposed, where its labeler saw the proposal and where not.

    Attributes:
        shown: items labelled with the proposal in sight.
        shown_same: those of them on which the label accepts the proposal's answers and no others.
        hidden: items whose proposal was made and hidden.
        hidden_same: those of them on which the label is the proposal all the same.
        difference: the shown share minus the hidden one: how far a proposal in sight pulls; None where either
            kind is missing.
        interval: Newcombe's 95 % interval of the difference.
    """

    shown: int
    shown_same: int
    hidden: int
    hidden_same: int
    difference: float | None
    interval: Interval | None

    @property
    def shown_share(self) -> float | None:
        """Of the labels given with the proposal in sight, the share that is the proposal."""
        return self.shown_same / self.shown if self.shown else None

    @property
    def hidden_share(self) -> float | None:
        """Of the labels given while the proposal was hidden, the share that is the proposal all the same."""
        return self.hidden_same / self.hidden if self.hidden else None


@dataclass(frozen=True, slots=True)
class SetSummary:
    """One label set or reference set, as it bears on one dataset.

    Attributes:
        ref: ``<dataset>/<set>``, or ``<tier>/<name>`` of a reference.
        label_set: the set; None for a reference.
        reference: the reference; None for a label set.
        kind: ``labels`` or ``reference``.
        source_kind: ``person``, ``model`` or ``rule``; of a reference, its sets' if all share one.
        by: who or what labelled; of a reference, who promoted it.
        task: its own task, or its dataset's.
        covered: items of the dataset that it labels.
        of: items of the dataset.
        guidelines: the sha256 of the guideline that it was labelled by; of a reference, of each different
            guideline of the sets that it was promoted from, as far as they are here, sorted.
        promoted_into: the references that were promoted from it.
        distinct: how many different labels it gives to the dataset's bytes.
        majority: the most frequent of them (the first by text on a tie).
        majority_share: its share.
        n_preceding: records whose outcome came no later than the decision that the label judges.
        conflicts: texts of equal bytes that got different answers and stayed unlabelled.
        own: a set of this dataset; labels of other sets came by their bytes.
        n_timed: records whose outcome and decision both have a time: what ``n_preceding`` is out of.
        reads_output: a rule took the label from the recorded decision.
        anchoring: how often it agrees with the proposals that its labeler saw, and with the hidden ones; None
            where nothing was proposed.
    """

    ref: str
    label_set: LabelSet | None
    reference: Reference | None
    kind: str
    source_kind: str | None
    by: str
    task: str
    covered: int
    of: int
    guidelines: tuple[str, ...]
    promoted_into: tuple[str, ...]
    distinct: int
    majority: str | None
    majority_share: float | None
    n_preceding: int
    conflicts: int
    own: bool
    n_timed: int = 0
    reads_output: bool = False
    anchoring: Anchoring | None = None

    @property
    def guideline(self) -> str | None:
        """The sha256 of its guideline; None where it names none, or a reference's sets several."""
        return self.guidelines[0] if len(self.guidelines) == 1 else None


@dataclass(frozen=True, slots=True)
class Cost:
    """A way in which two sets still disagree: what each says, how often, the items in the dataset's order.

    ``count`` counts texts; items of equal bytes are each named.
    """

    a: str
    b: str
    count: int
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """How two sets agree on the dataset's bytes that both label.

    Attributes:
        a: the first set's ref.
        b: the second set's.
        agreement: the figures.
        guideline_differs: both name a guideline, and not the same one; of a reference, not the same ones.
        derived: one is a reference that was promoted from the other, or a set made from it (it names the
            other as its parent): they agree by construction.
        same_person: who labelled both, where one person did and neither was made from the other. Their
            agreement is the ceiling: nobody can be asked to agree more with somebody else.
        kappa_interval: a 95 % bootstrap interval of kappa; None where there are too few items.
        ac1_interval: of AC1.
        alpha_interval: of the pair's nominal alpha.
        costs: the open disagreements, what costs most first.
    """

    a: str
    b: str
    agreement: PairAgreement
    guideline_differs: bool
    derived: bool = False
    same_person: str = ""
    kappa_interval: Interval | None = None
    ac1_interval: Interval | None = None
    alpha_interval: Interval | None = None
    costs: tuple[Cost, ...] = ()


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha of one scale (one of ``distance.SCALES``), with its 95 % bootstrap interval."""

    scale: str
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class TaskAgreement:
    """The sets of one task on a dataset, own ones first, references last, and every pair of them.

    Attributes:
        task: the task; empty where none is named.
        sets: the sets.
        pairs: every pair of them.
        alpha: Krippendorff's nominal alpha over the pooled sets.
        alpha_n: the texts that two or more of those label.
        alpha_too_few: those are fewer than the least overlap.
        alphas: alpha of every scale that is given: nominal first, then the declared one, then MASI and
            Jaccard where a label accepts several answers.
        pooled: the refs of the sets that alpha and Fleiss' kappa are over: all but references promoted from
            one of the sets, sets made from others of them, and a person's second pass (``relabel_of``).
        guidelines: how many different guidelines the pooled sets name.
        scale: the scale that is declared; nominal where none is.
        off_scale: the labels of the pooled sets that are not on that scale, with how many there are of each;
            where there is one, alpha of that scale is not given.
        fleiss: Fleiss' kappa; None where the texts have unequal numbers of labels.
        fleiss_raters: that number; 0 where they are unequal.
    """

    task: str
    sets: tuple[SetSummary, ...]
    pairs: tuple[Pair, ...]
    alpha: float | None
    alpha_n: int
    alpha_too_few: bool
    alphas: tuple[Alpha, ...]
    pooled: tuple[str, ...]
    guidelines: int
    scale: Scale
    off_scale: tuple[tuple[str, int], ...]
    fleiss: float | None
    fleiss_raters: int


@dataclass(frozen=True, slots=True)
class LabelsReport:
    """The label sets on one dataset, by task."""

    dataset_id: str
    n_items: int
    tasks: tuple[TaskAgreement, ...]
