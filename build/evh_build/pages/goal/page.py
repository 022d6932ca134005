"""A goal: its arms by what they were scored against, the finalist, the baseline, and what production runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field
from evh.measure.verdicts import CONTENDER
from evh.records.answers import shown
from evh.store.text import one_line, plural
from evh_build import urls
from evh_build.all_pairs import PairsView, pairs_view
from evh_build.deploying import CheckView, check_view
from evh_build.forest import Axis, axis_of, p_text
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.pairs import pairs
from evh_build.source import command
from evh_build.standings import JudgeMark, judge_mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.acts.field_model import Field, FieldArm
    from evh.acts.goals import GoalView, Group
    from evh.records.baseline import Baseline
    from evh.records.goal import Goal
    from evh_build.source import Mark, Source

SHORT = 60


@dataclass(frozen=True, slots=True)
class ArmRow:
    """An arm in a group. ``apart`` tells how sure its verdict is, in words; ``spread`` its repeats.

    ``behind``, ``behind_low`` and ``behind_high`` are the leader minus it; ``p`` is corrected, ``raw`` not.
    """

    arm: Link
    run: str | None
    recorded: bool
    floor: bool
    trial: int | None
    own: bool
    fitted: bool
    finalist: bool
    baseline: bool
    value: float | None
    low: float | None
    high: float | None
    verdict: str | None
    apart: str
    behind: float | None
    behind_low: float | None
    behind_high: float | None
    p: str
    raw: str
    n: int
    of: int
    errors: int
    spread: str
    majority: float | None
    cost_usd: float | None
    latency_ms: float | None


@dataclass(frozen=True, slots=True)
class Suggested:
    """The finalist of a group: the arm, None where none is; why; and who cannot be it, with the reason."""

    arm: Link | None
    reason: str
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GroupView:
    """The arms of one dataset against one set: best first, on one axis.

    ``said`` tells who leads, ``told`` how the verdicts were made; ``best`` is the leader's figure. ``always``
    is the commonest answer, which is right on ``majority``; ``uneven`` tells that arms were scored on other
    items, so that it differs between them. ``pairs`` holds every two of the arms, where they are few.
    ``judge`` is set where a judge gave the scores. ``command`` shows the same on the terminal.
    """

    dataset: Link
    mark: Mark | None
    judge: JudgeMark | None
    metric: str
    higher: bool
    rows: tuple[ArmRow, ...]
    axis: Axis
    best: float | None
    said: str
    told: str
    always: str
    majority: float | None
    uneven: bool
    costs: bool
    times: bool
    suggested: Suggested
    pairs: PairsView | None
    notes: tuple[str, ...]
    command: Command


@dataclass(frozen=True, slots=True)
class BaselineView:
    """A baseline: the run that was promoted, its arm, what it was scored against, when, why, over which."""

    run: Link
    arm: Link | None
    against: Mark | None
    at: str
    reason: str
    over: Link | None


@dataclass(frozen=True, slots=True)
class ProductionView:
    """Whether production runs the baseline: a ``word``, the arm, and what its latest capture says."""

    word: str
    arm: Link
    sheet: str | None
    problem: str
    check: CheckView | None


@dataclass(frozen=True, slots=True)
class ReplayView:
    """How often the baseline's arm decides what production decided, and the page that shows it by item."""

    dataset: Link
    recorded: Link
    arm: Link
    same: int
    n: int
    share: float | None
    low: float | None
    high: float | None
    few: bool
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A goal's page.

    Attributes:
        question: what is to be decided.
        datasets: what arms are compared on.
        rules: how, key by key: the metric, its direction, the level, the least effect, the strategy, limits.
        groups: its arms, by dataset and by what they were scored against; that of the goal's set first.
        baseline: what was promoted for it, or None.
        baseline_problem: why what was promoted cannot be read, or None.
        superseded: the baselines before it, the newest first.
        production: whether production runs the baseline; None where there is nothing to match.
        replays: the baseline's arm beside production's own decisions.
        notes: what a reader must see.
    """

    question: str
    datasets: tuple[Link, ...]
    rules: tuple[tuple[str, str], ...]
    groups: tuple[GroupView, ...]
    baseline: BaselineView | None
    baseline_problem: str | None
    superseded: tuple[BaselineView, ...]
    production: ProductionView | None
    replays: tuple[ReplayView, ...]
    notes: tuple[str, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a goal."""
    held = source.gathered
    for name, goal in held.deciding.goals.items():
        path, found = source.urls.goal(name), held.deciding.view(name)
        if path is None or found is None:
            continue
        unread = held.sources.notes()  # told on the home page
        yield Leaf(
            path,
            Context(
                title=name,
                section="goals",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Goals", urls.GOALS)),
                commands=_commands(found),
                question=goal.question,
                datasets=tuple(Link(one, source.urls.dataset(one)) for one in goal.datasets),
                rules=rules_of(goal),
                groups=tuple(_group(source, found, one) for one in found.groups),
                baseline=_baseline(source, found.baseline) if found.baseline else None,
                baseline_problem=found.baseline_problem,
                superseded=tuple(_baseline(source, one) for one in reversed(found.superseded)),
                production=production_view(source, found),
                replays=_replays(source, found),
                notes=tuple(note for note in found.notes if note not in unread),
            ),
        )


def rules_of(goal: Goal) -> tuple[tuple[str, str], ...]:
    """Return how a goal compares arms, as names and values."""
    rules = field.rules_of(goal)
    limits = goal.limits
    told = (
        ("metric", goal.metric or "each scoring’s primary metric"),
        ("better", {True: "higher", False: "lower"}.get(goal.higher, "as the adapter says")),  # type: ignore[arg-type]
        ("level of the tests", f"{rules.alpha:g}"),
        ("least effect", f"{goal.min_effect:g}" if goal.min_effect else ""),
        ("suggests", goal.strategy.replace("-", " ")),
        (
            "cost at most",
            "" if limits.cost_usd_per_item is None else f"{limits.cost_usd_per_item:g} USD an item",
        ),
        ("time at most", "" if limits.latency_ms is None else f"{limits.latency_ms:g} ms an item"),
    )
    return tuple((name, value) for name, value in told if value)


def lead_of(made: Field) -> str:
    """Return who leads, in words."""
    if not made.leaders:
        return "no leader is drawn"
    if len(made.leaders) > 1:
        return f"{', '.join(made.leaders)} tie for the lead"
    if made.alone and made.competing > 1:
        return f"{made.leaders[0]} leads alone"
    return f"{made.leaders[0]} leads"


def production_view(source: Source, found: GoalView) -> ProductionView | None:
    """Return whether production runs a goal's baseline."""
    made = found.production
    if made is None:
        return None
    path = source.urls.arm(made.config_id)
    return ProductionView(
        word=made.word,
        arm=Link(made.config_id, path),
        sheet=f"{path}#deploy" if path and source.gathered.deciding.deploy_sheet(made.config_id) else None,
        problem=(made.problem or "") if made.check is None else "",
        check=check_view(source, made.check) if made.check else None,
    )


def _group(source: Source, found: GoalView, group: Group) -> GroupView:
    made, name = group.field, group.field.dataset_id
    finalist = group.finalist
    arm = made.arm(finalist.arm) if finalist.arm else None
    rows = tuple(_row(source, found, group, one) for one in made.arms)
    majority = made.majority
    ref = made.against.ref if made.against else None
    leader = made.arm(made.leaders[0]) if made.leaders else None
    words = ("leaderboard", "--dataset-id", name, "--goal", found.goal.goal_id)
    against = () if ref is None else ("--against", ref.removeprefix("labels/"))
    metric = () if found.goal.metric else ("--metric", made.metric)
    return GroupView(
        dataset=Link(name, source.urls.dataset(name)),
        mark=source.mark(made.against) if made.against else None,
        judge=judge_mark(source, made),
        metric=made.metric,
        higher=made.higher,
        rows=rows,
        axis=axis_of(value for one in made.arms for value in (one.value, one.low, one.high)),
        best=leader.value if leader else None,
        said=lead_of(made),
        told=field.told(made) if made.leaders else "",
        always=one_line(" or ".join(map(shown, majority.answers)), SHORT) if majority else "",
        majority=majority.share if majority else None,
        uneven=len({one.majority for one in rows}) > 1,
        costs=any(one.cost_usd is not None for one in rows),
        times=any(one.latency_ms is not None for one in rows),
        suggested=Suggested(
            arm=Link(arm.name, source.urls.arm(arm.run.config_id)) if arm else None,
            reason=finalist.reason,
            left_out=tuple((one.arm, one.why) for one in finalist.left_out),
        ),
        pairs=pairs_view(source, made),
        notes=made.notes,
        command=command("", *words, *against, *metric),
    )


def _row(source: Source, found: GoalView, group: Group, one: FieldArm) -> ArmRow:
    spread = one.spread
    return ArmRow(
        arm=Link(one.name, source.urls.arm(one.run.config_id)),
        run=source.urls.run(one.run.key),
        recorded=one.recorded,
        floor=one.floor,
        trial=one.trial,
        own=one.own,
        fitted=one.fitted,
        finalist=one.name == group.finalist.arm,
        baseline=found.baseline is not None and found.baseline.run_id == one.run.run_id,
        value=one.value,
        low=one.low,
        high=one.high,
        verdict=one.verdict,
        apart=_apart(one, alone=group.field.alone and group.field.competing > 1),
        behind=one.difference if one.verdict else None,
        behind_low=one.difference_low if one.verdict else None,
        behind_high=one.difference_high if one.verdict else None,
        p=p_text(one.corrected),
        raw=p_text(one.p),
        n=one.n,
        of=one.of,
        errors=one.errors,
        spread=f"{plural(len(spread.runs), 'run')}, {spread.low:.3f} to {spread.high:.3f}" if spread else "",
        majority=one.majority,
        cost_usd=one.cost_usd,
        latency_ms=one.latency_ms,
    )


def _apart(one: FieldArm, *, alone: bool) -> str:
    """Return what stands beside a verdict's word."""
    parts = []
    if one.why:
        parts.append(one.why)
    elif one.verdict == CONTENDER:
        parts.append(
            "not told apart from the leader; no difference would show here"
            if one.smallest is None
            else f"not told apart from the leader; these items would show {one.smallest:.3f} or more"
        )
    elif one.difference is None and one.verdict and alone:
        parts.append("every other arm is behind")
    if one.inside_spread:
        parts.append("inside the spread of repeated runs")
    return "; ".join(parts)


def _baseline(source: Source, one: Baseline) -> BaselineView:
    run = run_of(source, one.promoted_from)
    over = None
    if one.over:
        other = run_of(source, one.over)
        over = Link(one.over.rpartition("/")[2], source.urls.run(other) if other else None)
    held = source.gathered.runs.get(run) if run else None
    return BaselineView(
        run=Link(one.run_id, source.urls.run(run) if run else None),
        arm=Link(held.config_id, source.urls.arm(held.config_id)) if held else None,
        against=source.mark_of_ref(one.reference_id) if one.reference_id else None,
        at=one.promoted_at,
        reason=one.reason,
        over=over,
    )


def run_of(source: Source, name: str) -> str | None:
    """Return the key of the run that a baseline names: by its key, else by its id, the measured one first."""
    runs = source.gathered.runs
    if name in runs:
        return name
    found = [run for run in runs.values() if run.run_id == name.rpartition("/")[2] and not run.judged]
    return min(found, key=lambda run: run.folder != "runs").key if found else None


def _replays(source: Source, found: GoalView) -> tuple[ReplayView, ...]:
    made = []
    for one in found.replays:
        both = {one.recorded, one.config_id}
        pair = next((names for names in pairs(source, one.dataset_id) if set(names) == both), None)
        interval = one.pair.interval
        made.append(
            ReplayView(
                dataset=Link(one.dataset_id, source.urls.dataset(one.dataset_id)),
                recorded=Link(one.recorded, source.urls.arm(one.recorded)),
                arm=Link(one.config_id, source.urls.arm(one.config_id)),
                same=one.pair.same,
                n=one.pair.n,
                share=one.pair.share,
                low=interval.low if interval else None,
                high=interval.high if interval else None,
                few=one.pair.too_few,
                path=source.urls.compare(one.dataset_id, *pair) if pair else None,
            )
        )
    return tuple(made)


def _commands(found: GoalView) -> tuple[Command, ...]:
    name = found.goal.goal_id
    made = [command("the same on the terminal", "goals", "--goal", name)]
    able = next((arm for group in found.groups if (arm := group.field.arm(group.finalist.arm or ""))), None)
    in_force = found.baseline.run_id if found.baseline else None
    if able is not None and found.baseline_problem is None and in_force != able.run.run_id:
        words = ("promote", "--run", able.to_promote, "--goal", name, "--reason", "REASON")
        made.append(command(f"promote the suggested finalist, {able.name}", *words))
    if found.production is not None:
        name_of = found.production.config_id
        capture = found.production.check.capture_id if found.production.check else "CAPTURE"
        made.append(
            command("hold production against it", "deploy-sheet", "--config", name_of, "--capture", capture)
        )
    for group in found.groups[:1]:
        dataset = group.field.dataset_id
        ranked = [one.name for one in group.field.arms if one.verdict]
        if len(ranked) > 1:
            told = group.field.against
            on = ("--against", told.ref.removeprefix("labels/")) if told else ()
            pair = ("pair-test", *ranked[:2], "--dataset-id", dataset, *on, "--metric", group.field.metric)
            made.append(command("test a pair that you name in advance", *pair))
    return tuple(made)


PAGE = Page("goal", Context, make)
