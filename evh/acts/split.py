"""Splitting a capture in two: by time, or by a seeded draw."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evh.acts import draw
from evh.acts.capture import adapter_of, time_range
from evh.errors import Refusal
from evh.project import captures
from evh.project.shelf import read_each
from evh.records.capture import Capture, Record
from evh.store import atomic, clock
from evh.store.hashing import sha256
from evh.store.names import bad_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class Half:
    """One of the two captures: its manifest, its records' file and bytes, and whether it is there already."""

    capture: Capture
    file: str
    data: bytes = field(repr=False)
    there: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What `commit` would write, and how many records go to neither half."""

    halves: tuple[Half, Half]
    n_no_item: int
    n_no_time: int
    n_neither: int


def plan(
    project: Project,
    capture_id: str,
    into: tuple[str, str],
    *,
    at: str | None = None,
    fraction: float | None = None,
    seed: int = 0,
) -> Plan:
    """Return the two halves of a capture.

    Args:
        project: the project.
        capture_id: the capture to split.
        into: the names of the halves.
        at: a time: records with ``ts`` before it go to the first half, the others to the second.
        fraction: in place of ``at``: the share of the records that a seeded draw puts into the first half.
        seed: of the draw.

    Raises:
        Refusal: names that cannot be or are taken, neither or both of ``at`` and ``fraction``, an empty half.
    """
    of = captures.read(project, capture_id)
    moment = _check(of, into, at, fraction)
    adapter = adapter_of(project, of)
    records = captures.records(project, of)
    problems: list[Refusal] = []
    items = read_each(records, lambda row: adapter.item(row, _named(of, row)), problems)
    times = read_each(records, lambda row: _time(of, row), problems)
    ids = read_each(records, lambda row: _id(of, row), problems)
    if problems:
        raise Refusal(
            problems[0].code,
            f"the capture {capture_id!r} cannot be split",
            why=[reason for problem in problems for reason in problem.why],
            next=problems[0].next,
        )
    whole = [
        (row, name, time)
        for row, name, item, time in zip(records, ids, items, times, strict=True)
        if item is not None and time is not None
    ]
    if moment is not None:
        first = {name for _, name, time in whole if time < moment}
        how: dict[str, Any] = {"at": clock.precise(moment)}
    else:
        drawn = round((fraction or 0.0) * len(whole))
        first = set(draw.sample([name for _, name, _ in whole], drawn, seed))
        how = {"fraction": fraction, "seed": seed}
    parts = (
        [row for row, name, _ in whole if name in first],
        [row for row, name, _ in whole if name not in first],
    )
    empty = [f"{name}: no record falls into it" for name, rows in zip(into, parts, strict=True) if not rows]
    if empty:
        raise Refusal(
            "empty-half",
            f"one half of {capture_id!r} would be empty",
            why=[*empty, _range(of)],
            next="choose another time or fraction",
        )
    made = [
        _half(project, of, name, rows, {"of": of.capture_id, "part": part, **how})
        for name, rows, part in zip(into, parts, ("first", "second"), strict=True)
    ]
    return Plan(
        _accept(project, made[0], made[1]),
        n_no_item=sum(item is None for item in items),
        n_no_time=sum(time is None for time in times),
        n_neither=len(records) - len(whole),
    )


def commit(project: Project, plan: Plan) -> tuple[Capture, Capture]:
    """Write both halves; the second one's manifest is the commit point, and a second try succeeds."""
    first, second = plan.halves
    places = [captures.path_of(project, half.capture.capture_id) for half in plan.halves]
    # A first half that an earlier try left is not this one's to remove.
    undone = contextlib.nullcontext() if first.there else atomic.removed_unless(places[1], places[0])
    with undone:
        for half in plan.halves:
            if not half.there:
                captures.write_new(project, half.capture, half.file, half.data)
    return first.capture, second.capture


def _check(of: Capture, into: tuple[str, str], at: str | None, fraction: float | None) -> Any:  # noqa: ANN401
    reasons = [f"--into: {reason}" for name in into if (reason := bad_id(name)) is not None]
    if into[0] == into[1]:
        reasons.append("--into: the two halves need two names")
    if (at is None) == (fraction is None):
        reasons.append("give either --at TIME or --fraction F")
    if fraction is not None and not 0 < fraction < 1:
        reasons.append(f"--fraction {fraction}: between 0 and 1")
    if reasons:
        raise Refusal(
            "bad-options", f"{of.capture_id!r} cannot be split so", why=reasons, next="evh split --help"
        )
    return None if at is None else clock.parse_time(at, "--at")


def _named(of: Capture, row: Record) -> str:
    return f"captures/{of.capture_id}: record {row.get('record_id')!r}"


def _time(of: Capture, row: Record) -> Any:  # noqa: ANN401 - a datetime, or None
    text = row.get("ts")
    if text is None:
        return None
    if not isinstance(text, str):
        raise Refusal("bad-time", "a record's time is no text", why=[f"{_named(of, row)}: ts: {text!r}"])
    return clock.parse_time(text, f"{_named(of, row)}: ts")


def _id(of: Capture, row: Record) -> str:
    name = row.get("record_id")
    if not isinstance(name, str):
        raise Refusal("bad-records", "a record has no name", why=[f"captures/{of.capture_id}: no record_id"])
    return name


def _range(of: Capture) -> str:
    if of.time_range is None:
        return f"{of.capture_id}: its records have no times"
    return f"{of.capture_id}: its records lie between {of.time_range[0]} and {of.time_range[1]}"


def _half(project: Project, of: Capture, name: str, rows: Sequence[Record], split: Mapping[str, Any]) -> Half:
    file, data = captures.dump_records(rows)
    made = replace(
        of,
        capture_id=name,
        created_at=project.stamp(),
        source={"kind": "split", "path": f"captures/{of.capture_id}", "sha256": of.records_sha256},
        n_records=len(rows),
        records_sha256=sha256(data),
        time_range=time_range(rows),
        n_no_item=0,
        n_no_time=0,
        split=split,
    )
    return Half(made, file, data)


def _accept(project: Project, first: Half, second: Half) -> tuple[Half, Half]:
    """Return the halves, the first marked as there when a split that was cut off left it, byte for byte."""
    taken = [half for half in (first, second) if captures.exists(project, half.capture.capture_id)]
    if taken == [first]:
        there = captures.read(project, first.capture.capture_id)
        if replace(there, created_at="") == replace(first.capture, created_at=""):
            return replace(first, capture=there, there=True), second
    if taken:
        raise Refusal(
            "existing-capture",
            "there are captures of those names already",
            why=[f"captures/{half.capture.capture_id}: a capture is never overwritten" for half in taken],
            next="choose other names with --into",
        )
    return first, second
