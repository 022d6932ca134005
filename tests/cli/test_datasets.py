"""The commands of datasets as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a file of three records or two rows."""
    path = tmp_path / "in.csv"
    path.write_text("id,body,team\n1,one,a\n2,two,b\n")
    return path


def create(file: Path, dataset_id: str = "d") -> tuple[str | Path, ...]:
    """Give the words that make a dataset of the file."""
    return (
        "dataset-create",
        "--dataset-id",
        dataset_id,
        "--from-file",
        file,
        "--id-field",
        "id",
        "--text-field",
        "body",
    )


def test_dataset_create_makes_one_and_says_what_is_next(evh: CommandLine, file: Path) -> None:
    """The number of items, and the commands that list and label them."""
    out = evh.ok(*create(file), "--field", "team", "--governed", "--no-redistribute", "--task", "t").out
    assert out.startswith("made the dataset d: 2 items\n")
    assert "evh label-sheet --dataset-id d --out d.csv" in out
    row = check(evh.ok("datasets", "--json").json, "datasets")["datasets"][0]
    assert row["fields"] == {"team": "text"}
    assert (row["governed"], row["redistributable"], row["task"], row["n_items"]) == (True, False, "t", 2)


def test_dataset_create_json_is_as_its_schema_says(evh: CommandLine, file: Path) -> None:
    """--dry-run gives the same document and writes nothing."""
    dry = check(evh.ok(*create(file), "--dry-run", "--json").json, "dataset-create")
    assert not (evh.root / "data" / "datasets").exists()
    wet = check(evh.ok(*create(file), "--json").json, "dataset-create")
    assert (dry.pop("written"), wet.pop("written")) == (False, True)
    del dry["datasets"][0]["fields"], wet["datasets"][0]["fields"]
    assert dry == wet


def test_dataset_create_refuses(evh: CommandLine, file: Path, tmp_path: Path) -> None:
    """No source, a taken id, a column that is not there, equal bytes."""
    evh.ok(*create(file))
    evh.refused("bad-options", "dataset-create", "--dataset-id", "e")
    evh.refused("existing-dataset", *create(file))
    evh.refused("bad-items", "dataset-create", "--dataset-id", "e", "--from-file", file)
    file.write_text("id,body\n1,one\n2,one\n")
    evh.refused("equal-bytes", *create(file, "e"))
    assert "2 items" in evh.ok(*create(file, "e"), "--allow-duplicates").out


def test_a_folder_and_a_parent_make_datasets(evh: CommandLine, tmp_path: Path) -> None:
    """--source-dir and --from."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("one")
    evh.ok("dataset-create", "--dataset-id", "v1", "--source-dir", tmp_path / "texts")
    evh.ok("dataset-create", "--dataset-id", "v2", "--from", "v1", "--visibility", "public")
    rows = evh.ok("datasets", "--json").json["datasets"]
    assert [(row["dataset_id"], row["parent"], row["visibility"]) for row in rows] == [
        ("v1", None, "private"),
        ("v2", "v1", "public"),
    ]


def test_dataset_from_capture_counts_what_it_left_out(evh: CommandLine, project: Project) -> None:
    """A record without an item is counted, in words and in the document."""
    rows = [{"record_id": "a", "ts": None, "item": "one"}, {"record_id": "b", "ts": None, "item": None}]
    Builder(project).capture("c", rows)
    words = ("dataset-from-capture", "--capture", "c", "--dataset-id")
    assert "made the dataset d: 1 item\n  1 record without an item left out\n" in evh.ok(*words, "d").out
    document = check(evh.ok(*words, "e", "--json").json, "dataset-from-capture")
    assert (document["n_left_out"], document["datasets"][0]["captures"]) == (1, ["c"])
    evh.refused("existing-dataset", *words, "d")
    evh.refused("no-such-capture", "dataset-from-capture", "--capture", "x", "--dataset-id", "f")


def test_dataset_set_says_before_and_after(evh: CommandLine, project: Project) -> None:
    """Each flag that was asked for, and whether it was so already; --dry-run writes nothing."""
    Builder(project).dataset("d", {"a": "x"}, task="t")
    words = ("dataset-set", "--dataset-id", "d", "--governed", "--task", "t")
    assert "d: governed: no → yes\n" in evh.ok(*words, "--dry-run").out
    assert evh.ok("datasets", "--json").json["datasets"][0]["governed"] is False
    document = check(evh.ok(*words, "--json").json, "dataset-set")
    assert document["written"] is True
    assert {"dataset_id": "d", "flag": "governed", "before": False, "after": True} in document["changes"]
    out = evh.ok(*words).out
    assert "d: governed: yes → yes (as it was)\n" in out
    evh.refused("bad-options", "dataset-set", "--dataset-id", "d")
    evh.refused("no-such-dataset", "dataset-set", "--dataset-id", "e", "--governed")


def test_datasets_counts_sets_and_runs(evh: CommandLine, project: Project) -> None:
    """Each dataset's own label sets and runs; none is 0."""
    assert "no datasets yet" in evh.ok("datasets").out
    build = Builder(project)
    build.dataset("d", {"a": "x"}, lineage={"a": {"capture": "c"}})
    build.dataset("e", {"a": "y"}, parent="d")
    build.labels("d", "ann", {"a": "yes"})
    build.labels("d", "bob", {"a": "no"})
    rows = check(evh.ok("datasets", "--json").json, "datasets")["datasets"]
    assert [(row["dataset_id"], row["n_label_sets"], row["n_runs"]) for row in rows] == [
        ("d", 2, 0),
        ("e", 0, 0),
    ]
    assert [row["captures"] for row in rows] == [["c"], []]
    assert "evh dataset-items --dataset-id e" in evh.ok("datasets").out


def test_a_foreign_dataset_is_listed(evh: CommandLine) -> None:
    """A manifest with the public keys alone is enough."""
    folder = evh.root / "data"
    (folder / "datasets").mkdir()
    (folder / "sources/f").mkdir(parents=True)
    (folder / "sources/f/a b.txt").write_text("one")
    (folder / "datasets/f.json").write_text(
        '{"dataset_id": "f", "items": [{"item_id": "a b", "source_path": "a b.txt", "source_sha256":'
        ' "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}]}'
    )
    assert check(evh.ok("datasets", "--json").json, "datasets")["datasets"][0]["n_items"] == 1
    assert "'a b'" in evh.ok("dataset-items", "--dataset-id", "f").out


def test_dataset_items_lists_id_preview_and_fields(evh: CommandLine, project: Project) -> None:
    """Previews are one line, without escape sequences; --limit cuts and says so."""
    Builder(project).dataset(
        "d", {"a": "first\nline \x1b[31mred", "b": "x" * 200}, fields={"a": {"team": "t"}}
    )
    document = check(evh.ok("dataset-items", "--dataset-id", "d", "--json").json, "dataset-items")
    assert [row["preview"] for row in document["items"]] == ["first line red", "x" * 79 + "…"]
    out = evh.ok("dataset-items", "--dataset-id", "d", "--limit", "1").out
    assert "team=t" in out
    assert "1 of 2 items; --limit shows more" in out
    evh.refused("no-such-dataset", "dataset-items", "--dataset-id", "e")
    assert evh("dataset-items", "--dataset-id", "d", "--limit", "0").code == 2


def test_dataset_items_refuses_changed_bytes(evh: CommandLine, project: Project) -> None:
    """An item whose file was edited is not shown as if it were the item."""
    Builder(project).dataset("d", {"a": "x"})
    (project.data / "sources/d/a.txt").write_text("y")
    evh.refused("item-bytes", "dataset-items", "--dataset-id", "d")
