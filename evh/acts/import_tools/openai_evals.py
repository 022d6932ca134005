"""OpenAI evals: the JSONL that ``oaieval`` records (``LocalRecorder`` in openai/evals, ``evals/record.py``).

The first line is the ``spec``, one line the ``final_report``, the others events of samples. Of a sample, the
first ``sampling`` is its answer: what follows it is a grader's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools.given import (
    Log,
    Row,
    Taker,
    bad_log,
    listing,
    mapping,
    named,
    parse_lines,
    score_of,
    text_of,
    texts_in,
    words,
)
from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "openai-evals"
FURTHER = "further sampling event of one sample"
CORRECT = "correct"


@dataclass(slots=True)
class _Sample:
    place: str
    sampled: object = None
    has_answer: bool = False
    picked: object = None
    error: str | None = None
    texts: list[str] = field(default_factory=list)
    raw: Mapping[str, Any] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)


def read(data: bytes, place: str) -> Log:
    """Return what the events hold.

    A sample's item is the ``item_id`` of its ``raw_sample`` event, else its sample id, else the item whose
    bytes are the prompt or one of its user messages. Scores: ``correct`` of its ``match`` event and the
    numbers of its ``metrics`` events.

    Raises:
        Refusal: no events; two events of one sample that give one metric different values.
    """
    samples: dict[str, _Sample] = {}
    take = Taker()
    reasons: list[str] = []
    spec: Mapping[str, Any] = {}
    for number, line in parse_lines(data, place):
        where = f"{place}: line {number}"
        if "spec" in line or "final_report" in line:
            spec = take.mapping(line, "spec") or spec
            continue
        sample_id = line.get("sample_id")
        if not isinstance(sample_id, str) or "type" not in line:
            raise bad_log(NAME, f"{where}: it is no event of a sample", next="name the log of oaieval")
        one = samples.setdefault(sample_id, _Sample(f"{where} (sample {sample_id})"))
        _take(one, str(line["type"]), take.mapping(line, "data"), where, take, reasons)
    if not samples:
        raise bad_log(NAME, f"{place}: it holds no events", next="name the log of oaieval")
    if reasons:
        raise Refusal(
            "two-scores",
            f"{place} gives one sample two values of one metric",
            why=reasons,
            next="write the scores that count as CSV (item_id, output, a column a metric): --format csv",
        )
    functions = [one for one in take.listing(spec, "completion_fns") if isinstance(one, str)]
    rows = tuple(_row(sample_id, one) for sample_id, one in samples.items())
    metrics = list(dict.fromkeys(metric for row in rows for metric in row.scores))
    return Log(
        rows=rows,
        made_at=text_of(spec.get("created_at")),
        model=functions[0] if len(functions) == 1 else None,
        primary=CORRECT if CORRECT in metrics else next(iter(metrics), None),
        dropped=take.dropped,
    )


def _take(  # noqa: PLR0917 - one event's parts
    one: _Sample,
    kind: str,
    data: Mapping[str, Any],
    where: str,
    take: Taker,
    reasons: list[str],
) -> None:
    if kind == "sampling":
        if one.has_answer:
            take.dropped[FURTHER] += 1
            return
        sampled = data.get("sampled")
        several = listing(sampled)
        one.sampled, one.has_answer = (several[0] if several else sampled), True
        one.texts += _prompt(data.get("prompt"))
    elif kind == "match":
        _score(one, {CORRECT: data.get("correct")}, where, take, reasons)
        one.picked = data.get("sampled", data.get("picked"))
    elif kind == "metrics":
        _score(one, data, where, take, reasons)
    elif kind == "error":
        one.error = str(data.get("message") or data.get("type") or "an error event")
    elif kind == "raw_sample":
        one.raw = data
        one.texts += texts_in(data)
        one.texts += _prompt(data.get("input"))
    else:
        take.dropped[f"{kind} event"] += 1


def _score(one: _Sample, found: Mapping[str, Any], where: str, take: Taker, reasons: list[str]) -> None:
    for metric, raw in found.items():
        value = score_of(raw, take.dropped)
        if value is not None and one.scores.setdefault(metric, value) != value:
            reasons.append(f"{where}: {metric} is {value}, and {one.scores[metric]} in an event before it")


def _prompt(value: object) -> list[str]:
    """Return the texts of a prompt: itself, or its user messages, the last first."""
    if isinstance(value, str):
        return [value]
    users = [mapping(one).get("content") for one in listing(value) if mapping(one).get("role") == "user"]
    return [text for text in reversed(users) if isinstance(text, str)]


def _row(sample_id: str, one: _Sample) -> Row:
    item_id, sha = named(one.raw)
    output = text_of(one.sampled)
    if output is None and isinstance(one.picked, str):
        output = one.picked
    error = one.error if output is None else None
    return Row(
        place=one.place,
        item_id=item_id,
        item_sha256=sha,
        ids=words(one.raw.get("id"), sample_id),
        texts=tuple(dict.fromkeys(one.texts)),
        output=output,
        error=error,
        scores={} if error is not None else one.scores,
    )
