"""What is read is a file: a pipe or a device is refused at once, never waited for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project.shelf import read_item_files
from evh.store import journal, parquet, strict
from evh.store.hashing import sha256_file
from evh.store.regular import open_file


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe that nobody writes to: opening it to read would wait for ever."""
    path = tmp_path / "one.txt"
    os.mkfifo(path)
    return path


def test_every_reader_refuses_a_pipe(pipe: Path) -> None:
    """Bytes, journals and Parquet; the reason says what it is."""
    for read in (strict.read_bytes, journal.read, lambda path: parquet.read_rows(path, {})):
        with pytest.raises(Refusal) as caught:
            read(pipe)
        assert caught.value.code == "cannot-read"
        assert caught.value.why == (f"{pipe}: it is a pipe or a device, not a file",)
    with pytest.raises(OSError, match="not a file"):
        sha256_file(pipe)


def test_an_items_file_that_is_a_pipe_is_missing(pipe: Path) -> None:
    """The folder of texts is opened once, and each file in it is held to the same rule."""
    with pytest.raises(Refusal) as caught:
        read_item_files(pipe.parent, ["one"], "labels/d/s")
    assert caught.value.code == "missing-label"


def test_devices_sockets_and_folders_are_no_files(tmp_path: Path) -> None:
    """Each is an OSError; no descriptor is left open."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        before = len(list(Path("/proc/self/fd").iterdir()))
        for path in (Path("/dev/zero"), Path("/dev/null"), tmp_path / "s", tmp_path, tmp_path / "gone"):
            with pytest.raises(OSError, match=r"."):
                open_file(path)
        assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_link_is_followed_only_when_asked(tmp_path: Path) -> None:
    """The default follows; an item's file never is a link."""
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with open_file(tmp_path / "b") as file:
        assert file.read() == b"x"
    with pytest.raises(OSError, match=r"."):
        open_file(tmp_path / "b", follow=False)
