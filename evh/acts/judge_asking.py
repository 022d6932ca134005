"""Asking judges: a model server with many questions at once, anything else one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts import scoring
from evh.acts.judge_prompt import mark_for
from evh.acts.judge_verdict import Said, Unread, dump, read
from evh.acts.model_calls import ModelCalls
from evh.adapters.providers import priced
from evh.llm.reply import Failure, Reply
from evh.records.dataset import Item
from evh.records.shape import without_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evh.acts.judge_plan import Asker, Plan
    from evh.acts.judge_units import Unit
    from evh.acts.run_budget import Budget
    from evh.llm.client import Client
    from evh.llm.crowd import Crowd

READINGS = 2
"""How often a reply without a verdict is asked for: once more, with another seed."""
OTHER_SEED = 1_000_003
RAW = 20_000
"""The longest reply that is kept."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A question, and the row that says what came of it."""

    unit: Unit
    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Spent:
    """What the replies to one question took together; None is not known."""

    tokens_in: float | None = None
    tokens_out: float | None = None
    cost_usd: float | None = None
    readings: int = 0

    def and_(self, tokens_in: float | None, tokens_out: float | None, cost_usd: float | None) -> _Spent:
        return _Spent(
            _plus(self.tokens_in, tokens_in),
            _plus(self.tokens_out, tokens_out),
            _plus(self.cost_usd, cost_usd),
            self.readings + 1,
        )


class Asking:
    """Asks the questions of a pass that have no verdict yet.

    Args:
        plan: the pass.
        budget: says whether one more may be asked.
        idle: called, where the verdicts are taken, when none has come for a while.

    Attributes:
        stopped: why not every question was asked, or None.
    """

    def __init__(self, plan: Plan, budget: Budget, *, idle: Callable[[], None] = lambda: None) -> None:
        self._plan, self._budget, self._idle = plan, budget, idle
        self._stopped: str | None = None
        self._items = plan.dataset.by_id

    @property
    def stopped(self) -> str | None:
        """Why not every question was asked, or None."""
        return self._stopped or self._budget.stopped

    def verdicts(self, units: Sequence[Unit]) -> Iterator[Heard]:
        """Yield each question with what came of it, judge after judge, in the order in which they come.

        Under a cap on the cost the first is asked alone, until a reply has told what one costs.
        """
        for name, asker in self._plan.askers.items():
            left = [unit for unit in units if unit.judge == name]
            ask = self._of_model if isinstance(asker.provider, ModelCalls) else self._of_provider
            while left and self._budget.unknown and self.stopped is None:
                yield from ask(asker, left[:1])
                left = left[1:]
            if left and self.stopped is None:
                yield from ask(asker, left)
            if self.stopped is not None:
                return

    def prompt(self, unit: Unit) -> str:
        """Return what a question says."""
        plan = self._plan
        text = plan.texts[unit.item_id]
        outputs = [plan.outputs[sha] for sha in unit.shown]
        mark = mark_for(plan.salt, unit.key, [text, plan.question.rubric, *outputs])
        return plan.question.ask(text, outputs, mark)

    # --- a model server

    def _of_model(self, asker: Asker, units: Sequence[Unit]) -> Iterator[Heard]:
        from evh.llm.crowd import Crowd
        from evh.llm.pace import Pace

        calls = asker.provider
        if not isinstance(calls, ModelCalls):  # pragma: no cover - it was asked above
            raise TypeError

        async def ask(client: Client, unit: Unit) -> tuple[Reply | Failure, Heard]:
            prompt = self.prompt(unit)
            spent = _Spent()
            while True:
                body = calls.body(prompt, {}, unit.number)
                if spent.readings and isinstance(body.get("seed"), int):
                    body["seed"] += OTHER_SEED * spent.readings
                reply = await client.ask(body)
                row = calls.answer_of(Item(unit.item_id, ""), reply).row
                spent = spent.and_(row.tokens_in, row.tokens_out, row.cost_usd)
                said = self._said(unit, reply)
                again = isinstance(said, Unread) and (
                    isinstance(reply, Reply) or reply.kind in ("empty", "unfinished")
                )
                if not again or spent.readings >= READINGS:
                    break
            self._budget.ended(spent.cost_usd, answered=isinstance(reply, Reply))
            return reply, Heard(unit, self._row(unit, said, spent, reply))

        crowd: Crowd[Unit, tuple[Reply | Failure, Heard]] = Crowd(
            calls.server, ask, judge=lambda found: found[0], pace=Pace(self._plan.concurrency)
        )
        for one in crowd.run(self._allowed(iter(units)), idle=self._idle):
            yield one.found[1]
        self._stopped = self._stopped or crowd.stopped

    def _said(self, unit: Unit, reply: Reply | Failure) -> Said | Unread:
        if isinstance(reply, Failure):
            return Unread(reply.kind, reply.says)
        said = read(reply.text, self._plan.judge, len(unit.shown))
        if isinstance(said, Unread) and reply.finish_reason == "length":
            return Unread("unfinished", "the reply ended at max_tokens before it gave a verdict")
        return said

    # --- everything else

    def _of_provider(self, asker: Asker, units: Sequence[Unit]) -> Iterator[Heard]:
        provider = asker.provider
        for unit in self._allowed(iter(units)):
            place = f"{self._plan.dataset.dataset_id}/{unit.item_id}"
            item = self._items[unit.item_id]
            data = self.prompt(unit).encode()
            result, error = scoring.attempt(lambda: provider.answer(item, data, place), place)  # noqa: B023
            if result is None:
                self._budget.ended(None, answered=False)
                yield Heard(unit, self._row(unit, Unread("failed", error or ""), _Spent(readings=1), None))
                continue
            spent = _Spent().and_(result.tokens_in, result.tokens_out, priced(result, asker.prices))
            self._budget.ended(spent.cost_usd, answered=True)
            said = read(result.output, self._plan.judge, len(unit.shown))
            heard = self._row(unit, said, spent, None)
            yield Heard(unit, {**heard, "raw": result.output[:RAW]})

    def _allowed(self, units: Iterator[Unit]) -> Iterator[Unit]:
        for unit in units:
            if not self._budget.begin():
                return
            yield unit

    def _row(
        self, unit: Unit, said: Said | Unread, spent: _Spent, reply: Reply | Failure | None
    ) -> dict[str, Any]:
        plan = self._plan
        made: dict[str, Any] = {
            "key": unit.key,
            "judge": unit.judge,
            "item_id": unit.item_id,
            "item_sha256": self._items[unit.item_id].sha256,
            "shown": list(unit.shown),
            "number": unit.number,
            "rubric_sha256": plan.rubric_sha256,
            "readings": spent.readings,
        }
        more: dict[str, Any] = {
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "cost_usd": spent.cost_usd,
        }
        if isinstance(reply, Reply):
            more |= {"raw": reply.text[:RAW], "model": reply.model, "latency_ms": reply.latency_ms}
        if isinstance(said, Said):
            more |= {"said": dump(said), "why": said.why or None}
        else:
            more["error"] = f"{said.kind}: {said.says}"
        return {**made, **without_empty(more)}


def _plus(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else one + other
