"""Who wins a row of the sheet is who a hand count says, and the footer has each arm's share and mean."""

from __future__ import annotations

from evh.acts import label_plan
from evh.acts.sheet import build_sheet
from evh.project import labels
from evh.project.find import Project
from tests.acts import comparing
from tests.acts.comparing import DECISIONS, by_item
from tests.acts.sheets import TEXTS, TRUTH
from tests.helpers import Builder, correct

built = comparing.built


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
