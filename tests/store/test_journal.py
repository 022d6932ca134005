"""A journal takes whole lines, and mends the one that a crash cut."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evh.errors import Refusal
from evh.store import journal

ROOT = Path(__file__).resolve().parents[2]
ROWS: list[dict[str, Any]] = [{"a": 1, "text": "é\n"}, {"b": [True, None]}]


APPEND_50 = """
import sys
from pathlib import Path
from evh.store import journal

path, writer = Path(sys.argv[1]), int(sys.argv[2])
for number in range(50):
    row = {"writer": writer, "n": number, "pad": "x" * 50}
    journal.append(path, [row], locks=path.parent / "locks", flush=False)
"""


def test_rows_come_back_in_order(tmp_path: Path) -> None:
    """Two appends, three rows; a missing file is an empty journal."""
    path = tmp_path / "deep" / "j.jsonl"
    assert journal.read(path) == journal.Journal(())
    journal.append(path, ROWS, locks=tmp_path / "locks")
    journal.append(path, [{"c": 3}], locks=tmp_path / "locks")
    assert journal.read(path).rows == (*ROWS, {"c": 3})
    assert path.read_bytes() == '{"a":1,"text":"é\\n"}\n{"b":[true,null]}\n{"c":3}\n'.encode()


def test_a_file_cut_at_any_byte_is_read_and_mended(tmp_path: Path) -> None:
    """Readers ignore the torn line; the next writer drops it, says what it was, and appends whole lines."""
    whole = b'{"a":1}\n{"b":"\xc3\xa9"}\n'
    for cut in range(len(whole) + 1):
        path = tmp_path / "j.jsonl"
        path.write_bytes(whole[:cut])
        kept = whole[: whole[:cut].rfind(b"\n") + 1]
        torn = whole[len(kept) : cut] or None
        found = journal.read(path)
        assert (len(found.rows), found.torn) == (kept.count(b"\n"), torn)
        assert journal.append(path, [{"c": 3}], locks=tmp_path / "locks", flush=False) == torn
        assert path.read_bytes() == kept + b'{"c":3}\n'


def test_a_torn_line_is_measured_and_mended_without_appending(tmp_path: Path) -> None:
    """At any cut: its bytes are told, and only they are dropped; a missing file and a whole one stay."""
    whole = b'{"a":1}\n{"b":"\xc3\xa9"}\n'
    path = tmp_path / "j.jsonl"
    assert (journal.torn(path), journal.mend_held(path), path.exists()) == (0, None, False)
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = whole[: whole[:cut].rfind(b"\n") + 1]
        assert journal.torn(path) == cut - len(kept)
        assert path.read_bytes() == whole[:cut]
        assert journal.mend_held(path) == (whole[len(kept) : cut] or None)
        assert path.read_bytes() == kept
        assert journal.torn(path) == 0


def test_a_torn_line_longer_than_a_block_is_dropped(tmp_path: Path) -> None:
    """200,000 bytes without an end, after one good line and alone."""
    path = tmp_path / "j.jsonl"
    for before in (b'{"a":1}\n', b""):
        path.write_bytes(before + b"x" * 200_000)
        assert journal.append(path, [{"c": 3}], locks=tmp_path / "locks") == b"x" * 200_000
        assert path.read_bytes() == before + b'{"c":3}\n'


@pytest.mark.parametrize("bad", [b'{"a":1}\nnope\n{"b":2}\n', b"[1]\n", b'{"a":NaN}\n'])
def test_a_bad_line_elsewhere_is_refused_with_its_number(bad: bytes, tmp_path: Path) -> None:
    """It ends in a line end, so no crash made it."""
    (tmp_path / "j.jsonl").write_bytes(bad)
    with pytest.raises(Refusal) as caught:
        journal.read(tmp_path / "j.jsonl")
    assert "line " in caught.value.why[0]


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a write that stops in the middle nothing stays."""
    path = tmp_path / "j.jsonl"
    journal.append(path, ROWS, locks=tmp_path / "locks")
    before = path.read_bytes()
    write = os.write
    left = [5]

    def full(descriptor: int, data: bytes) -> int:
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, bytes(data)[: left.pop()])

    from evh.store import locks

    with locks.held(tmp_path / "locks", path), monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(Refusal) as caught:
            journal.append_held(path, [{"c": "long enough"}])
    assert caught.value.code == "cannot-write"
    assert path.read_bytes() == before


def test_writers_at_once_lose_no_line(tmp_path: Path) -> None:
    """Four processes append 50 lines each: 200 whole lines, each writer's in order."""
    path = tmp_path / "j.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", APPEND_50, str(path), str(number)], cwd=ROOT)
        for number in range(4)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    rows = journal.read(path).rows
    assert len(rows) == 200
    for number in range(4):
        assert [row["n"] for row in rows if row["writer"] == number] == list(range(50))
