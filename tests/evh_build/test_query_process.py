"""A query in a process of its own: its time, its memory, and what comes back."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project.find import Project
from evh_build.query_process import ask
from tests.evh_build.projects import small


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range + b.range) = 1",
        "SELECT len(regexp_replace(repeat('a', 400000000), 'a', 'bb', 'g'))",
        "SELECT len(repeat('x', 2000000000))",
    ],
)
def test_a_query_ends_at_its_time(sql: str, project: Project) -> None:
    """Even one call of one function, at which DuckDB itself never stops, ends at half a second."""
    began = time.monotonic()
    with pytest.raises(Refusal) as refused, ask(project, sql, seconds=0.5):
        pass
    assert refused.value.code == "too-slow"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("sql", ["SELECT len(range(300000000))", "SELECT range FROM range(1000000000)"])
def test_a_query_ends_at_its_memory(sql: str, project: Project) -> None:
    """2.4 GB in one list, 8 GB of rows: told as too much, within the time."""
    with pytest.raises(Refusal) as refused, ask(project, sql, seconds=60):
        pass
    assert refused.value.code == "too-large"


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), 3_600.5])
def test_a_time_that_is_none_is_refused(seconds: float, project: Project) -> None:
    """Only more than 0 and at most an hour is a limit."""
    with pytest.raises(Refusal) as refused, ask(project, "SELECT 1", seconds=seconds):
        pass
    assert refused.value.code == "bad-options"


def test_rows_come_as_they_are_asked_for(project: Project) -> None:
    """Three million rows: their count is known at once, and the first is there without the others."""
    with ask(project, "SELECT range FROM range(3000000)") as reply:
        assert reply.head.n_rows == 3_000_000
        assert next(reply.rows) == (0,)


def test_all_rows_come_in_their_order(project: Project) -> None:
    """2,500 rows, more than two batches, and none."""
    with ask(project, "SELECT range AS n FROM range(2500) ORDER BY n DESC") as reply:
        assert [row[0] for row in reply.rows] == list(range(2_499, -1, -1))
    with ask(project, "SELECT 1 AS n WHERE false") as reply:
        assert list(reply.rows) == []


def test_what_could_not_be_read_is_told(project: Project) -> None:
    """A broken record of the project is named beside the answer."""
    small(project)
    path = project.data / "captures" / "broken" / "capture.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with ask(project, "SELECT count(*) FROM captures") as reply:
        assert list(reply.rows) == [(1,)]
        assert any("broken" in one.what for one in reply.head.problems)


def test_the_process_ends_with_the_block(project: Project) -> None:
    """One that still has rows to send is gone after the block, and leaves no folder in the cache."""
    with ask(project, "SELECT range FROM range(3000000)") as reply:
        next(reply.rows)
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
        before = children.read_text().split() if children.is_file() else []
    after = children.read_text().split() if children.is_file() else []
    assert len(after) == max(len(before) - 1, 0)
    assert not list((project.cache / "duckdb").glob("*"))


def test_a_query_that_is_killed_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that somebody else ends, as a system short of memory does, is a refusal too."""
    import subprocess

    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def seen(*given: object, **more: object) -> subprocess.Popen[bytes]:
        started.append(real(*given, **more))  # type: ignore[call-overload]
        started[-1].send_signal(signal.SIGKILL)
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", seen)
    with pytest.raises(Refusal) as refused, ask(project, "SELECT 1"):
        pass
    assert refused.value.code == "too-large"


@pytest.mark.parametrize("link", [".cache", ".cache/duckdb"])
def test_nothing_is_spilled_through_a_link_that_leads_out(
    link: str, project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A cache that is a link to elsewhere gets no file."""
    place = project.root / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(Refusal) as refused, ask(project, "SELECT 1"):
        pass
    assert refused.value.code == "outside"
