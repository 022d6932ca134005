"""The key of a sheet to fill in, ``<sheet>.key.json``: what it is made of and what it hides. Never in git."""

from __future__ import annotations

import hashlib
import hmac
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.records.judge import Scale
from evh.records.shape import Shape, is_number, without_empty
from evh.store import strict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LABEL, PICK, SCORES = "label", "pick", "scores"
FILLS = (LABEL, PICK, SCORES)
"""What a sheet can be filled with."""
JUDGE = "judge"
"""The kind of the key of a sheet that can be filled with picks or scores."""
DIGEST = "key_sha256"
"""The key of a sheet of arms holds, under this name, the digest of all the rest of it."""
_SEALED = 2
"""The version of a key that holds `DIGEST`; one of version 1 has none."""


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
    """Return the key in a mapping.

    Raises:
        Refusal: with every key that is wrong; a key that was edited since it was written.
    """
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
    _refuse_edited(raw, made.secret, place)
    return made


def _refuse_edited(raw: Mapping[str, Any], secret: str, place: object) -> None:
    told = raw.get(DIGEST)
    if told is None and raw.get("version") != _SEALED:
        return  # a key of version 1
    if not (isinstance(told, str) and hmac.compare_digest(told.encode(), _digest(raw, secret).encode())):
        raise Refusal(
            "edited-key",
            f"{place} is not the key as it was written",
            why=[f"{place}: its {DIGEST} is {'not that of what it holds' if told else 'missing'}"],
            next="put the key back as it was written with the sheet, or name a copy of it with --key",
        )


def _digest(raw: Mapping[str, Any], secret: str, lines: Iterable[bytes] | None = None) -> str:
    """Return HMAC-SHA256(secret, the key without its digest) as hex; ``lines`` are `_lines` of its rows."""
    made = hmac.new(secret.encode(), digestmod=hashlib.sha256)
    rest = {name: value for name, value in raw.items() if name not in (DIGEST, "rows")}
    made.update(strict.dump_line(rest))
    for line in _lines(raw["rows"]) if lines is None else lines:
        made.update(line)
    return made.hexdigest()


def _lines(rows: Mapping[str, Any]) -> Iterable[bytes]:
    """Yield each row as a line of JSON, in the order of the items' ids."""
    return (strict.dump_line({name: rows[name]}) for name in sorted(rows))


def _letters(shape: Shape) -> dict[str, Mapping[str, Any]]:
    made = shape.mapping("letters")
    for letter, behind in made.items():
        if not isinstance(behind, dict) or not isinstance(behind.get("text"), str):
            shape.problem(f"letters.{letter}", "does not say which label it stands for")
    return made


def _outputs(shape: Shape) -> dict[str, Mapping[str, str]]:
    made = shape.mapping("outputs")
    for column, behind in made.items():
        told = (behind.get("run"), behind.get("sha256")) if isinstance(behind, dict) else ()
        if not (told and isinstance(told[0], str) and isinstance(told[1], str)):
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


def encode(key: SheetKey, rows: Iterable[tuple[str, KeyRow]]) -> bytes:
    """Return the bytes of the key of a sheet of arms: a manifest whose rows take one line each.

    Its ``key_sha256`` is made with the secret over all the rest: an edit is told when it is read.

    Args:
        key: the key, its own rows left out.
        rows: item id and row, in the order of the ids. They are taken one by one: a sheet may be large.
    """
    raw = {**dump(key), "version": _SEALED}
    held = io.BytesIO()

    def lines() -> Iterable[bytes]:
        for item_id, row in rows:
            line = strict.dump_line({item_id: _dump_row(row)})
            # Each line is an object of one row: without its braces it is a member of the object of all.
            held.write((b",\n    " if held.tell() else b"\n    ") + line[1:-2])
            yield line

    digest = _digest(raw, key.secret, lines())
    head, _, tail = strict.dump_manifest({**raw, DIGEST: digest, "rows": {}}).partition(b'\n  "rows": {}')
    return b"".join((head, b'\n  "rows": {', held.getbuffer(), b"\n  }", tail))


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
        "rows": {item_id: _dump_row(row) for item_id, row in key.rows.items()},
    }


def _dump_row(row: KeyRow) -> dict[str, Any]:
    made: dict[str, Any] = {"sha256": row.sha256, "cells": dict(row.cells), "slice": row.slice}
    if row.proposal is not None:
        made["proposal"] = row.proposal
    if row.letters:
        made["letters"] = dict(row.letters)
    if row.outputs:
        made["outputs"] = {column: dict(one) for column, one in row.outputs.items()}
    return made
