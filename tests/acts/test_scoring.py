"""Scoring: labels joined to items by their bytes, means over the items scored, failures kept apart."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.acts import scoring
from evh.acts.scoring import Target
from evh.adapters.bundled import BUNDLED, DEFAULTS
from evh.adapters.hooks import Adapter
from evh.project.find import Project
from evh.records.run import Prediction
from tests.helpers import Builder

CLASSES = Adapter(
    "classification",
    hooks={},
    defaults={**DEFAULTS, **BUNDLED["classification"]},
    settings={},
    identity="",
    files={},
)


def target(texts: Mapping[str, str]) -> Target:
    """Return labels as a target."""
    return Target("labels/d/s", "labels/d/s", "labels", "0", texts)


def test_labels_follow_the_bytes(project: Project) -> None:
    """An item is labelled where the set labelled its bytes; the same id with other bytes is not."""
    build = Builder(project)
    build.dataset("d", {"one": "alpha", "two": "beta"})
    build.labels("d", "s", {"one": "A", "two": "B"})
    made = build.dataset("e", {"uno": "alpha", "two": "changed"})
    build.labels("e", "s", {"uno": "A"})
    assert dict(scoring.target_of_labels(project, made, "s").texts) == {"uno": "A"}
    label_set = build.labels("e", "t", {"two": "C"})
    assert dict(scoring.target_of_labels(project, made, label_set.ref).texts) == {"two": "C"}


def test_the_figures_of_a_classification() -> None:
    """Four items, by hand: a failed and an unlabelled one count nowhere; 1 of 2 is right; recalls 1 and 0."""
    rows = [Prediction("a"), Prediction("b"), Prediction("c"), Prediction("f", error="no answer")]
    labels = target({"a": "x", "b": "y", "f": "x"})
    made = scoring.score(CLASSES, rows, {"a": "x", "b": "x", "c": "x"}, labels, place="d")
    assert (made.n_scored, made.n_errors) == (2, 1)
    assert made.scores["correct"] == made.scores["accuracy"] == 0.5
    assert (made.scores["recall_x"], made.scores["recall_y"]) == (1.0, 0.0)
    assert made.scores["balanced_accuracy"] == 0.5
    assert [(row.decision, row.error) for row in made.rows] == [
        ("x", None),
        ("x", None),
        ("x", None),
        (None, "no answer"),
    ]


def test_what_was_measured_is_kept_and_old_scores_are_not() -> None:
    """Latency and hidden keys stay; a metric that the scorer no longer gives is gone."""
    row = Prediction("a", scores={"old": 1.0}, latency_ms=5, hidden={"_k": 1}, error="failed to score")
    made = scoring.score(CLASSES, [row], {"a": "x"}, target({"a": "x"}), place="d").rows[0]
    assert (made.latency_ms, made.hidden, made.scores, made.error) == (5, {"_k": 1}, {"correct": 1.0}, None)


@given(
    outputs=st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["x", "y"]), min_size=1),
    labels=st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["x", "y", "z"])),
    order=st.permutations("abcdefgh"),
)
def test_no_order_of_the_items_changes_a_figure(
    outputs: dict[str, str], labels: dict[str, str], order: list[str]
) -> None:
    """The same rows in any order give the same figures, bit for bit, and each row its own score."""
    plain = scoring.score(CLASSES, [Prediction(i) for i in "abcdefgh"], outputs, target(labels), place="d")
    mixed = scoring.score(CLASSES, [Prediction(i) for i in order], outputs, target(labels), place="d")
    assert plain.scores == mixed.scores
    assert plain.n_scored == mixed.n_scored == len(outputs.keys() & labels.keys())
    assert sorted(plain.rows, key=lambda row: row.item_id) == sorted(mixed.rows, key=lambda row: row.item_id)


@pytest.mark.parametrize("text", ["x" * 10_000, "\ud800"])
def test_an_error_is_short_and_can_be_stored(text: str) -> None:
    """Whatever a hook's error says, it is cut and can be written as UTF-8."""

    def deed() -> None:
        scoring_error(text)

    _, error = scoring.attempt(deed, "d/a")
    assert error is not None
    assert len(error) <= 2_000
    error.encode()


def scoring_error(text: str) -> None:
    """Refuse with a text."""
    from evh.errors import Refusal

    raise Refusal("adapter-failed", "it failed", why=[f"d/a: {text}"])


def test_a_mean_over_the_items_is_never_overwritten() -> None:
    """A run-level figure under a metric's name is left out and told: `validate` makes the mean again."""
    hooks = {"summarise": lambda _rows: {"correct": 0.9, "macro": 0.25}}
    adapter = Adapter("own", hooks=hooks, defaults=DEFAULTS, settings={}, identity="", files={})
    made = scoring.score(adapter, [Prediction("a")], {"a": "x"}, target({"a": "x"}), place="d")
    assert (made.scores["correct"], made.scores["macro"]) == (1.0, 0.25)
    assert made.problems == ("summarise returned 'correct', which the items have: their mean stands",)
