"""Why a number of the sheet that is a mean over repeats is what it is: every run's file is named."""

from __future__ import annotations

import pytest

from evh.acts.why import Answer, explain
from evh.errors import Refusal
from evh.project.find import Project
from tests.acts import repeating, sheets
from tests.acts.repeating import AGAINST, IDS
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

thrice = repeating.thrice
built = sheets.built
ROWS = [f"data/runs-labels-d-truth/{name}/predictions.jsonl" for name in IDS]


def rows_of(answer: Answer) -> dict[str | None, bool | None]:
    """Return the files of scored rows that an answer names, and whether each matches."""
    return {one.file: one.matches for one in answer.links if one.kind == "rows" and "labels" in str(one.file)}


def test_a_cell_names_every_repeats_rows_and_scores(thrice: Builder, project: Project) -> None:
    """Five is 1 in the first and third, and failed in the second: three files, each still as recorded."""
    del thrice
    answer = explain(project, "sheet:d/five#thrice.correct")
    assert answer.value == 1.0
    assert answer.how == (
        f"correct of thrice on five against {AGAINST}, the mean over its repeats: "
        f"{IDS[0]} 1, {IDS[1]} —, {IDS[2]} 1"
    )
    assert rows_of(answer) == dict.fromkeys(ROWS, True)
    alone = explain(project, f"sheet:d/five#{IDS[0]}.correct")
    assert (alone.value, rows_of(alone)) == (1.0, {ROWS[0]: True})


def test_a_decision_is_the_shown_repeats(thrice: Builder, project: Project) -> None:
    """The newest run's alone."""
    del thrice
    answer = explain(project, "sheet:d/one#thrice.decision")
    assert answer.value == "no"
    assert [one.ref for one in answer.links if one.kind == "run"] == [f"runs/{IDS[2]}"]


def test_a_figure_below_the_sheet_names_every_repeat(
    thrice: Builder, project: Project, evh: CommandLine
) -> None:
    """0.5, of four items; each run's own figure is made again of its rows."""
    del thrice
    answer = explain(project, "sheet:d#thrice.correct")
    assert answer.value == 0.5
    assert answer.how == (
        f"correct of thrice against {AGAINST}, of 3 repeats, each of 4 items its mean over the repeats: "
        f"{IDS[0]} 0.5, {IDS[1]} 0.6667, {IDS[2]} 0.25"
    )
    assert rows_of(answer) == dict.fromkeys(ROWS, True)
    assert [(one.kind, one.matches) for one in answer.links if one.kind == "figure"] == [("figure", True)] * 3
    check(evh.ok("why", "sheet:d#thrice.correct", "--json").json, "why")
    share = explain(project, "sheet:d#thrice.win_rate")
    assert share.value == pytest.approx(1 / 12)
    assert set(ROWS) < set(rows_of(share))


def test_a_figure_of_one_run_is_its_own(built: Builder, project: Project) -> None:
    """Of arm_a: 3 of 3, the mean of its rows; and the set may be named."""
    del built
    for ref in ("sheet:d#arm_a.correct", "sheet:d#arm_a.correct@truth", "sheet:d#arm_a.correct@d/truth"):
        answer = explain(project, ref)
        assert answer.value == 1.0
        assert answer.how.startswith(f"correct of arm_a against {AGAINST}: the mean of 3 rows")
    with pytest.raises(Refusal) as refused:
        explain(project, "sheet:d#arm_a.correct@nothing")
    assert refused.value.code == "no-such-figure"
    assert refused.value.why == ("arm_a: there is arm_a.correct, arm_a.judge_win_rate, arm_a.win_rate",)


def test_one_changed_repeat_is_found(thrice: Builder, project: Project, evh: CommandLine) -> None:
    """A byte more in the rows of the first: it is in no mean any more, and the number's own files tell."""
    path = thrice.project.root / ROWS[0]
    path.write_bytes(path.read_bytes() + b"\n")
    answer = explain(project, "sheet:d/two#thrice.correct")
    assert answer.value == 0.5  # of the second and third
    assert evh("why", "sheet:d/two#thrice.correct").code == 1
