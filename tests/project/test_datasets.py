"""The shelf of datasets: bytes are checked, no path leads out, a manifest is the commit point."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from evh.errors import Refusal
from evh.project import datasets
from evh.project.find import Project
from evh.records.dataset import Dataset, Item
from evh.store import atomic
from tests.helpers import Builder


def foreign(project: Project, dataset_id: str, items: list[dict[str, Any]], **more: Any) -> None:
    """Lay a manifest by hand; an item's hash is that of its `text` where none is given."""
    for item in items:
        item["source_sha256"] = hashlib.sha256(item.pop("text").encode()).hexdigest()
    (project.data / "datasets").mkdir(exist_ok=True)
    path = project.data / "datasets" / f"{dataset_id}.json"
    path.write_text(json.dumps({"dataset_id": dataset_id, "items": items, **more}))


def put(path: Path, text: str) -> None:
    """Write a text, and the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def why(code: str, read: Any) -> tuple[str, ...]:
    """Give the reasons of what must be refused with ``code``."""
    with pytest.raises(Refusal) as caught:
        read()
    assert caught.value.code == code
    return caught.value.why


def test_what_is_written_reads_back(project: Project) -> None:
    """Items in their order, with bytes, fields and lineage; ids that no file could be named after."""
    texts = {"b": "one", "../a": "two", "CON": "three", "é/ü": "", "x" * 200: "five", "Ab": "6", "aB": "7"}
    Builder(project).dataset("d", texts, fields={"b": {"n": 1}}, lineage={"b": {"capture": "c"}})
    read = datasets.read(project, "d")
    assert [item.item_id for item in read.items] == list(texts)
    assert datasets.texts(project, read) == {key: text.encode() for key, text in texts.items()}
    assert (dict(read.items[0].fields), dict(read.items[0].lineage)) == ({"n": 1}, {"capture": "c"})
    assert datasets.ids(project) == ["d"]


def test_an_edited_item_is_refused_and_a_missing_one_too(project: Project) -> None:
    """Both at once, each by its path."""
    Builder(project).dataset("d", {"a": "x", "b": "y", "c": "z"})
    (project.data / "sources/d/a.txt").write_bytes(b"x\n")
    (project.data / "sources/d/b.txt").unlink()
    read = datasets.read(project, "d")
    reasons = why("item-bytes", lambda: datasets.texts(project, read))
    assert reasons == (
        "data/sources/d/a.txt: the bytes are not the ones that the dataset recorded",
        "d/b: the item's text is not here",
    )
    assert datasets.item_bytes(project, read, read.items[2]) == b"z"


@pytest.mark.parametrize(
    "place", ["data/sources/f/raw name.txt", "data/texts/raw name.txt", "texts/raw name.txt"]
)
def test_a_foreign_tree_names_its_files_as_it_likes(place: str, project: Project) -> None:
    """By source_path below source_dir, from data/ or from the project; or by the raw id."""
    put(project.root / place, "one")
    more = {} if "sources" in place else {"source_dir": "texts"}
    foreign(project, "f", [{"item_id": "raw name", "source_path": "raw name.txt", "text": "one"}], **more)
    read = datasets.read(project, "f")
    assert datasets.item_bytes(project, read, read.items[0]) == b"one"


@pytest.mark.parametrize("path", ["../../out.txt", "/etc/hostname", "link.txt", "up/out.txt"])
def test_no_source_path_leads_out_of_the_project(path: str, tmp_path: Path) -> None:
    """Neither dots, nor an absolute path, nor a link to a file or a folder."""
    root = tmp_path / "p"
    (root / "data" / "sources" / "f").mkdir(parents=True)
    project = Project.find(root, environ={})
    put(tmp_path / "out.txt", "secret")
    (root / "data/sources/f/link.txt").symlink_to(tmp_path / "out.txt")
    (root / "data/sources/f/up").symlink_to(tmp_path)
    foreign(project, "f", [{"item_id": "x", "source_path": path, "text": "secret"}], source_dir="sources/f")
    read = datasets.read(project, "f")
    assert datasets.source_path(project, read, read.items[0]) is None
    why("item-bytes", lambda: datasets.texts(project, read))


def test_what_an_unfinished_try_left_is_no_obstacle(project: Project) -> None:
    """Texts without a manifest are no dataset; the same try again succeeds."""
    put(project.data / "sources/d/a.txt", "x")
    assert datasets.ids(project) == []
    Builder(project).dataset("d", {"a": "x", "b": "y"})
    assert sorted(path.name for path in (project.data / "sources/d").iterdir()) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("name", ["theirs.txt", "a.txt", "deep/theirs.txt"])
def test_texts_of_the_users_are_never_written_over(name: str, project: Project) -> None:
    """A file that no try of this dataset made is in the way, and stays."""
    put(project.data / "sources/d" / name, "theirs")
    why("texts-in-the-way", lambda: Builder(project).dataset("d", {"a": "x"}))
    assert (project.data / "sources/d" / name).read_bytes() == b"theirs"


def test_a_dataset_is_written_once(project: Project) -> None:
    """The second write is refused and the first stays."""
    Builder(project).dataset("d", {"a": "x"})
    one = Dataset("d", (Item("b", ""),))
    why("existing-dataset", lambda: datasets.write_new(project, one, {"b": b"y"}))
    assert [item.item_id for item in datasets.read(project, "d").items] == ["a"]


def test_a_large_dataset_lies_in_parquet_and_is_one_form_only(project: Project) -> None:
    """Over 5,000 items; a manifest that lists items too is refused."""
    Builder(project).dataset("d", {f"i{n}": f"text {n}" for n in range(5001)}, fields={"i7": {"n": 7}})
    assert not (project.data / "sources").exists()
    read = datasets.read(project, "d")
    assert len(read.items) == 5001
    assert datasets.item_bytes(project, read, read.items[7]) == b"text 7"
    assert dict(read.items[7].fields) == {"n": 7}
    path = project.data / "datasets" / "d.json"
    raw = json.loads(path.read_bytes())
    raw["items"] = [{"item_id": "x", "source_sha256": "0"}]
    path.write_text(json.dumps(raw))
    why("two-forms", lambda: datasets.read(project, "d"))


@pytest.mark.parametrize("file", ["../../out.parquet", "/etc/passwd"])
def test_an_items_file_outside_the_project_is_not_read(file: str, tmp_path: Path) -> None:
    """It is refused, not followed."""
    (tmp_path / "p" / "data" / "datasets").mkdir(parents=True)
    project = Project.find(tmp_path / "p", environ={})
    put(project.data / "datasets/d.json", json.dumps({"dataset_id": "d", "items_file": f"../{file}"}))
    if file.startswith("/"):
        put(project.data / "datasets/d.json", json.dumps({"dataset_id": "d", "items_file": file}))
    why("outside", lambda: datasets.read(project, "d"))


def test_bad_manifests_tell_every_key_and_stop_no_other(project: Project) -> None:
    """A list of the others is given with the problems beside it."""
    Builder(project).dataset("good", {"a": "x"})
    put(
        project.data / "datasets/bad.json",
        '{"dataset_id": "bad", "governed": 1,'
        ' "items": [{"item_id": "#"}, {"item_id": "a", "source_sha256": "0"},'
        ' {"item_id": "a", "source_sha256": "1"}, 5]}',
    )
    problems: list[Refusal] = []
    assert [one.dataset_id for one in datasets.read_all(project, problems)] == ["good"]
    assert len(problems[0].why) == 5
    (project.data / "datasets" / f"{atomic.TMP_PREFIX}x.json").write_text("{")
    assert datasets.ids(project) == ["bad", "good"]


def test_a_near_name_is_suggested(project: Project) -> None:
    """For a dataset and for an item."""
    read = Builder(project).dataset("reviews", {"alpha": "x"})
    assert why("no-such-dataset", lambda: datasets.read(project, "review")) == ("there is reviews",)
    assert why("no-such-item", lambda: datasets.item(read, "alpa")) == ("there is alpha",)


def test_the_digest_is_that_of_ids_and_hashes_in_any_order(project: Project) -> None:
    """sha256 of the sorted lines `id TAB hash LF`, as sha256sum gives it."""
    lines = "a\t" + hashlib.sha256(b"x").hexdigest() + "\nb\t" + hashlib.sha256(b"y").hexdigest() + "\n"
    expected = hashlib.sha256(lines.encode()).hexdigest()
    assert datasets.digest(Builder(project).dataset("d", {"a": "x", "b": "y"})) == expected
    assert datasets.digest(Builder(project).dataset("e", {"b": "y", "a": "x"})) == expected


def test_amending_reads_and_writes_under_one_lock(project: Project) -> None:
    """The change sees what is there now, and only what it changes is changed."""
    from dataclasses import replace

    Builder(project).dataset("d", {"a": "x"}, task="t")
    datasets.amend(project, "d", lambda one: replace(one, governed=True))
    datasets.amend(project, "d", lambda one: replace(one, description=f"{one.task} {one.governed}"))
    read = datasets.read(project, "d")
    assert (read.governed, read.description, read.task) == (True, "t True", "t")
