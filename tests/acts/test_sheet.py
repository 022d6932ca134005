"""The sheet says of each item what a hand count says: decisions, labels, winner, signals, and the footer."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.acts import label_plan, sheet_csv
from evh.acts.sheet import Filters, Sheet, build_sheet, count_by
from evh.errors import Refusal
from evh.project import labels
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, correct, tree_bytes
from tests.schema import check

# The fixture, counted by hand:
#   item   fields       truth  production  a      b
#   one    kind=x n=1   yes    yes         yes    no
#   two    kind=y n=2   no     yes         no     no
#   three  kind=x n=3   yes    no          yes    yes
#   four   kind=z       —      yes         yes    yes
#   five   kind=x       no     no          failed no
TEXTS = {name: f"the text of {name}\n" for name in ("one", "two", "three", "four", "five")}
FIELDS: dict[str, dict[str, Any]] = {
    "one": {"kind": "x", "n": 1},
    "two": {"kind": "y", "n": 2},
    "three": {"kind": "x", "n": 3},
    "four": {"kind": "z"},
    "five": {"kind": "x"},
}
TRUTH = {"one": "yes", "two": "no", "three": "yes", "five": "no"}
DECISIONS: dict[str, dict[str, str | None]] = {
    "production": {"one": "yes", "two": "yes", "three": "no", "four": "yes", "five": "no"},
    "a": {"one": "yes", "two": "no", "three": "yes", "four": "yes", "five": None},
    "b": {"one": "no", "two": "no", "three": "yes", "four": "yes", "five": "no"},
}


@pytest.fixture
def built(project: Project) -> Builder:
    """The project of the hand count: one dataset, one set, a recorded arm and two candidates."""
    made = Builder(project)
    made.dataset("d", TEXTS, fields=FIELDS)
    made.labels("d", "truth", TRUTH)
    for name, decisions in DECISIONS.items():
        recorded = name == "production"
        run = made.run(name, "d", decisions, params={"provider": "recorded" if recorded else "echo"})
        made.rescored(run, decisions, correct(decisions, TRUTH), against="labels/d/truth")
    return made


def by_item(sheet: Sheet) -> dict[str, Any]:
    """Return the rows by their item."""
    return {row.item_id: row for row in sheet.rows}


def test_recorded_arms_stand_first(built: Builder) -> None:
    """Left out, --runs means all arms, the recorded one first: it stands for production."""
    sheet = build_sheet(built.project, "d")
    assert [arm.name for arm in sheet.arms] == ["production", "a", "b"]
    assert [arm.recorded for arm in sheet.arms] == [True, False, False]


def test_winners_are_the_arms_that_tie_for_best(built: Builder) -> None:
    """Each row's winners are those of the hand count; a row without a score has none."""
    rows = by_item(build_sheet(built.project, "d"))
    assert {name: row.winners for name, row in rows.items()} == {
        "one": ("production", "a"),
        "two": ("a", "b"),
        "three": ("a", "b"),
        "four": (),
        "five": ("production", "b"),
    }


def test_win_rates_share_a_win_evenly(built: Builder) -> None:
    """Production wins 1/2 + 1/2 of 4 rows, a 3 halves of 3, b 3 halves of 4."""
    sheet = build_sheet(built.project, "d")
    assert [line.win_rate for line in sheet.footer] == [0.25, 0.5, 0.375]
    assert [(line.n, line.of, line.errors) for line in sheet.footer] == [(4, 5, 0), (3, 5, 1), (4, 5, 0)]


def test_footer_has_the_mean_and_the_majority_rate_beside_it(built: Builder) -> None:
    """Means 2/4, 3/3, 3/4; the best constant arm reaches 2/4, on the three items that a answered 2/3."""
    sheet = build_sheet(built.project, "d")
    assert [line.means for line in sheet.footer] == [(0.5,), (1.0,), (0.75,)]
    assert [line.counts for line in sheet.footer] == [(4,), (3,), (4,)]
    assert [line.majority_rates[0][1] for line in sheet.footer] == [0.5, 2 / 3, 0.5]
    assert sheet.footer[0].figures[0][1] == {"correct": 0.5}


def test_signals_are_those_of_the_hand_count(built: Builder) -> None:
    """Wrong by the first arm, disagree, split and unlabelled; nothing is new without a governed dataset."""
    rows = by_item(build_sheet(built.project, "d"))
    assert {name: row.signals.wrong for name, row in rows.items()} == {
        "one": (),
        "two": ("labels/d/truth",),
        "three": ("labels/d/truth",),
        "four": (),
        "five": (),
    }
    assert [name for name in TEXTS if rows[name].signals.disagree] == ["one", "two", "three"]
    assert [name for name in TEXTS if rows[name].signals.split] == ["one"]
    assert [name for name in TEXTS if rows[name].signals.unlabelled] == ["four"]
    assert not any(row.signals.new for row in rows.values())


def test_rows_sort_by_how_many_signals_they_carry(built: Builder) -> None:
    """one, two and three carry two each, four one, five none; ties stay in the dataset's order."""
    assert [row.item_id for row in build_sheet(built.project, "d").rows] == [
        "one",
        "two",
        "three",
        "four",
        "five",
    ]
    only = build_sheet(built.project, "d", ("production", "b"))
    assert [row.item_id for row in only.rows] == ["two", "three", "one", "four", "five"]


def test_an_output_a_decision_and_an_error_stand_in_their_cells(built: Builder) -> None:
    """A failed item shows its error and no score; without outputs the decision is still there."""
    row = by_item(build_sheet(built.project, "d"))["five"]
    assert [cell.error for cell in row.cells] == [None, "failed", None]
    assert [cell.scores for cell in row.cells] == [(1.0,), (None,), (1.0,)]
    assert row.preview == "the text of five"
    bare = by_item(build_sheet(built.project, "d", with_outputs=False))["one"]
    assert [(cell.output, cell.decision) for cell in bare.cells] == [
        (None, "yes"),
        (None, "yes"),
        (None, "no"),
    ]


def test_new_compares_with_the_one_governed_dataset(built: Builder) -> None:
    """kind=y, kind=z and n=3 are new to it; with two governed datasets nothing is, until one is named."""
    built.dataset(
        "gov", {"g1": "g1", "g2": "g2"}, fields={"g1": {"kind": "x", "n": 1}, "g2": {"n": 2}}, governed=True
    )
    sheet = build_sheet(built.project, "d")
    assert sheet.new_vs == "gov"
    assert {name: row.signals.new for name, row in by_item(sheet).items() if row.signals.new} == {
        "two": ("kind",),
        "three": ("n",),
        "four": ("kind",),
    }
    built.dataset("gov2", {"h": "h"}, governed=True)
    assert build_sheet(built.project, "d").new_vs is None
    named = build_sheet(built.project, "d", new_vs="gov", filters=Filters(new=True))
    assert {row.item_id for row in named.rows} == {"two", "three", "four"}


def test_an_arm_on_its_own_labels_never_wins(built: Builder) -> None:
    """A set made of b's run flags b: it wins no row, and a, which is left alone, beats nobody either."""
    own = {"one": "no", "two": "no", "three": "yes", "four": "yes"}
    built.labels(
        "d", "from_b", own, source={"kind": "model", "run_id": "b_20261001T000000Z", "config_id": "b"}
    )
    run = next(arm.run for arm in build_sheet(built.project, "d").arms if arm.name == "b")
    built.rescored(run, DECISIONS["b"], correct(DECISIONS["b"], own), against="labels/d/from_b")
    built.rescored(
        build_sheet(built.project, "d").arms[1].run,
        DECISIONS["a"],
        correct(DECISIONS["a"], own),
        against="labels/d/from_b",
    )
    sheet = build_sheet(built.project, "d", against="from_b")
    assert all(row.winners == () for row in sheet.rows)
    assert [line.win_rate for line in sheet.footer] == [None, None, None]
    assert "one arm alone competes, so no winner is drawn" in sheet.notes
    assert (
        "production: not scored against labels/d/from_b; "
        "evh rescore --dataset-id d --labels d/from_b does it" in sheet.notes
    )
    assert any("b is measured on its own labels (labels/d/from_b)" in note for note in sheet.notes)
    assert build_sheet(built.project, "d").against == sheet.arms[0].scores[0].against  # truth: more arms


def test_an_arm_fitted_on_these_items_never_wins(built: Builder) -> None:
    """An arm whose fitted_on holds the same bytes is flagged, and no row is its."""
    built.dataset("older", {"x": TEXTS["one"]})
    decisions: dict[str, str | None] = dict(TRUTH)
    run = built.run("fitted", "d", decisions, extra={"fitted_on": ["older"]})
    built.rescored(run, decisions, correct(decisions, TRUTH), against="labels/d/truth")
    sheet = build_sheet(built.project, "d", ("production", "fitted"))
    assert all("fitted" not in row.winners for row in sheet.rows)
    assert sheet.arms[1].scores[0].fitted
    assert any("fitted was fitted on items of this dataset" in note for note in sheet.notes)


def test_a_reference_draws_the_winner_before_a_label_set(built: Builder) -> None:
    """Scored against gold, silver and labels by as many arms, gold is taken; --against chooses otherwise."""
    truth = labels.read(built.project, "d", "truth")
    built.reference("silver/s", truth)
    built.reference("gold/g", truth)
    for against in ("silver/s", "gold/g"):
        decisions = DECISIONS["a"]
        built.run(
            "c", "d", decisions, scores=correct(decisions, TRUTH), against=against,
            at=f"2026100{2 if against == 'gold/g' else 1}T000000Z",
        )  # fmt: skip
    sheet = build_sheet(built.project, "d")
    assert sheet.against is not None
    assert (sheet.against.ref, sheet.against.kind, sheet.against.tier) == ("gold/g", "reference", "gold")
    assert sheet.against.source_kind == "person"
    chosen = build_sheet(built.project, "d", against="truth")
    assert chosen.against is not None
    assert chosen.against.ref == "labels/d/truth"
    assert [column.ref for column in sheet.labels] == ["gold/g", "silver/s", "labels/d/truth"]


def test_one_answer_draws_no_winner(built: Builder) -> None:
    """A set that holds a single answer measures recall of it: no row has a winner, and a note says so."""
    only_yes = {"one": "yes", "three": "yes"}
    built.labels("d", "positives", only_yes)
    run = build_sheet(built.project, "d").arms[1].run
    built.rescored(run, DECISIONS["a"], correct(DECISIONS["a"], only_yes), against="labels/d/positives")
    sheet = build_sheet(built.project, "d", against="positives")
    assert all(row.winners == () for row in sheet.rows)
    assert all(line.win_rate is None for line in sheet.footer)
    assert any("fewer than two distinct answers" in note for note in sheet.notes)


def test_correct_stands_in_for_a_metric_without_a_value_per_item(project: Project) -> None:
    """With balanced_accuracy as the primary metric, correct draws the winner; the footer has the primary."""
    built = Builder(project)
    built.dataset("d", TEXTS)
    built.labels("d", "truth", TRUTH)
    for name in ("a", "b"):
        built.rescored(
            built.run(name, "d", DECISIONS[name]), DECISIONS[name], correct(DECISIONS[name], TRUTH),
            against="labels/d/truth", primary_metric="balanced_accuracy",
            figures={"balanced_accuracy": 0.875},
        )  # fmt: skip
    sheet = build_sheet(project, "d")
    assert (sheet.metric, sheet.row_metric) == ("balanced_accuracy", "correct")
    assert sheet.arms[0].scores[0].primary
    assert dict(sheet.footer[0].figures)[sheet.against]["balanced_accuracy"] == 0.875
    assert any("balanced_accuracy has no value per item: correct draws" in note for note in sheet.notes)
    assert by_item(sheet)["one"].winners == ("a",)


def test_a_stand_in_that_ranks_the_arms_the_other_way_is_told(project: Project) -> None:
    """a is right on 2 of 3 rows and b on 1, but by balanced accuracy b is ahead: the reader is told."""
    built = Builder(project)
    built.dataset("d", {"one": "1", "two": "2", "three": "3"})
    truth = {"one": "x", "two": "x", "three": "y"}
    built.labels("d", "truth", truth)
    said = {"a": dict.fromkeys(truth, "x"), "b": {"one": "y", "two": "y", "three": "y"}}
    for name, value in (("a", 0.5), ("b", 0.625)):
        built.rescored(
            built.run(name, "d", said[name]), said[name], correct(said[name], truth),
            against="labels/d/truth", primary_metric="balanced_accuracy",
            figures={"balanced_accuracy": value},
        )  # fmt: skip
    sheet = build_sheet(project, "d")
    told = (
        "by balanced_accuracy b is ahead of a (0.625, 0.5), by correct, which stands in for it row by row, "
        "behind (0.3333, 0.6667): rows and winners speak for the other arm"
    )
    assert told in sheet.notes
    assert told in label_plan.plan(project, "d", ["a", "b"]).notes
    assert not any("stands in for it" in note for note in build_sheet(project, "d", metric="correct").notes)


def test_a_lower_is_better_metric_is_won_by_the_lowest(project: Project) -> None:
    """METRIC_DIRECTIONS says lower: the arm with the smaller value wins the row."""
    built = Builder(project)
    built.dataset("d", {"one": "1", "two": "2"})
    built.labels("d", "truth", {"one": "x", "two": "y"})
    for name, value in (("a", 3.0), ("b", 1.5)):
        built.run(
            name, "d", {"one": "x", "two": "y"}, scores={"one": {"cost": value}, "two": {"cost": 2.0}},
            against="labels/d/truth", metric_directions={"cost": "lower"},
        )  # fmt: skip
    rows = by_item(build_sheet(project, "d"))
    assert (rows["one"].winners, rows["two"].winners) == (("b",), ("a", "b"))


def test_labels_follow_the_bytes_between_equal_tasks_only(built: Builder) -> None:
    """A set of another dataset with the same bytes is a column; one of another task is never wrong."""
    built.dataset("other", {"elsewhere": TEXTS["four"], "more": "more"})
    built.labels("other", "theirs", {"elsewhere": "no", "more": "yes"})
    built.labels("d", "severity", {"one": "high"}, task="severity")
    sheet = build_sheet(built.project, "d")
    columns = {column.ref: column for column in sheet.labels}
    assert list(columns) == ["labels/d/severity", "labels/d/truth", "labels/other/theirs"]
    assert not columns["labels/d/severity"].same_task
    assert columns["labels/other/theirs"].n == 1
    rows = by_item(sheet)
    assert rows["four"].signals.wrong_by == ("labels/other/theirs",)  # production said yes, they say no
    assert rows["four"].signals.wrong == ()  # the winner is drawn by labels/d/truth
    assert not rows["four"].signals.unlabelled
    assert rows["one"].signals.wrong == ()
    assert rows["one"].labels == ("high", "yes", None)


def test_wrong_reads_every_answer_of_a_label(built: Builder) -> None:
    """Where no score is stored, a decision among the accepted answers is right, another one is wrong."""
    built.labels("d", "wide", {"one": '{"accept": ["maybe", "yes"]}', "two": '{"accept": ["maybe", "no"]}'})
    rows = by_item(build_sheet(built.project, "d"))
    assert "labels/d/wide" not in rows["one"].signals.wrong_by
    assert "labels/d/wide" in rows["two"].signals.wrong_by


def test_a_picked_row_says_so_until_it_is_dropped(built: Builder) -> None:
    """The row carries the pick's latest state; a dropped pick is none."""
    built.pick("d", "one", targets=("v2",))
    picked = by_item(build_sheet(built.project, "d"))["one"].picked
    assert picked is not None
    assert picked.targets == ("v2",)
    built.pick("d", "one", op="drop")
    assert by_item(build_sheet(built.project, "d"))["one"].picked is None


FLAGS = ("disagree", "split", "unlabelled", "wrong")


def _filters(chosen: set[str]) -> Filters:
    values: dict[str, Any] = dict.fromkeys(chosen, True)
    return Filters(**values)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(chosen=st.sets(st.sampled_from(FLAGS)))
def test_filters_are_anded(built: Builder, chosen: set[str]) -> None:
    """For any choice of filters the rows are exactly those that each filter alone keeps."""
    whole = build_sheet(built.project, "d")
    both = build_sheet(built.project, "d", filters=_filters(chosen))
    expected = [row for row in whole.rows if all(getattr(row.signals, name) for name in chosen)]
    assert [row.item_id for row in both.rows] == [row.item_id for row in expected]
    assert both.footer == whole.footer


def test_where_and_wrong_against_narrow_the_rows(built: Builder) -> None:
    """--where compares a value's text, an empty one means absent; --wrong-against takes a bare name."""

    def ids(**options: Any) -> list[str]:
        return sorted(row.item_id for row in build_sheet(built.project, "d", **options).rows)

    assert ids(filters=Filters(where=("kind:x",))) == ["five", "one", "three"]
    assert ids(filters=Filters(where=("kind:x", "n:3"))) == ["three"]
    assert ids(filters=Filters(where=("n:",))) == ["five", "four"]
    assert ids(wrong_against="truth") == ["three", "two"]
    assert ids(wrong_against="d/truth", filters=Filters(where=("kind:y",))) == ["two"]


def test_by_counts_the_rows_shown(built: Builder) -> None:
    """x has three rows, two of them disagree, one is wrong, one split; absent values count as None."""
    sheet = build_sheet(built.project, "d")
    assert [(one.value, one.n) for one in count_by(sheet, "kind")] == [("x", 3), ("y", 1), ("z", 1)]
    assert dict(count_by(sheet, "kind")[0].signals) == {
        "wrong": 1,
        "disagree": 2,
        "split": 1,
        "new": 0,
        "unlabelled": 0,
    }
    assert (count_by(sheet, "n")[0].value, count_by(sheet, "n")[0].n) == (None, 2)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"runs": ("nobody",)}, "unknown-arm"),
        ({"metric": "f7"}, "no-such-metric"),
        ({"against": "nothing"}, "not-scored"),
        ({"wrong_against": "nothing"}, "no-such-set"),
        ({"new_vs": "nothing"}, "no-such-dataset"),
        ({"new_vs": "d"}, "same-dataset"),
        ({"filters": Filters(where=("colour:red",))}, "no-such-field"),
        ({"filters": Filters(where=("kind",))}, "bad-where"),
    ],
)
def test_what_is_not_there_is_refused(built: Builder, options: dict[str, Any], code: str) -> None:
    """Each option that names something that is not there is refused with its own code."""
    with pytest.raises(Refusal) as refused:
        build_sheet(built.project, "d", **options)
    assert refused.value.code == code


def test_every_bad_option_is_named_at_once(built: Builder) -> None:
    """Four bad options make one refusal with four reasons."""
    with pytest.raises(Refusal) as refused:
        build_sheet(
            built.project, "d", metric="f7", against="x", new_vs="y", filters=Filters(where=("colour:red",))
        )
    assert len(refused.value.why) == 4


def test_a_set_of_another_task_cannot_be_wrong_against(built: Builder) -> None:
    """--wrong-against a set of another task is refused."""
    built.labels("d", "severity", {"one": "high"}, task="severity")
    with pytest.raises(Refusal) as refused:
        build_sheet(built.project, "d", wrong_against="severity")
    assert refused.value.code == "other-task"


def test_a_run_of_another_dataset_is_refused(built: Builder) -> None:
    """The reason says where the arm did run."""
    built.dataset("other", {"x": "x"})
    built.run("far", "other", {"x": "yes"})
    with pytest.raises(Refusal) as refused:
        build_sheet(built.project, "d", ("far",))
    assert refused.value.why == ("far: it ran on other",)


def test_unreadable_predictions_leave_the_arm_empty_with_a_note(built: Builder) -> None:
    """Changed predictions are never shown: the cells are empty, and a note names the file."""
    path = next((built.project.data / "runs").glob("a_*")) / "predictions.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"yes"', b'"nay"'))
    sheet = build_sheet(built.project, "d", with_outputs=False)
    assert any("predictions of run 'a_20261001T000000Z' changed" in note for note in sheet.notes)


def test_no_code_of_the_project_runs(built: Builder) -> None:
    """An arm whose adapter would write a file is shown; the adapter is not imported."""
    trap = built.project.root / "trap.txt"
    adapter = built.project.data / "adapters" / "bad.py"
    adapter.parent.mkdir()
    adapter.write_text(f"from pathlib import Path\nPath({str(trap)!r}).write_text('ran')\n")
    built.run("trapped", "d", DECISIONS["a"], adapter="adapters/bad.py")
    build_sheet(built.project, "d", ("trapped", "b"))
    assert not trap.exists()


def test_an_arm_without_stored_decisions_is_not_compared(project: Project) -> None:
    """A foreign adapter's outputs are no decisions: no signal is drawn from them, and a note says so."""
    built = Builder(project)
    built.dataset("d", {"one": "1"})
    run = built.run("a", "d", {"one": "x"}, adapter="../adapter.py")
    path = project.data / "runs" / run.run_id
    path.joinpath("predictions.jsonl").write_bytes(b'{"item_id":"one","output":"x"}\n')
    metrics = path / "metrics.json"
    metrics.write_bytes(metrics.read_bytes().replace(b'"predictions"', b'"was"'))
    built.run("b", "d", {"one": "y"})
    sheet = build_sheet(project, "d", ("a", "b"))
    assert sheet.rows[0].cells[0].output == "x"
    assert sheet.rows[0].cells[0].decision is None
    assert not sheet.rows[0].signals.disagree
    assert any(note.startswith("a: no decisions are stored") for note in sheet.notes)


def test_a_dataset_without_arms_or_labels_still_has_a_sheet(project: Project) -> None:
    """Every row is unlabelled; there is no winner and no against."""
    Builder(project).dataset("d", {"one": "1"})
    sheet = build_sheet(project, "d")
    assert (sheet.arms, sheet.against, sheet.rows[0].signals.unlabelled) == ((), None, True)


# ------------------------------------------------------------------------------------------------ the CSV


def rows_of(data: bytes) -> list[list[str]]:
    """Return the cells of a CSV as a spreadsheet reads them."""
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_the_csv_has_every_row_and_the_footer(built: Builder) -> None:
    """A header, five items, and the means and win rates under their columns."""
    rows = rows_of(sheet_csv.dump(build_sheet(built.project, "d")))
    header = rows[0]
    assert [row[0] for row in rows[1:]] == ["one", "two", "three", "four", "five", "#mean", "#win rate"]
    score = header.index("a: correct (labels/d/truth)")
    assert [row[score] for row in rows[1:7]] == ["1.0", "1.0", "1.0", "", "", "1.0"]
    assert rows[7][header.index("a: decision")] == "0.5"
    assert rows[1][header.index("winner")] == "production a"
    assert all(len(row) == len(header) for row in rows)


def test_the_csv_guards_what_a_spreadsheet_would_run(project: Project) -> None:
    """A formula in an id, a field, a decision or a label is text: the cell starts with an apostrophe."""
    built = Builder(project)
    built.dataset("d", {"=1+1": "text"}, fields={"=1+1": {"f": "@SUM(A1)"}})
    built.labels("d", "s", {"=1+1": "+cmd"})
    built.run("a", "d", {"=1+1": "-2"})
    row = rows_of(sheet_csv.dump(build_sheet(project, "d")))[1]
    assert [cell for cell in row if cell[:1] in "=+-@" and cell] == []
    assert {"'=1+1", "'@SUM(A1)", "'-2", "'+cmd"} <= set(row)


# ----------------------------------------------------------------------------------------------- the door


def test_inspect_sheet_prints_the_rows_and_the_next_commands(built: Builder, evh: CommandLine) -> None:
    """The table has a mark for right and wrong, and ends with pick and label-sheet for its rows."""
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--wrong-against", "truth", "--by", "kind")
    assert "d: 2 of 5 items, 3 arms; winner by correct against labels/d/truth" in shown.out
    assert "yes ✗" in shown.out
    assert "evh pick --dataset-id d --item two --item three" in shown.out
    assert "evh label-sheet --dataset-id d --out d.csv --item two --item three" in shown.out


def test_commands_quote_ids_for_a_shell(project: Project, evh: CommandLine) -> None:
    """An id that a shell would run is quoted; one that a terminal cannot show gets no command."""
    Builder(project).dataset("d", {"a; rm -rf ~": "1", "b'c": "2", "x\u202ey": "3"})
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d")
    assert "--item 'a; rm -rf ~' --item 'b'\"'\"'c'" in shown.out
    assert "\u202e" not in shown.out


def test_limit_counts_what_it_leaves_out(built: Builder, evh: CommandLine) -> None:
    """--limit 2 prints two rows and says that three more are there."""
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--limit", "2")
    assert "and 3 more rows" in shown.out


def test_counts_show_a_field_s_value_as_it_is(project: Project, evh: CommandLine) -> None:
    """2022 is a year, not a number to group; items without the field count under a dash."""
    made = Builder(project)
    made.dataset("d", {"a": "1", "b": "2"}, fields={"a": {"year": 2022}})
    made.run("arm", "d", {"a": "x", "b": "y"})
    lines = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--by", "year").out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("year"))
    assert [line.split()[:2] for line in lines[at + 1 : at + 3]] == [["2022", "1"], ["—", "1"]]


def test_the_json_is_what_its_schema_says(built: Builder, evh: CommandLine) -> None:
    """The sheet's document holds to its schema, with the same numbers as the values."""
    built.pick("d", "one", targets=("v2",))
    document = check(evh.ok("inspect", "--sheet", "--dataset-id", "d", "--by", "n", "--json").json, "inspect")
    assert [row["item_id"] for row in document["rows"]] == ["one", "two", "three", "four", "five"]
    assert document["rows"][0]["winners"] == ["production", "a"]
    assert document["footer"][1]["win_rate"] == 0.5
    bare = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--scores-only", "--json").json
    assert all(arm["output"] is None for row in check(bare, "inspect")["rows"] for arm in row["arms"])


def test_inspect_writes_nothing_but_the_csv(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """data/ is the same before and after; --dry-run writes no file, a second --csv is refused."""
    before = tree_bytes(built.project.data)
    target = tmp_path / "out" / "sheet.csv"
    words = ("inspect", "--sheet", "--dataset-id", "d", "--csv", str(target))
    assert "would write" in evh.ok(*words, "--dry-run").out
    assert not target.exists()
    evh.ok(*words)
    assert len(rows_of(target.read_bytes())) == 10  # a header, 5 items, 4 lines of the footer
    evh.refused("existing-file", *words)
    evh.refused("in-data", *words[:-1], str(built.project.data / "sheet.csv"))
    assert tree_bytes(built.project.data) == before


@pytest.mark.parametrize(
    "words",
    [
        ("--dataset-id", "d"),
        ("--dataset-id", "d", "--sheet", "--item", "one"),
        ("--dataset-id", "d", "--item", "one", "--split"),
        ("--dataset-id", "d", "--runs", "a,b", "--csv", "x.csv"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(
    built: Builder, evh: CommandLine, words: tuple[str, ...]
) -> None:
    """Exit 2, and nothing is shown."""
    assert evh("inspect", *words).code == 2


def test_an_unknown_by_field_is_refused(built: Builder, evh: CommandLine) -> None:
    """--by names a field that some item has."""
    evh.refused("no-such-field", "inspect", "--sheet", "--dataset-id", "d", "--by", "colour")


def test_an_unknown_dataset_is_refused(evh: CommandLine) -> None:
    """The dataset must be here."""
    evh.refused("no-such-dataset", "inspect", "--sheet", "--dataset-id", "nothing")


def test_the_commands_name_up_to_200_rows(project: Project, evh: CommandLine) -> None:
    """All of 150; of 201 the first 200, and that is said."""
    for name, n in (("d", 150), ("e", 201)):
        Builder(project).dataset(name, {f"i{at}": f"{name} {at}" for at in range(n)})
    shown = evh.ok("inspect", "--dataset-id", "d", "--sheet")
    assert (shown.out + shown.err).count("--item i") == 2 * 150
    shown = evh.ok("inspect", "--dataset-id", "e", "--sheet")
    assert (shown.out + shown.err).count("--item i") == 2 * 200
    assert "the first 200 rows" in shown.out
