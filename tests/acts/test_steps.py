"""Every command that is proposed is one that the project takes as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.acts import steps
from evh.acts.overview import overview
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder

ONE = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"  # sha256 of the text 1
PRODUCTION = {"provider": "recorded", "capture": "cap"}


@pytest.fixture
def built(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    """A captured record and a dataset of it; the shell stands in an empty folder."""
    made = Builder(project)
    made.capture("cap", [{"record_id": "one", "item": "1", "output": "no"}])
    made.dataset("d", {"one": "1"}, lineage={"one": {"capture": "cap", "record_id": "one"}})
    (tmp_path / "shell").mkdir()
    monkeypatch.chdir(tmp_path / "shell")
    return made


def test_a_sheet_goes_where_no_sheet_is(built: Builder) -> None:
    """Neither a sheet nor a key is in the way."""
    assert steps.label_sheet("d") == "evh label-sheet --dataset-id d --out d.csv"
    Path("d.csv").touch()
    Path("d-2.key.json").touch()
    assert steps.label_sheet("d", "--item a") == "evh label-sheet --dataset-id d --out d-3.csv --item a"


def test_a_recorded_arm_is_run_where_its_config_is_there(built: Builder) -> None:
    """Of the same records; another capture's arm takes the name, so a free one is proposed."""
    make = "evh arm-from-capture --dataset-id d --capture cap --as"
    assert steps.recorded_arm(built.project, "d", "cap") == f"{make} production"
    built.config("production", params={"provider": "recorded", "capture": "other"})
    assert steps.recorded_arm(built.project, "d", "cap") == f"{make} production_2"
    built.config("mine", params=PRODUCTION)
    assert steps.recorded_arm(built.project, "d", "cap") == "evh run --config mine --dataset-id d"


def test_only_a_datasets_own_labels_are_scored_against(built: Builder) -> None:
    """Without a run an arm is run first; labels of another dataset are promoted."""
    built.config("c")
    assert steps.score_labels(built.project, "d", ["d/s"]) == "evh run --config c --dataset-id d --labels d/s"
    built.run("c", "d", {"one": "no"})
    assert steps.score_labels(built.project, "d", ["e/x", "d/s"]) == "evh rescore --dataset-id d --labels d/s"
    assert (
        steps.score_labels(built.project, "d", ["d/r", "d/s"]) == "evh rescore --dataset-id d --labels d/SET"
    )
    assert steps.score_labels(built.project, "d", ["e/x"]) == (
        "evh reference-promote --dataset-id d --labels e/x --tier silver --reason REASON"
    )


def test_overview_promotes_the_set_that_labels_most(built: Builder) -> None:
    """The labels of every item come before those of some; a complete set needs no governed dataset."""
    built.dataset("e", {"a": "A", "b": "B"})
    built.labels("e", "few", {"a": "yes"})
    promoted = "evh reference-promote --dataset-id e --labels e/full --tier silver --reason REASON"
    assert not any("reference-promote" in line for line in overview(built.project).next)
    built.labels("e", "full", {"a": "yes", "b": "no"})
    assert promoted in overview(built.project).next


def test_overview_never_proposes_to_score_against_another_datasets_set(built: Builder) -> None:
    """Labels that came by equal bytes are promoted, and then scored against."""
    built.dataset("base", {"x": "1", "y": "2"})
    label_set = built.labels("base", "ana", {"x": "yes"})
    built.run("c", "d", {"one": "no"})
    made = overview(built.project).next
    assert steps.promote("d", ["base/ana"]) in made
    assert not any("rescore --dataset-id d " in line for line in made)
    built.reference(
        "silver/d",
        label_set,
        dataset_id="d",
        items={"one": ONE},
    )
    assert "evh rescore --dataset-id d --reference silver/d" in overview(built.project).next


def test_what_is_proposed_is_taken(built: Builder, evh: CommandLine) -> None:
    """From a capture on the first thing that the overview proposes can be run as it stands, each time."""
    built.labels("d", "s", {"one": "yes"})
    seen = []
    for _ in range(4):
        line = overview(built.project).next[0].replace("REASON", "because")
        seen.append(line.split()[1])
        evh.ok(*line.split()[1:])
    assert seen[:3] == ["arm-from-capture", "rescore", "reference-promote"]


def test_labels_proposes_neither_itself_nor_placeholders(built: Builder, evh: CommandLine) -> None:
    """With --confusion shown it is not proposed again; the one set and dataset are filled in."""
    built.run("c", "d", {"one": "no"})
    built.labels("d", "s", {"one": "yes"})
    built.labels("d", "t", {"one": "no"})
    assert "evh labels --dataset-id d --confusion" in evh.ok("labels").out
    out = evh.ok("labels", "--confusion").out.partition("next:")[2]
    assert "--confusion" not in out
    assert "evh rescore --dataset-id d --labels d/SET" in out


def test_references_fills_in_what_there_is_one_of(built: Builder, evh: CommandLine) -> None:
    """One set to promote; then one reference to score against."""
    label_set = built.labels("d", "s", {"one": "yes"})
    assert "evh reference-promote --dataset-id d --labels d/s" in evh.ok("references").out
    built.run("c", "d", {"one": "no"})
    built.reference("gold/r", label_set)
    assert "evh rescore --dataset-id d --reference gold/r" in evh.ok("references").out


def test_what_was_written_or_scored_leads_on(built: Builder, evh: CommandLine) -> None:
    """A sheet as CSV ends with the commands for its rows, and scores with where to see them."""
    built.labels("d", "s", {"one": "no"})
    evh.ok("arm-from-capture", "--dataset-id", "d", "--capture", "cap", "--as", "p")
    out = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--csv", "sheet.csv").out
    assert "evh pick --dataset-id d --item one" in out
    out = evh.ok("rescore", "--dataset-id", "d", "--labels", "d/s").out
    assert out.endswith("next:\n  evh inspect --sheet --dataset-id d\n  evh runs --dataset-id d\n")


def test_a_file_that_cannot_be_read_says_what_to_do(built: Builder, evh: CommandLine) -> None:
    """A missing file, YAML that is none, and a filter without a value each name the way out."""
    words = ("label-from-capture", "--dataset-id", "d", "--capture", "cap", "--set", "s", "--map")
    missing = evh.refused("cannot-read", *words, "nope.yaml").json["refused"]
    assert missing["next"] == "name a file that is there and may be read"
    Path("bad.yaml").write_text("a: [")
    assert evh.refused("bad-yaml", *words, "bad.yaml").json["refused"]["next"] == "mend bad.yaml"
    built.dataset("f", {"x": "X"}, fields={"x": {"acme": "y"}})
    where = evh.refused("bad-where", "inspect", "--sheet", "--dataset-id", "f", "--where", "acme")
    assert where.json["refused"]["next"] == "write --where acme:VALUE"
