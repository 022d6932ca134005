"""The adapter of claim checkers: does a source bear a claim out? An item is one claim of one answer.

The checkers here need no network. They see the claim and what the other models answered to the same question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evh.adapters import ClassRow, Result, answers, classification

PRIMARY_METRIC = "balanced_accuracy"
METRIC_KINDS = {"correct": "quality"}
METRIC_DIRECTIONS = {"correct": "higher"}

_RAW = Path(__file__).resolve().parents[1] / "raw"
_HEAD = re.compile(r"Question (\S+)\n")
_WORD = re.compile(r"\w+")
_LITTLE = "a an and are as at by did do for from had has have in is it its of on or that the to was were"
_SMALL = frozenset(_LITTLE.split())
# Chosen before any label was read: most of a claim's words, in at least half of the other answers.
_MOST_WORDS = 0.75
_HALF = 0.5


def call_system(text: str, params: Mapping[str, Any]) -> Result:
    """One checker's word on one claim; `params["model"]` says which checker.

    Raises:
        ValueError: there is no checker of that name here, or the text is no claim of this project.
    """
    match params["model"]:
        case "consensus_v1":
            return Result(output=_consensus(text, str(params["about"])))
        case "always_entailment_v1":
            return Result(output="entailment")
        case other:
            raise ValueError(f"no checker {other!r} here: they are consensus_v1, always_entailment_v1")


def fingerprint(params: Mapping[str, Any]) -> dict[str, str]:
    """The answers that the consensus was read from decide what it says."""
    if params["model"] != "consensus_v1":
        return {}
    import hashlib

    others = sorted(path for path in _RAW.glob("*.jsonl") if path.stem != params["about"])
    return {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in others}


def decide(output: str) -> str:
    """The class, without the space around it."""
    return output.strip().casefold()


def score(output: str, reference: str | None) -> dict[str, float]:
    """`correct`: 1 when the class is the label's, else 0."""
    if reference is None:
        return {}
    return {"correct": 1.0 if decide(output) in answers(reference) else 0.0}


def summarise(rows: Sequence[Any]) -> dict[str, float]:
    """Accuracy, balanced accuracy, macro-F1 and the share found of each class."""
    return classification(
        [ClassRow(row.decision, row.reference) for row in rows if row.reference is not None]
    )


def _consensus(text: str, about: str) -> str:
    """Entailment when at least half of the other answers have most of the claim's words, else neutral."""
    head = _HEAD.match(text)
    if not head:
        raise ValueError("the text does not start with a question's id")
    claim = _words(text.rstrip("\n").rpartition("\n")[2])
    others = [words for model, words in _answers()[head.group(1)].items() if model != about]
    agree = sum(len(claim & words) >= _MOST_WORDS * len(claim) for words in others)
    return "entailment" if agree >= _HALF * len(others) else "neutral"


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _SMALL


@cache
def _answers() -> dict[str, dict[str, frozenset[str]]]:
    """The words of every answer, by question and model, read once a process."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for path in sorted(_RAW.glob("*.jsonl")):
        for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
            record = json.loads(line)
            if "response" in record:
                found.setdefault(record["item"], {})[record["arm"]] = _words(record["response"])
    return found
