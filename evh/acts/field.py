"""Who leads, who may be as good and who is behind: the one place that every view takes its verdicts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field_notes, field_pairs, field_table, field_tests
from evh.acts.field_model import Field, FieldArm, JudgedBy, Rules, rules_of
from evh.acts.figures import Spread
from evh.measure.scores import distinct_answers, floor_rate
from evh.measure.verdicts import CONTENDER, decide
from evh.project import goals
from evh.project.arms import trial_of
from evh.records.judge import UNVALIDATED, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.field_table import Column, Figure, Table
    from evh.acts.field_tests import Pair, Tests
    from evh.acts.figures import Against
    from evh.acts.sources import Sources
    from evh.measure.verdicts import Decision
    from evh.project.arms import Arm
    from evh.records.dataset import Dataset
    from evh.records.goal import Goal

__all__ = ["Field", "FieldArm", "Rules", "rules_for", "rules_of", "verdicts"]

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
    could have led, and where that difference is no smaller than the rules' least effect; else it is a
    contender, and `FieldArm.why` says so where the test tells the two apart all the same. No leader is drawn
    from a set with fewer than two distinct answers, or by a metric that describes and does not judge.

    Args:
        sources: the project's records.
        dataset: the dataset.
        arms: the arms on it, from `arms.of_dataset`; for a judge's metric those of `Judgements.compared`.
        metric: a metric per item, or a run-level figure; ``SCORER/M`` a judge's.
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
        all(one.run.higher_is_better(one.metric) for one in columns) if rules.higher is None else rules.higher
    )
    flags = [flags_of(sources, one, len(dataset.items)) for one in columns]
    distinct = distinct_answers(table.labels.values()) if ref else None
    barred = field_notes.no_leader(columns, metric, ref, distinct)
    found = field_tests.of(sources, table, metric=metric)
    draws = bool(found.method) and not barred
    decision = decide(
        [None if one.value is None else round(one.value, _TIE_DIGITS) for one in columns],
        found.paired,
        higher=higher,
        competes=[draws and not one.barred for one in flags],
        alpha=rules.alpha,
        min_effect=rules.min_effect,
    )
    made = [
        _arm(table, found, decision, at, flags=flags[at], higher=higher, rules=rules)
        for at in range(len(columns))
    ]
    sign = -1 if higher else 1
    order = sorted(
        range(len(made)),
        key=lambda at: (
            made[at].flagged, made[at].value is None, sign * (made[at].value or 0.0), made[at].name,
        ),
    )  # fmt: skip
    ranked = tuple(made[at] for at in order)
    leaders = tuple(columns[at].arm.name for at in decision.leaders)
    judge = judge_of(columns, metric)
    told = field_notes.of_arms(
        table, ranked, leaders, competing=decision.arms, ref=ref, judge=judge, dataset=dataset
    )
    return Field(
        dataset_id=dataset.dataset_id,
        metric=metric,
        against=against,
        judge=judge,
        higher=higher,
        rules=rules,
        arms=ranked,
        pairs=field_pairs.pairs(found, ranked, order, higher=higher, alpha=rules.alpha),
        leaders=leaders,
        competing=decision.arms,
        alone=decision.alone,
        method=found.method,
        correction=correction(decision.arms),
        clusters=None if table.clusters is None else len(set(table.clusters)),
        majority=floor_rate(table.labels.values()) if ref else None,
        distinct=distinct,
        notes=tuple(dict.fromkeys([*table.notes, *barred, *told])),
    )


@dataclass(frozen=True, slots=True)
class Flags:
    """What keeps an arm from leading: see the attributes of `FieldArm`."""

    own: bool
    fitted: bool
    floor: bool
    trial: int | None

    @property
    def barred(self) -> bool:
        """Whether one of them holds."""
        return self.own or self.fitted or self.floor or self.trial is not None


def flags_of(sources: Sources, column: Column, n_items: int) -> Flags:
    """Return an arm's flags: by the run of its scores, and of its outputs where a judge's run holds those.

    Args:
        sources: the project's records.
        column: the arm.
        n_items: how many items the dataset has.
    """
    outputs = column.arm.run
    return Flags(
        own=sources.provenance.own_labels(column.run),
        fitted=sources.provenance.fitted_here(column.run if column.arm.judged is None else outputs),
        floor=sources.is_floor(column.run) or sources.is_floor(outputs),
        trial=trial_of(outputs, n_items),
    )


def judge_of(columns: Sequence[Column], metric: str) -> JudgedBy | None:
    """Return the judge whose metric arms are compared by; None for a run's own metric."""
    judged = next((one.arm.judged.judged for one in columns if one.arm.judged is not None), None)
    if judged is None:
        return None
    return JudgedBy(
        scorer=str(judged.get("scorer") or metric.rpartition("/")[0]),
        by=str(judged.get("by") or ""),
        by_kind=str(judged.get("by_kind") or ""),
        validated=not metric.endswith(UNVALIDATED),
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
    fitting = [one for one in found if one.metric is None or plain(one.metric) == plain(metric)]
    if len(fitting) == 1:
        return rules_of(fitting[0]), []
    names = ", ".join(one.goal_id for one in fitting)
    return Rules(), ([f"several goals fit ({names}): none of their rules is used"] if fitting else [])


def _arm(
    table: Table, found: Tests, decision: Decision, at: int, *, flags: Flags, higher: bool, rules: Rules
) -> FieldArm:
    column, standing = table.columns[at], decision.standings[at]
    leader, pair = _against_leader(found, decision, at, higher=higher)
    first = None if leader is None else table.columns[leader]
    spread = spread_of(column)
    best = floor_rate(table.labels[item] for item in column.scored if item in table.labels)
    return FieldArm(
        name=column.arm.name,
        run=column.run,
        to_promote=column.run.key if column.arm.judged is None else column.arm.run.key,
        recorded=column.arm.recorded,
        value=column.value,
        low=found.low[at],
        high=found.high[at],
        n=len(column.scored),
        of=len(table.items),
        errors=column.errors,
        verdict=standing.verdict,
        leader=first.arm.name if first else None,
        why=field_notes.why(standing, pair, first.arm.name, min_effect=rules.min_effect) if first else "",
        n_both=pair.n if pair else None,
        difference=pair.difference if pair else None,
        difference_low=pair.low if pair else None,
        difference_high=pair.high if pair else None,
        p=standing.p,
        corrected=standing.corrected,
        smallest=_smallest(table, found, decision, at, leader=leader, alpha=rules.alpha),
        majority=best.share if best else None,
        own=flags.own,
        fitted=flags.fitted,
        floor=flags.floor,
        trial=flags.trial,
        spread=spread,
        inside_spread=inside_spread(pair, spread, spread_of(first) if first else None),
        cost_usd=column.cost_usd,
        latency_ms=column.latency_ms,
        to_score=len(table.to_score),
        covered=len(column.scored & table.to_score),
        failed=len((column.failed & table.to_score) - column.scored),
    )


def inside_spread(pair: Pair | None, *spreads: Spread | None) -> bool:
    """Tell whether a difference is no larger than what the arms' own repeats lie apart."""
    if pair is None or pair.difference is None:
        return False
    return any(one is not None and abs(pair.difference) <= one.width for one in spreads)


def spread_of(column: Column | Figure) -> Spread | None:
    """Return how far an arm's repeats lie apart; None for a single run."""
    values = [one.value for one in column.repeats if one.value is not None]
    if len(values) < 2:
        return None
    return Spread(tuple(one.run.run_id for one in column.repeats), min(values), max(values))


def _against_leader(
    found: Tests, decision: Decision, at: int, *, higher: bool
) -> tuple[int | None, Pair | None]:
    """Return the leader that an arm is told against and the test, leader minus arm, turned: more is better.

    An arm that may not lead is told against the leader too; of several that tie the one with the largest p.
    """
    if not decision.leaders or at in decision.leaders:
        return None, None
    leader = decision.standings[at].against
    if leader is None:
        leader = max(decision.leaders, key=lambda one: found.pair(one, at).p or 0.0)
    pair = found.pair(leader, at)
    return leader, pair if higher else pair.turned()


def _smallest(
    table: Table, found: Tests, decision: Decision, at: int, *, leader: int | None, alpha: float
) -> float | None:
    standing = decision.standings[at]
    if standing.verdict != CONTENDER or standing.why is not None or leader is None:
        return None
    return field_tests.smallest(table, found, leader, at, alpha=alpha / max(decision.arms - 1, 1))
