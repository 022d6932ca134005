"""How often the labeler says yes beside how often the controller updated, and how good the labels are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.evidence_summary import Summary, left_out, summarise
from evh.acts.label_evidence import Log
from evh.errors import Refusal
from evh.measure import rates
from evh.measure.intervals import difference
from evh.project import evidence, labels, logs
from evh.project.shelf import missing, read_each
from evh.records.answers import answers
from evh.store.hashing import sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.measure.intervals import Interval
    from evh.measure.rates import Corrected, Rate, SelfAgreement, Slice
    from evh.project.evidence import Place
    from evh.project.find import Project
    from evh.project.logs import Decisions
    from evh.records.chunk import Query
    from evh.records.evidence import JournalSettings

PROXY = "these labels are a proxy: no person has labelled a random slice of them"
MEASURED = "these labels are a proxy; the corrected rate says what a person's random slice makes of them"
LOW_SLICE = 10
"""A slice with fewer items than this of either answer is called small."""


@dataclass(frozen=True, slots=True)
class ProbeRates:
    """What the probes say, by kind and in all.

    Attributes:
        false_yes: yes to what holds no answer.
        false_no: no to what holds one.
        by_kind: kind → wrong answers.
        n_failed: probes without an answer.
    """

    false_yes: Rate
    false_no: Rate
    by_kind: Mapping[str, Rate]
    n_failed: int


@dataclass(frozen=True, slots=True)
class People:
    """A random slice that people labelled.

    Attributes:
        sets: the sets that it comes from, ``<dataset>/<set>``.
        slice: how often they and the labeler say what.
        n_unclear: items left out: people differ, or the answer is neither yes nor no.
        corrected: the label rate with the labeler's mistakes reckoned out.
    """

    sets: tuple[str, ...]
    slice: Slice
    n_unclear: int
    corrected: Corrected


@dataclass(frozen=True, slots=True)
class QueryReport:
    """What one journal says.

    Attributes:
        at: the journal.
        query: the question.
        settings: how it was asked; None where that is not recorded.
        model: who labelled; several names where the rows have several.
        summary: the counts and rates.
        gap: label rate minus update rate over the same log, with its interval; None without decisions.
        probes: None without any.
        readings: None where no chunk was read twice.
        people: None where no person labelled a random slice.
        same_text: chunk_sha → the places, of contents that stand at several.
        failures: chunk_sha → (t, kind, says) of what has no label.
        suspects: places of labelled chunks whose text tries to steer, in order.
        note: how far to trust the labels, a sentence.
        torn: which of the files have a last line that a crash cut, a sentence each.
    """

    at: Place
    query: Query
    settings: JournalSettings | None
    model: str
    summary: Summary
    gap: float | None
    gap_interval: Interval | None
    probes: ProbeRates | None
    readings: SelfAgreement | None
    people: People | None
    same_text: Mapping[str, tuple[int, ...]]
    failures: tuple[FailedChunk, ...]
    suspects: tuple[int, ...]
    note: str
    torn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailedChunk:
    """A content without a label: its places, and why."""

    chunk_sha: str
    places: tuple[int, ...]
    kind: str
    says: str


def report(
    project: Project, log: str, query_id: str | None = None, journal: str | None = None
) -> tuple[QueryReport, ...]:
    """Return what each journal of a log says.

    Args:
        project: the project.
        log: the log.
        query_id: one question; None: all that were begun.
        journal: one journal by its name; None: all of a question's.

    Raises:
        Refusal: no such log or query, nothing labelled, or files that are not what they say.
    """
    held = Log(project, log)
    questions = {one.query_id: one for one in logs.queries(project, log)}
    if query_id is not None:
        logs.query(project, log, query_id)
    found = [
        at
        for at in evidence.places(project, log)
        if query_id in (None, at.query_id) and journal in (None, at.name) and at.query_id in questions
    ]
    if not found and journal is not None and evidence.places(project, log):
        raise missing("journal", journal, [one.name for one in evidence.places(project, log)])
    if not found:
        raise Refusal(
            "nothing-labelled",
            f"nothing of the log {log!r} is labelled" + (f" for {query_id!r}" if query_id else ""),
            why=[f"label/{log}: no journal"],
            next=f"evh label-evidence --project {log} "
            + (f"--query {query_id}" if query_id else "--all-queries"),
        )
    slices = _Slices(project)
    return tuple(_report(project, held, at, questions[at.query_id], slices) for at in found)


def _report(project: Project, log: Log, at: Place, query: Query, slices: _Slices) -> QueryReport:
    said: dict[str, bool] = {}
    steering: set[str] = set()
    models: Counter[str] = Counter()
    for one in evidence.labels(project, at):
        if one.question_sha not in ("", query.question_sha):
            raise Refusal(
                "other-question",
                f"data/{at.ref} is of another question than {at.query_id!r} is now",
                why=[f"{one.chunk_sha[:12]}…: {one.question_sha[:12]}…, not {query.question_sha[:12]}…"],
                next="restore queries.jsonl (git checkout)",
            )
        said[one.chunk_sha] = one.label
        models[one.model] += 1
        if one.suspect:
            steering.add(one.chunk_sha)
    failed = evidence.standing_failures(project, at, said)
    decided = logs.updates(project, at.log, at.query_id)
    summary = summarise(
        log.shas,
        said,
        suspects=steering,
        failures={sha: one.kind for sha, one in failed.items()},
        decided=decided,
    )
    places: dict[str, list[int]] = {}
    for t, sha in enumerate(log.shas):
        places.setdefault(sha, []).append(t)
    label_rate, update_rate = summary.label_rate, summary.update_rate
    gap = None
    if label_rate.share is not None and update_rate.share is not None:
        gap = label_rate.share - update_rate.share
    people = slices.of(log, query, said, summary)
    return QueryReport(
        at=at,
        query=query,
        settings=evidence.settings(project, at),
        model=", ".join(sorted(models)),
        summary=summary,
        gap=gap,
        gap_interval=difference(label_rate.count, label_rate.n, update_rate.count, update_rate.n),
        probes=_probes(project, at),
        readings=_readings(project, at),
        people=people,
        same_text={sha: tuple(found) for sha, found in places.items() if len(found) > 1},
        failures=tuple(
            FailedChunk(sha, tuple(places[sha]), one.kind, one.says)
            for sha, one in failed.items()
            if sha in places
        ),
        suspects=tuple(t for t, sha in enumerate(log.shas) if sha in steering and sha in said),
        note=PROXY if people is None else MEASURED,
        torn=(*evidence.torn(project, at), *_torn_decisions(project, at, decided)),
    )


def _torn_decisions(project: Project, at: Place, decided: Decisions) -> list[str]:
    if not decided.torn:
        return []
    place = project.show(logs.updates_path(project, at.log, at.query_id))
    return [f"{place}: a torn last line is left out: its decision does not count"]


def _probes(project: Project, at: Place) -> ProbeRates | None:
    found = list(evidence.probes(project, at).values())
    if not found:
        return None
    answered = [one for one in found if one.answer is not None]
    wrong = [one for one in answered if one.answer != one.expected]
    kinds = sorted({one.kind for one in answered})
    return ProbeRates(
        false_yes=rates.rate(
            sum(not one.expected for one in wrong), sum(not one.expected for one in answered)
        ),
        false_no=rates.rate(sum(one.expected for one in wrong), sum(one.expected for one in answered)),
        by_kind={
            kind: rates.rate(
                sum(one.kind == kind for one in wrong), sum(one.kind == kind for one in answered)
            )
            for kind in kinds
        },
        n_failed=len(found) - len(answered),
    )


def _readings(project: Project, at: Place) -> SelfAgreement | None:
    """Return how stable the readings are; None where each chunk has one."""
    settings = evidence.settings(project, at)
    repeat = settings.asked.get("repeat") if settings else 1
    if not isinstance(repeat, int) or repeat < 2:
        return None
    by_chunk: dict[str, dict[int, bool]] = {}
    for one in evidence.readings(project, at):
        if one.verdict in ("yes", "no"):
            by_chunk.setdefault(one.chunk_sha, {})[one.k] = one.verdict == "yes"
    return rates.self_agreement([list(said.values()) for said in by_chunk.values()])


class _Slices:
    """What people say of items that a draw over all items chose, by the sha256 of the item's bytes."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._said: dict[str, dict[str, set[str]]] = {}
        for one in labels.read_all(project, []):
            if one.kind != "person":
                continue
            drawn = {key for key, item in one.items.items() if item.slice == "random"}
            if not drawn:
                continue
            for texts in read_each([one], lambda each: labels.texts(project, each), []):
                for item_id in drawn & texts.keys():
                    word = "|".join(answers(texts[item_id])).strip().casefold()
                    self._said.setdefault(one.items[item_id].sha256, {}).setdefault(word, set()).add(one.ref)

    def of(self, log: Log, query: Query, said: Mapping[str, bool], summary: Summary) -> People | None:
        """Return the slice of one question, or None: no person labelled any of it."""
        if not self._said:
            return None
        counts: Counter[tuple[bool, bool]] = Counter()
        sets: set[str] = set()
        unclear = 0
        for sha, item_sha in _items(log, query):
            found = self._said.get(item_sha)
            if found is None or sha not in said:
                continue
            sets.update(*found.values())
            if len(found) > 1 or not set(found) <= {"yes", "no"}:
                unclear += 1
            else:
                counts["yes" in found, said[sha]] += 1
        if not sets:
            return None
        drawn = rates.Slice(
            counts[True, True], counts[True, False], counts[False, True], counts[False, False]
        )
        settings = self._project.settings
        made = rates.corrected(
            summary.n_distinct_yes,
            summary.n_distinct_labelled,
            drawn,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        return People(tuple(sorted(sets)), drawn, unclear, made)


def _items(log: Log, query: Query) -> Iterable[tuple[str, str]]:
    """Yield (chunk_sha, the sha256 of the item) of each content of a log."""
    seen: set[str] = set()
    for chunk in logs.chunks(log.project, log.name):
        if chunk.chunk_sha not in seen:
            seen.add(chunk.chunk_sha)
            yield chunk.chunk_sha, sha256_text(query.item_text(chunk.text))


def frozen_as(project: Project, at: Place) -> list[str]:
    """Return the sets that a journal was frozen as, ``<dataset>/<set>``, sorted."""
    return [one.ref for one in labels.read_all(project, []) if one.source.get("journal") == at.ref]


def says(one: QueryReport) -> list[str]:
    """Return what is said of a slice that is small, of failures and what does not count, a sentence each."""
    made = [*one.torn, *left_out(one.summary)]
    if one.people is not None:
        held = one.people.slice
        few = min(held.hits + held.missed, held.false_yes + held.right_no)
        if few < LOW_SLICE:
            made.append(f"the random slice holds only {few} of one answer: its interval is wide")
        if one.people.n_unclear:
            made.append(f"{plural(one.people.n_unclear, 'item')} of the slice left out: people differ on it")
    if one.summary.n_left:
        made.append(f"{plural(one.summary.n_left, 'content')} without a label")
    return made
