"""The sample's goal, its baseline and its deploy sheet: what the commands say of records that people made."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.metrics import balanced_accuracy_score

from evh.api import Project
from evh.project import labels, runs
from evh.project.find import Project as Found
from tests.conftest import CommandLine
from tests.schema import check

ROOT = Path(__file__).resolve().parents[2]
NEWER = "cve_2024_07_08"
SILVER = f"silver/{NEWER}_known_exploited"


@pytest.fixture
def in_sample(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in the sample, for commands that only read."""
    return CommandLine(ROOT, capsys)


def test_the_goal_ranks_the_arms_as_scikit_learn_does(in_sample: CommandLine) -> None:
    """Balanced accuracy of each arm's decisions by the outcome's labels; production leads alone."""
    found = in_sample.ok("goals", "--goal", "exploited", "--json").json
    check(found, "goals")
    group = found["goals"][0]["groups"][0]
    assert group["against"] == SILVER
    project = Found.find(home=ROOT)
    truth = labels.texts(project, labels.read(project, NEWER, "known_exploited"))
    for arm in group["arms"]:
        rows = runs.predictions(project, runs.read(project, arm["run"]))
        exploited = [truth[row.item_id] == "active" for row in rows]
        said = [row.decision == "active" for row in rows]
        assert arm["value"] == pytest.approx(balanced_accuracy_score(exploited, said), abs=1e-12)
    assert [(one["arm"], one["verdict"]) for one in group["arms"]][:2] == [
        ("production_v1", "leader"),
        ("bayes_v1", "behind"),
    ]
    assert group["finalist"]["arm"] is None
    assert "nothing of it to deploy" in group["finalist"]["reason"]


def test_an_arm_on_its_own_labels_does_not_lead(in_sample: CommandLine) -> None:
    """By CISA's decisions production is always right, for they are its own: the next best is suggested."""
    groups = in_sample.ok("goals", "--goal", "exploited", "--json").json["goals"][0]["groups"]
    cisa = next(one for one in groups if one["against"] == f"labels/{NEWER}/cisa")
    last = cisa["arms"][-1]
    assert (last["arm"], last["value"], last["verdict"], last["own_labels"]) == (
        "production_v1",
        1.0,
        None,
        True,
    )
    assert (cisa["leaders"], cisa["finalist"]["arm"]) == (["bayes_v1"], "bayes_v1")


def test_a_baseline_is_promoted_with_its_reason(in_sample: CommandLine) -> None:
    """bayes_v1, on the half that it was not fitted on, against the reference."""
    made = in_sample.ok("goals", "--goal", "exploited", "--json").json["goals"][0]
    assert made["baseline"]["against"] == SILVER
    assert made["baseline"]["run"].startswith("runs-rescored/bayes_v1_")
    assert made["baseline"]["reason"].startswith("The best arm that can be deployed")
    assert made["superseded"] == []
    (replay,) = made["replays"]
    assert (replay["recorded"], replay["config_id"], replay["n"]) == ("production_v1", "bayes_v1", 453)


def test_the_deploy_sheet_says_that_nothing_is_on_record(in_sample: CommandLine) -> None:
    """People decided: no record names a model or a prompt, so none matches and none differs."""
    found = in_sample.ok("deploy-sheet", "--config", "bayes_v1", "--capture", NEWER, "--json").json
    check(found, "deploy-sheet")
    (sheet,) = found["sheets"]
    made = sheet["check"]
    assert (made["match"], made["differ"], made["not_recorded"]) == (0, 0, made["n"])
    assert (made["n"], made["sentence"]) == (453, None)
    assert [one["goal"] for one in sheet["promotions"]] == ["exploited"]
    told = in_sample.ok("deploy-sheet", "--config", "bayes_v1", "--capture", NEWER).out
    assert "every captured decision" not in told


def test_agreement_of_production_and_the_baseline(in_sample: CommandLine) -> None:
    """As often as a count of equal decisions says."""
    found = in_sample.ok(
        "agreement", "--dataset-id", NEWER, "--runs", "production_v1,bayes_v1", "--json"
    ).json
    rows = {
        row.item_id: row for row in Project.find(home=ROOT).sheet(NEWER, ["production_v1", "bayes_v1"]).rows
    }
    same = sum(row.cells[0].decision == row.cells[1].decision for row in rows.values())
    assert (found["pairs"][0]["n"], found["pairs"][0]["n_same"]) == (453, same)
