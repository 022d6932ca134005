"""Every two arms of a field, their p corrected for all of the pairs being looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.field_model import FieldPair
from evh.measure.significance import holm
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.field_model import Field, FieldArm
    from evh.acts.field_tests import Tests


def pairs(
    found: Tests, ranked: Sequence[FieldArm], places: Sequence[int], *, higher: bool, alpha: float
) -> tuple[FieldPair, ...]:
    """Return every two of a field's arms that may lead, the better ranked of the two first.

    A flagged arm and a floor are in no pair, as they are in no correction.

    Args:
        found: the tests.
        ranked: the field's arms in their order.
        places: the place of each of them among the columns that were tested.
        higher: whether more is better.
        alpha: the level.

    Cost: one look-up a pair.
    """
    able = [
        (one.name, place)
        for one, place in zip(ranked, places, strict=True)
        if not one.flagged and not one.floor and one.value is not None
    ]
    tests = []
    for at, (first, a) in enumerate(able):
        for second, b in able[at + 1 :]:
            test = found.pair(a, b)
            tests.append((first, second, test if higher else test.turned()))
    corrected = iter(holm([test.p for _, _, test in tests if test.p is not None]))
    made = []
    for first, second, test in tests:
        p_holm = None if test.p is None else next(corrected)
        made.append(
            FieldPair(
                a=first,
                b=second,
                n=test.n,
                difference=test.difference,
                low=test.low,
                high=test.high,
                p=test.p,
                p_holm=p_holm,
                apart=p_holm is not None and p_holm < alpha,
            )
        )
    return tuple(made)


def correction(made: Field) -> str:
    """Return how the pairs' p is corrected, in words; empty where no test is made."""
    tested = sum(one.p is not None for one in made.pairs)
    if not tested:
        return ""
    if tested == 1:
        return "none: there is one pair"
    return f"Holm over {plural(tested, 'pair')}"


def left_out(made: Field) -> str:
    """Return which arms are in no pair, in words; empty where all are."""
    names = [one.name for one in made.arms if one.flagged or one.floor]
    return f"not among them, for they never lead: {', '.join(names)}" if names else ""
