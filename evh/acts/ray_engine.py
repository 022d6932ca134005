"""``--engine ray``: the labeler's jobs mapped over a cluster by Ray Data, merged by the journal's own rules.

The per-item function is `evidence_ask.Asker`, as in one process. A worker asks a batch and writes what came
as one part (`ray_parts`). The driver alone appends to the journal: one label a content. A part is removed
once its rows are flushed; what a killed driver left is merged by the next run of this engine before anything
is asked. The parts lie in ``.cache/ray/``, which every node must see under the same path.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.acts import ray_cluster
from evh.acts.evidence_ask import Asked, Asker, Job
from evh.acts.evidence_settings import TABLE
from evh.acts.ray_parts import Parts, bad_part
from evh.errors import Refusal
from evh.llm.verdict import Verdict
from evh.records import evidence as record
from evh.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evh.acts.evidence_counts import Counts
    from evh.acts.evidence_jobs import Jobs
    from evh.acts.evidence_keep import Keeper
    from evh.acts.evidence_plan import Plan
    from evh.acts.evidence_settings import Options
    from evh.project.find import Project

COLUMNS = {"key": "text", "readings": "text", "verdict": "text", "says": "text"}
AGAIN = "run the same command again: what was labelled is kept"


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
    caps = ray_cluster.uncounted({"--max-calls": options.max_calls, "--max-cost": options.max_cost})
    missing = ray_cluster.not_installed()
    if caps:
        raise Refusal(
            "bad-options",
            "--engine ray keeps no cap on calls or cost",
            why=[*missing, *caps],
            next="leave --engine ray out, or ask in portions: --limit N"
            + (f"; {ray_cluster.INSTALL}" if missing else ""),
        )
    if missing:
        raise ray_cluster.no_ray()


def parts_folder(project: Project, plan: Plan) -> Path:
    """Return where the parts of a journal lie until they are merged."""
    return project.cache / "ray" / plan.at.log / plan.at.stem


def ask(
    project: Project, plan: Plan, asker: Asker, *, jobs: Jobs, keeper: Keeper, counts: Counts
) -> str | None:
    """Ask a cluster about all jobs and keep what comes; return why it stopped before the end, or None.

    Raises:
        Refusal: the cluster gives up, or a worker's part is not where the driver looks. What came is kept.
    """
    folder = parts_folder(project, plan)
    atomic.make_folder(project.writable(folder))
    work = work_of(project, plan, asker, folder)
    merge = _Merge(folder, jobs, keeper, counts)
    windows = ray_cluster.windows(merge.left_over(jobs), key_of, lambda job: len(job.text))
    stopped = None
    with ray_cluster.Cluster(AGAIN) as cluster:
        for window in windows:
            batches = [{"name": name, "jobs": _dumped(batch)} for name, batch in window.items()]
            for receipt in cluster.map(batches, ask_batch, work):
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
        plan.labeler.concurrency or ray_cluster.IN_FLIGHT,
    )


def ask_batch(row: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Ask about one batch on a worker, write its part, and return a receipt.

    A part that is there already is not asked again: an attempt before this one wrote it.

    Args:
        row: ``name`` of the part, and ``jobs`` as JSON.
        work: what every worker is given.
    """
    name = str(row["name"])
    parts = Parts(Path(work.folder), COLUMNS)
    if parts.is_there(name):
        return {"name": name, "n": -1, "stopped": ""}
    jobs = [Job(**each) for each in json.loads(str(row["jobs"]))]
    found, stopped = _asked(jobs, work)
    rows = [dump(job, asked) for job, asked in found if not asked.stopped]
    parts.write(name, rows)
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


def _dumped(batch: Mapping[str, Job]) -> str:
    return json.dumps([asdict(job) for job in batch.values()])


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
        raise bad_part(place, reasons)
    return Asked(readings, Verdict(**json.loads(row["verdict"])), json.loads(row["says"]))


class _Merge:
    """Merges parts into the journal: each key once, and a part goes when its rows are flushed."""

    def __init__(self, folder: Path, jobs: Jobs, keeper: Keeper, counts: Counts) -> None:
        self._jobs, self._keeper, self._counts = jobs, keeper, counts
        self._parts = Parts(folder, COLUMNS)
        self._found = self._parts.found()
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
        if n == 0:
            return
        path = self._parts.needed(name)
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
            if self._parts.is_there(name):
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
        for row in self._parts.rows(path):
            yield row["key"], parse(row, str(path))

    def _drop(self, paths: list[Path]) -> None:
        self._parts.drop(paths)
        self._waiting.clear()


def _key_env(project: Project) -> str | None:
    raw = project.settings.extra.get(TABLE)
    name = raw.get("api_key_env") if isinstance(raw, dict) else None
    return name if isinstance(name, str) else None
