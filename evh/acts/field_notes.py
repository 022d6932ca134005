"""What a reader must see beside a field's figures, a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.measure import classwise
from evh.measure.verdicts import BETTER, SMALL
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.field_model import FieldArm, JudgedBy
    from evh.acts.field_table import Column, Table
    from evh.acts.field_tests import Pair
    from evh.measure.verdicts import Standing
    from evh.records.dataset import Dataset

DESCRIPTIVE = "descriptive"


def no_leader(columns: Sequence[Column], metric: str, ref: str | None, distinct: int | None) -> list[str]:
    """Return why no leader may be drawn at all; nothing where one may."""
    notes = []
    if ref and distinct is not None and distinct < 2:
        notes.append(
            f"{ref} tells fewer than two distinct answers apart: it measures recall of that answer only, so "
            "no leader is drawn from it"
        )
    if any(one.run.metric_kinds.get(one.metric) == DESCRIPTIVE for one in columns):
        notes.append(f"{metric} describes an arm and does not judge it: no leader is drawn by it")
    return notes


def why(standing: Standing, pair: Pair | None, leader: str, *, min_effect: float) -> str:
    """Return how a contender stands that the paired test tells apart from the leader; else nothing.

    Args:
        standing: its place.
        pair: the test, leader minus arm, turned so that more is better.
        leader: the leader's name.
        min_effect: the least effect that the goal asks for.
    """
    if pair is None or pair.difference is None or standing.corrected is None or standing.why is None:
        return ""
    p = f"p {standing.corrected:.2g}"
    if standing.why == SMALL:
        return f"{pair.difference:.3f} behind, {p}, less than the {min_effect:g} that the goal asks for"
    if standing.why == BETTER:
        both = plural(pair.n, "item")
        return f"{-pair.difference:.3f} better than {leader} on the {both} that both have, {p}"
    return ""


def unvalidated(judge: JudgedBy) -> str:
    """Return that nobody has measured a judge against people, with who judged."""
    by = f" ({judge.by})" if judge.by and judge.by != judge.scorer else ""
    return f"{judge.scorer}{by} was not measured against people: unvalidated"


def barred(made: Sequence[FieldArm], ref: str | None, dataset: Dataset) -> list[str]:
    """Return which arms of a field may not lead, and why, a sentence each; see `of_arms`."""
    notes = []
    for arm in made:
        if arm.own:
            notes.append(f"{arm.name} is measured on its own labels ({ref}): it never leads by them")
        if arm.fitted:
            notes.append(f"{arm.name} was fitted on items of {dataset.dataset_id}: it never leads here")
        if arm.floor:
            notes.append(f"{arm.name} is a floor: it shows what is easy, and never leads")
        if arm.trial is not None:
            notes.append(
                f"{arm.name} is a trial over the first {arm.trial:,} of {arm.of:,} items: it never leads"
            )
    return notes


def of_arms(
    table: Table,
    made: Sequence[FieldArm],
    leaders: Sequence[str],
    *,
    competing: int,
    ref: str | None,
    judge: JudgedBy | None,
    dataset: Dataset,
) -> list[str]:
    """Return what must be said of a field's arms, of ties and spreads, and of the items.

    Args:
        table: what the field is made of.
        made: its arms in their order.
        leaders: the leaders' names.
        competing: how many arms may lead.
        ref: the set that they were scored against, or None.
        judge: the judge whose metric they are ranked by, or None.
        dataset: the dataset.
    """
    notes = barred(made, ref, dataset)
    if judge is not None and not judge.validated:
        notes.append(unvalidated(judge))
    if len(leaders) > 1:
        notes.append(f"{', '.join(leaders)} tie for the lead: nothing is chosen among them")
    if competing == 1:
        notes.append("one arm alone may lead, and beats nobody: no leader is drawn")
    notes += _covered(made)
    for arm in made:
        if arm.why and (arm.difference or 0.0) < 0:
            notes.append(
                f"{arm.leader} has the best figure, but {arm.name} is {arm.why}: compare them on common items"
            )
        elif arm.why:
            notes.append(f"{arm.name}: {arm.why}")
    notes += [
        f"{arm.name}: the difference from the leader is inside the spread of repeated runs"
        for arm in made
        if arm.inside_spread
    ]
    return [*notes, *_of_items(table, made, dataset)]


FEWEST_COVERED = 0.9
"""An arm that was scored on less than this share of what the best-covered arm was is no finalist."""


def best_covered(made: Sequence[FieldArm]) -> FieldArm | None:
    """Return the arm that was scored on the most items; None where there is no arm."""
    return max(made, key=lambda one: one.coverage, default=None)


def thin(arm: FieldArm, made: Sequence[FieldArm]) -> str | None:
    """Return that an arm was scored on far fewer items than another one, in words; else None."""
    best = best_covered(made)
    if best is None or arm.coverage >= FEWEST_COVERED * best.coverage:
        return None
    return f"was scored on {arm.covered:,} of {plural(arm.to_score, 'item')}, {best.name} on {best.covered:,}"


def _covered(made: Sequence[FieldArm]) -> list[str]:
    return [
        f"{arm.name} {told}: its figure says less"
        for arm in made
        if arm.verdict and (told := thin(arm, made))
    ]


def _of_items(table: Table, made: Sequence[FieldArm], dataset: Dataset) -> list[str]:
    notes = []
    sizes = {arm.n for arm in made}
    if len({one.scored for one in table.columns}) > 1:
        notes.append(
            "the arms were scored on different items"
            + (f" ({min(sizes):,} to {max(sizes):,})" if len(sizes) > 1 else "")
            + ": a mean is over an arm's own, a difference over the items both have"
        )
    small = None if table.classes is None else min(table.classes.coded.sizes, default=None)
    if small is not None and small < classwise.FEWEST_IN_CLASS:
        notes.append(
            f"the smallest class has {plural(small, 'item')}: with fewer than {classwise.FEWEST_IN_CLASS} no "
            "arm is told behind another"
        )
    if table.clusters is not None:
        notes.append(
            f"items are drawn and flipped by {dataset.cluster_field}: {len(set(table.clusters)):,} clusters"
        )
    return notes
