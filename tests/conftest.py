"""Fixtures that every room's tests share: a project in a temporary folder, and the command line."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from evh.project.find import Project
from tests.schema import check

NOW = "2026-11-01T08:02:32Z"

# A busy machine is no failure: what a property promises is not how fast it is checked.
settings.register_profile("evh", deadline=None)
settings.load_profile("evh")

# A script's background job ignores Ctrl-C, and so would every command that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer's shell points a test at another project."""
    for name in ("EVAL_HOME", "EVAL_DATA_DIR", "EVAL_RUNS_DIR", "EVAL_GOALS_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVH_NOW", NOW)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project, its clock fixed at `NOW`."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / ".gitattributes").write_bytes(b"* -text\n")
    (tmp_path / "evh.toml").write_bytes(b'[project]\nname = "test project"\n')
    return Project.find(home=tmp_path)


@dataclass(frozen=True)
class Outcome:
    """What one call of the command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)


class CommandLine:
    """Calls ``evh`` in this process, in a project's folder."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def __call__(self, *words: str | Path) -> Outcome:
        """Run one command line and return its exit code and what it printed."""
        from evh.cli.main import main

        self._capsys.readouterr()
        code = 0
        try:
            main(["-C", str(self.root), *map(str, words)])
        except SystemExit as done:
            code = done.code if isinstance(done.code, int) else 0
        captured = self._capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    def ok(self, *words: str | Path) -> Outcome:
        """Run one command line that must succeed."""
        outcome = self(*words)
        assert outcome.code == 0, f"{words} exited {outcome.code}:\n{outcome.out}\n{outcome.err}"
        return outcome

    def refused(self, code: str, *words: str | Path) -> Outcome:
        """Run one command line that must be refused with ``code``; return what it told."""
        outcome = self(*words, "--json")
        assert outcome.code == 1, f"{words} exited {outcome.code}, not 1:\n{outcome.out}\n{outcome.err}"
        check(outcome.json, "refused")
        assert outcome.json["refused"]["code"] == code, outcome.out
        return outcome


@pytest.fixture
def evh(project: Project, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in the `project`."""
    return CommandLine(project.root, capsys)
