"""``labels``: every set on a dataset's bytes, counted by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evh.acts.labels import report, report_all
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def builder(project: Project) -> Builder:
    """A dataset ``d`` of four items, its task ``t``."""
    made = Builder(project)
    made.dataset("d", {"i1": "one", "i2": "two", "i3": "three", "i4": "four"}, task="t")
    return made


def test_two_sets_agree_as_counted_by_hand(project: Project, builder: Builder) -> None:
    """po = 3/4, pe = 1/2, so kappa is 1/2; alpha = 1 - (1/4) / (30/56) = 8/15."""
    builder.labels("d", "a", {"i1": "y", "i2": "y", "i3": "n", "i4": "n"})
    builder.labels("d", "b", {"i1": "y", "i2": "n", "i3": "n", "i4": "n"})
    (task,) = report(project, "d").tasks
    (pair,) = task.pairs
    assert (pair.a, pair.b, pair.agreement.n, pair.agreement.same) == ("d/a", "d/b", 4, 3)
    assert pair.agreement.kappa == pytest.approx(0.5)
    assert task.alpha == pytest.approx(8 / 15)
    assert task.alpha_n == 4
    assert pair.agreement.too_few
    assert task.alpha_too_few


def test_answers_that_meet_are_counted_apart(project: Project, builder: Builder) -> None:
    """Answers a-or-b and a meet and are not the same; a trailing newline changes nothing."""
    builder.labels("d", "a", {"i1": '{"accept": ["a", "b"]}', "i2": "c\n"})
    builder.labels("d", "b", {"i1": "a", "i2": "c"})
    (task,) = report(project, "d").tasks
    assert (task.pairs[0].agreement.same, task.pairs[0].agreement.sharing) == (1, 1)
    assert task.sets[0].distinct == 2


def test_sets_of_other_datasets_count_by_bytes_after_the_own_ones(project: Project, builder: Builder) -> None:
    """A set of another dataset with one equal text covers one item here, and comes after the own set."""
    builder.dataset("c", {"x": "two", "y": "elsewhere"}, task="t")
    builder.labels("c", "a", {"x": "y", "y": "n"})
    builder.labels("d", "z", {"i2": "y"})
    (task,) = report(project, "d").tasks
    assert [(one.ref, one.covered, one.of, one.own) for one in task.sets] == [
        ("d/z", 1, 4, True),
        ("c/a", 1, 4, False),
    ]
    assert task.pairs[0].agreement.n == 1


def test_items_of_equal_bytes_are_covered_together(project: Project, builder: Builder) -> None:
    """One label of a text covers both items that hold it; pairs count the text once."""
    builder.dataset("e", {"p": "same", "q": "same"}, task="t")
    builder.labels("e", "a", {"p": "y"})
    (task,) = report(project, "e").tasks
    assert (task.sets[0].covered, task.sets[0].majority, task.sets[0].majority_share) == (2, "y", 1.0)


def test_sets_of_two_tasks_never_meet(project: Project, builder: Builder) -> None:
    """A set names its task, else has its dataset's; the dataset's own task comes first."""
    builder.labels("d", "a", {"i1": "y"})
    builder.labels("d", "b", {"i1": "high"}, task="severity")
    made = report(project, "d")
    assert [(task.task, [one.ref for one in task.sets], task.pairs) for task in made.tasks] == [
        ("t", ["d/a"], ()),
        ("severity", ["d/b"], ()),
    ]
    assert [task.task for task in report(project, "d", task="severity").tasks] == ["severity"]


def test_a_reference_joins_and_says_what_it_came_from(project: Project, builder: Builder) -> None:
    """Promoted from a set: the pair is marked, the set names it, and alpha counts the labels once."""
    a = builder.labels("d", "a", {"i1": "y", "i2": "n"})
    builder.labels("d", "b", {"i1": "y", "i2": "y"})
    builder.reference("gold/d", a)
    (task,) = report(project, "d").tasks
    assert [(one.ref, one.kind, one.source_kind) for one in task.sets] == [
        ("d/a", "labels", "person"),
        ("d/b", "labels", "person"),
        ("gold/d", "reference", "person"),
    ]
    assert task.sets[0].promoted_into == ("gold/d",)
    assert {(pair.a, pair.b): pair.derived for pair in task.pairs} == {
        ("d/a", "d/b"): False,
        ("d/a", "gold/d"): True,
        ("d/b", "gold/d"): False,
    }
    # Over a and b alone: y y / n y, so alpha = 1 - (2/4) / (6/12) = 0.
    assert task.alpha == pytest.approx(0.0)


def test_guidelines_are_compared(project: Project, builder: Builder) -> None:
    """Only two guidelines that are both known can differ."""
    for name, digest in (("a", "1" * 64), ("b", "2" * 64)):
        builder.labels("d", name, {"i1": "y"}, guideline={"file": "~guideline.md", "sha256": digest})
    builder.labels("d", "c", {"i1": "y"})
    (task,) = report(project, "d").tasks
    assert [pair.guideline_differs for pair in task.pairs] == [True, False, False]


def test_a_set_that_cannot_be_read_is_a_warning(project: Project, builder: Builder, evh: CommandLine) -> None:
    """One broken set takes nothing from the others."""
    builder.labels("d", "a", {"i1": "y"})
    builder.labels("d", "b", {"i1": "y"})
    (project.data / "labels/d/b/i1.txt").unlink()
    (project.data / "labels/d/c").mkdir()
    (project.data / "labels/d/c/labels.json").write_bytes(b"{")
    document = check(evh.ok("labels", "--json").json, "labels")
    sets = [one["ref"] for one in document["datasets"][0]["tasks"][0]["sets"]]
    assert sets == ["d/a"]
    assert len(document["warnings"]) == 2


def test_what_preceded_the_decision_is_said_wherever_the_set_is_shown(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """The counts of a rule set's rules are summed and told in words; so are conflicts and own labels."""
    rules = [
        {"name": "a", "n_preceding": 5, "n_timed": 7, "reads_output": False},
        {"name": "b", "n_preceding": 1, "n_timed": 2, "reads_output": True},
    ]
    builder.labels(
        "d", "a", {"i1": "y", "i2": "y"}, source={"kind": "rule", "capture": "c", "rules_file": "x/r.yaml"},
        rules=tuple(rules), conflicts={"0" * 64: ["y", "n"]},
    )  # fmt: skip
    out = evh.ok("labels", "--dataset-id", "d").out
    assert "d/a: for 6 of 9 labels the outcome came before the decision" in out
    assert "takes its answer from the recorded decision" in out
    assert "1 text of equal bytes got different answers" in out
    assert "one answer only" in out


def test_the_terminal_shows_pairs_and_matrices(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Two sets: their pair with "too few to say", alpha with its scale, and with --confusion the counts."""
    builder.labels("d", "a", {"i1": "y", "i2": "y", "i3": "n", "i4": "n"})
    builder.labels(
        "d", "b", {"i1": "y", "i2": "n", "i3": "n", "i4": "n"}, source={"kind": "person", "by": "bob"}
    )
    out = evh.ok("labels", "--dataset-id", "d", "--confusion").out
    line = next(line for line in out.splitlines() if line.startswith("d/a × d/b"))
    assert " ".join(line.split()) == "d/a × d/b 4 75.0% 0.0% 0.500 0.529 0.533 too few to say"
    assert "alpha (nominal) over all sets: 0.533" in out
    assert "rows d/a, columns d/b" in out
    rows = [line.split() for line in out.splitlines()]
    assert ["n", "2", "0", "2"] in rows
    assert ["y", "1", "1", "2"] in rows
    assert "1 × y against n: i2" in out


def test_the_document_is_what_its_schema_says(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Figures are unrounded and the matrix is there."""
    a = builder.labels("d", "a", {"i1": "y", "i2": "y", "i3": "n", "i4": "n"})
    builder.labels("d", "b", {"i1": "y", "i2": "n", "i3": "n", "i4": "n"})
    builder.reference("silver/d", a)
    document = check(evh.ok("labels", "--dataset-id", "d", "--json").json, "labels")
    pair = document["datasets"][0]["tasks"][0]["pairs"][0]
    assert (pair["categories"], pair["counts"]) == (["n", "y"], [[2, 0], [1, 1]])


def test_every_dataset_is_reported(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Without --dataset-id each dataset stands, also one without labels; with none at all that is said."""
    builder.dataset("e", {"x": "other"})
    builder.labels("d", "a", {"i1": "y"})
    assert [(one.dataset_id, len(one.tasks)) for one in report_all(project)] == [("d", 1), ("e", 0)]
    assert "no label set labels its bytes yet" in evh.ok("labels").out
    assert report_all(project, task="other") == []
    assert "no dataset has a set of the task other" in evh.ok("labels", "--task", "other").out


def test_an_empty_project_has_no_labels(evh: CommandLine) -> None:
    """Nothing to list is no error."""
    assert "no dataset yet" in evh.ok("labels").out
    assert check(evh.ok("labels", "--json").json, "labels")["datasets"] == []


@pytest.mark.parametrize(
    ("code", "words"),
    [("no-such-dataset", ["--dataset-id", "x"]), ("no-such-task", ["--dataset-id", "d", "--task", "x"])],
)
def test_what_is_not_there_is_refused(
    builder: Builder, evh: CommandLine, code: str, words: list[str]
) -> None:
    """A dataset and a task that are not there are refused."""
    builder.labels("d", "a", {"i1": "y"})
    evh.refused(code, "labels", *words)


def test_a_small_project_needs_no_heavy_import(project: Project, builder: Builder) -> None:
    """``evh labels --json`` loads none of the packages that cost more than the command."""
    builder.labels("d", "a", {"i1": "y", "i2": "n"})
    builder.labels("d", "b", {"i1": "y", "i2": "y"})
    code = (
        "import sys\nfrom evh.cli.main import cli\n"
        "cli.main(['-C', sys.argv[1], 'labels', '--json'], standalone_mode=False)\n"
        "heavy = {'numpy', 'duckdb', 'pyarrow', 'rich', 'yaml', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(f'loaded {sorted(heavy)}' if heavy else 0)"
    )
    environ: dict[str, Any] = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(project.root)],
        check=False,
        capture_output=True,
        text=True,
        env=environ,
    )
    assert done.returncode == 0, done.stderr


def test_a_reference_has_the_guidelines_of_its_sets(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Promoted from a set under guideline 1…, it differs from a set under 2… and not from one under 1…."""
    texts = {"i1": "y", "i2": "n"}
    first = builder.labels("d", "a", texts, guideline={"file": "~guideline.md", "sha256": "1" * 64})
    builder.labels("d", "b", texts, guideline={"file": "~guideline.md", "sha256": "2" * 64})
    builder.labels("d", "c", texts, guideline={"file": "~guideline.md", "sha256": "1" * 64})
    builder.reference("silver/ref", first)
    (task,) = report(project, "d").tasks
    differ = {pair.a: pair.guideline_differs for pair in task.pairs if pair.b == "silver/ref"}
    assert differ == {"d/a": False, "d/b": True, "d/c": False}
    document = check(evh.ok("labels", "--dataset-id", "d", "--json").json, "labels")
    row = next(one for one in document["datasets"][0]["tasks"][0]["sets"] if one["kind"] == "reference")
    assert (row["guideline_sha256"], row["guidelines_sha256"]) == ("1" * 64, ["1" * 64])
    shown = evh.ok("labels", "--dataset-id", "d").out.splitlines()
    assert [("guidelines differ" in line) for line in shown if "d/b × silver/ref" in line] == [True]
