"""A pair of arms that was named in advance: how far apart, how sure, and on which items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field, field_notes, field_table, field_tests, leaderboard
from evh.acts.field_model import Rules
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.measure import classwise, power
from evh.measure.scores import distinct_answers, floor_rate
from evh.measure.significance import mcnemar
from evh.project import runs
from evh.records.judge import scorer_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.field_model import JudgedBy
    from evh.acts.field_table import Column, Table
    from evh.acts.figures import Against, Spread
    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class PairArm:
    """One arm of the pair: its figure with its 95 % interval, over ``n`` items; the flags of `FieldArm`."""

    name: str
    run_id: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    errors: int
    own: bool
    fitted: bool
    trial: int | None
    spread: Spread | None


@dataclass(frozen=True, slots=True)
class PairTest:
    """Two arms compared on the items both have.

    Attributes:
        dataset_id: the dataset.
        metric: what they are compared by.
        against: the set that the scores were made against.
        judge: whose metric it is; None for a run's own.
        higher: whether more is better.
        arms: the first and the second.
        n: items that both were scored on.
        clusters: in how many clusters the dataset's items lie, or None.
        difference: first minus second, turned so that more is better; None where no item has both.
        low, high: its 95 % interval.
        p: two-sided, not corrected: the pair was named.
        method: how p was made.
        counted: all sign patterns were counted, none drawn.
        significant: p is below the level and the difference no smaller than the least effect.
        mcnemar: the exact McNemar p, for a metric of 0 and 1; else None.
        better: the items that each arm did better on, in the dataset's order.
        smallest: the smallest difference that as many items show at 80 % power.
        power: the power that as many items have for a difference like the one seen; None for a run-level
            figure.
        needed: how many items in all 80 % power needs, if the next are like those seen; None where no number
            can be given.
        inside_spread: the difference is no larger than the arms' own repeats lie apart.
        majority: what an arm that always says the same scores as right; None without labels.
        rules: the level and whose it is.
        notes: sentences that a reader must see.
    """

    dataset_id: str
    metric: str
    against: Against | None
    judge: JudgedBy | None
    higher: bool
    arms: tuple[PairArm, PairArm]
    n: int
    clusters: int | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    method: str
    counted: bool
    significant: bool
    mcnemar: float | None
    better: tuple[tuple[str, ...], tuple[str, ...]]
    smallest: float | None
    power: float | None
    needed: int | None
    inside_spread: bool
    majority: float | None
    rules: Rules
    notes: tuple[str, ...]


def pair_test(
    project: Project,
    first: str,
    second: str,
    dataset_id: str,
    *,
    metric: str | None = None,
    against: str | None = None,
    alpha: float | None = None,
    sources: Sources | None = None,
) -> PairTest:
    """Return the paired test of two arms.

    Args:
        project: the project.
        first, second: config or run ids.
        dataset_id: the dataset.
        metric, against: as in `leaderboard`.
        alpha: the level; by default that of the goal on the dataset and metric, else 0.05.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: one arm named twice; an arm without a score by this metric, or whose predictions cannot be
            read; a level that is none; what `build_sheet` refuses.
    """
    _check(first, second, dataset_id, alpha)
    sources = sources or Sources(project)
    chosen = leaderboard.choose(sources, dataset_id, [first, second], metric=metric, against=against)
    rules, notes = field.rules_for(sources, dataset_id, chosen.metric)
    if alpha is not None:
        rules, notes = Rules(alpha, 0.0, rules.higher), []
    ref = chosen.against.ref if chosen.against else None
    dataset = sources.datasets[dataset_id]
    table = field_table.read(sources, dataset, chosen.arms, metric=chosen.metric, against=ref)
    for arm in chosen.arms:
        for run in field_table.unread(sources, arm, ref):
            runs.predictions(project, run)  # raises what is wrong with them
    _refuse_unscored(table, (first, second), chosen.metric, ref, dataset_id)
    found = field_tests.of(sources, table, metric=chosen.metric)
    columns = table.columns
    higher = all(one.run.higher_is_better(one.metric) for one in columns)
    higher = higher if rules.higher is None else rules.higher
    pair = found.pair(0, 1) if higher else found.pair(0, 1).turned()
    arms = [
        _arm(column, field.flags_of(sources, column, len(dataset.items)), found, at)
        for at, column in enumerate(columns)
    ]
    apart = {
        item: value if higher else -value for item, value in field_tests.differences(table, 0, 1).items()
    }
    if table.classes is not None:
        apart = _by_hits(table.classes)
    seen = power.describe(list(apart.values()))
    by_item = table.classes is None and table.clusters is None
    spreads = [one.spread for one in arms]
    judge = field.judge_of(columns, chosen.metric)
    notes += [*table.notes, *chosen.notes, *_said(table, arms, ref, judge)]
    return PairTest(
        dataset_id=dataset_id,
        metric=chosen.metric,
        against=chosen.against,
        judge=judge,
        higher=higher,
        arms=(arms[0], arms[1]),
        n=pair.n,
        clusters=None if table.clusters is None else len(set(table.clusters)),
        difference=pair.difference,
        low=pair.low,
        high=pair.high,
        p=pair.p,
        method=found.method,
        counted=pair.counted,
        significant=pair.p is not None
        and pair.p < rules.alpha
        and abs(pair.difference or 0.0) >= rules.min_effect,
        mcnemar=_mcnemar(table, apart),
        better=(
            tuple(item for item, value in apart.items() if value > 0),
            tuple(item for item, value in apart.items() if value < 0),
        ),
        smallest=field_tests.smallest(table, found, 0, 1, alpha=rules.alpha),
        power=power.power_of(seen, seen.n, alpha=rules.alpha) if by_item else None,
        needed=power.items_needed(seen, alpha=rules.alpha) if by_item else None,
        inside_spread=field.inside_spread(pair, *spreads),
        majority=best.share if (best := floor_rate(table.labels.values())) else None,
        rules=rules,
        notes=tuple(dict.fromkeys([*sources.notes(), *notes])),
    )


def _check(first: str, second: str, dataset_id: str, alpha: float | None) -> None:
    if first == second:
        raise Refusal(
            "two-arms",
            "a pair is two arms",
            why=[f"{first}: named twice"],
            next=f"evh runs --dataset-id {dataset_id}",
        )
    check_level(alpha)


def check_level(alpha: float | None) -> None:
    """Refuse a level that no test has whose power is to be told: at or below 0, or not below that power."""
    if alpha is not None and not 0 < alpha < power.POWER:
        raise Refusal(
            "bad-options", "that is no level of a test",
            why=[f"--alpha {alpha}: it lies between 0 and {power.POWER}"], next="--alpha 0.05",
        )  # fmt: skip


def _refuse_unscored(
    table: Table, names: tuple[str, str], metric: str, ref: str | None, dataset_id: str
) -> None:
    have = {column.arm.name for column in table.columns}
    lacking = [name for name in names if name not in have]
    if lacking:
        scorer = scorer_of(metric)
        flag = f"--labels {ref.removeprefix('labels/')}" if ref and ref.startswith("labels/") else None
        flag = flag or (f"--reference {ref}" if ref else f"--labels {dataset_id}/SET")
        where = f" against {ref}" if ref else ""
        raise Refusal(
            "not-scored",
            f"not both arms have {metric}{where}",
            why=[f"{name}: has no {metric}{where}" for name in lacking],
            next=leaderboard.judge_command(scorer, dataset_id, names)
            if scorer
            else f"evh rescore --dataset-id {dataset_id} {flag}",
        )


def _arm(column: Column, flags: field.Flags, found: field_tests.Tests, at: int) -> PairArm:
    return PairArm(
        name=column.arm.name,
        run_id=column.run.run_id,
        value=column.value,
        low=found.low[at],
        high=found.high[at],
        n=len(column.scored),
        errors=column.errors,
        own=flags.own,
        fitted=flags.fitted,
        trial=flags.trial,
        spread=field.spread_of(column),
    )


def _by_hits(held: field_table.ClassScores) -> dict[str, float]:
    """Return, for each coded item, the share of the first arm's runs that are right minus the second's."""
    import numpy as np

    guess, owner = held.coded.guess, np.array(held.owner)
    right = guess == held.coded.truth[:, None]
    one, two = (right[:, owner == arm].mean(axis=1) for arm in (0, 1))
    both = np.flatnonzero((guess[:, owner <= 1] != classwise.ABSENT).all(axis=1))
    apart = (one - two)[both].tolist()
    return {held.items[row]: value for row, value in zip(both.tolist(), apart, strict=True)}


def _mcnemar(table: Table, apart: Mapping[str, float]) -> float | None:
    """Return McNemar's exact p, where both arms are right or wrong on every item and nothing is clustered."""
    if table.classes is not None or table.clusters is not None or not apart:
        return None
    values = {one.scores[item] for one in table.columns for item in apart}
    if not values <= {0.0, 1.0}:
        return None
    return mcnemar(sum(one > 0 for one in apart.values()), sum(one < 0 for one in apart.values()))


def _said(table: Table, arms: list[PairArm], ref: str | None, judge: JudgedBy | None) -> list[str]:
    notes = [f"{one.name} is measured on its own labels ({ref}): it says little" for one in arms if one.own]
    notes += [f"{one.name} was fitted on items of this dataset: it says little" for one in arms if one.fitted]
    notes += [
        f"{one.name} is a trial over the first {one.trial:,} of {len(table.items):,} items"
        for one in arms
        if one.trial is not None
    ]
    if judge is not None and not judge.validated:
        notes.append(field_notes.unvalidated(judge))
    if ref and distinct_answers(table.labels.values()) < 2:
        notes.append(
            f"{ref} tells fewer than two distinct answers apart: it measures recall of that answer only"
        )
    if table.classes is not None:
        small = min(table.classes.coded.sizes, default=0)
        if small < classwise.FEWEST_IN_CLASS:
            notes.append(f"the smallest class has {small} items: too few for a test within it, so no p")
    return notes
