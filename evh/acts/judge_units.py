"""The questions of a judging pass: which outputs are shown to which judge, in which order, how often.

A question's key says what it is about: the judge, the rubric, the item's bytes and the outputs' bytes in
their order. A changed output is another question; the same one is never asked twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from evh.acts.judge_prompt import VERSION
from evh.acts.label_selection import rank
from evh.records.judge import GRADE, PAIRWISE
from evh.store.hashing import sha256_text
from evh.store.strict import compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.records.dataset import Item


@dataclass(frozen=True, slots=True)
class Unit:
    """One question to one judge.

    Attributes:
        key: what it is about.
        judge: the config that is asked.
        item_id: the item.
        shown: the sha256 of each output, in the order of the letters.
        number: which of the repeats it is, from 1.
        pair: which pair of the item's different outputs it compares, ``(a, b)`` with a < b; None elsewhere.
    """

    key: str
    judge: str
    item_id: str
    shown: tuple[str, ...]
    number: int
    pair: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """One item of a pass.

    ``outputs`` are the sha256 of each arm's output, by the arm's place; ``left_out`` says why it
    is not judged.
    """

    item: Item
    outputs: Mapping[int, str] = field(default_factory=dict)
    left_out: str | None = None

    @property
    def different(self) -> tuple[str, ...]:
        """The different outputs, sorted by their hash: equal bytes are judged as one."""
        return tuple(sorted(set(self.outputs.values())))


@dataclass(frozen=True, slots=True)
class Frame:
    """What the questions of a pass have in common.

    ``askers`` are the judges' configs with the hash of what each sends; ``salt`` shuffles the letters.
    """

    kind: str
    question_sha256: str
    askers: Mapping[str, str]
    repeats: int = 1
    salt: str = ""

    def key(self, judge: str, item_sha256: str, shown: Sequence[str], number: int) -> str:
        """Return what a question is about.

        The letters of a pick follow from the salt, so that its order is no part; the order of a pair is.
        """
        listed = list(shown) if self.kind == PAIRWISE else sorted(shown)
        parts = [VERSION, self.askers[judge], self.question_sha256, item_sha256, listed, number]
        return sha256_text(compact(parts))

    def units(self, items: Sequence[Judged]) -> list[Unit]:
        """Return every question about these items, item after item. None is asked about equal outputs."""
        made = []
        for one in items:
            if one.left_out is None:
                for judge in self.askers:
                    for number in range(1, self.repeats + 1):
                        made += self._of(one, judge, number)
        return made

    def _of(self, one: Judged, judge: str, number: int) -> list[Unit]:
        item, different = one.item, one.different
        if self.kind == GRADE:
            return [self._unit(item, judge, (sha,), number) for sha in different]
        if self.kind == PAIRWISE:
            return [
                self._unit(item, judge, shown, number, pair)
                for pair in combinations(different, 2)
                for shown in (pair, pair[::-1])
            ]
        if len(different) == 1:
            return []
        order = sorted(different, key=lambda sha: rank(self.salt, number, f"{item.sha256}\n{sha}"))
        return [self._unit(item, judge, tuple(order), number)]

    def _unit(
        self, item: Item, judge: str, shown: tuple[str, ...], number: int, pair: tuple[str, str] | None = None
    ) -> Unit:
        return Unit(self.key(judge, item.sha256, shown, number), judge, item.item_id, shown, number, pair)
