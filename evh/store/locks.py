"""One writer at a time: ``flock`` on a file of the project, so that a lock dies with its holder.

Not a lock library: the ones that wrap ``flock`` truncate the file when they open it, and with it the line
that tells a waiting user who holds the lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store.atomic import make_folder
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_S = 60.0


@contextlib.contextmanager
def held(locks: Path, record: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock of ``record`` (a path that need not exist) while the block runs.

    Args:
        locks: the folder of lock files, ``data/.locks``.
        record: what is being written; the lock is named after its real path, never after an id alone.
        wait_s: how long to wait for another holder.

    Raises:
        Refusal: another process still holds it after ``wait_s``; it names that process.
    """
    make_folder(locks)
    path = locks / f"{sha256_text(os.path.realpath(record))}.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise Refusal(
            "cannot-write",
            f"cannot lock {record.name}",
            why=[f"{path}: {error.strerror or error}"],
            next="free space or mend the permissions, then run the same command again",
        ) from error
    try:
        _acquire(descriptor, record, wait_s)
        with contextlib.suppress(OSError):  # who holds it is for a message only
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {' '.join(sys.argv)[:200]}\n".encode(errors="replace"), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, record: Path, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    pause = 0.005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(descriptor, 300, 0).decode(errors="replace").strip() or "another process"
                raise Refusal(
                    "locked",
                    f"{record.name} is being written by another command",
                    why=[f"{record}: held by process {holder}"],
                    next="wait for it to end, then run the same command again",
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, 0.2)
        else:
            return
