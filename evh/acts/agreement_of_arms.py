"""How often arms decided the same: every two of them on one dataset, by their stored decisions."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from evh.acts import sheet_footer
from evh.acts.sheet_layout import lay_out
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.measure.agreement import compare_all
from evh.measure.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.acts.sheet_model import ArmColumn
    from evh.measure.agreement import PairAgreement
    from evh.measure.intervals import Interval
    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class ArmPair:
    """Two arms on the items that both decided.

    Attributes:
        a, b: their names.
        n: items that both decided.
        same: items on which they decided the same, by the first arm's ``same``.
        share: same / n; None where n is 0.
        interval: Wilson's 95 % interval of the share.
        kappa: Cohen's kappa of the decisions as they are written.
        ac1: Gwet's AC1 of them, for when one decision dominates.
        differ: the items on which they decided differently, in the dataset's order.
        too_few: fewer items than the setting ``min_overlap``: too few to say.
        paradox: they mostly agree and kappa is low all the same: one decision dominates.
    """

    a: str
    b: str
    n: int
    same: int
    share: float | None
    interval: Interval | None
    kappa: float | None
    ac1: float | None
    differ: tuple[str, ...]
    too_few: bool
    paradox: bool


@dataclass(frozen=True, slots=True)
class ArmsAgreement:
    """Every two arms of a dataset.

    ``decided`` tells, for each arm, on how many of the ``n_items`` items it decided; ``alpha`` is
    Krippendorff's nominal alpha over all of them where there are more than two. ``own_same`` tells that the
    first arm's adapter says what counts as the same.
    """

    dataset_id: str
    arms: tuple[ArmColumn, ...]
    n_items: int
    decided: tuple[int, ...]
    pairs: tuple[ArmPair, ...]
    alpha: float | None
    own_same: bool
    notes: tuple[str, ...]

    def pair(self, a: str, b: str) -> ArmPair | None:
        """Return the pair of two arms in either order, or None."""
        return next((one for one in self.pairs if {one.a, one.b} == {a, b}), None)


def agreement(
    project: Project, dataset_id: str, runs: Sequence[str] = (), *, sources: Sources | None = None
) -> ArmsAgreement:
    """Return how often the arms of a dataset decided the same.

    Args:
        project: the project.
        dataset_id: the dataset.
        runs: config or run ids, the first standing for production; all arms that ran on it by default.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: fewer than two arms; what `build_sheet` refuses.

    Cost: a look-up a decision and pair, and `measure.agreement.compare_all`.
    """
    sources = sources or Sources(project)
    layout = lay_out(sources, dataset_id, runs, with_outputs=False)
    arms, items = layout.arms, layout.dataset.items
    if len({arm.name for arm in arms}) < 2:
        names = ", ".join(arm.name for arm in arms) or "(none)"
        raise Refusal(
            "two-arms",
            "agreement takes two arms or more",
            why=[f"{dataset_id}: {names}"],
            next=f"evh run --config ARM --dataset-id {dataset_id}",
        )
    decided = [
        {
            item.item_id: cell.decision
            for item, cell in zip(items, one.cells(items), strict=True)
            if cell.decision is not None
        }
        for one in layout.columns
    ]
    own_same = layout.same is not operator.eq
    figures = compare_all(decided, min_overlap=project.settings.min_overlap)
    pairs = [
        _pair(arms[a], arms[b], (decided[a], decided[b]), found, layout.same)
        for (a, b), found in zip(combinations(range(len(decided)), 2), figures, strict=True)
    ]
    notes = [*sheet_footer.undecided(layout), *sources.notes()]
    if own_same:
        notes.append(
            f"what counts as the same is said by {arms[0].run.adapter}, the first arm's adapter; kappa "
            "and AC1 are of the decisions as they are written"
        )
    return ArmsAgreement(
        dataset_id=dataset_id,
        arms=arms,
        n_items=len(items),
        decided=tuple(map(len, decided)),
        pairs=tuple(pairs),
        alpha=_alpha(decided) if len(decided) > 2 else None,
        own_same=own_same,
        notes=tuple(dict.fromkeys([*notes, *sources.notes()])),
    )


def _pair(
    a: ArmColumn,
    b: ArmColumn,
    decided: tuple[Mapping[str, str], Mapping[str, str]],
    figures: PairAgreement,
    same: Callable[[str, str], bool],
) -> ArmPair:
    one, two = decided
    shared = [item for item in one if item in two]
    differ = tuple(item for item in shared if not same(one[item], two[item]))
    alike = len(shared) - len(differ)
    return ArmPair(
        a=a.name,
        b=b.name,
        n=len(shared),
        same=alike,
        share=alike / len(shared) if shared else None,
        interval=wilson(alike, len(shared)),
        kappa=figures.kappa,
        ac1=figures.ac1,
        differ=differ,
        too_few=figures.too_few,
        paradox=figures.paradox,
    )


def _alpha(decided: Sequence[Mapping[str, str]]) -> float | None:
    from evh.measure.agreement import alpha_of_sets

    return alpha_of_sets(decided)
