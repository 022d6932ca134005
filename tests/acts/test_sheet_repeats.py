"""The sheet tells of an arm, not of one of its repeats: means over them, and the newest one's output."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from evh.acts.leaderboard import leaderboard
from evh.acts.sheet import build_sheet
from evh.acts.sheet_model import Footer, Row, Sheet
from evh.project.find import Project
from tests.acts import repeating
from tests.acts.repeating import AGAINST, IDS, SAID, run_thrice
from tests.acts.sheets import DECISIONS, TEXTS, TRUTH, cells_of, fill, hand_counted
from tests.conftest import CommandLine
from tests.helpers import Builder, correct
from tests.schema import check

thrice = repeating.thrice
WORDS = ("inspect", "--sheet", "--dataset-id", "d")


def place(sheet: Sheet, name: str = "thrice") -> int:
    """Return where an arm stands."""
    return [arm.name for arm in sheet.arms].index(name)


def rows(sheet: Sheet) -> dict[str, Row]:
    """Return the rows by item."""
    return {row.item_id: row for row in sheet.rows}


def line(sheet: Sheet, name: str = "thrice") -> Footer:
    """Return an arm's line of the footer."""
    return sheet.footer[place(sheet, name)]


def test_a_cell_is_the_mean_over_the_repeats_that_have_it(thrice: Builder, project: Project) -> None:
    """By the hand count; output and failure are the newest repeat's, an item that nobody scored is empty."""
    del thrice
    sheet = build_sheet(project, "d")
    cells = {item: row.cells[place(sheet)] for item, row in rows(sheet).items()}
    assert {item: cell.scores for item, cell in cells.items()} == {
        "one": (2 / 3,), "two": (1 / 3,), "three": (0.0,), "four": (None,), "five": (1.0,),
    }  # fmt: skip
    assert {item: cell.decision for item, cell in cells.items()} == SAID[2]
    assert {item: cell.output for item, cell in cells.items()} == SAID[2]
    assert {cell.error for cell in cells.values()} == {None}
    arm = sheet.arms[place(sheet)]
    assert [run.run_id for run in arm.repeats] == list(IDS)
    assert (arm.run.run_id, arm.told_repeats) == (IDS[2], "output of repeat 3 of 3; scores are means over 3")
    assert arm.scores[0].runs == tuple(f"runs-labels-d-truth/{name}" for name in IDS)


def test_winners_shares_and_the_footer_go_by_the_means(thrice: Builder, project: Project) -> None:
    """One is right twice of three times and wins nothing; five is shared by three. 1/3 of 4 rows."""
    del thrice
    sheet = build_sheet(project, "d")
    assert {item: row.winners for item, row in rows(sheet).items()} == {
        "one": ("production", "arm_a"),
        "two": ("arm_a",),
        "three": ("arm_a", "arm_b"),
        "four": (),
        "five": ("production", "arm_b", "thrice"),
    }
    footer = line(sheet)
    assert (footer.n, footer.counts, footer.means, footer.errors) == (4, (4,), (0.5,), 1)
    assert footer.win_rate == pytest.approx(1 / 12)
    spread = footer.spread("correct", sheet.against)
    assert spread is not None
    assert (spread.runs, spread.low, spread.high) == (IDS, 0.25, 2 / 3)
    assert line(sheet, "arm_a").spreads == ()


def test_none_is_right_where_no_repeat_is(thrice: Builder, project: Project) -> None:
    """A mean of a third is no 0: right in one repeat wins the row; wrong in all of them wins none."""
    del thrice
    found = rows(build_sheet(project, "d", ("production", "thrice")))
    assert found["two"].winners == ("thrice",)
    assert (found["three"].winners, found["three"].none_right) == ((), True)


def test_a_run_that_is_named_is_that_run_alone(thrice: Builder, project: Project) -> None:
    """By its id: its own scores, no spread, no note; one and five, each won by three: (1/3 + 1/3) / 4."""
    del thrice
    sheet = build_sheet(project, "d", (*DECISIONS, IDS[0]))
    cells = {item: row.cells[3].scores[0] for item, row in rows(sheet).items()}
    assert cells == {"one": 1.0, "two": 0.0, "three": 0.0, "four": None, "five": 1.0}
    footer = line(sheet, IDS[0])
    assert (footer.means, footer.errors, footer.spreads) == ((0.5,), 0, ())
    assert footer.win_rate == pytest.approx(1 / 6)
    assert sheet.arms[3].repeats == ()
    assert not [note for note in sheet.notes if "repeat" in note]


def test_signals_go_by_the_decision_that_is_shown(thrice: Builder, project: Project) -> None:
    """The newest says no, yes, no: wrong on one, two and three, though one was right in two of three."""
    del thrice
    sheet = build_sheet(project, "d", ("thrice", "arm_a"))
    found = rows(sheet)
    assert {item for item, row in found.items() if row.signals.wrong == (AGAINST,)} == {"one", "two", "three"}
    assert {item for item, row in found.items() if row.signals.disagree} == {"one", "two", "three", "four"}


@pytest.mark.parametrize("against", [AGAINST, "gold/truth"])
def test_the_footer_is_the_leaderboard_to_the_last_digit(project: Project, against: str) -> None:
    """Scores that no float holds exactly, items that fail here and there: the same figures and counts."""
    made = hand_counted(project)
    made.reference("gold/truth", made.labels("d", "again", TRUTH))
    draw = random.Random(3)
    for name in ("x", "y"):
        for day in (1, 2, 3):
            said = {item: None if draw.random() < 0.3 else "yes" for item in TEXTS}
            scores = {
                item: {"f1": draw.random() / 3} for item, text in said.items() if text and item in TRUTH
            }
            run = made.run(name, "d", said, at=f"2026100{day}T000000Z", repeat_group="g")
            made.rescored(
                run, said, scores, against=against, figures={"macro_f1": draw.random() / 7},
                primary_metric="macro_f1",
            )  # fmt: skip
    for metric in ("f1", "macro_f1"):
        sheet = build_sheet(project, "d", ("x", "y"), metric=metric, against=against)
        ranked = leaderboard(project, "d", ("x", "y"), metric=metric, against=against)
        for name in ("x", "y"):
            arm, footer = ranked.arm(name), line(sheet, name)
            assert arm is not None
            assert dict(footer.figures)[sheet.against][metric] == arm.value
            assert footer.spread(metric, sheet.against) == arm.spread
            assert footer.errors == arm.errors
            if metric == "f1":
                assert (footer.means[0], footer.n) == (arm.value, arm.n)


def test_runs_scored_again_one_by_one_agree_with_the_leaderboard(
    thrice: Builder, project: Project, evh: CommandLine
) -> None:
    """`rescore` of every repeat by evh's own classifier: accuracy by item, macro-F1 the mean of the runs'."""
    thrice.labels("d", "more", {**TRUTH, "four": "yes"})
    evh.ok("rescore", "--dataset-id", "d", "--labels", "d/more")
    for metric in ("correct", "macro_f1", "accuracy"):
        words = ("--dataset-id", "d", "--runs", "thrice", "--metric", metric, "--against", "d/more")
        sheet = build_sheet(project, "d", ("thrice",), metric=metric, against="d/more")
        ranked = {one["arm"]: one for one in evh.ok("leaderboard", *words, "--json").json["arms"]}
        assert dict(line(sheet).figures)[sheet.against][metric] == ranked["thrice"]["value"]
        spread = line(sheet).spread(metric, sheet.against)
        assert spread is not None
        assert ranked["thrice"]["repeats"] == {"runs": list(IDS), "low": spread.low, "high": spread.high}
    whole = build_sheet(project, "d", ("thrice",), against="d/more")
    figures = dict(line(whole).figures)[whole.against]
    assert figures["correct"] == pytest.approx((2 / 3 + 1 / 3 + 0 + 2 / 3 + 1) / 5)
    assert figures["accuracy"] == pytest.approx((3 / 5 + 2 / 4 + 2 / 5) / 3)


def test_repeats_that_were_not_scored_are_in_no_mean_and_told(project: Project) -> None:
    """The first and third: one 1/2, two 0, three 0, five 1. The newest alone unscored: still its output."""
    built = hand_counted(project)
    run_thrice(built, scored=(0, 2))
    sheet = build_sheet(project, "d")
    cells = {item: row.cells[place(sheet)].scores for item, row in rows(sheet).items()}
    assert cells == {"one": (0.5,), "two": (0.0,), "three": (0.0,), "four": (None,), "five": (1.0,)}
    ranked = leaderboard(project, "d").arm("thrice")
    assert ranked is not None
    assert (ranked.value, ranked.errors) == (line(sheet).means[0], line(sheet).errors) == (0.375, 0)
    told = (
        "thrice: 2 of 3 repeats count against labels/d/truth: the others were not scored, or cannot be read"
    )
    assert f"{told}; evh rescore --dataset-id d --labels d/truth scores them" in sheet.notes
    assert sheet.arms[place(sheet)].told_repeats == "output of repeat 3 of 3; scores are means over 2"


def test_a_newest_repeat_that_was_not_scored_takes_nothing_from_the_others(project: Project) -> None:
    """Its output is shown; the means are of the first two, and its decision is told wrong by the label."""
    built = hand_counted(project)
    run_thrice(built, scored=(0, 1))
    sheet = build_sheet(project, "d", ("thrice", "production"), wrong_against="truth")
    found = rows(sheet)
    assert {item: row.cells[0].scores[0] for item, row in found.items()} == {
        "one": 1.0, "two": 0.5, "three": 0.0,
    }  # fmt: skip
    assert found["one"].cells[0].decision == "no"


def test_a_failure_of_the_newest_leaves_what_the_others_scored(project: Project, evh: CommandLine) -> None:
    """Failed in the third, right in the first: the failure is shown, and the mean of those that answered."""
    built = hand_counted(project)
    for day, one in ((1, "yes"), (2, "no"), (3, None)):
        said = {"one": one, "two": "no"}
        run = built.run("r", "d", said, at=f"2026100{day}T000000Z", repeat_group="g")
        built.rescored(run, said, correct(said, TRUTH), against=AGAINST)
    sheet = build_sheet(project, "d")
    cell = rows(sheet)["one"].cells[place(sheet, "r")]
    assert (cell.error, cell.decision, cell.scores) == ("failed", None, (0.5,))
    assert (line(sheet, "r").errors, line(sheet, "r").n) == (1, 2)
    assert "error: failed 0.500" in evh.ok(*WORDS).out


def test_csv_workbook_json_and_terminal_say_so(thrice: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """The CSV has a row for the repeats, their lowest and highest; the JSON their runs; the terminal both."""
    del thrice
    evh.ok(*WORDS, "--csv", tmp_path / "t.csv")
    header, *lines = cells_of(tmp_path / "t.csv")
    foot = {row[0]: dict(zip(header, row, strict=True)) for row in lines if row[0].startswith("#")}
    score = "thrice: correct (labels/d/truth)"
    assert foot["#mean"][score] == "0.5"
    assert (foot["#lowest repeat"][score], foot["#highest repeat"][score]) == ("0.25", str(2 / 3))
    assert foot["#repeats"]["thrice: decision"] == "output of repeat 3 of 3; scores are means over 3"
    assert (
        foot["#repeats"]["arm_a: decision"] == foot["#lowest repeat"]["arm_a: correct (labels/d/truth)"] == ""
    )
    document = check(evh.ok(*WORDS, "--json").json, "inspect")
    arm = next(one for one in document["arms"] if one["name"] == "thrice")
    assert (arm["run_id"], arm["repeats"], arm["trial"]) == (IDS[2], list(IDS), None)
    footer = next(one for one in document["footer"] if one["arm"] == "thrice")
    assert footer["repeats"] == [
        {"against": AGAINST, "metrics": {"correct": {"runs": list(IDS), "low": 0.25, "high": 2 / 3}}}
    ]
    told = evh.ok(*WORDS)
    assert "3 runs 0.250 to 0.667" in told.out
    assert "thrice ran 3 times: output of repeat 3 of 3; scores are means over 3" in told.out + told.err
    view = evh.ok("inspect", "--dataset-id", "d", "--item", "one", "--json").json
    one = next(one for one in check(view, "inspect")["items"][0]["arms"] if one["name"] == "thrice")
    assert (one["repeats"], one["scores"][0]["value"]) == (list(IDS), 2 / 3)
    assert (
        f"thrice (run {IDS[2]}; output of repeat 3 of 3"
        in evh.ok("inspect", "--dataset-id", "d", "--item", "one").out
    )


def test_the_page_marks_the_repeat_and_its_foot_has_the_spread(thrice: Builder, evh: CommandLine) -> None:
    """The same CSV beside it; the arm's head names the repeat, the last line of the foot its spread."""
    evh.ok("catalog-build")
    folder = thrice.project.root / ".build" / "catalog" / "sheets" / "d"
    evh.ok(*WORDS, "--csv", thrice.project.root / "t.csv")
    assert (folder / "sheet.csv").read_bytes() == (thrice.project.root / "t.csv").read_bytes()
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert 'title="output of repeat 3 of 3; scores are means over 3.">repeat 3 of 3</span>' in page
    foot = page[page.index("<tfoot>") : page.index("</tfoot>")]
    assert '<td class="arm">0.250 to 0.667<span class="n">3 runs</span></td>' in foot
    assert '"flags":["repeat 3 of 3"]' in page
    assert '"foot":[["0.500","4 of 5, 1 failed"]' in page


def test_a_filled_sheet_judges_the_repeat_that_it_shows(
    thrice: Builder, evh: CommandLine, project: Project, tmp_path: Path
) -> None:
    """The judgement becomes that of the newest run, and stands beside it."""
    del thrice
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--runs", "thrice", "--csv", out, "--fill", "scores")
    assert [row[-2] for row in cells_of(out)[2:]] == [SAID[2][item] for item in TEXTS]
    fill(out, {"one": {"score: A": "2"}})
    evh.ok("sheet-import", out, "--dataset-id", "d", "--by", "ann", "--scorer", "gr")
    assert [path.name for path in (project.data / "runs-judged" / "gr").iterdir()] == [IDS[2]]
    sheet = build_sheet(project, "d")
    column = sheet.arms[place(sheet)].position("gr/judge_score_unvalidated", None)
    assert column is not None
    assert rows(sheet)["one"].cells[place(sheet)].scores[column] == 2.0
