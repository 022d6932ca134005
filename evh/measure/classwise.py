"""Figures of a classifier that no item has alone: intervals and paired tests by a bootstrap within class.

Balanced accuracy and macro-F1 are made of counts in each class. The items of a class are drawn anew, with
replacement, as many as it has; the figure is made again of what was drawn. The same draw serves every arm, so
that a difference is a paired one.

Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapters 8.4 (several samples), 13
(percentile interval) and 16.4 (a test by the interval's ends); Davison & Hinkley (1997), section 3.8, for
items in clusters: whole clusters are then drawn, whatever their classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.bootstrap import CONFIDENCE, RESAMPLES, percentile_ends
from evh.measure.scores import class_of_answer
from evh.records.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

BALANCED_ACCURACY = "balanced_accuracy"
MACRO_F1 = "macro_f1"
FIGURES = (BALANCED_ACCURACY, MACRO_F1)
NO_CLASS = -1
"""What a decision counts as that is no class."""
ABSENT = -2
"""What stands where an arm was not scored on an item."""
FEWEST_IN_CLASS = 10
"""With fewer items in a class a draw within it says too little: no p is given."""
_AT_ONCE = 128
_NOISE = 1e-12


@dataclass(frozen=True, slots=True)
class Coded:
    """Labels and decisions as classes.

    Attributes:
        truth: each kept item's class, from 0.
        guess: kept items × runs: the class that a decision counts as, `NO_CLASS` or `ABSENT`.
        sizes: how many of the kept items each class has.
        kept: the places of the items that are kept.
    """

    truth: NDArray[np.intp]
    guess: NDArray[np.intp]
    sizes: tuple[int, ...]
    kept: tuple[int, ...]

    def decided(self) -> Coded:
        """Return the same without the items that no run was scored on."""
        import numpy as np

        some = (self.guess != ABSENT).any(axis=1)
        if some.all():
            return self
        sizes = np.bincount(self.truth[some])
        kept = tuple(at for at, held in zip(self.kept, some, strict=True) if held)
        return Coded(self.truth[some], self.guess[some], tuple(int(n) for n in sizes if n), kept)


@dataclass(frozen=True, slots=True)
class ClassTests:
    """Arms by one figure. NaN stands where there is none.

    Attributes:
        value, low, high: each arm's figure and the ends of its interval.
        first, second: the arms' places in each pair, in the order of ``numpy.triu_indices(arms, 1)``.
        n: items that both arms of a pair were scored on.
        difference, pair_low, pair_high: first minus second over those, and its interval.
        error: the difference's standard error.
        p: two-sided; NaN where a class has fewer than `FEWEST_IN_CLASS` of those items.
    """

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    n: NDArray[np.int64]
    difference: NDArray[np.float64]
    pair_low: NDArray[np.float64]
    pair_high: NDArray[np.float64]
    error: NDArray[np.float64]
    p: NDArray[np.float64]


def code(
    labels: Sequence[str], decisions: Sequence[Sequence[str | None]], *, positive: str | None = None
) -> Coded:
    """Return labels and decisions as classes, as `scores.classification` counts them.

    Args:
        labels: each item's label text.
        decisions: for each run, what it decided on each item; None where it was not scored.
        positive: weigh this answer against all the rest. Items that accept it among others are left out.
    """
    import numpy as np

    texts = sorted(set(labels))
    accepted = {text: answers(text) for text in texts}
    kept = list(range(len(labels)))
    number = {text: at for at, text in enumerate(texts)}
    home = class_of_answer(accepted)
    if positive is not None:
        kept = [
            at for at in kept if accepted[labels[at]] == (positive,) or positive not in accepted[labels[at]]
        ]
        number = {text: int(accepted[text] != (positive,)) for text in texts}
    truth = np.array([number[labels[at]] for at in kept], np.intp)
    guess = np.full((len(kept), len(decisions)), ABSENT, np.intp)
    for row, at in enumerate(kept):
        for run, decided in enumerate(decisions):
            said = decided[at]
            if said is None:
                continue
            if positive is not None:
                guess[row, run] = int(said != positive)
            elif said in accepted[labels[at]]:
                guess[row, run] = truth[row]
            else:
                guess[row, run] = number[home[said]] if said in home else NO_CLASS
    sizes = np.bincount(truth, minlength=len(set(number.values())))
    return Coded(truth, guess, tuple(map(int, sizes)), tuple(kept))


def class_tests(
    coded: Coded,
    figure: str,
    *,
    arms: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = CONFIDENCE,
    groups: NDArray[np.intp] | None = None,
) -> ClassTests:
    """Return each arm's figure with its interval, and each pair's difference with its interval and p.

    p is twice the smaller share of resamples in which the difference is at most 0, or at least 0, each with
    one added (Davison & Hinkley, section 4.2): at the level α it is significant where the 1 − α interval
    leaves 0 out.

    Args:
        coded: from `code`.
        figure: one of `FIGURES`.
        arms: each run's arm, from 0, where an arm has several runs: its figure is their mean, over the items
            that all of them were scored on. By default each run is an arm.
        resamples: how often items are drawn.
        seed: of the draw.
        confidence: two-sided.
        groups: each kept item's cluster, from 0: whole clusters are drawn.

    What is said of an arm, or of a pair, does not depend on which other arms there are.

    Cost: one product of resamples × patterns × runs a class, where a pattern is a distinct row of classes;
    once for each arm, once for all that were scored on the same items together, and once more for each
    pair that was not. For each of the latter two resamples × items numbers are drawn.
    """
    import numpy as np

    owner = np.arange(coded.guess.shape[1]) if arms is None else np.asarray(arms, np.intp)
    count = int(owner.max(initial=-1)) + 1
    draw = _Draw(coded, figure, owner, resamples=resamples, seed=seed, groups=groups)
    present = np.zeros((len(coded.truth), count), np.bool_)
    for arm in range(count):
        present[:, arm] = (coded.guess[:, owner == arm] != ABSENT).all(axis=1)
    value, low, high = (np.full(count, np.nan) for _ in range(3))
    drawn: list[NDArray[np.float64] | None] = [None] * count
    alike: dict[bytes, list[int]] = {}
    for arm in range(count):
        if present[:, arm].any():
            alike.setdefault(present[:, arm].tobytes(), []).append(arm)
            seen, made = draw.of(present[:, arm], [arm])
            value[arm] = seen[0]
            low[arm], high[arm] = percentile_ends(made[:, 0], confidence)
    for members in alike.values():
        if len(members) > 1:
            _, made = draw.of(present[:, members[0]], members, by_item=True)
            for at, arm in enumerate(members):
                drawn[arm] = made[:, at]
    first, second = np.triu_indices(count, 1)
    pairs = len(first)
    difference, pair_low, pair_high, error, p = (np.full(pairs, np.nan) for _ in range(5))
    n = np.zeros(pairs, np.int64)
    for at, (a, b) in enumerate(zip(first, second, strict=True)):
        shared = present[:, a] & present[:, b]
        n[at] = shared.sum()
        one, two = drawn[a], drawn[b]
        if not n[at]:
            continue
        if (present[:, a] == present[:, b]).all() and one is not None and two is not None:
            difference[at], apart = value[a] - value[b], one - two
        else:
            seen, made = draw.of(shared, [int(a), int(b)], by_item=True)
            difference[at], apart = seen[0] - seen[1], made[:, 0] - made[:, 1]
        pair_low[at], pair_high[at] = percentile_ends(apart, confidence)
        error[at] = apart.std(ddof=1)
        in_class = np.bincount(coded.truth[shared], minlength=int(coded.truth.max()) + 1)
        if in_class[np.unique(coded.truth)].min() >= FEWEST_IN_CLASS:
            p[at] = _p(apart)
    return ClassTests(value, low, high, first, second, n, difference, pair_low, pair_high, error, p)


def _p(apart: NDArray[np.float64]) -> float:
    below, above = int((apart <= _NOISE).sum()), int((apart >= -_NOISE).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (len(apart) + 1))


class _Draw:
    """Figures of drawn items, for any choice of items and arms."""

    def __init__(
        self,
        coded: Coded,
        figure: str,
        owner: NDArray[np.intp],
        *,
        resamples: int,
        seed: int,
        groups: NDArray[np.intp] | None,
    ) -> None:
        if figure not in FIGURES:
            raise ValueError(f"a figure is {' or '.join(FIGURES)}, not {figure!r}")
        self._coded, self._figure, self._owner = coded, figure, owner
        self._resamples, self._seed, self._groups = resamples, seed, groups

    def of(
        self, mask: NDArray[np.bool_], arms: Sequence[int], *, by_item: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the arms' figures over the masked items, and those of each resample: resamples × arms.

        Items that look alike to these arms are drawn as one, by counts: what is drawn then depends on the
        arms. With ``by_item`` it depends on the masked items alone.
        """
        import numpy as np

        columns = np.flatnonzero(np.isin(self._owner, arms))
        truth, guess = self._coded.truth[mask], self._coded.guess[np.ix_(mask, columns)]
        to_arm = np.array([arms.index(int(one)) for one in self._owner[columns]], np.intp)
        groups = None if self._groups is None else self._groups[mask]
        if groups is None:
            rows, pattern, counts = np.unique(
                np.column_stack([truth, guess]), axis=0, return_inverse=True, return_counts=True
            )
            items, pattern = truth, pattern.reshape(-1)
            truth, guess = rows[:, 0], rows[:, 1:]
            blocks = self._by_item(items, pattern) if by_item else self._weights(truth, counts, None)
        else:
            counts = np.ones(len(truth), np.int64)
            blocks = self._weights(truth, counts, groups)
        seen = self._figures(counts[None, :].astype(np.float64), truth, guess)
        made = [self._figures(weights, truth, guess) for weights in blocks]
        return _by_arm(seen, to_arm, len(arms))[0], _by_arm(np.concatenate(made), to_arm, len(arms))

    def _by_item(self, truth: NDArray[np.intp], pattern: NDArray[np.intp]) -> Iterator[NDArray[np.float64]]:
        """Give blocks of resamples: how often each pattern was drawn, its items drawn one by one."""
        import numpy as np

        generator = np.random.default_rng(self._seed)
        strata = [pattern[truth == one] for one in np.unique(truth)]
        wide = int(pattern.max(initial=-1)) + 1
        for start in range(0, self._resamples, _AT_ONCE):
            rows = min(_AT_ONCE, self._resamples - start)
            offset = (np.arange(rows) * wide)[:, None]
            weights = np.zeros((rows, wide))
            for mine in strata:
                places = mine[generator.integers(0, len(mine), (rows, len(mine)))] + offset
                weights += np.bincount(places.ravel(), minlength=rows * wide).reshape(rows, wide)
            yield weights

    def _weights(
        self, truth: NDArray[np.intp], counts: NDArray[np.int64], groups: NDArray[np.intp] | None
    ) -> Iterator[NDArray[np.float64]]:
        """Give blocks of resamples: how often each pattern (or item) was drawn."""
        import numpy as np

        generator = np.random.default_rng(self._seed)
        strata = [np.flatnonzero(truth == one) for one in np.unique(truth)]
        whole = np.arange(len(truth)) if groups is None else groups
        _, place = np.unique(whole, return_inverse=True)
        clusters = int(place.max(initial=-1)) + 1
        for start in range(0, self._resamples, _AT_ONCE):
            rows = min(_AT_ONCE, self._resamples - start)
            weights = np.zeros((rows, len(truth)))
            if groups is None:
                for where in strata:
                    size = int(counts[where].sum())
                    weights[:, where] = generator.multinomial(size, counts[where] / size, rows)
            else:
                weights[:] = generator.multinomial(clusters, [1 / clusters] * clusters, rows)[:, place]
            yield weights

    def _figures(
        self, weights: NDArray[np.float64], truth: NDArray[np.intp], guess: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return each resample's figure of each run: resamples × runs."""
        import numpy as np

        total = np.zeros((len(weights), guess.shape[1]))
        classes = np.zeros_like(total)
        for one in np.unique(truth):
            where = truth == one
            hits = weights[:, where] @ (guess[where] == one).astype(np.float64)
            below = np.broadcast_to(weights[:, where].sum(1)[:, None], hits.shape)
            if self._figure == MACRO_F1:
                below = below + weights @ (guess == one).astype(np.float64)
                hits = 2 * hits
            counted = below > 0
            total += np.divide(hits, below, out=np.zeros_like(hits), where=counted)
            classes += counted
        return np.divide(total, classes, out=np.full_like(total, np.nan), where=classes > 0)


def _by_arm(runs: NDArray[np.float64], to_arm: NDArray[np.intp], arms: int) -> NDArray[np.float64]:
    import numpy as np

    return np.column_stack([runs[:, to_arm == arm].mean(axis=1) for arm in range(arms)])
