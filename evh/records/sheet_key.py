"""The key of a sheet to fill in, ``<sheet>.key.json``: what it is made of and what it hides. Never in git."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.judge import Scale
from evh.records.shape import Shape, is_number, without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping

LABEL, PICK, SCORES = "label", "pick", "scores"
FILLS = (LABEL, PICK, SCORES)
"""What a sheet can be filled with."""
JUDGE = "judge"
"""The kind of the key of a sheet that can be filled with picks or scores."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What the key keeps of one row.

    Attributes:
        sha256: the item's.
        cells: column → sha256 of the cell's text, of the columns whose edits are refused.
        slice: ``random`` for a row of the random draw over all items, else ``selected``.
        proposal: ``{text, shown}``: the label proposed and whether the labeler saw it, or None.
        letters: of a sheet to adjudicate: letter → ``{text, sets}``, the label behind it and whose it is.
        outputs: of a sheet of arms: column → ``{run, sha256}``, whose output it shows; in a blind sheet the
            columns are letters, and only those that have an output on the row.
    """

    sha256: str
    cells: Mapping[str, str] = field(default_factory=dict)
    slice: str = "selected"
    proposal: Mapping[str, Any] | None = None
    letters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    outputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SheetKey:
    """A sheet's key.

    ``guideline`` is ``{text, sha256, suffix}`` or None. ``secret`` decides which proposals are hidden, so
    that a known seed gives nothing away; the same key makes the same sheet. ``adjudicates`` holds the sets
    whose differences a sheet settles, each ``{set, labels_sha256}`` as it was then; empty for other sheets.
    ``relabel_of`` is the set, ``<dataset>/<set>``, whose items the same person labels again, or None.
    ``fills`` says what the sheet can be filled with, of `FILLS`. A sheet of arms has ``runs``, their keys;
    one to judge also ``rubric``, ``{text, sha256}``, and ``scale``, between whose ends a score lies.
    """

    dataset_id: str
    secret: str
    rows: Mapping[str, KeyRow]
    task: str = ""
    seed: int = 0
    choices: tuple[str, ...] = ()
    selection: Mapping[str, Any] = field(default_factory=dict)
    guideline: Mapping[str, Any] | None = None
    adjudicates: tuple[Mapping[str, Any], ...] = ()
    relabel_of: str | None = None
    fills: tuple[str, ...] = (LABEL,)
    runs: tuple[str, ...] = ()
    rubric: Mapping[str, Any] | None = None
    scale: Scale = field(default_factory=Scale)

    @property
    def judging(self) -> bool:
        """Whether picks or scores can be filled in."""
        return any(one != LABEL for one in self.fills)


def parse(raw: Mapping[str, Any], place: object) -> SheetKey:
    """Return the key in a mapping, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    fills = _fills(shape)
    kind = LABEL if set(fills) <= {LABEL} else JUDGE
    if shape.take("kind") != kind:
        shape.problem("kind", f"is {raw.get('kind')!r}; the key of a sheet to {kind} says {kind!r}")
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
            letters=_letters(one),
            outputs=_outputs(one),
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
        adjudicates=_adjudicates(shape),
        relabel_of=shape.maybe_text("relabel_of"),
        fills=fills,
        runs=shape.texts("runs"),
        rubric=shape.maybe_mapping("rubric"),
        scale=_scale(shape),
    )
    shape.finish(f"{place} is not the key of a sheet", next="name the sheet's own key with --key")
    return made


def _letters(shape: Shape) -> dict[str, Mapping[str, Any]]:
    made = shape.mapping("letters")
    for letter, behind in made.items():
        if not isinstance(behind, dict) or not isinstance(behind.get("text"), str):
            shape.problem(f"letters.{letter}", "does not say which label it stands for")
    return made


def _outputs(shape: Shape) -> dict[str, Mapping[str, str]]:
    made = shape.mapping("outputs")
    for column, behind in made.items():
        if not isinstance(behind, dict) or not all(
            isinstance(behind.get(name), str) for name in ("run", "sha256")
        ):
            shape.problem(f"outputs.{column}", "is not {run, sha256}")
    return made


def _fills(shape: Shape) -> tuple[str, ...]:
    fills = shape.texts("fills") or (LABEL,)
    for one in fills:
        if one not in FILLS:
            shape.problem("fills", f"{one!r} is not one of {', '.join(FILLS)}")
    return fills


def _scale(shape: Shape) -> Scale:
    ends = shape.take("scale")
    if ends is None:
        return Scale()
    if not (isinstance(ends, list) and len(ends) == 2 and all(is_number(one) for one in ends)):
        shape.problem("scale", "is not a list of its two ends")
        return Scale()
    return Scale(float(ends[0]), float(ends[1]))


def _adjudicates(shape: Shape) -> tuple[Mapping[str, Any], ...]:
    made = shape.listing("adjudicates")
    for at, one in enumerate(made):
        if not isinstance(one, dict) or not all(
            isinstance(one.get(name), str) for name in ("set", "labels_sha256")
        ):
            shape.problem(f"adjudicates[{at}]", "is not {set, labels_sha256}")
    return tuple(made)


def dump(key: SheetKey) -> dict[str, Any]:
    """Return the JSON of a key."""
    return {
        "version": 1,
        "kind": JUDGE if key.judging else LABEL,
        "dataset_id": key.dataset_id,
        "task": key.task,
        "seed": key.seed,
        "secret": key.secret,
        "choices": list(key.choices),
        "selection": dict(key.selection),
        "guideline": dict(key.guideline) if key.guideline else None,
        **without_empty(
            {
                "adjudicates": [dict(one) for one in key.adjudicates] or None,
                "relabel_of": key.relabel_of,
                "runs": list(key.runs) or None,
                "fills": list(key.fills) if key.runs else None,
                "rubric": dict(key.rubric) if key.rubric else None,
                "scale": [key.scale.low, key.scale.high] if SCORES in key.fills else None,
            }
        ),
        "rows": {
            item_id: {
                "sha256": row.sha256,
                "cells": dict(row.cells),
                "slice": row.slice,
                **without_empty(
                    {
                        "proposal": row.proposal,
                        "letters": dict(row.letters) or None,
                        "outputs": {column: dict(one) for column, one in row.outputs.items()} or None,
                    }
                ),
            }
            for item_id, row in key.rows.items()
        },
    }
