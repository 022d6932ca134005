"""Where a split puts each record, and that a second try after a crash succeeds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.acts import draw
from evh.acts import split as act
from evh.errors import Refusal
from evh.project import captures
from evh.project.find import Project
from evh.store import atomic
from tests.conftest import CommandLine
from tests.helpers import Builder

ROWS: list[dict[str, Any]] = [
    {"record_id": "late", "ts": "2024-07-01T00:00:00.5Z", "item": "4"},
    {"record_id": "before", "ts": "2024-06-30T23:59:59.999999Z", "item": "1"},
    {"record_id": "at", "ts": "2024-07-01T00:00:00Z", "item": "2"},
    {"record_id": "early", "ts": "2023-01-01T00:00:00Z", "item": "0"},
    {"record_id": "no item", "ts": "2024-01-01T00:00:00Z", "item": None},
    {"record_id": "no time", "ts": None, "item": "5"},
    {"record_id": "neither", "ts": None, "item": None},
]


@pytest.fixture
def whole(project: Project) -> Project:
    """A project with the capture `c` of `ROWS`."""
    Builder(project).capture("c", ROWS)
    return project


def ids(project: Project, name: str) -> list[str]:
    """Give the ids of a capture's records."""
    return [row["record_id"] for row in captures.records(project, captures.read(project, name))]


def test_what_is_before_the_time_goes_first(whole: Project) -> None:
    """A record at the very time goes to the second half; the order of the capture stays."""
    act.commit(whole, act.plan(whole, "c", ("a", "b"), at="2024-07-01"))
    assert ids(whole, "a") == ["before", "early"]
    assert ids(whole, "b") == ["late", "at"]


def test_what_has_no_time_or_no_item_is_counted_and_goes_nowhere(whole: Project) -> None:
    """Two records have no item, two no time, one of them neither: three are left out."""
    plan = act.plan(whole, "c", ("a", "b"), at="2024-07-01")
    assert (plan.n_no_item, plan.n_no_time, plan.n_neither) == (2, 2, 3)


def test_each_half_says_where_it_came_from(whole: Project) -> None:
    """The manifest names the capture, the time in UTC and the part; its range is its own."""
    act.commit(whole, act.plan(whole, "c", ("a", "b"), at="2024-07-01 02:00:00+02:00"))
    second = captures.read(whole, "b")
    assert second.split == {"of": "c", "at": "2024-07-01T00:00:00Z", "part": "second"}
    assert second.time_range == ("2024-07-01T00:00:00Z", "2024-07-01T00:00:00.5Z")
    assert second.source["sha256"] == captures.read(whole, "c").records_sha256
    assert captures.family(whole, "a") == {"a", "b", "c"}


def test_a_fraction_is_drawn_by_the_seed(project: Project) -> None:
    """A quarter of 40 is ten, the same ten for the same seed; both halves make the whole."""
    rows = [{"record_id": f"r{n}", "ts": "2024-01-01", "item": str(n)} for n in range(40)]
    Builder(project).capture("c", rows)
    halves = {}
    for name, seed in (("a", 1), ("b", 1), ("d", 2)):
        act.commit(project, act.plan(project, "c", (f"{name}1", f"{name}2"), fraction=0.25, seed=seed))
        halves[name] = ids(project, f"{name}1")
        assert len(halves[name]) == 10
        assert sorted(halves[name] + ids(project, f"{name}2")) == sorted(row["record_id"] for row in rows)
    assert halves["a"] == halves["b"] != halves["d"]
    assert captures.read(project, "a1").split == {"of": "c", "fraction": 0.25, "seed": 1, "part": "first"}


@pytest.mark.parametrize(
    ("into", "options", "code"),
    [
        (("a", "b"), {}, "bad-options"),
        (("a", "b"), {"at": "2024-07-01", "fraction": 0.5}, "bad-options"),
        (("a", "a"), {"at": "2024-07-01"}, "bad-options"),
        (("a", "../b"), {"at": "2024-07-01"}, "bad-options"),
        (("a", "b"), {"fraction": 0.0}, "bad-options"),
        (("a", "b"), {"fraction": 1.0}, "bad-options"),
        (("a", "b"), {"fraction": float("nan")}, "bad-options"),
        (("a", "b"), {"at": "July"}, "bad-time"),
        (("a", "b"), {"at": "2030-01-01"}, "empty-half"),
        (("a", "b"), {"at": "2000-01-01"}, "empty-half"),
        (("a", "b"), {"fraction": 0.01}, "empty-half"),
        (("c", "b"), {"at": "2024-07-01"}, "existing-capture"),
        (("a", "c"), {"at": "2024-07-01"}, "existing-capture"),
    ],
)
def test_what_cannot_be_split_is_refused(
    into: tuple[str, str], options: dict[str, Any], code: str, whole: Project
) -> None:
    """Nothing is written."""
    with pytest.raises(Refusal) as caught:
        act.plan(whole, "c", into, **options)
    assert caught.value.code == code
    assert captures.ids(whole) == ["c"]


def test_a_capture_that_is_not_there_is_refused(project: Project) -> None:
    """The refusal names it."""
    with pytest.raises(Refusal) as caught:
        act.plan(project, "nowhere", ("a", "b"), at="2024-07-01")
    assert caught.value.code == "no-such-capture"


def test_a_second_split_into_the_same_names_is_refused(whole: Project) -> None:
    """Once both halves are there, the same split is refused: a capture is never overwritten."""
    act.commit(whole, act.plan(whole, "c", ("a", "b"), at="2024-07-01"))
    with pytest.raises(Refusal) as caught:
        act.plan(whole, "c", ("a", "b"), at="2024-07-01")
    assert [reason.split(":")[0] for reason in caught.value.why] == ["captures/a", "captures/b"]


def test_a_second_try_after_a_crash_between_the_halves_succeeds(
    whole: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first half that the crash left is accepted, even at a later clock, and the second is written."""
    first = act.plan(whole, "c", ("a", "b"), at="2024-07-01")
    captures.write_new(whole, first.halves[0].capture, first.halves[0].file, first.halves[0].data)
    before = captures.read(whole, "a")
    later = replace(whole, environ={"EVH_NOW": "2026-12-24T00:00:00Z"})
    act.commit(later, act.plan(later, "c", ("a", "b"), at="2024-07-01"))
    assert captures.read(whole, "a") == before
    assert ids(whole, "b") == ["late", "at"]


def test_another_splits_half_is_not_taken_for_ours(whole: Project) -> None:
    """What lies under the first name must be of the same split, byte for byte."""
    other = act.plan(whole, "c", ("a", "b"), at="2024-06-01")
    captures.write_new(whole, other.halves[0].capture, other.halves[0].file, other.halves[0].data)
    with pytest.raises(Refusal) as caught:
        act.plan(whole, "c", ("a", "b"), at="2024-07-01")
    assert caught.value.code == "existing-capture"


def test_an_unfinished_half_is_no_obstacle(whole: Project) -> None:
    """A folder that a crash left under its temporary name is passed over."""
    (whole.data / "captures" / f"{atomic.TMP_PREFIX}a-1-x").mkdir()
    act.commit(whole, act.plan(whole, "c", ("a", "b"), at="2024-07-01"))
    assert captures.ids(whole) == ["a", "b", "c"]


def test_the_captures_own_adapter_says_what_is_an_item(project: Project, tmp_path: Path) -> None:
    """The adapter that the capture recorded is used: here only `body` is an item."""
    (project.data / "ours.py").write_text("def item(r): return r.get('body')\n")
    rows = [
        {"record_id": "x", "ts": "2024-01-01", "body": "1"},
        {"record_id": "y", "ts": "2024-08-01", "body": "2"},
        {"record_id": "z", "ts": "2024-08-01", "item": "not ours"},
    ]
    Builder(project).capture("c", rows, adapter={"path": "data/ours.py", "sha256": "0" * 64})
    plan = act.plan(project, "c", ("a", "b"), at="2024-07-01")
    assert [half.capture.n_records for half in plan.halves] == [1, 1]
    assert plan.n_no_item == 1


def test_records_made_by_hand_without_an_id_or_a_time_of_text_are_refused(project: Project) -> None:
    """Both are told at once."""
    rows: list[dict[str, Any]] = [
        {"ts": "2024-01-01", "item": "x"},
        {"record_id": "b", "ts": 1714550400, "item": "y"},
    ]
    Builder(project).capture("c", rows)
    with pytest.raises(Refusal) as caught:
        act.plan(project, "c", ("a", "b"), at="2024-07-01")
    assert len(caught.value.why) == 2


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=40), st.integers(), st.data())
def test_a_draw_has_the_size_asked_for_and_no_order(ids_: list[str], seed: int, data: st.DataObject) -> None:
    """Any ids, any seed: n of them are drawn, the same in any order, with groups or without."""
    n = data.draw(st.integers(0, len(ids_)))
    drawn = draw.sample(ids_, n, seed)
    assert len(drawn) == n
    assert drawn <= set(ids_)
    assert draw.sample(ids_[::-1], n, seed) == drawn
    groups = {one: len(one) % 3 for one in ids_}
    grouped = draw.sample(ids_, n, seed, groups)
    assert len(grouped) == n
    assert draw.sample(ids_[::-1], n, seed, groups) == grouped


def test_a_half_that_is_there_is_told(whole: Project, evh: CommandLine) -> None:
    """The first half was left by an earlier try: it stays, and the output says so."""
    first = act.plan(whole, "c", ("a", "b"), at="2024-07-01").halves[0]
    captures.write_new(whole, first.capture, first.file, first.data)
    words = ("split", "--capture", "c", "--at", "2024-07-01", "--into", "a,b")
    said = "a is there already, byte for byte: it was left as it is"
    assert said in evh.ok(*words, "--dry-run").out
    assert evh.ok(*words, "--json").json["warnings"] == [said]
