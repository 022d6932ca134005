"""A set's manifest that somebody's hand changed is refused with what is wrong, never read by halves."""

from __future__ import annotations

from typing import Any

import pytest

from evh.errors import Refusal
from evh.records import labelset

SHA = "0" * 64
WHOLE: dict[str, Any] = {
    "dataset_id": "d",
    "set": "s",
    "source": {"kind": "rule", "rules_file": "rules/r.yaml"},
    "labels_sha256": SHA,
    "items": {"one": {"sha256": SHA}},
    "rules": [{"name": "r", "n_matched": 3, "n_labelled": 2, "n_preceding": 1, "n_timed": 2}],
}


def test_a_whole_manifest_is_read() -> None:
    """The counts of each rule stand; what it does not count is left out."""
    made = labelset.parse(WHOLE, "labels.json")
    assert (made.n_preceding, made.n_items, made.items["one"].sha256) == (1, 1, SHA)
    assert labelset.parse({**WHOLE, "rules": [{"name": "r"}]}, "labels.json").n_preceding == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": [{"n_timed": "two"}]}, "rules[0]: n_timed: is the text 'two', not a finite number"),
        ({"rules": [{"n_preceding": 0.5}]}, "rules[0]: n_preceding: 0.5 is not a whole number"),
        ({"rules": [{"n_matched": -1}]}, "rules[0]: n_matched: -1 is no count"),
        ({"rules": [{"n_labelled": 1e300}]}, "rules[0]: n_labelled: 1e+300 is no count"),
        ({"rules": ["r"]}, "rules[0]: is not a mapping"),
        ({"parents": [3]}, "parents[0]: is not a mapping"),
        ({"n_items": -1}, "n_items: -1 is no count"),
        (
            {"items": {"one": {"sha256": "ABC"}}},
            "items['one']: sha256: 'ABC' is not 64 lower-case hex digits",
        ),
        ({"items": {"one": {"sha256": "A" * 64, "note": "n"}}}, "is not 64 lower-case hex digits"),
    ],
)
def test_a_value_of_another_kind_is_refused(change: dict[str, Any], said: str) -> None:
    """The reason names the key; nothing is converted by guess."""
    with pytest.raises(Refusal) as caught:
        labelset.parse({**WHOLE, **change}, "labels.json")
    assert caught.value.code == "bad-record"
    assert len(caught.value.why) == 1
    assert said in caught.value.why[0]
