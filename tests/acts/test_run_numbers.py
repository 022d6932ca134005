"""`evh run` with an adapter of the project's own that counts oddly: what is refused, left out or taken."""

from __future__ import annotations

import json

import pytest

from evh.project.find import Project
from tests.acts.running import adapter, rows_of
from tests.conftest import CommandLine
from tests.helpers import Builder


@pytest.fixture
def build(project: Project) -> Builder:
    """Two items that a person labelled."""
    made = Builder(project)
    made.dataset("d", {"one": "alpha", "two": "beta"})
    made.labels("d", "s", {"one": "yes", "two": "no"})
    return made


def test_an_answer_that_costs_less_than_nothing_fails_alone(build: Builder, evh: CommandLine) -> None:
    """The item whose Result has a negative cost fails with the reason; the other is kept."""
    name = adapter(
        build.project,
        "from evh.adapters import Result\n"
        "def call_system(text, params):\n"
        "    return Result('yes', cost_usd=-5 if text == 'alpha' else 5, latency_ms=1)\n",
    )
    build.config("c", dataset_id="d", adapter=name, params={"provider": "python"})
    outcome = evh("run", "--config", "c", "--labels", "d/s", "--json")
    assert outcome.code == 3
    (failed,) = outcome.json["failed"]
    assert failed["item_id"] == "one"
    assert "cost_usd is -5, below 0" in failed["error"]
    assert rows_of(build.project, outcome.json["runs"][0])["two"].cost_usd == 5


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("float('inf')", "a figure of summarise is left out: best is inf, not a finite number"),
        ("None", "the primary metric best is undefined on these items: summarise gave None or NaN"),
        ("float('nan')", "the primary metric best is undefined on these items: summarise gave None or NaN"),
    ],
)
def test_a_primary_metric_that_is_no_number_is_told(
    build: Builder, evh: CommandLine, value: str, said: str
) -> None:
    """It does not vanish without a word: a line, and `problems` of the run's metrics.json."""
    text = f"PRIMARY_METRIC = 'best'\ndef summarise(rows):\n    return {{'best': {value}, 'other': None}}\n"
    build.config("c", dataset_id="d", adapter=adapter(build.project, text))
    outcome = evh.ok("run", "--config", "c", "--labels", "d/s", "--json")
    row = outcome.json["runs"][0]
    assert outcome.json["warnings"] == [f"{row['run_id']}: {said}"]
    path = build.project.data / row["folder"] / row["run_id"] / "metrics.json"
    assert json.loads(path.read_text())["problems"] == [said]


def test_scores_of_numpy_are_taken(build: Builder, evh: CommandLine) -> None:
    """float32 and int64 from score, and what is stored is JSON that validate has no word about."""
    text = "import numpy as np\ndef score(output, reference):\n"
    text += "    return {'f': np.float32(0.5), 'i': np.int64(2)}\n"
    build.config("c", dataset_id="d", adapter=adapter(build.project, text))
    row = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    assert row["scores"] == {"f": 0.5, "i": 2.0}
    evh.ok("validate")


def test_settings_of_a_wrong_kind_are_refused_with_the_adapter(build: Builder, evh: CommandLine) -> None:
    """METRIC_KINDS = ["x"] names the adapter, and nothing is written."""
    name = adapter(build.project, "METRIC_KINDS = ['x']\nMETRIC_DIRECTIONS = {'m': 7}\n")
    build.config("c", dataset_id="d", adapter=name)
    told = evh.refused("adapter-failed", "run", "--config", "c").json["refused"]
    assert told["why"] == [
        "data/adapters/mine.py: METRIC_KINDS is list ['x'], not a mapping of metrics to texts",
        "data/adapters/mine.py: METRIC_DIRECTIONS['m'] is int 7, not a text",
    ]
    assert told["next"] == "mend data/adapters/mine.py"
    assert not (build.project.data / "runs").exists()
