"""Which ids the commands of pages name that speak of no one record."""

from __future__ import annotations

from evh.project.find import Project
from evh_build import known
from evh_build.gather import Gathered
from evh_build.source import Source
from tests.helpers import Builder


def test_a_dataset_with_labels_and_runs_goes_before_a_newer_one(project: Project) -> None:
    """Of an empty dataset, one that only ran and one with both, the last; among equals the first by name."""

    def named() -> str:
        return known.a_dataset(Source(Gathered(project), max_item_text=1000))

    made = Builder(project)
    assert named() == "D"
    made.dataset("z_empty", {"one": "text"})
    assert named() == "z_empty"
    made.dataset("a_ran", {"one": "text"})
    made.run("arm", "a_ran", {"one": "yes"})
    assert named() == "a_ran"
    made.dataset("b_both", {"one": "text"})
    made.labels("b_both", "truth", {"one": "yes"})
    made.run("arm", "b_both", {"one": "yes"}, at="20261003T000000Z")
    assert named() == "b_both"
