"""The five signals of a sheet's row: why a person should look at it."""

from __future__ import annotations

import json
import operator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from evh.records.answers import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Same = Callable[[str, str], bool]

# A field with more different values than this (an id, a date) has a new one on nearly every row.
MOST_VALUES = 30


@dataclass(frozen=True, slots=True)
class Signals:
    """Which signals a row carries.

    Attributes:
        wrong: the sets that the signal goes by and the first run is wrong against.
        wrong_by: all the sets that the first run is wrong against.
        disagree: the first run decided otherwise than some other run.
        split: the candidates that answered differ among themselves.
        new: the fields whose value the governed dataset never had.
        unlabelled: no set labels the item.
    """

    wrong: tuple[str, ...] = ()
    wrong_by: tuple[str, ...] = ()
    disagree: bool = False
    split: bool = False
    new: tuple[str, ...] = ()
    unlabelled: bool = False

    @property
    def count(self) -> int:
        """How many of the five hold, 0..5; rows sort by it."""
        return sum(map(bool, (self.wrong, self.disagree, self.split, self.new, self.unlabelled)))


def is_wrong(
    decision: str | None, correct: float | None, label: str | None, same: Same = operator.eq
) -> bool:
    """Say whether a run is wrong on an item.

    It is when its metric ``correct`` against the label is 0; where it has none, when no answer of the label
    is the same as its decision. Without a label, or with neither metric nor decision, it is not.

    Args:
        decision: the run's decision; None when it gave none.
        correct: its metric ``correct`` against this label; None when its adapter has none.
        label: the item's canonical label text; None when it has none.
        same: the first run's adapter's ``same(decision, answer)``.
    """
    if label is None:
        return False
    if correct is not None:
        return correct == 0
    if decision is None:
        return False
    return not any(same(decision, answer) for answer in answers(label))


def disagree(decisions: Sequence[str | None], same: Same = operator.eq) -> bool:
    """Say whether the first run decided otherwise than any other run that answered.

    Args:
        decisions: one a run, the first run's first; None where a run gave none.
        same: the first run's adapter's ``same(a, b)``.
    """
    if not decisions or decisions[0] is None:
        return False
    first = decisions[0]
    return any(not same(first, other) for other in decisions[1:] if other is not None)


def split(decisions: Sequence[str | None], same: Same = operator.eq) -> bool:
    """Say whether two or more candidates answered and differ among themselves.

    Args:
        decisions: one a run; the first is not a candidate. None where a run gave none.
        same: the first run's adapter's ``same(a, b)``.

    Cost: every two candidates, so it holds for a ``same`` that is not transitive.
    """
    answered = [decision for decision in decisions[1:] if decision is not None]
    return any(not same(a, b) for a, b in combinations(answered, 2))


def seen_values(rows: Iterable[Mapping[str, object]], most: int = MOST_VALUES) -> dict[str, frozenset[str]]:
    """Collect the values that each field of a dataset has, as ``new_fields`` compares them.

    Args:
        rows: the fields of each item, name → text, number or bool.
        most: a field with more different values than this is left out.

    Cost: one pass.
    """
    values: dict[str, set[str]] = {}
    for fields in rows:
        for name, value in fields.items():
            if value is not None:
                values.setdefault(name, set()).add(_identity(value))
    return {name: frozenset(had) for name, had in values.items() if len(had) <= most}


def new_fields(fields: Mapping[str, object], seen: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the names of the fields, sorted, whose value is not among those seen.

    Values compare by JSON type and value: 1, "1" and true differ; 1 and 1.0 are one number. A field that
    ``seen`` lacks (too many values there, or none at all) is never new, nor is one that is null.

    Args:
        fields: the item's fields, name → text, number or bool.
        seen: what ``seen_values`` gave for the governed dataset.
    """
    return tuple(
        sorted(
            name
            for name, value in fields.items()
            if value is not None and name in seen and _identity(value) not in seen[name]
        )
    )


def _identity(value: object) -> str:
    """Return a text with a quote before it, else the value as JSON, which tells the types apart."""
    if isinstance(value, str):
        return f'"{value}'
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)
