"""Who was best on a row, and how often over many rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def winners(scores: Mapping[str, float | None], *, higher: bool = True) -> tuple[str, ...]:
    """Return every arm that ties for the best score on one row, in the given order; () when none was scored.

    Args:
        scores: arm → its score on the row; None where the arm was not scored.
        higher: whether a higher score is better.
    """
    scored = {arm: score for arm, score in scores.items() if score is not None}
    if not scored:
        return ()
    best = max(scored.values()) if higher else min(scored.values())
    return tuple(arm for arm, score in scored.items() if score == best)


def win_rates(
    rows: Iterable[Mapping[str, float | None]], arms: Sequence[str], *, higher: bool = True
) -> dict[str, float | None]:
    """Return each arm's share of the wins over the rows it was scored on; None for an arm scored on none.

    A win that k arms share counts 1/k for each. Only the named arms compete: a score of another arm in a row
    is left out.

    Args:
        rows: one mapping a row, arm → its score; None or absent where the arm was not scored.
        arms: the arms that are shown.
        higher: whether a higher score is better.

    Cost: one look-up an arm and row.
    """
    won: dict[str, list[float]] = {arm: [] for arm in arms}
    for row in rows:
        shown = {arm: row.get(arm) for arm in won}
        best = winners(shown, higher=higher)
        for arm, score in shown.items():
            if score is not None:
                won[arm].append(1 / len(best) if arm in best else 0.0)
    return {arm: math.fsum(shares) / len(shares) if shares else None for arm, shares in won.items()}
