"""A worker of ``evh run --engine ray``: it opens the arm on its node, asks a batch, and writes its part.

The per-item function is `run_asking.Asking`, as in one process. The project lies on a file system that every
node sees under one path; a worker makes sure that the arm there is the one that the driver fingerprinted.
"""

from __future__ import annotations

import base64
import json
import os
import platform
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.acts import model_calls
from evh.acts.ray_parts import Parts, bad_part
from evh.acts.run_asking import Arm, Asking, warm_up
from evh.acts.run_budget import Budget
from evh.acts.run_keep import Answer
from evh.adapters import loader, providers
from evh.errors import Refusal
from evh.project import fingerprint, models
from evh.project.shelf import read_each
from evh.records.dataset import Item
from evh.records.run import dump_prediction, parse_prediction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evh.project.find import Project
    from evh.records.config import Config

COLUMNS = {"item_id": "text", "answer": "text"}
DEATHS = 5
"""How often a batch is begun: an item that kills each worker that asks it ends the run, and is told."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Work:
    """What every worker is given.

    Attributes:
        project: the project, its environment reduced to what says where it lies.
        config: the arm's config.
        adapter: the adapter's file, or a bundled one's name.
        expected: what the arm must be on the node, from `identity_of`.
        prices: US dollars a million tokens.
        dataset_id: the dataset, for messages.
        number: which of the repeats it is, from 1.
        concurrency: items asked at once on one worker; None leaves it to the provider.
        folder: where parts are written.
    """

    project: Project
    config: Config
    adapter: str
    expected: Mapping[str, Any]
    prices: Mapping[str, Any]
    dataset_id: str
    number: int
    concurrency: int | None
    folder: str


@dataclass(frozen=True, slots=True)
class Job:
    """An item, with its bytes."""

    item: Item
    data: bytes


def identity_of(arm: Arm, instrument: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes an arm's answers beside its config: it must be the same on every node."""
    return {"adapter": dict(instrument), "provider": dict(arm.provider.identity), "prices": dict(arm.prices)}


class _Given:
    """Texts that came with their items."""

    sound = True

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._texts = {job.item.item_id: job.data for job in jobs}

    def text(self, item: Item) -> bytes | None:
        return self._texts[item.item_id]


@dataclass(frozen=True, slots=True)
class _Opened:
    """An arm that is open in this process, for one run; ``warmup_ms`` is None where nothing warms up."""

    work: Work
    arm: Arm
    warmup_ms: float | None


_opened: list[_Opened] = []
"""The arm that this worker asked last: it is opened, and warms up, once a run and process."""


def ask_batch(row: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Ask about one batch on a worker, write its part, and return a receipt.

    A part that is there already is not asked again: an attempt before this one wrote it. The receipt holds
    the part's ``name``, ``n`` rows (−1: it was there), why it ``stopped``, why the node ``refused`` (a JSON
    list) and ``warmup_ms`` (−1: it did not warm up now).

    Args:
        row: ``name`` of the part, and ``jobs`` from `dump_jobs`.
        work: what every worker is given.
    """
    name = str(row["name"])
    receipt = {"name": name, "n": 0, "stopped": "", "refused": "[]", "warmup_ms": -1.0}
    parts = Parts(Path(work.folder), COLUMNS)
    if parts.is_there(name):
        return {**receipt, "n": -1}
    warmup_ms = None
    if not _opened or _opened[0].work != work:
        _opened.clear()
        problems: list[Refusal] = []
        for found in read_each([work], _open, problems):
            _opened.append(found)
            warmup_ms = found.warmup_ms
        if problems:
            reasons = [f"node {platform.node()}: {why}" for one in problems for why in one.why or (one.what,)]
            return {**receipt, "refused": json.dumps(reasons)}
    jobs = parse_jobs(str(row["jobs"]))
    if parts.begin(name) >= DEATHS:
        return {**receipt, "stopped": _deadly(jobs)}
    rows: list[dict[str, str]] = []

    def keep(item: Item, answer: Answer) -> None:
        rows.append(dump(item, answer))

    asking = Asking(_opened[0].arm, _Given(jobs), Budget(None), keep, number=work.number)
    for _ in asking.answers([job.item for job in jobs]):
        pass
    parts.write(name, rows)
    return {
        **receipt,
        "n": len(rows),
        "stopped": asking.stopped or "",
        "warmup_ms": -1.0 if warmup_ms is None else warmup_ms,
    }


def _deadly(jobs: Sequence[Job]) -> str:
    names = ", ".join(job.item.item_id for job in jobs[:SHOWN])
    more = f" and {len(jobs) - SHOWN} more" if len(jobs) > SHOWN else ""
    return f"{DEATHS} workers died, one after the other, while they asked {names}{more}"


def _open(work: Work) -> _Opened:
    """Open the arm on this node, and let it warm up.

    Raises:
        Refusal: the project is not here, the adapter does not load, the key's variable is not set here; or it
            is another arm than the driver's.
    """
    project = replace(work.project, environ={**os.environ, **work.project.environ})
    if not project.data.is_dir():
        raise Refusal("no-project", "the project is not here", why=[f"{project.data}: no such folder"])
    config = work.config
    adapter = loader.load(project, work.adapter)
    if model_calls.is_model(project, config):
        record = models.read(project, config.model_record) if config.model_record else None
        model = model_calls.open_model(project, config, record)
        arm = Arm(model, work.dataset_id, model.prices, work.concurrency)
        found = identity_of(arm, {})
    else:
        provider = providers.open_provider(project, config, adapter)
        arm = Arm(provider, work.dataset_id, work.prices, work.concurrency)
        found = identity_of(arm, adapter.instrument)
    differ = fingerprint.compared(work.expected, found, tuple(work.expected))
    if differ:
        why = [f"{one.key}: {one.one!r} is expected, and here it is {one.other!r}" for one in differ]
        raise Refusal("other-arm", "it is another arm here", why=why)
    return _Opened(work, arm, warm_up(config, adapter))


# --- what travels, and a part's rows


def dump_jobs(jobs: Iterable[Job]) -> str:
    """Return jobs as they travel to a worker."""
    return json.dumps(
        [{**asdict(job.item), "data": base64.b64encode(job.data).decode("ascii")} for job in jobs]
    )


def parse_jobs(text: str) -> list[Job]:
    """Return the jobs that `dump_jobs` wrote."""
    return [
        Job(Item(**one), base64.b64decode(data)) for one in json.loads(text) for data in [one.pop("data")]
    ]


def dump(item: Item, answer: Answer) -> dict[str, str]:
    """Return an item's row of a part."""
    told = {"row": dump_prediction(answer.row), "output": answer.output, "may_pass": answer.may_pass}
    return {"item_id": item.item_id, "answer": json.dumps(told)}


def parse(text: str, place: str) -> Answer:
    """Return the answer that a row of a part holds.

    Raises:
        Refusal: no worker wrote it.
    """
    try:
        told = json.loads(text)
        return Answer(parse_prediction(told["row"], place), told["output"], told["may_pass"])
    except (ValueError, TypeError, KeyError) as error:
        raise bad_part(place, [f"{place}: {error}"]) from error
