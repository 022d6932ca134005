"""Scores of outputs against labels: one item at a time, and of a run as a whole."""

from __future__ import annotations

import hashlib
import string
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.measure.numbers import mean
from evh.records.answers import answers, comparable, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ARTICLES = frozenset({"a", "an", "the"})
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

# A metric's key stays readable in a table; a longer class name is cut and told apart by its hash.
_LONGEST_KEY = 60
_HASH_DIGITS = 8


MOST_KINDS = 16
"""With more different labels they are texts rather than answers of a kind."""


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One scored item: the decision of an output and the canonical text of the item's label."""

    decision: str
    label: str


@dataclass(frozen=True, slots=True)
class Majority:
    """What an arm that always says the same could reach against some labels.

    Attributes:
        answers: the answer that is right most often, or all that tie for it, by text.
        n: how many labels accept it.
        of: how many labels there are.
        share: n / of.
    """

    answers: tuple[str, ...]
    n: int
    of: int
    share: float


def exact(output: str, answers: Iterable[str]) -> float:
    """Return 1.0 when the output, without one trailing LF, is one of the answers, else 0.0.

    Nothing else is normalised: case and inner spaces count.
    """
    return float(comparable(output) in tuple(answers))


def text_f1(output: str, answer: str) -> float:
    """Return the token overlap F1 of two texts, 0.0..1.0.

    Both texts are normalised as SQuAD does: lower case; every character of ASCII punctuation removed (not
    replaced by a space); then split on white space, and the words "a", "an" and "the" left out. With the
    overlap counted as multisets, F1 = 2 × overlap / (tokens of one + tokens of the other). Two texts without
    a token are 1.0; one of them is 0.0.
    Source: Rajpurkar et al. (2016), "SQuAD", section 6.1; for texts without a token, the evaluation script
    of SQuAD 2.0.
    """
    first, second = _tokens(output), _tokens(answer)
    if not first or not second:
        return float(first == second)
    overlap = (Counter(first) & Counter(second)).total()
    return 2 * overlap / (len(first) + len(second))


def closest_f1(output: str, answers: Iterable[str]) -> float:
    """Return ``text_f1`` against the answer that the output is closest to.

    Raises:
        ValueError: there are no answers.
    """
    return max(text_f1(output, answer) for answer in answers)


def classification(rows: Iterable[ClassRow], *, positive: str | None = None) -> dict[str, float]:
    """Return the figures of a run as a classifier; a figure that is undefined is absent.

    A class is a distinct label; one that accepts several answers is its own class, named "none or poc". A
    decision is predicted as the row's own class when it is one of the label's answers; else as the class
    whose answers contain it (the one with the fewest answers, then the first by text); else as itself, which
    is no class.

    Keys:
        accuracy: rows whose decision is one of the label's answers / rows.
        recall_<class>: of the rows of a class, the share that is right. The name is in lower case with ``_``
            for whatever is no letter or digit; a name that is empty, over 60 characters or shared by two
            classes ends in 8 hex digits of the label's sha256.
        balanced_accuracy: the mean of the classes' recalls. With ``positive``: the mean of the recall of the
            rows whose label is exactly that answer, and of the share of the other rows whose decision is not
            that answer; rows that accept that answer among others speak for neither side and are left out.
            Undefined when either side has no row.
        macro_f1: the mean over the classes of 2tp / (2tp + fp + fn).

    Args:
        rows: one a scored item.
        positive: the answer whose recall is weighed against all the rest; None weighs every class alike.

    Source: the definitions of scikit-learn's ``accuracy_score``, ``recall_score``,
    ``balanced_accuracy_score`` and ``f1_score(average="macro", labels=<classes of the labels>)``.

    Cost: one pass over the rows.
    """
    rows = list(rows)
    if not rows:
        return {}
    accepted = {label: answers(label) for label in sorted({row.label for row in rows})}
    home = class_of_answer(accepted)
    size: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for row in rows:
        size[row.label] += 1
        if row.decision in accepted[row.label]:
            hits[row.label] += 1
            predicted[row.label] += 1
        elif row.decision in home:
            predicted[home[row.decision]] += 1
    recalls = {label: hits[label] / size[label] for label in accepted}
    # 2tp + fp + fn is the rows of the class plus the rows predicted as it.
    f1s = (2 * hits[label] / (size[label] + predicted[label]) for label in accepted)
    figures = {
        "accuracy": hits.total() / len(rows),
        "balanced_accuracy": mean(recalls.values())
        if positive is None
        else _one_against_rest(rows, positive),
        "macro_f1": mean(f1s),
    }
    keys = class_keys(list(accepted))
    figures |= {f"recall_{keys[label]}": recall for label, recall in recalls.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def majority_rate(labels: Iterable[str]) -> Majority | None:
    """Return the answer that would be right most often, and how often; None without labels.

    A label that accepts several answers counts for each of them, so the share is what the best constant arm
    scores: the figure that every mean against these labels must beat.

    Args:
        labels: canonical label texts, one an item.
    """
    frequency = Counter(labels)
    right: Counter[str] = Counter()
    for label, count in frequency.items():
        for answer in answers(label):
            right[answer] += count
    if not right:
        return None
    most = max(right.values())
    best = tuple(sorted(answer for answer, count in right.items() if count == most))
    return Majority(best, most, frequency.total(), most / frequency.total())


def floor_rate(labels: Iterable[str]) -> Majority | None:
    """Return `majority_rate` where an arm that always says the same is worth a comparison; else None.

    It is where the labels are answers of a kind: at most `MOST_KINDS` different ones, the commonest of them
    right at least twice. Texts that somebody wrote freely have no commonest answer.

    Args:
        labels: canonical label texts, one an item.
    """
    given = list(labels)
    best = majority_rate(given)
    return best if best and best.n > 1 and len(set(given)) <= MOST_KINDS else None


def distinct_answers(labels: Iterable[str]) -> int:
    """Return how many answers the labels tell apart: below 2, they measure recall of one answer only.

    The number of different labels; but 1 when some answer is right for every label, since an arm that says
    nothing else is then never wrong.

    Args:
        labels: canonical label texts, one an item.
    """
    different = set(labels)
    if not different:
        return 0
    right_for_all = set.intersection(*(set(answers(label)) for label in different))
    return 1 if right_for_all else len(different)


def class_of_answer(accepted: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Map each answer to the class that a decision for it is predicted as when the row's own does not fit.

    Args:
        accepted: class (a label's text) → the answers that it accepts.
    """
    home: dict[str, str] = {}
    for label in sorted(accepted, key=lambda label: (len(accepted[label]), label)):
        for answer in accepted[label]:
            home.setdefault(answer, label)
    return home


def _tokens(text: str) -> list[str]:
    words = text.lower().translate(_NO_PUNCTUATION).split()
    return [word for word in words if word not in _ARTICLES]


def _one_against_rest(rows: Sequence[ClassRow], positive: str) -> float | None:
    found = [row.decision == positive for row in rows if answers(row.label) == (positive,)]
    spared = [row.decision != positive for row in rows if positive not in answers(row.label)]
    if not found or not spared:
        return None
    return mean([sum(found) / len(found), sum(spared) / len(spared)])


def class_keys(labels: list[str]) -> dict[str, str]:
    """Return the part of a metric's key that names each class; see `classification`."""
    plain = {
        label: "".join(sign if sign.isalnum() else "_" for sign in shown(label).lower()) for label in labels
    }
    sharing: defaultdict[str, list[str]] = defaultdict(list)
    for label, key in plain.items():
        sharing[key].append(label)
    keys = {}
    for label, key in plain.items():
        if key and len(key) <= _LONGEST_KEY and len(sharing[key]) == 1:
            keys[label] = key
        else:
            digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()
            keys[label] = f"{key[:_LONGEST_KEY]}_{digest[:_HASH_DIGITS]}"
    return keys
