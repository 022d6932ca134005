"""``--engine ray`` over a local cluster of two nodes: the same journal, resumed, and a node killed under it.

Where Ray is not installed the cluster's test is skipped, and says so: ``pip install 'evh[ray]'``. What needs
no cluster runs everywhere.
"""

from __future__ import annotations

import importlib.util
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.acts import label_evidence, ray_engine
from evh.acts.evidence_ask import Asked, Asker, Job
from evh.acts.evidence_run import server_of
from evh.errors import Refusal
from evh.llm.verdict import Verdict
from evh.project.find import Project
from evh.records.evidence import Reading
from evh.store.hashing import sha256_text
from tests.acts.clusters import needs_ray, two_nodes
from tests.acts.labeling import answer, chats, chunk_of, label, log, rows
from tests.conftest import CommandLine
from tests.servers.replies import http
from tests.servers.scripted import Play, Request, Scripted

TEXTS = [f"user: turn {n}, {'I want a refund' if n % 7 == 0 else 'hello'}." for n in range(200)]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes on this machine, which ``RAY_ADDRESS`` names."""
    yield from two_nodes(monkeypatch)


def labels(project: Project) -> dict[str, tuple[bool, str]]:
    """Return chunk_sha → label and why, of a journal without doubles."""
    found = rows(project)
    assert max(Counter(one["chunk_sha"] for one in found).values()) == 1
    return {one["chunk_sha"]: (one["label"], one["why"]) for one in found}


def slowly(request: Request) -> Play:
    """Answer after a moment, so that a node dies in the middle."""
    if not request.path.endswith("/chat/completions"):
        return http(404, {"detail": "Not Found"})
    time.sleep(0.01)
    return answer(request)


@needs_ray
@pytest.mark.filterwarnings("ignore")  # Ray warns of its own settings, and leaves sockets open at its end
def test_the_same_journal_comes_out_and_a_killed_node_loses_and_doubles_nothing(
    project: Project, evh: CommandLine, cluster: Any
) -> None:
    """200 chunks, a node killed after 20 requests: 200 labels, each once and as one process gives them.

    A first batch lies there already, as a driver that was killed leaves it: those 32 are not asked again.
    Afterwards a rerun asks nothing and no part is left.
    """
    log(evh, TEXTS)
    with Scripted(slowly) as server:
        plan = label_evidence.plan(
            project, "p", "q", label_evidence.Options(base_url=server.base_url, engine="ray")
        )
        folder = ray_engine.parts_folder(project, plan)
        asker = Asker(plan.labeler, plan.settings.salt)
        left = [Job(sha256_text(text), t, text, plan.query.question) for t, text in enumerate(TEXTS[:32])]
        batch = {"name": "left-over", "jobs": _json(left)}
        work = ray_engine.Work(asker, None, str(folder), 4)
        assert ray_engine.ask_batch(batch, work) == {"name": "left-over", "n": 32, "stopped": ""}
        assert ray_engine.ask_batch(batch, work)["n"] == -1  # it is there: nothing is asked
        assert len(chats(server)) == 32
        killer = threading.Thread(target=_kill, args=(cluster, server, 32 + 20), daemon=True)
        killer.start()
        made = label(evh, server, "--engine", "ray")["journals"][0]
        killer.join(60)
        assert not cluster.worker_nodes  # it was killed
        asked = Counter(chunk_of(one) for one in chats(server) if "turn" in str(one.body))
        assert (made["n_distinct"], made["n_left"]) == (200, 0)
        assert all(asked[text] == 1 for text in TEXTS[:32])
        assert not list(folder.glob("*"))
        before = len(chats(server))
        label(evh, server, "--engine", "ray")
        assert len(chats(server)) == before
        over_ray = labels(project)
        label(evh, server, "--journal", "one-process")
    alone = {one["chunk_sha"]: (one["label"], one["why"]) for one in rows(project, "q~one-process.jsonl")}
    assert over_ray == alone
    assert {sha for sha, (yes, _) in over_ray.items() if yes} == {
        sha256_text(text) for text in TEXTS if "refund" in text
    }


def _kill(cluster: Any, server: Scripted, after: int) -> None:
    """Kill the second node, with its workers, once so many requests came."""
    until = time.monotonic() + 120
    while len(chats(server)) < after and time.monotonic() < until:
        time.sleep(0.02)
    if len(chats(server)) >= after:
        cluster.remove_node(list(cluster.worker_nodes)[0], allow_graceful=False)  # noqa: RUF015


def _json(jobs: list[Job]) -> str:
    import json
    from dataclasses import asdict

    return json.dumps([asdict(job) for job in jobs])


def test_a_part_holds_what_came_of_a_job(tmp_path: Path) -> None:
    """What is written is read back: replies with any text, a verdict, a failure's words."""
    from evh.store import atomic, parquet

    job = Job("a" * 64, 3, "text", "q?", k=2, prior=1)
    reading = Reading("a" * 64, 2, "Yes \ud800 \u202e\n", 7, "yes", tries=2, tokens_in=5, cost_usd=0.25)
    asked = Asked((reading,), Verdict(True, "because"), "said")
    path = tmp_path / "part.parquet"
    atomic.write_parts(path, parquet.dump_stream([[ray_engine.dump(job, asked)]], ray_engine.COLUMNS))
    (row,) = parquet.stream_rows(path, ray_engine.COLUMNS)
    assert row["key"] == f"{'a' * 64} 2 1 "
    assert ray_engine.parse(row, "p") == asked


def test_the_key_never_travels(project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker takes the key from its own environment, and says so where it is not set there."""
    (project.root / "evh.toml").write_text('[labeler]\napi_key_env = "LABEL_KEY"\n')
    monkeypatch.setenv("LABEL_KEY", "sk-secret")
    log(evh, TEXTS[:2])
    found = Project.find(home=project.root)
    plan = label_evidence.plan(found, "p", "q", label_evidence.Options(base_url="http://127.0.0.1:9/v1"))
    assert server_of(plan).key == "sk-secret"
    work = ray_engine.work_of(found, plan, Asker(plan.labeler, "ab"), project.root)
    assert (work.key_env, work.asker.labeler.key) == ("LABEL_KEY", None)
    monkeypatch.delenv("LABEL_KEY")
    job = Job("a" * 64, 0, "text", "q?")
    assert ray_engine.ask_batch({"name": "n", "jobs": _json([job])}, work) == {
        "name": "n", "n": 0, "stopped": "LABEL_KEY is not set on a node of the cluster",
    }  # fmt: skip


def test_a_cap_over_a_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody counts requests or dollars over a cluster; without Ray the extra is named."""
    from evh.acts.evidence_settings import Options

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    with pytest.raises(Refusal) as told:
        ray_engine.check(Options(max_calls=5, max_cost=1.0, engine="ray"))
    assert told.value.code == "bad-options"
    assert len(told.value.why) == 2
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Refusal) as told:
        ray_engine.check(Options(engine="ray"))
    assert told.value.code == "no-ray"
    with pytest.raises(Refusal) as told:
        ray_engine.check(Options(max_calls=5, engine="ray"))
    assert told.value.why == ("ray: it is not installed", "--max-calls: nobody counts over a whole cluster")
