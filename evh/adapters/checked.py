"""What a project's code gives, held against what it may give: numbers, metrics, results, settings."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evh.records.run import MEASURES, bad_measure, bad_score
from evh.store import strict

if TYPE_CHECKING:
    from evh.adapters.results import Result

DIRECTIONS = ("higher", "lower")
RESULT_MEASURES = ("tokens_in", "tokens_out", "cost_usd", "latency_ms")
_NO_METRICS = frozenset({"item_id", "output", "decision", "error", "scores", *MEASURES})


class Unfit(ValueError):
    """What a hook returned cannot be used; its message says why."""


def plain(value: object) -> object:
    """Return a number of another kind (numpy's, a fraction) as Python's own; anything else as it is.

    True and False stay what they are: they are no numbers.
    """
    if type(value) in (int, float, bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        try:
            return float(value)
        except (ArithmeticError, TypeError, ValueError):
            return value
    return value


def metrics(made: object) -> dict[str, float]:
    """Return metrics, ``{name: finite number}``.

    Raises:
        Unfit: it is no mapping, or a name or a value in it is none; with the first of them.
    """
    if not isinstance(made, dict):
        raise Unfit(f"returned {type(made).__name__}, not {{metric: finite number}}")
    found: dict[str, float] = {}
    for key, given in made.items():
        if not isinstance(key, str) or key.startswith("_") or key in _NO_METRICS:
            raise Unfit(f"{key!r} is not a metric's name")
        value = plain(given)
        reason = bad_score(value)
        if reason is not None or not isinstance(value, int | float):
            raise Unfit(f"{key} {_told(given, reason)}")
        found[key] = value
    return found


def result(made: Result) -> Result:
    """Return what a system answered, its numbers as Python's own.

    Raises:
        Unfit: a measure that cannot be one, metrics that are none, what no file can hold.
    """
    measures: dict[str, Any] = {}
    for name in RESULT_MEASURES:
        value = getattr(made, name)
        measures[name] = value if value is None else plain(value)
        reason = None if value is None else bad_measure(measures[name])
        if reason is not None:
            raise Unfit(f"{name} {_told(value, reason)}")
    try:
        extra = metrics(dict(made.extra))
    except Unfit as error:
        raise Unfit(f"extra: {error}") from error
    reason = not_json(dict(made.meta))
    if reason:
        raise Unfit(f"meta {reason}")
    if not is_stored_text(made.output):
        raise Unfit("the output holds a lone surrogate")
    return replace(made, extra=extra, **measures)


def settings(given: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with ``PRIMARY_METRIC``, ``METRIC_KINDS`` and ``METRIC_DIRECTIONS``."""
    reasons = []
    primary = given.get("PRIMARY_METRIC")
    if primary is not None and not (isinstance(primary, str) and primary and is_stored_text(primary)):
        reasons.append(f"PRIMARY_METRIC is {_kind(primary)}, not a metric's name")
    for name in ("METRIC_KINDS", "METRIC_DIRECTIONS"):
        value = given.get(name)
        if value is None:
            continue
        if not isinstance(value, Mapping):
            reasons.append(f"{name} is {_kind(value)}, not a mapping of metrics to texts")
            continue
        allowed = DIRECTIONS if name == "METRIC_DIRECTIONS" else None
        for key, one in value.items():
            if not isinstance(key, str) or not is_stored_text(key):
                reasons.append(f"{name}: {_shown(key)} is not a metric's name")
            elif not isinstance(one, str) or not is_stored_text(one):
                reasons.append(f"{name}[{key!r}] is {_kind(one)}, not a text")
            elif allowed and one not in allowed:
                reasons.append(f"{name}[{key!r}] is {one!r}; it can be {' or '.join(allowed)}")
    return reasons


def not_json(value: dict[Any, Any]) -> str | None:
    """Return why a mapping cannot be stored as JSON, or None when it can."""
    try:
        strict.compact(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"cannot be written as JSON: {error}"
    return None


def is_stored_text(text: str) -> bool:
    """Tell whether a text can be stored as UTF-8: half of a surrogate pair cannot."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _told(value: object, reason: str | None) -> str:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "is true/false, not a number"
    if reason is not None and "not a finite number" not in reason:
        return reason
    return f"is {_shown(value)}, not a finite number"


def _kind(value: object) -> str:
    return f"{type(value).__name__} {_shown(value)}"


def _shown(value: object) -> str:
    try:
        said = repr(value)
    except Exception as error:  # noqa: BLE001 - a value of a project's own class
        return f"a value that cannot be shown ({type(error).__name__})"
    return said if len(said) <= 80 else said[:79] + "…"
