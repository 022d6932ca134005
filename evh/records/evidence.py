"""What the evidence labeler writes: labels, failures, readings and probes, a row each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, without_empty
from evh.store import strict
from evh.store.hashing import is_sha256, sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBE_KINDS = ("needle", "other", "empty", "shuffled")
"""``needle`` is answered yes, every other kind no."""
FAILURES = (
    "unfinished",
    "empty",
    "ambiguous",
    "unparsed",
    "no_reason",
    "too_long",
    "split",
    "server",
)
"""Why a chunk has no label; what a server did is ``server``, with the words in ``says``."""
IDENTITY = (
    "question_sha",
    "prompt_sha",
    "provider",
    "model",
    "think_tokens",
    "answer_tokens",
    "temperature",
    "top_p",
    "constrain",
    "repeat",
)
"""The settings that make a journal: with one of them changed the labels are others'."""


@dataclass(frozen=True, slots=True)
class EvidenceLabel:
    """One label: whether a chunk holds evidence for a question, and why.

    ``t`` is the chunk's first place when it was labelled, for people; nothing reads it back.
    """

    chunk_sha: str
    t: int
    label: bool
    why: str
    model: str = ""
    ts: str = ""
    question_sha: str = ""
    prompt_sha: str = ""
    suspect: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceFailure:
    """Why a chunk got no label at one try; the latest row of a chunk counts, and a label ends it."""

    chunk_sha: str
    t: int
    kind: str
    says: str
    ts: str = ""
    suspect: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """One reply to one chunk, whole: what was answered, and under which conditions.

    Attributes:
        chunk_sha: the chunk.
        k: which of the repeats it is, from 1.
        raw: the reply's text; None where none came.
        reasoning: what the server kept apart as thought.
        finish_reason: why it ended.
        seed: that was sent.
        verdict: ``yes``, ``no`` or the failure's kind.
        says: a failure's words.
        rung: how it was known to fit: ``bytes``, ``tokenize`` or ``estimate``.
        tries: how often the server was asked for it.
        tokens_in, tokens_out, cost_usd, latency_ms, model: as the server says or as measured.
        note: what of the reply was not taken as it came: a count that is none, the key.
    """

    chunk_sha: str
    k: int
    raw: str | None
    seed: int
    verdict: str
    reasoning: str | None = None
    finish_reason: str | None = None
    says: str | None = None
    rung: str | None = None
    tries: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    model: str | None = None
    max_tokens: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """A question with a known answer, asked among the others; ``answer`` is None where it failed."""

    probe_id: str
    kind: str
    chunk_sha: str
    expected: bool
    answer: bool | None
    question: str = ""
    why: str = ""
    failure: str | None = None
    raw: str | None = None
    ts: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """What was asked and how: ``asked`` makes the journal, ``began`` is how its first run found things.

    ``salt`` (hex) is drawn once: the fences of the prompts are made with it.
    """

    asked: Mapping[str, Any]
    settings_sha: str
    salt: str
    question: str
    prompt: str
    began: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def parse_label(raw: Mapping[str, Any], place: str, reasons: list[str]) -> EvidenceLabel:
    """Return the label in a row of a journal; what is wrong goes to ``reasons``."""
    shape = Shape(raw, place)
    if not isinstance(raw.get("label"), bool):
        shape.problem("label", "is not true or false")
        shape.take("label")
        label = False
    else:
        label = shape.flag("label")
    found = EvidenceLabel(
        _sha(shape),
        shape.count("t"),
        label,
        shape.text("why", required=True),
        shape.text("model"),
        shape.text("ts"),
        shape.text("question_sha"),
        shape.text("prompt_sha"),
        shape.flag("suspect"),
    )
    if not shape.reasons and not found.why.strip():
        shape.problem("why", "is empty")
    reasons += shape.reasons
    return found


def dump_label(label: EvidenceLabel) -> dict[str, Any]:
    """Return a label's row."""
    return {name: getattr(label, name) for name in label.__slots__}


def parse_failure(raw: Mapping[str, Any], place: str, reasons: list[str]) -> EvidenceFailure:
    """Return the failure in a row; what is wrong goes to ``reasons``."""
    shape = Shape(raw, place)
    found = EvidenceFailure(
        _sha(shape),
        shape.count("t"),
        shape.text("kind", required=True),
        shape.text("says"),
        shape.text("ts"),
        shape.flag("suspect"),
    )
    reasons += shape.reasons
    return found


def dump_failure(failure: EvidenceFailure) -> dict[str, Any]:
    """Return a failure's row."""
    return {name: getattr(failure, name) for name in failure.__slots__}


def parse_reading(raw: Mapping[str, Any], place: str, reasons: list[str]) -> Reading:
    """Return a reading; what is wrong goes to ``reasons``."""
    shape = Shape(raw, place)
    found = Reading(
        _sha(shape),
        shape.count("k", 1),
        shape.maybe_text("raw"),
        shape.whole("seed"),
        shape.text("verdict", required=True),
        shape.maybe_text("reasoning"),
        shape.maybe_text("finish_reason"),
        shape.maybe_text("says"),
        shape.maybe_text("rung"),
        shape.count("tries", 1),
        _count(shape, "tokens_in"),
        _count(shape, "tokens_out"),
        shape.maybe_number("cost_usd"),
        shape.maybe_number("latency_ms"),
        shape.maybe_text("model"),
        _count(shape, "max_tokens"),
        shape.maybe_text("note"),
    )
    reasons += shape.reasons
    return found


def dump_reading(reading: Reading) -> dict[str, Any]:
    """Return a reading's row; absent keys mean "none", ``raw`` is always there."""
    rest = {name: getattr(reading, name) for name in reading.__slots__ if name != "raw"}
    return {"raw": reading.raw, **without_empty(rest)}


def parse_probe(raw: Mapping[str, Any], place: str, reasons: list[str]) -> Probe:
    """Return a probe's row; what is wrong goes to ``reasons``."""
    shape = Shape(raw, place)
    answer = raw.get("answer")
    shape.take("answer")
    if answer is not None and not isinstance(answer, bool):
        shape.problem("answer", "is not true, false or null")
        answer = None
    found = Probe(
        shape.text("probe_id", required=True),
        shape.choice("kind", PROBE_KINDS, PROBE_KINDS[0]),
        _sha(shape),
        shape.flag("expected"),
        answer,
        shape.text("question"),
        shape.text("why"),
        shape.maybe_text("failure"),
        shape.maybe_text("raw"),
        shape.text("ts"),
        _count(shape, "tokens_in"),
        _count(shape, "tokens_out"),
        shape.maybe_number("cost_usd"),
    )
    reasons += shape.reasons
    return found


def dump_probe(probe: Probe) -> dict[str, Any]:
    """Return a probe's row; ``answer`` is always there."""
    rest = {name: getattr(probe, name) for name in probe.__slots__ if name != "answer"}
    return {"answer": probe.answer, **without_empty(rest)}


def parse_settings(raw: Mapping[str, Any], place: object) -> JournalSettings:
    """Return a journal's settings, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    found = JournalSettings(
        shape.mapping("asked"),
        shape.text("settings_sha", required=True),
        shape.text("salt", required=True),
        shape.text("question"),
        shape.text("prompt"),
        shape.mapping("began"),
        shape.rest(),
    )
    try:
        bytes.fromhex(found.salt)
    except ValueError:
        shape.problem("salt", "is not hex")
    shape.finish(f"{place} does not hold the settings of a journal", next="restore it (git checkout)")
    return found


def settings_sha(asked: Mapping[str, Any]) -> str:
    """Return the hash that names what was asked."""
    return sha256_text(strict.compact(dict(asked)))


def edited(settings: JournalSettings) -> list[str]:
    """Return what a journal's settings contradict themselves in, a reason each with both hashes."""
    made = settings_sha(settings.asked)
    reasons = []
    if settings.settings_sha != made:
        reasons.append(f"settings_sha: {settings.settings_sha} there, {made} of what was asked")
    for name, text in (("prompt", settings.prompt), ("question", settings.question)):
        there, made = settings.asked.get(f"{name}_sha"), sha256_text(text)
        if there != made:
            reasons.append(f"{name}_sha: {there} there, {made} of the {name}")
    return reasons


def dump_settings(settings: JournalSettings) -> dict[str, Any]:
    """Return what ``~settings.json`` holds."""
    return {
        **settings.extra,
        "asked": dict(settings.asked),
        "settings_sha": settings.settings_sha,
        "salt": settings.salt,
        "question": settings.question,
        "prompt": settings.prompt,
        "began": dict(settings.began),
    }


def _count(shape: Shape, key: str) -> int | None:
    return shape.count(key) if shape.take(key) is not None else None


def _sha(shape: Shape) -> str:
    value = shape.text("chunk_sha", required=True)
    if value and not is_sha256(value):
        shape.problem("chunk_sha", f"{value[:80]!r} is not 64 lower-case hex digits")
    return value
