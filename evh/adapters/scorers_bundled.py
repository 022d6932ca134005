"""The bundled adapters that take options: ``adapter: numeric:atol=0.5,find=last`` in a config."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.adapters.scorers import (
    json_fields,
    number_in,
    numeric,
    object_in,
    parts_of,
    rouge,
    rouge_scorer,
    set_figures,
    set_match,
)
from evh.errors import Refusal
from evh.records.answers import answers, comparable

if TYPE_CHECKING:
    from evh.adapters.results import ScoredRow


@dataclass(frozen=True, slots=True)
class Scorer:
    """A bundled scorer as the loader takes it: its hooks and its settings."""

    hooks: Mapping[str, Callable[..., Any]]
    settings: Mapping[str, Any] = field(default_factory=dict)


def scorer(name: str) -> Scorer:
    """Return the scorer that ``name:option=value,option=value`` names.

    Raises:
        Refusal: an option that it does not take, a value that is none, a package that is missing.
    """
    base, _, rest = name.partition(":")
    make, known = SCORERS[base]
    options: dict[str, Any] = {}
    reasons = []
    for part in rest.split(",") if rest else ():
        key, _, text = part.partition("=")
        key = key.strip()
        if key not in known:
            reasons.append(f"{name!r}: {key!r} is none of its options: {', '.join(known)}")
            continue
        value = known[key](text.strip())
        if value is None:
            reasons.append(f"{name!r}: {key}: {text.strip()!r} cannot be read")
        options[key] = value
    if reasons:
        raise Refusal(
            "bad-adapter-options",
            f"the bundled adapter {base!r} is asked for what it does not take",
            why=reasons,
            next="evh help adapters; mend the adapter in the config or in evh.toml",
        )
    return make(options)


def _set_scorer(options: Mapping[str, Any]) -> Scorer:
    def score(output: str, reference: str | None) -> dict[str, float]:
        return set_match(output, reference, **options)

    def summarise(rows: Sequence[ScoredRow]) -> dict[str, float]:
        return _micro(rows, options)

    def decide(output: str) -> str:
        parts = parts_of(output, options.get("sep", ""), case=options.get("case", True))
        return json.dumps(sorted(parts), ensure_ascii=False)

    return Scorer({"score": score, "summarise": summarise, "decide": decide}, {"PRIMARY_METRIC": "set_f1"})


def _numeric_scorer(options: Mapping[str, Any]) -> Scorer:
    def score(output: str, reference: str | None) -> dict[str, float]:
        return numeric(output, reference, **options)

    def decide(output: str) -> str:
        value = number_in(output, options.get("find", "whole"))
        if value is None:
            return comparable(output)
        return str(int(value)) if value.is_integer() and math.fabs(value) < 1e15 else repr(value)

    return Scorer(
        {"score": score, "decide": decide},
        {
            "PRIMARY_METRIC": "correct",
            "METRIC_KINDS": {"parsed": "descriptive"},
            "METRIC_DIRECTIONS": {"abs_error": "lower", "rel_error": "lower"},
        },
    )


def _fields_scorer(options: Mapping[str, Any]) -> Scorer:
    def score(output: str, reference: str | None) -> dict[str, float]:
        return json_fields(output, reference, **options)

    def decide(output: str) -> str:
        said = object_in(output)
        if said is None:
            return comparable(output)
        kept = {key: said[key] for key in options.get("fields") or said if key in said}
        return json.dumps(kept, ensure_ascii=False, sort_keys=True)

    return Scorer({"score": score, "decide": decide}, {"PRIMARY_METRIC": "fields_correct"})


def _rouge_scorer(options: Mapping[str, Any]) -> Scorer:
    rouge_scorer(**options)  # refused now, not once an item

    def score(output: str, reference: str | None) -> dict[str, float]:
        return rouge(output, reference, **options)

    return Scorer({"score": score}, {"PRIMARY_METRIC": "rougeL"})


def _text(text: str) -> str | None:
    return {"comma": ",", "semicolon": ";", "bar": "|", "space": " ", "line": "\n"}.get(text, text) or None


def _yes_no(text: str) -> bool | None:
    return {"true": True, "yes": True, "false": False, "no": False}.get(text.lower())


def _tolerance(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _find(text: str) -> str | None:
    return text if text in ("whole", "first", "last") else None


def _names(text: str) -> tuple[str, ...] | None:
    return tuple(part.strip() for part in text.split("|") if part.strip()) or None


Reading = Callable[[str], Any]
SCORERS: Mapping[str, tuple[Callable[[Mapping[str, Any]], Scorer], Mapping[str, Reading]]] = {
    "set_match": (_set_scorer, {"sep": _text, "case": _yes_no}),
    "numeric": (_numeric_scorer, {"atol": _tolerance, "rtol": _tolerance, "find": _find}),
    "json_fields": (_fields_scorer, {"fields": _names}),
    "rouge": (_rouge_scorer, {"stem": _yes_no}),
}
"""Name → what makes the scorer, and the options that it takes with how each is read."""


def _micro(rows: Sequence[ScoredRow], options: Mapping[str, Any]) -> dict[str, float]:
    """Return precision, recall and F1 over the parts of all items together; undefined ones are absent."""
    sep, case = options.get("sep", ""), options.get("case", True)
    common = said_all = right_all = 0
    for row in rows:
        if row.reference is None:
            continue
        said = parts_of(row.output, sep, case=case)
        right = max(
            (parts_of(one, sep, case=case) for one in answers(row.reference)),
            key=lambda one, said=said: set_figures(said, one)["set_f1"],  # type: ignore[misc]
        )
        common, said_all, right_all = common + len(said & right), said_all + len(said), right_all + len(right)
    figures = {}
    if said_all:
        figures["micro_precision"] = common / said_all
    if right_all:
        figures["micro_recall"] = common / right_all
    if said_all + right_all:
        figures["micro_f1"] = 2 * common / (said_all + right_all)
    return figures
