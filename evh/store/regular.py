"""Opening what is read: a regular file, never a pipe or a device, which could be waited for without end."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path


def open_file(path: Path | str, *, folder: int | None = None, follow: bool = True) -> BufferedReader:
    """Open a file for reading.

    Args:
        path: the file.
        folder: the descriptor of an open folder that ``path`` is relative to.
        follow: follow ``path`` where it is a link.

    Raises:
        OSError: it cannot be opened, or is a folder, a pipe, a socket or a device.
    """
    return os.fdopen(_open(path, folder, follow=follow), "rb")


def read_file(path: Path | str, *, folder: int | None = None, follow: bool = True) -> bytes:
    """Return a file's bytes: as `open_file`, without a file object, which costs most of a small read."""
    descriptor = _open(path, folder, follow=follow)
    try:
        parts = []
        while part := os.read(descriptor, 65_536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _open(path: Path | str, folder: int | None, *, follow: bool) -> int:
    """Return a descriptor of a regular file; without O_NONBLOCK a pipe would be waited for."""
    descriptor = os.open(
        path,
        os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW),
        dir_fd=folder,
    )
    try:
        _check(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check(mode: int, path: Path | str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))
