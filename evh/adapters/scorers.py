"""Scores of sets, numbers, fields of JSON and ROUGE, for an adapter of the project's own to import.

Each is against the accepted answer that suits the output best. `scorers_bundled` makes adapters of them.
"""

from __future__ import annotations

import importlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.records.answers import answers, comparable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUMBER = re.compile(
    r"[+\-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|[+\-−]?\.\d+(?:[eE][+-]?\d+)?"
)
_AROUND = " \t\r\n$€£¥%"
_FENCED = re.compile(r"\s*```[A-Za-z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_PLAIN_KEY = re.compile(r"[^A-Za-z0-9_.-]+")
ROUGES = ("rouge1", "rouge2", "rougeL")


def set_match(output: str, reference: str | None, *, sep: str = "", case: bool = True) -> dict[str, float]:
    """Return how the set of an output meets the set of a label.

    A set is written as a JSON list, else its parts are separated by ``sep``; without one by line ends where
    there are any, else by commas. White space around a part does not count, nor does an empty part or a
    repeat.

    Args:
        output: what the arm answered.
        reference: the label's text, or None: nothing is scored.
        sep: what separates the parts.
        case: whether upper and lower case differ.

    Returns:
        ``set_precision``, ``set_recall``, ``set_f1`` = 2 × common / (parts of one + parts of the other), and
        ``correct``: 1 when the sets are equal. Two empty sets give 1; one empty set gives 0.
    """
    if reference is None:
        return {}
    said = parts_of(output, sep, case=case)
    return max(
        (set_figures(said, parts_of(one, sep, case=case)) for one in answers(reference)),
        key=lambda figures: figures["set_f1"],
    )


def numeric(
    output: str, reference: str | None, *, atol: float = 0.0, rtol: float = 1e-9, find: str = "whole"
) -> dict[str, float]:
    """Return whether the number of an output is near enough to the label's.

    A number may have thousands separated by commas, and a currency sign or ``%`` around it, which does not
    count.

    Args:
        output: what the arm answered.
        reference: the label's text, or None: nothing is scored.
        atol: how far off an answer may be.
        rtol: how far off it may be as a share of the label's number; the larger of the two counts.
        find: ``whole``: the output is a number and nothing else; ``last`` or ``first``: one in a longer text.

    Returns:
        ``correct``: |output − label| ≤ max(atol, rtol × |label|); ``parsed``: whether there was a number; and
        where there was, ``abs_error`` and, of a label that is not 0, ``rel_error``.

    Raises:
        ValueError: the label is no number, or ``find`` is none of the three words.
    """
    if reference is None:
        return {}
    value = number_in(output, find)
    if value is None:
        for one in answers(reference):
            _label_number(one)
        return {"correct": 0.0, "parsed": 0.0}
    found = [_near(value, _label_number(one), atol, rtol) for one in answers(reference)]
    return max(found, key=lambda figures: (figures["correct"], -figures["abs_error"]))


def json_fields(output: str, reference: str | None, *, fields: Sequence[str] = ()) -> dict[str, float]:
    """Return which fields of a label, a JSON object, an output gives right.

    A field is right when its JSON value equals the label's; 1 equals 1.0, and white space around a text does
    not count. A fence of backquotes around the output is taken off. A field that the label lacks is not
    looked at.

    Args:
        output: what the arm answered.
        reference: the label's text, or None: nothing is scored.
        fields: the fields that count; by default all of the label's.

    Returns:
        ``field_<name>`` 1 or 0 for each field, ``fields_correct`` their mean, ``correct`` 1 when all are
        right, and ``json_valid``: whether the output is a JSON object at all.

    Raises:
        ValueError: the label is no JSON object, or has none of ``fields``.
    """
    if reference is None:
        return {}
    said = object_in(output)
    found = [_field_figures(said, one, fields) for one in answers(reference)]
    return max(found, key=lambda figures: (figures["correct"], figures["fields_correct"]))


def rouge(output: str, reference: str | None, *, stem: bool = False) -> dict[str, float]:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L, F-measures, as the package rouge-score computes them.

    Args:
        output: what the arm answered.
        reference: the label's text, or None: nothing is scored.
        stem: whether words are stemmed first (Porter).

    Returns:
        ``rouge1``, ``rouge2``, ``rougeL`` against the answer whose ROUGE-L is highest.

    Raises:
        Refusal: the package is not installed.

    Source: Lin (2004), "ROUGE"; google-research/rouge.
    """
    if reference is None:
        return {}
    scoring = rouge_scorer(stem=stem)
    found = []
    for one in answers(reference):
        figures = scoring.score(one, comparable(output))
        found.append({name: float(figures[name].fmeasure) for name in ROUGES})
    return max(found, key=lambda figures: figures["rougeL"])


def number_in(text: str, find: str = "whole") -> float | None:
    """Return the number of a text, or None: it holds none that is finite. See `numeric`."""
    if find == "whole":
        stripped = text.strip(_AROUND)
        written = stripped if _NUMBER.fullmatch(stripped) else None
    elif find in ("first", "last"):
        every = _NUMBER.findall(text)
        written = every[0 if find == "first" else -1] if every else None
    else:
        raise ValueError(f"find is {find!r}; it can be whole, first or last")
    if written is None:
        return None
    value = float(written.replace(",", "").replace("−", "-"))
    return value if math.isfinite(value) else None


def parts_of(text: str, sep: str = "", *, case: bool = True) -> frozenset[str]:
    """Return the parts of a text that is written as a set; see `set_match`."""
    text = comparable(text)
    listed: object = None
    if text.lstrip()[:1] == "[":
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            listed = None
    if isinstance(listed, list):
        parts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in listed]
    else:
        parts = text.split(sep or ("\n" if "\n" in text.strip() else ","))
    stripped = (part.strip() for part in parts)
    return frozenset(part if case else part.casefold() for part in stripped if part)


def set_figures(said: frozenset[str], right: frozenset[str]) -> dict[str, float]:
    """Return the figures of `set_match` for two sets."""
    common = len(said & right)
    if not said or not right:
        same = float(said == right)
        return {"set_precision": same, "set_recall": same, "set_f1": same, "correct": same}
    return {
        "set_precision": common / len(said),
        "set_recall": common / len(right),
        "set_f1": 2 * common / (len(said) + len(right)),
        "correct": float(said == right),
    }


def _label_number(text: str) -> float:
    value = number_in(text)
    if value is None:
        raise ValueError(f"the label {text[:80]!r} is no number")
    return value


def _near(value: float, right: float, most: float, share: float) -> dict[str, float]:
    error = math.fabs(value - right)
    figures = {
        "correct": float(error <= max(most, share * math.fabs(right))),
        "parsed": 1.0,
        "abs_error": error,
    }
    if right:
        figures["rel_error"] = error / math.fabs(right)
    return {name: figure for name, figure in figures.items() if math.isfinite(figure)} | {
        "abs_error": error if math.isfinite(error) else 1.7976931348623157e308
    }


def object_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object of a text, a fence of backquotes around it taken off, or None: it is none."""
    fenced = _FENCED.fullmatch(text)
    text = fenced[1] if fenced else text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _field_figures(said: Mapping[str, Any] | None, label: str, fields: Sequence[str]) -> dict[str, float]:
    right = object_in(label)
    if right is None:
        raise ValueError(f"the label {label[:80]!r} is no JSON object")
    names = [name for name in (fields or right) if name in right]
    if not names:
        raise ValueError(f"the label has none of the fields {', '.join(fields) or '(it is empty)'}")
    found = {
        name: float(said is not None and name in said and _equal(said[name], right[name])) for name in names
    }
    share = math.fsum(found.values()) / len(found)
    return {
        **{f"field_{_PLAIN_KEY.sub('_', name)}": value for name, value in found.items()},
        "fields_correct": share,
        "correct": float(share == 1),
        "json_valid": float(said is not None),
    }


def _equal(one: object, other: object) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return one == other


_scorers: dict[bool, Any] = {}


def rouge_scorer(*, stem: bool = False) -> Any:  # noqa: ANN401 - an untyped package
    """Return the scorer of the package rouge-score, made once; a Refusal where it is not installed."""
    if stem not in _scorers:
        try:
            module = importlib.import_module("rouge_score.rouge_scorer")
        except ImportError as error:
            raise Refusal(
                "needs-rouge",
                "ROUGE needs the package rouge-score",
                why=["the bundled adapter 'rouge' counts with it"],
                next="pip install 'evh[rouge]'",
            ) from error
        _scorers[stem] = module.RougeScorer(list(ROUGES), use_stemmer=stem)
    return _scorers[stem]
