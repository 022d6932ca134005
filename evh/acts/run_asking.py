"""Asking the items of a run: one after the other, by threads, or all at once of a model server."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evh.acts import scoring
from evh.acts.model_calls import ModelCalls
from evh.acts.run_keep import FLUSH_S, Answer
from evh.adapters.providers import priced, text_of
from evh.records.run import Prediction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evh.acts.run_budget import Budget
    from evh.adapters.hooks import Adapter
    from evh.adapters.providers import Provider
    from evh.llm.client import Client
    from evh.llm.crowd import Crowd
    from evh.llm.reply import Failure, Reply
    from evh.records.config import Config
    from evh.records.dataset import Item


@dataclass(frozen=True, slots=True)
class Answered:
    """An item, and what came of it."""

    item: Item
    answer: Answer


class Texts(Protocol):
    """What gives the bytes of items."""

    @property
    def sound(self) -> bool:
        """Whether every text that was read is the one recorded."""

    def text(self, item: Item) -> bytes | None:
        """Return an item's bytes, or None: they are not those recorded."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What answers the items of a run, in this process or on a worker of a cluster.

    Attributes:
        provider: what answers.
        dataset_id: the dataset, for messages.
        prices: US dollars a million tokens.
        concurrency: how many items are asked at once; None leaves it to the provider.
    """

    provider: Provider | ModelCalls
    dataset_id: str
    prices: Mapping[str, Any]
    concurrency: int | None = None


def warm_up(config: Config, adapter: Adapter) -> float | None:
    """Let an adapter that answers warm up; return how long it took in milliseconds, None without a hook."""
    if config.provider != "python" or not adapter.has("warmup"):
        return None
    started = time.perf_counter()
    adapter.warmup(config.params, config.config_id)
    return round((time.perf_counter() - started) * 1000, 3)


class Asking:
    """Asks the items of one run.

    Args:
        arm: what answers.
        texts: gives the items' bytes; as soon as one of them is found to be another one, no more is asked.
        budget: says whether one more may be asked.
        keep: keeps an answer. It is called before whoever asked takes the next item, for a model server on
            the event loop: what a kill can cost is what is in flight, and nothing else.
        number: which of the repeats it is, from 1.
        idle: called, where the answers are taken, when none has come for a while.

    Attributes:
        stopped: why not every item was asked, or None.
    """

    def __init__(
        self,
        arm: Arm,
        texts: Texts,
        budget: Budget,
        keep: Callable[[Item, Answer], None],
        *,
        number: int = 1,
        idle: Callable[[], None] = lambda: None,
    ) -> None:
        self._arm, self._texts, self._budget, self._keep = arm, texts, budget, keep
        self._number, self._idle = number, idle
        self._stopped: str | None = None

    @property
    def stopped(self) -> str | None:
        """Why not every item was asked, or None."""
        return self._stopped or self._budget.stopped

    def answers(self, items: Sequence[Item]) -> Iterator[Answered]:
        """Yield each item with its answer, which is kept, in the order in which they come.

        Under a cap on the cost the items are asked one by one until an answer has told what one costs.
        """
        ask = self._of_model if isinstance(self._arm.provider, ModelCalls) else self._of_provider
        left = list(items)
        while left and self._budget.unknown:
            for one in ask(left[:1]):
                yield one
                if one.answer.may_pass and self.stopped is None:
                    self._stopped = (
                        f"the first call failed, and what one costs is not known: {one.answer.row.error}"
                    )
            if self.stopped is not None or not self._texts.sound:
                return
            left = left[1:]
        if left:
            yield from ask(left)

    # --- a model server

    def _of_model(self, items: Sequence[Item]) -> Iterator[Answered]:
        from evh.llm.crowd import Crowd
        from evh.llm.pace import Pace

        model = self._arm.provider
        if not isinstance(model, ModelCalls):  # pragma: no cover - it was asked above
            raise TypeError

        async def ask(client: Client, job: _Job) -> _Found:
            text, answer = self._text(job)
            found = None
            if answer is None:
                found = await client.ask(model.body(text, job.item.fields, self._number))
                answer = model.answer_of(job.item, found)
            self._keep(job.item, answer)
            self._budget.ended(answer.row.cost_usd, answered=answer.output is not None)
            return _Found(found, answer)

        crowd: Crowd[_Job, _Found] = Crowd(
            model.server, ask, judge=lambda found: found.reply, pace=Pace(self._arm.concurrency)
        )
        for one in crowd.run(self._allowed(items), idle=self._idle):
            yield Answered(one.job.item, one.found.answer)
        self._stopped = self._stopped or crowd.stopped

    def _text(self, job: _Job) -> tuple[str, Answer | None]:
        """Return an item's text; where its bytes are none that can be sent, the failure that it is."""
        place = f"{self._arm.dataset_id}/{job.item.item_id}"
        text, error = scoring.attempt(lambda: text_of(job.data, place), place)
        if text is None:
            return "", Answer(Prediction(job.item.item_id, error=error))
        return text, None

    # --- everything else

    def _of_provider(self, items: Sequence[Item]) -> Iterator[Answered]:
        threads = self._arm.concurrency or self._arm.provider.threads
        if threads <= 1:
            for job in self._allowed(items):
                yield self._kept(self._ask(job))
            return
        from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

        pool = ThreadPoolExecutor(threads)
        going: dict[Future[Answered], _Job] = {}
        left = self._allowed(items)
        try:
            while True:
                while len(going) < threads and (begun := next(left, None)) is not None:
                    going[pool.submit(self._ask, begun)] = begun
                if not going:
                    return
                done, _ = wait(going, return_when=FIRST_COMPLETED, timeout=FLUSH_S)
                if not done:
                    self._idle()
                for future in done:
                    going.pop(future)
                    yield self._kept(future.result())
        finally:
            if going:
                self._arm.provider.stop()
            pool.shutdown(cancel_futures=True)

    def _ask(self, job: _Job) -> Answered:
        made = _asked(self._arm, job.item, job.data)
        self._budget.ended(made.row.cost_usd, answered=made.output is not None)
        return Answered(job.item, made)

    def _kept(self, one: Answered) -> Answered:
        self._keep(one.item, one.answer)
        return one

    def _allowed(self, items: Sequence[Item]) -> Iterator[_Job]:
        """Yield items with their bytes for as long as these are sound and the budget lets one more begin."""
        for item in items:
            data = self._texts.text(item) if self._texts.sound else None
            if data is None or not self._budget.begin():
                return
            yield _Job(item, data)


@dataclass(frozen=True, slots=True)
class _Job:
    item: Item
    data: bytes


@dataclass(frozen=True, slots=True)
class _Found:
    """The answer to an item, and what it says of the server; None where the server was not asked."""

    reply: Reply | Failure | None
    answer: Answer


def _asked(arm: Arm, item: Item, data: bytes) -> Answer:
    place = f"{arm.dataset_id}/{item.item_id}"
    started = time.perf_counter()
    result, error = scoring.attempt(lambda: arm.provider.answer(item, data, place), place)
    taken = round((time.perf_counter() - started) * 1000, 3) if arm.provider.timed else None
    if result is None:
        return Answer(Prediction(item.item_id, latency_ms=taken, error=error))
    hidden: dict[str, Any] = {}
    if result.extra:
        hidden[scoring.EXTRA] = dict(result.extra)
    if result.meta:
        hidden["_meta"] = dict(result.meta)
    row = Prediction(
        item.item_id,
        latency_ms=taken if result.latency_ms is None else result.latency_ms,
        tokens_in=result.tokens_in,
        tokens_out=result.tokens_out,
        cost_usd=priced(result, arm.prices),
        hidden=hidden,
    )
    return Answer(row, result.output)
