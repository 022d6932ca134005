"""``labels``: scales, intervals and where they are kept, settled items, ceilings, anchoring, guidelines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evh.acts.labels import Pair, TaskAgreement, report, report_all
from evh.measure.scale import Scale
from evh.project import labels
from evh.project.find import Project
from evh.records.labelset import LabelSet
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

WIDE = '{"accept": ["a", "b"]}'


@pytest.fixture
def builder(project: Project) -> Builder:
    """A dataset ``d`` of thirty items, its task ``t``."""
    made = Builder(project)
    made.dataset("d", {f"i{n:02}": f"text {n}" for n in range(30)}, task="t")
    return made


def given(answers: str) -> dict[str, str]:
    """Return a label an item: the letters one after another, from the first item on."""
    return {f"i{n:02}": letter for n, letter in enumerate(answers)}


def person(name: str) -> dict[str, str]:
    """Return the source of a person's set."""
    return {"kind": "person", "by": name}


def the_task(project: Project, **more: Any) -> TaskAgreement:
    """Return the one task of ``d``."""
    (task,) = report(project, "d", **more).tasks
    return task


def pair_of(task: TaskAgreement, a: str, b: str) -> Pair:
    """Return the pair of two sets."""
    (pair,) = [one for one in task.pairs if (one.a, one.b) == (a, b)]
    return pair


def write(builder: Builder, made: LabelSet, items: dict[str, Any], texts: dict[str, str]) -> None:
    """Write a set whose items say more than their bytes."""
    told = {key: replace(one, **items.get(key, {})) for key, one in made.items.items()}
    labels.write_new(
        builder.project, replace(made, items=told), {key: text.encode() for key, text in texts.items()}
    )


# ---------------------------------------------------------------------------------------------- intervals


def test_a_pair_of_enough_items_has_intervals(project: Project, builder: Builder) -> None:
    """Thirty items that differ in six: each figure lies in its interval; four items have none."""
    builder.labels("d", "a", given("ab" * 15), source=person("ann"))
    builder.labels("d", "b", given("ab" * 12 + "bbbbaa"), source=person("bob"))
    task = the_task(project)
    (pair,) = task.pairs
    for value, interval in (
        (pair.agreement.kappa, pair.kappa_interval),
        (pair.agreement.ac1, pair.ac1_interval),
        (pair.agreement.alpha, pair.alpha_interval),
        (task.alphas[0].value, task.alphas[0].interval),
    ):
        assert interval is not None
        assert value is not None
        assert interval.low < value < interval.high
    builder.dataset("e", {f"i{n:02}": f"text {n}" for n in range(4)}, task="t")
    (few,) = report(project, "e").tasks
    assert few.pairs[0].agreement.too_few
    assert few.pairs[0].kappa_interval is None
    assert few.alphas[0].interval is None


def test_intervals_are_kept_and_never_believed_over_the_counts(project: Project, builder: Builder) -> None:
    """The second look reads them; other counts, another seed or a broken file make them anew."""
    builder.labels("d", "a", given("ab" * 15))
    builder.labels("d", "b", given("ab" * 12 + "bbbbaa"))
    first = the_task(project)
    kept = project.root / ".cache" / "statistics" / "intervals.json"
    data = kept.read_bytes()
    assert the_task(project) == first
    assert kept.read_bytes() == data
    kept.write_bytes(b'{"x": 3, "y": [["a"]]')
    assert the_task(project) == first
    (project.root / "evh.toml").write_text("[statistics]\nseed = 1\n", encoding="utf-8")
    other = Project.find(home=project.root)
    assert the_task(other).pairs[0].kappa_interval != first.pairs[0].kappa_interval
    assert the_task(project) == first


def test_a_project_that_cannot_be_written_to_is_read_all_the_same(project: Project, builder: Builder) -> None:
    """A file where ``.cache`` would be: nothing is kept, and the figures are there."""
    builder.labels("d", "a", given("ab" * 15))
    builder.labels("d", "b", given("ab" * 12 + "bbbbaa"))
    (project.root / ".cache").write_bytes(b"")
    assert the_task(project).pairs[0].kappa_interval is not None


# ------------------------------------------------------------------------------------------------- scales


def test_numbers_have_weighted_kappa_and_a_declared_scale_has_alpha(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Undeclared: nominal alpha alone, kappa weighted all the same. Declared: alpha of that scale too."""
    builder.labels("d", "a", given("123" * 10), source=person("ann"))
    builder.labels("d", "b", given("123" * 9 + "223"), source=person("bob"))
    task = the_task(project)
    assert [one.scale for one in task.alphas] == ["nominal"]
    assert task.pairs[0].agreement.kappa_linear is not None
    task = the_task(project, scale=Scale("interval"))
    assert [one.scale for one in task.alphas] == ["nominal", "interval"]
    assert task.alphas[1].value is not None
    assert task.alphas[1].interval is not None
    out = evh.ok("labels", "--dataset-id", "d", "--scale", "ratio").out
    assert "Krippendorff's alpha (ratio) over all sets: 0." in out
    assert "quadratic" in out


def test_a_scale_is_declared_for_a_task_in_the_settings(project: Project, builder: Builder) -> None:
    """An ordinal scale of words by ``evh.toml``: kappa is weighted by places, and alpha is ordinal."""
    words = {"l": "low", "m": "mid", "h": "high"}
    builder.labels("d", "a", {key: words[one] for key, one in given("lmh" * 10).items()})
    builder.labels("d", "b", {key: words[one] for key, one in given("lmh" * 9 + "mmh").items()})
    assert the_task(project).pairs[0].agreement.kappa_linear is None
    (project.root / "evh.toml").write_text(
        '[tasks.t]\nscale = "ordinal"\norder = ["low", "mid", "high"]\n', encoding="utf-8"
    )
    task = the_task(Project.find(home=project.root))
    assert task.scale == Scale("ordinal", ("low", "mid", "high"))
    assert task.pairs[0].agreement.kappa_linear is not None
    assert [one.scale for one in task.alphas] == ["nominal", "ordinal"]
    assert task.off_scale == ()


def test_labels_off_a_declared_scale_are_named_and_give_no_alpha(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """One word that the order does not hold: no ordinal alpha, and the reason is told."""
    (project.root / "evh.toml").write_text('[tasks.t]\norder = ["a", "b"]\n', encoding="utf-8")
    builder.labels("d", "a", given("ab" * 14 + "ac"))
    builder.labels("d", "b", given("ab" * 15))
    task = the_task(Project.find(home=project.root))
    assert task.off_scale == (("c", 1),)
    assert task.alphas[1].value is None
    assert "not on the ordinal scale, which therefore gives no alpha: c (1)" in evh.ok("labels").out


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("off-scale", ["--scale", "interval"]),
        ("off-scale", ["--order", "a,z"]),
        ("bad-scale", ["--scale", "ratio", "--order", "a,b"]),
        ("bad-scale", ["--order", "a,b,a"]),
        ("bad-scale", ["--order", "a,,b"]),
        ("bad-scale", ["--order", "a"]),
    ],
)
def test_a_scale_that_cannot_be_is_refused(
    builder: Builder, evh: CommandLine, code: str, words: list[str]
) -> None:
    """Labels that are not on it, or an order that is none."""
    builder.labels("d", "a", given("ab" * 15))
    evh.refused(code, "labels", "--dataset-id", "d", *words)


@pytest.mark.parametrize(
    "text",
    ['[tasks.t]\nscale = "big"\n', '[tasks.t]\nscale = "ratio"\norder = ["a", "b"]\n', "[tasks]\nt = 3\n"],
)
def test_a_declaration_that_cannot_be_read_is_refused(
    project: Project, builder: Builder, evh: CommandLine, text: str
) -> None:
    """A scale that is none, an order where none belongs, no table."""
    (project.root / "evh.toml").write_text(text, encoding="utf-8")
    evh.refused("bad-record", "labels")


# --------------------------------------------------------------------------------------- adjudicated pairs


def test_settled_items_leave_the_list_until_a_parent_changes(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Two of three differences are settled: one is left. Named with another digest, the parent is another."""
    a = builder.labels("d", "a", given("a" * 15 + "b" * 15), source=person("ann"))
    b = builder.labels("d", "b", given("bbb" + "a" * 12 + "b" * 15), source=person("bob"))
    texts = {"i00": "a", "i01": "b"}
    base = LabelSet(
        "d", "c", person("cat"), {key: a.items[key] for key in texts}, "", created_at="2026-10-02T00:00:00Z",
        parents=tuple({"set": one.ref, "labels_sha256": one.labels_sha256} for one in (a, b)),
    )  # fmt: skip
    write(builder, base, {"i00": {"settled": "chosen"}, "i01": {"settled": "new"}}, texts)
    task = the_task(project)
    pair = pair_of(task, "d/a", "d/b")
    assert [(cost.a, cost.b, cost.count, cost.items) for cost in pair.costs] == [("a", "b", 1, ("i02",))]
    assert (pair.agreement.settled, pair.agreement.same) == (2, 27)
    assert pair_of(task, "d/a", "d/c").derived
    assert task.pooled == ("d/a", "d/b")
    assert "2 differences settled by a later set" in evh.ok("labels", "--confusion").out
    stale = replace(base, set="e", parents=({"set": "d/a", "labels_sha256": "0" * 64}, base.parents[1]))
    (project.data / "labels/d/c/labels.json").unlink()
    write(builder, stale, {"i00": {"settled": "chosen"}}, texts)
    assert pair_of(the_task(project), "d/a", "d/b").costs[0].items == ("i00", "i01", "i02")


# ------------------------------------------------------------------------------------- people and proposals


def test_one_persons_two_passes_are_a_ceiling(project: Project, builder: Builder) -> None:
    """The same name on two sets, or a set that says which one it labelled again; two people are none."""
    builder.labels("d", "a", given("ab" * 15), source=person("ann"))
    builder.labels("d", "b", given("ab" * 14 + "bb"), source=person("ann"), relabel_of="a")
    builder.labels("d", "c", given("ab" * 13 + "bbbb"), source=person("cat"))
    task = the_task(project)
    assert [(pair.a, pair.b, pair.same_person) for pair in task.pairs] == [
        ("d/a", "d/b", "ann"),
        ("d/a", "d/c", ""),
        ("d/b", "d/c", ""),
    ]
    # The second pass is no third voice.
    assert task.pooled == ("d/a", "d/c")


def test_anchoring_is_agreement_with_what_was_seen_and_what_was_hidden(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Seen: 9 of 10 as proposed; hidden: 3 of 10; the difference 0.6 with Newcombe's 0.1705 to 0.8090."""
    made = builder.labels("d", "x", given("a" * 20))
    base = replace(made, set="y")
    proposals = {}
    for n in range(20):
        seen = n < 10
        agrees = n < 9 if seen else n < 13
        proposals[f"i{n:02}"] = {"proposal": {"text": "a" if agrees else "b", "shown": seen}}
    write(builder, base, proposals, given("a" * 20))
    (found,) = [one.anchoring for one in the_task(project).sets if one.ref == "d/y"]
    assert found is not None
    assert (found.shown, found.shown_same, found.hidden, found.hidden_same) == (10, 9, 10, 3)
    assert found.difference == pytest.approx(0.6)
    assert found.interval is not None
    assert (round(found.interval.low, 4), round(found.interval.high, 4)) == (0.1705, 0.809)
    assert "90% of 10 labels are the proposal where it was in sight" in evh.ok("labels").out
    assert [one.anchoring for one in the_task(project).sets if one.ref == "d/x"] == [None]


def test_alpha_over_two_guidelines_says_so(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Sets under different guidelines are compared, and pooled only with the word."""
    for name, digest in (("a", "1" * 64), ("b", "2" * 64)):
        builder.labels("d", name, given("ab" * 15), guideline={"file": "~guideline.md", "sha256": digest})
    assert the_task(project).guidelines == 2
    assert "alpha pools sets under 2 different guidelines" in evh.ok("labels").out


# ------------------------------------------------------------------------------------------ several answers


def test_a_set_of_several_answers_is_explained(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Every label of b accepts a too: kappa is 0, MASI alpha is not, and the words say why."""
    builder.labels("d", "a", given("a" * 20 + "c" * 10))
    builder.labels(
        "d", "b", {key: WIDE if one == "a" else one for key, one in given("a" * 20 + "c" * 10).items()}
    )
    task = the_task(project)
    (pair,) = task.pairs
    assert (pair.agreement.several, pair.agreement.sharing) == ((0, 20), 20)
    assert [one.scale for one in task.alphas] == ["nominal", "masi", "jaccard"]
    assert "on 20 of 30 texts the two share one. MASI weighs that." in evh.ok("labels").out


def test_fleiss_kappa_is_given_where_every_item_has_as_many_labels(
    project: Project, builder: Builder
) -> None:
    """Three complete sets have it; where one set lacks an item there is none."""
    for name in "abc":
        builder.labels("d", name, given("ab" * 14 + name * 2), source=person(name))
    task = the_task(project)
    assert task.fleiss is not None
    assert task.fleiss_raters == 3
    builder.dataset("e", {"i00": "text 0", "i01": "text 1", "new": "new"}, task="t")
    builder.labels("e", "z", {"new": "a"})
    (other,) = report(project, "e").tasks
    assert (other.fleiss, other.fleiss_raters) == (None, 0)


def test_the_document_holds_every_figure(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The JSON of a rich report is as its schema says, and its costs name items."""
    builder.labels("d", "a", given("123" * 10), source=person("ann"))
    builder.labels(
        "d", "b", given("123" * 9 + "223") | {"i00": '{"accept": ["1", "2"]}'}, source=person("ann")
    )
    document = check(evh.ok("labels", "--dataset-id", "d", "--json").json, "labels")
    (task,) = document["datasets"][0]["tasks"]
    (pair,) = task["pairs"]
    assert pair["same_person"] == "ann"
    assert pair["kappa_low"] < pair["kappa"] < pair["kappa_high"]
    assert pair["costs"][0] == {"a": "1", "b": "2", "items": ["i27"], "n": 1}
    assert [one["scale"] for one in task["alphas"]] == ["nominal", "masi", "jaccard"]
    assert json.dumps(document)  # no NaN is among them
    assert "NaN" not in evh.ok("labels", "--json").out


def test_all_datasets_share_one_scale_and_one_file(project: Project, builder: Builder) -> None:
    """``report_all`` gives for each dataset what ``report`` gives."""
    builder.labels("d", "a", given("12" * 15))
    builder.labels("d", "b", given("12" * 14 + "22"))
    builder.dataset("e", {"i00": "text 0"}, task="t")
    every = report_all(project, scale=Scale("interval"))
    assert every == [report(project, name, scale=Scale("interval")) for name in ("d", "e")]
    assert (Path(project.root) / ".cache/statistics/intervals.json").is_file()
