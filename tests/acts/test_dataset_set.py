"""Changing flags changes nothing else."""

from __future__ import annotations

import json

import pytest

from evh.acts import dataset_set as act
from evh.acts.dataset_create import Flags
from evh.errors import Refusal
from evh.project import datasets
from evh.project.find import Project
from tests.helpers import Builder


def test_before_and_after_are_said_and_only_the_flags_change(project: Project) -> None:
    """Two flags are asked for, one changes; items, fields and unknown keys of the manifest stay."""
    Builder(project).dataset("d", {"a": "x"}, fields={"a": {"n": 1}}, task="t", extra={"owner": "them"})
    path = project.data / "datasets" / "d.json"
    before = json.loads(path.read_bytes())
    done = act.commit(project, act.plan(project, "d", Flags(governed=True, task="t")))
    assert [(one.flag, one.before, one.after, one.changed) for one in done.changes] == [
        ("governed", False, True, True),
        ("task", "t", "t", False),
    ]
    assert json.loads(path.read_bytes()) == {**before, "governed": True}


def test_nothing_is_written_where_nothing_changes(project: Project) -> None:
    """The file is not touched."""
    Builder(project).dataset("d", {"a": "x"})
    path = project.data / "datasets" / "d.json"
    before = path.stat().st_mtime_ns, path.stat().st_ino
    act.commit(project, act.plan(project, "d", Flags(governed=False)))
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_a_large_dataset_keeps_its_items_where_they_are(project: Project) -> None:
    """The Parquet file of the items is not written again, and the items still read."""
    Builder(project).dataset("d", {f"i{n}": str(n) for n in range(5001)})
    items = project.data / "datasets" / "d.items.parquet"
    before = items.stat().st_ino
    act.commit(project, act.plan(project, "d", Flags(visibility="public")))
    assert items.stat().st_ino == before
    read = datasets.read(project, "d")
    assert (len(read.items), read.visibility) == (5001, "public")


def test_a_change_made_meanwhile_is_not_lost(project: Project) -> None:
    """Two changes planned at once are both in the manifest."""
    Builder(project).dataset("d", {"a": "x"})
    one = act.plan(project, "d", Flags(governed=True))
    other = act.plan(project, "d", Flags(task="t"))
    act.commit(project, one)
    act.commit(project, other)
    read = datasets.read(project, "d")
    assert (read.governed, read.task) == (True, "t")


def test_no_flag_and_no_dataset_are_refused(project: Project) -> None:
    """There must be something to change."""
    with pytest.raises(Refusal) as caught:
        act.plan(project, "d", Flags(governed=True))
    assert caught.value.code == "no-such-dataset"
    Builder(project).dataset("d", {"a": "x"})
    with pytest.raises(Refusal) as caught:
        act.plan(project, "d", Flags())
    assert caught.value.code == "bad-options"


def test_a_cluster_field_is_set_taken_away_and_refused_where_no_item_has_it(project: Project) -> None:
    """The field that two items have is taken; empty text takes it away; a name that none has is refused."""
    Builder(project).dataset("d", {"a": "x", "b": "y"}, fields={"a": {"team": 1}, "b": {"team": 1}})
    act.commit(project, act.plan(project, "d", Flags(cluster_field="team")))
    assert datasets.read(project, "d").cluster_field == "team"
    with pytest.raises(Refusal) as refused:
        act.plan(project, "d", Flags(cluster_field="squad"))
    assert refused.value.code == "no-field"
    assert refused.value.why == ("--cluster-field squad: the items have team",)
    act.commit(project, act.plan(project, "d", Flags(cluster_field="")))
    assert datasets.read(project, "d").cluster_field is None
