"""``label-import --conflicts leave``: equal bytes with different answers are listed, the rest is labelled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evh.acts.validate import validate
from evh.project import labels
from evh.project.find import Project
from evh.store.hashing import sha256_text
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

TEXTS = {"a": "same", "b": "other", "c": "same", "d": "third", "e": "same"}
ANSWERS = {"a": "yes", "b": "no", "c": "no", "d": "yes"}
CONFLICT = {"sha256": sha256_text("same"), "answers": ["no", "yes"], "items": ["a", "c", "e"]}


@pytest.fixture
def builder(project: Project) -> Builder:
    """A dataset of five items, three of equal bytes."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    return made


def sheet(place: Path, answers: Mapping[str, str]) -> Path:
    """Write a sheet."""
    path = place / "filled.csv"
    rows = [f"{item_id},{answer}" for item_id, answer in answers.items()]
    path.write_text("\n".join(["item_id,label", *rows]) + "\n")
    return path


def folder(place: Path, answers: Mapping[str, str]) -> Path:
    """Write a folder of answers."""
    path = place / "filled"
    path.mkdir()
    for item_id, answer in answers.items():
        (path / f"{item_id}.txt").write_text(answer)
    return path


def words(path: Path, *more: str) -> tuple[str | Path, ...]:
    """Return the command line of an import."""
    return ("label-import", path, "--dataset-id", "d", "--set", "s", "--by", "ann", *more)


@pytest.mark.parametrize("form", [sheet, folder])
def test_a_sheet_and_a_folder(builder: Builder, evh: CommandLine, tmp_path: Path, form: Any) -> None:
    """The set records the conflict; the JSON and the terminal list it with its items; all of it is valid."""
    path = form(tmp_path, ANSWERS)
    refused = evh.refused("two-answers", *words(path)).json["refused"]
    assert len(refused["why"]) == 1
    assert refused["next"].endswith("--conflicts leave")
    told = evh.ok(*words(path, "--conflicts", "leave", "--dry-run")).out
    assert (
        "left unlabelled: 1 text of equal bytes with different answers, 3 items:\n  a, c, e: no | yes\n"
        in told
    )
    made = check(evh.ok(*words(path, "--conflicts", "leave", "--json")).json, "label-import")
    assert made["label_sets"][0]["conflicts"] == [CONFLICT]
    assert made["label_sets"][0]["n_items"] == 2
    assert "1 text of equal bytes got different answers: left unlabelled" in made["warnings"]
    one = labels.read(builder.project, "d", "s")
    assert one.conflicts == {CONFLICT["sha256"]: CONFLICT["answers"]}
    assert labels.texts(builder.project, one, verify=True) == {"b": "no", "d": "yes"}
    assert validate(builder.project).findings == ()
    assert "d/s: 1 text of equal bytes got different answers: no label" in evh.ok("labels").out


def test_an_export_of_another_tool(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """An annotator's own conflict is left; what two annotators say of one text is none."""
    given = [
        ("ann", "a", "yes"),
        ("ann", "c", "no"),
        ("ann", "b", "no"),
        ("bob", "a", "no"),
        ("bob", "c", "no"),
    ]
    tasks = [
        {
            "id": number,
            "data": {"text": TEXTS[item_id], "item_id": item_id},
            "annotations": [
                {
                    "id": number,
                    "completed_by": who,
                    "result": [{"from_name": "q", "type": "choices", "value": {"choices": [answer]}}],
                }
            ],
        }
        for number, (who, item_id, answer) in enumerate(given, start=1)
    ]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(tasks))
    line = (*words(path), "--format", "label-studio")
    refused = evh.refused("two-answers", *line).json["refused"]
    assert refused["next"].endswith("--conflicts leave")
    made = check(evh.ok(*line, "--conflicts", "leave", "--json").json, "label-import")["label_sets"]
    assert [(one["set"], one["n_items"], one["conflicts"]) for one in made] == [
        ("s.ann", 1, [CONFLICT]),
        ("s.bob", 2, []),
    ]
    assert labels.read(builder.project, "d", "s.ann").conflicts == {CONFLICT["sha256"]: CONFLICT["answers"]}


def test_where_nothing_is_left_it_is_refused(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """A set without a label is none."""
    del builder
    path = sheet(tmp_path, {"a": "yes", "c": "no"})
    told = evh.refused("nothing-filled", *words(path, "--conflicts", "leave")).json["refused"]["why"]
    assert told == [f"{path}: every item's bytes got different answers: no label is left"]


def test_one_item_with_two_answers_stays_refused(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Equal bytes may stand at several places; one item has one answer."""
    del builder
    path = tmp_path / "p.csv"
    path.write_text("item_id,label\nb,yes\nb,no\nd,yes\n")
    refused = evh.refused("two-answers", *words(path, "--conflicts", "leave")).json["refused"]
    assert "--conflicts" not in refused["next"]


def test_a_random_draw_that_loses_items_is_told(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """What is left of it is no random draw: a rate from it holds only with care."""
    del builder
    path = tmp_path / "drawn.csv"
    evh.ok("label-sheet", "--dataset-id", "d", "--plus-random", "5", "--choices", "yes,no", "--out", path)
    sheet(tmp_path, ANSWERS | {"e": "yes"}).replace(path)
    done = evh.ok(*words(path, "--conflicts", "leave", "--json")).json
    assert any("3 of the 5 rows drawn at random are not labelled" in line for line in done["warnings"])


def test_a_sheet_that_adjudicates_leaves_nothing(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """It is there to settle what differs."""
    builder.labels("d", "one", {"b": "yes", "d": "yes"})
    builder.labels("d", "two", {"b": "no", "d": "yes"})
    path = tmp_path / "differ.csv"
    evh.ok("adjudicate", "--dataset-id", "d", "--sets", "one,two", "--out", path)
    path.write_text("item_id,label\nb,no\n")
    told = evh.refused("bad-options", *words(path, "--conflicts", "leave")).json["refused"]["why"]
    assert told == ["--conflicts leave: it would leave items open that the sheet answers"]
