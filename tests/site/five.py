"""What the tests of the sheet's page share: five items counted by hand, their site, its sheet in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.project import runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from tests.helpers import Builder, correct
from tests.site.browsing import Sheet, built, chromium, watched

# Counted by hand; an id is data, so it may look like a command or an option:
#   item       kind n  truth other production a      b     signals                              winners
#   one        x    1  yes   no    yes        yes    no    disagree split new (n)                production a
#   it's two   y    2  no          yes        no     no    wrong (truth) disagree new (kind)    a b
#   $(three)   x    3  yes         no         yes    yes   wrong (truth) disagree new (n)       a b
#   -four      z                   yes        yes    yes   new (kind) unlabelled
#   `five`     x       no          no         failed no                                         production b
ONE, TWO, THREE, FOUR, FIVE = IDS = ("one", "it's two", "$(three)", "-four", "`five`")
TRUTH = {ONE: "yes", TWO: "no", THREE: "yes", FIVE: "no"}
DECISIONS: dict[str, dict[str, str | None]] = {
    "production": {ONE: "yes", TWO: "yes", THREE: "no", FOUR: "yes", FIVE: "no"},
    "a": {ONE: "yes", TWO: "no", THREE: "yes", FOUR: "yes", FIVE: None},
    "b": {ONE: "no", TWO: "no", THREE: "yes", FOUR: "yes", FIVE: "no"},
}
QUALITY = {
    "production": {ONE: 0.5, TWO: 0.2, THREE: 0.9, FIVE: 0.4},
    "a": {ONE: 0.625, TWO: 0.1, THREE: 0.95},
    "b": {ONE: 0.5, TWO: 0.8, THREE: 0.3, FIVE: 0.4},
}
FIELDS: dict[str, dict[str, Any]] = {
    ONE: {"kind": "x", "n": 1},
    TWO: {"kind": "y", "n": 2},
    THREE: {"kind": "x", "n": 3},
    FOUR: {"kind": "z"},
    FIVE: {"kind": "x"},
}
OUTPUTS = {
    "production": "The parser reads past its buffer, so act now.\nyes",
    "a": "The parser writes past its buffer, so act later.\nyes",
    "b": "The parser reads past its buffer, so act now.\nyes",
}


def project_of_five(project: Project) -> Project:
    """Write the dataset of the hand count, two governed ones, and a pick for the first of them."""
    made = Builder(project)
    made.dataset("d", {item_id: f"the text of {item_id}\n" for item_id in IDS}, fields=FIELDS, task="triage")
    governed: dict[str, dict[str, Any]] = {"g1": {"kind": "x", "n": 4}, "g2": {"n": 2}}
    made.dataset("gov", {"g1": "1", "g2": "2"}, fields=governed, governed=True, task="triage")
    made.dataset("gov2", {"h": "3"}, fields={"h": {"kind": "z"}}, governed=True, task="triage")
    made.labels("d", "truth", TRUTH)
    made.labels("d", "other", {ONE: "no"})
    for name, decisions in DECISIONS.items():
        run = Run(
            f"{name}_20261001T000000Z", name, "d",
            created_at="2026-10-01T00:00:00Z", n_items=5,
            params={"provider": "recorded" if name == "production" else "echo"},
        )  # fmt: skip
        rows = [
            Prediction(item_id, error="failed: no answer")
            if decision is None
            else Prediction(item_id, output=OUTPUTS[name] if item_id == ONE else decision, decision=decision)
            for item_id, decision in decisions.items()
        ]
        run = runs.write_scored(project, run, rows)
        right = correct(decisions, TRUTH)
        scores = {item_id: {**one, "quality": QUALITY[name][item_id]} for item_id, one in right.items()}
        made.rescored(run, decisions, scores, against="labels/d/truth", primary_metric="correct")
    made.pick("d", TWO, targets=("gov",), tags={"case": "missed"}, note="look <b>here</b>")
    return project


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the hand count."""
    return built(tmp_path_factory.mktemp("five"), project_of_five)


@pytest.fixture
def sheet(browser: Any, folder: Path) -> Iterator[Sheet]:
    """Its sheet, opened; nothing may be said on the console, and nothing asked for beside the site."""
    made = watched(browser).open(folder / "sheets/d/index.html")
    yield made
    made.page.context.close()
    assert made.told == []
    assert [url for url in made.asked if not url.startswith((folder.as_uri(), "about:"))] == []
