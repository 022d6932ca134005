"""`evh run --retry-failed`: a new run with the answers of a finished one; only what failed is asked."""

from __future__ import annotations

from typing import Any

import pytest

from evh.project import runs
from evh.project.find import Project
from tests.conftest import CommandLine, Outcome
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.servers.replies import error, fine
from tests.servers.scripted import Play, Request, Scripted

TEXTS = {"one": "alpha", "two": "beta", "three": "gamma"}


@pytest.fixture
def build(project: Project) -> Builder:
    """The dataset ``d`` of three items, two of them labelled ``yes``."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    made.labels("d", "s", {"one": "yes", "two": "yes"})
    return made


def run(evh: CommandLine, *words: str, code: int = 0) -> Outcome:
    """Run the arm ``c``, hold the document against its schema, and return it."""
    outcome = evh("run", "--config", "c", *words, "--json")
    assert outcome.code == code, outcome.out + outcome.err
    check(outcome.json, "run")
    return outcome


def decisions(project: Project, outcome: Outcome) -> dict[str, str | None]:
    """Return what a command's one run decided, by item."""
    row = outcome.json["runs"][0]
    found = runs.predictions(project, runs.read(project, row["run_id"], folder=row["folder"]))
    return {one.item_id: one.decision for one in found}


def asked(server: Scripted) -> list[str]:
    """Return the texts that were asked, sorted."""
    return sorted(one.body["messages"][-1]["content"] for one in server.requests)


def arm(build: Builder, server: Scripted, **params: Any) -> None:
    """Write the arm ``c``, which asks a scripted server."""
    more = {"provider": "openai", "model": "m", "base_url": server.base_url}
    build.config("c", dataset_id="d", labels="d/s", params={**more, **params})


def test_answers_of_an_arm_that_asks_another_server_are_not_taken(build: Builder, evh: CommandLine) -> None:
    """The config names another address since: it is refused, that key named, and nobody is asked."""
    with Scripted(lambda request: error(400, "no") if "beta" in str(request.body) else fine("yes")) as server:
        arm(build, server)
        run(evh, code=3)
    with Scripted([fine("no")]) as server:
        (build.project.data / "configs" / "c.yaml").unlink()
        arm(build, server)
        refused = evh.refused("other-fingerprint", "run", "--config", "c", "--retry-failed")
        assert "base_url" in refused.out
        assert server.requests == []


def test_the_answers_are_those_of_both_runs(build: Builder, evh: CommandLine) -> None:
    """The server first refuses one item, then answers it: one call is made, and the sum is scored anew."""
    broken = [True]

    def play(request: Request) -> Play:
        return error(400, "no") if broken[0] and "beta" in str(request.body) else fine("yes")

    with Scripted(play) as server:
        arm(build, server)
        first = run(evh, "--labels", "d/s", code=3).json["runs"][0]
        assert (first["n_errors"], len(server.requests)) == (1, 3)
        place = build.project.data / first["folder"] / first["run_id"]
        before = tree_bytes(place)
        broken[0] = False
        server.requests.clear()
        second = run(evh, "--retry-failed", "--labels", "d/s")
        assert asked(server) == ["beta"]
    row = second.json["runs"][0]
    assert (row["run_id"] != first["run_id"], row["n_errors"]) == (True, 0)
    assert decisions(build.project, second) == {"one": "yes", "two": "yes", "three": "yes"}
    made = runs.read(build.project, row["run_id"], folder=row["folder"])
    assert made.extra["taken_over"] == {"from": f"{first['folder']}/{first['run_id']}", "n": 2}
    assert made.scores["correct"] == 1.0
    assert tree_bytes(place) == before


def test_there_must_be_something_that_failed(build: Builder, evh: CommandLine) -> None:
    """No finished run, and a run without a failure, are refused; so are options that would change it."""
    build.config("c", dataset_id="d")
    evh.refused("nothing-to-retry", "run", "--config", "c", "--retry-failed")
    evh.ok("run", "--config", "c")
    evh.refused("nothing-to-retry", "run", "--config", "c", "--retry-failed")
    evh.refused("bad-options", "run", "--config", "c", "--retry-failed", "--limit", "2")
    evh.refused("bad-options", "run", "--config", "c", "--retry-failed", "--resume")


def test_answers_of_an_adapter_that_was_another_are_not_taken(build: Builder, evh: CommandLine) -> None:
    """The adapter answers itself and was mended since: both hashes are named, and nothing is written."""
    folder = build.project.data / "adapters"
    folder.mkdir(parents=True, exist_ok=True)
    text = "def call_system(text, params):\n    assert text != 'beta'\n    return 'yes'\n"
    (folder / "mine.py").write_text(text)
    build.config("c", adapter="../adapters/mine.py", dataset_id="d", params={"provider": "python"})
    assert evh("run", "--config", "c").code == 3
    (folder / "mine.py").write_text(text.replace("'beta'", "'delta'"))
    before = tree_bytes(build.project.data)
    refused = evh.refused("other-fingerprint", "run", "--config", "c", "--retry-failed")
    assert "adapter_sha256" in refused.out
    assert tree_bytes(build.project.data) == before
