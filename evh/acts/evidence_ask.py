"""Asking for the label of one chunk: what is sent, when it is asked again, and what a reply is.

`Asker.ask` is the whole of it: the same for one process and for a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evh.acts import evidence_overlap
from evh.llm import prompt, verdict
from evh.llm.budget import Ladder
from evh.llm.nonce import nonce
from evh.llm.reply import Failure, Reply
from evh.llm.verdict import Verdict
from evh.records.evidence import Reading

if TYPE_CHECKING:
    from evh.acts.evidence_settings import Labeler
    from evh.llm.client import Client

_SEEDS = 2**31 - 1
_OF_THE_CHUNK = {"unfinished": "unfinished", "empty": "empty", "too-long": "too_long"}
STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Job:
    """One reading to be made.

    Attributes:
        chunk_sha: what is read.
        t: its place, for people.
        text: what it says.
        question: what is asked.
        k: which of the readings, from 1.
        prior: replies that earlier runs had to this chunk: another try draws other seeds.
        probe_id: the probe that it is, or empty.
    """

    chunk_sha: str
    t: int
    text: str
    question: str
    k: int = 1
    prior: int = 0
    probe_id: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a job.

    Attributes:
        readings: every reply to it, in order; the last one counts.
        verdict: what the last one says; its failure is one of `records.evidence.FAILURES`, or ``stopped``.
        says: a failure in words.
        server: what it tells of the server; None: nothing.
    """

    readings: tuple[Reading, ...]
    verdict: Verdict
    says: str = ""
    server: Reply | Failure | None = None

    @property
    def stopped(self) -> bool:
        """Whether it was not asked to the end: no failure of the chunk."""
        return self.verdict.failure == STOPPED


@dataclass(slots=True)
class Asker:
    """Asks one labeler. Picklable.

    Args:
        labeler: who is asked; its context is the one found out.
        salt: of the fences.
        constrained: the server honours structured answers, and they are asked for.
    """

    labeler: Labeler
    salt: str
    constrained: bool = False
    _ladder: Ladder | None = field(default=None, repr=False)

    def overlap(self, job: Job) -> Asked:
        """Return what the lexical baseline says."""
        text = evidence_overlap.answer(job.question, job.text)
        found = _read_once(text)
        reading = Reading(job.chunk_sha, job.k, text, 0, found.word, model=evidence_overlap.MODEL)
        return Asked((reading,), found)

    async def ask(self, client: Client, job: Job) -> Asked:
        """Return what a model server says: asked once, and once more where the first reply is no label."""
        body = self.body(job)
        if self._ladder is None:
            self._ladder = Ladder(self.labeler.context_tokens, self.labeler.base_url)
        fit = await self._ladder.fit(client, self.labeler.model, body["messages"], body["max_tokens"])
        if not fit.fits:
            room = f"{body['max_tokens']:,} to answer pass {self.labeler.context_tokens:,}"
            told = f"{fit.tokens:,} tokens ({fit.rung}) and {room}"
            reading = Reading(
                job.chunk_sha, job.k, None, body["seed"], "too_long", says=told, rung=fit.rung, tries=0
            )
            return Asked((reading,), Verdict(failure="too_long"), told)
        first = self._read(job, body, await client.ask(body), fit.rung)
        if first.verdict.failure is None or not _again(first):
            return first
        more = self._second(body, first.verdict.failure, fit.tokens, job)
        if more is None:
            return first
        second = self._read(job, more, await client.ask(more), fit.rung)
        if second.stopped:
            return replace(second, readings=first.readings)
        return replace(second, readings=first.readings + second.readings)

    def body(self, job: Job) -> dict[str, Any]:
        """Return the request for a job: one chunk, no system prompt, no tools."""
        fence = nonce(self.salt, job.chunk_sha, job.text)
        made: dict[str, Any] = {
            "model": self.labeler.model,
            "messages": prompt.messages(job.question, job.text, fence),
            "max_tokens": self.labeler.max_tokens,
            "temperature": self.labeler.temperature,
            "top_p": self.labeler.top_p,
            "seed": _seed(job.chunk_sha, job.k, job.prior),
        }
        if self.constrained:
            made["structured_outputs"] = dict(prompt.CONSTRAINT)
        return made

    def _second(self, body: dict[str, Any], failure: str, tokens: int, job: Job) -> dict[str, Any] | None:
        """Return the second request: more room for a thought that was cut off, else another seed."""
        seed = _seed(job.chunk_sha, job.k, job.prior + 1)
        if failure != "unfinished" or not self.labeler.think_tokens:
            return {**body, "seed": seed}
        wanted = 2 * self.labeler.think_tokens + self.labeler.answer_tokens
        room = min(wanted, self.labeler.context_tokens - tokens)
        return {**body, "max_tokens": room, "seed": seed} if room > body["max_tokens"] else None

    def _read(self, job: Job, body: dict[str, Any], found: Reply | Failure, rung: str) -> Asked:
        taken: dict[str, Any] = {
            "rung": rung,
            "tries": found.tries,
            "tokens_in": found.tokens_in,
            "tokens_out": found.tokens_out,
            "cost_usd": self.labeler.cost(found.tokens_in, found.tokens_out, found.cost_usd),
            "max_tokens": body["max_tokens"],
            "note": "; ".join(found.notes) or None,
        }
        if isinstance(found, Failure):
            kind = STOPPED if found.kind == "stopped" else _OF_THE_CHUNK.get(found.kind, "server")
            told = f"{found.kind}: {found.says}" if kind == "server" else found.says
            reading = Reading(job.chunk_sha, job.k, None, body["seed"], kind, says=told, **taken)
            passes = kind in (STOPPED, "unfinished", "too_long")
            readings = () if kind == STOPPED else (reading,)
            return Asked(readings, Verdict(failure=kind), told, None if passes else found)
        said = verdict.read(
            found.text,
            finish_reason=found.finish_reason,
            thinks=self.labeler.think_tokens > 0,
            apart=found.reasoning is not None,
        )
        reading = Reading(
            job.chunk_sha,
            job.k,
            found.text,
            body["seed"],
            said.word,
            reasoning=found.reasoning,
            finish_reason=found.finish_reason,
            latency_ms=found.latency_ms,
            model=found.model,
            **taken,
        )
        cut = said.failure == "unparsed" and found.finish_reason == "length"
        return Asked((reading,), said, _CUT if cut else _WORDS.get(said.failure or "", ""), found)


_WORDS = {
    "unfinished": "the reply ended at max_tokens in the middle of its thought",
    "empty": "the reply is empty",
    "ambiguous": "the reply says both yes and no",
    "unparsed": "the first line of the reply opens with neither yes nor no",
    "no_reason": "the reply gives no reason",
}
_CUT = "the reply ended at max_tokens before its first line said yes or no and why"


@lru_cache(maxsize=1024)
def _read_once(text: str) -> Verdict:
    """Return what a reply of the baseline says: its replies are few and many times the same."""
    return verdict.read(text)


def _again(asked: Asked) -> bool:
    return asked.verdict.failure in _WORDS


def _seed(chunk_sha: str, k: int, tries: int) -> int:
    return (int(chunk_sha[:8], 16) + 1_000_003 * (k - 1) + 7_919 * tries) % _SEEDS
