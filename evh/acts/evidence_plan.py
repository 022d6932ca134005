"""What a run of the labeler would ask: the log, the journal, the question, and how all of it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.project import logs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.evidence_settings import Labeler, Options
    from evh.acts.evidence_summary import Summary
    from evh.acts.probes import Spec
    from evh.project.evidence import Place
    from evh.project.find import Project
    from evh.records.chunk import Query
    from evh.records.evidence import JournalSettings


class Log:
    """A log as several plans read it: its chunks are gone over once, when the first plan asks."""

    def __init__(self, project: Project, name: str) -> None:
        self.project, self.name = project, name
        self.path = logs.check(project, name)
        self._shas: tuple[str, ...] | None = None

    @property
    def shas(self) -> tuple[str, ...]:
        """The chunk_sha of each place, in order; each was held against its text."""
        if self._shas is None:
            known: dict[str, str] = {}
            chunks = logs.chunks(self.project, self.name)
            self._shas = tuple(known.setdefault(one.chunk_sha, one.chunk_sha) for one in chunks)
        return self._shas


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would ask.

    Attributes:
        at: the journal.
        query: the question.
        labeler: who is asked.
        options: what the command said.
        settings: of the journal; drawn anew where ``new``.
        new: the journal is begun.
        summary: how the journal stands now.
        labels: chunk_sha → label, those that are there.
        shas: the chunk_sha of each place; empty where nothing is left to ask.
        specs: the probes that have no answer yet.
        n_to_ask: chunks that would be asked.
        warnings: what a person should know, a sentence each.
        torn: a crash cut a last line of the journal's files, which is to be dropped.
    """

    at: Place
    query: Query
    labeler: Labeler
    options: Options
    settings: JournalSettings
    new: bool
    summary: Summary
    labels: Mapping[str, bool] = field(repr=False)
    suspects: frozenset[str] = field(repr=False)
    shas: tuple[str, ...] = field(repr=False)
    specs: tuple[Spec, ...] = ()
    n_to_ask: int = 0
    warnings: tuple[str, ...] = ()
    torn: bool = False

    @property
    def complete(self) -> bool:
        """Whether there is nothing to ask."""
        return self.n_to_ask == 0 and not self.specs

    @property
    def n_calls(self) -> int:
        """Requests that it takes at least."""
        return (self.n_to_ask * self.labeler.repeat + len(self.specs)) * self.labeler.asks_server

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        name = f"data/{self.at.ref}"
        if self.complete:
            return [f"ask nothing: {name} has a label for each of {self.summary.n_distinct:,} contents"]
        who = (
            f"{self.labeler.model} at {self.labeler.base_url}"
            if self.labeler.asks_server
            else self.labeler.model
        )
        made = [f"ask {who} about {self.n_to_ask:,} of {self.summary.n_distinct:,} contents, into {name}"]
        if self.specs:
            made.append(f"mix in {len(self.specs):,} probes")
        if self.labeler.asks_server:
            made.append(f"send at least {self.n_calls:,} requests")
        return made
