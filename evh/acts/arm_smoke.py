"""One cheap call of an arm: does it answer at all, in how long, at what price. Recorded with its model."""

from __future__ import annotations

import asyncio
import itertools
import re
import shlex
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.acts import misspelt, model_calls, model_prompt, model_record, scoring
from evh.acts.run_keep import Answer
from evh.adapters import loader, providers
from evh.adapters.providers import text_of
from evh.errors import Refusal
from evh.project import configs, datasets, models
from evh.project.shelf import missing, read_each
from evh.records.model import Model
from evh.records.run import Prediction
from evh.records.shape import without_empty

if TYPE_CHECKING:
    from evh.adapters.providers import Provider
    from evh.llm.reply import Failure, Reply
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Dataset, Item


_ID_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Plan:
    """The one item that would be asked, and the model record that the call goes into, or None."""

    config: Config
    dataset: Dataset
    item: Item
    provider: Provider | model_calls.ModelCalls
    prices: dict[str, Any]
    record: str | None
    new_record: bool
    notes: tuple[str, ...] = ()

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        said = [f"ask {self.config.config_id} about {self.dataset.dataset_id}/{self.item.item_id}, once"]
        if self.record:
            verb = "write" if self.new_record else "add the call to"
            said.append(f"{verb} data/models/{self.record}.json")
        return said


@dataclass(frozen=True, slots=True)
class Smoke:
    """What came of the call: its answer, and what the model record now holds of it."""

    answer: Answer
    recorded: dict[str, Any]
    record: str | None
    way: RecordWay | None = None


@dataclass(frozen=True, slots=True)
class RecordWay:
    """How what an unrecorded call showed of its model is kept.

    ``command`` writes a model record of it, or is None: ``model_id`` is there already, and is of this model.
    ``config`` is the file in which the arm then names it.
    """

    model_id: str
    command: str | None
    config: str


def plan(
    project: Project, config: Config, *, dataset_id: str | None = None, item_id: str | None = None
) -> Plan:
    """Return which item would be asked.

    Args:
        project: the project.
        config: the arm.
        dataset_id: the dataset; the config's own by default.
        item_id: the item; the shortest by default, for its call is the cheapest.

    Raises:
        Refusal: every reason why the arm cannot be asked; a recorded arm calls nothing.
    """
    misspelt.refuse(project, config)
    if config.recorded:
        raise Refusal(
            "nothing-called",
            f"{config.config_id} calls nothing: it replays what production recorded",
            next=f"evh run --config {config.config_id}",
        )
    wanted = dataset_id or config.dataset_id
    if not wanted:
        raise Refusal(
            "no-dataset",
            f"about which dataset's item should {config.config_id!r} be asked?",
            why=[f"{config.config_id}: dataset_id: is missing, and no --dataset-id was given"],
            next=f"evh arm-smoke --config {config.config_id} --dataset-id DATASET",
        )
    asks_model = model_calls.is_model(project, config)
    name = config.model_record
    known = models.read(project, name) if name and models.exists(project, name) else None
    problems: list[Refusal] = []
    dataset = next(iter(read_each([wanted], lambda one: datasets.read(project, one), problems)), None)
    item = next(
        iter(read_each([dataset] if dataset else [], lambda one: _item(project, one, item_id), problems)),
        None,
    )
    opened = next(iter(read_each([None], lambda _: _opened(project, config, known), problems)), None)
    if dataset and item and isinstance(opened, model_calls.ModelCalls):
        lacking = model_prompt.lacking(opened.prompt, dataset, [item])
        if lacking:
            problems.append(
                Refusal("lacking-fields", "the prompt names fields that the item lacks", why=lacking)
            )
    if len(problems) == 1:
        raise problems[0]
    if problems or dataset is None or item is None or opened is None:
        raise Refusal(
            "cannot-ask",
            f"{config.config_id} cannot be asked",
            why=[f"{one.what}: {reason}" for one in problems for reason in one.why or ("",)],
            next="; ".join(dict.fromkeys(one.next for one in problems if one.next)) or None,
        )
    notes = list(opened.notes) if isinstance(opened, model_calls.ModelCalls) else []
    if name is None and asks_model:
        notes.append(f"{config.config_id} names no model_record: what is seen is told, and not recorded")
    return Plan(
        config=config,
        dataset=dataset,
        item=item,
        provider=opened,
        prices=model_calls.prices_of(config, known),
        record=name,
        new_record=known is None,
        notes=tuple(notes),
    )


def commit(project: Project, plan: Plan) -> Smoke:
    """Make the call, with no second try, and add it to the model record; where there is none, make it.

    An arm that names no record keeps nothing: what answered, under which name and build, is then told with
    the command that writes a record of it.
    """
    data = datasets.texts(project, plan.dataset, [plan.item])[plan.item.item_id]
    answer = _asked(plan, data)
    row = answer.row
    meta = row.hidden.get("_meta")
    told = meta if isinstance(meta, dict) else {}
    recorded = without_empty(
        {
            "at": project.stamp(),
            "config_id": plan.config.config_id,
            "dataset_id": plan.dataset.dataset_id,
            "item_id": row.item_id,
            "ok": answer.output is not None,
            "error": row.error,
            "model": told.get("model"),
            "system_fingerprint": told.get("system_fingerprint"),
            "finish_reason": told.get("finish_reason"),
            "latency_ms": row.latency_ms,
            "tokens_in": row.tokens_in,
            "tokens_out": row.tokens_out,
            "cost_usd": row.cost_usd,
        }
    )
    if plan.record is not None:
        name = plan.record
        models.update(project, name, lambda before: _with(project, name, plan, before, recorded))
    return Smoke(answer, recorded, plan.record, _way(project, plan, recorded))


def _way(project: Project, plan: Plan, recorded: dict[str, Any]) -> RecordWay | None:
    """Return how a call that no record took can be kept; None where one did, or no model answered."""
    if plan.record is not None or not recorded["ok"] or not isinstance(plan.provider, model_calls.ModelCalls):
        return None
    name = plan.provider.model
    config = project.show(configs.path_of(project, plan.config.config_id))
    here = {one.model_id: one.name for one in models.read_all(project, [])}
    known = next((one for one, upstream in here.items() if upstream == name), None)
    if known is not None:
        return RecordWay(known, None, config)
    base = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:_ID_LENGTH] or plan.config.config_id
    tries = itertools.chain([base], (f"{base}-{number}" for number in itertools.count(2)))
    model_id = next(one for one in tries if one not in here and not models.exists(project, one))
    build = {
        "tag": recorded.get("model") if recorded.get("model") != name else None,
        "system_fingerprint": recorded.get("system_fingerprint"),
    }
    words = ["evh", "model-record", "--model", model_id, "--upstream", name]
    for key, value in build.items():
        if isinstance(value, str) and value and value.isprintable() and len(value) <= _ID_LENGTH:
            words += ["--deployment", f"{key}={value}"]
    for short, key in model_record.SHORT.items():
        if plan.prices.get(key) is not None:
            words += ["--price", f"{short}={plan.prices[key]}"]
    return RecordWay(model_id, shlex.join(words), config)


def _with(project: Project, name: str, plan: Plan, before: Model | None, recorded: dict[str, Any]) -> Model:
    if before is None:
        upstream = (
            plan.provider.model if isinstance(plan.provider, model_calls.ModelCalls) else plan.config.model
        )
        before = Model(name, upstream=upstream or name, created_at=project.stamp())
    return replace(before, smokes=(*before.smokes, recorded))


def _opened(project: Project, config: Config, known: Model | None) -> Provider | model_calls.ModelCalls:
    if model_calls.is_model(project, config):
        return model_calls.open_model(project, config, known)
    beside = configs.path_of(project, config.config_id).parent
    return providers.open_provider(project, config, loader.load(project, config.adapter, beside=beside))


def _item(project: Project, dataset: Dataset, item_id: str | None) -> Item:
    if not dataset.items:
        raise Refusal("no-items", f"the dataset {dataset.dataset_id} has no items")
    if item_id is not None:
        if item_id not in dataset.by_id:
            raise missing(
                "item", item_id, dataset.by_id, next=f"evh dataset-items --dataset-id {dataset.dataset_id}"
            )
        return dataset.by_id[item_id]
    texts = datasets.texts(project, dataset)
    return min(dataset.items, key=lambda item: len(texts[item.item_id]))


def _asked(plan: Plan, data: bytes) -> Answer:
    place, item = f"{plan.dataset.dataset_id}/{plan.item.item_id}", plan.item
    provider = plan.provider
    if isinstance(provider, model_calls.ModelCalls):
        text, error = scoring.attempt(lambda: text_of(data, place), place)
        if text is None:
            return Answer(Prediction(item.item_id, error=error))
        return provider.answer_of(item, asyncio.run(_once(provider, provider.body(text, item.fields))))
    began = time.perf_counter()
    result, error = scoring.attempt(lambda: provider.answer(item, data, place), place)
    taken = round((time.perf_counter() - began) * 1000, 3) if provider.timed else None
    if result is None:
        return Answer(Prediction(item.item_id, latency_ms=taken, error=error))
    row = Prediction(
        item.item_id,
        latency_ms=taken if result.latency_ms is None else result.latency_ms,
        tokens_in=result.tokens_in,
        tokens_out=result.tokens_out,
        cost_usd=providers.priced(result, plan.prices),
    )
    return Answer(row, result.output)


async def _once(provider: model_calls.ModelCalls, body: dict[str, Any]) -> Reply | Failure:
    from evh.llm.client import Client, carrier

    shared = carrier(provider.server)
    try:
        async with Client(provider.server, shared, stopped=lambda: True) as client:
            return await client.ask(body)
    finally:
        if shared is not None:
            await shared.aclose()
