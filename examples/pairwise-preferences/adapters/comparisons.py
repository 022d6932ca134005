"""The adapter of the example: two answers to one instruction, and which of them is better.

A record is either a comparison (a line of `raw/items.jsonl`) or a judge's verdict on one (a line of
`raw/judge_*.jsonl`, which names the comparison by `idx`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evh.adapters import ClassRow, Result, answers, classification

PRIMARY_METRIC = "correct"
METRIC_KINDS = {"correct": "quality"}
METRIC_DIRECTIONS = {"correct": "higher"}

# The spellings of the three answers: people and PandaLM-7B write 0, gpt-3.5-turbo writes Tie.
WORDS = {"0": "tie", "tie": "tie", "1": "first", "2": "second"}
VERDICT = "Verdict: "

_ITEMS = Path(__file__).resolve().parents[1] / "raw" / "items.jsonl"
_HEAD = re.compile(r"Comparison (\d+)\n")

# --- a record ---


def record_id(record: Mapping[str, Any]) -> str:
    """The comparison's number; a judge's verdict has the number of what it judged."""
    return str(record["idx"])


def item(record: Mapping[str, Any]) -> str:
    """The comparison as a person reads it.

    The number is part of the text. In 170 of the 999 comparisons instruction, input and both answers are
    those of another one too, and the people did not always say the same of both: each comparison must stay
    an item of its own.
    """
    it = _comparisons()[record["idx"]]
    parts = [f"Comparison {it['idx']}", f"INSTRUCTION\n{_shown(it['instruction'])}"]
    if it["input"]:
        parts.append(f"INPUT\n{it['input']}")
    parts += [f"FIRST ANSWER\n{_shown(it['response1'])}", f"SECOND ANSWER\n{_shown(it['response2'])}"]
    return "\n\n".join(parts) + "\n"


def item_id(record: Mapping[str, Any]) -> str:
    """`pair-` and the number, three digits."""
    return f"pair-{record['idx']:03}"


def fields(record: Mapping[str, Any]) -> dict[str, str]:
    """The app that the instruction was written for, and the two models that answered, the first one first."""
    it = _comparisons()[record["idx"]]
    return {"motivation_app": it["motivation_app"], "cmp_key": it["cmp_key"]}


def recorded_output(record: Mapping[str, Any]) -> str | None:
    """A judge's verdict in its own spelling, and its reason; None for a comparison, which has no verdict."""
    if "result" not in record:
        return None
    reason = str(record["reason"]).strip()
    return f"{VERDICT}{record['result']}\n" + (f"\n{reason}\n" if reason else "")


# --- an arm ---


def call_system(text: str, params: Mapping[str, Any]) -> Result:
    """The verdict of an arm that needs no model; `params["model"]` says which."""
    match params["model"]:
        case "longer_v1":
            it = _comparison_of(text)
            first, second = len(_shown(it["response1"])), len(_shown(it["response2"]))
            verdict = "tie" if first == second else "first" if first > second else "second"
        case "always_second_v1":
            verdict = "second"
        case other:
            raise ValueError(f"no arm {other!r} here: the arms are longer_v1, always_second_v1")
    return Result(output=f"{VERDICT}{verdict}\n")


# --- scoring ---


def decide(output: str) -> str:
    """The verdict on the output's first line: tie, first or second.

    Raises:
        ValueError: the verdict could not be read when it was recorded (`garbage`), or is no verdict. The
            item has no decision then: an answer that nobody could read is not a tie.
    """
    said = output.partition("\n")[0].removeprefix(VERDICT).strip().casefold()
    if said in WORDS.values():
        return said
    if said not in WORDS:
        raise ValueError(f"the judge gave no verdict that can be read: {said!r}")
    return WORDS[said]


def score(output: str, reference: str | None) -> dict[str, float]:
    """`correct`: 1 when the verdict is the label's, else 0. Nothing without a label."""
    if reference is None:
        return {}
    return {"correct": 1.0 if decide(output) in answers(reference) else 0.0}


def summarise(rows: Sequence[Any]) -> dict[str, float]:
    """Balanced accuracy, macro-F1, and the share found of each answer; accuracy is the mean of `correct`."""
    pairs = [ClassRow(row.decision, row.reference) for row in rows if row.reference is not None]
    return {name: figure for name, figure in classification(pairs).items() if name != "accuracy"}


# --- the comparisons ---


@cache
def _comparisons() -> dict[int, dict[str, Any]]:
    """The comparisons by number, read once a process."""
    lines = _ITEMS.read_text(encoding="utf-8").split("\n")
    return {one["idx"]: one for one in map(json.loads, filter(None, lines))}


def _comparison_of(text: str) -> dict[str, Any]:
    found = _HEAD.match(text)
    if not found:
        raise ValueError("the text is not one of this project's comparisons")
    return _comparisons()[int(found.group(1))]


def _shown(text: str | bool) -> str:  # noqa: FBT001 - the source has six answers as JSON's true
    """An answer as text: an empty one says so, and JSON's true is True, as the models wrote it."""
    return str(text) if str(text).strip() else "(empty)"
