"""Append-only JSONL: whole lines under a lock, and a last line that a crash cut is mended, never trusted."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from evh.errors import Refusal
from evh.store import strict
from evh.store.atomic import flush_folder, make_folder, write_whole
from evh.store.locks import held
from evh.store.regular import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Journal:
    """What a journal holds: its rows in order, and the torn last line that a crash left, if any."""

    rows: tuple[dict[str, Any], ...]
    torn: bytes | None = None


def read(path: Path) -> Journal:
    """Return the rows of a journal; a missing file is an empty one.

    Raises:
        Refusal: a line that is not one JSON object, other than a last line without its LF.
    """
    if not path.exists():
        return Journal(())
    data = strict.read_bytes(path)
    cut = data.rfind(b"\n") + 1
    torn = data[cut:] or None
    return Journal(strict.parse_jsonl(data[:cut], path), torn)


def stream(path: Path, *, whole: bool = True) -> Iterator[bytes]:
    """Yield the whole lines of a journal without their LF, in order, in little memory; blank ones too.

    A last line that a crash cut is passed over, unless ``whole`` is False; a missing file has none.

    Raises:
        Refusal: the file cannot be read.
    """
    if not path.exists():
        return
    try:
        with io.BufferedReader(open_file(path).detach(), _BLOCK) as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield line[:-1]
                elif not whole:
                    yield line
    except OSError as error:
        raise strict.cannot_read(path, error) from error


def torn(path: Path) -> int:
    """Return how many bytes of a last line without its end a file has; 0: none, or no file.

    Raises:
        Refusal: the file cannot be read.
    """
    if not path.exists():
        return 0
    try:
        with open_file(path) as file:
            return len(_torn(file.fileno()))
    except OSError as error:
        raise strict.cannot_read(path, error) from error


def mend_held(path: Path) -> bytes | None:
    """Drop a torn last line, for a caller that holds the journal's lock; return it, where there was one."""
    if not torn(path):
        return None
    try:
        descriptor = os.open(path, os.O_RDWR)
        try:
            dropped = _drop_torn(descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _cannot(path, error) from error
    return dropped


def append(path: Path, rows: Sequence[dict[str, Any]], *, locks: Path, flush: bool = True) -> bytes | None:
    """Append rows, each one compact JSON object a line, all of them or none.

    Args:
        path: the journal; made when it is missing.
        rows: JSON objects.
        locks: the project's folder of lock files.
        flush: flush to the disk before returning. False where the caller flushes a batch with `flush_now`.

    Returns:
        The torn last line that an earlier crash had left and that was dropped, or None.
    """
    make_folder(path.parent)
    with held(locks, path):
        return append_held(path, rows, flush=flush)


def append_held(path: Path, rows: Sequence[dict[str, Any]], *, flush: bool = True) -> bytes | None:
    """Append as `append` does, for a caller that holds the journal's lock already."""
    payload = b"".join(strict.dump_line(row) for row in rows)
    new = not path.exists()
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise _cannot(path, error) from error
    try:
        torn = _drop_torn(descriptor)
        start = os.fstat(descriptor).st_size
        try:
            write_whole(descriptor, payload)
            if flush:
                os.fsync(descriptor)
            if new:
                flush_folder(path.parent)
        except OSError:
            os.ftruncate(descriptor, start)
            if new:
                path.unlink()
            raise
    except OSError as error:
        raise _cannot(path, error) from error
    finally:
        os.close(descriptor)
    return torn


class Appender:
    """A journal kept open by whoever holds its lock: rows appended as they come, flushed many at once.

    What was appended outlasts a kill at once, and a power loss after `flush`. A context manager; leaving it
    flushes.

    Args:
        path: the journal; made when it is missing. A torn last line is dropped.

    Raises:
        Refusal: it cannot be opened; later, that rows cannot be written or flushed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        new = not path.exists()
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise _cannot(path, error) from error
        try:
            _drop_torn(self._descriptor)
            self._end = os.fstat(self._descriptor).st_size
            if new:
                flush_folder(path.parent)
        except OSError as error:
            os.close(self._descriptor)
            raise _cannot(path, error) from error
        # One thread may append while another flushes: each counts for itself.
        self._appended = self._flushed = 0

    @property
    def waiting(self) -> int:
        """How many rows are not flushed yet."""
        return self._appended - self._flushed

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Flush and close."""
        try:
            self.flush()
        finally:
            os.close(self._descriptor)

    def append(self, row: dict[str, Any]) -> None:
        """Append a row, whole or not at all. From one thread at a time."""
        payload = strict.dump_line(row)
        try:
            write_whole(self._descriptor, payload)
        except OSError as error:
            os.ftruncate(self._descriptor, self._end)
            raise _cannot(self._path, error) from error
        self._end += len(payload)
        self._appended += 1

    def flush(self) -> None:
        """Flush every row appended so far to the disk; more may be appended meanwhile."""
        upto = self._appended
        if upto == self._flushed:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise _cannot(self._path, error) from error
        self._flushed = upto


def _drop_torn(descriptor: int) -> bytes | None:
    tail = _torn(descriptor)
    if not tail:
        return None
    os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(tail))
    return tail


def _torn(descriptor: int) -> bytes:
    """Return the last line of a file where it has no end; a file is read from its end for it."""
    end = os.fstat(descriptor).st_size
    tail = b""
    while end > 0:
        start = max(0, end - 65536)
        block = os.pread(descriptor, end - start, start)
        newline = block.rfind(b"\n")
        if newline >= 0:
            return block[newline + 1 :] + tail
        tail = block + tail
        end = start
    return tail


def _cannot(path: Path, error: OSError) -> Refusal:
    return Refusal(
        "cannot-write",
        f"cannot append to {path}",
        why=[f"{path}: {error.strerror or error}"],
        next="free space or mend the permissions, then run the same command again",
    )
