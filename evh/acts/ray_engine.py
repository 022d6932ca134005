"""``--engine ray``: the labeler's jobs mapped over a cluster by Ray Data, merged by the journal's own rules.

The per-item function is `evidence_ask.Asker`, as in one process. A worker asks a batch and writes what came
as one Parquet part, named by the hash of the batch's keys: a batch that is begun again after a worker died
writes the same part, or finds it there and asks nothing. The driver alone appends to the journal: one label a
content. A part is removed once its rows are flushed; what a killed driver left is merged by the next run of
this engine before anything is asked. The parts lie in ``.cache/ray/``, which every node must see under the
same path.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import logging
import os
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evh.acts.evidence_ask import Asked, Asker, Job
from evh.acts.evidence_settings import TABLE
from evh.errors import Refusal
from evh.llm.verdict import Verdict
from evh.records import evidence as record
from evh.store import atomic, parquet
from evh.store.hashing import sha256_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evh.acts.evidence_jobs import Jobs
    from evh.acts.evidence_keep import Keeper
    from evh.acts.evidence_run import Counts
    from evh.acts.evidence_settings import Options
    from evh.acts.label_evidence import Plan
    from evh.project.find import Project

BATCH = 32
"""How many jobs a worker asks about before it writes a part: so many may be asked again when it is killed."""
WINDOW = 64
"""How many batches are with the cluster at once."""
WINDOW_CHARACTERS = 64_000_000
IN_FLIGHT = 16
"""Requests in flight on one worker, where ``--concurrency`` says nothing."""
COLUMNS = {"key": "text", "readings": "text", "verdict": "text", "says": "text"}


@dataclass(frozen=True, slots=True)
class Work:
    """What every worker is given.

    Attributes:
        asker: asks; it holds no key.
        key_env: the variable that holds the key on each node; None without one. The key itself never travels.
        folder: where parts are written.
        in_flight: requests at once on one worker.
    """

    asker: Asker
    key_env: str | None
    folder: str
    in_flight: int


def check(options: Options) -> None:
    """Refuse what this engine cannot do, before anything is asked.

    Raises:
        Refusal: Ray is not installed; a cap that would need one count over the whole cluster.
    """
    if importlib.util.find_spec("ray") is None:
        raise Refusal(
            "no-ray",
            "--engine ray needs Ray",
            why=["ray: it is not installed"],
            next="pip install 'evh[ray]'",
        )
    given = {"--max-calls": options.max_calls, "--max-cost": options.max_cost}
    reasons = [
        f"{name}: nobody counts over a whole cluster" for name, value in given.items() if value is not None
    ]
    if reasons:
        raise Refusal(
            "bad-options",
            "--engine ray keeps no cap on calls or cost",
            why=reasons,
            next="leave --engine ray out, or ask in portions: --limit N",
        )


def parts_folder(project: Project, plan: Plan) -> Path:
    """Return where the parts of a journal lie until they are merged."""
    return project.cache / "ray" / plan.at.log / plan.at.stem


def ask(
    project: Project, plan: Plan, asker: Asker, *, jobs: Jobs, keeper: Keeper, counts: Counts
) -> str | None:
    """Ask a cluster about all jobs and keep what comes; return why it stopped before the end, or None.

    The cluster is the one that ``RAY_ADDRESS`` names or that runs here; else one is started for this run.

    Raises:
        Refusal: the cluster gives up, or a worker's part is not where the driver looks. What came is kept.
    """
    folder = parts_folder(project, plan)
    atomic.make_folder(project.writable(folder))
    work = work_of(project, plan, asker, folder)
    merge = _Merge(folder, jobs, keeper, counts)
    windows = _windows(merge.left_over(jobs))
    stopped = None
    with _Cluster() as cluster:
        for window in windows:
            for receipt in cluster.map(window, work):
                merge.part(receipt["name"], window[receipt["name"]], n=receipt["n"])
                stopped = stopped or receipt["stopped"] or None
                if stopped:
                    break
            if stopped:
                merge.rest(window)
                break
    merge.end()
    return stopped


def work_of(project: Project, plan: Plan, asker: Asker, folder: Path) -> Work:
    """Return what every worker is given: the asker without its key, and where it finds the key."""
    return Work(
        replace(asker, labeler=replace(asker.labeler, key=None)),
        _key_env(project) if plan.labeler.key else None,
        str(folder.resolve()),
        plan.labeler.concurrency or IN_FLIGHT,
    )


def ask_batch(row: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Ask about one batch on a worker, write its part, and return a receipt.

    A part that is there already is not asked again: an attempt before this one wrote it.

    Args:
        row: ``name`` of the part, and ``jobs`` as JSON.
        work: what every worker is given.
    """
    name = str(row["name"])
    path = Path(work.folder) / f"{name}.parquet"
    if path.is_file():
        return {"name": name, "n": -1, "stopped": ""}
    jobs = [Job(**each) for each in json.loads(str(row["jobs"]))]
    found, stopped = _asked(jobs, work)
    rows = [dump(job, asked) for job, asked in found if not asked.stopped]
    if rows:
        atomic.make_folder(path.parent)
        atomic.write_parts(path, parquet.dump_stream([rows], COLUMNS))
    return {"name": name, "n": len(rows), "stopped": stopped or ""}


def _asked(jobs: list[Job], work: Work) -> tuple[list[tuple[Job, Asked]], str | None]:
    if not work.asker.labeler.asks_server:
        return [(job, work.asker.overlap(job)) for job in jobs], None
    from evh.llm.client import Server
    from evh.llm.crowd import Crowd
    from evh.llm.pace import Pace

    key = os.environ.get(work.key_env, "").strip() if work.key_env else None
    if work.key_env and not key:
        return [], f"{work.key_env} is not set on a node of the cluster"
    crowd: Crowd[Job, Asked] = Crowd(
        Server(work.asker.labeler.base_url, key),
        work.asker.ask,
        judge=lambda asked: asked.server,
        pace=Pace(work.in_flight),
    )
    found = [(one.job, one.found) for one in crowd.run(jobs)]
    return found, crowd.stopped


# --- a part's rows


def key_of(job: Job) -> str:
    """Return what tells a reading from every other, over all runs."""
    return f"{job.chunk_sha} {job.k} {job.prior} {job.probe_id}"


def dump(job: Job, asked: Asked) -> dict[str, Any]:
    """Return a job's row of a part."""
    return {
        "key": key_of(job),
        "readings": json.dumps([record.dump_reading(one) for one in asked.readings]),
        "verdict": json.dumps(asdict(asked.verdict)),
        "says": json.dumps(asked.says),
    }


def parse(row: Mapping[str, Any], place: str) -> Asked:
    """Return what came of a job, as a part's row says; what it told of the server is not in it."""
    reasons: list[str] = []
    readings = tuple(record.parse_reading(one, place, reasons) for one in json.loads(row["readings"]))
    if reasons:
        raise _bad(place, reasons)
    return Asked(readings, Verdict(**json.loads(row["verdict"])), json.loads(row["says"]))


def _bad(place: str, reasons: list[str]) -> Refusal:
    return Refusal(
        "bad-part",
        f"{place} is not a part that evh wrote",
        why=reasons,
        next=f"remove {place}: it is asked again",
    )


class _Merge:
    """Merges parts into the journal: each key once, and a part goes when its rows are flushed."""

    def __init__(self, folder: Path, jobs: Jobs, keeper: Keeper, counts: Counts) -> None:
        self._folder, self._jobs, self._keeper, self._counts = folder, jobs, keeper, counts
        self._found = sorted(folder.glob("*.parquet"))
        self._waiting: list[Path] = []

    def left_over(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Keep what the parts of a killed run say, and yield the jobs that none of them is about."""
        held = {key: asked for path in self._found for key, asked in self._rows(path)}
        for job in jobs:
            asked = held.pop(key_of(job), None)
            if asked is None:
                yield job
            else:
                self._keep(job, asked)

    def part(self, name: str, jobs: Mapping[str, Job], *, n: int) -> None:
        """Keep what one part says."""
        path = self._folder / f"{name}.parquet"
        if n == 0:
            return
        if not path.is_file():
            raise Refusal(
                "part-not-there",
                "a worker wrote a part that is not here",
                why=[f"{path}: no such file: the nodes do not see one folder under this path"],
                next="put the project on a file system that every node mounts",
            )
        for key, asked in self._rows(path):
            if key in jobs:
                self._keep(jobs[key], asked)
        self._waiting.append(path)
        if self._keeper.flush():
            self._counts.tell(self._keeper)
        self._drop(self._waiting)

    def rest(self, window: Mapping[str, Mapping[str, Job]]) -> None:
        """Keep what the other parts of a window say that are there already."""
        for name, batch in window.items():
            if (self._folder / f"{name}.parquet").is_file():
                self.part(name, batch, n=-1)

    def end(self) -> None:
        """Flush, and remove what is merged."""
        self._jobs.settle()
        self._keeper.flush()
        self._drop([*self._waiting, *(path for path in self._found if path.is_file())])

    def _keep(self, job: Job, asked: Asked) -> None:
        self._counts.saw(asked)
        self._counts.calls += sum(one.tries for one in asked.readings if self._counts.asks_server)
        self._keeper.keep(job, asked)
        if self._keeper.due and self._keeper.flush():
            self._counts.tell(self._keeper)
        self._jobs.settle()

    def _rows(self, path: Path) -> Iterator[tuple[str, Asked]]:
        for row in parquet.stream_rows(path, COLUMNS):
            yield row["key"], parse(row, str(path))

    def _drop(self, paths: list[Path]) -> None:
        for path in paths:
            atomic.remove(path)
        self._waiting.clear()


def _windows(jobs: Iterable[Job]) -> Iterator[dict[str, dict[str, Job]]]:
    """Yield batches by the name of their part, as many at a time as the cluster is given at once."""
    window: dict[str, dict[str, Job]] = {}
    batch: dict[str, Job] = {}
    characters = 0
    for job in jobs:
        batch[key_of(job)] = job
        characters += len(job.text)
        if len(batch) == BATCH or characters >= WINDOW_CHARACTERS:
            window[sha256_lines(batch)] = batch
            batch = {}
        if len(window) == WINDOW or characters >= WINDOW_CHARACTERS:
            yield window
            window, characters = {}, 0
    if batch:
        window[sha256_lines(batch)] = batch
    if window:
        yield window


def _key_env(project: Project) -> str | None:
    raw = project.settings.extra.get(TABLE)
    name = raw.get("api_key_env") if isinstance(raw, dict) else None
    return name if isinstance(name, str) else None


class _Cluster:
    """Ray, joined or started. A context manager; leaving it leaves a cluster that it joined as it was."""

    def __enter__(self) -> Self:
        """Join the cluster, or start one on this machine."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
        with contextlib.ExitStack() as stack:
            # Ray prints what its processes say: stdout is the command's own, a JSON document perhaps.
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            self._ray: Any = importlib.import_module("ray")
            self._data: Any = importlib.import_module("ray.data")
            if not self._ray.is_initialized():
                self._guard(lambda: self._ray.init(log_to_driver=False, logging_level=logging.ERROR))
                stack.callback(self._ray.shutdown)
            logging.getLogger("ray.data").setLevel(logging.ERROR)
            self._data.DataContext.get_current().enable_progress_bars = False
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it."""
        self._stack.close()

    def map(self, window: Mapping[str, Mapping[str, Job]], work: Work) -> Iterator[dict[str, Any]]:
        """Give each batch's receipt, in the order in which they come."""
        rows = [
            {"name": name, "jobs": json.dumps([asdict(job) for job in batch.values()])}
            for name, batch in window.items()
        ]
        made = self._data.from_items(rows, override_num_blocks=len(rows)).map(
            ask_batch, fn_kwargs={"work": work}
        )  # a task whose worker dies is begun again, by Ray Data's own default as often as it takes
        receipts = iter(made.iter_rows())
        while (one := self._guard(lambda: next(receipts, None))) is not None:
            yield dict(one)

    def _guard(self, step: Any) -> Any:  # noqa: ANN401 - whatever Ray gives
        try:
            return step()
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            told = str(error).strip().splitlines() or [type(error).__name__]
            raise Refusal(
                "cluster-gave-up",
                "the Ray cluster gave up",
                why=[told[-1][:500]],
                next="run the same command again: what was labelled is kept",
            ) from error
