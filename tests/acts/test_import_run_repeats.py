"""A CSV with a column ``repeat`` becomes a run for each trial of one arm; they are compared as repeats."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from evh.project import runs
from evh.project.find import Project
from tests.acts.tool_logs import put, three_reports, words
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

TASKS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases/airline-agent/tasks.jsonl").read_text().splitlines()
]
FIRST_ONLY = 9
SECOND_ONLY = 10
"""Tasks that only the one trial was rewarded for. Counted in the source, whose two files have a line a task:
``jq -c '[.task_id, .reward]' trial_0.jsonl trial_1.jsonl | sort | uniq -c``. 12 tasks have reward 1 in both
trials, 19 have 0 in both, 19 one of each; ``jq -s 'map(.reward) | add'`` gives 21 and 22 of 50."""


@pytest.fixture
def d(project: Project) -> Builder:
    """The project of `three_reports`."""
    return three_reports(project)


@pytest.fixture
def airline(project: Project) -> Builder:
    """The 50 tasks of the airline agent as a dataset, no run yet."""
    made = Builder(project)
    made.dataset("airline", {f"t{one['task_id']}": one["instruction"] for one in TASKS})
    return made


def trials() -> str:
    """Return both trials of the agent as one CSV: what it said last, and the recorded reward."""
    out = io.StringIO()
    made = csv.writer(out)
    made.writerow(["item_id", "repeat", "output", "reward"])
    for number in (0, 1):
        for one in TASKS:
            made.writerow([f"t{one['task_id']}", number, one["said"][number], one["rewards"][number]])
    return out.getvalue()


def test_two_trials_of_the_airline_agent_are_repeats_of_one_arm(
    airline: Builder, project: Project, evh: CommandLine
) -> None:
    """Rewards of 21 and 22 in 50 tasks, counted in the source: the mean is 0.43, the spread 0.42 to 0.44."""
    path = put(project, "trials.csv", trials())
    call: list[str | Path] = [
        "import-run",
        "--from-file",
        path,
        "--format",
        "csv",
        "--dataset-id",
        "airline",
        "--as",
        "agent",
    ]
    found = evh.ok(*call, "--json").json
    check(found, "import-run")
    one, two = found["runs"]
    assert [run["scores"] for run in (one, two)] == [{"reward": 0.42}, {"reward": 0.44}]
    assert [run["imported"]["part"] for run in (one, two)] == ["0", "1"]
    assert one["repeat_group"] == two["repeat_group"] == one["run_id"] != two["run_id"]
    assert (one["n_items"], two["n_items"], found["warnings"]) == (50, 50, [])

    (arm,) = evh.ok("leaderboard", "--dataset-id", "airline", "--json").json["arms"]
    assert (arm["config_id"], arm["value"]) == ("agent", pytest.approx(0.43))
    assert (arm["repeats"]["low"], arm["repeats"]["high"]) == (0.42, 0.44)
    told = evh.ok("leaderboard", "--dataset-id", "airline").out
    assert "0.430" in told
    assert "2 runs 0.420 to 0.440" in told

    listed = evh.ok("runs", "--dataset-id", "airline", "--json").json
    assert [(run["run_id"], run["value"]) for run in listed["runs"]] == [
        (one["run_id"], 0.42),
        (two["run_id"], 0.44),
    ]
    assert listed["n_older"] == 0
    evh.refused("existing-run", *call)


def test_each_row_of_the_sheet_is_the_mean_over_the_trials(
    airline: Builder, project: Project, evh: CommandLine
) -> None:
    """12 tasks are 1, 19 are 0, and 19 that one trial of two was rewarded for are a half."""
    path = put(project, "trials.csv", trials())
    evh.ok("import-run", "--from-file", path, "--format", "csv", "--dataset-id", "airline", "--as", "agent")
    sheet = evh.ok("inspect", "--sheet", "--dataset-id", "airline", "--json").json
    rewards = [row["arms"][0]["scores"][0]["value"] for row in sheet["rows"]]
    assert {value: rewards.count(value) for value in rewards} == {
        1.0: 12,
        0.0: 19,
        0.5: FIRST_ONLY + SECOND_ONLY,
    }
    told = evh.ok("inspect", "--dataset-id", "airline", "--item", "t1").out  # the second trial's reward is 0
    assert "output of repeat 2 of 2; scores are means over 2" in told
    assert "reward: 0.5" in told


@pytest.mark.parametrize("names", [("first", "second"), ("01", "1"), ("=1+1", "=1+2"), ("<b>", "a/../b")])
def test_a_repeat_is_any_short_text(
    names: tuple[str, str], d: Builder, project: Project, evh: CommandLine
) -> None:
    """Each value is a run, in the order in which the file names them; it is no metric and no path."""
    text = f"item_id,output,m,repeat\ni1,x,1,{names[0]}\ni1,y,0,{names[1]}\ni2,x,0,{names[0]}\n"
    found = evh.ok(*words(put(project, "s.csv", text), "csv"), "--json").json["runs"]
    assert [run["imported"]["part"] for run in found] == list(names)
    assert [run["scores"] for run in found] == [{"m": 0.5}, {"m": 0.0}]
    assert [run.repeat_group for run in runs.read_all(project)] == [found[0]["run_id"]] * 2


def test_one_value_is_one_run_and_no_group(d: Builder, project: Project, evh: CommandLine) -> None:
    """A column with one value in it, or with none, tells no trials apart."""
    evh.ok(*words(put(project, "one.csv", "item_id,output,repeat\ni1,x,1\ni2,y,1\n"), "csv"))
    evh.ok(*words(put(project, "none.csv", "item_id,output,repeat\ni1,x,\ni2,y, \n"), "csv"))
    assert [(run.n_items, run.repeat_group, run.scores) for run in runs.read_all(project)] == [
        (2, None, {})
    ] * 2


@pytest.mark.parametrize(
    ("rows", "code", "told", "following"),
    [
        (
            ["i1,x,1,a", "i2,x,1,", "i3,x,1, "],
            "bad-csv",
            ["row 3: repeat: is empty, and other rows name", "row 4: repeat: is empty, and other rows name"],
            "name the repeat of every row, or of none",
        ),
        (
            ["i1,x,1,a", "i1,x,1,b", "i1,y,1,a", "i1,z,1,b"],
            "doubled-item",
            [
                "row 4 (i1): i1: it stands in {}: row 2 (i1) too, in the same repeat 'a'",
                "row 5 (i1): i1: it stands in {}: row 3 (i1) too, in the same repeat 'b'",
            ],
            "name the trial of each row in a column repeat",
        ),
        (["i1,x,1,a", f"i2,x,1,{'b' * 81}"], "bad-csv", ["row 3: repeat: 'bbb"], "mend the cells"),
    ],
)
def test_repeats_that_do_not_fit_are_refused_row_by_row(
    rows: list[str],
    code: str,
    told: list[str],
    following: str,
    *,
    d: Builder,
    project: Project,
    evh: CommandLine,
) -> None:
    """A blank among named repeats, an item twice in one of them, a name that is none: nothing is written."""
    path = put(project, "s.csv", "\n".join(["item_id,output,m,repeat", *rows, ""]))
    before = tree_bytes(project.data)
    refused = evh.refused(code, *words(path, "csv")).json["refused"]
    assert len(refused["why"]) == len(told)
    for reason, part in zip(refused["why"], told, strict=True):
        assert part.format(path) in reason
    assert following in refused["next"]
    assert tree_bytes(project.data) == before


def test_what_stands_twice_without_a_repeat_says_how_to_name_the_trial(
    d: Builder, project: Project, evh: CommandLine
) -> None:
    """Two rows of one item and no column: the way out is the column."""
    path = put(project, "s.csv", "item_id,output,m\ni1,x,1\ni1,y,0\n")
    refused = evh.refused("doubled-item", *words(path, "csv")).json["refused"]
    assert "name the trial of each row in a column repeat" in refused["next"]
