"""A label's text: exactly what a scorer reads. One answer is itself; several are a canonical accept-list."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

_BEGINS = re.compile(r'\s*\{\s*"accept"\s*:')


def canonical(accepted: Iterable[str]) -> str:
    """Return the one text that means "any of these is right": sorted, without repeats.

    A single answer is that text; several are ``{"accept": ["a", "b"]}``.

    Raises:
        Refusal: no answer at all.
    """
    unique = sorted(set(accepted))
    if not unique:
        raise Refusal("empty-label", "a label accepts at least one answer")
    if len(unique) == 1:
        return unique[0]
    return json.dumps({"accept": unique}, ensure_ascii=False)


@lru_cache(maxsize=65536)
def answers(reference: str) -> tuple[str, ...]:
    """Return the answers that a label or reference text accepts; a plain text accepts itself.

    One trailing LF is dropped first: it is part of a file's bytes, never of the answer.
    """
    text = comparable(reference)
    if text.startswith("{"):
        return listed(text) or (text,)
    return (text,)


def listed(text: str) -> tuple[str, ...] | None:
    """Return the answers of an accept-list, sorted and without repeats, or None: it is any other text."""
    accepted = _accepted(text)
    return None if accepted is None or _fault(accepted) else tuple(sorted(set(accepted[0])))


def malformed(text: str) -> str | None:
    """Return why a text that is written as an accept-list is none, or None: it is one, or any other text.

    Readers take such a text for a plain answer; whoever writes a label should learn of it.
    """
    accepted = _accepted(text)
    if accepted is None:
        return "it cannot be read as JSON" if _BEGINS.match(text) and not _is_json(text) else None
    fault = _fault(accepted)
    if fault is None and any(_accepted(one) is not None for one in accepted[0]):
        return "an answer in it is an accept-list itself"
    return "an answer in it is empty" if fault is None and not all(accepted[0]) else fault


def _accepted(text: str) -> list[Any] | None:
    """Return each value of ``accept`` in a JSON object that has no other key; None: it is not such a one."""
    try:
        value = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):  # a text nested thousands deep is a text like any other
        return None
    if isinstance(value, tuple) and value and all(key == "accept" for key, _ in value):
        return [one for _, one in value]
    return None


def _fault(accepted: list[Any]) -> str | None:
    """Return why the values of ``accept`` are no list of answers, or None."""
    if len(accepted) > 1:
        return "accept stands in it twice"
    if not isinstance(accepted[0], list) or not all(isinstance(one, str) for one in accepted[0]):
        return "accept is not a list of texts"
    if not accepted[0]:
        return "it accepts no answer"
    if any("\ud800" <= char <= "\udfff" for one in accepted[0] for char in one):
        return "an answer in it holds a lone surrogate"
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def comparable(text: str) -> str:
    """Return ``text`` without one trailing LF: the form that is compared and scored, never hashed."""
    return text.removesuffix("\n")


def same_answers(one: str, other: str) -> bool:
    """Tell whether two labels accept the same answers: what agreement counts."""
    return answers(one) == answers(other)


def share_answer(one: str, other: str) -> bool:
    """Tell whether two labels accept different answers that meet: counted apart, never as agreement."""
    a, b = answers(one), answers(other)
    return a != b and not set(a).isdisjoint(b)


def shown(reference: str) -> str:
    """Return a label as views show it: ``escalate or file``."""
    return " or ".join(answers(reference))
