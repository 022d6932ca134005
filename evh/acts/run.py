"""Run an arm over a dataset: each output kept as it comes, scored at the end, resumable in between."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import run_ray, run_retry, run_totals, scoring
from evh.acts.run_asking import Arm, Asking, warm_up
from evh.acts.run_budget import Budget, Progress
from evh.acts.run_keep import Keeper
from evh.acts.run_plan import Plan, plan, settings_of
from evh.acts.run_ray import ClusterAsking
from evh.acts.run_retry import TAKEN
from evh.project import datasets, fingerprint, runs
from evh.project.item_texts import ReadAhead
from evh.records.run import Run
from evh.store.locks import held
from evh.store.names import item_stems

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.acts.run_keep import Answer
    from evh.project.find import Project
    from evh.records.run import Prediction

__all__ = ["Done", "Failed", "Plan", "Progress", "Unfinished", "commit", "plan"]

NOT_ASKED = "not asked: the run was ended by --finish before it was its turn"


@dataclass(frozen=True, slots=True)
class Failed:
    """One item that got no score because it failed, and why."""

    run_id: str
    item_id: str
    error: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that has not every answer yet. What it has is kept, and ``--resume`` goes on.

    Attributes:
        run: the run as it began.
        n_done: its items that are answered, or have failed for good.
        reason: why it stopped before every item was asked; None where every item was asked.
        failed: the items whose failure may pass; they are asked again.
        cost_usd: what it has cost by now; None where that is not known.
    """

    run: Run
    n_done: int
    reason: str | None
    failed: tuple[Failed, ...]
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a command ran: its runs, the items that failed, and what a person should know.

    ``unfinished`` is the run that could not be finished, after which no further one was begun.
    """

    runs: tuple[Run, ...]
    failed: tuple[Failed, ...] = ()
    notes: tuple[str, ...] = ()
    unfinished: Unfinished | None = None


def commit(project: Project, plan: Plan, *, progress: Callable[[Progress], None] | None = None) -> Done:
    """Run what was planned and return the finished runs, and the one that could not be finished.

    Args:
        project: the project.
        plan: from `plan`.
        progress: told where a run stands, at most twenty times a second and at its end.

    Raises:
        Refusal: the adapter's warm-up fails, the disk is full, another process holds the run, the text of an
            item is not the one recorded (a missing one is found before anything is asked, one that changed
            then or shortly after). What was answered until then is kept, and ``--resume`` goes on from
            there; so it is after a KeyboardInterrupt.
    """
    made: list[Run] = []
    failed: list[Failed] = []
    notes = list(plan.notes)
    budget = Budget(plan.max_cost if plan.provider.timed else None)
    group = plan.resumed.repeat_group if plan.resumed else None
    for number in range(plan.first, plan.of + 1):
        run = plan.resumed if plan.resumed and not made else _begin(project, plan, number, group)
        group = run.repeat_group
        ended = _run(project, plan, run, budget, number=number, progress=progress)
        if isinstance(ended, Unfinished):
            return Done(tuple(made), tuple(failed), tuple(notes), ended)
        made.append(ended.run)
        failed += [Failed(run.run_id, row.item_id, row.error) for row in ended.rows if row.error is not None]
        notes += [f"{run.run_id}: {problem}" for problem in ended.problems]
    return Done(tuple(made), tuple(failed), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Ended:
    run: Run
    rows: tuple[Prediction, ...]
    problems: tuple[str, ...]


def _begin(project: Project, plan: Plan, number: int, group: str | None) -> Run:
    run_id = runs.new_run_id(project, plan.config.config_id, folder=plan.folder)
    run = Run(
        run_id=run_id,
        config_id=plan.config.config_id,
        dataset_id=plan.dataset.dataset_id,
        folder=plan.folder,
        created_at=project.stamp(),
        adapter=plan.adapter.name,
        params=settings_of(plan, number),
        n_items=len(plan.items),
        primary_metric=plan.adapter.primary_metric,
        metric_kinds=plan.adapter.metric_kinds,
        metric_directions=plan.adapter.metric_directions,
        reference_id=plan.target.reference_id if plan.target else None,
        reference_tier=plan.target.tier if plan.target else None,
        build=fingerprint.build(),
        fingerprint=plan.fingerprint,
        derived={"kind": "recorded", "from": plan.config.params.get("capture")}
        if plan.config.recorded
        else None,
        repeat_group=(group or run_id) if plan.of > 1 else None,
        extra={
            **({"fitted_on": list(plan.config.fitted_on)} if plan.config.fitted_on else {}),
            **({"floor": True} if plan.config.floor else {}),
            **({"limit": plan.limit} if plan.limit is not None else {}),
            **({TAKEN: {"from": plan.taken.run.key, "n": plan.taken.n}} if plan.taken else {}),
        },
    )
    runs.begin(project, run, {"repeat": {"number": number, "of": plan.of}})
    return run


def _run(
    project: Project,
    plan: Plan,
    run: Run,
    budget: Budget,
    *,
    number: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> _Ended | Unfinished:
    with held(project.locks, runs.rows_path(project, run), wait_s=0):
        # On a cluster the workers warm up, each for itself.
        warmup_ms = None if plan.finish or plan.engine else warm_up(plan.config, plan.adapter)
        reason = None
        with Keeper(project, run, plan.dataset, plan.items) as keeper:
            keeper.take_over(run_retry.answers(project, run))
            run_ray.left_over(project, run, keeper)
            wanted = () if plan.finish else keeper.waiting
            with ReadAhead(project, plan.dataset, plan.items, wanted) as texts:
                if plan.finish:
                    keeper.give_up(NOT_ASKED)
                else:
                    meter = _Meter(plan, keeper, budget, progress)
                    asking: Asking | ClusterAsking
                    if plan.engine:
                        asking = ClusterAsking(
                            project, plan, run, texts, keeper.keep, number=number, flush=meter.idle
                        )
                    else:
                        arm = Arm(plan.provider, plan.dataset.dataset_id, plan.prices, plan.concurrency)
                        asking = Asking(arm, texts, budget, keeper.keep, number=number, idle=meter.idle)
                    for one in asking.answers(keeper.waiting):
                        meter.saw(one.answer, told=keeper.settle(one.item, one.answer))
                    reason = asking.stopped
                    if isinstance(asking, ClusterAsking):
                        warmup_ms = asking.warmup_ms
                    keeper.flush()
                    meter.tell()
                texts.check()
        if len(keeper.rows) < len(plan.items):
            failures = tuple(
                Failed(run.run_id, row.item_id, row.error or "") for row in keeper.passing.values()
            )
            cost = run_totals.totals(tuple(keeper.rows.values())).cost_usd
            return Unfinished(run, len(keeper.rows), reason, failures, cost)
        ended = _finish(project, plan, run, keeper, warmup_ms=warmup_ms)
        run_ray.forget(project, run)
        return ended


def _finish(
    project: Project,
    plan: Plan,
    run: Run,
    keeper: Keeper,
    *,
    warmup_ms: float | None,
) -> _Ended:
    rows = [keeper.rows[item.item_id] for item in plan.items]
    reads = plan.adapter.reads_source
    scored = scoring.score(
        plan.adapter,
        rows,
        {row.item_id: row.output for row in rows if row.output is not None},
        plan.target,
        place=plan.dataset.dataset_id,
        sources=datasets.texts(project, plan.dataset, list(plan.items)) if reads else None,
    )
    seen = run_totals.observed(scored.rows)
    problems = (*scored.problems, *run_totals.reply_notes(scored.rows))
    finished = runs.finish(
        project,
        replace(
            run,
            n_errors=scored.n_errors,
            scores=scored.scores,
            warmup_ms=warmup_ms,
            extra={
                **{key: value for key, value in run.extra.items() if key != "repeat"},
                "n_scored": scored.n_scored,
                **run_totals.totals(scored.rows).record(),
                **({run_totals.OBSERVED: seen} if seen else {}),
                **({"problems": list(problems)} if problems else {}),
            },
        ),
        scored.rows,
        item_stems([item.item_id for item in plan.dataset.items]),
        kept=keeper.written,
    )
    return _Ended(finished, scored.rows, problems)


class _Meter:
    """Tells where a run stands, after each flush: what is counted as done is on the disk."""

    def __init__(
        self, plan: Plan, keeper: Keeper, budget: Budget, progress: Callable[[Progress], None] | None
    ) -> None:
        self._plan, self._keeper, self._budget, self._progress = plan, keeper, budget, progress
        self._began = time.monotonic()
        self._before = keeper.settled
        self._failed = self._answers = 0
        self._tokens = 0.0
        costs = [row.cost_usd for row in keeper.rows.values() if row.cost_usd is not None]
        self._cost = sum(costs) if costs else None
        budget.had(costs)

    def saw(self, answer: Answer, *, told: bool) -> None:
        """Count an answer; ``told`` says that it is flushed."""
        row = answer.row
        self._answers += 1
        self._failed += row.error is not None
        self._tokens += (row.tokens_in or 0) + (row.tokens_out or 0)
        if row.cost_usd is not None:
            self._cost = (self._cost or 0.0) + row.cost_usd
        if told:
            self.tell()

    def idle(self) -> None:
        """Flush what has come while no more comes."""
        if self._keeper.flush():
            self.tell()

    def tell(self) -> None:
        """Tell where the run stands."""
        if self._progress is None:
            return
        taken = max(time.monotonic() - self._began, 1e-9)
        done, of = self._keeper.settled, len(self._plan.items)
        rate = (done - self._before) / taken
        self._progress(
            Progress(
                done=done,
                of=of,
                failed=self._failed,
                per_s=self._answers / taken,
                tokens=int(self._tokens),
                cost_usd=self._cost,
                left_s=(of - done) / rate if rate > 0 else None,
            )
        )
