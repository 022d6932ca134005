"""One holder at a time, who is named, and whose death frees the lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.store import locks

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import sys, time
from pathlib import Path
from evh.store import locks

with locks.held(Path(sys.argv[1]) / "locks", Path(sys.argv[1]) / "r"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of `r`."""
    words = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_held_lock_is_refused_with_who_holds_it(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    """After the wait; the message has the process."""
    with pytest.raises(Refusal) as caught, locks.held(tmp_path / "locks", tmp_path / "r", wait_s=0.05):
        pass
    assert caught.value.code == "locked"
    assert f"held by process {holder.pid} " in caught.value.why[0]


def test_another_record_is_not_held_up(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    """Its lock is free."""
    with locks.held(tmp_path / "locks", tmp_path / "s", wait_s=0):
        pass


def test_a_holders_death_frees_the_lock(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    """After SIGKILL the next one gets it at once, with no step by hand."""
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locks.held(tmp_path / "locks", tmp_path / "r", wait_s=0.5):
        pass


def test_one_record_has_one_lock_however_it_is_reached(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    """Through a link, or through a path with dots, it is the same real path."""
    (tmp_path / "link").symlink_to(tmp_path)
    for way in (tmp_path / "link" / "r", tmp_path / "x" / ".." / "r"):
        with pytest.raises(Refusal), locks.held(tmp_path / "locks", way, wait_s=0):
            pass


def test_a_lock_is_free_after_an_error(tmp_path: Path) -> None:
    """The block may raise."""
    with pytest.raises(ValueError, match="x"), locks.held(tmp_path / "locks", tmp_path / "r"):
        raise ValueError("x")
    with locks.held(tmp_path / "locks", tmp_path / "r", wait_s=0):
        pass
