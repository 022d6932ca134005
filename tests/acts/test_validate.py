"""Every promise of the data folder: broken on purpose, each is found, with its file and its reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evh.acts.validate import validate
from evh.project import labels
from evh.project.find import Project
from evh.records.run import Prediction
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.whole import RUN, edit, found, whole


@pytest.fixture
def built(project: Project) -> Builder:
    """A small whole project."""
    return whole(project)


def test_what_evh_writes_breaks_no_promise(built: Builder) -> None:
    """A whole project has no findings, every record was read, and nothing was written."""
    before = tree_bytes(built.project.root)
    report = validate(built.project)
    assert report.findings == ()
    assert dict(report.checked) == {
        "datasets": 1,
        "items": 2,
        "captures": 1,
        "records": 2,
        "configs": 1,
        "runs": 2,
        "predictions": 4,
        "label sets": 1,
        "labels": 2,
        "reference sets": 1,
        "baselines": 1,
        "picks": 1,
    }
    assert tree_bytes(built.project.root) == before


def test_an_empty_project_breaks_no_promise(project: Project) -> None:
    """There is nothing to find."""
    assert validate(project).findings == ()


DAMAGE: list[tuple[str, Callable[[Path], object], tuple[str, str, str]]] = [
    (
        "git may change bytes",
        lambda root: (root / "data/.gitattributes").unlink(),
        ("error", "gitattributes", "data/.gitattributes"),
    ),
    (
        "a later rule undoes it",
        lambda root: (root / "data/.gitattributes").write_text("* -text\n*.txt text=auto\n"),
        ("error", "gitattributes", "data/.gitattributes"),
    ),
    (
        "an item's bytes changed",
        lambda root: (root / "data/sources/d/one.txt").write_text("text one\r\n"),
        ("error", "item-bytes", "data/sources/d/one.txt"),
    ),
    (
        "an item's file is gone",
        lambda root: (root / "data/sources/d/one.txt").unlink(),
        ("error", "item-missing", "data/datasets/d.json"),
    ),
    (
        "a text that no dataset names",
        lambda root: (root / "data/sources/d/three.txt").write_text("3"),
        ("warning", "stray-file", "data/sources/d/three.txt"),
    ),
    (
        "a dataset that is no JSON",
        lambda root: (root / "data/datasets/e.json").write_text("{"),
        ("error", "bad-json", "data/datasets/e.json"),
    ),
    (
        "a label was edited",
        lambda root: (root / "data/labels/d/truth/one.txt").write_text("no"),
        ("error", "edited-set", "data/labels/d/truth"),
    ),
    (
        "a label is gone",
        lambda root: (root / "data/labels/d/truth/one.txt").unlink(),
        ("error", "missing-label", "data/labels/d/truth"),
    ),
    (
        "a file that the set does not name",
        lambda root: (root / "data/labels/d/truth/extra.txt").write_text("x"),
        ("warning", "stray-file", "data/labels/d/truth/extra.txt"),
    ),
    (
        "a reference's text is not the label promoted",
        lambda root: (root / "data/references/silver/ref/two.txt").write_text("maybe"),
        ("error", "promotion", "data/references/silver/ref/manifest.json"),
    ),
    (
        "a reference without a promotion",
        lambda root: edit(
            root / "data/references/silver/ref/manifest.json", lambda one: one.update(promoted_from=None)
        ),
        ("warning", "no-promotion", "data/references/silver/ref/manifest.json"),
    ),
    (
        "a capture's records changed",
        lambda root: (root / "data/captures/cap/records.jsonl").write_text("{}\n"),
        ("error", "changed-bytes", "data/captures/cap"),
    ),
    (
        "a capture in both forms",
        lambda root: (root / "data/captures/cap/records.parquet").write_bytes(b"x"),
        ("error", "two-forms", "data/captures/cap"),
    ),
    (
        "predictions changed",
        lambda root: (root / RUN / "predictions.jsonl").write_text('{"item_id":"one"}\n'),
        ("error", "changed-bytes", RUN),
    ),
    (
        "a run of no shape",
        lambda root: (root / RUN / "metrics.json").write_text('{"run_id": 3}'),
        ("error", "bad-record", f"{RUN}/metrics.json"),
    ),
    (
        "an unfinished write",
        lambda root: (root / "data/labels/d/.tmp-x").mkdir(),
        ("warning", "leftover", "data/labels/d/.tmp-x"),
    ),
    (
        "a list cut by a crash",
        lambda root: (root / "data/picks.jsonl").write_bytes(
            (root / "data/picks.jsonl").read_bytes() + b'{"item'
        ),
        ("warning", "torn-line", "data/picks.jsonl"),
    ),
    (
        "a bad line in the list",
        lambda root: (root / "data/picks.jsonl").write_text("nonsense\n"),
        ("error", "bad-jsonl", "data/picks.jsonl"),
    ),
    (
        "a pick of no item",
        lambda root: (root / "data/picks.jsonl").write_text('{"dataset_id":"d","item_id":"x","sha256":""}\n'),
        ("warning", "unknown-item", "data/picks.jsonl"),
    ),
    (
        "a link out of the project",
        lambda root: (root / "data/sources/d/link.txt").symlink_to("/etc/hostname"),
        ("error", "outside", "data/sources/d/link.txt"),
    ),
    (
        "a config that is no YAML",
        lambda root: (root / "data/configs/bad.yaml").write_text("a: [\n"),
        ("error", "bad-yaml", "data/configs/bad.yaml"),
    ),
    (
        "two configs of one id",
        lambda root: (root / "data/configs/copy.yaml").write_text("config_id: arm\n"),
        ("error", "doubled-id", "data/configs/copy.yaml"),
    ),
    (
        "two files for one item",
        lambda root: _two_files(root),  # noqa: PLW0108 - defined below
        ("error", "two-files", "data/labels/d/odd"),
    ),
    (
        "texts without a manifest",
        lambda root: _litter(root),  # noqa: PLW0108 - defined below
        ("warning", "litter", "data/sources/half"),
    ),
]  # fmt: skip


def _two_files(root: Path) -> None:
    built = Builder(Project.find(home=root))
    built.dataset("odd", {"a b": "1"})
    built.labels("odd", "odd", {"a b": "x"})
    place = root / "data/labels/d/odd"
    (root / "data/labels/odd/odd").rename(place)
    edit(place / "labels.json", lambda one: one.update(dataset_id="d"))
    (place / "a b.txt").write_text("y")


def _litter(root: Path) -> None:
    (root / "data/sources/half").mkdir()
    (root / "data/sources/half/x.txt").write_text("x")


@pytest.mark.parametrize(("damage", "finding"), [one[1:] for one in DAMAGE], ids=[one[0] for one in DAMAGE])
def test_a_broken_promise_is_found(
    built: Builder, damage: Callable[[Path], object], finding: tuple[str, str, str]
) -> None:
    """The finding names the file; without the damage there was none."""
    damage(built.project.root)
    assert finding in found(built.project)


def test_every_byte_of_a_set_is_watched(built: Builder) -> None:
    """Whatever bit of a label's file is flipped, the set is found to be edited."""
    path = labels.path_of(built.project, "d", "truth") / "one.txt"
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert ("error", "edited-set", "data/labels/d/truth") in found(built.project)


def test_an_output_that_is_not_the_one_scored_is_found(built: Builder) -> None:
    """A row that names its output's hash holds the file to it: changed or missing."""
    text = b"the answer"
    rows = [Prediction("one", hidden={"_output_sha256": sha256(text)})]
    from evh.project import runs
    from evh.records.run import Run

    run = Run("arm_20261002T000000Z", "arm", "d", created_at="2026-10-02T00:00:00Z", n_items=1)
    runs.write_scored(built.project, run, rows)
    place = runs.path_of(built.project, run) / "outputs"
    file = "data/runs/arm_20261002T000000Z"
    assert ("error", "output-missing", file) in found(built.project)
    place.mkdir()
    (place / "one.txt").write_bytes(text)
    assert found(built.project) == []
    (place / "one.txt").write_bytes(text + b"\n")
    assert ("error", "output-bytes", file) in found(built.project)


@pytest.mark.parametrize(
    "twin",
    ["\ufefftext one", "text one\r\n", "text one  ", "text one\n\n"],
    ids=["mark", "crlf", "spaces", "end"],
)
def test_near_twins_are_noted(project: Project, twin: str) -> None:
    """Bytes that differ only by mark, line ends, Unicode form or trailing white space: a note, no finding."""
    Builder(project).dataset("d", {"one": "text one", "two": twin, "three": "other"})
    report = validate(project)
    assert report.findings == ()
    assert [(one.code, one.file) for one in report.notes] == [("near-twins", "data/datasets/d.json")]
    assert "one, two" in report.notes[0].reason


def test_unicode_forms_are_near_twins_and_equal_bytes_are_not(project: Project) -> None:
    """é composed and decomposed meet; the same bytes under two ids are one label's, no twins."""
    built = Builder(project)
    built.dataset("d", {"one": "\u00e9", "two": "e\u0301"})
    built.dataset("e", {"one": "same", "two": "same"})
    assert [one.file for one in validate(project).notes] == ["data/datasets/d.json"]


def test_what_is_only_worth_knowing_is_no_finding(built: Builder) -> None:
    """An unknown config, an unfinished run and a file named otherwise than its id are notes."""
    built.run("gone", "elsewhere", {"one": "x"})
    (built.project.data / "runs" / "arm_20261003T000000Z").mkdir()
    (built.project.data / "runs" / "arm_20261003T000000Z" / "running.json").write_text("{}")
    (built.project.data / "configs" / "arm.yaml").rename(built.project.data / "configs" / "my arm (v2).yaml")
    report = validate(built.project)
    assert report.findings == ()
    assert {one.code for one in report.notes} == {
        "unknown-config",
        "unknown-dataset",
        "unfinished-run",
        "file-name",
    }


def test_the_other_form_beside_a_commit_point_is_a_note(built: Builder) -> None:
    """metrics.json names the file that counts: what else lies there is litter."""
    (built.project.root / RUN / "predictions.parquet").write_bytes(b"left over")
    report = validate(built.project)
    assert report.findings == ()
    assert ("litter", f"{RUN}/predictions.parquet") in [(one.code, one.file) for one in report.notes]


def test_labels_of_other_bytes_are_found(built: Builder) -> None:
    """A set whose item has other bytes than the dataset holds, and one of an unknown dataset."""
    place = built.project.data / "labels" / "d" / "truth" / "labels.json"
    edit(place, lambda one: one["items"]["one"].update(sha256="0" * 64))
    assert ("error", "item-bytes", "data/labels/d/truth/labels.json") in found(built.project)
    built.dataset("gone", {"x": "1"})
    built.labels("gone", "s", {"x": "yes"})
    (built.project.data / "datasets" / "gone.json").unlink()
    assert ("warning", "unknown-dataset", "data/labels/gone/s/labels.json") in found(built.project)


def test_a_guideline_that_changed_is_found(built: Builder) -> None:
    """The guideline's hash is in the set: an edited or a missing one is an error."""
    from evh.project import datasets
    from evh.records.labelset import LabelItem, LabelSet

    sha = datasets.read(built.project, "d").by_id["one"].sha256
    guided = LabelSet("d", "guided", {"kind": "person", "by": "bo"}, {"one": LabelItem(sha)}, "")
    labels.write_new(built.project, guided, {"one": b"yes"}, guideline=(".md", b"say yes"))
    assert found(built.project) == []
    path = labels.path_of(built.project, "d", "guided") / "~guideline.md"
    path.write_bytes(b"say no")
    assert found(built.project) == [("error", "guideline", "data/labels/d/guided")]
    path.unlink()
    assert ("error", "guideline", "data/labels/d/guided") in found(built.project)


def test_every_finding_is_told_at_once(built: Builder) -> None:
    """Three damages in three rooms are three findings of one report."""
    root = built.project.root
    (root / "data/sources/d/one.txt").write_text("x")
    (root / "data/labels/d/truth/one.txt").write_text("no")
    (root / "data/captures/cap/records.jsonl").write_text("{}\n")
    assert {code for _, code, _ in found(built.project)} == {"item-bytes", "edited-set", "changed-bytes"}


def test_clean_removes_leftovers_and_nothing_else(built: Builder, evh: CommandLine) -> None:
    """Files and folders named .tmp-* go; one that a running process may be writing stays, and is told."""
    data = built.project.data
    before = tree_bytes(data)
    (data / "labels" / "d" / ".tmp-truth-999999999-0123abcd").mkdir()
    (data / "labels" / "d" / ".tmp-truth-999999999-0123abcd" / "one.txt").write_text("x")
    (data / ".tmp-picks").write_text("x")
    busy = data / "runs" / f".tmp-busy-{os.getppid()}-0123abcd"
    busy.write_text("x")
    assert evh("validate", "--clean", "--dry-run").out.count("would remove") == 2
    assert (data / ".tmp-picks").exists()
    shown = evh("validate", "--clean")
    assert shown.code == 1
    assert shown.out.count("removed ") == 2
    assert f"process {os.getppid()} may be writing it" in shown.out
    busy.unlink()
    assert tree_bytes(data) == before
    evh.ok("validate")


def test_validate_at_the_door(built: Builder, evh: CommandLine) -> None:
    """Exit 0 and a count when all holds; exit 1, each finding with file and reason, when not."""
    assert "0 findings" in evh.ok("validate").out
    check(evh.ok("validate", "--json").json, "validate")
    (built.project.data / "labels/d/truth/one.txt").write_text("no")
    shown = evh("validate")
    assert shown.code == 1
    assert "error: data/labels/d/truth: labels/d/truth: its labels are not the ones" in shown.out
    document = evh("validate", "--json")
    assert document.code == 1
    assert check(document.json, "validate")["findings"][0]["code"] == "edited-set"


def test_no_code_of_the_project_runs(built: Builder) -> None:
    """An adapter that would write a file is not imported."""
    trap = built.project.root / "trap.txt"
    adapter = built.project.data / "adapters"
    adapter.mkdir()
    (adapter / "bad.py").write_text(f"open({str(trap)!r}, 'w').close()\n")
    built.config("trapped", adapter="adapters/bad.py")
    validate(built.project)
    assert not trap.exists()
