"""How a run did on each class, and which class it took for which: run-level figures of a classification."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evh.measure.scores import class_keys, class_of_answer
from evh.records.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evh.measure.scores import ClassRow

MOST_CLASSES = 12
"""Up to so many classes the cells of the confusion are given: their number grows with its square."""
OTHER = "other"
"""What a decision counts as that is no class."""


def per_class(rows: Iterable[ClassRow]) -> dict[str, float]:
    """Return precision, F1 and support of each class, and how often each class was taken for each.

    Classes and predictions are those of `scores.classification`, which gives recall and the means.

    Keys:
        precision_<class>: of the rows predicted as the class, the share that is right; absent where there is
            none.
        f1_<class>: 2tp / (2tp + fp + fn).
        support_<class>: rows of the class.
        confused_<class>_as_<class>: rows of the first class that were predicted as the second, where there
            are any; a decision that is no class counts as ``other``. Given for up to 12 classes.

    Source: the definitions of scikit-learn's ``precision_recall_fscore_support`` and ``confusion_matrix``.

    Cost: one pass over the rows.
    """
    rows = list(rows)
    accepted = {label: answers(label) for label in sorted({row.label for row in rows})}
    home = class_of_answer(accepted)
    support: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    cells: Counter[tuple[str, str]] = Counter()
    for row in rows:
        support[row.label] += 1
        if row.decision in accepted[row.label]:
            hits[row.label] += 1
            predicted[row.label] += 1
            continue
        found = home.get(row.decision)
        if found is not None:
            predicted[found] += 1
        cells[row.label, found or ""] += 1
    keys = class_keys(list(accepted))
    figures: dict[str, float] = {}
    for label in accepted:
        key = keys[label]
        if predicted[label]:
            figures[f"precision_{key}"] = hits[label] / predicted[label]
        figures[f"f1_{key}"] = 2 * hits[label] / (support[label] + predicted[label])
        figures[f"support_{key}"] = float(support[label])
    if len(accepted) <= MOST_CLASSES:
        for (label, found), count in sorted(cells.items()):
            figures[f"confused_{keys[label]}_as_{keys[found] if found else OTHER}"] = float(count)
    return figures
