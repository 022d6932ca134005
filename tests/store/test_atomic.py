"""A write is whole or absent: on an error of the disk, on a stop, and with two writers at once."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.store import atomic


def names(folder: Path) -> list[str]:
    """Give the names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def failing(code: int) -> Callable[..., int]:
    """Give a write that fails as a bad disk does."""

    def write(descriptor: int, data: bytes) -> int:
        raise OSError(code, os.strerror(code))

    return write


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    """Folders are made; the old bytes are gone; nothing else is left."""
    atomic.write_file(tmp_path / "a" / "b" / "f", b"old")
    atomic.write_file(tmp_path / "a" / "b" / "f", b"new")
    assert (tmp_path / "a/b/f").read_bytes() == b"new"
    assert names(tmp_path / "a" / "b") == ["f"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_or_broken_disk_changes_nothing(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal names the path, the old bytes stay, no temporary file is left."""
    atomic.write_file(tmp_path / "f", b"old")
    monkeypatch.setattr(os, "write", failing(code))
    with pytest.raises(Refusal) as caught:
        atomic.write_file(tmp_path / "f", b"new")
    assert caught.value.code == "cannot-write"
    assert str(tmp_path) in caught.value.why[0]
    assert (tmp_path / "f").read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes three bytes at a time gets them all."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data)[:3]))
    atomic.write_file(tmp_path / "f", b"0123456789")
    assert (tmp_path / "f").read_bytes() == b"0123456789"


@pytest.mark.parametrize("old", [None, b"old"])
def test_data_is_flushed_before_it_is_in_place_and_the_folder_after(
    old: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the file is flushed the old bytes are in place; when the folder is, the new ones."""
    place = tmp_path / "f"
    if old is not None:
        place.write_bytes(old)
    seen: list[tuple[bool, bytes | None]] = []
    fsync = os.fsync

    def flushed(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        seen.append((folder, place.read_bytes() if place.exists() else None))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", flushed)
    atomic.write_file(place, b"new")
    assert seen == [(False, old), (True, b"new")]


def test_a_new_file_is_never_written_over(tmp_path: Path) -> None:
    """Of eight writers of one name exactly one wins, and its bytes stand."""
    won: list[int] = []
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            atomic.write_new_file(tmp_path / "f", str(number).encode())
        except FileExistsError:
            return
        won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert (tmp_path / "f").read_bytes() == str(won[0]).encode()
    assert names(tmp_path) == ["f"]


def test_a_new_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    """While it is built nothing is in its place; a stop in the middle leaves nothing."""
    place = tmp_path / "sets" / "s"
    with atomic.new_folder(place) as writer:
        writer.add("a.txt", b"1")
        writer.add("deep/er/b.txt", b"2")
        writer.add_folder("empty")
        writer.add("later.txt", b"3", later=True)
        assert not place.exists()
    assert names(place) == ["a.txt", "deep", "empty", "later.txt"]
    assert (place / "deep/er/b.txt").read_bytes() == b"2"

    def stopped() -> None:
        with atomic.new_folder(tmp_path / "sets" / "t") as half:
            half.add("a.txt", b"1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert names(tmp_path / "sets") == ["s"]


def test_an_existing_folder_is_never_written_into(tmp_path: Path) -> None:
    """Neither when it was there before, nor when it came while we built."""
    place = tmp_path / "s"
    with atomic.new_folder(place) as writer:
        writer.add("a", b"1")
    with pytest.raises(FileExistsError), atomic.new_folder(place) as writer:
        writer.add("a", b"2")
    other = tmp_path / "t"

    def overtaken() -> None:
        with atomic.new_folder(other) as late:
            late.add("a", b"2")
            other.mkdir()
            (other / "theirs").write_bytes(b"3")

    with pytest.raises(FileExistsError):
        overtaken()
    assert (place / "a").read_bytes() == b"1"
    assert names(other) == ["theirs"]
    assert names(tmp_path) == ["s", "t"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_full_disk_leaves_no_half_folder(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal names the place; no temporary folder is left."""
    monkeypatch.setattr(os, "write", failing(code))
    with pytest.raises(Refusal), atomic.new_folder(tmp_path / "s") as writer:
        writer.add("a", b"1")
    assert names(tmp_path) == []


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_is_replaced_and_the_old_one_is_gone(
    exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one step where the system can exchange names, else by moving the old one aside."""
    if not exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda _one, _other: False)
    place = tmp_path / "s"
    for data in (b"1", b"2"):
        with atomic.replaced_folder(place) as writer:
            writer.add(data.decode(), data)
    assert names(place) == ["2"]
    assert names(tmp_path) == ["s"]


def test_removing_follows_no_link(tmp_path: Path) -> None:
    """A link to a folder goes, the folder stays; what is not there is fine."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    atomic.remove(tmp_path / "link")
    atomic.remove(tmp_path / "nowhere")
    assert names(tmp_path) == ["real"]
    assert names(tmp_path / "real") == ["f"]


@pytest.mark.parametrize("n", [0, 2, 65])
def test_files_written_unflushed_are_flushed_together(tmp_path: Path, n: int) -> None:
    """Each is in place at once; flushing them, few or many, leaves them as they are."""
    made = [f"{number:02}" for number in range(n)]
    for name in made:
        atomic.write_unflushed(tmp_path / name, name.encode())
    with atomic.flushing(tmp_path, made):
        assert names(tmp_path) == made
    assert [(tmp_path / name).read_bytes() for name in made] == [name.encode() for name in made]
    assert names(tmp_path) == made


def test_leftovers_are_told_by_their_name() -> None:
    """`.tmp-` in front, and nothing else."""
    assert atomic.is_tmp(".tmp-a-1-f")
    assert not atomic.is_tmp("a.tmp-")
