"""Verdicts that were given elsewhere: read from a CSV file, and measured against people on real data.

The real data does not ship: the folder that EVH_TEST_DATA names holds it (princeton-nlp/LLMBar, MIT).
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from evh.project import judged, runs
from evh.project.find import Project
from tests.acts.judging import HEADER, PAIRWISE, arms, judge_file, take, two_arms, verdicts
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.tools import require_data


def won(project: Project, arm: str, scorer: str = "helpful") -> dict[str, float | str | None]:
    """Return item → the share of a judged run, or its error."""
    run = next(one for one in runs.read_all(project) if one.judged and one.config_id == arm)
    return {
        row.item_id: row.scores.get("judge_won_unvalidated", row.error)
        for row in runs.predictions(project, run)
    }


def test_pairs_come_in_by_name_or_place(project: Project, evh: CommandLine) -> None:
    """Both orders make a verdict; ``first``, an arm's name and ``tie`` are read; an empty one fails."""
    two_arms(project, ("i00", "i01", "i02"))
    judge_file(project, PAIRWISE)
    rows = [
        ["i00", "arm_a", "arm_b", "first"],
        ["i00", "arm_b", "arm_a", "arm_a"],
        ["i01", "arm_a", "arm_b", "tie"],
        ["i01", "arm_b", "arm_a", "second"],
        ["i02", "arm_a", "arm_b", "arm_b"],
        ["i02", "arm_b", "arm_a", ""],
    ]
    told = take(evh, verdicts(project, rows))
    assert (told["asked"], told["of"]) == (6, 6)
    assert [(one["item_id"], one["error"]) for one in told["failed"]] == [
        ("i02", "unparsed: no verdict that could be read")
    ]
    assert won(project, "arm_a") == {"i00": 1.0, "i01": 0.5, "i02": "unparsed: no verdict that could be read"}
    before = judged.verdicts_path(project, "helpful").read_bytes()
    assert take(evh, verdicts(project, rows))["asked"] == 0
    assert judged.verdicts_path(project, "helpful").read_bytes() == before
    evh.ok("validate")
    words = ("judge", "--scorer", "helpful", "--dataset-id", "d", "--from-file", verdicts(project, rows[:4]))
    outcome = evh(*words)
    assert outcome.code == 3
    assert "1 question without a verdict" in outcome.err
    assert "next: add what lacks to the file: evh judge --scorer helpful" in outcome.err


def test_a_pick_and_grades_come_in(project: Project, evh: CommandLine) -> None:
    """A pick names arms, with ``|`` for a shared one; a grade is a number an arm."""
    arms(project, {"x": {"i": "1", "j": "4"}, "y": {"i": "2", "j": "5"}, "z": {"i": "3", "j": "6"}})
    judge_file(project, "kind: pick\njudges: [m]\n", "best")
    path = verdicts(project, [["i", "x"], ["j", "y|z"]], ["item_id", "verdict"])
    told = take(evh, path, "best")
    assert {run["config_id"]: run["value"] for run in told["runs"]} == {"x": 0.5, "y": 0.25, "z": 0.25}
    assert told["measured"]["judges"]["m"]["places"] == []
    judge_file(project, "kind: grade\njudges: [m]\n", "grades")
    rows = [[item, arm, grade] for item in ("i", "j") for arm, grade in (("x", "5"), ("y", "2.5"), ("z", ""))]
    told = take(evh, verdicts(project, rows, ["item_id", "arm", "verdict"]), "grades")
    assert {run["config_id"]: run["value"] for run in told["runs"]} == {"x": 5, "y": 2.5, "z": None}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (["i99", "arm_a", "arm_b", "first"], "row 2: item_id: 'i99' is no item here"),
        (["i00", "arm_a", "arm_c", "first"], "row 2: second: 'arm_c' is no arm"),
        (["i00", "arm_a", "arm_a", "first"], "row 2: first and second are the same arm"),
        (["i00", "arm_a", "arm_b", "A"], "row 2: verdict: 'A' is not first, second, tie, arm_a or arm_b"),
    ],
)
def test_a_row_that_is_no_verdict_is_refused(
    project: Project, evh: CommandLine, row: list[str], reason: str
) -> None:
    """The row and the cell are told; nothing is taken, not even the good rows."""
    two_arms(project, ("i00",))
    judge_file(project, PAIRWISE)
    path = verdicts(project, [row, ["i00", "arm_b", "arm_a", "first"]])
    before = tree_bytes(project.data)
    found = evh.refused(
        "bad-verdicts", "judge", "--scorer", "helpful", "--dataset-id", "d", "--from-file", path
    )
    assert reason in found.out
    assert tree_bytes(project.data) == before


def test_a_file_that_cannot_be_verdicts_is_refused(project: Project, evh: CommandLine) -> None:
    """A lacking column; the same question twice; a judge that the YAML does not name."""
    two_arms(project, ("i00",))
    judge_file(project, PAIRWISE)
    words = ("judge", "--scorer", "helpful", "--dataset-id", "d", "--from-file")
    evh.refused("missing-column", *words, verdicts(project, [["i00", "first"]], ["item_id", "verdict"]))
    row = ["i00", "arm_a", "arm_b", "first"]
    assert (
        "answered in an earlier row" in evh.refused("bad-verdicts", *words, verdicts(project, [row, row])).out
    )
    other = verdicts(project, [[*row, "who"]], [*HEADER, "judge"])
    assert "'who' is none of m" in evh.refused("bad-verdicts", *words, other).out


# --- real data


JUDGES = {"GPT-4.Vanilla": ("GPT-4", "Vanilla"), "ChatGPT-0301.CoT": ("ChatGPT-0301", "CoT")}
JUDGES["PaLM2.Vanilla_NoRules"] = ("PaLM2", "Vanilla_NoRules")
# Counted from the published verdicts by csv and Counter alone: read and right with output 1 first, read and
# right with output 2 first, pairs read in both orders, alike in both, alike and right.
COUNTED = {
    "GPT-4.Vanilla": (419, 347, 419, 361, 419, 389, 339),
    "ChatGPT-0301.CoT": (419, 189, 418, 190, 418, 233, 97),
    "PaLM2.Vanilla_NoRules": (411, 263, 411, 277, 410, 313, 221),
}


@pytest.fixture
def llmbar(project: Project) -> dict[str, list[dict[str, str]]]:
    """The 419 pairs as ``d`` with two arms and the people's labels; each judge's rows."""
    place = require_data("judges")
    items = [json.loads(line) for line in (place / "items.jsonl").read_text("utf-8").splitlines()]
    builder = Builder(project)
    builder.dataset("d", {one["id"]: f"{one['id']}\n\n{one['input']}" for one in items})
    for arm in ("output_1", "output_2"):
        builder.run(arm, "d", {one["id"]: one[arm] for one in items})
    builder.labels(
        "d", "gold", {one["id"]: f"output_{one['label']}" for one in items}, task="which is better"
    )
    with (place / "judge_verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: [row for row in rows if (row["judge_model"], row["strategy"]) == key]
        for name, key in JUDGES.items()
    }


def published(project: Project, judges: dict[str, list[dict[str, str]]]) -> Path:
    """Write the judges' published verdicts in the form that ``--from-file`` reads."""
    rows = []
    for name, lines in judges.items():
        for line in lines:
            for first, second in (("1", "2"), ("2", "1")):
                column = f"winner_order_{first}{second}"
                verdict = f"output_{line[column]}" if line[column] else ""
                rows.append([line["id"], name, f"output_{first}", f"output_{second}", verdict])
    return verdicts(project, rows, ["item_id", "judge", "first", "second", "verdict"])


def test_accuracy_and_position_of_published_judges(
    project: Project, evh: CommandLine, llmbar: dict[str, list[dict[str, str]]]
) -> None:
    """Three judges, 419 pairs: accuracy in each order and positional agreement, as counted by hand."""
    judge_file(project, f"kind: pairwise\njudges: [{', '.join(JUDGES)}]\n", "panel")
    take(evh, published(project, llmbar), "panel")
    row = check(
        evh.ok("judge-validate", "--scorer", "panel", "--labels", "d/gold", "--json").json, "judge-validate"
    )
    found = {one["judge"]: one for one in row["judges"][0]["orders"]}
    assert set(found) == set(JUDGES)
    for name, (read_12, right_12, read_21, right_21, both, alike, _) in COUNTED.items():
        one = found[name]
        assert [(order["first"], order["n"], order["read"], order["correct"]) for order in one["orders"]] == [
            ("output_1", 419, read_12, right_12),
            ("output_2", 419, read_21, right_21),
        ]
        assert (one["position"]["pairs"], one["position"]["consistent"]) == (both, alike)
        assert one["position"]["agreement"] == alike / both
        assert one["accuracy"] == pytest.approx((right_12 / read_12 + right_21 / read_21) / 2)
    # GPT-4 as published rounds to 82.8 % and 86.2 %, alike on 92.8 %.
    assert [round(order["accuracy"], 3) for order in found["GPT-4.Vanilla"]["orders"]] == [0.828, 0.862]
    assert round(found["GPT-4.Vanilla"]["position"]["agreement"], 3) == 0.928


def test_published_judges_against_people(
    project: Project, evh: CommandLine, llmbar: dict[str, list[dict[str, str]]]
) -> None:
    """Pairs alike and right are what agrees, an inconsistent pair being a tie; kappa is scikit-learn's."""
    lines = (require_data("judges") / "items.jsonl").read_text("utf-8").splitlines()
    label = {one["id"]: str(one["label"]) for one in map(json.loads, lines)}
    for name in JUDGES:
        _against_people(project, evh, llmbar, name, label)


def _against_people(
    project: Project,
    evh: CommandLine,
    llmbar: dict[str, list[dict[str, str]]],
    name: str,
    label: dict[str, str],
) -> None:
    """Take one judge's verdicts and hold what is measured against counts of its own."""
    judge_file(project, f"kind: pairwise\njudges: [{name}]\n", name)
    take(evh, published(project, {name: llmbar[name]}), name)
    words = ("judge-validate", "--scorer", name, "--labels", "d/gold", "--write", "--json")
    row = evh.ok(*words).json["judges"][0]
    *_, both, _, right = COUNTED[name]
    assert (row["n"], row["n_labelled"]) == (both, 419)
    assert row["agreement"] == right / both
    pairs = [
        (
            line["winner_order_12"] if line["winner_order_12"] == line["winner_order_21"] else "tie",
            label[line["id"]],
        )
        for line in llmbar[name]
        if line["winner_order_12"] and line["winner_order_21"]
    ]
    assert row["kappa"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert row["kappa_interval"]["low"] < row["kappa"] < row["kappa_interval"]["high"]
    assert (row["baseline_answer"], row["written"]) == ("output_2", f"data/judges/{name}.yaml")


# Counted from the published files alone: verdicts read among the first 500, and those the first person gives.
PANDA = (478, 328)


def test_people_and_a_judge_that_says_tie(project: Project, evh: CommandLine) -> None:
    """PandaLM: 500 comparisons, picks with ties; agreement with the first person as counted by hand.

    The data is WeOpenML/PandaLM, Apache-2.0. A verdict that nobody could read is no tie and in no figure.
    """
    place = require_data("pairwise-preferences")
    lines = (place / "items.jsonl").read_text("utf-8").splitlines()[:500]
    items = {f"pair-{one['idx']:03}": one for one in map(json.loads, lines)}
    verdict_lines = (place / "judge_gpt-3.5-turbo.jsonl").read_text("utf-8").splitlines()
    said = {f"pair-{one['idx']:03}": str(one["result"]) for one in map(json.loads, verdict_lines)}
    with (place / "human_labels.csv").open(encoding="utf-8", newline="") as file:
        people = {f"pair-{int(row['idx']):03}": row["annotator1"] for row in csv.DictReader(file)}
    builder = Builder(project)
    builder.dataset(
        "d", {key: f"{key}\n\n{one['instruction']}\n\n{one['input']}" for key, one in items.items()}
    )
    for at in "12":
        builder.run(f"response{at}", "d", {key: str(one[f"response{at}"]) for key, one in items.items()})
    words = {"0": "tie", "1": "first", "2": "second"}
    builder.labels("d", "person", {key: words[people[key]] for key in items}, task="which is better")
    arms_of = {"Tie": "response1|response2", "1": "response1", "2": "response2"}
    judge_file(project, "kind: pick\njudges: [gpt]\n", "panda")
    rows = [[key, arms_of.get(said[key], "")] for key in items]
    take(evh, verdicts(project, rows, ["item_id", "verdict"]), "panda")
    mapped = ("--map", "first=response1", "--map", "second=response2")
    row = evh.ok("judge-validate", "--scorer", "panda", "--labels", "d/person", *mapped, "--json").json[
        "judges"
    ][0]
    read = [key for key in items if said[key] in arms_of]
    number = {"Tie": "0", "1": "1", "2": "2"}
    judge = [number[said[key]] for key in read]
    person = [people[key] for key in read]
    assert (len(read), sum(a == b for a, b in zip(judge, person, strict=True))) == PANDA
    assert (row["n"], row["agreement"]) == (PANDA[0], PANDA[1] / PANDA[0])
    assert row["kappa"] == pytest.approx(cohen_kappa_score(judge, person))
