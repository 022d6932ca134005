"""Items of equal bytes that got different answers: one label for all of them would be a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from evh.records.dataset import Dataset

REFUSE, LEAVE = "refuse", "leave"
CONFLICTS = (REFUSE, LEAVE)
"""What becomes of such items: the whole import is refused, or they are left unlabelled and listed."""
WAY_OUT = "; or leave items of equal bytes with different answers unlabelled: --conflicts leave"


@dataclass(frozen=True, slots=True)
class Conflict:
    """One text that got several answers.

    Attributes:
        sha256: of its bytes.
        answers: what it got, sorted.
        items: the ids of the dataset's items that are of these bytes, in its order.
    """

    sha256: str
    answers: tuple[str, ...]
    items: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as the commands' JSON has it."""
        return {"sha256": self.sha256, "answers": list(self.answers), "items": list(self.items)}


def listed(dataset: Dataset, found: Mapping[str, Collection[str]]) -> tuple[Conflict, ...]:
    """Return conflicts in the order of the dataset's items.

    Args:
        dataset: whose items they are.
        found: sha256 of bytes → the answers that items of these bytes got.
    """
    items: dict[str, list[str]] = {}
    for item in dataset.items:
        if item.sha256 in found:
            items.setdefault(item.sha256, []).append(item.item_id)
    return tuple(Conflict(sha, tuple(sorted(found[sha])), tuple(ids)) for sha, ids in items.items())


def recorded(conflicts: Iterable[Conflict]) -> dict[str, list[str]]:
    """Return conflicts as a label set records them."""
    return {one.sha256: list(one.answers) for one in conflicts}
