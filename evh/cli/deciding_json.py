"""Fields, pairs and goals as JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.acts import field_pairs

if TYPE_CHECKING:
    from evh.acts.agreement_of_arms import ArmPair, ArmsAgreement
    from evh.acts.deploy_check import Check
    from evh.acts.field_model import Field, FieldArm, JudgedBy, Rules
    from evh.acts.figures import Against, Spread
    from evh.acts.finalist import Finalist
    from evh.acts.goals import GoalView, Production
    from evh.acts.pair_test import PairArm, PairTest
    from evh.records.baseline import Baseline


def arm(one: FieldArm) -> dict[str, Any]:
    """Return one arm of a field."""
    return {
        "arm": one.name,
        "config_id": one.run.config_id,
        "run": one.run.key,
        "recorded": one.recorded,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "n": one.n,
        "of": one.of,
        "n_errors": one.errors,
        "verdict": one.verdict,
        "why": one.why or None,
        "leader": one.leader,
        "n_both": one.n_both,
        "difference": one.difference,
        "difference_low": one.difference_low,
        "difference_high": one.difference_high,
        "p": one.p,
        "p_corrected": one.corrected,
        "smallest_difference": one.smallest,
        "majority_rate": one.majority,
        "own_labels": one.own,
        "fitted_here": one.fitted,
        "floor": one.floor,
        "trial": one.trial,
        "repeats": _spread(one.spread),
        "inside_spread": one.inside_spread,
        "cost_usd_per_item": one.cost_usd,
        "latency_ms": one.latency_ms,
    }


def field_rest(made: Field) -> dict[str, Any]:
    """Return what a field says beside its arms."""
    return {
        "dataset_id": made.dataset_id,
        "metric": made.metric,
        "against": made.against.ref if made.against else None,
        "source": _source(made.against),
        "judge": _judge(made.judge),
        "higher_is_better": made.higher,
        "leaders": list(made.leaders),
        "competing": made.competing,
        "leads_alone": made.alone,
        "method": made.method or None,
        "correction": made.correction or None,
        "clusters": made.clusters,
        "distinct_answers": made.distinct,
        "majority": None
        if made.majority is None
        else {
            "answers": list(made.majority.answers),
            "n": made.majority.n,
            "of": made.majority.of,
            "share": made.majority.share,
        },
        "rules": _rules(made.rules),
    }


def pairs(made: Field | None) -> dict[str, Any]:
    """Return every two arms of a field that may lead; nothing where they were not asked for."""
    if made is None:
        return {"pairs": None, "pairs_correction": None}
    return {
        "pairs": [
            {
                "a": one.a,
                "b": one.b,
                "n": one.n,
                "difference": one.difference,
                "difference_low": one.low,
                "difference_high": one.high,
                "p": one.p,
                "p_holm": one.p_holm,
                "apart": one.apart,
            }
            for one in made.pairs
        ],
        "pairs_correction": field_pairs.correction(made) or None,
    }


def pair_test(made: PairTest, limit: int | None) -> dict[str, Any]:
    """Return a paired test; ``limit`` cuts the items that are named each way."""
    return {
        "dataset_id": made.dataset_id,
        "metric": made.metric,
        "against": made.against.ref if made.against else None,
        "source": _source(made.against),
        "judge": _judge(made.judge),
        "higher_is_better": made.higher,
        "arms": [_pair_arm(one) for one in made.arms],
        "n": made.n,
        "clusters": made.clusters,
        "difference": made.difference,
        "difference_low": made.low,
        "difference_high": made.high,
        "p": made.p,
        "method": made.method or None,
        "counted": made.counted,
        "significant": made.significant,
        "mcnemar_p": made.mcnemar,
        "n_better": [len(items) for items in made.better],
        "better": [list(items[:limit]) for items in made.better],
        "smallest_difference": made.smallest,
        "power": made.power,
        "needed": made.needed,
        "inside_spread": made.inside_spread,
        "majority_rate": made.majority,
        "rules": _rules(made.rules),
    }


def arm_pair(one: ArmPair) -> dict[str, Any]:
    """Return two arms' agreement."""
    return {
        "a": one.a,
        "b": one.b,
        "n": one.n,
        "n_same": one.same,
        "share": one.share,
        "low": one.interval.low if one.interval else None,
        "high": one.interval.high if one.interval else None,
        "kappa": one.kappa,
        "ac1": one.ac1,
        "differ": list(one.differ),
        "too_few": one.too_few,
        "paradox": one.paradox,
    }


def agreement_rest(made: ArmsAgreement) -> dict[str, Any]:
    """Return what the agreement of arms says beside its pairs."""
    return {
        "dataset_id": made.dataset_id,
        "n_items": made.n_items,
        "arms": [
            {"arm": one.name, "run": one.run.key, "recorded": one.recorded, "n_decided": n}
            for one, n in zip(made.arms, made.decided, strict=True)
        ],
        "alpha": made.alpha,
        "own_same": made.own_same,
    }


def goal(view: GoalView) -> dict[str, Any]:
    """Return one goal."""
    made = view.goal
    return {
        "goal_id": made.goal_id,
        "question": made.question or None,
        "datasets": list(made.datasets),
        "metric": made.metric,
        "direction": made.direction,
        "strategy": made.strategy,
        "limits": {
            "cost_usd_per_item": made.limits.cost_usd_per_item,
            "latency_ms": made.limits.latency_ms,
        },
        "against": made.against,
        "alpha": made.alpha,
        "min_effect": made.min_effect,
        "groups": [
            {
                **field_rest(one.field),
                "arms": [arm(each) for each in one.field.arms],
                "finalist": _finalist(one.finalist),
                "notes": list(one.field.notes),
            }
            for one in view.groups
        ],
        "baseline": baseline(view.baseline) if view.baseline else None,
        "baseline_problem": view.baseline_problem,
        "superseded": [baseline(one) for one in view.superseded],
        "production": _production(view.production) if view.production else None,
        "replays": [
            {
                "dataset_id": one.dataset_id,
                "recorded": one.recorded,
                "config_id": one.config_id,
                **{key: value for key, value in arm_pair(one.pair).items() if key not in ("a", "b")},
            }
            for one in view.replays
        ],
    }


def baseline(one: Baseline) -> dict[str, Any]:
    """Return a baseline."""
    return {
        "baseline_id": one.baseline_id,
        "goal": one.goal,
        "dataset_id": one.dataset_id,
        "run": one.promoted_from,
        "promoted_at": one.promoted_at or None,
        "reason": one.reason or None,
        "against": one.reference_id,
        "scores": dict(one.scores),
        "over": one.over,
        "supersedes": one.supersedes,
    }


def check(made: Check) -> dict[str, Any]:
    """Return a capture's check."""
    return {
        "capture_id": made.capture_id,
        "n": made.n,
        "match": made.match,
        "differ": made.differ,
        "not_recorded": made.unrecorded,
        "days": [
            {
                "day": one.day,
                "match": one.match,
                "differ": one.differ,
                "not_recorded": one.unrecorded,
            }
            for one in made.days
        ],
        "differences": [
            {
                "what": one.what,
                "expected": one.expected,
                "found": one.found,
                "n": one.n,
                "days": list(one.days),
            }
            for one in made.differences
        ],
        "unsaid": [
            {"what": one.what, "found": one.found, "n": one.n, "days": list(one.days)} for one in made.unsaid
        ],
        "lacking": dict(made.lacking),
        "no_settings": made.no_settings,
        "sentence": made.sentence,
        "problems": list(made.problems),
    }


def _production(made: Production) -> dict[str, Any]:
    return {
        "config_id": made.config_id,
        "says": made.word,
        "check": check(made.check) if made.check else None,
        "problem": made.problem,
    }


def _finalist(made: Finalist) -> dict[str, Any]:
    return {
        "arm": made.arm,
        "reason": made.reason,
        "frontier": list(made.frontier),
        "left_out": [{"arm": one.arm, "why": one.why} for one in made.left_out],
    }


def _pair_arm(one: PairArm) -> dict[str, Any]:
    return {
        "arm": one.name,
        "run_id": one.run_id,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "n": one.n,
        "n_errors": one.errors,
        "own_labels": one.own,
        "fitted_here": one.fitted,
        "trial": one.trial,
        "repeats": _spread(one.spread),
    }


def _spread(one: Spread | None) -> dict[str, Any] | None:
    return None if one is None else {"runs": list(one.runs), "low": one.low, "high": one.high}


def _judge(one: JudgedBy | None) -> dict[str, Any] | None:
    """Return whose metric it is: a judge's, which names no set."""
    if one is None:
        return None
    return {
        "scorer": one.scorer,
        "by": one.by or None,
        "by_kind": one.by_kind or None,
        "validated": one.validated,
    }


def _rules(one: Rules) -> dict[str, Any]:
    return {"goal": one.goal, "alpha": one.alpha, "min_effect": one.min_effect}


def _source(one: Against | None) -> dict[str, Any] | None:
    """Return who or what labelled: a label set is named by its source and never by a tier."""
    if one is None:
        return None
    return {"kind": one.kind, "source": one.source_kind, "by": one.by or None, "tier": one.tier}
