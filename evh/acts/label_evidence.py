"""Labels for the chunks of a log: which hold evidence for a question, as a model says, and why.

One label a chunk's content; a run that is stopped goes on, and one that is complete asks nothing.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.acts import evidence_run, probes, ray_engine
from evh.acts.evidence_plan import Log, Plan
from evh.acts.evidence_settings import Labeler, Options, labeler
from evh.acts.evidence_summary import Summary, left_out, summarise
from evh.errors import Refusal
from evh.llm import prompt
from evh.project import evidence, logs
from evh.records.evidence import JournalSettings, settings_sha
from evh.store import locks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evh.acts.evidence_counts import Progress
    from evh.project.evidence import Place
    from evh.project.find import Project
    from evh.records.chunk import Query

__all__ = ["Done", "Labeler", "Log", "Options", "Plan", "commit", "plan"]


@dataclass(frozen=True, slots=True)
class Done:
    """What a run came to.

    Attributes:
        plan: what was planned.
        summary: how the journal stands now.
        n_new: labels that this run made.
        failures: chunk_sha → kind of those without a label.
        stopped: why it ended before everything was asked; None where it did not.
        n_calls: requests sent, tries counted.
        tokens: in and out together.
        cost_usd: as far as it is known.
        warnings: what a person should know.
    """

    plan: Plan
    summary: Summary
    n_new: int = 0
    failures: Mapping[str, str] = field(default_factory=dict)
    stopped: str | None = None
    n_calls: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    warnings: tuple[str, ...] = ()


def plan(
    project: Project,
    log: Log | str,
    query_id: str,
    options: Options | None = None,
    *,
    keyless: bool = False,
) -> Plan:
    """Return what labelling a log for one question would ask.

    Args:
        project: the project.
        log: the log, or its name; several plans of one log share a `Log`.
        query_id: the question.
        options: see `Options`.
        keyless: nothing will be asked (``--dry-run``).

    Raises:
        Refusal: no such log or query; settings that cannot be; a journal that was asked otherwise (both
            hashes are named); rows of the log or the journal that are not what they say.

    Cost: where a run before this one was complete and no file has changed since, a few file stats.
    """
    asked = options or Options()
    if asked.engine and not keyless:
        ray_engine.check(asked)
    held = log if isinstance(log, Log) else Log(project, log)
    query = logs.query(project, held.name, query_id)
    at = evidence.place(project, held.name, query_id, asked.journal)
    there = evidence.settings(project, at)
    # A journal that is there may be complete: then nobody is asked, and neither server nor key is needed.
    who = labeler(project, asked, keyless=keyless or there is not None)
    wanted = who.asked(query)
    settings = _settings(project, at, there=there, wanted=wanted, query=query, who=who)
    torn = evidence.torn(project, at)
    key = _key(held, at, asked, settings)
    kept = evidence.kept(project, at, key) if there else None
    if kept is not None:
        known = Summary(**kept)
        return Plan(
            at,
            query,
            who,
            asked,
            settings,
            new=False,
            summary=known,
            labels={},
            suspects=frozenset(),
            shas=(),
            warnings=(*torn, *left_out(known)),
            torn=bool(torn),
        )
    labels, suspects = _labels(project, at)
    failures = {sha: one.kind for sha, one in evidence.standing_failures(project, at, labels).items()}
    decided = logs.updates(project, held.name, query_id)
    summary = summarise(held.shas, labels, suspects=suspects, failures=failures, decided=decided)
    answered = {key for key, one in evidence.probes(project, at).items() if one.failure is None}
    specs = probes.choose(asked.probes, list(dict.fromkeys(held.shas)), settings.salt)
    specs = tuple(one for one in specs if one.probe_id not in answered)
    left = summary.n_left if asked.limit is None else min(summary.n_left, asked.limit)
    if (left or specs) and not keyless:
        who = labeler(project, asked)
    return Plan(
        at=at,
        query=query,
        labeler=who,
        options=asked,
        settings=settings,
        new=there is None,
        summary=summary,
        labels=labels,
        suspects=frozenset(suspects),
        shas=held.shas,
        specs=specs,
        n_to_ask=left,
        warnings=(*torn, *left_out(summary)),
        torn=bool(torn),
    )


def commit(project: Project, plan: Plan, *, progress: Callable[[Progress], None] | None = None) -> Done:
    """Ask what was planned and return how the journal stands; each label is kept as it comes.

    Args:
        project: the project.
        plan: from `plan`.
        progress: told where the run stands, at most twenty times a second and at its end.

    Raises:
        Refusal: another process labels into the same journal, the disk is full, or the log changed. What was
            labelled until then is kept, and so it is after a KeyboardInterrupt.
    """
    if plan.complete:
        if plan.torn:
            with locks.held(project.locks, plan.at.journal, wait_s=0):
                evidence.mend(project, plan.at)
        failures = {} if not plan.summary.n_failed else _failures(project, plan.at)
        return Done(plan, plan.summary, failures=failures, warnings=plan.warnings)
    ended = evidence_run.run(project, plan, progress=progress)
    labels = {**plan.labels, **ended.labels}
    failures = {sha: one.kind for sha, one in evidence.standing_failures(project, plan.at, labels).items()}
    decided = logs.updates(project, plan.at.log, plan.query.query_id)
    summary = summarise(
        plan.shas, labels, suspects=plan.suspects | ended.suspects, failures=failures, decided=decided
    )
    _remember(project, plan, summary)
    there = set(plan.shas)
    return Done(
        plan=plan,
        summary=summary,
        n_new=len(ended.labels),
        failures={sha: kind for sha, kind in failures.items() if sha in there},
        stopped=ended.stopped,
        n_calls=ended.n_calls,
        tokens=ended.tokens,
        cost_usd=ended.cost_usd,
        warnings=(*plan.warnings, *ended.warnings),
    )


def _settings(
    project: Project,
    at: Place,
    *,
    there: JournalSettings | None,
    wanted: dict[str, Any],
    query: Query,
    who: Labeler,
) -> JournalSettings:
    """Return a journal's settings, or refuse a journal that was asked otherwise."""
    sha = settings_sha(wanted)
    if there is None:
        if at.journal.exists():
            raise Refusal(
                "unknown-settings",
                f"data/{at.ref} does not say how it was asked",
                why=[f"{project.show(at.settings)}: it is missing, so that nothing may be added"],
                next="restore it (git checkout), or begin another journal: --journal NAME",
            )
        return JournalSettings(
            asked=wanted,
            settings_sha=sha,
            salt=secrets.token_hex(16),
            question=query.question,
            prompt=prompt.TEMPLATE if who.asks_server else evidence_run.overlap_rule(),
            began={
                "base_url": who.base_url or None,
                "context_tokens": who.context_tokens if who.asks_server else None,
                "created_at": project.stamp(),
            },
        )
    if there.settings_sha != sha:
        keys = sorted({*wanted, *there.asked})
        changed = [
            f"{name}: {there.asked.get(name)!r} there, {wanted.get(name)!r} here"
            for name in keys
            if there.asked.get(name) != wanted.get(name)
        ]
        raise Refusal(
            "other-settings",
            f"data/{at.ref} was asked otherwise",
            why=[f"settings_sha: {there.settings_sha} there, {sha} here", *changed],
            next="ask as it began, or begin another journal: --journal NAME",
        )
    return there


def _labels(project: Project, at: Place) -> tuple[dict[str, bool], set[str]]:
    labels: dict[str, bool] = {}
    suspects: set[str] = set()
    for one in evidence.labels(project, at):
        labels[one.chunk_sha] = one.label
        if one.suspect:
            suspects.add(one.chunk_sha)
    return labels, suspects


def _failures(project: Project, at: Place) -> dict[str, str]:
    labels, _ = _labels(project, at)
    return {sha: one.kind for sha, one in evidence.standing_failures(project, at, labels).items()}


# --- what a complete run leaves for the next one


def _key(log: Log, at: Place, asked: Options, settings: JournalSettings) -> dict[str, Any]:
    files = {
        "chunks": log.path,
        "journal": at.journal,
        "failed": at.failed,
        "probes": at.probes,
        "settings": at.settings,
        "updates": logs.updates_path(log.project, at.log, at.query_id),
    }
    signatures = {name: evidence.signature(path) for name, path in files.items()}
    return {
        "version": 2,
        "chunks_name": log.path.name,
        "settings_sha": settings.settings_sha,
        "probes_asked": asked.probes,
        **signatures,
    }


def _remember(project: Project, plan: Plan, summary: Summary) -> None:
    """Keep what a complete journal comes to, so that a rerun has nothing to read."""
    if summary.n_left or summary.n_failed:
        return
    answered = {key for key, one in evidence.probes(project, plan.at).items() if one.failure is None}
    if any(one.probe_id not in answered for one in plan.specs):
        return
    key = _key(Log(project, plan.at.log), plan.at, plan.options, plan.settings)
    evidence.keep(project, plan.at, key, summary.dump())
