"""The key of a label sheet, ``<sheet>.key.json``: what it was made of and what it hides. Never in git."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What the key keeps of one row.

    Attributes:
        sha256: the item's.
        cells: column → sha256 of the cell's text, of the columns whose edits are refused.
        slice: ``random`` for a row of the random draw over all items, else ``selected``.
        proposal: ``{text, shown}``: the label proposed and whether the labeler saw it, or None.
    """

    sha256: str
    cells: Mapping[str, str] = field(default_factory=dict)
    slice: str = "selected"
    proposal: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SheetKey:
    """A label sheet's key.

    ``guideline`` is ``{text, sha256, suffix}`` or None. ``secret`` decides which proposals are hidden, so
    that a known seed gives nothing away; the same key makes the same sheet.
    """

    dataset_id: str
    secret: str
    rows: Mapping[str, KeyRow]
    task: str = ""
    seed: int = 0
    choices: tuple[str, ...] = ()
    selection: Mapping[str, Any] = field(default_factory=dict)
    guideline: Mapping[str, Any] | None = None


def parse(raw: Mapping[str, Any], place: object) -> SheetKey:
    """Return the key in a mapping, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    if shape.take("kind") != "label":
        shape.problem("kind", f"is {raw.get('kind')!r}; the key of a label sheet says 'label'")
    rows: dict[str, KeyRow] = {}
    for item_id, entry in shape.mapping("rows").items():
        if not isinstance(entry, dict):
            shape.problem(f"rows[{item_id!r}]", "is not a mapping")
            continue
        one = Shape(entry, f"{place}: rows[{item_id!r}]")
        rows[item_id] = KeyRow(
            sha256=one.text("sha256", required=True),
            cells={name: str(value) for name, value in one.mapping("cells").items()},
            slice=one.choice("slice", ("random", "selected"), "selected"),
            proposal=one.maybe_mapping("proposal"),
        )
        shape.reasons.extend(one.reasons)
    made = SheetKey(
        dataset_id=shape.identifier("dataset_id"),
        secret=shape.text("secret", required=True),
        rows=rows,
        task=shape.text("task"),
        seed=shape.whole("seed"),
        choices=shape.texts("choices"),
        selection=shape.mapping("selection"),
        guideline=shape.maybe_mapping("guideline"),
    )
    shape.finish(f"{place} is not the key of a label sheet", next="name the sheet's own key with --key")
    return made


def dump(key: SheetKey) -> dict[str, Any]:
    """Return the JSON of a key."""
    return {
        "version": 1,
        "kind": "label",
        "dataset_id": key.dataset_id,
        "task": key.task,
        "seed": key.seed,
        "secret": key.secret,
        "choices": list(key.choices),
        "selection": dict(key.selection),
        "guideline": dict(key.guideline) if key.guideline else None,
        "rows": {
            item_id: {
                "sha256": row.sha256,
                "cells": dict(row.cells),
                "slice": row.slice,
                **without_empty({"proposal": row.proposal}),
            }
            for item_id, row in key.rows.items()
        },
    }
