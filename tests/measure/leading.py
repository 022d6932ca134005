"""How often chance alone makes a leader: fields of equals, simulated, for the tests and the proofs."""

from __future__ import annotations

import numpy as np

from evh.measure.flips import sign_flip_tests
from evh.measure.verdicts import Paired, decide


def share_of_sole_leaders(arms: int, kind: str, *, fields: int, items: int = 60, flips: int = 1_000) -> float:
    """Return how often one arm of equals is said to lead alone."""
    draw = np.random.default_rng(arms)
    alone = 0
    for field in range(fields):
        hard = draw.random((items, 1))
        if kind == "binary":
            scores = (draw.random((items, arms)) < hard).astype(float)
        elif kind == "ties":  # most items are alike for all arms, so that many tie at the top
            scores = np.where(draw.random((items, 1)) < 0.9, 1.0, (draw.random((items, arms)) < 0.5) / 2)
        else:
            scores = (hard + draw.normal(0, 0.3, (items, arms))).round(3)
        found = sign_flip_tests(scores, flips=flips, seed=field)
        p = {
            (a, b): Paired(q, apart)
            for a, b, q, apart in zip(found.first, found.second, found.p, found.difference, strict=True)
        }
        p |= {(b, a): Paired(one.p, -(one.difference or 0.0)) for (a, b), one in p.items()}
        alone += decide(scores.mean(0).tolist(), lambda a, b, p=p: p[a, b]).alone  # type: ignore[misc]
    return alone / fields
