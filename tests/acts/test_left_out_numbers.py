"""A number in a run's rows that cannot be one ends no command: it is left out, and every reader says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.acts.validate import validate
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder, correct

TEXTS = {name: f"text {name}" for name in "abcd"}
SAID = dict.fromkeys(TEXTS, "yes")


@pytest.fixture
def built(project: Project) -> Builder:
    """Two arms over four items, scored against a person's labels."""
    build = Builder(project)
    build.dataset("d", TEXTS)
    truth = {"a": "yes", "b": "yes", "c": "yes", "d": "no"}
    build.labels("d", "s", truth)
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\n")
    for arm in ("one", "two"):
        build.config(arm, dataset_id="d")
        build.run(arm, "d", SAID, scores=correct(SAID, truth), against="labels/d/s")
    return build


def edit(project: Project, values: dict[str, Any], arm: str = "one") -> Path:
    """Change the first row of a run, and let metrics.json name what is there now."""
    folder = project.data / "runs" / f"{arm}_20261001T000000Z"
    rows = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    rows[0] |= values
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "predictions.jsonl").write_bytes(data)
    raw = json.loads((folder / "metrics.json").read_text())
    raw["predictions"]["sha256"] = sha256(data)
    (folder / "metrics.json").write_text(json.dumps(raw))
    return folder


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"tokens_in": 10**400},
            f"tokens_in of 1 prediction: a: is the number 1{'0' * 39}, not a finite number",
        ),
        ({"tokens_out": 2**60}, "tokens_out of 1 prediction: a: is 1.15292e+18, more than can be"),
        ({"cost_usd": -5}, "cost_usd of 1 prediction: a: is -5, below 0"),
        ({"latency_ms": "x"}, "latency_ms of 1 prediction: a: is the text 'x', not a finite number"),
        ({"correct": 10**400}, f"correct of 1 prediction: a: is the number 1{'0' * 39}, not a finite number"),
        ({"correct": "1"}, "correct of 1 prediction: a: is the text '1', not a finite number"),
    ],
)
def test_it_is_found_and_ends_nothing(
    built: Builder, evh: CommandLine, values: dict[str, Any], said: str
) -> None:
    """validate finds it, rankings and the sheet say it beside what they show, the catalog is built."""
    folder = edit(built.project, values)
    found = [one for one in validate(built.project).findings if one.code == "bad-number"]
    place = str(folder.relative_to(built.project.root))
    assert [(one.severity, one.file, one.reason) for one in found] == [("error", place, said)]
    note = f"left out: numbers of runs/one_20261001T000000Z that cannot be used ({said})"
    for words in (
        ("leaderboard", "--dataset-id", "d"),
        ("goals",),
        ("inspect", "--sheet", "--dataset-id", "d", "--runs", "one,two"),
    ):
        assert note in evh.ok(*words, "--json").json["warnings"], words
    evh.ok("runs")
    evh.ok("arms")
    built_site = evh("catalog-build")
    assert "Traceback" not in built_site.err
    assert built_site.code == 0, built_site.err
    assert "numbers of runs/one_20261001T000000Z that cannot be used" in built_site.out + built_site.err


def test_a_large_score_is_in_the_tables(built: Builder, evh: CommandLine) -> None:
    """2 to the 60th is a number that a float holds: it is a score, though Arrow would refuse it as it is."""
    edit(built.project, {"size": 2**60})
    assert not [one for one in validate(built.project).findings if one.code == "bad-number"]
    asked = "SELECT value FROM scores WHERE metric = 'size'"
    assert evh.ok("sql", asked, "--json").json["rows"] == [{"value": float(2**60)}]
    evh.ok("catalog-build")
