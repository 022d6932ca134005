"""The shelf of reference sets: written whole, read by their list, foreign ones by their files."""

from __future__ import annotations

import hashlib

import pytest

from evh.errors import Refusal
from evh.project import labels, references
from evh.project.find import Project
from evh.records.reference import Reference
from tests.helpers import Builder


@pytest.fixture
def made(project: Project) -> Reference:
    """The whole set ``d/a`` promoted as ``gold/d``."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "one", "a/b": "two"})
    return builder.reference("gold/d", builder.labels("d", "a", {"i1": "yes\n", "a/b": "no"}))


def test_a_reference_is_read_as_it_was_written(project: Project, made: Reference) -> None:
    """The manifest, the bytes, the list of names."""
    assert references.read(project, "gold/d") == made
    assert references.read(project, "references/gold/d") == made
    assert references.raw_texts(project, made) == {"i1": b"yes\n", "a/b": b"no"}
    assert references.texts(project, made) == {"i1": "yes\n", "a/b": "no"}
    assert references.refs(project) == ["gold/d"]


def test_a_reference_is_never_written_twice(project: Project, made: Reference) -> None:
    """A reference set is frozen."""
    with pytest.raises(Refusal) as told:
        references.write_new(project, made, {"i1": b"no"})
    assert told.value.code == "existing-reference"


def test_a_missing_text_and_a_link_are_refused(project: Project, made: Reference) -> None:
    """Both items are named at once."""
    place = project.data / "references/gold/d"
    (place / "i1.txt").unlink()
    (place / "a%2Fb.txt").unlink()
    (place / "a%2Fb.txt").symlink_to("/etc/hostname")
    with pytest.raises(Refusal) as told:
        references.raw_texts(project, made)
    assert len(told.value.why) == 2


def test_a_foreign_reference_is_read_by_its_files(project: Project) -> None:
    """No list and no name: the folder's name, and each file's stem as an id."""
    place = project.data / "references/silver/old"
    place.mkdir(parents=True)
    (place / "manifest.json").write_text('{"dataset_id": "d", "tier": "silver", "n_items": 1, "mine": 1}')
    (place / "x y.txt").write_bytes(b"yes")
    found = references.read(project, "silver/old")
    assert (found.name, found.promoted_from, found.extra) == ("old", None, {"mine": 1})
    assert references.raw_texts(project, found) == {"x y": b"yes"}


def test_a_large_reference_is_parquet_and_reads_alike(project: Project) -> None:
    """Over 5,000 texts: one Parquet file with the items' hashes."""
    items = {f"i{number}": hashlib.sha256(str(number).encode()).hexdigest() for number in range(5_001)}
    large = Reference("d", "gold", "big", items=items, reason="r", promoted_from={"labels": ["d/a"]})
    references.write_new(project, large, {key: key.encode() for key in items})
    place = project.data / "references/gold/big"
    assert sorted(path.name for path in place.iterdir()) == ["labels.parquet", "manifest.json"]
    read = references.read(project, "gold/big")
    assert read.items == items
    assert references.raw_texts(project, read)["i5000"] == b"i5000"


def test_the_digest_follows_the_texts(project: Project, made: Reference) -> None:
    """The same as that of its labels' texts by item id, whatever their order."""
    source = labels.raw_texts(project, labels.read(project, "d", "a"))
    lines = sorted(f"{key}\t{hashlib.sha256(text).hexdigest()}\n" for key, text in source.items())
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert references.digest(references.raw_texts(project, made)) == expected


@pytest.mark.parametrize("ref", ["gold/none", "gold", "../gold/d", "gold/../d"])
def test_what_is_not_there_is_refused(project: Project, made: Reference, ref: str) -> None:
    """A name that leads nowhere or out of the shelf."""
    with pytest.raises(Refusal):
        references.read(project, ref)
