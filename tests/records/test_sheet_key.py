"""A sheet's key: what is written is read, and what is none is refused."""

from __future__ import annotations

import pytest

from evh.errors import Refusal
from evh.records import sheet_key
from evh.records.judge import Scale
from evh.records.sheet_key import KeyRow, SheetKey

KEY = SheetKey(
    dataset_id="d",
    secret="s",
    rows={
        "i1": KeyRow("0" * 64, {"item": "1" * 64}, "random", {"text": "yes", "shown": False}),
        "i2": KeyRow("2" * 64),
    },
    task="t",
    seed=7,
    choices=("yes", "no"),
    selection={"items": "all"},
    guideline={"text": "Say yes.", "sha256": "3" * 64, "suffix": ".md"},
)


def test_a_key_is_read_as_it_was_written() -> None:
    """Every part of it comes back."""
    assert sheet_key.parse(sheet_key.dump(KEY), "s.key.json") == KEY


def test_the_key_of_a_sheet_to_adjudicate_is_read_as_it_was_written() -> None:
    """Its sets with their digests, and what each letter of a row stands for."""
    letters = {"A": {"text": "yes", "sets": ["d/a"]}, "B": {"text": "no", "sets": ["d/b", "d/c"]}}
    key = SheetKey(
        "d",
        "s",
        {"i1": KeyRow("0" * 64, letters=letters)},
        adjudicates=({"set": "d/a", "labels_sha256": "4" * 64}, {"set": "d/b", "labels_sha256": "5" * 64}),
    )
    assert sheet_key.parse(sheet_key.dump(key), "s.key.json") == key


def test_the_key_of_a_sheet_to_judge_is_read_as_it_was_written() -> None:
    """Its runs, fills, rubric and scale, and whose output stands under each letter of a row."""
    outputs = {"A": {"run": "runs/a_1", "sha256": "6" * 64}}
    key = SheetKey(
        "d",
        "s",
        {"i1": KeyRow("0" * 64, {"A": "7" * 64}, outputs=outputs)},
        fills=("label", "scores"),
        runs=("runs/a_1",),
        rubric={"text": "Which?", "sha256": "8" * 64},
        scale=Scale(0, 10),
    )
    assert sheet_key.dump(key)["kind"] == "judge"
    assert sheet_key.parse(sheet_key.dump(key), "s.key.json") == key


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "judge"},
        {"secret": None},
        {"dataset_id": "../d"},
        {"rows": {"i1": 3}},
        {"rows": {"i1": {"sha256": "x", "slice": "some"}}},
        {"rows": {"i1": {}}},
        {"rows": {"i1": {"sha256": "x", "letters": {"A": "yes"}}}},
        {"adjudicates": [{"set": "d/a"}]},
        {"adjudicates": ["d/a"]},
        {"fills": ["pick"]},
        {"fills": ["stars"]},
        {"rows": {"i1": {"sha256": "x", "outputs": {"A": "runs/a_1"}}}},
        {"scale": "1..5"},
        {"scale": [1]},
    ],
)
def test_what_is_no_key_is_refused(change: dict[str, object]) -> None:
    """The key of another kind of sheet, and one that lacks what it needs."""
    with pytest.raises(Refusal) as told:
        sheet_key.parse({**sheet_key.dump(KEY), **change}, "s.key.json")
    assert told.value.code == "bad-record"
