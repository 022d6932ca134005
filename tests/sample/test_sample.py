"""The sample project: made by commands alone, the same every time, and saying what its raw records say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evh.api import Project
from tests.conftest import CommandLine
from tests.sample.by_hand import FIVE, ROOT

HALVES = ("cve_2024_h1", "cve_2024_07_08")


@pytest.fixture(scope="module")
def raw() -> dict[str, dict[str, Any]]:
    """The raw records by CVE id, read here without evh."""
    lines = (ROOT / "data" / "raw" / "cve-triage.jsonl").read_text(encoding="utf-8").split("\n")
    return {record["cve"]: record for record in map(json.loads, filter(None, lines))}


@pytest.fixture(scope="module")
def sample() -> Project:
    """The sample, as it lies in the checkout."""
    return Project.find(home=ROOT)


@pytest.fixture
def in_sample(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in the sample, for commands that only read."""
    return CommandLine(ROOT, capsys)


def test_the_commands_make_the_sample_again(tmp_path: Path, in_sample: CommandLine) -> None:
    """`make-sample.sh` in an empty folder gives the same tree, but for what a second run measures."""
    command = tmp_path / "evh"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from evh.cli.main import main; main()" "$@"\n')
    command.chmod(0o755)
    environ = {
        **os.environ,
        "EVH": str(command),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "build")]),
    }
    done = subprocess.run(
        ["bash", str(ROOT / "data" / "make-sample.sh"), str(tmp_path / "again")],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    told = in_sample.ok("validate", "--same-as", tmp_path / "again", "--json").json
    assert told["differences"] == []
    assert told["warnings"] == []
    assert told["n_files"] > 10_000


def test_the_counts_are_those_of_the_raw_records(sample: Project, raw: dict[str, dict[str, Any]]) -> None:
    """1,076 records; the 20 rejected ones are kept in the capture, counted, and in no dataset."""
    capture = next(one for one in sample.captures() if one.capture_id == "cve_2024")
    assert (capture.n_records, capture.n_no_item, capture.n_no_time) == (1076, 20, 20)
    items = {one.dataset_id: len(one.items) for one in sample.datasets()}
    assert items == {"cve_2024_h1": 603, "cve_2024_07_08": 453}
    rejected = {name for name, record in raw.items() if record["state"] == "REJECTED"}
    assert len(rejected) == 20
    assert rejected.isdisjoint(item.item_id for one in sample.datasets() for item in one.items)


def test_no_two_items_have_equal_bytes(sample: Project) -> None:
    """With the CVE id in its text every one of the 1,056 decided items is its own."""
    hashes = Counter(item.sha256 for one in sample.datasets() for item in one.items)
    assert len(hashes) == 1056


def test_most_listings_came_before_the_decision(sample: Project, raw: dict[str, dict[str, Any]]) -> None:
    """For 133 of 143 listed records the listing was not after the decision, and the sets say so."""
    listed = [one for one in raw.values() if one["decision"] and one["outcome_kev_added"]]
    not_after = [one for one in listed if one["outcome_kev_added"] <= one["decided_at"][:10]]
    assert (len(listed), len(not_after)) == (143, 133)
    sets = [one for one in sample.label_sets() if one.set == "known_exploited"]
    assert sum(one.n_preceding for one in sets) == 133


def test_production_missed_five(sample: Project, raw: dict[str, dict[str, Any]]) -> None:
    """Five listed reports were not called active, four of them in the newer half."""
    missed = {
        name
        for name, one in raw.items()
        if one["outcome_kev_added"]
        and one["decision"]
        and one["decision"]["exploitation"].lower() != "active"
    }
    for half, count in (("cve_2024_h1", 1), ("cve_2024_07_08", 4)):
        sheet = sample.sheet(half, ["production_v1"])
        at = next(
            n for n, column in enumerate(sheet.labels) if column.ref == f"labels/{half}/known_exploited"
        )
        found = {
            row.item_id
            for row in sheet.rows
            if f"labels/{half}/known_exploited" in row.signals.wrong_by and row.labels[at] == "active"
        }
        assert len(found) == count
        assert found <= missed
    assert len(missed) == 5


@pytest.mark.parametrize(
    ("arm", "half", "expected"),
    [
        # From the counts of the raw records: 47 of 51 and 399 of 402; 91 of 92 and 511 of 511.
        ("production_v1", "cve_2024_07_08", (47 / 51 + 399 / 402) / 2),
        ("production_v1", "cve_2024_h1", (91 / 92 + 511 / 511) / 2),
        ("always_active_v1", "cve_2024_07_08", 0.5),
        ("always_none_v1", "cve_2024_07_08", 0.5),
    ],
)
def test_balanced_accuracy_is_that_of_the_counts(
    sample: Project, arm: str, half: str, expected: float
) -> None:
    """Against what time told: the mean of the share of listed found and the share of others let be."""
    run = next(
        one for one in sample.runs() if (one.config_id, one.labels) == (arm, f"{half}/known_exploited")
    )
    assert run.scores["balanced_accuracy"] == pytest.approx(expected, abs=1e-12)


def test_the_readme_of_the_sample_has_the_figures_of_its_runs(sample: Project) -> None:
    """Each arm's row of its table: both halves to three places, and how many listed ones it found."""
    text = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+).*? \| ([\d.]+) \| (\d+) of 51 \|$", text, re.MULTILINE)
    assert len(rows) == 6
    runs = {(one.config_id, one.labels): one.scores for one in sample.runs()}
    for arm, older, newer, found in rows:
        scores = [runs[arm, f"{half}/known_exploited"] for half in HALVES]
        assert [f"{one['balanced_accuracy']:.3f}" for one in scores] == [
            f"{float(older):.3f}",
            f"{float(newer):.3f}",
        ]
        assert round(scores[1]["recall_active"] * 51, 6) == int(found)


def test_always_active_does_not_lead(sample: Project) -> None:
    """It is right on every listed report, and no better than a coin by the primary metric."""
    runs = [one for one in sample.runs() if one.labels == "cve_2024_07_08/known_exploited"]
    best = max(runs, key=lambda run: run.scores[run.primary_metric or ""])
    constant = next(run for run in runs if run.config_id == "always_active_v1")
    assert constant.scores["recall_active"] == 1
    assert best.config_id == "production_v1"


def test_production_by_its_own_word_is_flagged(in_sample: CommandLine) -> None:
    """Against the set made from its decisions production is perfect, flagged, and alone in that."""
    told = in_sample.ok("runs", "--json").json["runs"]
    flagged = {(row["config_id"], row["against"]) for row in told if row["own_labels"]}
    assert flagged == {("production_v1", f"labels/{half}/cisa") for half in HALVES}
    fitted = {(row["config_id"], row["dataset_id"]) for row in told if row["fitted_here"]}
    assert fitted == {("bayes_v1", "cve_2024_h1")}


@pytest.mark.parametrize("item_id", FIVE)
def test_five_items_by_hand(
    item_id: str, sample: Project, raw: dict[str, dict[str, Any]], in_sample: CommandLine
) -> None:
    """The sheet's row, `inspect --item` and the raw record say the same of an item that was read by hand."""
    half, decision, label = FIVE[item_id]
    record = raw[item_id]
    assert record["decision"]["exploitation"].lower() == decision
    assert bool(record["outcome_kev_added"]) == (label == "active")

    sheet = sample.sheet(half)
    row = next(one for one in sheet.rows if one.item_id == item_id)
    arm = next(n for n, column in enumerate(sheet.arms) if column.name == "production_v1")
    column = next(n for n, one in enumerate(sheet.labels) if one.ref == f"labels/{half}/known_exploited")
    assert row.cells[arm].decision == decision
    assert row.labels[column] == label
    wrong = decision not in (["active"] if label == "active" else ["none", "poc"])
    assert (f"labels/{half}/known_exploited" in row.signals.wrong_by) == wrong

    told = in_sample.ok("inspect", "--dataset-id", half, "--item", item_id, "--json").json["items"][0]
    assert record["description"] in told["text"]
    assert told["text"].startswith(f"{item_id}\n")
    arms = {one["name"]: one for one in told["arms"]}
    assert arms["production_v1"]["decision"] == decision
    assert arms["production_v1"]["output"] == record["decision"]["exploitation"]
    assert told["fields"]["year"] == int(item_id[4:8])
    labels = {one["ref"]: one["text"] for one in told["labels"]}
    assert labels[f"labels/{half}/known_exploited"] == label
    assert labels[f"labels/{half}/cisa"] == decision
