"""Scores of outputs, checked by hand and against scikit-learn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, recall_score

from evh.measure.scores import (
    ClassRow,
    Majority,
    classification,
    closest_f1,
    distinct_answers,
    exact,
    floor_rate,
    majority_rate,
    text_f1,
)

NONE_OR_POC = '{"accept": ["none", "poc"]}'

# Seven rows that the tests below count by hand.
TRIAGE = [
    ClassRow("active", "active"),
    ClassRow("none", "active"),
    ClassRow("none", NONE_OR_POC),
    ClassRow("poc", NONE_OR_POC),
    ClassRow("poc", NONE_OR_POC),
    ClassRow("active", NONE_OR_POC),
    ClassRow("unsure", NONE_OR_POC),
]


@pytest.mark.parametrize(
    ("output", "score"),
    [("poc", 1.0), ("poc\n", 1.0), ("none", 1.0), ("PoC", 0.0), (" poc", 0.0), ("poc\n\n", 0.0), ("", 0.0)],
)
def test_exact_is_one_for_any_of_the_answers(output: str, score: float) -> None:
    """One trailing LF is dropped; nothing else is normalised."""
    assert exact(output, ("none", "poc")) == score


@pytest.mark.parametrize(
    ("output", "answer", "score"),
    [
        ("The cat sat.", "a cat sat on the mat", 2 / 3),  # cat sat | cat sat on mat: 2·2 / (2 + 4)
        ("no no yes", "no", 0.5),  # the overlap is a multiset's: 2·1 / (3 + 1)
        ("well-known", "wellknown", 1.0),  # punctuation is removed, not replaced by a space
        ("YES", "yes", 1.0),
        ("yes", "no", 0.0),
        ("the", "", 1.0),  # both without a token
        ("the", "cat", 0.0),  # one without a token
        ("them an", "them", 1.0),  # an article only as a whole word
    ],
)
def test_text_f1_is_the_overlap_of_squad_tokens(output: str, answer: str, score: float) -> None:
    """Hand-counted from SQuAD's normalisation, the tokens beside each case."""
    assert text_f1(output, answer) == score
    assert text_f1(answer, output) == score


def test_closest_f1_takes_the_best_answer() -> None:
    """Against "dog" it is 0, against "cat sat" 2·1 / (1 + 2)."""
    assert closest_f1("cat", ["dog", "cat sat"]) == 2 / 3


@given(st.text(), st.text())
def test_text_f1_is_a_share_and_symmetric(one: str, other: str) -> None:
    """Any two texts score within 0..1, the same both ways, and a text scores 1 against itself."""
    assert 0 <= text_f1(one, other) <= 1
    assert text_f1(one, other) == text_f1(other, one)
    assert text_f1(one, one) == 1


def test_classification_of_accept_lists_by_hand() -> None:
    """Active: 1 of 2 right, 2 predicted. None or poc: 3 of 5 right, 4 predicted (the wrong none is one)."""
    assert classification(TRIAGE) == pytest.approx(
        {
            "accuracy": 4 / 7,
            "balanced_accuracy": (1 / 2 + 3 / 5) / 2,
            "macro_f1": (2 / 4 + 6 / 9) / 2,
            "recall_active": 1 / 2,
            "recall_none_or_poc": 3 / 5,
        }
    )


def test_balanced_accuracy_of_one_answer_against_the_rest_by_hand() -> None:
    """Active is found in 1 of 2; of the other five, four are not called active ("unsure" is not)."""
    figures = classification(TRIAGE, positive="active")
    assert figures["balanced_accuracy"] == pytest.approx((1 / 2 + 4 / 5) / 2)
    assert {name: figures[name] for name in figures if name != "balanced_accuracy"} == {
        name: figure for name, figure in classification(TRIAGE).items() if name != "balanced_accuracy"
    }


def test_a_label_that_accepts_the_positive_among_others_speaks_for_neither_side() -> None:
    """Either decision is right there, so neither can lower the figure."""
    either = '{"accept": ["active", "poc"]}'
    rows = [ClassRow("active", "active"), ClassRow("none", "none")]
    for decision in ("active", "poc", "none"):
        figures = classification([*rows, ClassRow(decision, either)], positive="active")
        assert figures["balanced_accuracy"] == 1.0


@pytest.mark.parametrize("label", ["active", "none"])
def test_balanced_accuracy_against_the_rest_needs_both_sides(label: str) -> None:
    """Positives alone, or none, leave it undefined: the key is absent."""
    figures = classification([ClassRow("active", label)], positive="active")
    assert "balanced_accuracy" not in figures
    assert figures["accuracy"] == (1.0 if label == "active" else 0.0)


def test_classification_of_no_rows_has_no_figures() -> None:
    """Nothing scored: every figure is undefined."""
    assert classification([]) == {}


def test_a_decision_for_another_class_counts_against_the_narrowest_class_that_holds_it() -> None:
    """The wrong "none" is predicted as none (F1 2/3), so "none or poc" keeps its F1 of 1."""
    rows = [ClassRow("none", "active"), ClassRow("none", "none"), ClassRow("poc", NONE_OR_POC)]
    assert classification(rows)["macro_f1"] == pytest.approx((0 + 2 / 3 + 1) / 3)


def test_class_names_become_safe_keys() -> None:
    """Lower case; what is no letter or digit becomes an underscore."""
    assert "recall_escalate_now__at_once" in classification([ClassRow("x", "Escalate now (at once")])


def test_class_names_that_share_a_key_are_told_apart() -> None:
    """Two labels that differ by a sign keep a recall each, and so do an empty and a very long one."""
    rows = [ClassRow("a-b", "a-b"), ClassRow("x", "a b"), ClassRow("x", ""), ClassRow("x", "y" * 1000)]
    keys = [key for key in classification(rows) if key.startswith("recall_")]
    # The first 8 hex digits by sha256sum of: "a b", "a-b", the empty text.
    assert {"recall_a_b_c8687a08", "recall_a_b_d44362d6", "recall__e3b0c442"} <= set(keys)
    assert len(keys) == 4
    assert max(map(len, keys)) == len("recall_") + 60 + 1 + 8


LABELS = st.sampled_from(["a", "b", "c"])


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", "other"]), LABELS), min_size=1))
def test_classification_of_single_answers_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    """Accuracy, each recall, their mean and macro-F1 over the classes of the labels, for any decisions."""
    decided, truth = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    figures = classification(ClassRow(*pair) for pair in pairs)
    classes = sorted(set(truth))
    recalls = recall_score(truth, decided, labels=classes, average=None, zero_division=0.0)
    assert figures == pytest.approx(
        {
            "accuracy": accuracy_score(truth, decided),
            "balanced_accuracy": recalls.mean(),
            "macro_f1": f1_score(truth, decided, labels=classes, average="macro", zero_division=0.0),
            **{f"recall_{name}": recall for name, recall in zip(classes, recalls, strict=True)},
        }
    )


def test_balanced_accuracy_equals_scikit_learns_own() -> None:
    """``balanced_accuracy_score`` itself, three classes of unequal size, and two with a positive one."""
    truth, decided = list("aaaabbc"), list("aabcbac")
    rows = [ClassRow(*pair) for pair in zip(decided, truth, strict=True)]
    assert classification(rows)["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, decided))
    found = [label == "a" for label in truth]
    said = [decision == "a" for decision in decided]
    binary = classification(rows, positive="a")["balanced_accuracy"]
    assert binary == pytest.approx(balanced_accuracy_score(found, said))


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1))
def test_classification_does_not_depend_on_the_order_of_rows(pairs: list[tuple[str, str]]) -> None:
    """The same rows turned round give the same bytes, keys in the same order."""
    rows = [ClassRow(*pair) for pair in pairs]
    assert list(classification(rows).items()) == list(classification(rows[::-1]).items())


def test_majority_rate_is_what_the_best_constant_arm_scores() -> None:
    """40 none, 35 none or poc, 25 active: always saying none is right 75 times of 100."""
    labels = ["none"] * 40 + [NONE_OR_POC] * 35 + ["active"] * 25
    assert majority_rate(labels) == Majority(("none",), 75, 100, 0.75)


def test_texts_have_no_floor() -> None:
    """Two kinds have one; free texts, each given once, and seventeen kinds have none."""
    assert floor_rate(["a", "b", "a"]) == Majority(("a",), 2, 3, 2 / 3)
    assert floor_rate(["one text", "another text"]) is None
    assert floor_rate([f"k{n % 16}" for n in range(32)]) is not None
    assert floor_rate([f"k{n % 17}" for n in range(34)]) is None


def test_majority_rate_names_all_that_tie() -> None:
    """Answers that are right equally often are all named, by text."""
    assert majority_rate(["active", NONE_OR_POC, NONE_OR_POC]) == Majority(("none", "poc"), 2, 3, 2 / 3)
    assert majority_rate([]) is None


@pytest.mark.parametrize(
    ("labels", "number"),
    [
        ([], 0),
        (["a", "a"], 1),
        (["a", "b", "a"], 2),
        (["active", NONE_OR_POC], 2),
        ([NONE_OR_POC], 1),
        (["none", NONE_OR_POC], 1),  # always saying none is never wrong
        (["none", "poc", NONE_OR_POC], 3),
    ],
)
def test_distinct_answers_is_one_when_one_answer_is_always_right(labels: list[str], number: int) -> None:
    """Labels that a constant arm satisfies measure recall of that answer only."""
    assert distinct_answers(labels) == number
