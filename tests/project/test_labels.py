"""The shelf of label sets: written whole, never edited, read by its list."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from evh.errors import Refusal
from evh.project import labels
from evh.project.find import Project
from evh.records.labelset import LabelItem, LabelSet
from tests.helpers import Builder, tree_bytes


@pytest.fixture
def made(project: Project) -> LabelSet:
    """A set ``d/a`` of two items, one with an id that no file may have."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "one", "a/b": "two"})
    return builder.labels("d", "a", {"i1": "yes\n", "a/b": "né"})


def test_a_set_is_read_as_it_was_written(project: Project, made: LabelSet) -> None:
    """Bytes with their newline, texts in UTF-8, by the sha256 of the items."""
    assert labels.read(project, "d", "a") == made
    assert labels.raw_texts(project, made) == {"i1": b"yes\n", "a/b": "né".encode()}
    assert labels.texts(project, made, verify=True) == {"i1": "yes\n", "a/b": "né"}
    assert labels.by_sha(made, labels.texts(project, made)) == {
        hashlib.sha256(b"one").hexdigest(): "yes\n",
        hashlib.sha256(b"two").hexdigest(): "né",
    }
    assert (project.data / "labels/d/a/a%2Fb.txt").is_file()


def test_the_digest_is_that_of_the_layout(made: LabelSet) -> None:
    """Sorted lines of item id, item sha256 and label sha256, tabs between, each ended by LF."""

    def sha(data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    lines = [
        f"a/b\t{sha(b'two')}\t{sha('né'.encode())}\n",
        f"i1\t{sha(b'one')}\t{sha(b'yes' + bytes([10]))}\n",
    ]
    assert made.labels_sha256 == sha("".join(lines).encode())


def test_a_set_is_never_written_twice(project: Project, made: LabelSet) -> None:
    """The second writer is refused and nothing changes."""
    before = tree_bytes(project.data)
    with pytest.raises(Refusal) as told:
        labels.write_new(project, made, {"i1": b"no", "a/b": b"no"})
    assert told.value.code == "existing-set"
    assert tree_bytes(project.data / "labels") == {
        name.removeprefix("labels/"): data for name, data in before.items() if name.startswith("labels/")
    }


@pytest.mark.parametrize("position", range(4))
def test_every_flipped_byte_is_found(project: Project, made: LabelSet, position: int) -> None:
    """Reading to score or promote recomputes the digest."""
    path = project.data / "labels/d/a/i1.txt"
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(Refusal) as told:
        labels.texts(project, made, verify=True)
    assert told.value.code in {"edited-set", "bad-encoding"}


def test_a_missing_label_is_refused(project: Project, made: LabelSet) -> None:
    """The item is named."""
    (project.data / "labels/d/a/i1.txt").unlink()
    with pytest.raises(Refusal) as told:
        labels.texts(project, made)
    assert told.value.why == ("labels/d/a: i1: its file is missing",)


def test_a_link_is_not_followed(project: Project, made: LabelSet) -> None:
    """A label that is a link counts as missing."""
    path = project.data / "labels/d/a/i1.txt"
    path.unlink()
    path.symlink_to("/etc/hostname")
    with pytest.raises(Refusal) as told:
        labels.texts(project, made)
    assert told.value.code == "missing-label"


def test_the_raw_id_of_a_foreign_tree_is_found(project: Project, made: LabelSet) -> None:
    """A file that is named by an item's raw id stands in where ours is not there."""
    Builder(project).dataset("e", {"a b": "x"})
    foreign = Builder(project).labels("e", "s", {"a b": "y"})
    place = project.data / "labels/e/s"
    (place / "a%20b.txt").rename(place / "a b.txt")
    assert labels.texts(project, foreign) == {"a b": "y"}


def test_a_guideline_is_kept_with_its_hash(project: Project, made: LabelSet) -> None:
    """Copied as ``~guideline`` with its ending."""
    new = replace(made, set="b")
    written = labels.write_new(project, new, labels.raw_texts(project, made), guideline=(".md", b"Say yes."))
    assert written.guideline == {
        "file": "~guideline.md",
        "sha256": hashlib.sha256(b"Say yes.").hexdigest(),
    }
    assert labels.guideline(project, written) == b"Say yes."
    assert labels.guideline(project, replace(written, guideline={"file": "../../evh.toml"})) is None


def test_a_large_set_is_parquet_and_reads_alike(project: Project) -> None:
    """Over 5,000 labels: one Parquet file, the same digest, the same texts."""
    ids = [f"i{number}" for number in range(5_001)]
    items = {key: LabelItem(hashlib.sha256(key.encode()).hexdigest(), note="n") for key in ids}
    large = LabelSet("d", "big", {"kind": "person", "by": "ann"}, items, "")
    written = labels.write_new(project, large, {key: key.encode() for key in ids})
    place = project.data / "labels/d/big"
    assert sorted(path.name for path in place.iterdir()) == ["labels.json", "labels.parquet"]
    read = labels.read(project, "d", "big")
    assert read.items == items
    assert labels.texts(project, read, verify=True)["i5000"] == "i5000"
    assert read.labels_sha256 == written.labels_sha256


def test_a_set_that_is_not_where_it_says_is_refused(project: Project, made: LabelSet) -> None:
    """A copied folder names the set it was."""
    (project.data / "labels/d/a").rename(project.data / "labels/d/b")
    with pytest.raises(Refusal) as told:
        labels.read(project, "d", "b")
    assert told.value.code == "misplaced"


@pytest.mark.parametrize(
    ("ref", "dataset", "expected"),
    [("d/a", None, ("d", "a")), ("labels/d/a", None, ("d", "a")), ("a", "d", ("d", "a"))],
)
def test_a_ref_names_dataset_and_set(ref: str, dataset: str | None, expected: tuple[str, str]) -> None:
    """With its dataset, with the folder, or of a dataset that is known."""
    assert labels.split_ref(ref, dataset_id=dataset) == expected


@pytest.mark.parametrize("ref", ["a", "../d/a", "d/..", ""])
def test_a_bad_ref_is_refused(ref: str) -> None:
    """No dataset, or a name that no folder may have."""
    with pytest.raises(Refusal):
        labels.split_ref(ref)
