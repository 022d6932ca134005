"""What the tests of sheets share: the project of the hand count, and filling in a sheet as a person does."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from tests.helpers import Builder, correct

# The fixture, counted by hand:
#   item   fields       truth  production   a            b
#   one    kind=x n=1   yes    yes          yes          no
#   two    kind=y n=2   no     yes          no           maybe
#   three  kind=x n=3   yes    no           yes          yes
#   four   kind=z       —      yes          no           maybe
#   five   kind=x       no     no           failed       no
TEXTS = {name: f"the text of {name}\n" for name in ("one", "two", "three", "four", "five")}
FIELDS: dict[str, dict[str, Any]] = {
    "one": {"kind": "x", "n": 1},
    "two": {"kind": "y", "n": 2},
    "three": {"kind": "x", "n": 3},
    "four": {"kind": "z"},
    "five": {"kind": "x"},
}
TRUTH = {"one": "yes", "two": "no", "three": "yes", "five": "no"}
DECISIONS: dict[str, dict[str, str | None]] = {
    "production": {"one": "yes", "two": "yes", "three": "no", "four": "yes", "five": "no"},
    "arm_a": {"one": "yes", "two": "no", "three": "yes", "four": "no", "five": None},
    "arm_b": {"one": "no", "two": "maybe", "three": "yes", "four": "maybe", "five": "no"},
}
RUNS = {name: f"runs/{name}_20261001T000000Z" for name in DECISIONS}


def compared(project: Project, decisions: Mapping[str, Mapping[str, str | None]]) -> Builder:
    """Write a dataset of the items, a set of the truth, and an arm for each name; production is recorded."""
    made = Builder(project)
    made.dataset("d", TEXTS, fields=FIELDS)
    made.labels("d", "truth", TRUTH)
    for name, said in decisions.items():
        recorded = name == "production"
        run = made.run(name, "d", said, params={"provider": "recorded" if recorded else "echo"})
        made.rescored(run, said, correct(said, TRUTH), against="labels/d/truth")
    return made


def hand_counted(project: Project) -> Builder:
    """Write the project of the hand count: a dataset, a set, a recorded arm and two candidates."""
    made = compared(project, DECISIONS)
    for name in DECISIONS:
        made.config(name)
    return made


@pytest.fixture
def built(project: Project) -> Builder:
    """The project of the hand count."""
    return hand_counted(project)


def cells_of(path: Path) -> list[list[str]]:
    """Return the cells of a CSV file as they lie there."""
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def write_cells(path: Path, rows: list[list[str]]) -> None:
    """Write cells back as a spreadsheet does."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)


def fill(path: Path, answers: Mapping[str, Mapping[str, str]]) -> None:
    """Fill in a sheet: item id → column → what is typed there."""
    header, *rows = cells_of(path)
    heads = [head.partition(" (")[0] for head in header]
    for row in rows:
        for column, text in answers.get(row[0], {}).items():
            row[heads.index(column)] = text
    write_cells(path, [header, *rows])


def letters(path: Path) -> dict[str, dict[str, str]]:
    """Return, by the key beside a sheet, item id → arm → the letter that it has there."""
    key = json.loads(path.with_suffix(".key.json").read_text(encoding="utf-8"))
    names = {run: name for name, run in RUNS.items()}
    return {
        item_id: {names.get(shown["run"], shown["run"]): letter for letter, shown in row["outputs"].items()}
        for item_id, row in key["rows"].items()
    }


def won(project: Project, scorer: str, metric: str) -> dict[str, dict[str, float]]:
    """Return, from the files, arm → item → the score that a scorer's judged run holds."""
    made: dict[str, dict[str, float]] = {}
    for folder in sorted((project.data / "runs-judged" / scorer).iterdir()):
        rows = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
        name = json.loads((folder / "metrics.json").read_text())["config_id"]
        made[name] = {row["item_id"]: row[metric] for row in rows}
    return made
