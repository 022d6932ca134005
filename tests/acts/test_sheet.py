"""The sheet says of each item what a hand count says: decisions, labels, signals; which rows are shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.acts.sheet import Filters, build_sheet, count_by
from evh.errors import Refusal
from evh.project.find import Project
from tests.acts import comparing
from tests.acts.comparing import DECISIONS, by_item
from tests.acts.sheets import TEXTS
from tests.helpers import Builder

built = comparing.built
FLAGS = ("disagree", "split", "unlabelled", "wrong")


def test_recorded_arms_stand_first(built: Builder) -> None:
    """Left out, --runs means all arms, the recorded one first: it stands for production."""
    sheet = build_sheet(built.project, "d")
    assert [arm.name for arm in sheet.arms] == ["production", "a", "b"]
    assert [arm.recorded for arm in sheet.arms] == [True, False, False]


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
