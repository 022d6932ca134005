"""What a capture's manifest may hold."""

from __future__ import annotations

import pytest

from evh.errors import Refusal
from evh.records import capture


@pytest.mark.parametrize("key", ["n_records", "n_no_item", "n_no_time"])
@pytest.mark.parametrize("value", [1e300, 2**53, -1, 1.5, "1", True])
def test_a_count_is_a_count(key: str, value: object) -> None:
    """A whole number from 0, below 2**53: what JSON and a table's column hold exactly."""
    raw = {"capture_id": "c", "n_records": 1, "records_sha256": "0" * 64, key: value}
    with pytest.raises(Refusal) as refused:
        capture.parse(raw, "capture.json")
    assert refused.value.code == "bad-record"
    assert refused.value.why[0].startswith(f"capture.json: {key}: ")
