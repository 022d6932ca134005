"""Run an arm over a dataset: each output kept as it comes, scored at the end, resumable in between."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.acts import scoring
from evh.acts.run_plan import Plan, plan, settings_of
from evh.acts.scoring import EXTRA, OUTPUT_SHA
from evh.adapters.providers import priced
from evh.project import datasets, fingerprint, runs
from evh.records.run import Prediction, Run
from evh.store import atomic, parquet
from evh.store.locks import held
from evh.store.names import item_stems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Item

__all__ = ["Done", "Failed", "Plan", "commit", "plan"]

FLUSH_S = 1.0
"""At most this much of what was answered can be lost to a power cut; a kill loses nothing."""


@dataclass(frozen=True, slots=True)
class Failed:
    """One item that got no score because it failed, and why."""

    run_id: str
    item_id: str
    error: str


@dataclass(frozen=True, slots=True)
class Done:
    """What a command ran: its runs, the items that failed, and what a person should know."""

    runs: tuple[Run, ...]
    failed: tuple[Failed, ...] = ()
    notes: tuple[str, ...] = ()


def commit(project: Project, plan: Plan, *, progress: Callable[[int, int], None] | None = None) -> Done:
    """Run what was planned and return the finished runs.

    Args:
        project: the project.
        plan: from `plan`.
        progress: called with (items done, items) as answers come in.

    Raises:
        Refusal: the adapter's warm-up fails, the disk is full, another process holds the run. What was
            answered until then is kept, and ``--resume`` goes on from there.
    """
    made: list[Run] = []
    failed: list[Failed] = []
    notes = list(plan.notes)
    group = plan.resumed.repeat_group if plan.resumed else None
    for number in range(plan.first, plan.of + 1):
        run = plan.resumed if plan.resumed and not made else _begin(project, plan, number, group)
        group = run.repeat_group
        finished, rows, problems = _run(project, plan, run, progress)
        made.append(finished)
        failed += [Failed(finished.run_id, row.item_id, row.error) for row in rows if row.error is not None]
        notes += [f"{finished.run_id}: {problem}" for problem in problems]
    return Done(tuple(made), tuple(failed), tuple(notes))


def _begin(project: Project, plan: Plan, number: int, group: str | None) -> Run:
    run_id = runs.new_run_id(project, plan.config.config_id, folder=plan.folder)
    run = Run(
        run_id=run_id,
        config_id=plan.config.config_id,
        dataset_id=plan.dataset.dataset_id,
        folder=plan.folder,
        created_at=project.stamp(),
        adapter=plan.adapter.name,
        params=settings_of(plan),
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
            **({"limit": plan.limit} if plan.limit is not None else {}),
        },
    )
    runs.begin(project, run, {"repeat": {"number": number, "of": plan.of}})
    return run


def _run(
    project: Project, plan: Plan, run: Run, progress: Callable[[int, int], None] | None
) -> tuple[Run, tuple[Prediction, ...], tuple[str, ...]]:
    with held(project.locks, runs.rows_path(project, run), wait_s=0):
        warmup_ms = _warm_up(plan)
        data = datasets.texts(project, plan.dataset, list(plan.items))
        keeper = _Keeper(project, plan, run)
        for item, found in _answers(plan, keeper.waiting, data):
            keeper.keep(item, found)
            if progress:
                progress(len(keeper.rows), len(plan.items))
        keeper.flush()
        rows = [keeper.rows[item.item_id] for item in plan.items]
        scored = scoring.score(
            plan.adapter,
            rows,
            keeper.outputs,
            plan.target,
            place=plan.dataset.dataset_id,
            sources=data if plan.adapter.reads_source else None,
        )
        final = scored.rows
        if len(final) > parquet.ROWS_AS_TEXT:
            final = tuple(replace(row, output=keeper.outputs.get(row.item_id)) for row in final)
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
                    **({"problems": list(scored.problems)} if scored.problems else {}),
                },
            ),
            final,
        )
    return finished, final, scored.problems


class _Keeper:
    """Keeps each answer of one run as it comes, and knows what an earlier attempt kept.

    An answer is kept by two writes: its output's file, then its row, which names the file's hash. A row
    whose file is not that one is no answer, and the item is asked again.
    """

    def __init__(self, project: Project, plan: Plan, run: Run) -> None:
        self._project = project
        self._run = run
        self._stems = item_stems([item.item_id for item in plan.dataset.items])
        self._unflushed: list[Path] = []
        self._flushed_at = time.monotonic()
        self.rows: dict[str, Prediction] = {}
        self.outputs: dict[str, str] = {}
        for row in runs.running_rows(project, run):
            sha = row.hidden.get(OUTPUT_SHA)
            data = runs.kept_output(project, run, row.item_id) if sha else None
            text = data.decode("utf-8", "replace") if data is not None else None
            if text is not None and scoring.output_sha(text) == sha:
                self.rows[row.item_id], self.outputs[row.item_id] = row, text
        self.waiting = [item for item in plan.items if item.item_id not in self.rows]

    def keep(self, item: Item, found: _Answer) -> None:
        """Keep one answer: on the disk's way at once, flushed within `FLUSH_S`."""
        row = found.row
        if found.output is not None:
            text = found.output
            path = runs.keep_output(self._project, self._run, self._stems[item.item_id], text.encode())
            self._unflushed.append(path)
            self.outputs[item.item_id] = text
            row = replace(row, hidden={**row.hidden, OUTPUT_SHA: scoring.output_sha(text)})
        self.rows[item.item_id] = row
        runs.keep_rows(self._project, self._run, [row])
        if time.monotonic() - self._flushed_at >= FLUSH_S:
            self.flush()

    def flush(self) -> None:
        """Flush the outputs, then the rows that name them."""
        if self._unflushed:
            atomic.flush_files(self._unflushed)
        rows = runs.rows_path(self._project, self._run)
        if rows.exists():
            atomic.flush_files([rows])
        self._unflushed = []
        self._flushed_at = time.monotonic()


@dataclass(frozen=True, slots=True)
class _Answer:
    row: Prediction
    output: str | None


def _warm_up(plan: Plan) -> float | None:
    if plan.config.provider != "python" or not plan.adapter.has("warmup"):
        return None
    started = time.perf_counter()
    plan.adapter.warmup(plan.config.params, plan.config.config_id)
    return _milliseconds(started)


def _answers(plan: Plan, items: Sequence[Item], data: Mapping[str, bytes]) -> Iterator[tuple[Item, _Answer]]:
    """Yield each item with its answer, in the order in which they come."""
    if plan.threads <= 1:
        for item in items:
            yield item, _ask(plan, item, data[item.item_id])
        return
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

    pool = ThreadPoolExecutor(plan.threads)
    going: dict[Future[_Answer], Item] = {}
    left = iter(items)
    try:
        while True:
            for item in left:
                going[pool.submit(_ask, plan, item, data[item.item_id])] = item
                if len(going) >= plan.threads:
                    break
            if not going:
                return
            done, _ = wait(going, return_when=FIRST_COMPLETED)
            for future in done:
                yield going.pop(future), future.result()
    finally:
        if going:
            plan.provider.stop()
        pool.shutdown(cancel_futures=True)


def _ask(plan: Plan, item: Item, data: bytes) -> _Answer:
    place = f"{plan.dataset.dataset_id}/{item.item_id}"
    started = time.perf_counter()
    result, error = scoring.attempt(lambda: plan.provider.answer(item, data, place), place)
    taken = _milliseconds(started) if plan.provider.timed else None
    if result is None:
        return _Answer(Prediction(item.item_id, latency_ms=taken, error=error), None)
    hidden: dict[str, Any] = {}
    if result.extra:
        hidden[EXTRA] = dict(result.extra)
    if result.meta:
        hidden["_meta"] = dict(result.meta)
    row = Prediction(
        item.item_id,
        latency_ms=taken if result.latency_ms is None else result.latency_ms,
        tokens_in=result.tokens_in,
        tokens_out=result.tokens_out,
        cost_usd=priced(result, plan.config.params),
        hidden=hidden,
    )
    return _Answer(row, result.output)


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
