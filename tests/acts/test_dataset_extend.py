"""The next version: the parent's items and the chosen picks, with lineage, used marks, and every refusal."""

from __future__ import annotations

import json
import multiprocessing
import shlex
from typing import Any

import pytest

from evh.acts import dataset_extend, pick
from evh.acts import labels as labels_act
from evh.acts.dataset_extend import next_version
from evh.acts.pick import Change
from evh.errors import Refusal
from evh.project import datasets, picks
from evh.project.find import Project
from tests.conftest import NOW, CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

SHA_NEW = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
"""The sha256 of "new", from coreutils' sha256sum."""


@pytest.fixture
def built(project: Project) -> Builder:
    """A governed dataset of two items, and two production datasets that share an item id."""
    made = Builder(project)
    made.dataset(
        "v1",
        {"g": "old", "a": "other bytes"},
        governed=True,
        task="t",
        visibility="public",
        fields={"g": {"team": "x"}, "a": {"team": "y"}},
        lineage={"g": {"capture": "c0", "record_id": "r0"}},
    )
    made.dataset(
        "prod",
        {"a": "1", "b": "2", "c": "old"},
        task="t",
        visibility="public",
        fields={"a": {"team": "x", "extra": 1}, "b": {"team": "z"}},
        lineage={"a": {"capture": "cap", "record_id": "r1"}},
    )
    made.dataset("live", {"b": "3"}, task="t", visibility="public")
    return made


def picked(project: Project, dataset_id: str, *items: str, **change: Any) -> None:
    """Pick items, for v1 unless another target is given."""
    change.setdefault("targets", ("v1",))
    pick.commit(project, pick.plan(project, dataset_id, items, Change(**change)))


def extend(project: Project, *chosen: str, to: str = "v2", parent: str = "v1") -> dataset_extend.Result:
    """Extend with chosen picks, or with all that wait."""
    plan = dataset_extend.plan(project, parent, to, every=not chosen, chosen=chosen)
    return dataset_extend.commit(project, plan)


def waiting(project: Project) -> dict[str | None, list[str]]:
    """Give what waits, by target."""
    return {group.target: [one.pick.item_id for one in group.picks] for group in pick.report(project).groups}


def test_a_version_has_the_parents_items_then_the_picks(built: Builder) -> None:
    """Flags, task and fields are the parent's; each item says where it came from; the bytes are there."""
    picked(built.project, "prod", "b", "a")
    made = extend(built.project).dataset
    assert (made.governed, made.visibility, made.task, made.parent, made.version) == (
        True,
        "public",
        "t",
        "v1",
        2,
    )
    assert [item.item_id for item in made.items] == ["g", "a", "b", "prod/a"]
    assert [dict(item.fields) for item in made.items] == [
        {"team": "x"},
        {"team": "y"},
        {"team": "z"},
        {"team": "x"},  # v1 has no field "extra"
    ]
    assert [dict(item.lineage) for item in made.items] == [
        {"capture": "c0", "record_id": "r0", "dataset": "v1", "item_id": "g"},
        {"dataset": "v1", "item_id": "a"},
        {"dataset": "prod", "item_id": "b", "pick": "prod/b"},
        {"capture": "cap", "record_id": "r1", "dataset": "prod", "item_id": "a", "pick": "prod/a"},
    ]
    stored = datasets.texts(built.project, datasets.read(built.project, "v2"))
    assert stored == {"g": b"old", "a": b"other bytes", "b": b"2", "prod/a": b"1"}


def test_picks_are_marked_used_and_wait_for_their_other_targets(built: Builder) -> None:
    """A used pick leaves v1's list, keeps its history, and still waits for v9."""
    picked(built.project, "prod", "a", targets=("v1", "v9"), tags={"k": "v"})
    picked(built.project, "prod", "b")
    extend(built.project, "a")
    assert waiting(built.project) == {"v1": ["b"], "v9": ["a"]}
    last = picks.read_lines(built.project)[-1]
    assert (last.op, last.used, last.tags, last.at) == ("used", ({"for": "v1", "in": "v2"},), {"k": "v"}, NOW)


def test_the_chosen_ones_may_wait_for_something_else(built: Builder) -> None:
    """--pick takes any pick; it is used for the dataset extended and still waits for what it names."""
    picked(built.project, "prod", "b", targets=("v9",))
    picked(built.project, "live", "b", targets=())
    made = extend(built.project, "prod/b", "live/b").dataset
    assert [item.item_id for item in made.items[2:]] == ["prod/b", "live/b"]  # two picks of one id
    assert waiting(built.project) == {"v9": ["b"]}


def test_labels_follow_the_bytes_into_the_version(built: Builder) -> None:
    """The sets of both datasets cover the version; an item under another id keeps its labels."""
    built.labels("v1", "old", {"g": "yes", "a": "no"})
    built.labels("prod", "ann", {"a": "yes", "c": "no"})
    picked(built.project, "prod", "a")
    extend(built.project)
    report = labels_act.report(built.project, "v2")
    assert [(one.ref, one.covered, one.of) for one in report.tasks[0].sets] == [
        ("prod/ann", 2, 3),  # prod's "c" has the bytes of v1's "g"
        ("v1/old", 2, 3),
    ]


def test_a_version_of_a_version_starts_its_lineage_anew(built: Builder) -> None:
    """What a pick brought into v2 is v2's item in v3, not that pick once more."""
    picked(built.project, "prod", "b")
    extend(built.project)
    picked(built.project, "live", "b", targets=("v2",))
    made = extend(built.project, parent="v2", to="v3").dataset
    assert dict(made.by_id["b"].lineage) == {"dataset": "v2", "item_id": "b"}
    assert dict(made.by_id["live/b"].lineage) == {"dataset": "live", "item_id": "b", "pick": "live/b"}
    assert picks.taken(built.project) == {("prod", "b"): {"v1": "v2"}, ("live", "b"): {"v2": "v3"}}


@pytest.mark.parametrize(
    ("chosen", "code", "reasons"),
    [
        (("nope",), "no-such-pick", ["there is a, b, c, live/b, prod/a, prod/b, prod/c"]),
        (("b",), "ambiguous-pick", ["b: live/b or prod/b"]),
        (("c",), "bad-picks", ["prod/c: v1 has its bytes as g"]),
        (("nope", "c"), "cannot-extend", ["there is no pick 'nope'", "prod/c: v1 has its bytes as g"]),
    ],
)
def test_bad_choices_are_refused_and_write_nothing(
    built: Builder, chosen: tuple[str, ...], code: str, reasons: list[str]
) -> None:
    """A pick that is not there, one named by halves, bytes that the dataset has; all reasons at once."""
    picked(built.project, "prod", "a", "b", "c")
    picked(built.project, "live", "b")
    before = tree_bytes(built.project.data)
    with pytest.raises(Refusal) as refused:
        extend(built.project, *chosen)
    assert refused.value.code == code
    for expected, told in zip(reasons, refused.value.why, strict=True):
        assert told.startswith(expected)
    assert tree_bytes(built.project.data) == before


def test_a_pick_is_used_once_for_a_dataset(built: Builder) -> None:
    """A second version of v1 cannot take it again, by name or with all; a dropped one is no pick."""
    picked(built.project, "prod", "a", "b")
    extend(built.project, "a")
    with pytest.raises(Refusal) as refused:
        extend(built.project, "a", to="w2")
    assert refused.value.why == ("prod/a: v2 took it for v1 already",)
    picked(built.project, "prod", "b", targets=None, drop=True)
    with pytest.raises(Refusal) as refused:
        extend(built.project, to="w2")
    assert refused.value.code == "nothing-waits"
    with pytest.raises(Refusal) as refused:
        extend(built.project, "b", to="w2")
    assert refused.value.code == "no-such-pick"


def test_an_existing_version_and_equal_bytes_are_refused(built: Builder) -> None:
    """v2 is never overwritten; two picks of the same bytes cannot both join."""
    built.dataset("twin", {"z": "1"}, task="t", visibility="public")
    picked(built.project, "prod", "a")
    picked(built.project, "twin", "z")
    with pytest.raises(Refusal) as refused:
        extend(built.project)
    assert refused.value.why == ("twin/z: has the bytes of prod/a; choose one of them",)
    with pytest.raises(Refusal) as refused:
        extend(built.project, "a", to="prod")
    assert refused.value.code == "existing-dataset"


def test_an_item_that_changed_since_it_was_picked_is_refused(built: Builder) -> None:
    """The pick records the bytes; another dataset of the same name does not stand in for them."""
    picked(built.project, "prod", "a")
    path = datasets.path_of(built.project, "prod")
    manifest = json.loads(path.read_text())
    manifest["items"][0]["source_sha256"] = SHA_NEW
    path.write_text(json.dumps(manifest))
    with pytest.raises(Refusal) as refused:
        extend(built.project)
    assert refused.value.why == ("prod/a: the item is not the bytes that were picked; pick it again",)
    path.unlink()
    with pytest.raises(Refusal) as refused:
        extend(built.project)
    assert refused.value.why == ("prod/a: its dataset is not here, or cannot be read (evh validate)",)


def test_an_edited_text_names_its_pick_and_how_to_go_on_with_the_others(
    built: Builder, evh: CommandLine
) -> None:
    """Of three picks one has another text now: it is named, and the command for the other two works."""
    picked(built.project, "prod", "a", "b")
    picked(built.project, "live", "b")
    (built.project.data / "sources" / "prod" / "a.txt").write_bytes(b"edited\n")
    outcome = evh.refused("bad-picks", "dataset-extend", "v1", "--dataset-id", "v2", "--picks")
    told = outcome.json["refused"]
    assert [reason.partition(": ")[0] for reason in told["why"]] == ["prod/a"]
    assert "evh pick --dataset-id prod --item a --drop" in told["next"]
    command = told["next"].partition("go on without it: ")[2].partition(";")[0]
    assert command == "evh dataset-extend v1 --dataset-id v2 --pick prod/b --pick live/b"
    assert "made the dataset v2" in evh.ok(*shlex.split(command)[1:]).out


def test_ids_that_cannot_stand_are_refused(built: Builder) -> None:
    """``<dataset>/<id>`` taken by another item, or longer than an id may be."""
    long = "x" * 198
    built.dataset("v1b", {"a": "k", "prod/a": "l", long: "m"}, task="t", visibility="public")
    built.dataset("more", {long: "n"}, task="t", visibility="public")
    picked(built.project, "prod", "a", targets=("v1b",))
    picked(built.project, "more", long, targets=("v1b",))
    with pytest.raises(Refusal) as refused:
        extend(built.project, parent="v1b", to="v2b")
    assert len(refused.value.why) == 2
    assert refused.value.why[0] == "prod/a: neither 'a' nor 'prod/a' is free"
    assert "more than 200" in refused.value.why[1] or "200" in refused.value.why[1]


def test_what_a_reader_should_know_is_told(built: Builder) -> None:
    """Fields left out, private texts in a public version, another task, items without labels."""
    built.dataset("hid", {"s": "secret"}, task="u", visibility="private", redistributable=False)
    picked(built.project, "prod", "a")
    picked(built.project, "hid", "s")
    assert dataset_extend.plan(built.project, "v1", "v2", every=True).warnings == (
        "left out, as v1 has no such fields: extra (1)",
        (
            "v2 is public, as v1 is, and takes items of private datasets (hid): "
            "evh dataset-set --dataset-id v2 --visibility private"
        ),
        (
            "v2 may be redistributed, as v1 may, and takes items that may not (hid): "
            "evh dataset-set --dataset-id v2 --no-redistribute"
        ),
        "labels of hid answer the task 'u', those of v1 't': they do not count for each other",
        "no labels yet: prod/a, s",
    )


def test_a_version_that_was_stopped_before_it_told_the_list_is_caught_up_with(built: Builder) -> None:
    """The manifest is the commit point: the pick counts as used, and the next pick writes the line."""
    picked(built.project, "prod", "a", "b")
    before = picks.path_of(built.project).read_bytes()
    extend(built.project, "a")
    picks.path_of(built.project).write_bytes(before)  # as after a kill between the two writes
    assert waiting(built.project) == {"v1": ["b"]}
    picked(built.project, "prod", "b", targets=None, note="n")
    lines = picks.read_lines(built.project)[2:]
    assert [(line.item_id, line.op, line.used) for line in lines] == [
        ("a", "used", ({"for": "v1", "in": "v2"},)),
        ("b", "pick", ()),
    ]
    picked(built.project, "prod", "b", targets=None, note="m")
    assert len(picks.read_lines(built.project)) == 5  # once is enough


def test_a_list_that_cannot_be_told_leaves_the_version_standing(
    built: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the list's disk fails after the commit point, the version is made and a warning says so."""
    picked(built.project, "prod", "a")
    plan = dataset_extend.plan(built.project, "v1", "v2", every=True)
    path = picks.path_of(built.project)

    def fail(*_: object) -> None:
        raise Refusal("cannot-write", f"cannot append to {path}")

    monkeypatch.setattr("evh.store.journal.append_held", fail)
    done = dataset_extend.commit(built.project, plan)
    assert done.warnings[0].startswith("the version is made; the list of picks will be told by the next pick")
    assert waiting(built.project) == {}


def test_picking_again_for_what_took_it_is_told(built: Builder) -> None:
    """A pick that v2 took for v1 does not wait for v1 again, and the command says so."""
    picked(built.project, "prod", "a")
    extend(built.project)
    told = pick.plan(built.project, "prod", ["a"], Change(targets=("v1",))).warnings
    assert told == ("a: v2 took it for v1 already; it does not wait for v1 again",)


def test_what_waits_for_a_version_leaves_out_what_it_has(built: Builder) -> None:
    """A pick for v0 that came into v1 by another way does not show under v1 as waiting for v0."""
    built.dataset("v0", {"x": "first"}, task="t")
    built.dataset("w1", {"x": "first", "n": "2"}, task="t", parent="v0")
    picked(built.project, "prod", "a", "b", targets=("v0",))
    groups = pick.report(built.project, target="w1").groups
    assert [[one.pick.item_id for one in group.picks] for group in groups] == [["a"]]
    assert waiting(built.project) == {"v0": ["a", "b"]}


def test_the_next_version_is_numbered(built: Builder) -> None:
    """``v1`` is followed by the first free number; a name without one gets ``_v2``."""
    assert next_version(built.project, "v1") == "v2"
    built.dataset("v2", {"x": "1"})
    assert next_version(built.project, "v1") == "v3"
    assert next_version(built.project, "prod") == "prod_v2"


def _extend_one(home: str, name: str, told: Any) -> None:
    project = Project.find(home=home)
    try:
        told.put(extend(project, "a", to=name).dataset.dataset_id)
    except Refusal as refusal:
        told.put(refusal.code)


def test_two_versions_at_once_cannot_both_take_a_pick(built: Builder) -> None:
    """Of four processes that extend v1 by the same pick one wins, and the others are told who has it."""
    picked(built.project, "prod", "a")
    context = multiprocessing.get_context("fork")
    told = context.Queue()
    names = [f"w{number}" for number in range(4)]
    workers = [
        context.Process(target=_extend_one, args=(str(built.project.root), name, told)) for name in names
    ]
    for worker in workers:
        worker.start()
    answers = [told.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert sorted(answers, key=lambda one: one in names)[:3] == ["bad-picks"] * 3
    made = [name for name in datasets.ids(built.project) if name in names]
    assert len(made) == 1
    assert picks.taken(built.project) == {("prod", "a"): {"v1": made[0]}}


def test_dataset_extend_at_the_door(built: Builder, evh: CommandLine) -> None:
    """A dry run writes nothing, the document holds to its schema, the refusals name the way out."""
    picked(built.project, "prod", "a", "b", note="why\x1b[2J")
    built.labels("prod", "ann", {"a": "yes"})
    before = tree_bytes(built.project.data)
    shown = evh.ok("dataset-extend", "v1", "--dataset-id", "v2", "--picks", "--dry-run")
    assert "would make the dataset v2: 4 items, the 2 of v1 and 2 picks" in shown.out
    assert "\x1b" not in shown.out
    assert tree_bytes(built.project.data) == before
    evh.refused("bad-options", "dataset-extend", "v1", "--dataset-id", "v2")
    evh.refused("bad-options", "dataset-extend", "v1", "--dataset-id", "v2", "--picks", "--pick", "a")
    evh.refused("no-such-dataset", "dataset-extend", "v7", "--dataset-id", "v2", "--picks")
    document = check(
        evh.ok("dataset-extend", "v1", "--dataset-id", "v2", "--picks", "--json").json, "dataset-extend"
    )
    assert (document["n_items"], document["written"], document["version"]) == (4, True, 2)
    assert [(one["item_id"], one["labels"]) for one in document["added"]] == [
        ("prod/a", {"person": ["prod/ann"]}),
        ("b", {}),
    ]
    evh.refused("cannot-extend", "dataset-extend", "v1", "--dataset-id", "v2", "--pick", "a")
    evh.ok("validate")


def test_picks_says_what_to_do_next(built: Builder, evh: CommandLine) -> None:
    """Labels for what has none, and the command that makes the version."""
    picked(built.project, "prod", "a")
    shown = evh.ok("picks").out
    assert "evh label-sheet --dataset-id prod --out prod.csv --item a" in shown
    assert "evh dataset-extend v1 --dataset-id v2 --picks" in shown


def versions(built: Builder) -> None:
    """Let v2, made of v1, have a pick of prod, and pick two more items: one for each of the two."""
    picked(built.project, "prod", "a")
    extend(built.project)
    picked(built.project, "prod", "b")
    picked(built.project, "live", "b", targets=("v2", "else"))


def test_what_waits_for_an_older_version_is_left_out_and_told(built: Builder) -> None:
    """v3 of v2 takes live/b, which names v2; prod/b names v1, and the command gives it to v2."""
    versions(built)
    plan = dataset_extend.plan(built.project, "v2", "v3", every=True)
    assert [one.item.item_id for one in plan.added] == ["b"]
    assert (
        "1 pick for v1 left out: v2 is a version of it, and --picks takes what names it (b); "
        "to retarget: evh pick --dataset-id prod --item b --for v2"
    ) in plan.warnings
    picked(built.project, "prod", "b", targets=("v2",))
    assert not any(
        "retarget" in one for one in dataset_extend.plan(built.project, "v2", "v3", every=True).warnings
    )


def test_a_pick_taken_for_another_version_says_where_it_goes_on_waiting(built: Builder) -> None:
    """prod/b names v1 and joins v3 of v2: it stays on v1's list, and is told; a retarget takes it off."""
    versions(built)
    plan = dataset_extend.plan(built.project, "v2", "v3", chosen=["prod/b"])
    told = (
        "1 pick taken here and left on the list of v1, which v2 is a version of (b); "
        "to retarget: evh pick --dataset-id prod --item b --for v2"
    )
    assert told in plan.warnings
    dataset_extend.commit(built.project, plan)
    assert waiting(built.project)["v1"] == ["b"]
    picked(built.project, "prod", "b", targets=("v2",))
    assert "v1" not in waiting(built.project)
    assert waiting(built.project)["v2"] == ["b"]  # live/b alone: prod/b was taken for v2


def test_nothing_waits_says_what_waits_for_the_older_one(built: Builder, evh: CommandLine) -> None:
    """Nothing names v2: the refusal tells that two picks name v1, and how they come to name v2."""
    versions(built)
    picked(built.project, "live", "b", targets=("v1", "else"))
    told = evh.refused("nothing-waits", "dataset-extend", "v2", "--dataset-id", "v3", "--picks").json[
        "refused"
    ]
    assert told["why"] == [
        "v2: --picks takes the picks that name it as a target",
        "2 picks wait for v1, which v2 is a version of",
    ]
    moves = ("prod --item b --for v2", "live --item b --for v2 --for else")
    assert told["next"] == "; ".join(f"evh pick --dataset-id {one}" for one in moves)
    for command in told["next"].split("; "):
        evh.ok(*shlex.split(command)[1:])
    evh.ok("dataset-extend", "v2", "--dataset-id", "v3", "--picks")


def test_another_version_of_what_has_one_is_told(built: Builder, evh: CommandLine) -> None:
    """A v3 of v1 itself is without what v2 took; `evh picks` says of which version the picks are not."""
    versions(built)
    assert (
        "v2 is a version of v1 already: this one is made of v1 itself, and is without what v2 took "
        "(what waits for that one: evh picks --for v2)"
    ) in dataset_extend.plan(built.project, "v1", "v3", every=True).warnings
    shown = evh.ok("picks").out
    assert "waiting for v1 (not for v2, a version of it: the commands below retarget them):" in shown
    assert "waiting for v2:" in shown
