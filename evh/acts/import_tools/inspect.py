"""Inspect's logs in JSON (``EvalLog``, version 2), as ``inspect log convert --to json`` writes them.

The form is that of ``EvalLog``, ``EvalSample`` and ``Score`` in inspect_ai. Epochs are repeats of one arm. A
score of ``C``, ``I``, ``P`` or ``N`` counts 1, 0, 0.5 and 0, as Inspect's own ``value_to_float`` has it; NaN
is Inspect's mark for "unscored", so there is no score.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools.given import (
    NO_NUMBER,
    Log,
    Row,
    Taker,
    bad_log,
    listing,
    mapping,
    named,
    parse_json,
    text_of,
    texts_in,
    words,
)
from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "inspect"
CONVERT = "inspect log convert --to json --output-dir converted FILE.eval, then import converted/FILE.json"
UNSCORED = "score that Inspect marks as unscored (NaN)"
FURTHER = "further choices of one sample"
SETTINGS = ("temperature", "max_tokens", "top_p", "top_k", "seed", "stop_seqs", "reasoning_effort")
_ZIP = b"PK\x03\x04"
_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_YES_NO = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_ATTACHED = re.compile(r"attachment://([0-9a-f]{32})")


def read(data: bytes, place: str) -> Log:
    """Return what the log holds.

    A sample's item is its ``metadata.item_id``, else its id, else the item whose bytes its input is. A
    scorer's value is a metric of its name; one that holds several is ``scorer.key`` for each.

    Raises:
        Refusal: a ``.eval`` archive, a log of another version or one without its samples.
    """
    if data.startswith(_ZIP) or place.endswith(".eval"):
        raise Refusal(
            "eval-archive",
            "an .eval log is an archive in a form of Inspect's own",
            why=[f"{place}: evh reads Inspect's logs in JSON"],
            next=CONVERT.replace("FILE", place.rsplit("/", 1)[-1].removesuffix(".eval").split(":")[0]),
        )
    document = mapping(parse_json(data, place))
    if document.get("version") != 2 or not isinstance(document.get("eval"), dict):
        raise bad_log(NAME, f"{place}: it is not an EvalLog of version 2", next=CONVERT)
    samples = document.get("samples")
    if not isinstance(samples, list):
        raise bad_log(NAME, f"{place}: it holds a header and no samples", next=CONVERT)
    spec = mapping(document["eval"])
    take = Taker()
    rows = tuple(_row(mapping(one), place, number, take) for number, one in enumerate(samples, start=1))
    status = document.get("status")
    config = {
        **mapping(mapping(document.get("plan")).get("config")),
        **mapping(spec.get("model_generate_config")),
    }
    return Log(
        rows=rows,
        version=text_of(mapping(spec.get("packages")).get("inspect_ai")),
        made_at=text_of(spec.get("created")),
        model=text_of(spec.get("model")),
        settings=take.settings(config, SETTINGS),
        repeats=True,
        primary=next((metric for row in rows for metric in row.scores), None),
        dropped=take.dropped,
        notes=() if status in (None, "success") else (f"{place}: Inspect ended with status {status!r}",),
    )


def _row(sample: Mapping[str, Any], place: str, number: int, take: Taker) -> Row:
    metadata = take.mapping(sample, "metadata")
    item_id, sha = named(metadata)
    held = take.mapping(sample, "attachments")
    attached = {key: one for key, one in held.items() if isinstance(one, str)}
    output = take.mapping(sample, "output")
    answer, error = _answer(output, take), None
    said = sample.get("error")
    if said is not None or (answer is None and output.get("error")):
        error = str(mapping(said).get("message") or said or output.get("error"))
    usage = _usage(sample, output, take)
    seconds = take.measure(output, "time")
    if seconds is None:
        seconds = take.measure(sample, "working_time")
    return Row(
        place=f"{place}: sample {sample.get('id', number)!r}",
        part=str(sample.get("epoch", 1)),
        item_id=item_id,
        item_sha256=sha,
        ids=words(sample.get("id")),
        texts=tuple(_whole(text, attached) for text in (*_asked(sample.get("input")), *texts_in(metadata))),
        output=None if error is not None or answer is None else _whole(answer, attached),
        error=error,
        scores={} if error is not None else _scores(sample, take),
        latency_ms=None if seconds is None else seconds * 1000,
        tokens_in=take.measure(usage, "input_tokens"),
        tokens_out=take.measure(usage, "output_tokens"),
        cost_usd=take.measure(usage, "total_cost"),
    )


def _answer(output: Mapping[str, Any], take: Taker) -> str | None:
    choices = take.listing(output, "choices")
    if len(choices) > 1:
        take.dropped[FURTHER] += len(choices) - 1
    completion = output.get("completion")
    if isinstance(completion, str) and completion:
        return completion
    first = take.mapping(mapping(choices[0] if choices else None), "message")
    return _content(first.get("content")) if first else (completion if completion == "" else None)


def _content(value: object) -> str | None:
    """Return the text of a message: what it holds, or the text parts of a list of contents."""
    if isinstance(value, list):
        parts = [mapping(one).get("text") for one in value if mapping(one).get("type") == "text"]
        return "\n".join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else None


def _asked(value: object) -> tuple[str, ...]:
    """Return the texts of a sample's input: the input itself, or each message of a user, the last first."""
    if isinstance(value, str):
        return (value,)
    users = [mapping(one) for one in listing(value) if mapping(one).get("role") == "user"]
    texts = [_content(one.get("content")) for one in reversed(users)]
    return tuple(text for text in texts if text)


def _whole(text: str, attached: Mapping[str, str]) -> str:
    """Return a text with the attachments put back in that Inspect took out of it."""
    return _ATTACHED.sub(lambda found: attached.get(found[1], found[0]), text)


def _usage(sample: Mapping[str, Any], output: Mapping[str, Any], take: Taker) -> Mapping[str, Any]:
    """Return what the sample took: of its one model where it says so, else of its last call."""
    by_model = take.mapping(sample, "model_usage")
    if len(by_model) == 1:
        return take.mapping(by_model, next(iter(by_model)))
    return take.mapping(output, "usage")


def _scores(sample: Mapping[str, Any], take: Taker) -> dict[str, float]:
    made: dict[str, float] = {}
    for scorer, raw in take.mapping(sample, "scores").items():
        value = mapping(raw).get("value")
        parts = (
            {f"{scorer}.{key}": one for key, one in value.items()}
            if isinstance(value, dict)
            else {scorer: value}
        )
        for metric, one in parts.items():
            number = _number(one)
            if number is None:
                take.dropped[NO_NUMBER] += 1
            elif number != number:  # noqa: PLR0124 - `isnan` fails on a whole number of 400 digits
                take.dropped[UNSCORED] += 1
            else:
                made[metric] = number
    return made


def _number(value: object) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value) if isinstance(value, bool) else value
    if not isinstance(value, str):
        return None
    if value in _WORDS:
        return _WORDS[value]
    if value.lower() in _YES_NO:
        return _YES_NO[value.lower()]
    return float(value) if _NUMBER.fullmatch(value) else None
