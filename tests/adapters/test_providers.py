"""The providers: what each says of itself, and prices. Their answers: tests/acts/test_run_providers.py."""

from __future__ import annotations

from typing import Any

import pytest

from evh.adapters import Result, loader
from evh.adapters.providers import open_provider, priced
from evh.project import configs
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.helpers import Builder


@pytest.mark.parametrize(
    ("result", "prices", "cost"),
    [
        # 2,000,000 tokens in at 3 dollars a million, 500,000 out at 10
        (Result("x", tokens_in=2_000_000, tokens_out=500_000), {"in": 3, "out": 10}, 11.0),
        (Result("x", tokens_in=2_000_000, tokens_out=500_000), {"in": 3}, 6.0),
        (Result("x", tokens_in=2_000_000, cost_usd=0.25), {"in": 3, "out": 10}, 0.25),
        (Result("x", tokens_in=2_000_000), {}, None),
        (Result("x"), {"in": 3, "out": 10}, None),
    ],
)
def test_a_price_is_the_systems_own_else_that_of_its_tokens(
    result: Result, prices: dict[str, Any], cost: float | None
) -> None:
    """Unknown tokens or prices cost nothing that is known: None, never 0."""
    assert priced(result, {f"usd_per_mtok_{name}": value for name, value in prices.items()}) == cost


def test_what_a_fingerprint_says_of_each(project: Project) -> None:
    """A command names the hash of the project's own files in it; a recorded arm its capture's digest."""
    build = Builder(project)
    capture = build.capture("k", [{"record_id": "1", "output": "x"}])
    (project.root / "answer.sh").write_bytes(b"cat\n")
    build.config("echo")
    build.config("command", params={"provider": "command", "command": "sh answer.sh"})
    build.config("recorded", params={"provider": "recorded", "capture": "k"})
    adapter = loader.load(project, "")
    found = {
        name: dict(open_provider(project, configs.read(project, name), adapter).identity)
        for name in ("echo", "command", "recorded")
    }
    assert found == {
        "echo": {},
        "command": {"command_files": {"answer.sh": sha256(b"cat\n")}},
        "recorded": {"capture": "k", "capture_sha256": capture.records_sha256},
    }


def test_how_many_at_once(project: Project) -> None:
    """A Python function is asked one item at a time, a command four; only these two have a latency."""
    build = Builder(project)
    (project.data / "a.py").write_text("def call_system(text, params):\n    return text\n", "utf-8")
    build.config("python", adapter="data/a.py", params={"provider": "python"})
    build.config("command", params={"provider": "command", "command": "cat"})
    build.config("echo")
    told = {}
    for name in ("python", "command", "echo"):
        config = configs.read(project, name)
        provider = open_provider(project, config, loader.load(project, config.adapter))
        told[name] = (provider.threads, provider.timed)
    assert told == {"python": (1, True), "command": (4, True), "echo": (1, False)}
