"""What production must match, and what its captures say, as pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.store import strict
from evh.store.text import one_line
from evh_build.pages.captures.page import Link
from evh_build.source import flat

if TYPE_CHECKING:
    from evh.acts.deploy_check import Check, Day
    from evh.acts.deploy_sheet import DeploySheet
    from evh_build.source import Mark, Source

FEW_DAYS = 5
LONG = 160


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """One way in which records differ: in what, what was measured, what ran, how many records, which days."""

    what: str
    expected: str
    found: str
    n: int
    days: str


@dataclass(frozen=True, slots=True)
class UnsaidView:
    """A setting that records send and the measured run does not tell: value, how many records, which days."""

    what: str
    found: str
    n: int
    days: str


@dataclass(frozen=True, slots=True)
class CheckView:
    """A capture held against what was measured: counts, by day, and what differs or is not recorded.

    ``alike`` tells that every record says the same, so that the days need no table.
    """

    capture: Link
    n: int
    match: int
    differ: int
    unrecorded: int
    sentence: str
    days: tuple[Day, ...]
    alike: bool
    differences: tuple[DifferenceView, ...]
    lacking: tuple[tuple[str, int], ...]
    no_settings: int
    problems: tuple[str, ...]
    unsaid: tuple[UnsaidView, ...] = ()


@dataclass(frozen=True, slots=True)
class SheetView:
    """A deploy sheet. ``facts`` are what production must match, ``settings`` every setting that was sent.

    ``not_sent`` are sentences on settings of the model record that were sent otherwise or not at all.
    """

    run: Link
    dataset: Link
    against: Mark | None
    facts: tuple[tuple[str, str], ...]
    model_record: Link | None
    settings: tuple[tuple[str, str], ...]
    not_sent: tuple[str, ...]
    prompt: tuple[tuple[str, str], ...]
    check: CheckView | None
    notes: tuple[str, ...]


def check_view(source: Source, one: Check) -> CheckView:
    """Return what a capture says of an arm."""
    kinds = sum(1 for n in (one.match, one.differ, one.unrecorded) if n)
    return CheckView(
        capture=Link(one.capture_id, source.urls.capture(one.capture_id)),
        n=one.n,
        match=one.match,
        differ=one.differ,
        unrecorded=one.unrecorded,
        sentence=one.sentence or "",
        days=one.days,
        alike=kinds < 2,
        differences=tuple(
            DifferenceView(
                each.what,
                "nothing" if each.expected is None else one_line(each.expected, LONG),
                one_line(each.found, LONG),
                each.n,
                _days(each.days),
            )
            for each in one.differences
        ),
        lacking=tuple(sorted(one.lacking.items())),
        no_settings=one.no_settings,
        problems=one.problems,
        unsaid=tuple(
            UnsaidView(each.what, one_line(each.found, LONG), each.n, _days(each.days)) for each in one.unsaid
        ),
    )


def sheet_view(source: Source, one: DeploySheet) -> SheetView:
    """Return a deploy sheet."""
    facts = (
        ("provider", one.provider),
        ("model", one.model),
        ("upstream name", one.upstream),
        *((f"build: {name}", value) for name, value in flat(dict(one.deployment))),
        ("server", one.base_url),
        ("prompt file", one.prompt_file or ("in the config" if one.prompt_sha256 else None)),
        ("prompt version", one.prompt_version),
        ("prompt sha256", one.prompt_sha256),
        ("adapter", one.adapter),
        ("adapter sha256", one.adapter_sha256),
        ("items sha256", one.items_sha256),
        ("fingerprint", one.fingerprint),
    )
    return SheetView(
        run=Link(one.run.run_id, source.urls.run(one.run.key)),
        dataset=Link(one.dataset_id, source.urls.dataset(one.dataset_id)),
        against=source.mark_of_ref(one.against) if one.against else None,
        facts=tuple((name, value) for name, value in facts if value),
        model_record=Link(one.model_record, source.urls.model(one.model_record))
        if one.model_record
        else None,
        settings=flat(dict(one.settings)),
        not_sent=tuple(
            f"the model record says {each.name}: {_shown(each.record)}, and it "
            + ("was not sent" if each.sent is None else f"was sent as {_shown(each.sent)}")
            for each in one.not_sent
        ),
        prompt=tuple((each["role"], each["content"]) for each in one.prompt),
        check=check_view(source, one.check) if one.check else None,
        notes=one.notes,
    )


def _days(days: tuple[str, ...]) -> str:
    if len(days) <= FEW_DAYS:
        return ", ".join(days)
    return f"{len(days)} days from {days[0]} to {days[-1]}"


def _shown(value: object) -> str:
    return one_line(value if isinstance(value, str) else strict.compact(value), LONG)
