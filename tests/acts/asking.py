"""What the tests of `run` with a model server share: a dataset with fields, an arm that asks, its answers."""

from __future__ import annotations

from typing import Any

import pytest

from evh.llm import retry
from evh.project.find import Project
from evh.records.run import Prediction
from tests.acts import running
from tests.acts.running import TEXTS
from tests.conftest import CommandLine, Outcome
from tests.helpers import Builder
from tests.schema import check
from tests.servers.scripted import Scripted

KEY = "sk-live-0123456789"


def three_fields(project: Project) -> Builder:
    """A project with the dataset ``d`` of three items, each with a field, and a person's labels of two."""
    made = Builder(project)
    made.dataset("d", TEXTS, fields={name: {"lang": name[0], "n": 1, "ok": True} for name in TEXTS})
    made.labels("d", "s", {"one": "yes", "two": "no"})
    return made


def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make waits between tries a hundredth of what they are."""
    real = retry.wait_s
    monkeypatch.setattr(retry, "wait_s", lambda *words: min(real(*words), 2.0) / 100)


def arm(build: Builder, server: Scripted | None, name: str = "c", **params: Any) -> None:
    """Write an arm that asks a scripted server."""
    more = {"base_url": server.base_url} if server else {}
    build.config(name, dataset_id="d", params={"provider": "openai", "model": "m", **more, **params})


def sent(server: Scripted) -> dict[str, dict[str, Any]]:
    """Return the body of each request by its last message."""
    return {one.body["messages"][-1]["content"]: one.body for one in server.requests}


def rows_of(project: Project, outcome: Outcome) -> dict[str, Prediction]:
    """Return the predictions of the one run that a command made, by item."""
    return running.rows_of(project, outcome.json["runs"][0])


def run(evh: CommandLine, *words: str, code: int = 0) -> Outcome:
    """Run the arm ``c``, hold the document against its schema, and return it."""
    outcome = evh("run", "--config", "c", *words, "--json")
    assert outcome.code == code, outcome.out + outcome.err
    check(outcome.json, "run")
    return outcome
