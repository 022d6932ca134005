"""Picks: one line is the full new state, and what waits for whom."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.acts import pick
from evh.acts.pick import Change
from evh.acts.validate import validate
from evh.errors import Refusal
from evh.project import datasets, picks
from evh.project.find import Project
from evh.records.pick import Pick
from tests.conftest import NOW, CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check


@pytest.fixture
def built(project: Project) -> Builder:
    """A production dataset of three items, one with a capture, and a governed one."""
    made = Builder(project)
    made.dataset("prod", {"a": "1", "b": "2", "c d": "3"}, lineage={"a": {"capture": "cap"}})
    made.dataset("gov", {"g": "old"}, governed=True)
    return made


def do(project: Project, *items: str, **change: Any) -> tuple[Any, ...]:
    """Plan and commit one pick."""
    return pick.commit(project, pick.plan(project, "prod", items, Change(**change))).lines


def test_a_line_holds_the_item_and_where_it_came_from(built: Builder) -> None:
    """The hash, the capture of the lineage, the targets, tags, note, who and when."""
    (line,) = do(built.project, "a", targets=("gov",), tags={"k": "v"}, note="why", by="ann")
    assert (line.op, line.capture, line.targets, line.tags) == ("pick", "cap", ("gov",), {"k": "v"})
    assert (line.note, line.by, line.at) == ("why", "ann", NOW)
    assert line.sha256 == "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"  # sha256 of "1"
    assert picks.read_state(built.project) == {("prod", "a"): line}


def test_for_replaces_tag_sets_note_replaces_and_the_rest_carries_over(built: Builder) -> None:
    """Each option changes its own part of the state alone; an empty tag removes its key."""
    do(built.project, "a", targets=("gov",), tags={"k": "v", "l": "w"}, note="why", by="ann")
    (second,) = do(built.project, "a", tags={"k": "", "m": "x"})
    assert (second.targets, dict(second.tags), second.note, second.by) == (
        ("gov",),
        {"l": "w", "m": "x"},
        "why",
        "ann",
    )
    (third,) = do(built.project, "a", targets=("v2", "v3"))
    assert (third.targets, dict(third.tags), third.note) == (("v2", "v3"), {"l": "w", "m": "x"}, "why")
    (fourth,) = do(built.project, "a", note="")
    assert (fourth.note, fourth.targets) == ("", ("v2", "v3"))
    assert len(picks.read_lines(built.project)) == 4


def test_a_dropped_pick_starts_anew(built: Builder) -> None:
    """Dropping takes it off; picking it again carries nothing over, and the history stays."""
    do(built.project, "a", targets=("gov",), tags={"k": "v"}, note="why")
    do(built.project, "a", drop=True)
    assert pick.report(built.project).groups == ()
    (again,) = do(built.project, "a")
    assert (again.targets, again.tags, again.note, again.op) == ((), {}, "", "pick")
    assert [line.op for line in picks.read_lines(built.project)] == ["pick", "drop", "pick"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20)
@given(
    steps=st.lists(st.tuples(st.sampled_from("klm"), st.sampled_from(["", "1", "2"])), min_size=1, max_size=6)
)
def test_tags_are_the_last_value_of_each_key(built: Builder, steps: list[tuple[str, str]]) -> None:
    """Whatever is set and removed in whatever order, the state has each key's last value."""
    picks.path_of(built.project).unlink(missing_ok=True)
    expected: dict[str, str] = {}
    for key, value in steps:
        do(built.project, "a", tags={key: value})
        expected[key] = value
    state = picks.read_state(built.project)["prod", "a"]
    assert dict(state.tags) == {key: value for key, value in expected.items() if value}


@pytest.mark.parametrize(
    ("items", "change", "code"),
    [
        (("a", "nope"), {}, "unknown-item"),
        (("a",), {"drop": True}, "not-picked"),
        (("a",), {"targets": ("no such id!",)}, "bad-target"),
        (("a",), {"drop": True, "note": "x"}, "drop-and-change"),
        ((), {}, "unknown-item"),
    ],
)
def test_bad_picks_are_refused_and_write_nothing(
    built: Builder, items: tuple[str, ...], change: dict[str, Any], code: str
) -> None:
    """Unknown items, dropping what is not picked, a target that is no name, dropping while changing."""
    before = tree_bytes(built.project.data)
    with pytest.raises(Refusal) as refused:
        do(built.project, *items, **change)
    assert refused.value.code == code
    assert tree_bytes(built.project.data) == before


def test_every_unknown_item_is_named(built: Builder) -> None:
    """Two unknown items are two reasons."""
    with pytest.raises(Refusal) as refused:
        do(built.project, "x", "a", "y")
    assert refused.value.why == ("x: not an item of prod", "y: not an item of prod")


def test_a_target_may_be_made_later_and_one_that_has_the_bytes_is_told(built: Builder) -> None:
    """Both are warnings: the pick is written."""
    built.dataset("has", {"copy": "1"})
    plan = pick.plan(built.project, "prod", ["a"], Change(targets=("v9", "has")))
    assert plan.warnings == (
        "there is no dataset 'v9' yet: the picks wait until there is one",
        "has holds these bytes already, so picking them for it adds nothing: a",
    )


def test_targets_that_are_replaced_are_told(built: Builder) -> None:
    """--for names all targets: what an earlier pick was for and this one is not, is a warning."""
    built.dataset("v1", {"x": "other"})
    built.dataset("v2", {"x": "another"})
    pick.commit(built.project, pick.plan(built.project, "prod", ["a"], Change(targets=("v1", "v2"))))
    told = pick.plan(built.project, "prod", ["a"], Change(targets=("v2",))).warnings
    assert told == ("a: no longer for v1 (--for replaces the targets)",)
    assert pick.plan(built.project, "prod", ["a"], Change(note="kept")).warnings == ()


def test_what_waits_is_grouped_by_target(built: Builder) -> None:
    """A pick waits for each of its targets; one without a target comes last; labels by source."""
    built.labels("prod", "s", {"a": "yes"})
    built.labels("prod", "r", {"a": "yes"}, source={"kind": "rule", "capture": "cap"})
    do(built.project, "a", targets=("gov", "v2"))
    do(built.project, "b")
    groups = pick.report(built.project).groups
    assert [(group.target, [one.pick.item_id for one in group.picks]) for group in groups] == [
        ("gov", ["a"]),
        ("v2", ["a"]),
        (None, ["b"]),
    ]
    assert groups[0].picks[0].labels == {"person": ("prod/s",), "rule": ("prod/r",)}
    assert groups[2].picks[0].labels == {}


def test_a_used_pick_still_waits_for_its_other_targets(built: Builder) -> None:
    """Used by the pick's own line, or by the lineage of an item in the next version."""
    do(built.project, "a", targets=("gov", "v9"))
    do(built.project, "b", targets=("gov",))
    built.pick("prod", "b", targets=("gov",), op="used", used=({"for": "gov", "in": "gov2"},))
    built.dataset(
        "gov2",
        {"g": "old", "a": "1"},
        parent="gov",
        lineage={"a": {"dataset": "prod", "item_id": "a", "pick": "prod/a"}},
    )
    groups = pick.report(built.project).groups
    assert [(group.target, [one.pick.item_id for one in group.picks]) for group in groups] == [("v9", ["a"])]
    assert groups[0].picks[0].used_for == ("gov",)


def test_a_version_shows_what_waits_for_its_parents(built: Builder) -> None:
    """--for V3 shows the picks for V3, V2 and V1; not those for another dataset."""
    built.dataset("gov2", {"g": "old"}, parent="gov")
    built.dataset("gov3", {"g": "old"}, parent="gov2")
    do(built.project, "a", targets=("gov",))
    do(built.project, "b", targets=("gov3", "else"))
    groups = pick.report(built.project, target="gov3").groups
    assert [group.target for group in groups] == ["gov", "gov3"]


def test_what_waits_for_a_dataset_with_versions_goes_to_the_newest(built: Builder, evh: CommandLine) -> None:
    """gov2 took a pick already: a gov3 made of gov would be without it, so the pick is to wait for gov2."""
    built.dataset("gov2", {"g": "old", "b": "2"}, parent="gov", lineage={"b": {"pick": "prod/b"}})
    do(built.project, "a", "c d", targets=("gov", "else"))
    shown = evh.ok("picks")
    assert (
        "gov2 is a version of gov, and versions took 1 pick for it: "
        "another version of gov itself would be without what they have"
    ) in shown.err
    assert "evh pick --dataset-id prod --item a --item 'c d' --for gov2 --for else" in shown.out
    assert "evh dataset-extend gov2 --dataset-id gov3 --picks" in shown.out
    assert "dataset-extend gov " not in shown.out
    evh.ok("pick", "--dataset-id", "prod", "--item", "a", "--for", "gov2")
    evh.ok("dataset-extend", "gov2", "--dataset-id", "gov3", "--picks")


def test_a_taken_pick_waits_no_more(built: Builder) -> None:
    """Of two targets one took it; then both did; one without a target waits to be given one."""
    used = ({"for": "gov", "in": "gov2"},)
    made = Pick("a", "prod", "", targets=("gov", "else"), used=used)
    assert (made.waits, made.waits_for, made.taken_by) == (True, ("else",), ("gov2",))
    both = replace(made, used=(*used, {"for": "else", "in": "else_v2"}))
    assert (both.waits, both.waits_for, both.taken_by) == (False, (), ("gov2", "else_v2"))
    assert replace(made, targets=(), used=()).waits
    assert not replace(made, targets=()).waits


def test_tags_filter_what_waits(built: Builder) -> None:
    """Only picks that carry every tag asked for."""
    do(built.project, "a", targets=("gov",), tags={"k": "1", "l": "2"})
    do(built.project, "b", targets=("gov",), tags={"k": "1"})
    found = pick.report(built.project, tags={"k": "1", "l": "2"}).groups
    assert [one.pick.item_id for one in found[0].picks] == ["a"]


def test_an_unknown_target_is_refused(built: Builder, evh: CommandLine) -> None:
    """--for a name that is neither a dataset nor what a pick waits for."""
    evh.refused("no-such-dataset", "picks", "--for", "nothing")


def _pick_many(home: str, items: list[str]) -> None:
    project = Project.find(home=home)
    for at in range(0, len(items), 100):
        pick.commit(project, pick.plan(project, "many", items[at : at + 100], Change(tags={"k": items[at]})))


def test_eight_processes_lose_no_line(built: Builder) -> None:
    """Eight processes that pick 500 items each, a hundred a command, leave 4,000 whole lines, one an item."""
    names = [f"i{number}" for number in range(4000)]
    built.dataset("many", {name: name for name in names})
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=_pick_many, args=(str(built.project.root), names[at::8])) for at in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(line.item_id for line in picks.read_lines(built.project)) == sorted(names)


def test_a_torn_last_line_is_dropped_and_told(built: Builder, evh: CommandLine) -> None:
    """The next pick drops what a crash had cut, and says so."""
    do(built.project, "a")
    path = picks.path_of(built.project)
    path.write_bytes(path.read_bytes() + b'{"item_id":"b","data')
    shown = evh.ok("pick", "--dataset-id", "prod", "--item", "b")
    assert "had been cut by a crash" in shown.err
    assert [json.loads(line)["item_id"] for line in path.read_text().splitlines()] == ["a", "b"]


def test_pick_and_picks_at_the_door(built: Builder, evh: CommandLine) -> None:
    """A dry run writes nothing; the documents hold to their schemas; the lists are printed."""
    before = tree_bytes(built.project.data)
    words = ("pick", "--dataset-id", "prod", "--item", "a", "--item", "c d", "--for", "gov", "--tag", "k=v")
    assert "would pick 2 items" in evh.ok(*words, "--dry-run").out
    assert tree_bytes(built.project.data) == before
    document = check(evh.ok(*words, "--json").json, "pick")
    assert [line["item_id"] for line in document["picks"]] == ["a", "c d"]
    listed = check(evh.ok("picks", "--json").json, "picks")
    assert [(one["target"], one["item_id"], one["labels"]) for one in listed["picks"]] == [
        ("gov", "a", {}),
        ("gov", "c d", {}),
    ]
    shown = evh.ok("picks").out
    assert "waiting for gov:" in shown
    assert "none yet" in shown
    assert "dropped 1 item" in evh.ok("pick", "--dataset-id", "prod", "--item", "a", "--drop").out


def test_nothing_waits_says_how_to_pick(built: Builder, evh: CommandLine) -> None:
    """An empty list names the command that fills it."""
    shown = evh.ok("picks").out
    assert "nothing waits" in shown
    assert "evh pick --dataset-id" in shown


def test_a_bad_tag_is_refused(built: Builder, evh: CommandLine) -> None:
    """A tag without '=' is refused by both commands."""
    evh.refused("bad-tag", "pick", "--dataset-id", "prod", "--item", "a", "--tag", "k")
    evh.refused("bad-tag", "picks", "--tag", "=v")


def test_ids_may_come_from_a_file(evh: CommandLine, built: Builder) -> None:
    """One id a line, beside --item: spaces, quotes and a leading dash are part of an id; none is refused."""
    place = built.project.root / "ids.txt"
    place.write_bytes(b"c d\r\n\na\n")
    told = evh.ok("pick", "--dataset-id", "prod", "--item", "b", "--items-from", place, "--json").json
    assert [one["item_id"] for one in told["picks"]] == ["b", "c d", "a"]
    before = tree_bytes(built.project.root)
    place.write_bytes(b"a\nnobody\n")
    evh.refused("unknown-item", "pick", "--dataset-id", "prod", "--items-from", place)
    place.write_bytes(b"\n")
    evh.refused("unknown-item", "pick", "--dataset-id", "prod", "--items-from", place)
    assert tree_bytes(built.project.data) == {
        name.removeprefix("data/"): data for name, data in before.items() if name.startswith("data/")
    }


def test_a_pick_whose_dataset_is_gone_can_be_dropped(built: Builder, evh: CommandLine) -> None:
    """picks and validate name the command that takes it off the list; after it nothing is left to say."""
    built.pick("prod", "a", targets=("gov",))
    built.pick("prod", "b")
    datasets.path_of(built.project, "prod").unlink()
    told = (
        "prod/a: its dataset is not here; to take it off the list: evh pick --dataset-id prod --item a --drop"
    )
    listed = evh.ok("picks", "--json").json
    assert told in listed["warnings"]
    assert "label-sheet --dataset-id prod" not in evh.ok("picks").out
    assert [one.reason for one in validate(built.project).findings if one.code == "unknown-item"] == [
        told,
        told.replace("prod/a", "prod/b").replace("--item a", "--item b"),
    ]
    evh.refused("no-such-dataset", "pick", "--dataset-id", "prod", "--item", "a")
    evh.refused("no-such-dataset", "pick", "--dataset-id", "nowhere", "--item", "a", "--drop")
    evh.refused("unknown-item", "pick", "--dataset-id", "prod", "--item", "z", "--drop")
    evh.ok("pick", "--dataset-id", "prod", "--item", "a", "--item", "b", "--drop")
    assert evh.ok("picks", "--json").json["picks"] == []
    assert not [one for one in validate(built.project).findings if one.code == "unknown-item"]


def test_a_pick_whose_item_is_gone_can_be_dropped(built: Builder, evh: CommandLine) -> None:
    """The dataset is there and lacks the item: dropping works, picking it does not."""
    built.pick("prod", "a")
    path = datasets.path_of(built.project, "prod")
    document = json.loads(path.read_text())
    document["items"] = [one for one in document["items"] if one["item_id"] != "a"]
    path.write_text(json.dumps(document))
    (told,) = [one for one in evh.ok("picks", "--json").json["warnings"] if one.startswith("prod/a")]
    assert "there is no such item any more" in told
    evh.refused("unknown-item", "pick", "--dataset-id", "prod", "--item", "a")
    evh.ok("pick", "--dataset-id", "prod", "--item", "a", "--drop")
    assert evh.ok("picks", "--json").json["picks"] == []
