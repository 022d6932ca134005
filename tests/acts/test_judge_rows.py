"""Rows of ``~verdicts.jsonl`` that no judge gave are refused with their line, by every reader of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.project import judged
from evh.project.find import Project
from tests.acts.judging import PAIRWISE, judge_file, take, two_arms, verdicts
from tests.conftest import CommandLine
from tests.helpers import tree_bytes

ROWS = [["i00", "arm_a", "arm_b", "first"], ["i00", "arm_b", "arm_a", "first"]]


@pytest.fixture
def lines(project: Project, evh: CommandLine) -> list[dict[str, Any]]:
    """A pass of two questions, whose verdicts came in a file."""
    two_arms(project, ("i00",))
    judge_file(project, PAIRWISE)
    take(evh, verdicts(project, ROWS))
    path = judged.verdicts_path(project, "helpful")
    return [json.loads(line) for line in path.read_text().splitlines()]


def put(project: Project, rows: list[dict[str, Any]]) -> None:
    """Write the verdicts as somebody with an editor would."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    judged.verdicts_path(project, "helpful").write_text(text)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"said": {"places": [2]}}, "said.places: 2 is none of the 2 that were shown"),
        ({"said": {"places": [-1]}}, "said.places: -1 is none of the 2 that were shown"),
        ({"said": {"places": [0, 0]}}, "said.places: one stands twice"),
        ({"said": {"places": [True]}}, "said.places: is not a list of numbers"),
        ({"said": {"places": []}}, "said.places: is not a list of numbers"),
        ({"said": "A"}, "said: is neither places nor grades"),
        ({"said": {"grades": {"": "5"}}}, "said.grades.: is the text '5', not a finite number"),
        ({"said": {"grades": {"": 3}}}, "said: is no verdict of a judge whose kind is pairwise"),
        ({"said": None}, "said: is neither places nor grades"),
        ({"key": 5}, "key: is the number 5, not a text"),
        ({"judge": None}, "judge: is null, not a text"),
        ({"item_id": 7}, "item_id: is the number 7, not an item's id"),
        ({"shown": "x"}, "shown: is not a list of hashes of outputs"),
        ({"number": 0}, "number: is the number 0, not a number from 1"),
        ({"cost_usd": -1}, "cost_usd: is -1, below 0"),
    ],
)
def test_a_row_that_is_no_verdict_is_refused(
    project: Project, evh: CommandLine, lines: list[dict[str, Any]], change: dict[str, Any], reason: str
) -> None:
    """Places that were not shown, values of another type: told with the line, and nothing is written."""
    put(project, [lines[0], {**lines[1], **change}])
    before = tree_bytes(project.data)
    words = ("judge", "--scorer", "helpful", "--dataset-id", "d", "--from-file", verdicts(project, ROWS))
    why = evh.refused("bad-verdicts", *words).json["refused"]["why"]
    assert why == [f"data/runs-judged/helpful/~verdicts.jsonl: line 2: {reason}"]
    assert tree_bytes(project.data) == before
    if "whose kind" not in reason:  # which judge it is of is looked at by whoever reads for the judge
        findings = evh("validate", "--json").json["findings"]
        assert ("bad-verdicts", f"line 2: {reason}") in {(one["code"], one["reason"]) for one in findings}


@pytest.mark.parametrize("second", [[1], [0, 1]])
def test_a_second_verdict_that_differs_is_refused(
    project: Project, evh: CommandLine, lines: list[dict[str, Any]], second: list[int]
) -> None:
    """A question is answered once: what contradicts it does not stand in its place without a word."""
    put(project, [*lines, {**lines[0], "said": {"places": second}}])
    words = ("judge", "--scorer", "helpful", "--dataset-id", "d", "--from-file", verdicts(project, ROWS))
    why = evh.refused("bad-verdicts", *words).json["refused"]["why"]
    assert why == [
        "data/runs-judged/helpful/~verdicts.jsonl: line 3: another verdict of m on i00 than in line 1"
    ]


def test_what_a_later_file_says_counts(project: Project, evh: CommandLine) -> None:
    """A file with other verdicts, taken later, is no contradiction; nor is an answer after a failure."""
    two_arms(project, ("i00",))
    judge_file(project, PAIRWISE)
    assert take(evh, verdicts(project, [ROWS[0], ["i00", "arm_b", "arm_a", ""]]))["failed"]
    assert not take(evh, verdicts(project, ROWS))["failed"]
    other = [["i00", "arm_a", "arm_b", "second"], ROWS[1]]
    assert not take(evh, verdicts(project, other))["failed"]
    evh.ok("validate")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"grades": {"": 9}}, "said.grades: 9 is off the scale 1..5"),
        ({"grades": {"clear": 3}}, "said.grades: are not those of a judge without dimensions"),
        ({"places": [0]}, "said: is no verdict of a judge whose kind is grade"),
    ],
)
def test_a_grade_that_is_off_is_refused(
    project: Project, evh: CommandLine, said: dict[str, Any], reason: str
) -> None:
    """Off the scale, of another dimension, of another kind."""
    two_arms(project, ("i00",))
    judge_file(project, "kind: grade\njudges: [m]\n")
    file = verdicts(project, [["i00", "arm_a", "5"], ["i00", "arm_b", "2"]], ["item_id", "arm", "verdict"])
    take(evh, file)
    path = judged.verdicts_path(project, "helpful")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    put(project, [{**rows[0], "said": said}, *rows[1:]])
    words = ("judge", "--scorer", "helpful", "--dataset-id", "d", "--from-file", file)
    (why,) = evh.refused("bad-verdicts", *words).json["refused"]["why"]
    assert why == f"data/runs-judged/helpful/~verdicts.jsonl: line 1: {reason}"
