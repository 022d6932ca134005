"""Figures and promotions are held against what they were made of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.acts.validate import validate
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.whole import RUN, TWIN, edit, found, whole


@pytest.fixture
def built(project: Project) -> Builder:
    """A small whole project."""
    return whole(project)


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"scores": {"correct": 0.99}}, "scores", "correct: it says 0.99; the mean of its rows is 0.5"),
        ({"n_items": 3}, "count", "it says 3 (n_items); there are 2"),
        ({"n_errors": 1}, "count", "it says 1 (n_errors); there are 0"),
    ],
)
def test_a_runs_figures_are_made_again_from_its_rows(
    built: Builder, change: dict[str, Any], code: str, said: str
) -> None:
    """One item of two is right: a metrics.json that says otherwise was edited."""
    path = built.project.root / TWIN / "metrics.json"
    edit(path, lambda one: one.update(change))
    assert [(one.code, one.file, one.reason) for one in validate(built.project).findings] == [
        (code, f"{TWIN}/metrics.json", said)
    ]


def test_figures_that_no_row_has_are_not_held_against_the_rows(built: Builder) -> None:
    """Macro-F1 has no value an item; a foreign run without predictions has nothing to compare."""
    edit(built.project.root / TWIN / "metrics.json", lambda one: one["scores"].update(macro_f1=0.25))
    foreign = built.project.data / "runs" / "theirs"
    foreign.mkdir()
    raw = {"run_id": "theirs", "config_id": "arm", "dataset_id": "d", "n_items": 9, "scores": {"f1": 0.5}}
    (foreign / "metrics.json").write_text(json.dumps(raw))
    assert found(built.project) == []


def test_a_run_that_names_an_item_twice_is_found(built: Builder) -> None:
    """No row of a finished run silently wins over another, whatever digest is on record."""
    folder = built.project.root / RUN
    rows = (folder / "predictions.jsonl").read_bytes()
    doubled = rows + rows.splitlines(keepends=True)[0]
    (folder / "predictions.jsonl").write_bytes(doubled)
    edit(folder / "metrics.json", lambda one: one["predictions"].update(sha256=sha256(doubled), rows=3))
    assert ("error", "doubled-rows", RUN) in found(built.project)


def test_a_promotion_from_a_set_that_is_gone_is_a_warning(built: Builder) -> None:
    """Nothing shows then that the texts are its labels. Left out on purpose, it is a note."""
    data = built.project.data
    (data / "labels/d/truth").rename(built.project.root / "truth")
    file = "data/references/silver/ref/manifest.json"
    assert found(built.project) == [("warning", "unknown-set", file)]
    edit(data / "datasets/d.json", lambda one: one.update(redistributable=False))
    report = validate(built.project)
    assert report.findings == ()
    assert ("unknown-set", file) in [(one.code, one.file) for one in report.notes]
    edit(data / "datasets/d.json", lambda one: one.update(redistributable=True))
    (data / "labels/d").rmdir()
    (data / "labels").rmdir()
    assert validate(built.project).findings == ()


def test_a_broken_run_hides_nothing_else(built: Builder) -> None:
    """The run that another takes its outputs from cannot be read: all other findings are told with it."""
    (built.project.root / RUN / "metrics.json").write_text("{")
    edit(built.project.root / TWIN / "metrics.json", lambda one: one["scores"].update(correct=1))
    (built.project.data / "labels/d/truth/one.txt").write_text("no")
    assert found(built.project) == [
        ("error", "edited-set", "data/labels/d/truth"),
        ("error", "scores", f"{TWIN}/metrics.json"),
        ("error", "bad-json", f"{RUN}/metrics.json"),
    ]


@pytest.mark.parametrize(
    ("keys", "value", "code"),
    [
        (("fingerprint", "arm", "fitted_on"), [], "fingerprint"),
        (("fingerprint", "data", "items_sha256"), "0" * 64, "fingerprint"),
        (("reference_id",), "labels/d/other", "folder"),
    ],
)
def test_what_a_run_says_of_itself_is_held_against_its_hash_and_folder(
    project: Project, evh: CommandLine, keys: tuple[str, ...], value: object, code: str
) -> None:
    """An edited fingerprint no longer has its hash; another target no longer fits the folder."""
    built = Builder(project)
    built.dataset("d", {"one": "1", "two": "2"})
    built.labels("d", "s", {"one": "1", "two": "x"})
    built.labels("d", "other", {"one": "1"})
    built.config("c", dataset_id="d", fitted_on=("d",))
    evh.ok("run", "--config", "c")
    evh.ok("rescore", "--dataset-id", "d", "--labels", "d/s")
    assert validate(project).findings == ()
    (path,) = (project.data / "runs-labels-d-s").glob("*/metrics.json")

    def change(metrics: dict[str, Any]) -> None:
        at = metrics
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value

    edit(path, change)
    assert [one.code for one in validate(project).findings] == [code]
