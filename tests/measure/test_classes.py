"""The figures of each class equal scikit-learn's, and the cells of the confusion a count by hand."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from evh.measure.classes import MOST_CLASSES, per_class
from evh.measure.scores import ClassRow

ROWS = [
    ClassRow("file", "file"),
    ClassRow("file", "close"),
    ClassRow("close", "close"),
    ClassRow("no idea", "close"),
]


def test_the_cells_are_those_of_a_count_by_hand() -> None:
    """Of three "close" one was taken for "file", one for no class; "file" was said twice, once rightly."""
    assert per_class(ROWS) == {
        "precision_close": 1.0,
        "f1_close": 0.5,
        "support_close": 3.0,
        "precision_file": 0.5,
        "f1_file": 2 / 3,
        "support_file": 1.0,
        "confused_close_as_file": 1.0,
        "confused_close_as_other": 1.0,
    }


def test_the_figures_are_scikit_learns() -> None:
    """Precision, F1, support and the off-diagonal cells of 300 drawn decisions over four classes."""
    draw = random.Random(7)
    names = ["a", "b", "c", "d"]
    truth = [draw.choice(names) for _ in range(300)]
    said = [draw.choice([one, one, *names]) for one in truth]
    made = per_class([ClassRow(decision, label) for decision, label in zip(said, truth, strict=True)])
    precision, _, f1, support = precision_recall_fscore_support(truth, said, labels=names)
    cells = confusion_matrix(truth, said, labels=names)
    for at, name in enumerate(names):
        assert made[f"precision_{name}"] == pytest.approx(precision[at], abs=1e-12)
        assert made[f"f1_{name}"] == pytest.approx(f1[at], abs=1e-12)
        assert made[f"support_{name}"] == support[at]
        for other, found in enumerate(names):
            if other != at:
                assert made.get(f"confused_{name}_as_{found}", 0) == cells[at][other]


def test_a_class_that_is_never_predicted_has_no_precision() -> None:
    """0 / 0 is not 0: the key is absent. Nothing scored gives nothing."""
    assert "precision_close" not in per_class([ClassRow("file", "close"), ClassRow("file", "file")])
    assert per_class([]) == {}


def test_many_classes_give_no_cells() -> None:
    """The square of 13 classes would flood a run's figures; their F1 is still given."""
    names = [f"c{n:02}" for n in range(MOST_CLASSES + 1)]
    made = per_class([ClassRow(names[0], name) for name in names])
    assert not [key for key in made if key.startswith("confused_")]
    assert made["f1_c12"] == 0.0
