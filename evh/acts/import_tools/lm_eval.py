"""lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, as ``lm_eval --log_samples`` writes it.

A line is one document through one filter; several filters are parts. A multiple-choice line has no text of
its
own: its output is the choice whose log-likelihood is highest, which is what the harness's ``acc`` counts.
"""

from __future__ import annotations

import math
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
    texts_in,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "lm-eval"
FURTHER = "further responses to one document"
_OWN = frozenset(
    {
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
        "prompt_hash", "target_hash", "schema_version", "task_name", "raw_resps",
    }
)  # fmt: skip
_SETTINGS = ("temperature", "top_p", "top_k", "max_gen_toks", "do_sample", "until")


def read(data: bytes, place: str) -> Log:
    """Return what the samples hold.

    A line's item is its ``doc.item_id``, else its ``doc.id`` or ``doc_id``, else the item whose bytes are one
    of the document's texts or the prompt. Its scores are the metrics that it names, else every number in it.

    Raises:
        Refusal: a line without a document, such as those of ``results_*.json``.
    """
    take = Taker()
    rows = []
    settings: list[Mapping[str, Any]] = []
    primary = None
    for number, line in parse_lines(data, place):
        where = f"{place}: line {number}"
        if "doc_id" not in line or not ({"filtered_resps", "resps"} & line.keys()):
            raise bad_log(
                NAME,
                f"{where}: it has no doc_id with its responses",
                next="name the samples_*.jsonl of lm_eval --log_samples --output_path DIR",
            )
        asked = _arguments(line, take)
        settings.append(_sent(asked, take))
        scores = _scores(line, take)
        primary = primary or next(iter(scores), None)
        document = take.mapping(line, "doc")
        item_id, sha = named(document)
        prompts = [one[0] for one in asked if one and isinstance(one[0], str)]
        rows.append(
            Row(
                place=f"{where} (doc {line['doc_id']})",
                part=str(line.get("filter") or ""),
                item_id=item_id,
                item_sha256=sha,
                ids=words(document.get("id"), line.get("doc_id")),
                texts=(*texts_in(document), *dict.fromkeys(prompts)),
                output=_output(line, asked, take),
                scores=scores,
            )
        )
    first = settings[0] if settings else {}
    same = all(one == first for one in settings)
    return Log(rows=tuple(rows), settings=dict(first) if same else {}, primary=primary, dropped=take.dropped)


def _arguments(line: Mapping[str, Any], take: Taker) -> list[list[Any]]:
    """Return the arguments of each request, from both forms: lists, and ``{gen_args_0: {arg_0: …}}``."""
    value = line.get("arguments")
    if isinstance(value, dict):
        return [list(take.mapping(value, key).values()) for key in value]
    found = take.listing(line, "arguments")
    made = [list(one) for one in found if isinstance(one, list)]
    if len(made) < len(found):
        take.dropped["arguments of a request that are no list"] += len(found) - len(made)
    return made


def _sent(asked: Sequence[Sequence[Any]], take: Taker) -> dict[str, Any]:
    options = mapping(asked[0][1]) if asked and len(asked[0]) > 1 else {}
    return take.settings(options, _SETTINGS)


def _output(line: Mapping[str, Any], asked: Sequence[Sequence[Any]], take: Taker) -> str | None:
    found = take.listing(line, "filtered_resps")
    choices = [_likelihood(one) for one in found]
    if len(found) == len(asked) and found and all(one is not None for one in choices):
        offered = [one[1] if len(one) > 1 and isinstance(one[1], str) else None for one in asked]
        best = max(range(len(choices)), key=lambda at: choices[at] or -math.inf)
        chosen = offered[best]
        return None if chosen is None else chosen.strip()
    if not found:
        found = [one for each in take.listing(line, "resps") for one in (listing(each) or [each])]
    texts = [text for one in found for text in (listing(one) or [one]) if isinstance(text, str)]
    if len(texts) > 1:
        take.dropped[FURTHER] += len(texts) - 1
    if found and not texts:
        take.dropped["response that is no text"] += 1
    return texts[0] if texts else None


def _likelihood(value: object) -> float | None:
    """Return the log-likelihood of ``[ll, is_greedy]``; the harness writes both as texts or as they are."""
    pair = listing(value)
    if len(pair) != 2 or str(pair[1]) not in ("True", "False"):
        return None
    try:
        return float(pair[0])
    except (TypeError, ValueError, OverflowError):
        return None


def _scores(line: Mapping[str, Any], take: Taker) -> dict[str, float]:
    named_there = take.listing(line, "metrics")
    listed = [name for name in named_there if isinstance(name, str)]
    lacking = len(named_there) - sum(name in line for name in listed)
    if lacking:
        take.dropped["metric that is named and not there"] += lacking
    names = listed or [name for name in line if name not in _OWN]
    made = {name: score_of(line[name], take.dropped) for name in names if name in line}
    return {name: value for name, value in made.items() if value is not None}
