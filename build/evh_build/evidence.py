"""What a site tells of evidence labels: the logs, their questions, and each journal row by row, read once."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from evh.acts import evidence_report
from evh.acts.evidence_report import PROXY
from evh.project import evidence, logs
from evh.project.shelf import read_each
from evh.records.answers import shown
from evh.store.hashing import sha256_text
from evh_build.withheld import source_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evh.acts.evidence_report import QueryReport
    from evh.errors import Refusal
    from evh.records.chunk import Chunk, Query
    from evh.records.evidence import EvidenceLabel
    from evh_build.gather import Gathered
    from evh_build.public import PublicGathered

T = TypeVar("T")
CHUNKS_A_PAGE = 100
CHARACTERS_A_PAGE = 500_000
KINDS = ("yes", "disagree", "failed", "suspect")
"""What the rows of a journal may be filtered to, beside all of them."""


@dataclass(frozen=True, slots=True)
class Size:
    """A log's size.

    Attributes:
        n_chunks: its places.
        n_distinct: different contents.
        n_tokens: bytes / 4.
        starts: the position of the first chunk of each page of its texts.
        sources: the file that chunks come from → how many.
    """

    n_chunks: int
    n_distinct: int
    n_tokens: int
    starts: tuple[int, ...]
    sources: Mapping[str, int]

    def page_of(self, position: int) -> int:
        """Return the page of texts, from 1, of the chunk at a position from 0."""
        return bisect_right(self.starts, position)


@dataclass(frozen=True, slots=True)
class Said:
    """What a person says of a chunk: the set, who, the answer and a note."""

    ref: str
    by: str
    answer: str
    note: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a log as a journal shows it.

    Attributes:
        position: where it stands, from 0.
        chunk: its text.
        label: whether the labeler says yes; None without a label.
        why: what it gives as its reason, or why there is no label.
        failure: the kind of its failure; empty without one.
        suspect: the text tries to steer.
        update: whether the controller updated there; None where that is not recorded.
        people: what people say of the content.
        places: all places with the same content, where they are several.
        item: (dataset, item id) of the content as an item, where it is one.
    """

    position: int
    chunk: Chunk
    label: bool | None
    why: str
    failure: str
    suspect: bool
    update: bool | None
    people: tuple[Said, ...]
    places: tuple[int, ...]
    item: tuple[str, str] | None

    @property
    def controller_differs(self) -> bool:
        """Whether the controller decided otherwise than the label."""
        return None not in (self.label, self.update) and self.label != self.update

    @property
    def people_differ(self) -> bool:
        """Whether a person says otherwise than the label, or another person."""
        words = {one.answer.strip().casefold() for one in self.people}
        if self.label is not None and words:
            words.add("yes" if self.label else "no")
        return len(words) > 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of `KINDS` it is."""
        differs = self.controller_differs or self.people_differ
        found = (self.label is True, differs, bool(self.failure), self.suspect)
        return tuple(kind for kind, is_one in zip(KINDS, found, strict=True) if is_one)


class Evidence:
    """Logs, their questions and journals.

    Args:
        gathered: the project's records.
        problems: where the Refusals of what cannot be read go.
    """

    def __init__(self, gathered: Gathered, problems: list[Refusal]) -> None:
        self.gathered = gathered
        self._problems = problems
        self._sizes: dict[str, Size | None] = {}
        self._reports: dict[str, tuple[QueryReport, ...]] = {}

    @cached_property
    def logs(self) -> tuple[str, ...]:
        """The names of the logs."""
        return tuple(self._try(lambda: logs.names(self.gathered.project)) or ())

    def size(self, log: str) -> Size | None:
        """Return a log's size; None where it cannot be read."""
        if log not in self._sizes:
            self._sizes[log] = self._kept(("log", log), log, lambda: self._try(lambda: self._size(log)))
        return self._sizes[log]

    def _size(self, log: str) -> Size:
        seen: set[bytes] = set()
        sources: dict[str, int] = {}
        starts: list[int] = []
        n = tokens = held = characters = 0
        for chunk in logs.chunks(self.gathered.project, log):
            if not starts or held >= CHUNKS_A_PAGE or characters >= CHARACTERS_A_PAGE:
                starts.append(n)
                held = characters = 0
            seen.add(bytes.fromhex(chunk.chunk_sha))
            sources[chunk.source] = sources.get(chunk.source, 0) + 1
            n, tokens, held = n + 1, tokens + chunk.n_tokens, held + 1
            characters += len(chunk.text)
        return Size(n, len(seen), tokens, tuple(starts), sources)

    def queries(self, log: str) -> tuple[Query, ...]:
        """Return a log's questions."""
        return tuple(self._try(lambda: logs.queries(self.gathered.project, log)) or ())

    def chunks(self, log: str) -> Iterator[Chunk]:
        """Yield a log's chunks; none where `size` is None."""
        if self.size(log) is not None:
            yield from logs.chunks(self.gathered.project, log)

    def reports(self, log: str) -> tuple[QueryReport, ...]:
        """Return what each journal of a log says; one that cannot be read is noted and left out."""
        if log not in self._reports:
            self._reports[log] = self._kept(("evidence", log), log, lambda: self._made(log))
        return self._reports[log]

    def _made(self, log: str) -> tuple[QueryReport, ...]:
        project = self.gathered.project
        known = {one.query_id for one in self.queries(log)}
        begun = [one for one in evidence.places(project, log) if one.query_id in known]
        if not begun or self.size(log) is None:
            return ()
        whole = read_each([log], lambda name: evidence_report.report(project, name), [])
        if whole:
            return whole[0]
        parts = [  # one of them cannot be read: the others can
            self._try(lambda at=at: evidence_report.report(project, log, at.query_id, at.name))  # type: ignore[misc]
            for at in begun
        ]
        return tuple(one for part in parts if part for one in part)

    def places(self, one: QueryReport) -> Iterator[Place]:
        """Yield the places of a log in order, as a journal shows them.

        Cost: one pass over the log; the journal's labels are in memory meanwhile.
        """
        project, at = self.gathered.project, one.at
        labels: dict[str, EvidenceLabel] = {each.chunk_sha: each for each in evidence.labels(project, at)}
        failed = {each.chunk_sha: each for each in one.failures}
        updates = {each.t: each for each in logs.updates(project, at.log, at.query_id).last}
        looks = bool(self.people or self.items)
        for position, chunk in enumerate(self.chunks(at.log)):
            label, failure = labels.get(chunk.chunk_sha), failed.get(chunk.chunk_sha)
            update = updates.get(chunk.t)
            item = sha256_text(one.query.item_text(chunk.text)) if looks else ""
            yield Place(
                position=position,
                chunk=chunk,
                label=label.label if label else None,
                why=label.why if label else failure.says if failure else "",
                failure=failure.kind if failure and not label else "",
                suspect=bool(label and label.suspect),
                update=update.update if update and update.chunk_sha == chunk.chunk_sha else None,
                people=self.people.get(item, ()),
                places=one.same_text.get(chunk.chunk_sha, ()),
                item=self.items.get(item),
            )

    @cached_property
    def people(self) -> Mapping[str, tuple[Said, ...]]:
        """What people say, by the sha256 of an item's bytes; of datasets that are made of chunks."""
        found: dict[str, tuple[Said, ...]] = {}
        for ref, one in self.gathered.label_sets.items():
            if one.kind != "person" or one.dataset_id not in self._datasets:
                continue
            for item_id, text in self.gathered.set_texts(one).items():
                item = one.items[item_id]
                said = Said(ref, one.by, shown(text), item.note or "")
                found[item.sha256] = (*found.get(item.sha256, ()), said)
        return found

    @cached_property
    def items(self) -> Mapping[str, tuple[str, str]]:
        """Where a content with its question is an item, by the sha256 of the item's bytes."""
        return {
            item.sha256: (name, item.item_id)
            for name in reversed(self._datasets)
            for item in reversed(self.gathered.datasets[name].items)
        }

    @cached_property
    def _datasets(self) -> tuple[str, ...]:
        """The datasets whose items are a question and a chunk each."""
        return tuple(
            name
            for name, one in self.gathered.datasets.items()
            if one.items and "chunk_sha" in one.items[0].fields
        )

    def _kept(self, key: tuple[str, ...], log: str, make: Callable[[], T]) -> T:
        data = self.gathered.project.data
        places = [data / "logs" / log, data / "label" / log, data / "labels"]
        return self.gathered.kept(key, places, make, self.gathered.project.settings)

    def _try(self, make: Callable[[], T]) -> T | None:
        found = read_each([None], lambda _: make(), self._problems)
        return found[0] if found else None


class PublicEvidence(Evidence):
    """The logs that ``[catalog] public_logs`` declares; every other one is private.

    People's slices that a set is part of that is not shown are left out, and so are a failure's words: they
    may name a server.
    """

    gathered: PublicGathered

    @cached_property
    def logs(self) -> tuple[str, ...]:
        """The names of the logs that are declared public."""
        return tuple(name for name in self.gathered.whole.evidence.logs if name in self._declared)

    @property
    def _declared(self) -> tuple[str, ...]:
        return self.gathered.project.settings.public_logs

    def chunks(self, log: str) -> Iterator[Chunk]:
        """Yield a log's chunks, their sources without the place on the machine that they were read on."""
        shown = self.gathered.shown
        for chunk in super().chunks(log):
            yield replace(chunk, source=source_file(chunk.source, shown))

    def _size(self, log: str) -> Size:
        found, sources = super()._size(log), Counter[str]()
        for source, n in found.sources.items():
            sources[source_file(source, self.gathered.shown)] += n
        return replace(found, sources=dict(sources))

    def reports(self, log: str) -> tuple[QueryReport, ...]:
        """Return what each journal of a public log says."""
        return tuple(self._public(one) for one in super().reports(log)) if log in self.logs else ()

    def _public(self, one: QueryReport) -> QueryReport:
        failures = tuple(replace(each, says="") for each in one.failures)
        hides = one.people is not None and not self.gathered.label_sets.keys() >= set(one.people.sets)
        if hides:
            one = replace(one, people=None, note=PROXY)
        return replace(one, failures=failures)
