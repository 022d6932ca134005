"""The jobs of one run of the labeler, made as they are asked for, and what earlier runs paid for already."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evh.acts import probes
from evh.acts.evidence_ask import Job
from evh.acts.evidence_keep import Said
from evh.llm import verdict
from evh.project import evidence, logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evh.acts.evidence_keep import Keeper
    from evh.acts.evidence_plan import Plan
    from evh.acts.probes import Spec
    from evh.project.find import Project


@dataclass(slots=True)
class Had:
    """What earlier runs have read of a chunk without a label: its replies, and those that say something."""

    n: int = 0
    said: dict[int, Said] = field(default_factory=dict)


def had(project: Project, plan: Plan) -> dict[str, Had]:
    """Return what earlier runs paid for and no label came of: a run that was killed, or a failure.

    Where all readings of a chunk are there and came to no label, all of them are asked anew.
    """
    made: dict[str, Had] = {}
    for one in evidence.readings(project, plan.at, plan.labels):
        held = made.setdefault(one.chunk_sha, Had())
        held.n += 1
        found = verdict.read(
            one.raw,
            finish_reason=one.finish_reason,
            thinks=plan.labeler.think_tokens > 0,
            apart=one.reasoning is not None,
        )
        if found.failure is None and one.k <= plan.labeler.repeat:
            held.said[one.k] = Said(found)
    failed = evidence.standing_failures(project, plan.at, plan.labels)
    for sha, held in made.items():
        if sha in failed and failed[sha].kind == "split":
            held.said.clear()
    return made


class Jobs:
    """The jobs of a run, made as they are asked for: chunks are read as the run comes to them."""

    def __init__(self, project: Project, plan: Plan, keeper: Keeper, had: Mapping[str, Had]) -> None:
        self._project, self._plan, self._keeper, self._had = project, plan, keeper, had
        self._probes: dict[str, list[Spec]] = {}
        for spec in plan.specs:
            self._probes.setdefault(spec.base_sha, []).append(spec)
        self.settled: deque[Job] = deque()

    def __iter__(self) -> Iterator[Job]:
        left = {sha: sha for sha in self._plan.shas}  # the plan's own texts: no second ones are kept
        begun = 0
        for chunk in logs.chunks(self._project, self._plan.at.log):
            sha = left.pop(chunk.chunk_sha, None)
            if sha is None:
                continue
            waiting = self._probes.pop(sha, [])
            early = int(sha[:2], 16) % 2  # a probe stands now before, now behind its chunk
            if early:
                yield from self._probe_jobs(waiting, chunk.text, chunk.t)
            if sha not in self._plan.labels and begun < self._plan.n_to_ask:
                begun += 1
                yield from self._chunk_jobs(sha, chunk.t, chunk.text)
            if not early:
                yield from self._probe_jobs(waiting, chunk.text, chunk.t)
            if begun >= self._plan.n_to_ask and not self._probes:
                return

    def settle(self) -> None:
        """Decide the chunks that earlier runs have read to the end."""
        while self.settled:
            self._keeper.settle(self.settled.popleft())

    def _chunk_jobs(self, sha: str, t: int, text: str) -> Iterator[Job]:
        held = self._had.get(sha) or Had()
        job = Job(sha, t, text, self._plan.query.question, prior=held.n)
        if not held.said and self._plan.labeler.repeat == 1:
            yield job
            return
        if held.said:
            self._keeper.had(sha, held.said)
        missing = [k for k in range(1, self._plan.labeler.repeat + 1) if k not in held.said]
        if not missing:
            self.settled.append(job)
        for k in missing:
            yield replace(job, k=k)

    def _probe_jobs(self, specs: Iterable[Spec], text: str, t: int) -> Iterator[Job]:
        for spec in specs:
            made = probes.make(spec, text, self._plan.query.question, self._plan.settings.salt)
            yield Job(made.chunk_sha, t, made.text, made.question, probe_id=spec.probe_id)
