"""What the tests of adjudicating share: two sets that differ, their sheet, and bringing it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evh.project.find import Project
from tests.acts.filling import load, save
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

ANN = {"i1": "file", "i2": "close", "i3": "file", "i4": "close"}
BO = {"i1": "file", "i2": "file", "i3": "close", "i5": "file"}


def two_sets(project: Project) -> Builder:
    """Six items; ann and bo agree on i1, differ on i2 and i3, and label i4 and i5 alone; i6 has no label."""
    made = Builder(project)
    made.dataset("d", {f"i{n}": f"report {n}" for n in range(1, 7)}, task="triage")
    made.labels("d", "ann", ANN)
    made.labels("d", "bo", BO, source={"kind": "person", "by": "bo"})
    return made


def write(evh: CommandLine, out: Path, *more: str, sets: str = "ann,bo") -> Any:
    """Write the sheet and return its row of the document."""
    outcome = evh.ok("adjudicate", "--dataset-id", "d", "--sets", sets, "--out", str(out), "--json", *more)
    return check(outcome.json, "adjudicate")["sheets"][0]


def fill(path: Path, answers: dict[str, dict[str, str]]) -> None:
    """Fill cells of a sheet: item id → column → text."""
    rows = load(path)
    for row in rows:
        row.update(answers.get(row["item_id"], {}))
    save(path, rows)


def letter_of(path: Path, item_id: str, answer: str) -> str:
    """Return the letter under which a row of a sheet shows an answer."""
    row = next(one for one in load(path) if one["item_id"] == item_id)
    return next(head for head in ("A", "B", "C") if row.get(head) == answer)


def bring_back(evh: CommandLine, path: Path, *more: str, name: str = "settled") -> None:
    """Import the filled sheet as the set ``settled``."""
    words = ["label-import", str(path), "--dataset-id", "d", "--set", name, "--by", "cy"]
    evh.ok(*words, "--adjudicates", "ann,bo", *more)
