"""Every two arms of a field as a page shows them: their p corrected for all of the pairs being looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field_pairs
from evh_build.forest import p_text
from evh_build.pairs import pairs
from evh_build.source import command

if TYPE_CHECKING:
    from evh.acts.field_model import Field
    from evh_build.page import Command
    from evh_build.source import Source

MOST_ARMS = 12
"""Of more arms a table of all pairs says nothing at a glance: the terminal has it."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two arms, the first minus the second, turned so that more is better.

    ``p`` is corrected, ``raw`` not; ``apart`` tells that the corrected one is below the level. ``path`` is
    the page that compares the two item by item, where there is one.
    """

    a: str
    b: str
    path: str | None
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p: str
    raw: str
    apart: bool


@dataclass(frozen=True, slots=True)
class PairsView:
    """Every two arms of a field; ``told`` says how p is corrected and at which level, and who is left out."""

    rows: tuple[PairRow, ...]
    n_apart: int
    told: str
    command: Command


def pairs_view(source: Source, made: Field) -> PairsView | None:
    """Return every two arms of a field; None for fewer than two pairs, for many arms, and without a test."""
    able = {name for one in made.pairs for name in (one.a, one.b)}
    how = field_pairs.correction(made)
    if len(made.pairs) < 2 or len(able) > MOST_ARMS or not how:
        return None
    paths = {
        frozenset(names): source.urls.compare(made.dataset_id, *names)
        for names in pairs(source, made.dataset_id)
    }
    rows = tuple(
        PairRow(
            a=one.a,
            b=one.b,
            path=paths.get(frozenset((one.a, one.b))),
            n=one.n,
            difference=one.difference,
            low=one.low,
            high=one.high,
            p=p_text(one.p_holm),
            raw=p_text(one.p),
            apart=one.apart,
        )
        for one in made.pairs
    )
    goal = f" (goal {made.rules.goal})" if made.rules.goal else ""
    told = [
        f"Paired test by {made.method} at level {made.rules.alpha:g}{goal}; correction: {how}",
        field_pairs.left_out(made),
    ]
    words = ["leaderboard", "--dataset-id", made.dataset_id, "--metric", made.metric]
    words += ["--against", made.against.ref.removeprefix("labels/")] if made.against else []
    words += ["--goal", made.rules.goal] if made.rules.goal else []
    return PairsView(
        rows=rows,
        n_apart=sum(one.apart for one in rows),
        told="; ".join(one for one in told if one),
        command=command("", *words, "--all-pairs"),
    )
