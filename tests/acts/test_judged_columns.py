"""What judges say on the sheet: columns, the judge's winner, its win rate, and passes that are not mixed."""

from __future__ import annotations

import csv
from typing import Any

from evh.project import runs
from evh.project.find import Project
from tests.acts.judging import PICK, arms, judge_file, model, picks, prefers, two_arms
from tests.conftest import CommandLine
from tests.helpers import correct
from tests.schema import check
from tests.servers.scripted import Scripted

good = prefers(lambda text: text.startswith("good"))


def sheet(evh: CommandLine, *more: str) -> Any:
    """Return the sheet of ``d``."""
    return check(evh.ok("inspect", "--sheet", "--dataset-id", "d", *more, "--json").json, "inspect")


def both(project: Project, evh: CommandLine) -> None:
    """Score x and y against labels, and take a judge's picks of two of three rows."""
    outputs = {"x": {"i0": "1", "i1": "1", "i2": "1"}, "y": {"i0": "2", "i1": "2", "i2": "2"}}
    builder = arms(project, outputs)
    labels = {"i0": "1", "i1": "1", "i2": "2"}
    builder.labels("d", "owner", labels)
    for run in runs.read_all(project):
        answers = outputs[run.config_id]
        builder.rescored(run, answers, correct(answers, labels), against="labels/d/owner")
    judge_file(project, PICK, "best")
    picks(evh, project, [("i0", "x"), ("i1", "y"), ("i2", "")])


def test_the_judge_and_the_metric_each_name_a_winner(project: Project, evh: CommandLine) -> None:
    """On i0 both say x, on i1 the metric x and the judge y, on i2 the metric alone speaks."""
    both(project, evh)
    found = sheet(evh)
    assert found["judge"] == "best/judge_won_unvalidated"
    rows = {row["item_id"]: (row["winners"], row["judge_winners"]) for row in found["rows"]}
    assert rows == {"i0": (["x"], ["x"]), "i1": (["x"], ["y"]), "i2": (["y"], [])}
    rates = {one["arm"]: (one["win_rate"], one["judge_win_rate"]) for one in found["footer"]}
    assert rates == {"x": (2 / 3, 0.5), "y": (1 / 3, 0.5)}
    (x, _) = found["arms"]
    assert [(one["metric"], one["against"]) for one in x["scores"]] == [
        ("correct", "labels/d/owner"),
        ("best/judge_won_unvalidated", None),
    ]


def test_metric_names_a_judges_column(project: Project, evh: CommandLine) -> None:
    """``--metric SCORER/M``, with or without the word: the winner and the win rate are then the judge's."""
    arms(project, {"x": {"i0": "1", "i1": "1"}, "y": {"i0": "2", "i1": "2"}})
    judge_file(project, PICK, "best")
    picks(evh, project, [("i0", "x"), ("i1", "x|y")])
    for name in ("best/judge_won", "best/judge_won_unvalidated"):
        found = sheet(evh, "--metric", name)
        assert found["row_metric"] == "best/judge_won_unvalidated"
        assert [(row["winners"], row["judge_winners"]) for row in found["rows"]] == [
            (["x"], ["x"]),
            (["x", "y"],) * 2,
        ]
        assert {one["arm"]: one["win_rate"] for one in found["footer"]} == {"x": 0.75, "y": 0.25}
    evh.refused("no-such-metric", "inspect", "--sheet", "--dataset-id", "d", "--metric", "best/nothing")


def test_a_row_given_to_an_arm_not_shown_is_nobodys(project: Project, evh: CommandLine) -> None:
    """Of three arms judged two are shown: the row that the third won has no winner; shares stay."""
    arms(project, {name: {"i0": name, "i1": name} for name in ("x", "y", "z")})
    judge_file(project, PICK, "best")
    picks(evh, project, [("i0", "z"), ("i1", "y")])
    found = sheet(evh, "--runs", "x,y")
    assert [row["judge_winners"] for row in found["rows"]] == [[], ["y"]]
    assert {one["arm"]: one["judge_win_rate"] for one in found["footer"]} == {"x": 0, "y": 0.5}


def test_two_passes_are_never_set_against_each_other(project: Project, evh: CommandLine) -> None:
    """x was judged beside y, then y beside z: on a sheet of all, x's old shares are left out, and said so."""
    arms(project, {name: {"i0": name} for name in ("x", "y", "z")})
    judge_file(project, PICK, "best")
    picks(evh, project, [("i0", "x")], "--runs", "x,y")
    picks(evh, project, [("i0", "y")], "--runs", "y,z")
    found = sheet(evh)
    shown = {one["name"]: [column["metric"] for column in one["scores"]] for one in found["arms"]}
    assert shown == {"x": [], "y": ["best/judge_won_unvalidated"], "z": ["best/judge_won_unvalidated"]}
    assert any(note.startswith("best judged x in another pass") for note in found["warnings"])


def test_the_terminal_and_the_csv_show_the_judge(project: Project, evh: CommandLine) -> None:
    """A column for the judge's winner beside the metric's, and its win rates below."""
    both(project, evh)
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d").out
    assert "by the judge, best/judge_won_unvalidated, over the rows judged:" in shown
    path = project.root / "sheet.csv"
    evh.ok("inspect", "--sheet", "--dataset-id", "d", "--csv", path)
    header, *rows = csv.reader(path.read_text("utf-8-sig").splitlines())
    assert {len(row) for row in rows} == {len(header)}
    at, by = header.index("winner"), header.index("winner by best/judge_won_unvalidated")
    assert {row[0]: (row[at], row[by]) for row in rows if not row[0].startswith("#")} == {
        "i0": ("x", "x"),
        "i1": ("x", "y"),
        "i2": ("y", ""),
    }
    rates = next(row for row in rows if row[0] == "#win rate by best/judge_won_unvalidated")
    assert [cell for cell in rates[3:] if cell] == ["0.5", "0.5"]


def test_grades_stand_beside_a_runs_own_scores(project: Project, evh: CommandLine) -> None:
    """A grading judge draws no winner of its own; ``--metric`` draws it by the grades."""
    arms(project, {"x": {"i0": "1"}, "y": {"i0": "2"}})
    judge_file(project, "kind: grade\njudges: [m]\n", "g")
    path = project.root / "grades.csv"
    path.write_text("item_id,arm,verdict\ni0,x,2\ni0,y,5\n")
    evh.ok("judge", "--scorer", "g", "--dataset-id", "d", "--from-file", path)
    found = sheet(evh)
    assert (found["judge"], found["rows"][0]["winners"]) == (None, [])
    found = sheet(evh, "--metric", "g/judge_score")
    assert found["rows"][0]["winners"] == ["y"]


def test_a_model_judge_reaches_the_catalogs_sheet(project: Project, evh: CommandLine) -> None:
    """A site with judged runs builds, and every link in it holds."""
    builder = two_arms(project, ("i00", "i01"))
    judge_file(project, "kind: pairwise\njudges: [m]\n")
    with Scripted(good) as server:
        model(builder, server.base_url)
        evh.ok("judge", "--scorer", "helpful", "--dataset-id", "d")
    evh.ok("catalog-build")


def test_scorers_chooses_whose_columns_are_shown(project: Project, evh: CommandLine) -> None:
    """Of two judges one, or none; an unknown one is refused, and so is a metric of one that is left out."""
    both(project, evh)
    judge_file(project, PICK, "other")
    picks(evh, project, [("i0", "y")], scorer="other")

    def judges(*more: str) -> list[str]:
        return [one["metric"] for one in sheet(evh, *more)["arms"][0]["scores"] if one["against"] is None]

    best, other = "best/judge_won_unvalidated", "other/judge_won_unvalidated"
    assert judges() == [best, other]
    assert judges("--scorers", "other") == [other]
    assert judges("--scorers", "other, best") == [best, other]
    assert judges("--scorers", "none") == []
    alone = sheet(evh, "--scorers", "none")
    assert (alone["judge"], {tuple(row["judge_winners"]) for row in alone["rows"]}) == (None, {()})
    words = ("inspect", "--sheet", "--dataset-id", "d", "--scorers")
    evh.refused("no-such-scorer", *words, "nobody")
    evh.refused("no-such-metric", *words, "other", "--metric", best)
    assert evh("inspect", "--dataset-id", "d", "--item", "i0", "--scorers", "best").code == 2
