"""The adapter of the seven models: an answer is as good as the claims in it, by people's word.

A record is one model's answer to one question (a line of `raw/<model>.jsonl`): the question's id, the
answer, and each claim that was taken out of it with what people said of it: Entailment, Neutral or
Contradiction. A label of a question is what people said of every model's claims on it, a claim a line:
`model: verdict: claim`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

PRIMARY_METRIC = "supported"
METRIC_KINDS = {
    "supported": "quality",
    "contradicted": "quality",
    "correct": "quality",
    "claims_supported": "quality",
    "claims_contradicted": "quality",
    "answered": "descriptive",
    "claims_per_answer": "descriptive",
}
METRIC_DIRECTIONS = {
    "supported": "higher",
    "contradicted": "lower",
    "correct": "higher",
    "claims_supported": "higher",
    "claims_contradicted": "lower",
}

SAID = {"Entailment": "supported", "Contradiction": "contradicted", "Neutral": "neither"}
_HEAD = re.compile(r"(\S+): (\d+) claims?: (\d+) supported, (\d+) contradicted, (\d+) neither\n")

# --- a record ---


def record_id(record: Mapping[str, Any]) -> str:
    """The question's id: a model answers each question once."""
    return str(record["item"])


def item(record: Mapping[str, Any]) -> str:
    """The question's id: the data has no question's text."""
    return str(record["item"])


def recorded_output(record: Mapping[str, Any]) -> str:
    """What people counted, then the answer as it was given, then each claim with what people said of it.

    The counts come first, so that nothing in an answer can pass for them.
    """
    n = len(record["claims"])
    said = Counter(SAID[verdict] for _, verdict in record["claims"])
    counts = ", ".join(f"{said[word]} {word}" for word in SAID.values())
    parts = [
        f"{record['arm']}: {n} claim{'' if n == 1 else 's'}: {counts}\n",
        record["response"].strip("\n") + "\n",
        "".join(f"{SAID[verdict]}: {' | '.join(claim)}\n" for claim, verdict in record["claims"]),
    ]
    return "\n".join(filter(None, parts))


# --- scoring ---


def decide(output: str) -> str:
    """The answer as a whole, by its worst claim: contradicted, unsupported, supported, or no claims."""
    _, n, supported, contradicted = _read(output)
    if not n:
        return "no claims"
    if contradicted:
        return "contradicted"
    return "supported" if supported == n else "unsupported"


def score(output: str, reference: str | None) -> dict[str, float]:
    """How an answer's claims fare by the label.

    - `supported`, `contradicted`: the share of the claims that a source bears out, or denies; the rest is
      neither.
    - `correct`: 1 when the answer makes a claim and every claim is supported.

    An answer without a claim (a question in return, the words of a song) has no shares: it counts in no mean
    of them.

    Raises:
        ValueError: the label speaks of more or fewer claims than the answer has.
    """
    if reference is None:
        return {}
    model, n, _, _ = _read(output)
    said = [line.split(": ", 2)[1] for line in reference.split("\n") if line.startswith(f"{model}: ")]
    if len(said) != n:
        raise ValueError(f"{model} makes {n} claims, and the label speaks of {len(said)}")
    if not n:
        return {"correct": 0.0}
    supported = said.count("Entailment")
    return {
        "supported": supported / n,
        "contradicted": said.count("Contradiction") / n,
        "correct": 1.0 if supported == n else 0.0,
    }


def summarise(rows: Sequence[Any]) -> dict[str, float]:
    """The shares of all claims together, the share of answers with a claim, and the claims an answer makes.

    In `claims_supported` and `claims_contradicted` a long answer weighs as much as its claims.
    """
    counts = [(_read(row.output)[1], row.metrics) for row in rows if row.reference is not None]
    total = sum(n for n, _ in counts)
    if not total:
        return {}
    return {
        "answered": sum(n > 0 for n, _ in counts) / len(counts),
        "claims_per_answer": total / len(counts),
        **{
            f"claims_{name}": sum(round(metrics[name] * n) for n, metrics in counts if n) / total
            for name in ("supported", "contradicted")
        },
    }


def _read(output: str) -> tuple[str, int, int, int]:
    """The model of an output, and how many claims it makes, supported ones and contradicted ones."""
    found = _HEAD.match(output)
    if not found:
        raise ValueError("the first line does not count claims: this is no output of answers.py")
    return found[1], int(found[2]), int(found[3]), int(found[4])
