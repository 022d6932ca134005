"""``label-from-capture``: labels by rule, counted rule by rule, and everything that it refuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evh.project import labels
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

RULES = """
version: 1
kind: labels
rules:
  - name: listed
    when: {outcome: kev}
    label: active
    because: it is on the list
  - name: not_listed
    when: {no_outcome: kev}
    label: [none, poc]
"""


def record(record_id: str, item: str, *, kev: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a production record, decided on 2024-03-10 at noon."""
    outcomes = [{"kind": "kev", "value": kev, "ts": kev, "by": "list"}] if kev else []
    made = {"record_id": record_id, "ts": "2024-03-10T12:00:00Z", "item": item, "outcomes": outcomes}
    return {**made, **more}


@pytest.fixture
def rules(project: Project) -> Path:
    """The rule file of a list: on it, or not."""
    path = project.data / "rules" / "known.yaml"
    path.parent.mkdir()
    path.write_text(RULES)
    return path


def build(project: Project, records: Sequence[dict[str, Any]], **more: Any) -> None:
    """Write a capture ``c`` and a dataset ``d`` with an item for each of its records."""
    builder = Builder(project)
    builder.capture("c", records)
    builder.dataset(
        "d",
        {one["record_id"]: one["item"] for one in records},
        lineage={one["record_id"]: {"capture": "c", "record_id": one["record_id"]} for one in records},
        **more,
    )


FOUR = [
    record("r1", "one", kev="2024-03-09"),
    record("r2", "two", kev="2024-03-10"),
    record("r3", "three", kev="2024-03-11"),
    record("r4", "four"),
]


def label(evh: CommandLine, rules: Path, *words: str) -> Any:
    """Make the set ``d/s`` and return its row of the document."""
    outcome = evh.ok(
        "label-from-capture",
        "--dataset-id",
        "d",
        "--capture",
        "c",
        "--map",
        rules,
        "--set",
        "s",
        "--json",
        *words,
    )
    return check(outcome.json, "label-from-capture")["label_sets"][0]


def test_rules_label_each_item_by_its_record(project: Project, evh: CommandLine, rules: Path) -> None:
    """Counted by hand: three listed, two of them no later than the day of the decision, one not listed."""
    build(project, FOUR, task="exploitation")
    row = label(evh, rules)
    assert [row[key] for key in ("n_items", "of", "n_no_record", "n_no_rule", "n_in_conflict")] == [
        4,
        4,
        0,
        0,
        0,
    ]
    listed, rest = row["rules"]
    assert listed == {
        "name": "listed",
        "because": "it is on the list",
        "n_matched": 3,
        "n_labelled": 3,
        "n_timed": 3,
        "n_preceding": 2,
        "n_overlap": 0,
        "n_conflict": 0,
        "reads_output": False,
    }
    assert (rest["n_matched"], rest["n_labelled"], rest["n_timed"]) == (1, 1, 0)
    made = labels.read(project, "d", "s")
    assert labels.texts(project, made, verify=True) == {
        "r1": "active",
        "r2": "active",
        "r3": "active",
        "r4": '{"accept": ["none", "poc"]}',
    }
    assert made.task == "exploitation"
    assert made.version == 1
    assert made.source == {
        "kind": "rule",
        "capture": "c",
        "rules_file": "data/rules/known.yaml",
        "rules_sha256": sha256(RULES.encode()),
    }
    assert made.n_preceding == 2
    assert labels.guideline(project, made) == RULES.encode()
    assert (project.data / "labels/d/s/r1.txt").read_bytes() == b"active"


def test_people_are_told_what_came_before_the_decision(
    project: Project, evh: CommandLine, rules: Path
) -> None:
    """The plain output says for how many labels the outcome came first, and what to do next."""
    build(project, FOUR)
    Builder(project).run("arm", "d", {})
    outcome = evh.ok(
        "label-from-capture", "--dataset-id", "d", "--capture", "c", "--map", rules, "--set", "s"
    )
    assert "labelled 4 of 4 items of d as d/s" in outcome.out
    assert "evh rescore --dataset-id d --labels d/s" in outcome.out
    assert "for 2 of 3 labels the outcome came before the decision" in outcome.err


def test_a_guideline_and_a_task_can_be_given(
    project: Project, evh: CommandLine, rules: Path, tmp_path: Path
) -> None:
    """``--guideline`` replaces the rule file as the guideline, ``--task`` the dataset's task."""
    build(project, FOUR, task="exploitation")
    (tmp_path / "how.md").write_bytes(b"look at the list\n")
    assert label(evh, rules, "--guideline", str(tmp_path / "how.md"), "--task", "other")["task"] == "other"
    made = labels.read(project, "d", "s")
    assert labels.guideline(project, made) == b"look at the list\n"


def test_a_dry_run_writes_nothing(project: Project, evh: CommandLine, rules: Path) -> None:
    """The plan is told and no byte of the project changes."""
    build(project, FOUR)
    before = tree_bytes(project.root)
    assert label(evh, rules, "--dry-run")["written"] is False
    assert tree_bytes(project.root) == before


def test_items_without_lineage_are_found_by_their_bytes(
    project: Project, evh: CommandLine, rules: Path
) -> None:
    """An item of another dataset takes the record of equal bytes; one without such a record is counted."""
    builder = Builder(project)
    builder.capture("c", FOUR)
    builder.dataset("d", {"x": "one", "y": "elsewhere"})
    row = label(evh, rules)
    assert (row["n_items"], row["n_no_record"]) == (1, 1)


def test_a_record_of_the_same_id_and_other_bytes_is_not_the_items(
    project: Project, evh: CommandLine, rules: Path
) -> None:
    """Lineage names r4, whose bytes differ; the record of equal bytes, r1, gives the label."""
    builder = Builder(project)
    builder.capture("c", FOUR)
    builder.dataset("d", {"x": "one"}, lineage={"x": {"capture": "c0", "record_id": "r4"}})
    label(evh, rules)
    assert labels.texts(project, labels.read(project, "d", "s")) == {"x": "active"}


def test_equal_bytes_with_different_answers_stay_unlabelled(
    project: Project, evh: CommandLine, rules: Path
) -> None:
    """Two records of one text, one listed and one not: no label, listed as a conflict, counted."""
    twins = [record("r1", "same", kev="2024-03-09"), record("r2", "same"), record("r3", "other")]
    build(project, twins)
    row = label(evh, rules)
    assert (row["n_items"], row["n_in_conflict"]) == (1, 2)
    made = labels.read(project, "d", "s")
    assert made.conflicts == {sha256(b"same"): ["active", '{"accept": ["none", "poc"]}']}
    assert list(made.items) == ["r3"]


def test_conflicts_accept_makes_one_label_of_all_answers(
    project: Project, evh: CommandLine, rules: Path
) -> None:
    """The same two records with ``--conflicts accept``: both items accept all three answers."""
    build(project, [record("r1", "same", kev="2024-03-09"), record("r2", "same")])
    assert label(evh, rules, "--conflicts", "accept")["n_in_conflict"] == 0
    made = labels.read(project, "d", "s")
    assert set(labels.texts(project, made).values()) == {'{"accept": ["active", "none", "poc"]}'}
    assert made.conflicts == {}


def test_a_rule_that_reads_the_output_is_marked(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """``$output`` and a condition on the output both make the labels production's own."""
    build(project, [record("r1", "one", output="PoC"), record("r2", "two")])
    path = tmp_path / "cisa.yaml"
    path.write_text(
        "version: 1\nkind: labels\nnormalise: casefold\nrules:\n  - {name: said, when: {}, label: $output}\n"
    )
    row = label(evh, path)
    assert (row["n_items"], row["n_no_rule"], row["rules"][0]["n_matched"]) == (1, 1, 2)
    made = labels.read(project, "d", "s")
    assert made.reads_output
    assert labels.texts(project, made) == {"r1": "poc"}


CONFLICTING = """
version: 1
kind: labels
rules:
  - {name: a, when: {field: {x: 1}}, label: yes_a}
  - {name: b, when: {}, label: no_b}
"""


def test_conflicting_rules_are_refused_with_every_record(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """Two rules that answer one record differently: both records are named, nothing is written."""
    build(
        project, [record("r1", "1", fields={"x": 1}), record("r2", "2", fields={"x": 1}), record("r3", "3")]
    )
    path = tmp_path / "r.yaml"
    path.write_text(CONFLICTING)
    outcome = evh.refused(
        "rule-conflict",
        "label-from-capture",
        "--dataset-id",
        "d",
        "--capture",
        "c",
        "--map",
        path,
        "--set",
        "s",
    )
    why = outcome.json["refused"]["why"]
    assert [reason.split(": ")[1] for reason in why] == ["record r1", "record r2"]
    assert "a says 'yes_a'; b says 'no_b'" in why[0]
    assert not (project.data / "labels").exists()


def test_the_first_rule_wins_where_the_file_says_so(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """With ``on_conflict: first`` the earlier rule labels; overlap and conflict are counted for both."""
    build(project, [record("r1", "1", fields={"x": 1}), record("r2", "2")])
    path = tmp_path / "r.yaml"
    path.write_text(CONFLICTING + "on_conflict: first\n")
    counts = {one["name"]: one for one in label(evh, path)["rules"]}
    keys = ("n_matched", "n_labelled", "n_overlap", "n_conflict")
    assert [counts["a"][key] for key in keys] == [1, 1, 1, 1]
    assert [counts["b"][key] for key in keys] == [2, 1, 1, 1]


def test_a_set_is_never_replaced(project: Project, evh: CommandLine, rules: Path) -> None:
    """A second set of the same name is refused and the first stays as it was."""
    build(project, FOUR)
    label(evh, rules)
    before = tree_bytes(project.data / "labels")
    evh.refused(
        "existing-set",
        "label-from-capture",
        "--dataset-id",
        "d",
        "--capture",
        "c",
        "--map",
        rules,
        "--set",
        "s",
    )
    assert tree_bytes(project.data / "labels") == before


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("no-such-dataset", {"--dataset-id": "x"}),
        ("no-such-capture", {"--capture": "x"}),
        ("bad-id", {"--set": "a/b"}),
        ("cannot-read", {"--map": "nowhere.yaml"}),
        ("no-such-adapter", {"--adapter": "nowhere.py"}),
    ],
)
def test_what_is_not_there_is_refused(
    project: Project, evh: CommandLine, rules: Path, code: str, changes: dict[str, str]
) -> None:
    """Each name that leads nowhere is refused by its own code."""
    build(project, FOUR)
    options = {"--dataset-id": "d", "--capture": "c", "--map": str(rules), "--set": "s", **changes}
    evh.refused(code, "label-from-capture", *(word for pair in options.items() for word in pair))


def test_a_bad_rule_file_is_refused(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """A rule file with two faults is refused with both."""
    build(project, FOUR)
    path = tmp_path / "r.yaml"
    path.write_text("version: 3\nkind: labels\nrules: []\n")
    outcome = evh.refused(
        "bad-rules", "label-from-capture", "--dataset-id", "d", "--capture", "c", "--map", path, "--set", "s"
    )
    assert len(outcome.json["refused"]["why"]) == 1  # a file of another version is read no further


def test_nothing_labelled_is_refused_with_what_each_rule_found(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """A rule that matches no record gives no set, and says so."""
    build(project, FOUR)
    path = tmp_path / "r.yaml"
    path.write_text("version: 1\nkind: labels\nrules:\n  - {name: a, when: {outcome: never}, label: x}\n")
    outcome = evh.refused(
        "nothing-labelled",
        "label-from-capture",
        "--dataset-id",
        "d",
        "--capture",
        "c",
        "--map",
        path,
        "--set",
        "s",
    )
    assert "rule a: matches 0 records" in outcome.json["refused"]["why"]


def test_times_that_are_none_are_refused_with_their_records(
    project: Project, evh: CommandLine, rules: Path
) -> None:
    """A record's time and an outcome's time that cannot be read are both told."""
    build(project, [record("r1", "1", kev="yesterday"), record("r2", "2", ts="noon")])
    outcome = evh.refused(
        "bad-time", "label-from-capture", "--dataset-id", "d", "--capture", "c", "--map", rules, "--set", "s"
    )
    assert len(outcome.json["refused"]["why"]) == 2


def test_the_captures_own_adapter_reads_its_records(project: Project, evh: CommandLine, rules: Path) -> None:
    """Foreign keys are read by the adapter that the capture names."""
    (project.data / "adapter.py").write_text(
        "def item(r): return r['body']\n"
        "def outcomes(r): return [{'kind': 'kev', 'value': 1, 'ts': None}] if r['bad'] else []\n"
    )
    builder = Builder(project)
    rows = [{"record_id": "r1", "ts": None, "body": "one", "bad": True}]
    builder.capture("c", rows, adapter={"path": "data/adapter.py", "sha256": ""})
    builder.dataset("d", {"x": "one"})
    label(evh, rules)
    manifest = json.loads((project.data / "labels/d/s/labels.json").read_bytes())
    assert manifest["rules"][0]["n_labelled"] == 1
    assert manifest["rules"][0]["n_timed"] == 0


def test_a_rule_that_matches_nothing_says_which_outcomes_there_are(
    project: Project, evh: CommandLine, rules: Path
) -> None:
    """The kinds of the records' outcomes: in the note, and in the refusal where nothing is labelled."""
    build(project, [record("a", "1", kev="2024-01-01"), record("b", "2", kev="2024-01-01")])
    words = ("label-from-capture", "--dataset-id", "d", "--capture", "c", "--map", rules, "--set")
    seen = "the records' outcomes are of the kinds kev (2)"
    assert f"rule not_listed matched no record; {seen}" in evh.ok(*words, "s").err
    rules.write_text(RULES.replace("kev", "kve").partition("  - name: not_listed")[0])
    assert seen in evh.refused("nothing-labelled", *words, "t").json["refused"]["why"]
