"""What the tests of verdicts and goals share: 40 items that a person labelled, arms on them, and a goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evh.project.find import Project
from tests.helpers import Builder, correct

N = 40
ITEMS = [f"i{n:02}" for n in range(N)]
LABELS = {item: "yes" if at % 2 else "no" for at, item in enumerate(ITEMS)}
AGAINST = "labels/d/ann"


def wrong_on(*places: int) -> dict[str, str | None]:
    """Return decisions that are the label but on these items."""
    return {item: "other" if at in places else LABELS[item] for at, item in enumerate(ITEMS)}


def put(
    build: Builder, arm: str, decisions: Mapping[str, str | None], *, against: str = AGAINST, **more: Any
) -> None:
    """Write one arm, run and scored against the labels."""
    build.run(arm, "d", decisions, scores=correct(decisions, LABELS), against=against, **more)


def labelled(project: Project, labels: Mapping[str, str] = LABELS) -> Builder:
    """Write the dataset ``d`` of the labels' items and a person's set of them."""
    made = Builder(project)
    made.dataset("d", {item: f"text {item}" for item in labels})
    made.labels("d", "ann", labels)
    return made


def write(project: Project, text: str, name: str = "g") -> None:
    """Write a goal on the dataset."""
    place = project.data / "goals"
    place.mkdir(exist_ok=True)
    (place / f"{name}.yaml").write_text(f"datasets: [d]\n{text}")


@pytest.fixture
def build(project: Project) -> Builder:
    """A dataset of 40 items that a person labelled."""
    return labelled(project)
