"""What a run of the labeler keeps, and when: each reply before the next chunk is asked, labels in groups."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evh.acts import evidence_run, label_evidence
from evh.acts.evidence_counts import Progress
from evh.project.find import Project
from evh.store.journal import Appender
from tests.acts.labeling import TEXTS, answer, chats, label, log, rows
from tests.conftest import CommandLine
from tests.servers.scripted import Play, Request, Scripted


def test_a_reply_is_kept_before_the_next_chunk_is_asked(project: Project, evh: CommandLine) -> None:
    """One at a time: when the n-th request comes, n - 1 replies are in their file."""
    log(evh)
    folder = project.data / "label" / "p"
    seen: list[int] = []

    def script(request: Request) -> Play:
        if request.path.endswith("/chat/completions"):
            labelled = lines(folder / "q.jsonl")
            seen.append(lines(folder / "q~readings.jsonl"))
            assert labelled <= seen[-1]
        return answer(request)

    with Scripted(script) as server:
        label(evh, server, "--concurrency", "1")
    assert seen == list(range(len(TEXTS)))
    assert len(rows(project)) == len(TEXTS)


def lines(path: Path) -> int:
    """Count the whole lines of a file that may not be there yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("words", [("--provider", "overlap"), ()], ids=["overlap", "server"])
def test_what_is_told_as_done_is_flushed(
    project: Project,
    evh: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    """Labels are flushed in groups: at every time that progress is told, those that count as done are."""
    log(evh, [f"chunk {n}" for n in range(400)])
    for name in ("FLUSH_S", "FLUSH_FREE_S"):
        monkeypatch.setattr(evidence_run, name, 0.0)
    flushed: dict[str, int] = {}
    real = Appender.flush

    def flush(self: Appender) -> None:
        n = lines(self._path)
        real(self)
        flushed[self._path.name] = n

    monkeypatch.setattr(Appender, "flush", flush)
    told: list[int] = []

    def progress(now: Progress) -> None:
        assert now.done <= flushed.get("q.jsonl", 0)
        assert flushed.get("q.jsonl", 0) <= flushed.get("q~readings.jsonl", 0)
        told.append(now.done)

    with Scripted(answer) as server:
        base_url = None if words else server.base_url
        options = label_evidence.Options(provider="overlap" if words else None, base_url=base_url)
        done = label_evidence.commit(
            project, label_evidence.plan(project, "p", "q", options), progress=progress
        )
        assert len(chats(server)) == (0 if words else 400)
    assert done.n_new == told[-1] == 400
    assert told == sorted(told)
    assert len({json.dumps(one["chunk_sha"]) for one in rows(project)}) == 400
