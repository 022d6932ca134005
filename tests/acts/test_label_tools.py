"""Exports of other tools with wrong types anywhere: refused or read, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.acts.label_tools.given import plain
from evh.acts.tool_import import TOOLS
from evh.errors import Refusal
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder

CASES = Path(__file__).parents[1] / "cases" / "exports"
WRONG: list[Any] = [
    None,
    True,
    3,
    10**400,
    1.5,
    "x",
    "\ud800",
    "",
    [],
    ["x", 3, None],
    {},
    {"a": [1]},
    [[{}]],
    [{"id": 1}],
]
Way = tuple[str | int, ...]


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """Yield the way to each value within a JSON value."""
    if way:
        yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from ways(one, (*way, key))


def changed(value: Any, way: Way, wrong: Any) -> Any:
    """Return a copy of a value with another one at the end of a way."""
    made = deepcopy(value)
    there = made
    for key in way[:-1]:
        there = there[key]
    there[way[-1]] = wrong
    return made


def loaded(path: Path) -> list[Any]:
    """Return an export's entries."""
    text = path.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)


def exports() -> list[tuple[str, Path]]:
    """Return each tool's fixtures that are JSON."""
    paths = sorted(path for path in CASES.rglob("*.json*") if path.is_file())
    made = [(tool, path) for path in paths for tool in TOOLS if str(path.relative_to(CASES)).startswith(tool)]
    assert {tool for tool, _ in made} == set(TOOLS)
    return made


@pytest.mark.parametrize(("tool", "path"), exports(), ids=lambda one: getattr(one, "name", one))
def test_any_value_may_be_of_any_type(tool: str, path: Path) -> None:
    """Every key of every fixture gets every wrong value: the reader returns answers or refuses."""
    value = loaded(path)
    for way in ways(value):
        for wrong in WRONG:
            bad = changed(value, way, wrong)
            text = "\n".join(map(json.dumps, bad)) if path.suffix == ".jsonl" else json.dumps(bad)
            try:
                TOOLS[tool].read(text.encode(), path.name, question=None, fields=())
            except Refusal:
                continue


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_an_import_of_it_is_refused_or_done(project: Project, evh: CommandLine, data: st.DataObject) -> None:
    """Beyond the reader too: answers, items and annotators of any type."""
    if not (project.data / "datasets" / "d.json").exists():
        Builder(project).dataset("d", {"r1": "Good case, excellent value.", "r2": "What a waste"})
    tool, path = data.draw(st.sampled_from(exports()))
    value = loaded(path)
    bad = changed(value, data.draw(st.sampled_from(list(ways(value)))), data.draw(st.sampled_from(WRONG)))
    out = project.root / f"export{path.suffix}"
    out.write_text("\n".join(map(json.dumps, bad)) if path.suffix == ".jsonl" else json.dumps(bad))
    words = (
        "--dataset-id",
        "d",
        "--set",
        "s",
        "--by",
        "ann",
        "--format",
        tool,
        "--several",
        "any",
        "--dry-run",
    )
    outcome = evh("label-import", str(out), *words, "--json")
    assert outcome.code == 0 or outcome.json["refused"]["why"]


def test_numbers_are_labels_digit_for_digit() -> None:
    """A number beyond a float's range is its digits; what is infinite is no answer."""
    assert plain(10**400) == "1" + "0" * 400
    assert plain(4.0) == "4"
    assert plain(float("inf")) is None


def test_results_that_are_no_list_are_refused() -> None:
    """The task is named."""
    task = {"id": 7, "data": {"text": "x"}, "annotations": [{"id": 1, "result": 3}]}
    with pytest.raises(Refusal) as caught:
        TOOLS["label-studio"].read(json.dumps([task]).encode(), "f", question=None, fields=())
    assert caught.value.why == ("f: task 7, annotation 1: its result is no list",)


def test_half_a_character_is_no_label(project: Project, evh: CommandLine) -> None:
    """JSON can write a lone surrogate, and no label's file can hold it."""
    Builder(project).dataset("d", {"r1": "x"})
    out = project.root / "e.jsonl"
    out.write_text('{"text": "x", "answer": "accept", "accept": ["\\ud800"]}\n')
    words = ("--dataset-id", "d", "--set", "s", "--by", "ann", "--format", "prodigy")
    evh.refused("bad-label", "label-import", str(out), *words)
