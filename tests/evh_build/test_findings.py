"""What the pages say of production where labels are texts of their own, and of how many items a figure is."""

from __future__ import annotations

import pytest

from evh.project.find import Project
from evh_build import findings, standings
from evh_build.gather import Gathered
from evh_build.source import Source
from tests.helpers import Builder

N = 17
"""One more label than a set of classes has here."""


@pytest.fixture
def source(project: Project) -> Source:
    """Production on 17 items, each with a long label of its own; it answered `a` on ten and `b` on seven."""
    builder = Builder(project)
    names = [f"i{n:02}" for n in range(N)]
    builder.dataset("d", {name: f"text {name}" for name in names})
    builder.labels("d", "texts", {name: f"{name}: {'a long label ' * 40}\nline two" for name in names})
    builder.capture("c", [{"record_id": "r"}])
    builder.config("production", params={"provider": "recorded", "capture": "c"})
    decided = {name: "a" if n < 10 else "b" for n, name in enumerate(names)}
    run = builder.run("production", "d", decided, params={"provider": "recorded", "capture": "c"})
    scores = {name: {"correct": 0.0} | ({"share": 0.5} if n < 3 else {}) for n, name in enumerate(names)}
    builder.rescored(run, decided, scores, against="labels/d/texts", primary_metric="share")
    return Source(Gathered(project), max_item_text=1000)


def test_labels_that_are_texts_are_counted_by_decision(source: Source) -> None:
    """Two lines, not seventeen: no two items share a label, so the ways of being wrong are the decisions."""
    (found,) = findings.findings(source, "d")
    assert (found.wrong, found.of) == (17, 17)
    assert [(kind.decision, kind.answer, kind.n) for kind in found.kinds] == [("a", None, 10), ("b", None, 7)]


def test_a_long_label_is_cut_to_a_line(source: Source) -> None:
    """At most a hundred characters, on one line; the item's page has the whole."""
    (found,) = findings.findings(source, "d")
    assert max(len(item.answer) for item in found.items) <= 100
    assert found.items[0].answer.startswith("i00: a long label")
    assert "\n" not in found.items[0].answer


def test_a_figure_says_over_how_many_items_it_is(source: Source) -> None:
    """Three items have the first metric and seventeen another: the figure is over three."""
    (group,) = standings.groups(source, "d")
    assert group.metrics[0] == "share"
    assert (group.rows[0].n, group.rows[0].of) == (3, 17)


def test_the_finding_to_read_stands_first(project: Project) -> None:
    """A reference, the winner's set, a person's, a rule's; then what was settled later, and a model's."""
    builder = Builder(project)
    builder.dataset("d", {"one": "text 1", "two": "text 2"})
    answers = {"one": "yes", "two": "no"}
    builder.capture("c", [{"record_id": "r"}])
    builder.labels("d", "a_model", answers, source={"kind": "model", "config_id": "other"})
    builder.labels("d", "b_first", answers)
    builder.labels("d", "c_rule", answers, source={"kind": "rule", "capture": "c"})
    builder.labels("d", "d_person", answers)
    settled = builder.labels(
        "d", "e_settled", answers, parents=({"set": "d/b_first", "labels_sha256": "0" * 64},)
    )
    decided: dict[str, str | None] = {"one": "yes", "two": "yes"}
    params = {"provider": "recorded", "capture": "c"}
    run = builder.run("production", "d", decided, params=params)
    scores = {"one": {"correct": 1.0}, "two": {"correct": 0.0}}
    builder.rescored(run, decided, scores, against="labels/d/e_settled")

    def order() -> list[str]:
        source = Source(Gathered(project), max_item_text=1000)
        return [one.mark.name for one in findings.findings(source, "d")]

    assert order() == ["e_settled", "d_person", "c_rule", "b_first", "a_model"]
    builder.reference("silver/agreed", settled)
    assert order() == ["agreed", "d_person", "c_rule", "b_first", "a_model"]
