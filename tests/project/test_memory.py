"""What a long-lived process keeps is what the files still say."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import configs, datasets, labels, memory, references, runs
from evh.project.find import Project
from evh.project.memory import Memory, Same
from tests.evh_build.projects import small


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's files are all young; here they count as old."""
    monkeypatch.setattr(memory, "SETTLED_S", 0.0)


class Reader:
    """Reads a folder's files through a memory and counts how often it did."""

    def __init__(self, place: Path) -> None:
        self.place, self.memory, self.n = place, Memory(), 0

    def __call__(self) -> dict[str, bytes]:
        self.memory.look_again()
        return self.memory.kept("key", [self.place], self._read)

    def _read(self) -> dict[str, bytes]:
        self.n += 1
        return {path.name: path.read_bytes() for path in sorted(self.place.rglob("*")) if path.is_file()}


def test_it_reads_again_only_what_changed(tmp_path: Path) -> None:
    """Nothing changed: read once. A byte changed in place, a file more, one less, one moved: read again."""
    place = tmp_path / "record"
    (place / "deep").mkdir(parents=True)
    (place / "a.txt").write_bytes(b"one")
    (place / "deep" / "b.txt").write_bytes(b"two")
    read = Reader(place)
    assert read() == {"a.txt": b"one", "b.txt": b"two"}
    assert read() == {"a.txt": b"one", "b.txt": b"two"}
    assert read.n == 1
    (place / "a.txt").write_bytes(b"ONE")  # as long as before
    assert read()["a.txt"] == b"ONE"
    (place / "deep" / "c.txt").write_bytes(b"three")
    assert read()["c.txt"] == b"three"
    (place / "deep" / "b.txt").unlink()
    assert "b.txt" not in read()
    (place / "deep" / "c.txt").rename(place / "deep" / "d.txt")
    assert read()["d.txt"] == b"three"
    assert read.n == 5


def test_a_time_set_back_hides_no_change(tmp_path: Path) -> None:
    """Same size, and the old modification time put back: the change is still seen."""
    (tmp_path / "a.txt").write_bytes(b"one")
    read = Reader(tmp_path)
    read()
    held = (tmp_path / "a.txt").stat()
    (tmp_path / "a.txt").write_bytes(b"two")
    os.utime(tmp_path / "a.txt", ns=(held.st_atime_ns, held.st_mtime_ns))
    assert read()["a.txt"] == b"two"


def test_what_a_link_leads_to_counts(tmp_path: Path) -> None:
    """A file and a folder behind a link: their change is one, and so is another target."""
    there, place = tmp_path / "there", tmp_path / "record"
    there.mkdir()
    place.mkdir()
    (there / "x").write_bytes(b"one")
    (place / "x").symlink_to(there / "x")
    (place / "loop").symlink_to(place)
    read = Reader(place)
    assert read()["x"] == b"one"
    (there / "x").write_bytes(b"two")
    assert read()["x"] == b"two"
    (there / "y").write_bytes(b"two")
    (place / "x").unlink()
    (place / "x").symlink_to(there / "y")
    n = read.n
    read()
    assert read.n == n + 1


def test_what_is_refused_is_tried_again(tmp_path: Path) -> None:
    """A reading that raises keeps nothing, not even what was kept before."""
    held = Memory()
    (tmp_path / "a").write_bytes(b"1")
    assert held.kept("key", [tmp_path / "a"], lambda: "good") == "good"
    (tmp_path / "a").write_bytes(b"22")

    def refuse() -> str:
        raise Refusal("bad", "no")

    for _ in range(2):
        held.look_again()
        with pytest.raises(Refusal):
            held.kept("key", [tmp_path / "a"], refuse)
    assert held.kept("key", [tmp_path / "a"], lambda: "good again") == "good again"


def test_a_file_that_may_still_change_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems count times in seconds: a younger file is read again."""
    monkeypatch.setattr(memory, "SETTLED_S", 60.0)
    (tmp_path / "a").write_bytes(b"1")
    read = Reader(tmp_path)
    read()
    read()
    assert read.n == 2


def test_what_else_it_depends_on_is_compared(tmp_path: Path) -> None:
    """Another value in `more` makes it anew; an equal one does not."""
    held, made = Memory(), iter(range(10))
    assert [held.kept("key", [tmp_path / "none"], lambda: next(made), more) for more in (1, 1, 2, 1)] == [
        0, 0, 1, 2,
    ]  # fmt: skip


def test_a_record_is_known_by_the_object_and_not_by_what_it_says() -> None:
    """1 and 1.0 are equal and are shown unlike: what was made of one is not given for the other."""
    kept = Memory()
    one: object = (1,)
    other: object = (1.0,)
    assert one == other
    made = kept.kept("key", (), lambda: "of 1", Same(one), [Same(one)])
    assert kept.kept("key", (), lambda: "of 1.0", Same(one), [Same(one)]) is made
    assert kept.kept("key", (), lambda: "of 1.0", Same(other), [Same(one)]) == "of 1.0"
    assert len({Same(one), Same(one), Same(other)}) == 2


def test_values_that_stay_alike_stay_the_same_objects() -> None:
    """Of three, one is alike, one is not and one is new; what went is forgotten."""
    kept = Memory()
    first = kept.steady("rows", {"a": [1], "b": [2], "c": [3]}, lambda one, other: one == other)
    second = kept.steady("rows", {"a": [1], "b": [7], "d": [4]}, lambda one, other: one == other)
    assert second == {"a": [1], "b": [7], "d": [4]}
    assert second["a"] is first["a"]
    third = kept.steady("rows", {"c": [3]}, lambda one, other: one == other)
    assert third["c"] is not first["c"]


def test_what_is_made_of_each_object_is_made_once() -> None:
    """A second time only of the new one; all again where what they depend on is another; in their order."""
    kept, made = Memory(), []
    one, two, three = [1], [2], [2]

    def tell(held: list[int]) -> str:
        made.append(held)
        return f"{held}"

    assert kept.each("rows", [one, two], tell, "a") == ["[1]", "[2]"]
    assert kept.each("rows", [three, one], tell, "a") == ["[2]", "[1]"]
    assert [id(held) for held in made] == [id(one), id(two), id(three)]
    assert kept.each("rows", [three, one], tell, "b") == ["[2]", "[1]"]
    assert len(made) == 5


def test_a_young_change_is_seen_though_nothing_is_kept_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest of a young folder stays while it does, and moves with a byte; its stamp equals no other."""
    monkeypatch.setattr(memory, "SETTLED_S", 3600.0)
    kept, path = Memory(), tmp_path / "in" / "file"
    path.parent.mkdir()
    path.write_bytes(b"one")
    first, stamp = kept.seen(tmp_path), kept.stamp(tmp_path)
    assert kept.stamp(tmp_path) == stamp
    kept.look_again()
    assert kept.seen(tmp_path) == first
    assert kept.stamp(tmp_path) != stamp
    path.write_bytes(b"four")
    assert kept.seen(tmp_path) == first  # within one look each file is looked at once
    kept.look_again()
    assert kept.seen(tmp_path) != first


def test_what_nobody_asks_for_is_forgotten() -> None:
    """A hundred looks on, a record that is gone takes no memory."""
    held = Memory()
    held.kept("gone", [], lambda: 1)
    for _ in range(memory.LOOKS + 1):
        held.look_again()
    assert held.kept("gone", [], lambda: 2) == 2


def test_the_shelves_read_through_it(project: Project) -> None:
    """Datasets, texts, labels, references, runs, predictions, outputs, configs: the same, then the new."""
    small(project)
    kept = replace(project, memory=Memory())

    def everything(one: Project) -> list[object]:
        if one.memory is not None:
            one.memory.look_again()
        made: list[object] = [datasets.read_all(one), configs.read_all(one), runs.read_all(one)]
        made += [datasets.texts(one, each) for each in datasets.read_all(one)]
        made += [labels.texts(one, each) for each in labels.read_all(one)]
        made += [references.texts(one, each) for each in references.read_all(one)]
        for run in runs.read_all(one):
            rows = runs.predictions(one, run)
            made += [rows, runs.outputs(one, run, rows)]
        return made

    assert everything(kept) == everything(project) == everything(kept)
    data = project.data
    for path in (
        data / "sources" / "d" / "i1.txt",
        data / "labels" / "d" / "ann" / "i1.txt",
        data / "references" / "silver" / "outcome" / "i1.txt",
        data / "configs" / "cheap.yaml",
    ):
        if path.parent.name == "d" and path.parent.parent.name == "sources":
            continue  # another text is refused: it is not the one that the dataset recorded
        path.write_bytes(path.read_bytes() + b" ")
        assert everything(kept) == everything(project), path
    (data / "sources" / "d" / "i1.txt").write_bytes(b"another")
    with pytest.raises(Refusal):
        everything(kept)


def test_a_reader_may_change_what_it_was_given(project: Project) -> None:
    """A mapping that a shelf gives is the caller's own."""
    small(project)
    kept = replace(project, memory=Memory())
    held = labels.read(kept, "d", "ann")
    labels.texts(kept, held).clear()
    labels.raw_texts(kept, held).clear()
    assert labels.texts(kept, held) == {"i1": "yes", "i2": "no", "i3": "no"}
