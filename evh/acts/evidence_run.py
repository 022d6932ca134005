"""One run of the labeler: the jobs of a plan, asked many at once, kept as they come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from evh.acts import evidence_overlap, ray_engine
from evh.acts.evidence_ask import Asked, Asker, Job
from evh.acts.evidence_counts import Counts, Progress
from evh.acts.evidence_jobs import Jobs, had
from evh.acts.evidence_keep import FLUSH_FREE_S, FLUSH_S, Keeper
from evh.acts.run_budget import Budget
from evh.errors import Refusal
from evh.project import evidence
from evh.store.atomic import make_folder
from evh.store.locks import held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evh.acts.evidence_plan import Plan
    from evh.llm.client import Client, Server
    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class Ended:
    """What one run made: its labels, why it stopped, and what it took."""

    labels: Mapping[str, bool]
    suspects: frozenset[str]
    stopped: str | None
    n_calls: int
    tokens: int
    cost_usd: float | None
    warnings: tuple[str, ...] = ()


def overlap_rule() -> str:
    """Return the rule of the lexical baseline: it stands where a prompt stands."""
    return evidence_overlap.RULE


def run(project: Project, plan: Plan, *, progress: Callable[[Progress], None] | None = None) -> Ended:
    """Ask what a plan leaves to ask. See `label_evidence.commit`."""
    at = plan.at
    make_folder(project.writable(at.folder))
    with held(project.locks, at.journal, wait_s=0):
        _begin(project, plan)
        evidence.mend(project, at)
        ready = _Ready(plan) if not plan.labeler.asks_server else prepare(plan)
        specs = {one.probe_id: one for one in plan.specs}
        counts = Counts(plan, progress)
        with Keeper(
            project,
            at,
            plan.query,
            model=plan.labeler.model,
            prompt_sha=str(plan.settings.asked["prompt_sha"]),
            repeat=plan.labeler.repeat,
            specs=specs,
            flush_s=FLUSH_S if plan.labeler.asks_server else FLUSH_FREE_S,
        ) as keeper:
            jobs = Jobs(project, plan, keeper, had(project, plan))
            if plan.options.engine:
                stopped = ray_engine.ask(project, plan, ready.asker, jobs=jobs, keeper=keeper, counts=counts)
            else:
                asking = _asked_by_overlap if not plan.labeler.asks_server else _asked_of_server
                stopped = asking(plan, ready, jobs, keeper, counts)
        counts.tell(keeper)
        return Ended(
            labels=keeper.labels,
            suspects=frozenset(keeper.suspects),
            stopped=stopped,
            n_calls=counts.calls,
            tokens=counts.tokens,
            cost_usd=counts.cost,
            warnings=ready.warnings,
        )


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is known of a server before it is asked."""

    plan: Plan
    context_tokens: int = 0
    constrained: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def asker(self) -> Asker:
        """What asks, with the context that the server has."""
        who = self.plan.labeler
        if self.context_tokens:
            who = replace(who, context_tokens=self.context_tokens)
        return Asker(who, self.plan.settings.salt, self.constrained)


def prepare(plan: Plan) -> _Ready:
    """Return what a server says of the model's context, and whether it honours structured answers."""
    import asyncio

    from evh.llm.budget import context_of
    from evh.llm.client import Client, carrier

    async def look() -> tuple[int | None, bool]:
        shared = carrier(server_of(plan))
        try:
            async with Client(server_of(plan), shared) as client:
                found = await context_of(client, plan.labeler.base_url, plan.labeler.model)
                return found, plan.labeler.constrain and await _honours(client, plan)
        finally:
            if shared is not None:
                await shared.aclose()

    context, honours = asyncio.run(look())
    mine, warnings = plan.labeler.context_tokens, []
    if context is not None and context != mine:
        told = f"the server gives {plan.labeler.model} {context:,} tokens, not {mine:,}"
        warnings.append(f"{told}: {context:,} count")
        if plan.labeler.max_tokens >= context:
            raise Refusal(
                "bad-settings",
                "the answers leave no room for a prompt",
                why=[f"think_tokens + answer_tokens are {plan.labeler.max_tokens:,}; {told}"],
                next="--think-tokens and --answer-tokens",
            )
    if plan.labeler.constrain and not honours:
        warnings.append("the server does not honour structured answers: --constrain asks for nothing")
    return _Ready(plan, context or mine, honours, tuple(warnings))


def server_of(plan: Plan) -> Server:
    """Return where a plan's labeler is asked."""
    from evh.llm.client import Server

    key = plan.labeler.key
    return Server(plan.labeler.base_url, str.__str__(key) if key else None)


async def _honours(client: Client, plan: Plan) -> bool:
    """Tell whether a server keeps to a form of answer that it would not give by itself."""
    from evh.llm.reply import Reply

    word = f"evh-{plan.settings.salt[:8]}"
    found = await client.ask(
        {
            "model": plan.labeler.model,
            "messages": [{"role": "user", "content": "Say hello."}],
            "max_tokens": plan.labeler.max_tokens,
            "temperature": 0,
            "structured_outputs": {"choice": [word]},
        }
    )
    return isinstance(found, Reply) and found.text.rpartition("</think>")[2].strip().strip('"') == word


def _begin(project: Project, plan: Plan) -> None:
    """Write the settings of a new journal; refuse one that another run has begun otherwise since the plan."""
    there = evidence.settings(project, plan.at)
    if there is None:
        evidence.begin(project, plan.at, plan.settings)
    elif there != plan.settings:
        raise Refusal(
            "changed-journal",
            f"data/{plan.at.ref} was begun by another run just now",
            why=[f"{project.show(plan.at.settings)}: it is not what was planned with"],
            next="run the same command again",
        )


def _asked_by_overlap(_plan: Plan, ready: _Ready, jobs: Jobs, keeper: Keeper, counts: Counts) -> str | None:
    asker = ready.asker
    for job in jobs:
        keeper.keep(job, asker.overlap(job))
        if keeper.due and keeper.flush():
            counts.tell(keeper)
        jobs.settle()
    jobs.settle()
    return None


def _asked_of_server(plan: Plan, ready: _Ready, jobs: Jobs, keeper: Keeper, counts: Counts) -> str | None:
    asking = _Asking(plan, ready, jobs, keeper, counts)
    left = iter(jobs)
    stopped = None
    while asking.budget.unknown and stopped is None:  # under a cap one by one, until one has told its cost
        first = list(islice(left, 1))
        if not first:
            break
        stopped = asking.go(first)
    if stopped is None and asking.budget.stopped is None:
        stopped = asking.go(left)
    jobs.settle()
    return stopped or asking.budget.stopped or counts.spent(keeper)


class _Asking:
    """Asks a server about jobs, and keeps what comes."""

    def __init__(self, plan: Plan, ready: _Ready, jobs: Jobs, keeper: Keeper, counts: Counts) -> None:
        self._plan, self._jobs, self._keeper, self._counts = plan, jobs, keeper, counts
        self._asker = ready.asker
        self.budget = Budget(plan.options.max_cost)

    def go(self, some: Iterable[Job]) -> str | None:
        """Ask about jobs; return why it stopped before they were done, or None."""
        from evh.llm.crowd import Crowd
        from evh.llm.pace import Pace

        crowd: Crowd[Job, Asked] = Crowd(
            server_of(self._plan),
            self._ask,
            judge=lambda asked: asked.server,
            pace=Pace(self._plan.labeler.concurrency),
            may_send=self._counts.may_send,
        )
        for one in crowd.run(self._allowed(some), idle=self._idle):
            self._counts.saw(one.found)
            if self._keeper.due:
                self._idle()
        return crowd.stopped

    async def _ask(self, client: Client, job: Job) -> Asked:
        """Ask about a job and keep what comes before the next is begun: a kill costs what is in flight."""
        asked = await self._asker.ask(client, job)
        self._keeper.keep(job, asked)
        self._jobs.settle()
        costs = [one.cost_usd for one in asked.readings if one.cost_usd is not None]
        answered = any(one.raw is not None for one in asked.readings)
        self.budget.ended(sum(costs) if costs else None, answered=answered)
        return asked

    def _allowed(self, some: Iterable[Job]) -> Iterator[Job]:
        for job in some:
            if self._counts.calls_spent or not self.budget.begin():
                return
            yield job

    def _idle(self) -> None:
        if self._keeper.flush():
            self._counts.tell(self._keeper)
