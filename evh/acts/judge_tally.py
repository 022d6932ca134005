"""What the verdicts of a pass come to: each arm's score on each item, and what they say of the judges."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evh.acts.judge_verdict import load
from evh.measure import judging, position
from evh.records.judge import GRADE, MAJORITY, PAIRWISE, PICK, SCORE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.judge_units import Frame, Judged
    from evh.acts.judge_verdict import Said
    from evh.records.judge import Judge

Shares = dict[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass came to for one arm on one item.

    ``scores`` are by metric, without the word for an unvalidated judge; empty where ``error`` says why.
    ``judges`` holds what each judge came to.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
    judges: Mapping[str, float] = field(default_factory=dict)


class Tally:
    """The verdicts of a pass, by what they are about.

    Args:
        judge: the judge.
        frame: what the questions have in common.
        items: the items of the pass.
        n_arms: how many arms are judged.
        rows: key → the verdict's row.
    """

    def __init__(
        self,
        judge: Judge,
        frame: Frame,
        items: Sequence[Judged],
        n_arms: int,
        rows: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self._judge, self._frame, self._items = judge, frame, items
        self._n, self._rows = n_arms, rows

    # --- what one judge said

    def said(self, judge: str, one: Judged, shown: Sequence[str], number: int) -> Said | None:
        """Return one verdict, or None: none was read, or none was given yet."""
        row = self._rows.get(self._frame.key(judge, one.item.sha256, shown, number))
        return None if row is None else load(row.get("said"))

    def orders(self, judge: str, one: Judged, pair: tuple[str, str], number: int) -> position.BothOrders:
        """Return what a judge said of a pair of outputs in both orders."""
        words = [_word(self.said(judge, one, shown, number)) for shown in (pair, pair[::-1])]
        return position.BothOrders(words[0], words[1])

    def _pair(self, judge: str, one: Judged, pair: tuple[str, str]) -> list[Shares]:
        made = []
        for number in self._numbers():
            share = self.orders(judge, one, pair, number).share
            if share is not None:
                made.append({pair[0]: share, pair[1]: 1 - share})
        return made

    def _picked(self, judge: str, one: Judged) -> list[Shares]:
        made = []
        for number in self._numbers():
            shown = self._shown(judge, one, number)
            said = self.said(judge, one, one.different, number)
            if said is not None and shown is not None and max(said.places) < len(shown):
                won = {shown[place] for place in said.places}
                made.append({sha: (1 / len(won) if sha in won else 0.0) for sha in one.different})
        return made

    def _shown(self, judge: str, one: Judged, number: int) -> list[str] | None:
        row = self._rows.get(self._frame.key(judge, one.item.sha256, one.different, number))
        shown = row.get("shown") if row else None
        return shown if isinstance(shown, list) and sorted(shown) == list(one.different) else None

    def _grades(self, judge: str, one: Judged, sha: str) -> list[dict[str, float]]:
        made = []
        for number in self._numbers():
            said = self.said(judge, one, (sha,), number)
            if said is not None:
                grades = dict(said.grades)
                made.append({"": math.fsum(grades.values()) / len(grades), **grades})
        return made

    def _numbers(self) -> range:
        return range(1, self._frame.repeats + 1)

    # --- what they come to

    def outcomes(self, one: Judged) -> list[Outcome]:
        """Return what an item came to, an outcome an arm."""
        if one.left_out is not None:
            return [Outcome(error=f"not judged: {one.left_out}")] * self._n
        if self._judge.kind == GRADE:
            return [self._graded(one, one.outputs.get(at)) for at in range(self._n)]
        return self._won(one)

    def _graded(self, one: Judged, sha: str | None) -> Outcome:
        if sha is None:
            return Outcome(error="not judged: the arm has no output here")
        means: dict[str, list[float]] = {}
        overall: dict[str, float] = {}
        for judge in self._frame.askers:
            grades = self._grades(judge, one, sha)
            if not grades:
                continue
            mine = judging.mean_shares(grades)
            overall[judge] = mine[""]
            for name, grade in mine.items():
                means.setdefault(name, []).append(grade)
        if not overall:
            return Outcome(error=self._why(one))
        scores = {SCORE: math.fsum(means[""]) / len(means[""])}
        for name in self._judge.dimensions:
            scores[f"{SCORE}_{name}"] = math.fsum(means[name]) / len(means[name])
        return Outcome(scores, judges=overall)

    def _won(self, one: Judged) -> list[Outcome]:
        together = self._shares(one, tuple(self._frame.askers))
        if together is None:
            return [Outcome(error=self._why(one))] * self._n
        by_judge = {judge: self._shares(one, (judge,)) for judge in self._frame.askers}
        return [
            Outcome(
                {self._judge.metric: together[at]},
                judges={judge: shares[at] for judge, shares in by_judge.items() if shares is not None},
            )
            for at in range(self._n)
        ]

    def _shares(self, one: Judged, judges: Sequence[str]) -> list[float] | None:
        """Return each arm's share of what these judges gave on an item; None where one is lacking."""
        if self._judge.kind == PICK:
            holders = Counter(one.outputs.values())
            found = self._together([self._picked(judge, one) for judge in judges], one.different)
            if found is None:
                return None
            return [found[one.outputs[at]] / holders[one.outputs[at]] for at in range(self._n)]
        won = [0.0] * self._n
        pairs: dict[tuple[str, str], Shares | None] = {}
        for a, b in combinations(range(self._n), 2):
            first, second = sorted((one.outputs[a], one.outputs[b]))
            if first == second:
                won[a] += 0.5
                won[b] += 0.5
                continue
            pair = (first, second)
            if pair not in pairs:
                pairs[pair] = self._together([self._pair(judge, one, pair) for judge in judges], pair)
            shares = pairs[pair]
            if shares is None:
                return None
            won[a] += shares[one.outputs[a]]
            won[b] += shares[one.outputs[b]]
        n_pairs = self._n * (self._n - 1) / 2
        return [points / n_pairs for points in won]

    def _together(self, given: list[list[Shares]], outputs: Sequence[str]) -> Shares | None:
        if len(set(outputs)) == 1:
            return {outputs[0]: 1.0}
        return judging.combined(given, majority=self._judge.combine == MAJORITY)

    def _why(self, one: Judged) -> str:
        """Return why an item has no verdict: the first error on record."""
        for unit in self._frame.units([one]):
            row = self._rows.get(unit.key)
            if row is None:
                return "not judged yet"
            if load(row.get("said")) is None:
                return str(row.get("error") or "no verdict that could be read")
        return "no verdict"

    # --- what they say of the judges

    def measured(self) -> dict[str, Any]:
        """Return how the judges judge, as ``metrics.json`` holds it: position, noise, how far they part."""
        held = [one for one in self._items if one.left_out is None]
        units = self._frame.units(held)
        rows = [self._rows.get(unit.key) for unit in units]
        made: dict[str, Any] = {}
        for judge in self._frame.askers:
            mine = [row for unit, row in zip(units, rows, strict=True) if unit.judge == judge]
            read = sum(row is not None and load(row.get("said")) is not None for row in mine)
            made[judge] = {
                "asked": len(mine),
                "read": read,
                "noise": asdict(self._noise(judge, held)),
                **({"position": asdict(self.position(judge, held))} if self._judge.kind == PAIRWISE else {}),
                **({"places": self._places(judge, held)} if self._judge.kind == PICK else {}),
            }
        apart = judging.disagreement(self._votes(held))
        return {"judges": made, "disagreement": asdict(apart) if len(made) > 1 else None}

    def position(self, judge: str, items: Sequence[Judged]) -> position.PairPosition:
        """Return how a judge takes the order of pairs."""
        return position.pair_position(
            self.orders(judge, one, pair, number)
            for one in items
            if one.left_out is None
            for pair in combinations(one.different, 2)
            for number in self._numbers()
        )

    def _places(self, judge: str, items: Sequence[Judged]) -> list[dict[str, Any]]:
        picks = []
        for one in items:
            for number in self._numbers() if len(one.different) > 1 else ():
                row = self._rows.get(self._frame.key(judge, one.item.sha256, one.different, number))
                said = load(row.get("said")) if row else None
                if row and said and "source" not in row:  # a file does not tell the places
                    picks.append((said.places, len(one.different)))
        return [asdict(place) for place in position.pick_places(picks)]

    def _noise(self, judge: str, items: Sequence[Judged]) -> judging.Noise:
        asked: list[list[object]] = []
        for one in items:
            if self._judge.kind == GRADE:
                asked += [[grade[""] for grade in self._grades(judge, one, sha)] for sha in one.different]
            elif self._judge.kind == PICK:
                asked.append([tuple(sorted(shares.items())) for shares in self._picked(judge, one)])
            else:
                for pair in combinations(one.different, 2):
                    for shown in (pair, pair[::-1]):
                        said = [self.said(judge, one, shown, number) for number in self._numbers()]
                        asked.append([found.places for found in said if found is not None])
        return judging.noise(asked, graded=self._judge.kind == GRADE)

    def _votes(self, items: Sequence[Judged]) -> dict[str, list[str | None]]:
        made: dict[str, list[str | None]] = {judge: [] for judge in self._frame.askers}
        for judge, votes in made.items():
            for one in items:
                if self._judge.kind == GRADE:
                    for sha in one.different:
                        grades = self._grades(judge, one, sha)
                        votes.append(f"{judging.mean_shares(grades)['']:.6g}" if grades else None)
                elif self._judge.kind == PICK:
                    votes.append(
                        judging.vote_of(self._picked(judge, one)) if len(one.different) > 1 else None
                    )
                else:
                    votes += [
                        judging.vote_of(self._pair(judge, one, pair))
                        for pair in combinations(one.different, 2)
                    ]
        return made


def _word(said: Said | None) -> str | None:
    if said is None:
        return None
    if len(said.places) != 1:
        return position.TIE
    return position.FIRST if said.places[0] == 0 else position.SECOND
