"""Shapes in which a sheet comes back, each a file of `tests/cases/sheets` with what must become of it."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evh.project import datasets, labels
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

CASES = sorted((Path(__file__).parents[1] / "cases" / "sheets").glob("*.txt"))
TEXTS = {
    "i1": "one",
    "i2": "two\nlines",
    "i3": "three",
    "007": "bond",
    "1-2": "dash",
    "8": "eight",
    "08": "oh eight",
    "e1": "42",
    "=run": "=1+1",
}
LINES = {"crlf": "\r\n", "cr": "\r", "lf": "\n"}


def typed(cell: str) -> Any:
    """Return what a case's cell is in a workbook: ``n:`` a number, ``d:`` a date, … else the text."""
    kind, colon, value = cell.partition(":")
    if not colon or len(kind) != 1:
        return cell
    makers: dict[str, Callable[[str], object]] = {
        "n": float,
        "d": dt.date.fromisoformat,
        "t": dt.time.fromisoformat,
        "b": lambda text: text == "true",
        "e": str,
        "f": str,
    }
    return makers[kind](value) if kind in makers else cell


def workbook(body: str) -> bytes:
    """Return a workbook of a case's rows, made by another package (openpyxl)."""
    import openpyxl

    made = openpyxl.Workbook()
    sheet = made.active
    for number, row in enumerate(csv.reader(io.StringIO(body)), start=1):
        for at, cell in enumerate(row, start=1):
            value = typed(cell)
            there = sheet.cell(number, at, value)
            if isinstance(value, str):
                there.data_type = "e" if cell.startswith("e:") else "f" if cell.startswith("f:") else "s"
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_a_sheet_of_this_shape(project: Project, evh: CommandLine, tmp_path: Path, case: Path) -> None:
    """It becomes exactly these labels, or it is refused in these words and nothing is written."""
    head, _, body = case.read_text(encoding="utf-8").partition("---\n")
    says = dict(line.split(": ", 1) for line in head.splitlines())
    Builder(project).dataset("d", TEXTS)
    for item in datasets.read(project, "d").items:
        body = body.replace(f"{{sha:{item.item_id}}}", item.sha256)
    if says.get("form") == "xlsx":
        path = tmp_path / says.get("name", "s.xlsx")
        path.write_bytes(workbook(body))
    else:
        path = tmp_path / says.get("name", "s.csv")
        path.write_bytes(
            body.replace("\n", LINES[says.get("lines", "lf")]).encode(says.get("write", "utf-8"))
        )
    words = ["label-import", str(path), "--dataset-id", "d", "--set", "s", "--by", "ann"]
    words += ["--encoding", says["read"]] if "read" in says else []
    before = tree_bytes(project.root)
    if "labels" in says:
        evh.ok(*words)
        assert labels.texts(project, labels.read(project, "d", "s"), verify=True) == json.loads(
            says["labels"]
        )
        return
    why = evh.refused(says["refused"], *words).json["refused"]["why"]
    assert says["says"] in "\n".join(why)
    assert tree_bytes(project.root) == before


def test_there_are_at_least_forty_shapes() -> None:
    """No case is lost by a name that does not match."""
    assert len(CASES) >= 40
