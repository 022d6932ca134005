"""The published agreement values, as the tests of this folder read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The recomputed values of the file are rounded to 7 decimals.
_RECOMPUTED = 7


@dataclass(frozen=True)
class Case:
    """One published or recomputed value, and the ratings or the table that it belongs to."""

    name: str
    ratings: list[list[str | None]] | None
    table: list[list[int]] | None
    value: float
    tolerance: float

    @property
    def rows(self) -> list[list[str | None]]:
        """The case as ratings, sets × items: a table of two raters is written out item by item."""
        if self.ratings is not None:
            return self.ratings
        assert self.table is not None
        pairs = [
            (str(i), str(j))
            for i, line in enumerate(self.table)
            for j, count in enumerate(line)
            for _ in range(count)
        ]
        return [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]


def cases(key: str) -> list[Case]:
    """Return every value that the file holds under a key, with half a unit of its last printed digit."""
    path = Path(__file__).with_name("agreement_cases.json")
    return [
        Case(
            f"{case['id']}-{kind}", _texts(case.get("ratings")), case.get("table"), case[kind][key], tolerance
        )
        for case in json.loads(path.read_text(encoding="utf-8"))
        for kind in ("expected", "computed")
        if key in case.get(kind, {})
        for tolerance in [_tolerance(case[kind][key], kind)]
    ]


def _texts(ratings: Any) -> list[list[str | None]] | None:
    if ratings is None:
        return None
    return [[None if rating is None else str(rating) for rating in row] for row in ratings]


def _tolerance(value: float, kind: str) -> float:
    if value == int(value):
        return 1e-12  # 0 and 1 are exact
    decimals = _RECOMPUTED if kind == "computed" else len(repr(value).partition(".")[2])
    return 0.5 * 10**-decimals + 1e-12
