"""``evh run --engine ray``: the items of a run mapped over a cluster by Ray Data, merged into its journal.

The workers ask (`run_ray_worker`) and write what came as parts (`ray_parts`). The driver alone appends to
the run's journal, and removes a part once its rows are flushed. What a killed driver left is merged by
`left_over` when the run goes on, with this engine or without. No key travels: each node reads its variable.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evh.acts import model_calls, ray_cluster
from evh.acts.ray_parts import Parts
from evh.acts.run_asking import Answered, Arm
from evh.acts.run_ray_worker import COLUMNS, Job, Work, ask_batch, dump_jobs, identity_of, parse
from evh.errors import Refusal
from evh.project.find import OVERRIDES
from evh.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from evh.acts.ray_cluster import Cluster
    from evh.acts.run_asking import Texts
    from evh.acts.run_keep import Answer, Keeper
    from evh.acts.run_plan import Plan
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Item
    from evh.records.run import Prediction, Run

ROUNDS = 4
"""Batches that each worker gets at least, where there are items enough: none waits long for the last one."""
AGAIN = "run the same command with --resume: what was answered is kept, and nothing is asked twice"


def parts_of(project: Project, run: Run) -> Parts:
    """Return the parts of a run, which lie there until they are merged."""
    return Parts(project.cache / "ray" / "run" / run.folder / run.run_id, COLUMNS)


def left_over(project: Project, run: Run, keeper: Keeper) -> int:
    """Merge what the workers of a killed driver wrote, before anything is asked; return how many answers.

    An answer that is kept already stands. A failure that may pass is kept too; its item still waits.
    """
    parts = parts_of(project, run)
    found = parts.found()
    parts.clear()
    if not found:
        return 0
    waiting = {item.item_id: item for item in keeper.waiting}
    standing: list[Prediction] = []
    for path in found:
        for item_id, answer in _answers(parts, path):
            item = waiting.get(item_id)
            if item is None:
                continue
            if not answer.may_pass:
                standing.append(replace(answer.row, output=answer.output))
                del waiting[item_id]
            elif item_id not in keeper.passing:
                keeper.keep(item, answer)
    keeper.take_over(standing)
    parts.drop(found)
    return len(standing)


def forget(project: Project, run: Run) -> None:
    """Remove the folder of a finished run's parts."""
    folder = parts_of(project, run).folder
    if folder.is_dir():
        atomic.discard(folder)


def work_of(project: Project, plan: Plan, run: Run, number: int) -> Work:
    """Return what every worker is given: names and settings, and no key."""
    known = {key: value for key, value in project.environ.items() if key in OVERRIDES}
    asks_model = isinstance(plan.provider, model_calls.ModelCalls)
    return Work(
        project=replace(project, environ=known, notes=(), memory=None),
        config=plan.config,
        adapter=str(plan.adapter.path or plan.adapter.name),
        expected=identity_of(
            Arm(plan.provider, plan.dataset.dataset_id, plan.prices),
            {} if asks_model else plan.adapter.instrument,
        ),
        prices=plan.prices,
        dataset_id=plan.dataset.dataset_id,
        number=number,
        concurrency=plan.concurrency or (ray_cluster.IN_FLIGHT if asks_model else None),
        folder=str(parts_of(project, run).folder.resolve()),
    )


class ClusterAsking:
    """Asks the items of one run on a cluster; see `Asking`, which it stands in for.

    Args:
        project: the project.
        plan: the arm.
        run: the run.
        texts: gives the items' bytes.
        keep: keeps an answer.
        number: which of the repeats it is, from 1.
        flush: flushes what is kept: a part is removed after it.

    Attributes:
        stopped: why not every item was asked, or None.
        warmup_ms: how long the slowest worker's adapter took to warm up; None where none did.
    """

    def __init__(
        self,
        project: Project,
        plan: Plan,
        run: Run,
        texts: Texts,
        keep: Callable[[Item, Answer], None],
        *,
        number: int,
        flush: Callable[[], None],
    ) -> None:
        self._texts, self._keep, self._flush = texts, keep, flush
        self._work = work_of(project, plan, run, number)
        self._parts = parts_of(project, run)
        project.writable(self._parts.folder)
        self._threads = self._work.concurrency or plan.provider.threads
        self.stopped: str | None = None
        self.warmup_ms: float | None = None

    def answers(self, items: Sequence[Item]) -> Iterator[Answered]:
        """Yield each item with its answer, which is kept, part by part, in the order in which they come.

        Raises:
            Refusal: a node cannot ask for this arm, each reason told; the cluster gives up; a worker's part
                is not where the driver looks. What came is kept.
        """
        if not items:
            return
        with ray_cluster.Cluster(AGAIN) as cluster:
            size = batch_size(len(items), workers=cluster.workers, at_once=self._threads)
            windows = ray_cluster.windows(
                self._jobs(items), lambda job: job.item.item_id, lambda job: len(job.data), batch_size=size
            )
            for window in windows:
                refused: list[str] = []
                yield from self._window(cluster, window, refused)
                if refused:
                    raise _cannot_ask(self._work.config, refused)
                if self.stopped is not None:
                    return

    def _jobs(self, items: Sequence[Item]) -> Iterator[Job]:
        for item in items:
            data = self._texts.text(item) if self._texts.sound else None
            if data is None:
                return
            yield Job(item, data)

    def _window(
        self, cluster: Cluster, window: Mapping[str, Mapping[str, Job]], refused: list[str]
    ) -> Iterator[Answered]:
        left = dict(window)
        rows = [{"name": name, "jobs": dump_jobs(batch.values())} for name, batch in window.items()]
        for receipt in cluster.map(rows, ask_batch, self._work):
            name = str(receipt["name"])
            batch = left.pop(name)
            if receipt["n"]:
                yield from self._part(name, batch)
            self.stopped = receipt["stopped"] or None
            refused += json.loads(receipt["refused"])
            if receipt["warmup_ms"] >= 0:
                self.warmup_ms = max(self.warmup_ms or 0.0, receipt["warmup_ms"])
            if self.stopped or refused:
                break
        for name, batch in left.items():  # what other workers wrote until then
            if self._parts.is_there(name):
                yield from self._part(name, batch)

    def _part(self, name: str, batch: Mapping[str, Job]) -> Iterator[Answered]:
        path = self._parts.needed(name)
        for item_id, answer in _answers(self._parts, path):
            if item_id in batch:
                self._keep(batch[item_id].item, answer)
                yield Answered(batch[item_id].item, answer)
        self._flush()
        self._parts.drop([path])


def batch_size(n: int, *, workers: int, at_once: int) -> int:
    """Return how many items a worker is given at a time.

    Few enough that every worker gets several batches, and enough that it has ``at_once`` to ask.
    """
    most = max(ray_cluster.BATCH, 2 * at_once)
    return max(1, min(most, math.ceil(n / (workers * ROUNDS))))


def _cannot_ask(config: Config, reasons: Sequence[str]) -> Refusal:
    return Refusal(
        "node-cannot-ask",
        f"a node of the cluster cannot ask for the arm {config.config_id!r}",
        why=list(reasons),
        next="let every node see the project under the same path, with the same evh, libraries and key "
        f"variable; then {AGAIN}",
    )


def _answers(parts: Parts, path: Path) -> Iterator[tuple[str, Answer]]:
    for row in parts.rows(path):
        yield row["item_id"], parse(row["answer"], str(path))
