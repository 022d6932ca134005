"""What a site needs of a folder that is built aside: files taken over as they are, and no forced flush."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evh.store import atomic


def test_a_kept_file_is_the_same_file(tmp_path: Path) -> None:
    """`keep` links: no byte is written again, in folders of any depth."""
    old = tmp_path / "old.txt"
    old.write_bytes(b"x")
    with atomic.replaced_folder(tmp_path / "site", flushed=False) as writer:
        writer.keep("a/b/new.txt", old)
        writer.add("a/c.txt", b"y")
    assert (tmp_path / "site/a/b/new.txt").stat().st_ino == old.stat().st_ino
    assert (tmp_path / "site/a/c.txt").read_bytes() == b"y"


def test_a_kept_file_is_copied_where_links_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without hard links gets a copy with the same bytes."""

    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    old = tmp_path / "old.txt"
    old.write_bytes(b"x")
    monkeypatch.setattr(os, "link", refuse)
    with atomic.replaced_folder(tmp_path / "site", flushed=False) as writer:
        writer.keep("new.txt", old)
    assert (tmp_path / "site/new.txt").read_bytes() == b"x"
    assert (tmp_path / "site/new.txt").stat().st_ino != old.stat().st_ino


def test_what_can_be_made_again_is_not_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `flushed=False` no file's bytes are forced to the disk; by default each file's are."""
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    with atomic.replaced_folder(tmp_path / "site", flushed=False) as writer:
        writer.add("a.txt", b"x")
        assert flushed == []
    with atomic.replaced_folder(tmp_path / "record") as writer:
        writer.add("a.txt", b"x")
        assert len(flushed) >= 1
