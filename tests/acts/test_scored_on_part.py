"""An arm that was scored on a part of the items may lead, and says so; it is no finalist and no baseline."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.project import baselines
from evh.project.find import Project
from tests.acts.deciding import AGAINST, labelled, write
from tests.conftest import CommandLine
from tests.helpers import Builder, correct, tree_bytes

ITEMS = [f"i{n:02}" for n in range(30)]
LABELS = {item: "yes" if n % 2 else "no" for n, item in enumerate(ITEMS)}
WRONG = {"yes": "no", "no": "yes"}


@pytest.fixture
def build(project: Project) -> Builder:
    """Thirty items that a person labelled, and a goal on them."""
    made = labelled(project, LABELS)
    write(project, "")
    return made


def arm(build: Builder, name: str, *, scored: int = 30, failed: int = 0, wrong: int = 0) -> str:
    """Write an arm that answers all but the last ``failed``, the first ``wrong``; ``scored`` have a score."""
    decisions: dict[str, str | None] = {
        item: None if n >= len(ITEMS) - failed else WRONG[LABELS[item]] if n < wrong else LABELS[item]
        for n, item in enumerate(ITEMS)
    }
    scores = dict(list(correct(decisions, LABELS).items())[:scored])
    return build.run(name, "d", decisions, scores=scores, against=AGAINST).key


def group(evh: CommandLine) -> Any:
    """The one group of the goal."""
    return evh.ok("goals", "--json").json["goals"][0]["groups"][0]


def test_one_item_of_thirty_leads_and_is_suggested_to_nobody(build: Builder, evh: CommandLine) -> None:
    """Right on the one item that it was scored on: the ranking says so, and the other is suggested."""
    key = arm(build, "thin", scored=1)
    arm(build, "whole", wrong=5)
    ranked = evh.ok("leaderboard", "--dataset-id", "d", "--json").json
    assert ranked["leaders"] == ["thin"]
    told = "thin was scored on 1 of 30 items, whole on 30"
    assert f"{told}: its figure says less" in ranked["warnings"]
    assert told in evh.ok("leaderboard", "--dataset-id", "d").err
    found = group(evh)
    assert found["finalist"]["arm"] == "whole"
    assert found["finalist"]["left_out"] == [
        {"arm": "thin", "why": "was scored on 1 of 30 items, whole on 30"}
    ]
    refused = evh.refused("scored-on-part", "promote", "--run", key, "--goal", "g", "--reason", "best")
    assert refused.json["refused"]["why"] == [
        f"{key}: scored on 1 of the 30 items that labels/d/ann labels; 29 have neither a score nor a failure"
    ]
    assert not (build.project.data / "baselines").exists()


@pytest.mark.parametrize(("scored", "suggested"), [(27, "thin"), (26, "whole")])
def test_nine_tenths_of_the_best_covered_is_enough(
    build: Builder, evh: CommandLine, scored: int, suggested: str
) -> None:
    """27 of 30 is nine tenths; 26 is not."""
    arm(build, "thin", scored=scored)
    arm(build, "whole", wrong=5)
    assert group(evh)["finalist"]["arm"] == suggested


def test_arms_that_are_covered_alike_are_not_left_out(build: Builder, evh: CommandLine) -> None:
    """Both on ten of thirty: what counts is what the best-covered one has."""
    arm(build, "best", scored=10)
    arm(build, "near", scored=10, wrong=1)
    assert group(evh)["finalist"]["left_out"] == []
    assert not [one for one in group(evh)["notes"] if "says less" in one]


def test_recorded_failures_are_told_and_half_is_too_many(build: Builder, evh: CommandLine) -> None:
    """Fifteen of thirty failed: promoted with a note. Sixteen: refused."""
    some = arm(build, "some", failed=15)
    noted = evh.ok("promote", "--run", some, "--goal", "g", "--reason", "all there is", "--json").json
    assert "some: 15 of 30 items failed, and are in no mean" in noted["warnings"]
    most = arm(build, "most", failed=16)
    refused = evh.refused("mostly-failed", "promote", "--run", most, "--goal", "g", "--reason", "x")
    assert refused.json["refused"]["why"][0] == (
        f"{most}: 16 of the 30 items that labels/d/ann labels failed, more than half"
    )
    made = baselines.of_goal(build.project, "g")
    assert made is not None
    assert made.promoted_from == some


def test_items_that_the_set_does_not_label_are_not_asked_for(build: Builder, evh: CommandLine) -> None:
    """Ten labelled items, all scored: the other twenty could not be."""
    labels = dict(list(LABELS.items())[:10])
    build.labels("d", "few", labels)
    scores = correct(dict(LABELS), labels)
    key = build.run("c", "d", dict(LABELS), scores=scores, against="labels/d/few").key
    evh.ok("promote", "--run", key, "--goal", "g", "--reason", "right")


# --- predictions that are not those of the run


@pytest.fixture
def changed(build: Builder) -> str:
    """A run whose predictions were replaced, beside two that were not."""
    arm(build, "whole", wrong=5)
    arm(build, "other", wrong=9)
    key = arm(build, "edited", wrong=1)
    path = build.project.data / key / "predictions.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    return key


def test_changed_predictions_are_told_before_anything_else(
    build: Builder, evh: CommandLine, changed: str
) -> None:
    """The arm is not ranked, for that; nothing else is said to be why."""
    note = (
        "left out: the predictions of run 'edited_20261001T000000Z' changed "
        f"(data/{changed}/predictions.jsonl: not the bytes that metrics.json recorded)"
    )
    ranked = evh.ok("leaderboard", "--dataset-id", "d", "--json").json
    assert ranked["warnings"][:2] == [note, "edited: not ranked, for that"]
    assert ranked["leaders"] == ["whole"]
    assert not [one for one in ranked["warnings"] if "no correct" in one]
    assert evh.ok("goals", "--json").json["warnings"][0] == note
    pair = ("pair-test", "edited", "whole", "--dataset-id", "d")
    why = evh.refused("changed-bytes", *pair).json["refused"]["why"]
    assert why == [f"data/{changed}/predictions.jsonl: not the bytes that metrics.json recorded"]
    words = ("promote", "--run", changed, "--goal", "g", "--reason", "x")
    assert evh.refused("changed-bytes", *words).json["refused"]["why"] == why
    told = evh("why", f"run:{changed}#correct")
    assert told.code == 1
    assert "its predictions cannot be read as they were recorded" in told.out
    assert "taken on trust" not in told.out


def test_one_changed_run_takes_no_verdict_from_the_others(build: Builder, evh: CommandLine) -> None:
    """A run-level figure is made again of the decisions that can be read; the others keep their test."""
    figures = {"balanced_accuracy": 0.0}
    for name, wrong in (("a", 2), ("b", 14), ("c", 20)):
        decisions = {item: WRONG[LABELS[item]] if n < wrong else LABELS[item] for n, item in enumerate(ITEMS)}
        figures = {"balanced_accuracy": 1 - wrong / 30}
        run = build.run(name, "d", decisions)
        build.rescored(
            run, decisions, correct(decisions, LABELS), against=AGAINST, figures=figures,
            primary_metric="balanced_accuracy",
        )  # fmt: skip
    place = build.project.data / "runs-labels-d-ann" / "b_20261001T000000Z"
    rows = (place / "predictions.jsonl").read_bytes().splitlines(keepends=True)
    words = ("leaderboard", "--dataset-id", "d", "--metric", "balanced_accuracy", "--json")
    assert evh.ok(*words).json["leaders"] == ["a"]
    (place / "predictions.jsonl").write_bytes(b"".join(rows[:3]))
    ranked = evh.ok(*words).json
    assert ranked["leaders"] == ["a"]
    assert "b: not ranked, for that" in ranked["warnings"]
    assert not [one for one in ranked["warnings"] if "adapter's own" in one]


# --- a baseline that cannot be read


def test_a_baseline_that_cannot_be_read_is_not_taken_for_none(
    build: Builder, evh: CommandLine, project: Project
) -> None:
    """goals and deploy-sheet say that there is one; nothing is offered or written in its place."""
    key = arm(build, "best")
    arm(build, "near", wrong=9)
    evh.ok("promote", "--run", key, "--goal", "g", "--reason", "right")
    path = project.data / "baselines" / "g.json"
    raw = json.loads(path.read_text())
    path.write_text(json.dumps({**raw, "promoted_from": 5}))
    told = evh.ok("goals")
    assert "baseline: there is one, and it cannot be read: data/baselines/g.json" in told.out
    assert "none was promoted yet" not in told.out
    assert "evh promote" not in told.out
    (view,) = evh.ok("goals", "--json").json["goals"]
    assert view["baseline"] is None
    assert "promoted_from" in view["baseline_problem"]
    sheet = evh.ok("deploy-sheet", "--config", "best")
    assert "best: not promoted, as far as can be read" in sheet.out
    assert "whether a run of best was promoted is not known" in sheet.out + sheet.err
    before = tree_bytes(project.data)
    assert evh("promote", "--run", key, "--goal", "g", "--reason", "again").code == 1
    assert tree_bytes(project.data) == before
