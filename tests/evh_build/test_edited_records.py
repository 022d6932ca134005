"""Records that somebody edited by hand: a broken one is named, and the site is built without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import query, site
from evh_build.connect import NOUNS
from evh_build.gather import Gathered
from tests.evh_build.projects import small
from tests.helpers import Builder

REFERENCE = "references/silver/outcome/manifest.json"
CAPTURE = "captures/c/capture.json"
DATASET = "datasets/d.json"


def edit(path: Path, keys: tuple[str | int, ...], value: Any) -> None:
    """Set one value of a JSON file, however deep."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    place = raw
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    path.write_text(json.dumps(raw), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "keys", "value"),
    [
        (REFERENCE, ("promoted_from", "labels", 0), 1),
        (REFERENCE, ("promoted_from", "labels_sha256"), 1),
        (REFERENCE, ("promoted_from", "source", 0), 1),
        (REFERENCE, ("tier",), ""),
        (REFERENCE, ("name",), "\ud800"),
        (CAPTURE, ("n_records",), 1e300),
        (CAPTURE, ("n_no_time",), -1),
        (DATASET, ("items", 0, "fields", "vendor"), "\ud800"),
        (DATASET, ("items", 0, "fields"), {"\ud800": "x"}),
    ],
)
def test_a_broken_record_is_named_and_left_out(
    file: str, keys: tuple[str | int, ...], value: Any, project: Project
) -> None:
    """The tables and the pages are made of the others, and the problem names the file."""
    small(project)
    edit(project.data / file, keys, value)
    gathered = Gathered(project)
    for noun in NOUNS:
        query.select(gathered, f"SELECT * FROM {noun}")
    assert any(file in reason for one in gathered.problems for reason in one.why)
    built = site.commit(project, site.plan(project))
    assert any(file in reason for one in built.problems for reason in one.why)


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        (DATASET, ("items", 0, "lineage", "record_id")),
        (DATASET, ("description",)),
        (CAPTURE, ("source",)),
        (CAPTURE, ("records_sha256",)),
    ],
)
@pytest.mark.parametrize("infinite", [False, True])
def test_what_duckdb_cannot_hold_is_told_in_another_way(
    file: str, keys: tuple[str | int, ...], infinite: bool, project: Project
) -> None:
    """Half of a surrogate pair, or a number too large, in free JSON stops neither a query nor the site."""
    small(project)
    value: Any = float("inf") if infinite else "\ud800"
    edit(project.data / file, keys, {"a": value} if keys == ("source",) else value)
    path = project.data / file
    path.write_text(path.read_text(encoding="utf-8").replace("Infinity", "1e400"), encoding="utf-8")
    gathered = Gathered(project)
    query.select(
        gathered, "SELECT lineage ->> '$.record_id', description FROM items JOIN datasets USING (dataset_id)"
    )
    query.select(gathered, "SELECT source ->> '$.a' FROM captures")
    site.commit(project, site.plan(project))


def test_half_a_character_in_parquet_lineage_is_told_as_a_question_mark(project: Project) -> None:
    """5,001 items lie in Parquet, with their lineage as JSON text; a true backslash there stays."""
    made = Builder(project)
    texts = {f"i{n}": f"text {n}" for n in range(5_001)}
    lineage = {"i0": {"record_id": "\ud800"}, "i1": {"record_id": "\\ud800"}}
    made.dataset("big", texts, lineage=lineage)
    sql = "SELECT lineage ->> '$.record_id' FROM items WHERE item_id IN ('i0', 'i1') ORDER BY item_id"
    assert query.select(Gathered(project), sql).rows == (("?",), ("\\ud800",))


def test_a_run_without_figures_has_its_page(project: Project) -> None:
    """It names a primary metric, and nothing was scored yet: its figure is a dash."""
    made = Builder(project)
    made.dataset("d", {"a": "x"})
    run = made.run("arm", "d", {"a": "yes"}, primary_metric="correct")
    site.commit(project, site.plan(project))
    assert (project.root / ".build" / "catalog" / "runs" / run.key / "index.html").is_file()
