"""Records of production held against what was measured: which match, which differ, which do not say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.adapters import loader
from evh.project import captures
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.capture import Capture, Record

NO_TIME = "no time"
MATCH, DIFFER, UNRECORDED = "match", "differ", "not recorded"
_DAY = len("2026-11-01")


@dataclass(frozen=True, slots=True)
class Expected:
    """What was measured: the model by any of its names, its build, its prompt, every setting sent.

    ``whole`` tells that ``settings`` are the whole request, so that what is not among them was not sent.
    ``own`` are the settings that the model record gives as those of the model or its server.
    """

    config_id: str
    promoted: bool
    models: tuple[str, ...]
    build: Mapping[str, str]
    prompt_sha256: str | None
    prompt_version: str | None
    settings: Mapping[str, Any]
    whole: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Day:
    """The records of one day (UTC, as the capture writes it) by what they say."""

    day: str
    match: int
    differ: int
    unrecorded: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which ``n`` records differ: ``what`` (model, prompt, a setting), and both values."""

    what: str
    expected: str | None
    found: str
    n: int
    days: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A setting, and its value, that ``n`` records send and of which what was measured does not say."""

    what: str
    found: str
    n: int
    days: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A capture held against what was measured.

    Attributes:
        capture_id: the capture.
        n: its records.
        match, differ, unrecorded: how many match, differ in something that they say, or leave the model or
            the prompt out.
        days: the same by day, in order.
        differences: what differs, the most frequent first.
        lacking: what records leave out (model, prompt) → how many do.
        no_settings: records that match and say nothing of the settings.
        sentence: that every captured decision was made by this model and prompt; None unless it is so.
        problems: records that the adapter could not read, the first ones; they count as not recorded.
        unsaid: settings that records send where the measured settings are not known in full, the most
            frequent first: neither a difference nor a match.
    """

    capture_id: str
    n: int
    match: int
    differ: int
    unrecorded: int
    days: tuple[Day, ...]
    differences: tuple[Difference, ...]
    lacking: Mapping[str, int]
    no_settings: int
    sentence: str | None
    problems: tuple[str, ...] = ()
    unsaid: tuple[Unsaid, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    """One record: its day, how it differs, what it leaves out, settings that nothing can be held against."""

    day: str
    apart: tuple[tuple[str, str | None, str], ...]
    lacking: tuple[str, ...]
    no_settings: bool
    unsaid: tuple[tuple[str, str], ...]


def check(project: Project, expected: Expected, capture: Capture, *, adapter: str) -> Check:
    """Return what a capture's records say of an arm.

    A record differs where anything that it says differs. Else it matches where it names the model and, of an
    arm with a prompt, the prompt; else it is not recorded.

    A setting that only the record has: where the whole request that was measured is known, it was not sent
    then, and the record differs, but for a value that the model record gives as the server's own. Where the
    measured settings are not known in full (an imported run, a program), it is counted apart and is no
    difference.

    Args:
        project: the project.
        expected: what was measured.
        capture: the capture. Its own adapter reads its records, else the arm's.
        adapter: the arm's adapter.

    Raises:
        Refusal: the adapter cannot be loaded, or the records cannot be read.
    """
    name = str((capture.adapter or {}).get("path") or adapter)
    hooks = loader.load(project, name, beside=project.data / "configs")
    problems: list[Refusal] = []
    said = []
    for number, record in enumerate(captures.records(project, capture), start=1):
        key = record, f"{capture.capture_id}: record {number}"
        ran = next(iter(read_each([key], lambda one: hooks.production_ran(*one), problems)), None)
        ts = next(iter(read_each([key], lambda one: hooks.ts(*one), problems)), None)
        said.append(_say(expected, ran, _day(record, ts)))
    return _made(expected, capture.capture_id, said, problems)


def _day(record: Record, ts: str | None) -> str:
    time = ts or record.get("ts")
    return time[:_DAY] if isinstance(time, str) and len(time) >= _DAY else NO_TIME


def _say(expected: Expected, ran: Mapping[str, Any] | None, day: str) -> _Said:
    ran = ran or {}
    apart: list[tuple[str, str | None, str]] = []
    lacking = []
    model = ran.get("model")
    if model is None or not expected.models:
        lacking.append("model")
    elif str(model) not in expected.models:
        apart.append(("model", expected.models[0], str(model)))
    for key, value in expected.build.items():
        if ran.get(key) is not None and str(ran[key]) != value:
            apart.append((key, value, str(ran[key])))
    _say_prompt(expected, ran, apart, lacking)
    settings = ran.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    unsaid = []
    for key, value in settings.items():
        sent = expected.settings.get(key)
        if value is None or _equal(sent, value):
            continue
        if sent is not None:
            apart.append((key, _shown(sent), _shown(value)))
        elif key in expected.own and _equal(expected.own[key], value):
            continue  # not sent, and the server does so by itself
        elif expected.whole:
            apart.append((key, None, _shown(value)))
        else:
            unsaid.append((key, _shown(value)))
    return _Said(day, tuple(apart), tuple(lacking), not settings and bool(expected.settings), tuple(unsaid))


def _say_prompt(
    expected: Expected,
    ran: Mapping[str, Any],
    apart: list[tuple[str, str | None, str]],
    lacking: list[str],
) -> None:
    sha, version = ran.get("prompt_sha256"), ran.get("prompt_version")
    known = False
    if sha is not None:
        known = True
        if str(sha).lower() != (expected.prompt_sha256 or ""):
            apart.append(("prompt", expected.prompt_sha256, str(sha)))
    elif version is not None and expected.prompt_version is not None:
        known = True
        if str(version) != expected.prompt_version:
            apart.append(("prompt", expected.prompt_version, str(version)))
    if not known and (expected.prompt_sha256 or expected.prompt_version):
        lacking.append("prompt")


def _equal(sent: object, found: object) -> bool:
    if isinstance(sent, bool) or isinstance(found, bool):
        return sent is found
    return sent == found


def _shown(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _made(expected: Expected, capture_id: str, said: list[_Said], problems: list[Refusal]) -> Check:
    kinds = [DIFFER if one.apart else UNRECORDED if one.lacking else MATCH for one in said]
    total = Counter(kinds)
    by_day: dict[str, Counter[str]] = {}
    for one, kind in zip(said, kinds, strict=True):
        by_day.setdefault(one.day, Counter())[kind] += 1
    ways: Counter[tuple[str, str | None, str]] = Counter()
    days: dict[tuple[str, str | None, str], set[str]] = {}
    for one in said:
        for way in one.apart:
            ways[way] += 1
            days.setdefault(way, set()).add(one.day)
    untold: dict[tuple[str, str], list[str]] = {}
    for one in said:
        for setting in one.unsaid:
            untold.setdefault(setting, []).append(one.day)
    ordered = sorted(ways, key=lambda way: (-ways[way], way[0], way[2]))
    every = bool(said) and total[MATCH] == len(said)
    word = "promoted" if expected.promoted else "measured"
    parts = "model and prompt" if expected.prompt_sha256 or expected.prompt_version else "model"
    return Check(
        capture_id=capture_id,
        n=len(said),
        match=total[MATCH],
        differ=total[DIFFER],
        unrecorded=total[UNRECORDED],
        days=tuple(
            Day(day, counts[MATCH], counts[DIFFER], counts[UNRECORDED])
            for day, counts in sorted(by_day.items(), key=lambda pair: (pair[0] == NO_TIME, pair[0]))
        ),
        differences=tuple(Difference(*way, ways[way], tuple(sorted(days[way]))) for way in ordered),
        lacking=dict(Counter(name for one in said for name in one.lacking)),
        no_settings=sum(one.no_settings for one, kind in zip(said, kinds, strict=True) if kind == MATCH),
        sentence=f"every captured decision was made by the {word} {parts}" if every else None,
        problems=tuple(reason for one in problems[:10] for reason in one.why[:1] or (one.what,)),
        unsaid=tuple(
            Unsaid(*setting, len(on), tuple(sorted(set(on))))
            for setting, on in sorted(untold.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        ),
    )
