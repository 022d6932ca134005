"""Checks of transcript logs and of the evidence labeler's journals: contents, questions, settings, labels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evh.project import evidence, logs
from evh.project.shelf import files, folders
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evh.acts.findings import Findings
    from evh.project.evidence import Place
    from evh.project.find import Project
    from evh.records.chunk import Query
    from evh.records.evidence import JournalSettings


class _Log:
    """What is known of one log: its contents, None where they cannot be read, and its questions by id."""

    def __init__(self, shas: list[str] | None, queries: Mapping[str, Query]) -> None:
        self.shas, self.queries = shas, queries
        self.contents = frozenset(shas or ())


def check(found: Findings) -> None:
    """Check each log with its questions and decisions, then each journal against its log and its settings."""
    project = found.project
    place = project.data / "logs"
    known: dict[str, _Log] = {}
    for folder in found.attempt(place, folders, place) or []:
        known[folder.name] = _check_log(found, folder)
    for at in found.attempt(project.data / "label", evidence.places, project) or []:
        found.count("journals", 1)
        log = known.get(at.log)
        if log is None:
            found.note("unknown-log", at.journal, f"the log {at.log!r} is not here")
        elif at.query_id not in log.queries:
            found.note("unknown-query", at.journal, f"the log {at.log!r} has no question {at.query_id!r}")
        _check_journal(found, at, log)


def _check_log(found: Findings, folder: Path) -> _Log:
    project, name = found.project, folder.name
    if not logs.forms(project, name):
        found.warning("no-log", folder, "it holds no chunks, so that nothing reads it")
        return _Log(None, {})
    found.count("logs", 1)
    path = found.attempt(folder, logs.check, project, name)
    if path is None:
        return _Log(None, {})
    shas = found.attempt(path, _shas, project, name)
    found.count("chunks", len(shas or ()))
    queries = found.attempt(folder / logs.QUERIES, logs.queries, project, name) or []
    found.count("questions", len(queries))
    made = _Log(shas, {one.query_id: one for one in queries})
    updates = folder / logs.UPDATES
    for path in found.attempt(updates, files, updates, ".jsonl") or []:
        _check_updates(found, path, name, made)
    found.strays(folder, (logs.CHUNKS, logs.LARGE, logs.QUERIES, logs.UPDATES), "the log")
    return made


def _shas(project: Project, name: str) -> list[str]:
    return [one.chunk_sha for one in logs.chunks(project, name)]


def _check_updates(found: Findings, path: Path, name: str, log: _Log) -> None:
    decided = found.attempt(path, logs.updates, found.project, name, path.stem)
    if decided is None:
        return
    found.count("decisions", len(decided.last) + decided.n_again)
    if path.stem not in log.queries:
        found.note("unknown-query", path, f"the log {name!r} has no question {path.stem!r}")
    if decided.n_again:
        n = plural(decided.n_again, "decision")
        found.note("decided-again", path, f"{n} about places that were decided again: the last one counts")
    if log.shas is None:
        return
    outside = [one.t for one in decided.last if one.t >= len(log.shas)]
    if outside:
        found.warning(
            "outside-log",
            path,
            f"{plural(len(outside), 'decision')} about places that the log does not have, which holds "
            f"{plural(len(log.shas), 'chunk')}: t {', '.join(map(str, outside[:5]))}",
        )
    lost = sum(one.chunk_sha not in log.contents for one in decided.last)
    if lost:
        n = plural(lost, "decision")
        found.note("other-contents", path, f"{n} about contents that the log does not hold")


def _check_journal(found: Findings, at: Place, log: _Log | None) -> None:
    project = found.project
    begun: list[JournalSettings | None] = []
    found.attempt(at.settings, lambda: begun.append(evidence.settings(project, at)))
    settings = begun[0] if begun else None
    query = log.queries.get(at.query_id) if log else None
    if settings is not None and query is not None:
        asked = settings.asked.get("question_sha")
        if asked != query.question_sha:
            found.error(
                "other-question",
                at.settings,
                f"it asked the question {asked}, and {at.query_id!r} is {query.question_sha} now",
            )
    said = found.attempt(at.journal, _labels, project, at) if begun else None
    if said is None:
        return
    found.count("evidence labels", len(said))
    if settings is None:
        _check_foreign(found, at, query)
    if log is not None and log.shas is not None:
        elsewhere = sum(sha not in log.contents for sha in said)
        if elsewhere:
            n = plural(elsewhere, "label")
            found.note("other-contents", at.journal, f"{n} of contents that the log does not hold now")
    _check_readings(found, at, said, settings)
    found.attempt(at.failed, evidence.standing_failures, project, at)
    found.attempt(at.probes, evidence.probes, project, at)


def _labels(project: Project, at: Place) -> dict[str, bool]:
    return {one.chunk_sha: one.label for one in evidence.labels(project, at)}


def _check_foreign(found: Findings, at: Place, query: Query | None) -> None:
    """Check a journal without settings: another tool's has none, and evh's own has lost them."""
    asked = {
        (one.prompt_sha, one.question_sha)
        for one in evidence.labels(found.project, at)
        if one.prompt_sha or one.question_sha
    }
    if not asked:
        found.note("unknown-settings", at.journal, "how it was asked is not recorded: nothing may be added")
        return
    found.error(
        "unknown-settings",
        at.journal,
        f"{found.project.show(at.settings)} is missing: how it was asked is not known",
    )
    if query is not None and any(question not in ("", query.question_sha) for _, question in asked):
        found.error("other-question", at.journal, f"it holds labels of another question than {at.query_id!r}")


def _check_readings(
    found: Findings, at: Place, said: Mapping[str, bool], settings: JournalSettings | None
) -> None:
    """Hold each label against the replies that it was made of, where they are kept and all say yes or no."""
    repeat = settings.asked.get("repeat") if settings else None
    last: dict[str, dict[int, str]] = {}

    def read() -> bool:
        for one in evidence.readings(found.project, at):
            if one.chunk_sha in said:
                last.setdefault(one.chunk_sha, {})[one.k] = one.verdict
        return True

    if not found.attempt(at.readings, read) or not isinstance(repeat, int):
        return
    for sha, verdicts in last.items():
        votes = Counter(verdicts[k] for k in range(1, repeat + 1) if k in verdicts)
        yes, no = votes["yes"], votes["no"]
        if yes + no == repeat and (yes > no) != said[sha]:
            label = "yes" if said[sha] else "no"
            found.error(
                "other-label",
                at.journal,
                f"{sha[:12]}… is labelled {label}, and its replies say yes {yes} of {repeat} times",
            )
