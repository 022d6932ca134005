"""The list of picks: append-only, the latest line wins, and an update sees the state it changes."""

from __future__ import annotations

import pytest

from evh.errors import Refusal
from evh.project import picks
from evh.project.find import Project
from evh.records.pick import Pick


def test_no_list_is_an_empty_one(project: Project) -> None:
    """Reading makes no file."""
    assert picks.read_lines(project) == []
    assert picks.read_state(project) == {}
    assert not picks.path_of(project).exists()


def test_the_latest_line_of_an_item_wins(project: Project) -> None:
    """The same item of two datasets is two picks."""
    picks.append(project, [Pick("i", "d", "s", note="1"), Pick("i", "e", "s"), Pick("i", "d", "s", note="2")])
    state = picks.read_state(project)
    assert {key: pick.note for key, pick in state.items()} == {("d", "i"): "2", ("e", "i"): ""}
    assert [line.note for line in picks.read_lines(project)] == ["1", "", "2"]


def test_a_line_is_compact_json_with_sorted_keys(project: Project) -> None:
    """The bytes are those that the layout names; what is none is left out, unknown keys are kept."""
    picks.append(project, [Pick("ä", "d", "s", at="t", targets=("x",), extra={"later": 1})])
    assert (
        picks.path_of(project).read_bytes()
        == (
            '{"at":"t","by":"","dataset_id":"d","item_id":"ä","later":1,"note":"","op":"pick","sha256":"s",'
            '"tags":{},"targets":["x"]}\n'
        ).encode()
    )


def test_an_update_sees_the_state_and_writes_its_lines(project: Project) -> None:
    """What ``make`` returns is appended; what a crash had cut is dropped first."""
    picks.append(project, [Pick("i", "d", "s", note="1")])
    path = picks.path_of(project)
    path.write_bytes(path.read_bytes() + b'{"item_id":')
    seen = []

    def make(state: object) -> list[Pick]:
        seen.append(state)
        return [Pick("j", "d", "s")]

    lines, torn = picks.update(project, make)
    assert [line.item_id for line in lines] == ["j"]
    assert torn == b'{"item_id":'
    assert list(picks.read_state(project)) == [("d", "i"), ("d", "j")]
    assert len(seen) == 1


def test_a_refused_update_writes_nothing(project: Project) -> None:
    """A Refusal inside leaves the list as it was, and the lock free."""
    picks.append(project, [Pick("i", "d", "s")])
    before = picks.path_of(project).read_bytes()

    def refuse(_state: object) -> list[Pick]:
        raise Refusal("no", "no")

    with pytest.raises(Refusal):
        picks.update(project, refuse)
    assert picks.path_of(project).read_bytes() == before
    picks.append(project, [Pick("j", "d", "s")])


@pytest.mark.parametrize(
    "line",
    [b"not json\n", b'{"dataset_id":"d"}\n', b'{"item_id":"i","dataset_id":"d","op":"eat"}\n', b"[]\n"],
)
def test_a_bad_line_is_refused_with_its_number(project: Project, line: bytes) -> None:
    """A whole line that is no pick names the file and the line."""
    picks.append(project, [Pick("i", "d", "s")])
    path = picks.path_of(project)
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(Refusal) as refused:
        picks.read_lines(project)
    assert "picks.jsonl: line 2" in refused.value.why[0]
