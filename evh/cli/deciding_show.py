"""Printing fields, pairs and goals for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from evh.acts import field_pairs
from evh.acts.field import told
from evh.cli.common import say
from evh.cli.table import DASH, table
from evh.measure.power import POWER
from evh.store.text import clean, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.agreement_of_arms import ArmsAgreement
    from evh.acts.field_model import Field, FieldArm, JudgedBy
    from evh.acts.figures import Against
    from evh.acts.goals import GoalView
    from evh.acts.pair_test import PairTest

NAMED = 10
SHORT = 60


def field(made: Field) -> None:
    """Print a field: its arms, and how its words were made."""
    arrow = "" if made.higher else " (lower is better)"
    say(f"{made.dataset_id}: {made.metric}{arrow}, {scored_by(made.against, made.judge)}")
    table(
        [
            "arm",
            "value",
            "95 %",
            "items",
            "failed",
            "verdict",
            "behind by",
            "p",
            "could show",
            "always one: right on",
            "note",
        ],
        [_row(one) for one in made.arms],
        right=(1, 3, 4, 6, 7, 8, 9),
        keep=(0, 5),
        drop=(4, 9, 3, 2, 10, 8),
    )
    say(_said(made))


def all_pairs(made: Field) -> None:
    """Print every two arms of a field that may lead, their p corrected for all of the pairs."""
    say()
    table(
        ["arm", "arm", "both", "difference", "95 %", "p", "p corrected", "told apart"],
        [
            [
                one.a,
                one.b,
                one.n,
                _signed(one.difference),
                _interval(one.low, one.high, signed=True),
                None if one.p is None else _p(one.p),
                None if one.p_holm is None else _p(one.p_holm),
                None if one.p_holm is None else "yes" if one.apart else "no",
            ]
            for one in made.pairs
        ],
        right=(2, 3, 5, 6),
        keep=(0, 1),
        drop=(4, 5, 2),
    )
    level = f" at level {made.rules.alpha:g}" if made.method else ""
    told = [
        f"all pairs{level}, first minus second{'' if made.higher else ', turned: lower is better'}",
        f"correction {field_pairs.correction(made) or 'none: no test can be made'}",
        field_pairs.left_out(made),
    ]
    say("; ".join(one for one in told if one))


def after_field(made: Field) -> list[str]:
    """Return the commands for the next step."""
    steps = [f"evh inspect --sheet --dataset-id {made.dataset_id}"]
    rivals = [one.name for one in made.arms if one.verdict in ("leader", "contender")]
    if len(rivals) > 1:
        pair = f"{shlex.quote(rivals[0])},{shlex.quote(rivals[1])}"
        steps.insert(0, f"evh label-plan --dataset-id {made.dataset_id} --runs {pair}")
    if len(made.arms) > 1:
        one, two = (shlex.quote(arm.name) for arm in made.arms[:2])
        metric = f" --metric {shlex.quote(made.metric)}" if made.judge else ""
        steps.insert(0, f"evh pair-test {one} {two} --dataset-id {made.dataset_id}{metric}")
    return steps


def scored_by(one: Against | None, judge: JudgedBy | None) -> str:
    """Return who scored, in words: a judge, or the labels that scores were made against."""
    if judge is None:
        return against(one)
    by = f" ({one_line(judge.by)})" if judge.by and judge.by != judge.scorer else ""
    return f"by the judge {judge.scorer}{by}, {'validated' if judge.validated else 'unvalidated'}"


def against(one: Against | None) -> str:
    """Return what scores were made against, in words: a label set by its source, never by a tier."""
    if one is None:
        return "scored against no labels"
    if one.kind == "reference":
        return f"against the {one.tier} reference {one.ref}"
    who = f" of {one_line(one.by)}" if one.by else ""
    source = f"{one.source_kind} labels{who}" if one.source_kind else "labels"
    return f"against {one.ref} ({source})"


def pair_test(made: PairTest, limit: int | None) -> None:
    """Print a paired test."""
    one, two = made.arms
    by = scored_by(made.against, made.judge)
    say(f"{one.name} and {two.name} on {made.dataset_id}: {made.metric}, {by}")
    for arm in made.arms:
        repeats = (
            f", {len(arm.spread.runs)} runs {arm.spread.low:.3f} to {arm.spread.high:.3f}"
            if arm.spread
            else ""
        )
        say(
            f"  {arm.name}: {_number(arm.value)} {_interval(arm.low, arm.high)} "
            f"over {plural(arm.n, 'item')}, {arm.errors:,} failed{repeats}"
        )
    if made.majority is not None:
        say(f"  always the commonest answer: right on {made.majority:.3f}")
    turned = "" if made.higher else ", turned: lower is better"
    say(
        f"difference {_signed(made.difference)} {_interval(made.low, made.high, signed=True)} over "
        f"{plural(made.n, 'item')}{turned}"
    )
    say(_told_p(made))
    if made.mcnemar is not None:
        say(f"exact McNemar: p = {_p(made.mcnemar)}")
    if not made.significant:
        least = "no difference" if made.smallest is None else f"a difference of {made.smallest:.3f} or more"
        say(f"not significant at {made.rules.alpha:g}: so many items would show {least} ({POWER:.0%} power)")
    if made.power is not None and made.difference:
        needed = f"; {made.needed:,} items would have {POWER:.0%}" if made.needed else ""
        say(f"power for a difference like this one: {made.power:.0%}{needed}")
    if made.inside_spread:
        say("the difference is inside the spread of the arms' own repeats")
    for arm, items in zip(made.arms, made.better, strict=True):
        shown = items[: NAMED if limit is None else limit]
        more = f" and {len(items) - len(shown):,} more" if len(items) > len(shown) else ""
        named = f": {', '.join(one_line(item) for item in shown)}{more}" if shown else ""
        say(f"better by {arm.name}: {plural(len(items), 'item')}{named}")


def after_pair(made: PairTest) -> list[str]:
    """Return the commands for the next step."""
    one, two = (shlex.quote(arm.name) for arm in made.arms)
    steps = [f"evh inspect --dataset-id {made.dataset_id} --runs {one},{two}"]
    first = next((item for items in made.better for item in items if clean(item) == item), None)
    if first is not None:
        steps.append(f"evh inspect --dataset-id {made.dataset_id} --item {shlex.quote(first)}")
    if not made.significant:
        steps.append(f"evh label-plan --dataset-id {made.dataset_id} --runs {one},{two}")
    return steps


def agreement(made: ArmsAgreement) -> None:
    """Print how often arms decided the same."""
    say(f"{made.dataset_id}: {plural(made.n_items, 'item')}, {plural(len(made.arms), 'arm')}")
    table(
        ["arm", "arm", "both decided", "the same", "share", "95 %", "kappa", "AC1", "note"],
        [
            [
                one.a,
                one.b,
                one.n,
                one.same,
                one.share,
                _interval(*((one.interval.low, one.interval.high) if one.interval else (None, None))),
                one.kappa,
                one.ac1,
                "too few to say"
                if one.too_few
                else "one decision dominates: see AC1"
                if one.paradox
                else None,
            ]
            for one in made.pairs
        ],
        right=(2, 3, 4, 6, 7),
        keep=(0, 1),
        drop=(5, 7, 8),
    )
    if made.alpha is not None:
        say(f"Krippendorff's alpha (nominal) over all {len(made.arms)}: {made.alpha:.3f}")


def after_agreement(made: ArmsAgreement) -> list[str]:
    """Return the commands for the next step."""
    apart = max(made.pairs, key=lambda one: len(one.differ), default=None)
    if apart is None or not apart.differ:
        return []
    pair = f"{shlex.quote(apart.a)},{shlex.quote(apart.b)}"
    return [f"evh inspect --dataset-id {made.dataset_id} --runs {pair} --disagree"]


def goal(view: GoalView) -> None:
    """Print one goal."""
    made = view.goal
    say(f"{made.goal_id}{f': {one_line(made.question)}' if made.question else ''}")
    for group in view.groups:
        say()
        field(group.field)
        finalist = group.finalist
        say(f"suggested finalist: {finalist.arm or 'none'}; {finalist.reason}")
        for one in finalist.left_out:
            say(f"  left out: {one.arm} {one.why}")
        for note in group.field.notes:
            say(f"  {note}")
    say()
    baseline = view.baseline
    if view.baseline_problem is not None:
        say(f"baseline: there is one, and it cannot be read: {one_line(view.baseline_problem)}")
    elif baseline is None:
        say("baseline: none was promoted yet")
    else:
        where = f" against {baseline.reference_id}" if baseline.reference_id else ""
        when = baseline.promoted_at or "at no recorded time"
        say(f"baseline: {baseline.promoted_from}{where}, promoted {when}")
        say(f"  because: {one_line(baseline.reason) or 'no reason on record'}")
        if baseline.over:
            say(f"  over {baseline.over}, which it tied with")
        if view.superseded:
            say(f"  before it: {', '.join(one.promoted_from for one in view.superseded)}")
    if view.production is not None:
        say(_production(view))
    for replay in view.replays:
        pair = replay.pair
        share = DASH if pair.share is None else f"{pair.share:.1%}"
        say(
            f"replay on {replay.dataset_id}: {replay.config_id} decided as {replay.recorded} did on "
            f"{pair.same:,} of {plural(pair.n, 'item')} ({share})"
        )
    say()


def after_goals(made: Sequence[GoalView]) -> list[str]:
    """Return the commands for the next step."""
    steps = []
    for view in made:
        if view.baseline_problem is not None:
            steps.append("evh validate")
        elif view.baseline is None:
            named = next(
                (arm for group in view.groups if (arm := group.field.arm(group.finalist.arm or ""))), None
            )
            if named is not None:
                steps.append(
                    f"evh promote --run {named.to_promote} --goal {view.goal.goal_id} --reason REASON"
                )
        elif view.production is not None:
            steps.append(f"evh deploy-sheet --config {shlex.quote(view.production.config_id)}")
    return list(dict.fromkeys(steps))


def _production(view: GoalView) -> str:
    made = view.production
    if made is None:
        return ""
    if made.check is None:
        return f"production: not checked; {made.problem}"
    found = made.check
    counts = f"{found.match:,} match, {found.differ:,} differ, {found.unrecorded:,} not recorded"
    word = {"match": "matches", "differ": "differs", "not recorded": "is not recorded"}[made.word]
    return f"production {word}: of {plural(found.n, 'record')} of {found.capture_id} {counts}"


def _row(one: FieldArm) -> list[object]:
    return [
        one.name,
        one.value,
        _interval(one.low, one.high),
        f"{one.n:,} of {one.of:,}",
        one.errors,
        one.verdict,
        None if one.difference is None or one.verdict is None else f"{one.difference:.3f}",
        None if one.corrected is None else _p(one.corrected),
        "none" if one.verdict == "contender" and one.smallest is None and not one.why else one.smallest,
        one.majority,
        ", ".join(_flags(one)) or None,
    ]


def _flags(one: FieldArm) -> list[str]:
    return [
        *(["recorded"] if one.recorded else []),
        *(["own labels"] if one.own else []),
        *(["fitted here"] if one.fitted else []),
        *(["floor"] if one.floor else []),
        *([] if one.trial is None else [f"trial, {one.trial:,} of {one.of:,}"]),
        *([one.why] if one.why else []),
        *(
            [f"{len(one.spread.runs)} runs {one.spread.low:.3f} to {one.spread.high:.3f}"]
            if one.spread
            else []
        ),
        *(["inside the spread"] if one.inside_spread else []),
    ]


def _said(made: Field) -> str:
    if not made.leaders:
        return "no leader is drawn"
    parts = []
    if len(made.leaders) > 1:
        parts.append(f"tie: {', '.join(made.leaders)}")
    elif made.alone:
        parts.append(f"{made.leaders[0]} leads alone")
    else:
        parts.append(f"{made.leaders[0]} leads")
    parts.append(told(made))
    if made.majority is not None:
        commonest = one_line(" or ".join(made.majority.answers), SHORT)
        parts.append(f"always {commonest}: right on {made.majority.share:.3f}")
    return "; ".join(parts)


def _told_p(made: PairTest) -> str:
    if made.p is None:
        return "no test can be made"
    how = "all sign patterns counted" if made.counted else f"by {made.method}"
    word = "significant" if made.significant else "not significant"
    goal = f" (goal {made.rules.goal})" if made.rules.goal else ""
    return f"p = {_p(made.p)}, {how}, not corrected: the pair was named; {word} at {made.rules.alpha:g}{goal}"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.3f}"


def _interval(low: float | None, high: float | None, *, signed: bool = False) -> str | None:
    if low is None or high is None:
        return DASH
    return f"[{low:+.3f}, {high:+.3f}]" if signed else f"[{low:.3f}, {high:.3f}]"
