"""Verdicts that were given elsewhere, read from a CSV file: a row a verdict.

Columns: ``item_id`` and ``verdict``; ``judge`` where the judge's YAML names several; ``repeat`` (from 1)
and ``why`` where they are known. Of a pairwise judge also ``first`` and ``second``, the arms in the order in
which they were shown, each pair in both orders; the verdict is ``first``, ``second``, ``tie`` or an arm's
name. Of a pick the verdict is an arm's name, or several with ``|`` between them. Of a grade also ``arm``; the
verdict is the number, and a judge with dimensions has a column for each in its place. An empty verdict is one
that could not be read: a failure, never a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts.judge_verdict import Said, dump, load
from evh.errors import Refusal
from evh.records.judge import GRADE, PAIRWISE
from evh.store import spreadsheet, strict
from evh.store.hashing import sha256
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.judge_units import Frame, Judged
    from evh.project.arms import Arm
    from evh.records.judge import Judge

UNREADABLE = "no verdict that could be read"
_FORM = {
    GRADE: "item_id, arm, verdict",
    PAIRWISE: "item_id, first, second, verdict",
}


@dataclass(frozen=True, slots=True)
class _Row:
    """One row's cells, and where it stands."""

    place: str
    cells: Mapping[str, str]

    def cell(self, name: str) -> str:
        return self.cells.get(name, "").strip()


def read(
    path: Path,
    judge: Judge,
    frame: Frame,
    items: Sequence[Judged],
    arms: Sequence[Arm],
    *,
    at: str,
    notes: list[str],
) -> tuple[dict[str, Any], ...]:
    """Return the verdicts of a file as rows of the journal.

    Args:
        path: the CSV file.
        judge: the judge that gave them.
        frame: of the pass.
        items: of the pass.
        arms: of the pass.
        at: the time of reading.
        notes: gets what a person should know.

    Raises:
        Refusal: every row that cannot be one: an item, arm or judge that is not of the pass, a verdict that
            is none, the same question answered twice; nothing is taken then.
    """
    data = strict.read_bytes(path)
    needs = _needs(judge)
    sheet = spreadsheet.read(data, path, needs=needs)
    missing = [name for name in needs if name not in sheet.header]
    if missing:
        raise Refusal(
            "missing-column",
            f"{path} is no file of verdicts of a {judge.kind} judge",
            why=[f"{path}: it has no column {name}" for name in missing],
            next=f"its columns are {', '.join(needs)}; judge, repeat and why where they are known",
        )
    known = {one.item.item_id: one for one in items}
    names = _names(arms)
    reasons: list[str] = []
    made: dict[str, dict[str, Any]] = {}
    source = {"file": path.name, "sha256": sha256(data)}
    equal = left_out = 0
    for row in sheet.rows:
        cells = {name: spreadsheet.unguard(cell) for name, cell in row.cells.items()}
        one = _Row(f"{path}: row {row.number}", cells)
        item = known.get(cells.get("item_id", ""))
        if item is None:
            reasons.append(
                f"{one.place}: item_id: {one_line(cells.get('item_id', ''), 80)!r} is no item here"
            )
            continue
        if item.left_out is not None:
            left_out += 1
            continue
        found = _verdict(one, judge, frame, item, names=names, reasons=reasons)
        if found is None:
            continue
        if len(set(found.shown)) < len(found.shown) or (judge.kind != GRADE and len(item.different) == 1):
            equal += 1
            continue
        key = frame.key(found.judge, item.item.sha256, found.shown, found.number)
        if key in made and made[key]["item_id"] == item.item.item_id:
            reasons.append(f"{one.place}: the same question was answered in an earlier row")
            continue
        made[key] = {
            "key": key,
            "judge": found.judge,
            "item_id": item.item.item_id,
            "item_sha256": item.item.sha256,
            "shown": list(found.shown),
            "number": found.number,
            "at": at,
            "source": source,
            **({"why": found.why} if found.why else {}),
            **({"said": dump(found.said)} if found.said else {"error": f"unparsed: {UNREADABLE}"}),
        }
    if reasons:
        raise Refusal("bad-verdicts", f"{path} holds rows that are no verdicts of this pass", why=reasons)
    if equal:
        notes.append(f"{plural(equal, 'verdict')} not taken: the outputs are equal, which is a tie anyway")
    if left_out:
        notes.append(f"{plural(left_out, 'verdict')} not taken: on items that are not judged")
    return tuple(made.values())


@dataclass(frozen=True, slots=True)
class _Found:
    judge: str
    shown: tuple[str, ...]
    number: int
    said: Said | None
    why: str


def _needs(judge: Judge) -> tuple[str, ...]:
    if judge.kind == GRADE and judge.dimensions:
        return ("item_id", "arm", *judge.dimensions)
    form = _FORM.get(judge.kind, "item_id, verdict")
    return tuple(name.strip() for name in form.split(","))


def _names(arms: Sequence[Arm]) -> dict[str, int]:
    """Return each name that an arm goes by, with its place; a name of two arms is none."""
    made: dict[str, int] = {}
    doubled = set()
    for at, arm in enumerate(arms):
        for name in dict.fromkeys((arm.name, arm.run.run_id, arm.run.config_id)):
            if name in made:
                doubled.add(name)
            made.setdefault(name, at)
    return {name: at for name, at in made.items() if name not in doubled}


def _verdict(
    row: _Row,
    judge: Judge,
    frame: Frame,
    item: Judged,
    *,
    names: Mapping[str, int],
    reasons: list[str],
) -> _Found | None:
    before = len(reasons)
    who = row.cell("judge") or (judge.judges[0] if len(judge.judges) == 1 else "")
    if who not in frame.askers:
        told = f"{one_line(who, 80)!r} is none of {', '.join(judge.judges)}" if who else "is empty"
        reasons.append(f"{row.place}: judge: {told}")
    repeat = row.cell("repeat") or "1"
    if not (repeat.isascii() and repeat.isdigit() and 1 <= int(repeat[:6]) <= judge.repeats):
        reasons.append(f"{row.place}: repeat: {one_line(repeat, 20)!r} is no number of 1 to {judge.repeats}")
        repeat = "1"

    def place_of(column: str, value: str) -> int | None:
        at = names.get(value)
        if at is None or at not in item.outputs:
            reasons.append(f"{row.place}: {column}: {one_line(value, 80)!r} is no arm with an output here")
            return None
        return at

    shown: tuple[str, ...] = ()
    said: Said | None = None
    if judge.kind == PAIRWISE:
        places = [place_of(column, row.cell(column)) for column in ("first", "second")]
        if None not in places and places[0] == places[1]:
            reasons.append(f"{row.place}: first and second are the same arm")
        shown = tuple(item.outputs[at] for at in places if at is not None)
        said = _of_pair(row, [row.cell("first"), row.cell("second")], reasons)
    elif judge.kind == GRADE:
        at = place_of("arm", row.cell("arm"))
        shown = (item.outputs[at],) if at is not None else ()
        said = _of_grade(row, judge, reasons)
    else:
        shown = item.different
        won = [
            place_of("verdict", one.strip())
            for one in spreadsheet.split_bars(row.cell("verdict"))
            if one.strip()
        ]
        places_won = sorted({shown.index(item.outputs[at]) for at in won if at is not None})
        said = Said(places=tuple(places_won)) if places_won else None
    if len(reasons) > before:
        return None
    return _Found(who, shown, int(repeat), said, row.cell("why")[:2000])


def _of_pair(row: _Row, shown: Sequence[str], reasons: list[str]) -> Said | None:
    verdict = row.cell("verdict")
    if not verdict:
        return None
    words = {"tie": (0, 1), "first": (0,), "second": (1,)}
    for at, name in enumerate(shown):
        words[name] = (at,)
    if verdict not in words:
        reasons.append(
            f"{row.place}: verdict: {one_line(verdict, 80)!r} is not first, second, tie, {' or '.join(shown)}"
        )
        return None
    return Said(places=words[verdict])


def _of_grade(row: _Row, judge: Judge, reasons: list[str]) -> Said | None:
    columns = {name: name for name in judge.dimensions} or {"": "verdict"}
    cells = {name: row.cell(column) for name, column in columns.items()}
    if not all(cells.values()):
        return None
    grades: dict[str, float] = {}
    for name, cell in cells.items():
        try:
            grades[name] = float(cell)
        except ValueError:
            reasons.append(f"{row.place}: {columns[name]}: {one_line(cell, 40)!r} is no number")
            continue
        if not judge.scale.holds(grades[name]):
            reasons.append(f"{row.place}: {columns[name]}: {cell} is off the scale {judge.scale}")
    return load({"grades": grades})
