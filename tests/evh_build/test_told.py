"""What tells a context: two texts are equal only where the contexts cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from evh_build.told import Teller


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a context."""

    name: str
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """A context that holds parts."""

    title: str
    parts: tuple[Part, ...]


LONG = "x" * 600
ONE = Whole("a title", (Part("one", (1, 2.5, None)), Part("two", (LONG, True))))


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, title="another"),
        replace(ONE, parts=ONE.parts[:1]),
        replace(ONE, parts=(*ONE.parts, Part("three", ()))),
        replace(ONE, parts=(replace(ONE.parts[0], values=(1.0, 2.5, None)), ONE.parts[1])),
        replace(ONE, parts=(replace(ONE.parts[0], values=(True, 2.5, None)), ONE.parts[1])),
        replace(ONE, parts=(replace(ONE.parts[0], values=("1", 2.5, None)), ONE.parts[1])),
        replace(ONE, parts=(ONE.parts[0], replace(ONE.parts[1], values=(LONG + "x", True)))),
        replace(ONE, parts=(ONE.parts[0], replace(ONE.parts[1], values=((LONG,), True)))),
    ],
)
def test_what_differs_is_told_otherwise(other: Whole) -> None:
    """A text, a part less or more, 1 and 1.0 and true and "1", a long text deep inside: each is seen."""
    teller = Teller()
    assert teller.told(other) != teller.told(ONE)
    assert Teller().told(other) != Teller().told(ONE)


def test_what_says_the_same_is_told_alike() -> None:
    """Another object with the same values, by another teller, has the same text; so has the same one."""
    again = Whole("a title", (Part("one", (1, 2.5, None)), Part("two", ("x" * 600, True))))
    teller = Teller()
    told = teller.told(ONE)
    teller.begin()
    assert teller.told(ONE) == told == Teller().told(again)
    teller.begin()
    teller.begin()  # by now it has forgotten what it told
    assert teller.told(again) == told
