"""Reading a judge's reply by a strict grammar: a verdict is read, or the reply is a failure that has a name.

A reply is one JSON object, alone or in one fence; or text in which whole lines give the verdict: a JSON
object, ``Verdict: A``, ``Score: 4`` or ``[[A]]``. Only what follows the last ``</think>`` counts. Verdicts
inside a sentence or in a quoted line (``>``) are none, and two different ones are ambiguous.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.acts.judge_prompt import ALPHABET
from evh.records.judge import GRADE, PAIRWISE
from evh.records.shape import is_number
from evh.store.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from evh.records.judge import Judge

WHY = 2_000
"""The longest reason that is kept."""
_FENCE = re.compile(
    r"^[ \t]*```[ \t]*[A-Za-z]*[ \t]*\r?\n(.*?)\r?\n[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL
)
_LEAD = r"[ \t]*(?:[-*#][ \t]+)?[*_`]{0,3}"
_LINE = re.compile(
    _LEAD + r"(?:(?:my|the|final|overall)[ \t]+){0,2}(verdict|winner|choice|score|grade|rating)[*_`]{0,3}"
    r"[ \t]*[:=][ \t]*[*_`]{0,3}[ \t]*(.+?)[ \t]*",
    re.IGNORECASE,
)
_DIMENSION_LINE = re.compile(_LEAD + r"([a-z][a-z0-9_]*)[*_`]{0,3}[ \t]*[:=][ \t]*(.+?)[ \t]*", re.IGNORECASE)
_BRACKETS = re.compile(r"[ \t]*[*_`]{0,3}\[\[[ \t]*([^\[\]]+?)[ \t]*\]\][*_`]{0,3}[.]?[ \t]*")
_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?")
_WORDS = {"tie": "tie", "tied": "tie", "draw": "tie", "neither": "tie", "equal": "tie"}
_ANSWER = re.compile(r"(?:answer|response|option|output)?[ \t]*([A-Za-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict that was read.

    ``places`` are the answers that won, from 0 (all of them for a tie); empty for a grade, whose ``grades``
    are by dimension, the one of a judge without dimensions under the empty text.
    """

    places: tuple[int, ...] = ()
    grades: Mapping[str, float] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A reply in which no verdict could be read, and why.

    ``kind`` is ``unparsed``, ``ambiguous``, ``unknown-letter``, ``off-scale`` or ``no-dimension``; or that of
    a `Failure` where there was no reply.
    """

    kind: str
    says: str


def read(reply: str, judge: Judge, n: int) -> Said | Unread:
    """Return the verdict that a reply gives, or why there is none. Nothing is guessed.

    Args:
        reply: the model's answer.
        judge: what was asked.
        n: how many answers were shown.
    """
    text = reply.rpartition("</think>")[2].strip()
    whole = _object(text)
    fences = _FENCE.findall(text)
    if whole is None and len(fences) == 1 and _FENCE.fullmatch(text):
        whole = _object(fences[0].strip())
    if whole is not None:
        return _of_object(whole, judge, n)
    inside = [raw for one in fences if (raw := _object(one.strip())) is not None]
    found = [_of_object(raw, judge, n) for raw in inside]
    rest = _FENCE.sub("", text)
    found += _of_lines(rest, judge, n)
    if not found and (bare := _bare(text, judge, n)) is not None:
        found = [bare]
    if not found:
        return Unread("unparsed", f"no verdict in: {one_line(text, 120)}" if text else "nothing was said")
    read_ones = [one for one in found if isinstance(one, Said)]
    if not read_ones:
        return found[0]
    first = read_ones[0]
    differing = [
        one for one in read_ones if (one.places, dict(one.grades)) != (first.places, dict(first.grades))
    ]
    if differing or len(read_ones) < len(found):
        return Unread("ambiguous", f"{len(found)} verdicts that are not one: {one_line(text, 120)}")
    return first if first.why else Said(first.places, first.grades, one_line(text, WHY))


def dump(said: Said) -> dict[str, Any]:
    """Return a verdict as its row holds it."""
    return {"places": list(said.places)} if said.places else {"grades": dict(said.grades)}


def load(raw: object) -> Said | None:
    """Return the verdict in a row, or None where it is none that evh wrote."""
    if not isinstance(raw, dict):
        return None
    places, grades = raw.get("places"), raw.get("grades")
    if isinstance(places, list) and places and all(type(one) is int and 0 <= one < 26 for one in places):
        return Said(places=tuple(places))
    if isinstance(grades, dict) and grades and all(is_number(one) for one in grades.values()):
        return Said(grades={str(name): float(value) for name, value in grades.items()})
    return None


def unfit(judge: Judge, keys: Collection[str]) -> Callable[[Mapping[str, Any]], str | None]:
    """Return what tells why a row of one of some questions is no answer to it; None where it is one.

    Args:
        judge: the judge as it is now.
        keys: its questions: a row of another one is left alone.
    """

    def reason(row: Mapping[str, Any]) -> str | None:
        if row["key"] not in keys or "said" not in row:
            return None
        grades = row["said"].get("grades")
        if (judge.kind == GRADE) != (grades is not None):
            return f"said: is no verdict of a judge whose kind is {judge.kind}"
        if grades is None:
            return None
        if set(grades) != set(judge.dimensions or ("",)):
            wanted = ", ".join(judge.dimensions) or "a judge without dimensions"
            return f"said.grades: are not those of {wanted}"
        off = [value for value in grades.values() if not judge.scale.holds(value)]
        return f"said.grades: {off[0]:g} is off the scale {judge.scale}" if off else None

    return reason


def _object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None where it is none, or has a key twice."""
    if not text.startswith("{"):
        return None
    try:
        raw = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def _of_object(raw: Mapping[str, Any], judge: Judge, n: int) -> Said | Unread:
    reason = raw.get("why")
    why = one_line(reason, WHY) if isinstance(reason, str) else ""
    if judge.kind == GRADE:
        if judge.dimensions:
            given = raw.get("scores")
            if not isinstance(given, dict):
                return Unread("unparsed", 'the JSON has no "scores"')
            return _graded(given, judge, why)
        if "score" not in raw:
            return Unread("unparsed", 'the JSON has no "score"')
        return _graded({"": raw["score"]}, judge, why)
    verdict = raw.get("verdict")
    if isinstance(verdict, list) and all(isinstance(one, str) for one in verdict):
        verdict = "|".join(verdict)
    if not isinstance(verdict, str):
        return Unread("unparsed", 'the JSON has no "verdict" that is a text')
    return _chosen(verdict, judge, n, why)


def _of_lines(text: str, judge: Judge, n: int) -> list[Said | Unread]:
    """Return what each line that gives a verdict says."""
    if judge.kind == GRADE and judge.dimensions:
        return _of_dimension_lines(text, judge)
    made: list[Said | Unread] = []
    for line in text.splitlines():
        raw = _object(line.strip())
        if raw is not None and {"verdict", "score"} & raw.keys():
            made.append(_of_object(raw, judge, n))
            continue
        brackets = _BRACKETS.fullmatch(line)
        named = _LINE.fullmatch(line)
        if brackets is None and named is None:
            continue
        value = brackets[1] if brackets else _trimmed(named[2] if named else "")
        graded_word = named is not None and named[1].casefold() in ("score", "grade", "rating")
        if judge.kind == GRADE:
            if brackets or graded_word or (named and named[1].casefold() == "verdict"):
                made.append(_graded({"": _without_of(value, judge)}, judge, ""))
        elif not graded_word:
            made.append(_chosen(value, judge, n, ""))
    return made


def _of_dimension_lines(text: str, judge: Judge) -> list[Said | Unread]:
    given: dict[str, object] = {}
    for line in text.splitlines():
        raw = _object(line.strip())
        if raw is not None and "scores" in raw:
            return [_of_object(raw, judge, 1)]
        found = _DIMENSION_LINE.fullmatch(line)
        name = found[1].casefold() if found else ""
        if found and name in judge.dimensions:
            value = _without_of(_trimmed(found[2]), judge)
            if given.setdefault(name, value) != value:
                return [Unread("ambiguous", f"{name} is graded twice, and not alike")]
    return [_graded(given, judge, "")] if given else []


def _bare(text: str, judge: Judge, n: int) -> Said | Unread | None:
    """Return the verdict of a reply that is nothing but the verdict; None where it is more than that."""
    value = _trimmed(text)
    if judge.kind == GRADE:
        return _graded({"": value}, judge, "") if not judge.dimensions and _NUMBER.fullmatch(value) else None
    made = _chosen(value, judge, n, "") if len(value) <= 60 and "\n" not in value else None
    return made if isinstance(made, Said) or (made and re.fullmatch(r"[A-Za-z]", value)) else None


def _trimmed(value: str) -> str:
    """Return a value without what models put around it: quotes, stars, a full stop."""
    return value.strip().strip("*_`\"'“”").rstrip(".").strip("*_`\"'“” \t")


def _without_of(value: str, judge: Judge) -> str:
    """Return ``4`` of ``4/5`` or ``4 out of 5``, where 5 is the top of the scale."""
    top = f"{judge.scale.high:g}"
    found = re.fullmatch(rf"(-?[\d.]+)[ \t]*(?:/|out of)[ \t]*{re.escape(top)}", value)
    return found[1] if found else value


def _graded(given: Mapping[str, object], judge: Judge, why: str) -> Said | Unread:
    grades: dict[str, float] = {}
    for name in judge.dimensions or ("",):
        if name not in given:
            return Unread("no-dimension", f"{name} is not graded")
        value = given[name]
        if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = float(value)
        if not is_number(value) or not isinstance(value, int | float):
            return Unread("unparsed", f"{one_line(str(value), 40)!r} is no grade")
        if not judge.scale.holds(value):
            return Unread("off-scale", f"{value:g} is off the scale {judge.scale}")
        grades[name] = float(value)
    return Said(grades=grades, why=why)


def _chosen(value: str, judge: Judge, n: int, why: str) -> Said | Unread:
    parts = [_trimmed(one) for one in value.split("|")]
    if len(parts) == 1 and judge.kind == PAIRWISE and parts[0].casefold() in _WORDS:
        return Said(tuple(range(n)), why=why)
    places = set()
    for part in parts:
        found = _ANSWER.fullmatch(part)
        if found is None:
            return Unread("unparsed", f"{one_line(value, 40)!r} is no verdict")
        place = ALPHABET.find(found[1].upper())
        if not 0 <= place < n:
            return Unread("unknown-letter", f"{one_line(value, 40)!r} names an answer that was not shown")
        places.add(place)
    return Said(tuple(sorted(places)), why=why)
