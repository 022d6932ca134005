"""promptfoo's ``results.json``, version 3: what ``promptfoo eval --output`` and ``promptfoo export`` write.

The form is that of ``OutputFile`` and ``EvaluateSummaryV3`` in promptfoo's ``src/types/index.ts``. One file
holds each pair of a provider and a prompt, which are arms of their own: the parts.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evh.acts.import_tools.given import (
    Log,
    Row,
    Taker,
    bad_log,
    listing,
    mapping,
    named,
    parse_json,
    score_of,
    text_of,
    texts_in,
    words,
)
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "promptfoo"
AGAIN = (
    "export it again with a promptfoo of 2025 or later: promptfoo export eval EVAL_ID --output results.json"
)
ERROR = 2
"""``ResultFailureReason.ERROR``; 1 is an assertion that failed: its ``error`` is no failure to answer."""
CACHED = "latency of a cached answer"


def read(data: bytes, place: str) -> Log:
    """Return what the log holds.

    A row's item is ``vars.item_id`` or ``metadata.item_id``, else the test's description or id, else the item
    whose bytes one of the vars is. Scores: ``pass``, ``score`` and each of ``namedScores``.

    Raises:
        Refusal: no results of version 3.
    """
    document = mapping(parse_json(data, place))
    summary = mapping(document.get("results")) if "results" in document else document
    if isinstance(document.get("results"), list):
        summary = document
    if summary.get("version") != 3:
        found = summary.get("version")
        said = "it has no version" if found is None else f"its version is {found!r}, not 3"
        raise bad_log(NAME, f"{place}: {said}", next=AGAIN)
    results = listing(summary.get("results"))
    names = _parts(results)
    take = Taker()
    rows = []
    models = {}
    for number, raw in enumerate(results, start=1):
        result = mapping(raw)
        if not result:
            raise bad_log(NAME, f"{place}: result {number} is not an object", next=AGAIN)
        part = names[_key(result)]
        models[part] = _provider(result)
        rows.append(_row(result, f"{place}: result {number}", part, take))
    meta = take.mapping(document, "metadata")
    return Log(
        rows=tuple(rows),
        version=_text(meta.get("promptfooVersion")),
        made_at=_text(summary.get("timestamp")) or _text(meta.get("evaluationCreatedAt")),
        models=models,
        prompts=_prompts(summary, results, names),
        primary="pass",
        dropped=take.dropped,
    )


def _row(result: Mapping[str, Any], place: str, part: str, take: Taker) -> Row:
    test = take.mapping(result, "testCase")
    variables = take.mapping(result, "vars") or take.mapping(test, "vars")
    metadata = take.mapping(test, "metadata")
    item_id, sha = named(metadata, take.mapping(result, "metadata"), variables)
    response = take.mapping(result, "response")
    output = text_of(response.get("output"))
    error = None
    if result.get("failureReason") == ERROR or (output is None and result.get("error")):
        error = str(result.get("error") or response.get("error") or "promptfoo says that the call failed")
    latency = take.measure(result, "latencyMs")
    if response.get("cached") and latency is not None:
        take.dropped[CACHED] += 1
        latency = None
    usage = take.mapping(response, "tokenUsage") or take.mapping(result, "tokenUsage")
    cost = take.measure(result if result.get("cost") is not None else response, "cost")
    prompt = take.mapping(result, "prompt").get("raw")
    return Row(
        place=place,
        part=part,
        item_id=item_id,
        item_sha256=sha,
        ids=words(
            variables.get("id"), metadata.get("id"), test.get("description"), result.get("description")
        ),
        texts=(*texts_in(variables), *((prompt,) if isinstance(prompt, str) else ())),
        output=output if error is None else None,
        error=error,
        scores={} if error is not None else _scores(result, take),
        latency_ms=latency,
        tokens_in=take.measure(usage, "prompt"),
        tokens_out=take.measure(usage, "completion"),
        cost_usd=cost,
    )


def _scores(result: Mapping[str, Any], take: Taker) -> dict[str, float]:
    found: dict[str, object] = {
        "pass": result.get("success"),
        "score": result.get("score"),
        **{
            f"named.{name}" if name in ("pass", "score") else name: value
            for name, value in take.mapping(result, "namedScores").items()
        },
    }
    made = {name: score_of(value, take.dropped) for name, value in found.items()}
    return {name: value for name, value in made.items() if value is not None}


def _key(result: Mapping[str, Any]) -> tuple[str, str]:
    return _provider(result), str(result.get("promptIdx", 0))


def _provider(result: Mapping[str, Any]) -> str:
    provider = result.get("provider")
    if isinstance(provider, str):
        return provider
    return str(mapping(provider).get("label") or mapping(provider).get("id") or "unnamed")


def _parts(results: list[Any]) -> dict[tuple[str, str], str]:
    """Return a name for each provider with its prompt: the provider's, with the prompt's number if needed."""
    keys = list(dict.fromkeys(_key(mapping(one)) for one in results))
    count = Counter(provider for provider, _ in keys)
    return {key: key[0] if count[key[0]] == 1 else f"{key[0]} prompt {key[1]}" for key in keys}


def _prompts(
    summary: Mapping[str, Any], results: list[Any], names: Mapping[tuple[str, str], str]
) -> dict[str, str]:
    """Return the hash of each part's prompt template: what ``prompts[promptIdx].raw`` holds."""
    templates = listing(summary.get("prompts"))
    made = {}
    for one in results:
        key = _key(mapping(one))
        at = mapping(one).get("promptIdx")
        raw = mapping(templates[at]).get("raw") if isinstance(at, int) and 0 <= at < len(templates) else None
        if isinstance(raw, str):
            made[names[key]] = sha256_text(raw)
    return made


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
