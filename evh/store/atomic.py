"""The one place, with `journal`, that writes files: all or nothing, flushed before it is in place.

A file is written beside its place as ``.tmp-…``, flushed, renamed over, and its folder flushed: a reader
sees the old bytes or the new, after a kill or a power loss too. A folder that is one record is built whole
beside its place and renamed in last. What a crash leaves behind starts with ``.tmp-``; readers skip it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

TMP_PREFIX = ".tmp-"
FLUSHED_EACH = 64


def is_tmp(name: str) -> bool:
    """Tell whether a file or folder name is what an unfinished write leaves behind."""
    return name.startswith(TMP_PREFIX)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, flushing each new one's parent; an existing folder is fine."""
    missing = []
    at = folder
    while not at.exists():
        missing.append(at)
        at = at.parent
    with _told(folder):
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            flush_folder(path.parent)


def write_file(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, replacing what is there in one step."""
    make_folder(path.parent)
    temporary = _beside(path)
    with _told(path), _removed_on_error(temporary):
        _write(temporary, data, flush=True)
        _rename(temporary, path)


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Put a file that comes in parts at ``path``, as `write_file` does, in the memory of one part."""
    make_folder(path.parent)
    temporary = _beside(path)
    with _told(path), _removed_on_error(temporary):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            for part in parts:
                write_whole(descriptor, part)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _rename(temporary, path)


def write_new_file(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, which must not exist; two writers at once cannot both win.

    Raises:
        FileExistsError: something is at ``path`` already.
    """
    make_folder(path.parent)
    temporary = _beside(path)
    with _told(path), _removed_on_error(temporary):
        _write(temporary, data, flush=True)
        os.link(temporary, path)  # link, not rename: it fails where something exists
        with _undone_on_error(path.unlink):
            temporary.unlink()
            flush_folder(path.parent)


class FolderWriter:
    """A folder being built beside its place; `add` puts a file into it.

    ``flushed`` is False for what can be made again at any time (a site): its files are not forced to disk.
    """

    def __init__(self, folder: Path, *, flushed: bool = True) -> None:
        self.folder = folder
        self._flushed = flushed
        self._later = False
        self._made = {folder}

    def add(self, name: str, data: bytes, *, later: bool = False) -> None:
        """Write one file, flushed; ``name`` may hold one or more ``/``.

        With ``later`` it is flushed with everything else by `flush`: thousands of files then take one wait.
        """
        _write(self._place(name), data, flush=self._flushed and not later)
        self._later = self._later or later

    def add_folder(self, name: str) -> None:
        """Make an empty folder."""
        self._place(f"{name}/file")

    def keep(self, name: str, source: Path) -> None:
        """Take a file over as it is: a hard link where the file system makes one, else a copy."""
        path = self._place(name)
        try:
            os.link(source, path)
        except OSError:
            _write(path, source.read_bytes(), flush=self._flushed)

    def flush(self) -> None:
        """Flush every folder made here, deepest first."""
        if self._flushed and self._later:
            os.sync()
        if self._flushed:
            for folder in sorted(self._made, key=lambda path: -len(path.parts)):
                flush_folder(folder)

    def _place(self, name: str) -> Path:
        path = self.folder / name
        parent = path.parent
        if parent not in self._made:
            parent.mkdir(parents=True, exist_ok=True)
        while parent not in self._made:
            self._made.add(parent)
            parent = parent.parent
        return path


@contextlib.contextmanager
def new_folder(place: Path) -> Iterator[FolderWriter]:
    """Build the folder ``place`` whole and rename it in last; on an error nothing of it is left.

    Raises:
        FileExistsError: ``place`` exists and is not an empty folder, before or after the building.
    """
    if place.exists() and any(place.iterdir()):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place))
    make_folder(place.parent)
    temporary = _beside(place)
    with _told(place), _removed_on_error(temporary):
        temporary.mkdir()
        writer = FolderWriter(temporary)
        yield writer
        writer.flush()
        try:
            _rename_new(temporary, place)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from error
            raise


def write_unflushed(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step without flushing: for files that `flushing` flushes later."""
    temporary = _beside(path)
    with _told(path), _removed_on_error(temporary):
        _write(temporary, data, flush=False)
        temporary.replace(path)


def write_draft(folder: Path, name: str, data: bytes) -> None:
    """Write a file in place, cheaply: neither all at once nor flushed. For what is kept elsewhere meanwhile.

    Whoever finishes the folder writes again what an attempt that was killed may have left torn. A link in its
    place is refused. The system is told to begin writing: what flushes thousands of them at the end then has
    little to wait for.
    """
    path = f"{folder}/{name}"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
        try:
            write_whole(descriptor, data)
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    except OSError:
        with _told(Path(path)):
            raise


def write_whole(descriptor: int, data: bytes) -> None:
    """Write all of ``data`` to a descriptor: one call of the system may take less than it is given."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


@contextlib.contextmanager
def flushing(folder: Path, names: list[str]) -> Iterator[None]:
    """Flush files of a folder written by `write_unflushed`: after the block they outlast a power loss.

    Many of them are flushed with everything else that waits for the disk, one wait in place of thousands,
    while the block goes on.
    """
    if len(names) > FLUSHED_EACH:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as disk:
            flushed = disk.submit(os.sync)
            yield
            flushed.result()
    else:
        for name in names:
            with _told(folder / name):
                descriptor = os.open(folder / name, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        yield
    if names:
        flush_folder(folder)


def remove(path: Path) -> None:
    """Remove a file or a whole folder that is litter; a missing one is fine. No link is followed."""
    with _told(path):
        _delete(path)


def discard(path: Path) -> None:
    """Remove what a finished deed left over; an error leaves it as litter and is no failure of the deed."""
    _remove_if_possible(path)


def flush_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename in it outlasts a power loss."""
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (
            errno.EINVAL,
            errno.ENOTSUP,
        ):  # some network file systems cannot flush a folder
            raise
    finally:
        os.close(descriptor)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(f"{TMP_PREFIX}{path.name[:60]}-{os.getpid()}-{secrets.token_hex(4)}")


def _write(path: Path, data: bytes, *, flush: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_whole(descriptor, data)
        if flush:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _removed_on_error(temporary: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            _delete(temporary)
        raise


@contextlib.contextmanager
def _undone_on_error(undo: Callable[[], object]) -> Iterator[None]:
    """Take the last step back when the block fails, so that a refusal has changed nothing."""
    try:
        yield
    except OSError:
        with contextlib.suppress(OSError):
            undo()
        raise


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn a disk's error into a Refusal that names the path; FileExistsError stays for the caller."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise Refusal(
            "cannot-write",
            f"cannot write {path}",
            why=[f"{error.filename or path}: {error.strerror or error}"],
            next="free space or mend the permissions, then run the same command again",
        ) from error


@contextlib.contextmanager
def removed_unless(committed: Path, part: Path) -> Iterator[None]:
    """Remove ``part`` when the block ends without ``committed``: a deed in two places leaves no half."""
    try:
        yield
    finally:
        if not committed.exists():
            _remove_if_possible(part)


@contextlib.contextmanager
def replaced_folder(place: Path, *, flushed: bool = True) -> Iterator[FolderWriter]:
    """Build the folder ``place`` whole and put it in place of the one there, in one step where it can be.

    Linux exchanges the two names at once; elsewhere the old one is moved aside first, and a reader may find
    the place empty for an instant. On an error the old folder stays, and a parent that was made for the new
    one goes. ``flushed`` is False for what can be made again at any time.
    """
    parent_is_new = not place.parent.exists()
    make_folder(place.parent)
    temporary = _beside(place)
    with _gone_on_error(place.parent if parent_is_new else None), _told(place), _removed_on_error(temporary):
        temporary.mkdir()
        writer = FolderWriter(temporary, flushed=flushed)
        yield writer
        writer.flush()
        swap_folder(temporary, place)


@contextlib.contextmanager
def _gone_on_error(folder: Path | None) -> Iterator[None]:
    """Remove a folder that was made in vain, if it is empty."""
    try:
        yield
    except BaseException:
        if folder is not None:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def swap_folder(built: Path, place: Path) -> None:
    """Put the folder ``built`` at ``place``, flushed, and remove what was there; both in one file system."""
    if not place.exists():
        _rename_new(built, place)
    elif _exchange(built, place):
        with _undone_on_error(lambda: _exchange(built, place)):
            flush_folder(place.parent)
        _remove_if_possible(built)
    else:
        aside = _beside(place)
        place.rename(aside)
        with _undone_on_error(lambda: aside.rename(place)):
            built.rename(place)
        flush_folder(place.parent)
        _remove_if_possible(aside)


def mend_swap(place: Path, whole: Callable[[Path], bool]) -> None:
    """Finish a swap that was killed between its two renames, and remove what else was left beside ``place``.

    Args:
        place: the folder that is swapped by `replaced_folder`.
        whole: tells whether a folder that was left is a whole one; where ``place`` is missing, the newest
            such folder becomes it.
    """
    if not place.parent.is_dir():
        return
    start = f"{TMP_PREFIX}{place.name[:60]}-"
    left = [path for path in place.parent.iterdir() if path.name.startswith(start)]
    if left and not place.exists():
        good = [path for path in left if path.is_dir() and not path.is_symlink() and whole(path)]
        if good:
            newest = max(good, key=lambda path: path.stat().st_mtime_ns)
            with _told(place):
                _rename_new(newest, place)
            left.remove(newest)
    for path in left:
        remove(path)


def _rename(built: Path, path: Path) -> None:
    """Put a flushed file at ``path``, whatever is there; where that fails the old one is there again."""
    if path.exists() and _exchange(built, path):
        with _undone_on_error(lambda: _exchange(built, path)):
            flush_folder(path.parent)
        _remove_if_possible(built)
    else:
        _rename_new(built, path)


def _rename_new(built: Path, place: Path) -> None:
    """Rename into a free place and flush the folder; where the flush fails the rename is taken back."""
    built.rename(place)
    with _undone_on_error(lambda: place.rename(built)):
        flush_folder(place.parent)


def _remove_if_possible(old: Path) -> None:
    """Remove what a swap left over. The new is in place: an error here leaves litter, it is no failure."""
    with contextlib.suppress(OSError):
        _delete(old)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step with Linux's ``renameat2``; False where that cannot be done."""
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    at_cwd, exchange = -100, 2
    return bool(renameat2(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0)
