"""What a reference's manifest may hold."""

from __future__ import annotations

from typing import Any

import pytest

from evh.errors import Refusal
from evh.records import reference

RAW: dict[str, Any] = {"dataset_id": "d", "tier": "gold", "name": "r"}


def test_where_labels_came_from_is_lists() -> None:
    """One text alone is a list of one; other keys stay."""
    told = {"labels": "d/s", "source": {"kind": "person"}, "labels_sha256": ["0" * 64], "note": 1}
    made = reference.parse({**RAW, "promoted_from": told}, "manifest.json", folder="r")
    assert made.label_refs == ("d/s",)
    assert made.promoted_from == {
        "labels": ["d/s"], "source": [{"kind": "person"}], "labels_sha256": ["0" * 64], "note": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("promoted_from", {"labels": [1]}, "promoted_from: labels: holds something that is not a text"),
        ("promoted_from", {"labels": 1}, "promoted_from: labels: is the number 1, not a list"),
        ("promoted_from", {"labels_sha256": 7}, "promoted_from: labels_sha256: is the number 7, not a list"),
        ("promoted_from", {"source": [1]}, "promoted_from: source[0]: is neither a text nor a mapping"),
        ("n_items", 1e300, "n_items: 1e+300 is no count"),
        ("n_items", -1, "n_items: -1 is no count"),
        ("tier", "", "tier: an id is a text of at least one character"),
        ("name", "\ud800", "name: '\\ud800' is not an id"),
    ],
)
def test_a_wrong_kind_of_value_is_refused(key: str, value: object, why: str) -> None:
    """Each is told with its key, when it is read and not when it is used."""
    with pytest.raises(Refusal) as refused:
        reference.parse({**RAW, key: value}, "manifest.json", folder="r")
    assert refused.value.code == "bad-record"
    assert len(refused.value.why) == 1
    assert refused.value.why[0].startswith(f"manifest.json: {why}")
