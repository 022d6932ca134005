"""`evh run --engine ray`: the run that one process makes, resumed over parts, and a node killed under it.

Where Ray is not installed the cluster's tests are skipped, and say so: ``pip install 'evh[ray]'``. What needs
no cluster runs everywhere.
"""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evh.acts import ray_cluster, run_ray, run_ray_worker
from evh.acts import run as act
from evh.acts.run_keep import Answer, Keeper
from evh.acts.run_ray_worker import Job
from evh.errors import Refusal
from evh.project import configs, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from tests.acts.asking import KEY, arm
from tests.acts.clusters import needs_ray, two_nodes
from tests.acts.running import adapter, rows_of, three_items, unchanged
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check
from tests.servers.replies import error, fine
from tests.servers.scripted import Play, Request, Scripted

ITEMS = {f"i{number:03}": f"text {number:03}" for number in range(120)}
UPPER = """
from evh.adapters import Result

def warmup(params):
    global ready
    ready = True

def call_system(text, params):
    assert ready
    if text.endswith("007"):
        raise ValueError("seven")
    return Result(text.upper(), tokens_in=len(text), cost_usd=0.5)
"""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes on this machine, which ``RAY_ADDRESS`` names."""
    yield from two_nodes(monkeypatch)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray counts as installed, for what is refused or asked without a cluster; no arm is open yet."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    run_ray_worker._opened.clear()


def many(project: Project) -> Builder:
    """The dataset ``d`` of 120 items."""
    made = Builder(project)
    made.dataset("d", ITEMS)
    made.labels("d", "s", {name: text.upper() for name, text in ITEMS.items()})
    return made


def begun(project: Project, name: str = "c", **options: Any) -> tuple[act.Plan, Run]:
    """Begin a run of an arm that a cluster is to ask."""
    plan = act.plan(project, configs.read(project, name), engine="ray", **options)
    return plan, act._begin(project, plan, 1, None)


def batch(project: Project, plan: act.Plan, run: Run, names: list[str], *, name: str = "b") -> dict[str, Any]:
    """Ask a batch as a worker does, and return the receipt."""
    return run_ray_worker.ask_batch(row(plan, names, name), run_ray.work_of(project, plan, run, 1))


def row(plan: act.Plan, names: list[str], name: str = "b") -> dict[str, Any]:
    """Return a batch as it travels."""
    jobs = [Job(one, ITEMS[one.item_id].encode()) for one in plan.items if one.item_id in names]
    return {"name": name, "jobs": run_ray_worker.dump_jobs(jobs)}


def alike(rows: dict[str, Prediction]) -> dict[str, Prediction]:
    """Return predictions without the time they took."""
    return {name: replace(one, latency_ms=None) for name, one in rows.items()}


def echoed(request: Request) -> Play:
    """Answer with the item's own text after a moment, so that a node dies in the middle."""
    time.sleep(0.01)
    return fine(str(request.body["messages"][-1]["content"]).upper())


# --- over a cluster of two nodes ---


@needs_ray
@pytest.mark.filterwarnings("ignore")  # Ray warns of its own settings, and leaves sockets open at its end
def test_the_run_is_the_one_that_one_process_makes(project: Project, evh: CommandLine, cluster: Any) -> None:
    """Echo and a Python adapter with one failing item: same record, same rows, two repeats, a limit.

    Then a model server, while a node is killed: each item once in the journal, and those of a part that a
    killed driver left are not asked.
    """
    build = many(project)
    build.config("e", dataset_id="d", params={"provider": "echo"})
    build.config("p", dataset_id="d", adapter=adapter(project, UPPER), params={"provider": "python"})
    for name, code, words in (("e", 0, ("--repeat", "2", "--limit", "50")), ("p", 3, ("--concurrency", "2"))):
        alone = evh("run", "--config", name, "--json", *words)
        over = evh("run", "--config", name, "--json", *words, "--engine", "ray")
        assert (alone.code, over.code) == (code, code), over.out + over.err
        check(over.json, "run")
        for one, other in zip(alone.json["runs"], over.json["runs"], strict=True):
            assert one["fingerprint"] == other["fingerprint"]
            assert {key: one[key] for key in ("scores", "n_items", "n_errors", "n_scored")} == {
                key: other[key] for key in ("scores", "n_items", "n_errors", "n_scored")
            }
            assert alike(rows_of(project, one)) == alike(rows_of(project, other))
        assert [one["error"] for one in over.json["failed"]] == [one["error"] for one in alone.json["failed"]]
        warm = runs.read(project, over.json["runs"][0]["run_id"]).warmup_ms
        assert (warm is not None) == (name == "p")  # a worker warmed up
    with Scripted(echoed) as server:
        arm(build, server)
        plan, run = begun(project)
        assert batch(project, plan, run, list(ITEMS)[:20])["n"] == 20
        killer = threading.Thread(target=_kill, args=(cluster, server, 20 + 15), daemon=True)
        killer.start()
        done = evh("run", "--config", "c", "--resume", "--engine", "ray", "--json")
        killer.join(60)
        assert not cluster.worker_nodes  # it was killed
        asked = Counter(str(one.body["messages"][-1]["content"]) for one in server.requests)
    assert done.code == 0, done.out + done.err
    (made,) = done.json["runs"]
    assert made["run_id"] == run.run_id
    assert {name: one.decision for name, one in rows_of(project, made).items()} == {
        name: text.upper() for name, text in ITEMS.items()
    }
    assert all(asked[text] == 1 for text in list(ITEMS.values())[:20])
    assert not run_ray.parts_of(project, run).folder.exists()


def _kill(cluster: Any, server: Scripted, after: int) -> None:
    """Kill the second node, with its workers, once so many requests came."""
    until = time.monotonic() + 120
    while len(server.requests) < after and time.monotonic() < until:
        time.sleep(0.02)
    if len(server.requests) >= after:
        cluster.remove_node(list(cluster.worker_nodes)[0], allow_graceful=False)  # noqa: RUF015


@needs_ray
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("cluster")
def test_what_a_node_cannot_do_is_told_and_resumed(
    project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers without the key's variable: refused with the node and the variable, nothing asked.

    Then a server that is down for one item: exit 3, and --resume without Ray asks that item alone. An adapter
    that ends its process on one item ends the run, and what the other workers wrote is merged.
    """
    build = many(project)
    down = [True]

    def one_down(request: Request) -> Play:
        text = str(request.body["messages"][-1]["content"])
        return error(409, "busy") if text == "text 003" and down else fine(text.upper())

    with Scripted(one_down) as server:
        arm(build, server, "k", api_key_env="H_KEY")
        monkeypatch.setenv("H_KEY", KEY)  # here alone: the nodes run already
        told = evh("run", "--config", "k", "--engine", "ray", "--limit", "8")
        assert (told.code, len(server.requests)) == (1, 0)
        assert "the variable H_KEY is not set" in told.err
        assert KEY not in told.err
        arm(build, server)
        part = evh("run", "--config", "c", "--engine", "ray", "--limit", "8", "--json")
        assert part.code == 3, part.out + part.err
        assert [one["item_id"] for one in part.json["unfinished"][0]["failed"]] == ["i003"]
        asked = len(server.requests)
        down.clear()
        evh.ok("run", "--config", "c", "--resume")
        assert len(server.requests) == asked + 1
    code = (
        "import os\n\ndef call_system(text, params):\n    return text if text[-1] != '3' else os._exit(9)\n"
    )
    build.config("x", dataset_id="d", adapter=adapter(project, code), params={"provider": "python"})
    died = evh("run", "--config", "x", "--engine", "ray", "--limit", "6", "--json")
    (left,) = died.json["unfinished"]
    assert (died.code, left["reason"]) == (3, "5 workers died, one after the other, while they asked i003")
    ended = evh("run", "--config", "x", "--finish", "--json")
    assert "i000" not in [one["item_id"] for one in ended.json["failed"]]
    assert ended.json["runs"][0]["n_items"] == 6


# --- without a cluster ---


@pytest.mark.usefixtures("here")
def test_parts_of_a_killed_driver_are_merged_without_ray_too(project: Project, evh: CommandLine) -> None:
    """--resume in one process asks only what no part holds, and keeps each item once."""
    build = many(project)
    with Scripted(echoed) as server:
        arm(build, server)
        plan, run = begun(project)
        with Keeper(project, run, plan.dataset, plan.items) as keeper:  # merged, and its part not dropped
            keeper.keep(plan.items[0], Answer(Prediction("i000"), "TEXT 000"))
        assert batch(project, plan, run, list(ITEMS)[:100])["n"] == 100
        assert batch(project, plan, run, list(ITEMS)[:100])["n"] == -1  # it is there: nothing is asked
        assert len(server.requests) == 100
        assert evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]["run_id"] == run.run_id
        assert {str(one.body["messages"][-1]["content"]) for one in server.requests[100:]} == set(
            list(ITEMS.values())[100:]
        )
    assert not run_ray.parts_of(project, run).folder.exists()
    found = runs.predictions(project, runs.read(project, run.run_id))
    assert [one.item_id for one in found] == list(ITEMS)


@pytest.mark.usefixtures("here")
def test_a_failure_that_may_pass_is_asked_again_after_a_merge(project: Project, evh: CommandLine) -> None:
    """A part's failure of the server stays a passing one: --finish keeps its error, --resume asks again."""
    build = many(project)
    with Scripted([error(409, "busy")]) as server:
        arm(build, server)
        plan, run = begun(project, limit=2)
        receipt = batch(project, plan, run, ["i000"])
    assert receipt["n"] == 1
    with Keeper(project, run, plan.dataset, plan.items) as keeper:
        assert run_ray.left_over(project, run, keeper) == 0
        assert [one.item_id for one in keeper.waiting] == ["i000", "i001"]
        assert list(keeper.passing) == ["i000"]
    done = evh("run", "--config", "c", "--finish", "--json")
    assert done.code == 3
    assert [one["error"][:7] for one in done.json["failed"]] == ["refused", "not ask"]


@pytest.mark.usefixtures("here")
def test_an_answer_travels_whole(project: Project) -> None:
    """Any text, a cost, hidden keys, a failure that may pass: what a worker wrote is what is merged."""
    build = many(project)
    build.config("c", dataset_id="d", params={"provider": "echo"})
    _, run = begun(project)
    item = replace(run_item(project), fields={"f": "ü\u202e", "n": 1.5, "b": True}, lineage={"a": [1]})
    (job,) = run_ray_worker.parse_jobs(run_ray_worker.dump_jobs([Job(item, b"\xff\x00")]))
    assert job == Job(item, b"\xff\x00")
    for answer in (
        Answer(Prediction("i000", cost_usd=0.25, hidden={"_meta": {"k": [1]}}), "a\u0000\u202e\r\n"),
        Answer(Prediction("i000", error="x"), None, may_pass=True),
    ):
        parts = run_ray.parts_of(project, run)
        parts.write("p", [run_ray_worker.dump(item, answer)])
        (found,) = parts.rows(parts.path("p"))
        assert run_ray_worker.parse(found["answer"], "p") == answer
    with pytest.raises(Refusal) as told:
        run_ray_worker.parse("{}", "p")
    assert told.value.code == "bad-part"


def run_item(project: Project) -> Any:
    """Return the first item."""
    return act.plan(project, configs.read(project, "c")).items[0]


@pytest.mark.usefixtures("here")
def test_a_worker_refuses_another_arm_and_a_missing_key(
    project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An adapter that is gone or another one, no project, no key: the reason is in the receipt, no part."""
    build = many(project)
    build.config("c", dataset_id="d", adapter=adapter(project, UPPER), params={"provider": "python"})
    plan, run = begun(project)
    adapter(project, UPPER + "\n# edited\n")
    assert "adapter_sha256" in refused(project, plan, run)
    (project.data / "adapters" / "mine.py").unlink()
    assert "mine.py: no such file" in refused(project, plan, run)
    gone = replace(project, root=tmp_path / "elsewhere", data=tmp_path / "elsewhere" / "data")
    work = replace(run_ray.work_of(project, plan, run, 1), project=gone)
    assert "elsewhere/data: no such folder" in why(run_ray_worker.ask_batch(row(plan, ["i000"]), work))
    adapter(project, UPPER)
    monkeypatch.setenv("H_KEY", KEY)
    build.config(
        "m",
        dataset_id="d",
        params={
            "provider": "openai",
            "model": "m",
            "base_url": "http://127.0.0.1:9/v1",
            "api_key_env": "H_KEY",
        },
    )
    found = Project.find(home=project.root)
    plan, run = begun(found, name="m")
    work = run_ray.work_of(found, plan, run, 1)
    assert KEY not in repr(work)
    assert KEY not in json.dumps(dict(work.project.environ))
    monkeypatch.delenv("H_KEY")
    assert "the variable H_KEY is not set" in refused(found, plan, run)
    assert not run_ray.parts_of(found, run).found()


def refused(project: Project, plan: act.Plan, run: Run) -> str:
    """Return why a worker asks nothing."""
    return why(batch(project, plan, run, ["i000"]))


def why(receipt: dict[str, Any]) -> str:
    """Return the reasons of a receipt, of a worker that asked nothing."""
    assert receipt["n"] == 0
    return "\n".join(json.loads(receipt["refused"]))


def test_what_a_cluster_cannot_do_is_refused(
    project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every reason at once: no cap over a cluster, nothing to ask with --finish, no Ray; nothing written."""
    build = three_items(project)
    build.config("c", dataset_id="d", params={"provider": "echo"})
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ray" else real(name))
    told = unchanged(
        build, evh, "bad-options", "run", "--config", "c", "--engine", "ray", "--max-cost", "1", "--finish"
    )
    reasons = json.loads(told)["refused"]["why"] if told.startswith("{") else told
    assert "--max-cost: nobody counts over a whole cluster" in str(reasons)
    assert "--finish asks nothing" in str(reasons)
    assert "ray: it is not installed" in str(reasons)
    told = unchanged(build, evh, "no-ray", "run", "--config", "c", "--engine", "ray")


def test_batches_feed_every_worker(project: Project) -> None:
    """Four rounds for each worker where there are items, 32 at most, more where more are asked at once."""
    del project
    assert run_ray.batch_size(3, workers=4, at_once=1) == 1
    assert run_ray.batch_size(120, workers=2, at_once=16) == 15
    assert run_ray.batch_size(1_000_000, workers=2, at_once=1) == 32
    assert run_ray.batch_size(1_000_000, workers=2, at_once=64) == 128


def test_windows_hold_each_job_once() -> None:
    """2,100 jobs in batches of 10: 64 batches at a time, the rest after them, each job in one batch."""
    made = list(ray_cluster.windows(range(2_100), str, lambda _: 1, batch_size=10))
    assert [len(window) for window in made] == [64, 64, 64, 18]
    assert [job for window in made for each in window.values() for job in each.values()] == list(range(2_100))
