"""Drawing records by a seed: the same seed draws the same ones on any machine and in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def sample(
    ids: Sequence[str], n: int, seed: int, groups: Mapping[str, object] | None = None
) -> frozenset[str]:
    """Return ``n`` of ``ids``: those whose sha256 with the seed comes first.

    Args:
        ids: what to draw from; no two are equal.
        n: how many, at most ``len(ids)``.
        seed: another seed draws others.
        groups: id → its group. Each group then gives its share of ``n``, by largest remainder.
    """
    if groups is None:
        return frozenset(sorted(ids, key=lambda one: sha256_text(f"{seed}\t{one}"))[:n])
    members: dict[str, list[str]] = {}
    for one in ids:
        members.setdefault(repr(groups.get(one)), []).append(one)
    shares = {group: n * len(held) / len(ids) for group, held in members.items()}
    counts = {group: int(share) for group, share in shares.items()}
    left = n - sum(counts.values())
    for group in sorted(shares, key=lambda one: (counts[one] - shares[one], one))[:left]:
        counts[group] += 1
    return frozenset().union(*(sample(held, counts[group], seed) for group, held in members.items()))
