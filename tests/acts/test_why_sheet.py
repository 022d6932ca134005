"""Why a number of the sheet is what it is: a judge's figure, who won a row, and a share of the wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.acts.why import Answer, explain
from evh.errors import Refusal
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.acts.sheets import fill, hand_counted, letters
from tests.conftest import CommandLine
from tests.schema import check


@pytest.fixture
def judged(project: Project, evh: CommandLine, tmp_path: Path) -> Path:
    """The project of the hand count, where ann picked arm_a on one and arm_b on two; return the sheet."""
    hand_counted(project)
    out = tmp_path / "s.csv"
    evh.ok("inspect", "--sheet", "--dataset-id", "d", "--runs", "arm_a,arm_b", "--csv", out, "--fill", "pick")
    there = letters(out)
    fill(out, {"one": {"pick": there["one"]["arm_a"]}, "two": {"pick": there["two"]["arm_b"]}})
    evh.ok("sheet-import", out, "--dataset-id", "d", "--by", "ann", "--scorer", "gr")
    return out


def told(answer: Answer) -> list[tuple[str, str]]:
    """Give kind and sentence of each link."""
    return [(one.kind, one.told) for one in answer.links]


def test_a_judged_cell_leads_to_the_judged_rows_and_to_who_judged(
    project: Project, judged: Path, evh: CommandLine
) -> None:
    """The judged run holds the number: its rows, who judged, the hashes of rubric, sheet and key."""
    ref = "sheet:d/one#arm_a.gr/judge_won_unvalidated"
    answer = explain(project, ref)
    assert answer.value == 1.0
    assert answer.links[0].ref == "runs-judged/gr/arm_a_20261001T000000Z"
    files = [one.file for one in answer.links]
    assert "data/runs-judged/gr/arm_a_20261001T000000Z/predictions.jsonl" in files
    assert ("judge", "judged by ann (person); unvalidated") in told(answer)
    recorded = {one.told.partition(";")[0]: one.recorded for one in answer.links}
    assert recorded["the filled sheet"] == sha256(judged.read_bytes())
    assert recorded["the sheet's key"] == sha256(judged.with_suffix(".key.json").read_bytes())
    assert recorded["the rubric"]
    assert ("run", "runs/arm_a_20261001T000000Z") in [(one.kind, one.ref) for one in answer.links]
    assert answer.changed == ()
    assert explain(project, "sheet:d/two#arm_a.gr/judge_won").value == 0.0
    check(evh.ok("why", ref, "--json").json, "why")


def test_a_changed_verdict_is_found(project: Project, judged: Path, evh: CommandLine) -> None:
    """One byte more in the judged rows is a mismatch of the cell that they hold."""
    path = project.data / "runs-judged" / "gr" / "arm_a_20261001T000000Z" / "predictions.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    assert judged.exists()
    assert evh("why", "sheet:d/one#arm_a.gr/judge_won_unvalidated").code == 1


def test_who_won_a_row_and_by_what(project: Project, judged: Path) -> None:
    """By the hand count: two is won by arm_a alone; by ann it is arm_b's. Nobody is judged on three."""
    assert judged.exists()
    answer = explain(project, "sheet:d/two#winner")
    assert (answer.value, answer.how) == (
        "arm_a",
        "the arms best on two by correct against labels/d/truth: production 0, arm_a 1, arm_b 0",
    )
    assert ("labels", "d/truth") in [(one.kind, one.ref) for one in answer.links]
    by_judge = explain(project, "sheet:d/two#judge_winner")
    assert (by_judge.value, by_judge.how) == (
        "arm_b",
        "the arms best on two by the judge, gr/judge_won_unvalidated: arm_a 0, arm_b 1",
    )
    assert explain(project, "sheet:d/three#judge_winner").value is None


def test_a_share_of_the_wins_and_what_it_is_of(project: Project, judged: Path) -> None:
    """arm_a: half of one, two whole, half of three: 2 of its 3 rows. Ann gave it 1 of 2."""
    assert judged.exists()
    answer = explain(project, "sheet:d#arm_a.win_rate")
    assert answer.value == pytest.approx(2 / 3)
    assert answer.how == (
        "the share of arm_a in the wins over the 3 rows it was scored on, by correct against labels/d/truth, "
        "among production, arm_a, arm_b; a win shared is split"
    )
    assert answer.links[0].ref == "runs-labels-d-truth/arm_a_20261001T000000Z"
    assert explain(project, "sheet:d#arm_a.judge_win_rate").value == 0.5


@pytest.mark.parametrize(
    ("ref", "code"),
    [
        ("sheet:d#arm_a.beauty", "no-such-figure"),
        ("sheet:d#nobody.win_rate", "no-such-arm"),
        ("sheet:no#arm_a.win_rate", "no-such-dataset"),
        ("sheet:d/nothing#winner", "no-such-item"),
        ("sheet:d/one#judge_winner", "no-winner"),
        ("sheet:d#arm_a.judge_win_rate", "no-winner"),
    ],
)
def test_what_no_sheet_has_is_refused(project: Project, ref: str, code: str) -> None:
    """No such figure, arm, dataset or item; and no judge has been here."""
    hand_counted(project)
    with pytest.raises(Refusal) as refused:
        explain(project, ref)
    assert refused.value.code == code
