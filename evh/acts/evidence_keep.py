"""What the labeler keeps: every reply on the disk's way as it comes, and a label as soon as it is decided.

A label is counted as done when it is flushed. One flush serves all that came within `FLUSH_S`; it writes a
label only after the replies that it stands on are on the disk. A kill costs no reply: the next run takes the
label from it.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from evh.llm import prompt
from evh.llm.verdict import Verdict
from evh.records import evidence as record
from evh.records.evidence import EvidenceFailure, EvidenceLabel, Probe
from evh.store.journal import Appender

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evh.acts.evidence_ask import Asked, Job
    from evh.acts.probes import Spec
    from evh.project.evidence import Place
    from evh.project.find import Project
    from evh.records.chunk import Query

FLUSH_S = 0.05
FLUSH_FREE_S = 0.5
"""Between two flushes of labels that cost nothing to make again."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one reading of a chunk says, and a failure in words."""

    verdict: Verdict
    says: str = ""


def decide(said: Mapping[int, Said], of: int) -> Said:
    """Return what the readings of a chunk come to: the answer that more than half of them give.

    Args:
        said: k → what that reading says; all ``of`` of them.
        of: how many readings a chunk gets.
    """
    votes = Counter(one.verdict.label for one in said.values() if one.verdict.failure is None)
    for label, count in votes.items():
        if 2 * count > of:
            first = min(k for k, one in said.items() if one.verdict.label is label)
            return said[first]
    if votes[True] and votes[True] == votes[False] and 2 * votes[True] == of:
        return Said(Verdict(failure="split"), f"{votes[True]} of {of} readings say yes, {votes[False]} no")
    last = max(k for k, one in said.items() if one.verdict.failure is not None)
    return said[last]


class Keeper:
    """Keeps what comes of jobs. A context manager; leaving it flushes. Whoever makes it holds the lock.

    One thread may keep while another flushes.

    Attributes:
        labels: chunk_sha → the label, of those decided here.
        failed: chunk_sha → the failure, of those that failed here.
        settled: how many labels and failures are on the disk.
        yes: how many of the labels say yes.
    """

    def __init__(
        self,
        project: Project,
        at: Place,
        query: Query,
        *,
        model: str,
        prompt_sha: str,
        repeat: int,
        specs: Mapping[str, Spec],
        flush_s: float = FLUSH_S,
    ) -> None:
        self._project, self._question_sha = project, query.question_sha
        self._labels, self._readings = at.journal, at.readings
        self._failed, self._probes = at.failed, at.probes
        self._model, self._prompt_sha, self._repeat, self._specs = model, prompt_sha, repeat, specs
        self._open: dict[str, dict[int, Said]] = {}
        self._journals: dict[Path, Appender] = {}
        self._rows: deque[tuple[Path, dict[str, object]]] = deque()
        self._flush_s, self._flushed_at = flush_s, time.monotonic()
        self._stamp, self._stamped_at = project.stamp(), self._flushed_at
        self.labels: dict[str, bool] = {}
        self.suspects: set[str] = set()
        self.failed: dict[str, str] = {}
        self.settled = self.yes = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Flush and close."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._close)
            self.flush()

    def _close(self) -> None:
        with contextlib.ExitStack() as stack:
            for journal in self._journals.values():
                stack.push(journal)

    def had(self, chunk_sha: str, said: Mapping[int, Said]) -> None:
        """Take over readings that an earlier run has paid for."""
        self._open[chunk_sha] = dict(said)

    @property
    def due(self) -> bool:
        """Whether it is time to flush."""
        return time.monotonic() - self._flushed_at >= self._flush_s

    def keep(self, job: Job, asked: Asked) -> None:
        """Append the replies of a job: from now on a kill does not lose them, nor what they come to."""
        if job.probe_id:
            self._probe(job, asked)
        else:
            for reading in asked.readings:
                self._append(self._readings, record.dump_reading(reading))
            if not asked.stopped:
                self.said(job, Said(asked.verdict, asked.says))

    def said(self, job: Job, one: Said) -> None:
        """Take what one reading says; with the last one a chunk has its label or its failure."""
        if self._repeat == 1:
            self._decided(job, one)
            return
        held = self._open.setdefault(job.chunk_sha, {})
        held[job.k] = one
        if len(held) < self._repeat:
            return
        self._decided(job, decide(self._open.pop(job.chunk_sha), self._repeat))

    def settle(self, job: Job) -> bool:
        """Decide a chunk whose readings were all taken over; tell whether it was."""
        held = self._open.get(job.chunk_sha, {})
        if len(held) < self._repeat:
            return False
        self._decided(job, decide(self._open.pop(job.chunk_sha), self._repeat))
        return True

    def _decided(self, job: Job, one: Said) -> None:
        suspect = prompt.is_suspect(job.text)
        if suspect:
            self.suspects.add(job.chunk_sha)
        stamp = self._now()
        if one.verdict.failure is not None:
            failure = EvidenceFailure(job.chunk_sha, job.t, one.verdict.failure, one.says, stamp, suspect)
            self._rows.append((self._failed, record.dump_failure(failure)))
            self.failed[job.chunk_sha] = failure.kind
            return
        label = EvidenceLabel(
            job.chunk_sha,
            job.t,
            bool(one.verdict.label),
            one.verdict.why,
            self._model,
            stamp,
            self._question_sha,
            self._prompt_sha,
            suspect,
        )
        self._rows.append((self._labels, record.dump_label(label)))
        self.labels[job.chunk_sha] = label.label
        self.yes += label.label

    def _probe(self, job: Job, asked: Asked) -> None:
        if asked.stopped:
            return
        spec, last = self._specs[job.probe_id], asked.readings[-1]
        made = Probe(
            job.probe_id,
            spec.kind,
            job.chunk_sha,
            spec.expected,
            asked.verdict.label,
            job.question,
            asked.verdict.why,
            asked.verdict.failure,
            last.raw,
            self._now(),
            last.tokens_in,
            last.tokens_out,
            last.cost_usd,
        )
        self._append(self._probes, record.dump_probe(made))

    def _now(self) -> str:
        """Return the time as rows write it, looked up twenty times a second at most: rows are many."""
        now = time.monotonic()
        if now - self._stamped_at >= FLUSH_S:
            self._stamp, self._stamped_at = self._project.stamp(), now
        return self._stamp

    def _append(self, path: Path, row: dict[str, object]) -> None:
        journal = self._journals.get(path)
        if journal is None:
            journal = self._journals[path] = Appender(self._project.writable(path))
        journal.append(row)

    def flush(self) -> bool:
        """Write what is decided and flush all, replies before labels; tell whether there was anything."""
        kept = len(self.labels) + len(self.failed)
        n = len(self._rows)  # looked at later: a row is there before its label counts
        waiting = self._flush()
        for _ in range(n):
            self._append(*self._rows[0])
            self._rows.popleft()
        waiting = self._flush() or waiting
        self._flushed_at = time.monotonic()
        self.settled = kept
        return waiting

    def _flush(self) -> bool:
        waiting = [one for one in list(self._journals.values()) if one.waiting]
        for journal in waiting:
            journal.flush()
        return bool(waiting)
