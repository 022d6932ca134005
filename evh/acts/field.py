"""Who leads, who may be as good and who is behind: the one place that every view takes its verdicts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts import field_table, field_tests
from evh.acts.field_model import Field, FieldArm, Rules, Spread, rules_of
from evh.measure import classwise
from evh.measure.scores import distinct_answers, floor_rate
from evh.measure.verdicts import CONTENDER, decide
from evh.project import goals
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.field_table import Column, Table
    from evh.acts.field_tests import Pair, Tests
    from evh.acts.sheet_model import Against
    from evh.acts.sources import Sources
    from evh.measure.verdicts import Decision
    from evh.project.arms import Arm
    from evh.records.dataset import Dataset
    from evh.records.goal import Goal

__all__ = ["Field", "FieldArm", "Rules", "rules_for", "rules_of", "verdicts"]

DESCRIPTIVE = "descriptive"
_TIE_DIGITS = 12


def verdicts(
    sources: Sources,
    dataset: Dataset,
    arms: Sequence[Arm],
    *,
    metric: str,
    against: Against | None,
    rules: Rules | None = None,
) -> Field:
    """Return the arms that were scored by a metric against a set, ranked, each with its verdict.

    The leader has the best figure of those that may lead: no floor, none that is flagged. Another arm is
    behind it where the paired test on the items both have says so after the correction for every arm that
    could have led, and where the difference is no smaller than the rules' least effect; else it is a
    contender. No leader is drawn from a set with fewer than two distinct answers, or by a metric that
    describes and does not judge.

    Args:
        sources: the project's records.
        dataset: the dataset.
        arms: the arms on it, from `arms.of_dataset`.
        metric: a metric per item, or a run-level figure.
        against: what the scores were made against; None for scores that name no set.
        rules: the level and the rest, from `rules_of`; by default 0.05 and what the adapter says.

    Cost: `sign_flip_tests` and `mean_intervals` over items × arms, or `class_tests`; each prediction is read
    once.
    """
    rules = rules or Rules()
    ref = against.ref if against else None
    table = field_table.read(sources, dataset, arms, metric=metric, against=ref)
    columns = table.columns
    # A metric counts as lower-is-better where one adapter says so: as on the sheet.
    higher = (
        all(one.run.higher_is_better(metric) for one in columns) if rules.higher is None else rules.higher
    )
    own = [sources.provenance.own_labels(one.run) for one in columns]
    fitted = [sources.provenance.fitted_here(one.run) for one in columns]
    floors = [sources.is_floor(one.run) for one in columns]
    distinct = distinct_answers(table.labels.values()) if ref else None
    barred = _no_leader(columns, metric, ref, distinct)
    settings = sources.project.settings
    found = field_tests.run(table, resamples=settings.resamples, seed=settings.seed)
    draws = bool(found.method) and not barred
    decision = decide(
        [None if one.value is None else round(one.value, _TIE_DIGITS) for one in columns],
        lambda a, b: found.pair(a, b).p,
        higher=higher,
        competes=[draws and not any(bars) for bars in zip(own, fitted, floors, strict=True)],
        alpha=rules.alpha,
        min_effect=rules.min_effect,
    )
    made = [
        _arm(
            table, found, decision, at,
            own=own[at], fitted=fitted[at], floor=floors[at], higher=higher, alpha=rules.alpha,
        )
        for at in range(len(columns))
    ]  # fmt: skip
    sign = -1 if higher else 1
    made.sort(key=lambda one: (one.flagged, one.value is None, sign * (one.value or 0.0), one.name))
    leaders = tuple(columns[at].arm.name for at in decision.leaders)
    notes = [*table.notes, *barred, *_said(table, made, leaders, ref=ref, dataset=dataset)]
    return Field(
        dataset_id=dataset.dataset_id,
        metric=metric,
        against=against,
        higher=higher,
        rules=rules,
        arms=tuple(made),
        leaders=leaders,
        competing=decision.arms,
        alone=decision.alone,
        method=found.method,
        correction=correction(decision.arms),
        clusters=None if table.clusters is None else len(set(table.clusters)),
        majority=floor_rate(table.labels.values()) if ref else None,
        distinct=distinct,
        notes=tuple(dict.fromkeys(notes)),
    )


def correction(arms: int) -> str:
    """Return how p against a leader that was picked among so many arms is corrected, in words."""
    if arms < 2:
        return ""
    if arms == 2:
        return "none: there are two arms"
    return f"Bonferroni × {arms - 1}: the leader was picked among {arms} arms"


def told(made: Field) -> str:
    """Return how the verdicts were made, in words: the test, the level and whose it is, the correction."""
    if not made.leaders:
        return "no leader is drawn"
    rules = f"{made.rules.alpha:g}" + (f" (goal {made.rules.goal})" if made.rules.goal else "")
    parts = [f"paired test by {made.method} at level {rules}"]
    if made.correction:
        parts.append(f"correction {made.correction}")
    return "; ".join(parts)


def rules_for(
    sources: Sources, dataset_id: str, metric: str, goal: Goal | None = None
) -> tuple[Rules, list[str]]:
    """Return the rules that hold for a dataset's field, and sentences about how they were chosen.

    The named goal's; else those of the one goal that names the dataset and the metric (or no metric); else
    the usual ones.
    """
    if goal is not None:
        return rules_of(goal), []
    found = goals.on_dataset(sources.project, dataset_id, sources.problems)
    fitting = [one for one in found if one.metric in (None, metric)]
    if len(fitting) == 1:
        return rules_of(fitting[0]), []
    names = ", ".join(one.goal_id for one in fitting)
    return Rules(), ([f"several goals fit ({names}): none of their rules is used"] if fitting else [])


def _arm(
    table: Table,
    found: Tests,
    decision: Decision,
    at: int,
    *,
    own: bool,
    fitted: bool,
    floor: bool,
    higher: bool,
    alpha: float,
) -> FieldArm:
    column, standing = table.columns[at], decision.standings[at]
    leader, pair = _against_leader(found, decision, at, higher=higher)
    spread = spread_of(column)
    best = floor_rate(table.labels[item] for item in column.scored if item in table.labels)
    return FieldArm(
        name=column.arm.name,
        run=column.run,
        recorded=column.arm.recorded,
        value=column.value,
        low=found.low[at],
        high=found.high[at],
        n=len(column.scored),
        of=len(table.items),
        errors=column.errors,
        verdict=standing.verdict,
        n_both=pair.n if pair else None,
        difference=pair.difference if pair else None,
        difference_low=pair.low if pair else None,
        difference_high=pair.high if pair else None,
        p=standing.p,
        corrected=standing.corrected,
        smallest=_smallest(table, found, decision, at, leader=leader, alpha=alpha),
        majority=best.share if best else None,
        own=own,
        fitted=fitted,
        floor=floor,
        spread=spread,
        inside_spread=inside_spread(
            pair, spread, spread_of(table.columns[leader]) if leader is not None else None
        ),
        cost_usd=column.cost_usd,
        latency_ms=column.latency_ms,
    )


def inside_spread(pair: Pair | None, *spreads: Spread | None) -> bool:
    """Tell whether a difference is no larger than what the arms' own repeats lie apart."""
    if pair is None or pair.difference is None:
        return False
    return any(one is not None and abs(pair.difference) <= one.width for one in spreads)


def spread_of(column: Column) -> Spread | None:
    """Return how far an arm's repeats lie apart; None for a single run."""
    values = [one.value for one in column.repeats if one.value is not None]
    if len(values) < 2:
        return None
    return Spread(tuple(one.run.run_id for one in column.repeats), min(values), max(values))


def _against_leader(
    found: Tests, decision: Decision, at: int, *, higher: bool
) -> tuple[int | None, Pair | None]:
    """Return the leader that an arm is told against and the test, leader minus arm, turned: more is better.

    Of several that tie for the lead it is the one with the largest p, which is the p that is told.
    """
    if not decision.leaders or at in decision.leaders:
        return None, None
    leader = max(decision.leaders, key=lambda one: found.pair(one, at).p or 0.0)
    pair = found.pair(leader, at)
    return leader, pair if higher else pair.turned()


def _smallest(
    table: Table, found: Tests, decision: Decision, at: int, *, leader: int | None, alpha: float
) -> float | None:
    if decision.standings[at].verdict != CONTENDER or leader is None:
        return None
    return field_tests.smallest(table, found, leader, at, alpha=alpha / max(decision.arms - 1, 1))


def _no_leader(columns: Sequence[Column], metric: str, ref: str | None, distinct: int | None) -> list[str]:
    """Return why no leader may be drawn at all, a sentence each."""
    notes = []
    if ref and distinct is not None and distinct < 2:
        notes.append(
            f"{ref} tells fewer than two distinct answers apart: it measures recall of that answer only, so "
            "no leader is drawn from it"
        )
    if any(one.run.metric_kinds.get(metric) == DESCRIPTIVE for one in columns):
        notes.append(f"{metric} describes an arm and does not judge it: no leader is drawn by it")
    return notes


def _said(
    table: Table,
    made: Sequence[FieldArm],
    leaders: Sequence[str],
    *,
    ref: str | None,
    dataset: Dataset,
) -> list[str]:
    """Return what a reader must see beside the figures, a sentence each."""
    notes = []
    for arm in made:
        if arm.own:
            notes.append(f"{arm.name} is measured on its own labels ({ref}): it never leads by them")
        if arm.fitted:
            notes.append(f"{arm.name} was fitted on items of {dataset.dataset_id}: it never leads here")
        if arm.floor:
            notes.append(f"{arm.name} is a floor: it shows what is easy, and never leads")
    if len(leaders) > 1:
        notes.append(f"{', '.join(leaders)} tie for the lead: nothing is chosen among them")
    notes += [
        f"{arm.name}: the difference from the leader is inside the spread of repeated runs"
        for arm in made
        if arm.inside_spread
    ]
    sizes = {arm.n for arm in made}
    if len({one.scored for one in table.columns}) > 1:
        notes.append(
            "the arms were scored on different items"
            + (f" ({min(sizes):,} to {max(sizes):,})" if len(sizes) > 1 else "")
            + ": a mean is over an arm's own, a difference over the items both have"
        )
    small = _smallest_class(table)
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


def _smallest_class(table: Table) -> int | None:
    return None if table.classes is None else min(table.classes.coded.sizes, default=None)
