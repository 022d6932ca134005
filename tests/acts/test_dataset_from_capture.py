"""A capture's records become items that know their record."""

from __future__ import annotations

from typing import Any

import pytest

from evh.acts import dataset_from_capture as act
from evh.acts.dataset_create import Flags
from evh.errors import Refusal
from evh.project import datasets
from evh.project.find import Project
from tests.helpers import Builder

ROWS: list[dict[str, Any]] = [
    {"record_id": "r1", "ts": None, "item": "one", "fields": {"team": "a", "gone": None}},
    {"record_id": "r2", "ts": "2024-01-01", "item": None},
    {"record_id": "r3", "ts": "2024-01-01", "item": "three"},
]
ADAPTER = """
def item(r): return r.get("body")
def item_id(r): return r["id"]
def fields(r): return {"n": len(r["body"])}
"""


def why(project: Project, code: str, capture: str = "c", dataset: str = "d", **more: Any) -> list[str]:
    """Give the reasons of what must be refused with ``code``."""
    with pytest.raises(Refusal) as caught:
        act.plan(project, capture, dataset, **more)
    assert caught.value.code == code, caught.value
    return list(caught.value.why)


def test_each_item_knows_its_capture_and_record(project: Project) -> None:
    """A record without an item is left out and counted; one without a time is taken."""
    Builder(project).capture("c", ROWS)
    plan = act.plan(project, "c", "d", Flags(governed=True, task="t"))
    act.commit(project, plan)
    made = datasets.read(project, "d")
    assert [(item.item_id, dict(item.lineage)) for item in made.items] == [
        ("r1", {"capture": "c", "record_id": "r1"}),
        ("r3", {"capture": "c", "record_id": "r3"}),
    ]
    assert dict(made.items[0].fields) == {"team": "a"}
    assert (made.governed, made.task, plan.n_left_out) == (True, "t", 1)
    assert datasets.texts(project, made) == {"r1": b"one", "r3": b"three"}


@pytest.mark.parametrize("how", ["capture", "project", "option"])
def test_the_adapter_is_the_named_one_else_the_captures_else_the_projects(how: str, project: Project) -> None:
    """Its item, item_id and fields are used."""
    (project.data / "ours.py").write_text(ADAPTER)
    (project.data / "other.py").write_text("def item(r): return None\n")
    recorded = {"capture": "ours.py", "option": "other.py", "project": None}[how]
    rows = [{"record_id": "r1", "ts": None, "id": "x", "body": "one"}]
    more: dict[str, Any] = {"adapter": {"path": f"data/{recorded}", "sha256": ""}} if recorded else {}
    Builder(project).capture("c", rows, **more)
    if how == "project":
        (project.root / "evh.toml").write_text('[project]\nname = "p"\nadapter = "data/ours.py"\n')
        project = Project.find(home=project.root)
    plan = act.plan(project, "c", "d", adapter="data/ours.py" if how == "option" else "")
    assert [(item.item_id, dict(item.fields)) for item in plan.dataset.items] == [("x", {"n": 3})]


def test_records_of_equal_bytes_are_refused_unless_allowed(project: Project) -> None:
    """The pair is named."""
    Builder(project).capture("c", [{"record_id": name, "ts": None, "item": "same"} for name in "ab"])
    assert why(project, "equal-bytes") == ["'b' has the same bytes as 'a'"]
    assert len(act.plan(project, "c", "d", allow_duplicates=True).dataset.items) == 2


def test_every_bad_record_is_told_at_once(project: Project) -> None:
    """A hook that raises, an item without an id and an id that is none are three reasons."""
    (project.data / "ours.py").write_text(ADAPTER)
    rows = [
        {"record_id": "a", "ts": None, "body": "1"},
        {"record_id": "b", "ts": None, "body": "2", "id": ""},
        {"record_id": "c", "ts": None, "body": "3", "id": "#c"},
        {"record_id": "d", "ts": None, "body": "4", "id": "d"},
    ]
    Builder(project).capture("c", rows)
    reasons = why(project, "bad-items", adapter="data/ours.py")
    assert [reason.split(": ")[1] for reason in reasons] == ["record 'a'", "record 'b'", "record 'c'"]
    assert "KeyError" in reasons[0]


def test_what_is_taken_or_missing_is_refused(project: Project) -> None:
    """An existing dataset, no such capture, a capture of which no record holds an item."""
    Builder(project).dataset("d", {"a": "x"})
    Builder(project).capture("c", ROWS[1:2])
    why(project, "existing-dataset")
    why(project, "no-such-capture", "nowhere", "e")
    why(project, "no-items", "c", "e")
    why(project, "bad-id", "c", "../e")


def test_a_capture_whose_bytes_changed_is_refused(project: Project) -> None:
    """One flipped byte of the records is found before anything is made of them."""
    Builder(project).capture("c", ROWS)
    path = project.data / "captures" / "c" / "records.jsonl"
    path.write_bytes(path.read_bytes().replace(b"three", b"threE"))
    why(project, "changed-bytes")


def test_a_wrong_capture_and_a_taken_id_are_told_together(project: Project) -> None:
    """Two reasons, one refusal."""
    Builder(project).dataset("d", {"a": "x"})
    reasons = why(project, "cannot-make-dataset", capture="nope")
    assert [reason.partition(":")[0] for reason in reasons] == [
        "there is no capture 'nope'",
        "there is a dataset 'd' already",
    ]


def test_records_without_an_item_say_which_keys_they_have(project: Project) -> None:
    """What the first record has, and what evh reads."""
    Builder(project).capture("c", [{"record_id": "r1", "ts": None, "body": "one"}])
    (reason,) = why(project, "no-items")
    assert "the first record has the keys body, record_id, ts" in reason
    assert "evh reads record_id, ts, item, output, fields, outcomes" in reason
