"""Production records → a capture: named, timed, checked for secrets, and written whole or not at all."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.acts import capture_source, draw, scrub
from evh.acts.record_keys import collapsed, keys_told
from evh.adapters import loader
from evh.errors import Refusal
from evh.project import captures
from evh.project.shelf import read_each
from evh.records.capture import Capture, Record
from evh.store import clock, secrets, strict
from evh.store.hashing import sha256, sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from evh.acts.capture_source import Given
    from evh.adapters.hooks import Adapter
    from evh.project.find import Project

SHOWN_IDS = 20
SCRUB_MAP = "scrub-map.jsonl"
NO_RECORD_ID = "it has no record_id (the adapter's hook record_id(record) can name it)"


@dataclass(frozen=True, slots=True)
class Options:
    """What a capture is asked for, beside its name and file.

    Args:
        format: one of `capture_source.FORMATS`; None: what the file's name says.
        adapter: the adapter that reads the records; empty: the project's, else evh's own keys.
        since: the capture whose chain this one continues.
        with_updates: take known records too when they have new outcomes.
        sample: how many records to draw; None: all.
        seed: of the drawing.
        by: the field whose values are each drawn from in proportion.
        scrub: a file of scrub rules.
        secrets_ok: why records with secrets in them are taken all the same; recorded.
    """

    format: str | None = None
    adapter: str = ""
    since: str | None = None
    with_updates: bool = False
    sample: int | None = None
    seed: int = 0
    by: str | None = None
    scrub: Path | None = None
    secrets_ok: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What `commit` would write, and what a person should know of it."""

    capture: Capture
    file: str
    data: bytes = field(repr=False)
    beside: Mapping[str, bytes] = field(repr=False)
    records: tuple[Record, ...] = field(repr=False)
    n_read: int
    n_known: int = 0
    updated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Taken:
    """One record with what its hooks said; ``group`` is the value of the field that is drawn by."""

    record: Record
    item: str | None
    old_item: str | None
    group: object


def plan(
    project: Project,
    capture_id: str,
    file: Path,
    options: Options | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return what a capture of ``file`` would hold.

    Args:
        project: the project.
        capture_id: the new capture's name.
        file: the records, anywhere on this machine.
        options: see `Options`.
        progress: called with (records read, records in the file).

    Raises:
        Refusal: an existing capture; records without an id or with a doubled one; times that are no times;
            secrets that survive scrubbing; nothing to take. All reasons at once, by record number.
    """
    asked = options or Options()
    if captures.exists(project, capture_id):
        raise captures.already(capture_id)
    _check(asked)
    adapter = loader.load(project, asked.adapter or capture_source.adapter_of(asked.format))
    given = capture_source.read(project, file, asked.format)
    return plan_of(project, capture_id, given, adapter, asked, progress=progress)


def plan_of(
    project: Project,
    capture_id: str,
    given: Given,
    adapter: Adapter,
    asked: Options,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return what a capture of records that were read already would hold; see `plan`."""
    raw, name = given.records, given.name
    known = _known(project, asked.since)
    scrubber = scrub.read(asked.scrub) if asked.scrub else None
    problems: list[Refusal] = []

    def take(number: int) -> _Taken:
        if progress and number % 500 == 0:
            progress(number, len(raw))
        return _take(adapter, raw[number], f"{name}: record {number + 1}", scrubber, asked.by)

    taken = read_each(range(len(raw)), take, problems)
    reasons = [reason for problem in problems for reason in problem.why]
    reasons = collapsed(reasons + _doubled(raw, taken, name))
    if reasons:
        no_id = any(NO_RECORD_ID in reason for reason in reasons)
        raise Refusal(
            "bad-records",
            f"{name} holds records that cannot be captured",
            why=[*([f"{name}: {keys_told(raw, adapter)}"] if no_id else []), *reasons],
            next="write record_id(record) in an adapter and name it with --adapter: evh help adapters"
            if no_id
            else "mend the records, or the record_id and ts hooks of the adapter",
        )
    chosen, n_known, updated = _continue(adapter, taken, known, with_updates=asked.with_updates)
    sample: dict[str, Any] | None = None
    if asked.sample is not None:
        sample = {"n": asked.sample, "seed": asked.seed, "of": len(chosen)}
        sample |= {"by": asked.by} if asked.by else {}
        chosen = _sample(chosen, asked)
    if not chosen:
        raise _nothing(name, asked, len(raw), updated)
    found = _secrets(chosen, name)
    if found and asked.secrets_ok is None:
        raise Refusal(
            "secrets",
            f"{name} holds what looks like secrets",
            why=found,
            next="scrub them (--scrub RULES.yaml), or record why they may stay (--secrets-ok REASON)",
        )
    gathered = _Gathered(adapter, chosen, sample, scrubber, len(raw), n_known, updated, found)
    return _made(project, capture_id, given, asked, gathered)


def commit(project: Project, plan: Plan) -> Capture:
    """Write the capture: its folder is renamed in last."""
    captures.write_new(project, plan.capture, plan.file, plan.data, beside=plan.beside)
    return plan.capture


def adapter_of(project: Project, capture: Capture, name: str = "") -> Adapter:
    """Return the adapter for a capture's records: ``name``, else the capture's own, else the project's."""
    recorded = str((capture.adapter or {}).get("path") or "")
    return loader.load(project, name or recorded)


def time_range(stored: Sequence[Record]) -> tuple[str, str] | None:
    """Return the first and the last time of records, or None where none has one."""
    times = sorted(
        (clock.parse_time(row["ts"], "ts"), row["ts"]) for row in stored if isinstance(row.get("ts"), str)
    )
    return (times[0][1], times[-1][1]) if times else None


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What was read of the file: the records to store, how they were chosen, and what was found in them."""

    adapter: Adapter
    chosen: Sequence[_Taken]
    sample: Mapping[str, Any] | None
    scrubber: scrub.Scrubber | None
    n_read: int
    n_known: int
    updated: Sequence[str]
    found: Sequence[str]


def _made(project: Project, capture_id: str, given: Given, asked: Options, got: _Gathered) -> Plan:
    stored = [one.record for one in got.chosen]
    updated, found = got.updated, got.found
    name, data = captures.dump_records(stored)
    extra: dict[str, Any] = {}
    if asked.secrets_ok is not None:
        extra["secrets_ok"] = {"reason": asked.secrets_ok, "n_found": len(found)}
    if asked.with_updates:
        extra["n_updates"] = len(updated)
    beside: dict[str, bytes] = {}
    scrubbed = None
    if got.scrubber is not None:
        beside[SCRUB_MAP] = _scrub_map(got.chosen)
        scrubbed = {
            "rules_sha256": got.scrubber.sha256,
            "counts": got.scrubber.counts,
            "map_file": SCRUB_MAP,
            **({"of": given.of} if given.of else {}),
        }
    capture = Capture(
        capture_id=capture_id,
        n_records=len(stored),
        records_sha256=sha256(data),
        created_at=project.stamp(),
        source=given.source,
        since_capture=asked.since,
        sample=got.sample,
        scrub=scrubbed,
        time_range=time_range(stored),
        adapter={"path": got.adapter.name, "sha256": got.adapter.identity}
        if got.adapter.path or got.adapter.name != "default" or given.own_keys
        else None,
        n_no_item=sum(one.item is None for one in got.chosen),
        n_no_time=sum(one.record["ts"] is None for one in got.chosen),
        extra=extra,
    )
    warnings = []
    if given.source.get("dropped"):
        counts = ", ".join(f"{count:,} {why}" for why, count in given.source["dropped"].items())
        warnings.append(f"{given.name}: not taken: {counts}")
    if updated and not asked.with_updates:
        many = plural(len(updated), "known record")
        warnings.append(f"{many} with new outcomes, not taken: {_listed(updated)}")
    if found:
        many = plural(len(found), "place")
        warnings.append(f"{many} that look like secrets, taken because: {asked.secrets_ok}")
    return Plan(
        capture, name, data, beside, tuple(stored), got.n_read, got.n_known, tuple(updated), tuple(warnings)
    )


def _scrub_map(chosen: Sequence[_Taken]) -> bytes:
    """Return the lines that lead from an item's bytes before scrubbing to those after; only changed ones."""
    changed = {
        (sha256_text(one.old_item), sha256_text(one.item))
        for one in chosen
        if one.old_item is not None and one.item is not None and one.old_item != one.item
    }
    return b"".join(strict.dump_line({"old_sha256": old, "new_sha256": new}) for old, new in sorted(changed))


def _check(asked: Options) -> None:
    reasons = []
    if asked.sample is not None and asked.sample < 1:
        reasons.append("--sample: at least 1")
    if asked.by and asked.sample is None:
        reasons.append("--by: goes with --sample")
    if asked.with_updates and not asked.since:
        reasons.append("--with-updates: goes with --since-capture")
    if asked.secrets_ok is not None and not asked.secrets_ok.strip():
        reasons.append("--secrets-ok: give the reason")
    if reasons:
        raise Refusal(
            "bad-options", "the options do not fit together", why=reasons, next="evh capture --help"
        )


def _take(
    adapter: Adapter, raw: Record, place: str, scrubber: scrub.Scrubber | None, by: str | None
) -> _Taken:
    """Return a record as it will be stored, with evh's two keys filled in."""
    read = raw if scrubber is None else scrubber.scrub(raw)
    record_id = adapter.record_id(read, place)
    if record_id is None:
        raise _bad(f"{place}: {NO_RECORD_ID}")
    if any(unicodedata.category(char) in {"Cc", "Cs"} for char in record_id):
        raise _bad(f"{place}: its record_id {record_id!r} holds a control character")
    if scrubber is not None and adapter.record_id(raw, place) != record_id:
        raise _bad(f"{place}: scrubbing changes its record_id; let the adapter's record_id give another")
    text = adapter.ts(read, place)
    stamp = None if text is None else clock.precise(clock.parse_time(text, f"{place}: ts"))
    stored: Record = {**read, "record_id": record_id, "ts": stamp}
    if read.get("record_id", record_id) != record_id:
        stored["raw_record_id"] = read["record_id"]
    if read.get("ts") and text != read["ts"]:
        stored["raw_ts"] = read["ts"]
    old = adapter.item(raw, place) if scrubber is not None else None
    group = adapter.fields(stored, place).get(by) if by else None
    return _Taken(stored, adapter.item(stored, place), old, group)


def _bad(reason: str) -> Refusal:
    return Refusal("bad-records", "a record cannot be captured", why=[reason])


def _doubled(raw: Sequence[Record], taken: Sequence[_Taken], name: str) -> list[str]:
    seen: dict[str, int] = {}
    reasons = []
    numbered = len(raw) == len(taken)  # else some records were refused and positions moved
    for number, one in enumerate(taken, 1):
        record_id = one.record["record_id"]
        if record_id in seen:
            where = f"records {seen[record_id]} and {number}" if numbered else "two records"
            reasons.append(f"{name}: {where} have the record_id {record_id!r}")
        else:
            seen[record_id] = number
    return reasons


def _known(project: Project, since: str | None) -> dict[str, Record]:
    """Return the latest form of every record in a capture's chain, by its id."""
    made: dict[str, Record] = {}
    seen: set[str] = set()
    while since and since not in seen:
        seen.add(since)
        capture = captures.read(project, since)
        for row in captures.records(project, capture):
            made.setdefault(str(row.get("record_id")), row)
        since = capture.since_capture
    return made


def _continue(
    adapter: Adapter, taken: Sequence[_Taken], known: Mapping[str, Record], *, with_updates: bool
) -> tuple[list[_Taken], int, list[str]]:
    """Return the records to take, how many are known already, and the known ones with new outcomes."""
    chosen = []
    updated: list[str] = []
    n_known = 0
    for one in taken:
        record_id = one.record["record_id"]
        old = known.get(record_id)
        if old is None:
            chosen.append(one)
            continue
        n_known += 1
        before = {strict.compact(outcome) for outcome in adapter.outcomes(old, f"record {record_id}")}
        now = {strict.compact(outcome) for outcome in adapter.outcomes(one.record, f"record {record_id}")}
        if now - before:
            updated.append(record_id)
            if with_updates:
                chosen.append(one)
    return chosen, n_known, updated


def _sample(chosen: Sequence[_Taken], asked: Options) -> list[_Taken]:
    wanted = asked.sample or 0
    if wanted > len(chosen):
        raise Refusal(
            "sample-too-large",
            f"there are not {plural(wanted, 'record')} to draw",
            why=[f"--sample {wanted}: there are {len(chosen)}"],
            next="leave --sample out, or ask for fewer",
        )
    ids = [one.record["record_id"] for one in chosen]
    groups = None
    if asked.by:
        groups = {one.record["record_id"]: one.group for one in chosen}
        if all(value is None for value in groups.values()):
            raise Refusal(
                "no-such-field",
                f"no record has a field {asked.by!r}",
                why=[f"--by {asked.by}: the adapter's fields(record) gives it for none of {len(chosen)}"],
                next="name a field with --by, or let the adapter's fields(record) give it",
            )
    drawn = draw.sample(ids, wanted, asked.seed, groups)
    return [one for one in chosen if one.record["record_id"] in drawn]


def _secrets(chosen: Sequence[_Taken], name: str) -> list[str]:
    rules = (*secrets.BUNDLED, *secrets.this_machine())
    return [
        f"{name}: record {one.record['record_id']!r}: {hit.place}: {hit.rule} ({hit.shown})"
        for one in chosen
        for hit in secrets.find_in(one.record, rules)
    ]


def _nothing(name: str, asked: Options, n_read: int, updated: Sequence[str]) -> Refusal:
    if n_read == 0:
        return Refusal("nothing-to-take", f"{name} holds no records", why=[f"{name}: it is empty"])
    why = [f"{name}: every record is in {asked.since!r} or before it"]
    if updated:
        why.append(f"{plural(len(updated), 'of them has', 'of them have')} new outcomes: {_listed(updated)}")
    return Refusal(
        "nothing-to-take",
        f"{name} holds no new records",
        why=why,
        next="take the records with new outcomes with --with-updates" if updated else None,
    )


def _listed(ids: Sequence[str]) -> str:
    more = f" … and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(ids[:SHOWN_IDS]) + more
