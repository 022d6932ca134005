"""A sheet's key: what is written is read, and what is none is refused."""

from __future__ import annotations

import pytest

from evh.errors import Refusal
from evh.records import sheet_key
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


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "judge"},
        {"secret": None},
        {"dataset_id": "../d"},
        {"rows": {"i1": 3}},
        {"rows": {"i1": {"sha256": "x", "slice": "some"}}},
        {"rows": {"i1": {}}},
    ],
)
def test_what_is_no_key_is_refused(change: dict[str, object]) -> None:
    """The key of another kind of sheet, and one that lacks what it needs."""
    with pytest.raises(Refusal) as told:
        sheet_key.parse({**sheet_key.dump(KEY), **change}, "s.key.json")
    assert told.value.code == "bad-record"
