"""A label's text: exactly what a scorer reads. One answer is itself; several are a canonical accept-list."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable


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
        try:
            value = json.loads(text)
        except ValueError:
            return (text,)
        if isinstance(value, dict) and set(value) == {"accept"}:
            accepted = value["accept"]
            if isinstance(accepted, list) and accepted and all(isinstance(one, str) for one in accepted):
                return tuple(sorted(set(accepted)))
    return (text,)


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
