"""What the tests of label sheets share: four items, a sheet of them, and filling it in as a person does."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from evh.project import labels
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder

TEXTS = {"i1": "one", "i2": "=two\r\nlines", "i3": "three", "007": "bond"}
Rows = list[dict[str, str]]
LABEL = r"label (yes|no|a\|b)"
COLUMNS = {"label": LABEL, "also_right": "also right"}


def four_items(project: Project) -> Builder:
    """Four items, one of a text that a spreadsheet would run, one of an id with leading zeros."""
    made = Builder(project)
    made.dataset("d", TEXTS, task="t")
    return made


def written(evh: CommandLine, folder: Path) -> Path:
    """Write a sheet of all items with the choices yes, no and a|b, a guideline, and its key."""
    (folder / "g.md").write_bytes(b"Say yes.\n")
    path = folder / "s.csv"
    words = ["--items", "all", "--choices", "yes,no,a|b", "--guideline", str(folder / "g.md")]
    evh.ok("label-sheet", "--dataset-id", "d", "--out", path, *words)
    return path


@pytest.fixture
def builder(project: Project) -> Builder:
    """The project of `four_items`."""
    return four_items(project)


@pytest.fixture
def sheet(builder: Builder, evh: CommandLine, tmp_path: Path) -> Path:
    """The sheet of `written`."""
    return written(evh, tmp_path)


def load(path: Path) -> Rows:
    """Return the cells of a sheet as a spreadsheet has them."""
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def save(path: Path, rows: Rows, *, encoding: str = "utf-8-sig", delimiter: str = ",") -> None:
    """Save a sheet as a spreadsheet would."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(out.getvalue().encode(encoding))


def fill(path: Path, answers: dict[str, str], **more: Any) -> Rows:
    """Fill labels into a sheet by item id and save it; return its rows."""
    rows = load(path)
    for row in rows:
        row[LABEL] = answers.get(row["item_id"], "")
    save(path, rows, **more)
    return rows


def words(path: Path, *more: str, name: str = "s") -> list[str | Path]:
    """Return the words that import a sheet of ``d``."""
    return ["label-import", path, "--dataset-id", "d", "--set", name, "--by", "ann", *more]


def texts(project: Project, name: str = "s") -> dict[str, str]:
    """Return the labels of a set of ``d``."""
    return labels.texts(project, labels.read(project, "d", name), verify=True)


def refusal(evh: CommandLine, code: str, path: Path, *more: str) -> list[str]:
    """Return the reasons of an import that must be refused with ``code``."""
    why: list[str] = evh.refused(code, *words(path, *more)).json["refused"]["why"]
    return why
