"""A row of a judge's verdicts: what was asked of whom, and what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.records.run import bad_measure
from evh.records.shape import is_number, kind
from evh.store.hashing import is_sha256
from evh.store.names import bad_item_id

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEASURES = ("tokens_in", "tokens_out", "cost_usd", "latency_ms")


def wrong_with(row: Mapping[str, Any]) -> list[str]:
    """Return why a row that has a key is no row of verdicts; nothing where it is one.

    A row holds ``said``: the ``places`` that won, from 0, of the outputs ``shown``, or ``grades`` by
    dimension; or the ``error`` for which there is no verdict.
    """
    reasons = [
        f"{name}: is {kind(row.get(name))}, not a text"
        for name in ("key", "judge")
        if not isinstance(row.get(name), str) or not row[name]
    ]
    if bad_item_id(row.get("item_id")) is not None:
        reasons.append(f"item_id: is {kind(row.get('item_id'))}, not an item's id")
    shown = row.get("shown")
    if not isinstance(shown, list) or not shown or not all(is_sha256(one) for one in shown):
        reasons.append("shown: is not a list of hashes of outputs")
        shown = []
    number = row.get("number", 1)
    if type(number) is not int or number < 1:
        reasons.append(f"number: is {kind(number)}, not a number from 1")
    reasons += [
        f"{name}: {reason}"
        for name in _MEASURES
        if row.get(name) is not None and (reason := bad_measure(row[name]))
    ]
    if "said" in row:
        reasons += _wrong_said(row["said"], len(shown))
    elif not isinstance(row.get("error"), str) or not row["error"]:
        reasons.append("said: is missing, and no error says why")
    return reasons


def _wrong_said(said: object, shown: int) -> list[str]:
    if not isinstance(said, dict) or len({"places", "grades"} & said.keys()) != 1:
        return ["said: is neither places nor grades"]
    if "grades" in said:
        grades = said["grades"]
        if not isinstance(grades, dict) or not grades:
            return ["said.grades: is not a mapping of grades"]
        return [
            f"said.grades.{name}: is {kind(value)}, not a finite number"
            for name, value in grades.items()
            if not is_number(value)
        ]
    places = said["places"]
    if not isinstance(places, list) or not places or any(type(one) is not int for one in places):
        return ["said.places: is not a list of numbers"]
    if len(set(places)) < len(places):
        return ["said.places: one stands twice"]
    return [
        f"said.places: {one} is none of the {shown} that were shown"
        for one in places
        if shown and not 0 <= one < shown
    ]
